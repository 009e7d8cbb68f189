"""Rules from disjoint batches: one draw reads each example, and the promise is tight."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

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
    concepts=Thresholds(1), epsilon=1.0, first=2, growth=1.0, window=2, watched_from=3
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


@pytest.mark.parametrize("place", range(8))
def test_each_example_is_read_by_one_draw_and_pays_epsilon(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The weight of a window's own rule costs nothing; a small one leaves fewer cases to go through.
    monkeypatch.setattr(algorithm, "_TRUST", 2)
    # Rounds 1 and 2 fill a batch, 4 and 8 one each; 3 and 5, 6 and 7 are windows.
    stream = ((0, 1), (0, 0), (0, 1), (0, 0), (0, 1), (0, 1), (0, 0), (0, 1))
    adversary = Replace(place, (0, 1), (0, 0), stream)
    curve = privacy_curve(Subject.from_learner(TINY), adversary, rounds=8)
    assert 0.49 < curve.epsilon_lower_bound(0.0) <= 1.0 + 1e-9


class _Rereads(DisjointBatchesEngine):
    """Broken: a batch is drawn from again with the next one."""

    def _draw(self) -> None:
        kept = dict(self._batch)
        super()._draw()
        self._batch = kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading(DisjointBatches):
    def engine(self, rng: Randomness, /) -> DisjointBatchesEngine:
        return _Rereads(self, rng)


def test_reading_a_batch_twice_is_noticed() -> None:
    broken = Rereading(concepts=Thresholds(1), epsilon=1.0, first=2, growth=1.0, window=0)
    stream = ((0, 1), (0, 0), (0, 1), (0, 0), (0, 1), (0, 0))
    curve = privacy_curve(
        Subject.from_learner(broken), Replace(0, (0, 1), (0, 0), stream), rounds=len(stream)
    )
    assert curve.epsilon_lower_bound(0.0) > 1.2


def late(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    cells = rng.integers(0, 3, size=(count, 2))
    labels = ((cells[:, 0] == 2) & (cells[:, 1] == 0)) ^ (rng.random(count) < 0.05)
    return [tuple(row) for row in cells.tolist()], labels.astype(int).tolist()


def mistakes(learner: DisjointBatches, xs: list[Any], ys: list[int]) -> int:
    run, wrong = learner.start(rng=seeded(3)), 0
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
    run, other = learner.start(rng=seeded(2)), learner.start(rng=seeded(2))
    for x, y in zip(xs[:300], ys[:300], strict=True):
        run.observe(x, y)
        other.observe(x, y)
    restored = learner.restore(run.snapshot())
    for x, y in zip(xs[300:], ys[300:], strict=True):
        restored.observe(x, y)
        other.observe(x, y)
    assert restored.hypothesis == other.hypothesis and restored.switches == other.switches


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
