"""The packed forest of dimension 2 that ``calibrated`` runs, replayed on neighbouring streams."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.coupled_forest import CoupledForest, Coupling, Matching, with_one_more, without

from littlestone.audit.controls import broken_forests as broken
from littlestone.audit.exact.tape import law_of
from littlestone.audit.grey_box import check_sensitivity
from littlestone.audit.substitution import Place, with_engine
from littlestone.audit.visits import SensitivityError, Visit
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest import algorithm as lazy_forest_engine
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness, seeded

PLACES: tuple[Place, ...] = (
    (CoupledForest, "insert"),
    (CoupledForest, "update"),
    (Coupling, "placed"),
)
# Two kinds of mistakes, so that pairs agree and collide, then mistakes of what was listed.
LONG = [(2, 1), (2, 1), (3, 0)] * 8 + [(0, 1), (5, 0), (1, 0), (4, 1)] * 12
EXAMPLES = st.one_of(st.sampled_from(LONG), st.tuples(st.integers(0, 5), st.integers(0, 1)))


@dataclass(frozen=True)
class Coupled:
    """A forest whose two starts belong to two coupled worlds."""

    forest: LazyForest
    coupling: Coupling

    @property
    def per_example(self) -> Any:
        return self.forest.per_example

    def start(self, *, rng: Randomness) -> Any:
        self.coupling.next_world()
        return self.forest.start(rng=rng)


def calibrated() -> LazyForest:
    planned = LazyForest.calibrated(concepts=Thresholds(6), rounds=1000, epsilon=16.0, delta=0.3)
    assert planned.plan.packed
    assert planned.depth == 2
    return planned


def replay(
    forest: LazyForest,
    stream: list[tuple[int, int]],
    changed: int,
    instead: tuple[int, int],
    seed: int,
    coupling: Coupling | None = None,
) -> list[Visit]:
    coupling = coupling or Coupling()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_forest_engine, "ForestTable", coupling)
        return check_sensitivity(
            Coupled(forest, coupling),
            stream,
            changed_round=changed,
            instead=instead,
            seed=seed,
            places=PLACES,
        )


FOREST = calibrated()


@settings(max_examples=settings().max_examples // 2)
@given(
    stream=st.lists(EXAMPLES, min_size=70, max_size=70),
    changed=st.integers(0, 69),
    instead=EXAMPLES,
    seed=st.integers(0, 2**32),
)
def test_the_packed_forest_of_two_layers_keeps_to_its_prices(
    stream: list[tuple[int, int]], changed: int, instead: tuple[int, int], seed: int
) -> None:
    replay(FOREST, stream, changed, instead, seed)


def test_the_replays_reach_every_layer_and_every_door() -> None:
    doors: Counter[tuple[str, str]] = Counter()
    for seed in range(10):
        visits = replay(FOREST, LONG, 2 * seed, (0, 0) if seed % 2 else (5, 0), seed)
        doors.update(
            (visit.door, getattr(visit.recipe, "neighbours", ""))
            for visit in visits
            if visit.answered
        )
    assert min(doors.values()) >= 3
    assert set(doors) == {
        ("CountAboveThreshold", ""),
        ("PrivateHistogram", "add-remove"),
        ("PrivateHistogram", "replace"),
    }


def test_the_packed_forest_of_three_layers_keeps_to_its_prices() -> None:
    forest = LazyForest.calibrated(concepts=Thresholds(14), rounds=10**6, epsilon=64.0, delta=0.9)
    assert forest.plan.packed
    assert forest.depth == 3
    stream = [(6, 1), (6, 1), (7, 0)] * 54 + [(2, 1), (11, 0), (4, 0), (9, 1)] * 30
    lists = 0
    for seed in range(4):
        visits = replay(forest, stream, 31 * seed, (3, 1), seed)
        lists += sum(visit.door == "PrivateHistogram" for visit in visits)
    assert lists == 3 * 4  # that of every layer, each time


class InOrder(Coupling):
    """The bug of ``forest-matched-in-order``: sequences are matched as they came."""

    def matched(self, elements: list[int], rng: Randomness) -> Matching:
        del rng
        return dict(enumerate(zip(elements[::2], elements[1::2], strict=False)))

    def rematched(
        self, before: list[int], matching: Matching, elements: list[int], rng: Randomness
    ) -> Matching:
        del before, matching
        return self.matched(elements, rng)


def _noticed(forest: LazyForest, coupling: type[Coupling], match: str) -> None:
    with pytest.raises(SensitivityError, match=match):
        for seed in range(60):
            replay(forest, LONG, seed % 20, (0, 0), seed, coupling())


def test_sequences_matched_in_order_are_noticed() -> None:
    _noticed(FOREST, InOrder, "counts change by")


@pytest.mark.parametrize(
    ("engine", "match"),
    [
        (broken._TrueSlots, "control flow"),
        (broken._JudgesAgain, "control flow|more than one bit"),
        (broken._TimedByTrueCount, "no mechanism released|control flow"),
    ],
)
def test_a_broken_packed_forest_is_noticed(engine: Any, match: str) -> None:
    _noticed(with_engine(calibrated(), engine), Coupling, match)


def pairs_of(matching: Matching) -> frozenset[tuple[int, int]]:
    return frozenset(matching.values())


@pytest.mark.parametrize("count", range(1, 6))
def test_one_element_more_makes_a_uniform_matching_that_leads_back(count: int) -> None:
    elements = list(range(count))

    def play(tape: Any) -> Any:
        less = Coupling().matched(elements, tape)
        more = with_one_more(count, less, elements, tape)
        assert pairs_of(without(count, more, [*elements, count])) == pairs_of(less)
        return pairs_of(more)

    def plain(tape: Any) -> Any:
        return pairs_of(Coupling().matched([*elements, count], tape))

    laws = [law_of(one, rounds=1, negligible=1, most=10**5).views for one in (play, plain)]
    assert laws[0].keys() == laws[1].keys()
    assert all(abs(laws[0][view].low - laws[1][view].low) < 1 << 200 for view in laws[0])


def test_more_than_one_sequence_gone_is_an_error() -> None:
    with pytest.raises(SensitivityError, match="2 sequences are gone and 0 are new"):
        Coupling().rematched([1, 2, 3], {0: (1, 2)}, [3], seeded(0))
