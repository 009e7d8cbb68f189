"""Rules from disjoint batches: one draw reads each example, and the promise is tight."""

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.two_worlds import Subject, World
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches import algorithm
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.randomness import Randomness, seeded

SCHEMA = Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y", "z"]}})
TINY = DisjointBatches(
    concepts=Thresholds(1), epsilon=1.0, first=1, growth=1.0, window=4, watched_from=2, recent=1
)


@dataclass(frozen=True)
class Replace:
    """The same examples in both worlds, but for the one at ``place``."""

    place: int
    zero: Any
    one: Any
    others: tuple[Any, ...]

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        for number, example in enumerate(self.others):
            if number == self.place:
                world.challenge(self.zero, self.one)
            else:
                world.send(example)
        return None


# Round 1 fills a batch, 4 a recent batch; 2, 3, 5 and 6 fill a window.
STREAM = ((0, 1), (0, 0), (0, 1), (0, 0), (0, 1), (0, 1))


@pytest.fixture
def even_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prior weights 1 : 1 : 1 : 1, so that fewer coins have to be enumerated."""
    monkeypatch.setattr(algorithm, "_TRUST", 1)


def _fields(learner: DisjointBatches) -> dict[str, Any]:
    return {field.name: getattr(learner, field.name) for field in fields(learner)}


def exact_epsilon(learner: DisjointBatches, place: int, rounds: int = 6) -> float:
    """What replacing one example of the stream shows at least, all coins enumerated."""
    adversary = Replace(place, (0, 1), (0, 0), STREAM[:rounds])
    curve = privacy_curve(Subject.from_learner(learner), adversary, rounds=rounds)
    return curve.epsilon_lower_bound(0.0)


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize("place", range(6))
def test_each_example_is_read_by_one_draw_and_pays_epsilon(place: int) -> None:
    assert 0.1 < exact_epsilon(TINY, place) <= 1.0 + 1e-9


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize("place", [0, 2, 3, 4, 5])  # 1 is drawn from and never shown
def test_what_a_batch_leaves_to_recent_ones_is_read_once(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithm, "_CYCLE", 4)
    # Round 1 fills a batch; the next one needs rounds 4 and 8, so 4 goes to recent ones.
    ended = replace(TINY, rounds=6, growth=2.0, window=2, planned=True)
    assert 0.1 < exact_epsilon(ended, place) <= 1.0 + 1e-9


class _RereadsBatches(DisjointBatchesEngine):
    """Broken: a batch is drawn from again with the next one."""

    def _draw(self) -> None:
        kept = dict(self._batch)
        super()._draw()
        self._batch = kept


class _RereadsWindows(DisjointBatchesEngine):
    """Broken: a window is looked at again with the next one."""

    def _choose(self) -> None:
        kept = dict(self._window)
        super()._choose()
        self._window = kept


class _SharesRecentBatches(DisjointBatchesEngine):
    """Broken: what a recent batch was drawn from goes to the next window, too."""

    def _draw_recent(self) -> None:
        self._window = dict(self._recent_batch)
        super()._draw_recent()


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize(
    ("engine", "place", "window", "rounds"),
    [(_RereadsBatches, 0, 0, 2), (_RereadsWindows, 1, 1, 3), (_SharesRecentBatches, 3, 4, 6)],
)
def test_reading_an_example_twice_is_noticed(
    engine: type[DisjointBatchesEngine], place: int, window: int, rounds: int
) -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Broken(DisjointBatches):
        def engine(self, rng: Randomness, /) -> DisjointBatchesEngine:
            return engine(self, rng)

    broken = Broken(**{**_fields(TINY), "window": window})
    assert exact_epsilon(broken, place, rounds) > 1.05


def late(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    cells = rng.integers(0, 3, size=(count, 2))
    labels = ((cells[:, 0] == 2) & (cells[:, 1] == 0)) ^ (rng.random(count) < 0.05)
    return [tuple(row) for row in cells.tolist()], labels.astype(int).tolist()


def mistakes(learner: DisjointBatches, xs: list[Any], ys: list[int], seed: int = 3) -> int:
    run, wrong = learner.start(rng=seeded(seed)), 0
    for x, y in zip(xs, ys, strict=True):
        wrong += run.hypothesis(x) != y
        run.observe(x, y)
    return wrong


@pytest.mark.parametrize("concepts", [DecisionTrees(SCHEMA, 2), Stumps(SCHEMA, 2)])
def test_it_learns_a_rule_among_noise(concepts: Any) -> None:
    xs, ys = late(np.random.default_rng(5), 4000)
    learner = DisjointBatches(concepts=concepts, epsilon=1.0)
    # The best rule errs 200 times, never 633 times.
    assert mistakes(learner, xs, ys) < 330


def abrupt(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    """The label turns over in the middle; one in twenty is wrong."""
    cells = rng.integers(0, 3, size=(count, 2))
    turned = np.arange(count) >= count // 2
    labels = (cells[:, 0] == 2) ^ turned ^ (rng.random(count) < 0.05)
    return [tuple(row) for row in cells.tolist()], labels.astype(int).tolist()


def test_recent_batches_follow_an_abrupt_change_of_the_rule() -> None:
    xs, ys = abrupt(np.random.default_rng(8), 12_000)
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, watched_from=1000)
    # 600 labels are wrong.
    assert mistakes(learner, xs, ys) < 1500
    assert mistakes(replace(learner, recent=0), xs, ys) > 2000
    assert mistakes(replace(learner, window=0), xs, ys) > 2000


def test_a_batch_that_would_not_be_full_by_the_horizon_is_no_use_and_watched_instead() -> None:
    xs, ys = abrupt(np.random.default_rng(8), 4096)
    endless = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0)
    planned = replace(endless, rounds=4063, planned=True)
    # Batches end after 32, 96, …, 2,016 and 4,064 rounds.
    assert planned.is_watched(2016, 6) and not replace(planned, planned=False).is_watched(2016, 6)
    assert replace(planned, rounds=4514).is_watched(2016, 6)  # 4,064 are more than nine tenths
    assert not replace(planned, rounds=4516).is_watched(2016, 6)
    assert not replace(planned, rounds=3000).is_watched(2016, 6)  # too few are left
    assert planned.recent_size == 126 and replace(planned, recent=0).recent_size == 0
    assert replace(planned, rounds=10**6).recent_size == endless.recent_size == 512
    # About 200 labels are wrong; without recent batches there would be 820 mistakes.
    assert mistakes(endless, xs[:4063], ys[:4063]) > 1500
    assert mistakes(planned, xs[:4063], ys[:4063]) < 500


@pytest.mark.parametrize(("rounds", "begun"), [(17, 1), (16, 0), (15, 0)])
def test_during_a_planned_watch_no_batch_ends_in_the_last_tenth(rounds: int, begun: int) -> None:
    # A batch has the examples of rounds 8 and 16.
    learner = replace(TINY, rounds=rounds, first=2, watched_from=1, planned=True)
    engine = learner.engine(seeded(4))
    engine.begin()
    for _ in range(8):
        engine.step(0, 1)
    assert engine._in_batch == begun


def test_without_windows_a_watch_changes_nothing() -> None:
    xs, ys = late(np.random.default_rng(9), 1000)
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 2), epsilon=1.0, window=0)
    watched = replace(learner, watched_from=1)
    assert mistakes(watched, xs, ys) == mistakes(learner, xs, ys)


def test_a_field_that_only_tells_the_time_is_not_mistaken_for_a_reason() -> None:
    # Months that have not come yet do not tell trees apart: the simpler one is likelier.
    months = Schema.from_mapping({"month": {"values": list(range(12))}, "a": {"grid": [0]}})
    learner = DisjointBatches(concepts=DecisionTrees(months, 3), epsilon=1.0)
    count, rng = 3000, np.random.default_rng(10)
    xs = [(round_ * 12 // count, int(rng.integers(0, 2))) for round_ in range(count)]
    ys = (rng.random(count) < 0.2).astype(int).tolist()
    wrong = [mistakes(learner, xs, ys, seed) for seed in range(6)]
    # "Always 0" errs about 600 times; labels by chance for months to come would err 1,500 times.
    assert sum(wrong) / len(wrong) < 1.15 * sum(ys)


def test_windows_follow_a_stream_that_turns_over() -> None:
    trees = DecisionTrees(SCHEMA, 1)
    ys = ([0] * 400 + [1] * 400) * 4
    xs = [(0, 0)] * len(ys)
    watching = DisjointBatches(concepts=trees, epsilon=1.0, watched_from=1)
    assert mistakes(watching, xs, ys) < 800
    assert mistakes(replace(watching, window=0), xs, ys) > 1200


def test_blocks_are_the_same_rounds() -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 2), epsilon=2.0, watched_from=50)
    xs, ys = late(np.random.default_rng(6), 600)
    single, block = learner.start(rng=seeded(1)), learner.start(rng=seeded(1))
    for x, y in zip(xs, ys, strict=True):
        single.observe(x, y)
    taken = 0
    while taken < len(ys):
        taken += block.observe_many(xs[taken:], ys[taken:])
    assert single.hypothesis == block.hypothesis and single.switches == block.switches


def test_a_saved_run_goes_on_identically() -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 2), epsilon=2.0, watched_from=50)
    xs, ys = late(np.random.default_rng(7), 500)
    check_a_saved_run(learner, xs, ys, at=300)


def test_no_horizon_is_needed_and_no_delta() -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 3), epsilon=0.5)
    assert learner.rounds is None and learner.guarantee().delta == 0
    assert [learner.batch_size(number) for number in range(3)] == [64, 128, 256]
    assert replace(learner, longest=100).batch_size(9) == 100
    large = learner.excess_bound(size=10**6, failure_probability=0.05)
    assert large < 0.02 < learner.excess_bound(size=10**4, failure_probability=0.05) < 1


def test_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="growth"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, growth=0.5)
    with pytest.raises(ValueError, match="infinitely many"):
        DisjointBatches(concepts=Points(), epsilon=1.0)
    with pytest.raises(ValueError, match="window"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, window=-1)
    with pytest.raises(ValueError, match="planned needs the declared rounds"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, planned=True)


def test_batches_that_stop_growing_never_overflow() -> None:
    learner = DisjointBatches(concepts=Thresholds(3), epsilon=1.0, first=1, longest=4, window=0)
    assert learner.batch_size(10**6) == 4
