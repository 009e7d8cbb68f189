"""A deterministic learner as a run."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.game.state_run import StateRun
from littlestone.learners.online.standard_optimal import StandardOptimal

Labels = NDArray[np.uint8]
Stream = list[tuple[int, int]]
streams = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1)), min_size=1, max_size=200)


def blockwise(run: StateRun, xs: Any, ys: Labels) -> list[tuple[int, Hypothesis]]:
    """Where the published hypothesis changed, and to what."""
    changes, at = [], 0
    while at < len(ys):
        before = run.hypothesis
        at += run.observe_many(xs[at:], ys[at:])
        if run.hypothesis is not before:
            changes.append((at, run.hypothesis))
    return changes


def singly(run: StateRun, xs: list[int], ys: Labels) -> list[tuple[int, Hypothesis]]:
    changes = []
    for at, (x, y) in enumerate(zip(xs, ys.tolist(), strict=True), start=1):
        before = run.hypothesis
        run.observe(x, y)
        if run.hypothesis is not before:
            changes.append((at, run.hypothesis))
    return changes


@given(stream=streams)
@pytest.mark.parametrize("concepts", [Thresholds(8), Points(), Points(8)], ids=repr)
def test_blocks_and_single_rounds_lead_to_the_same_states(
    concepts: ConceptClass, stream: Stream
) -> None:
    points = [x for x, _ in stream]
    ys = np.array([y for _, y in stream], dtype=np.uint8)
    xs = concepts.domain.check_many(points)
    learner = StandardOptimal(concepts)
    assert blockwise(StateRun(learner), xs, ys) == singly(StateRun(learner), points, ys)


@given(stream=streams)
@pytest.mark.parametrize("concepts", [Thresholds(8), Points(), Points(8)], ids=repr)
def test_the_shortcuts_skip_nothing_that_matters(concepts: ConceptClass, stream: Stream) -> None:
    learner = StandardOptimal(concepts)
    run, state = StateRun(learner), learner.start()
    for x, y in stream:
        run.observe(x, y)
        state = state.after(x, y)
        if state.failed:
            state = learner.start()
        assert run.hypothesis == state.hypothesis


@given(stream=streams)
def test_contradicted_learners_start_again_at_a_bounded_price(stream: Stream) -> None:
    concepts = Thresholds(8)
    learner = StandardOptimal(concepts)
    run, mistakes = StateRun(learner), 0
    tally: dict[Hashable, list[int]] = {}
    for x, y in stream:
        mistakes += run.hypothesis(x) != y
        tally.setdefault(x, [0, 0])[y] += 1
        run.observe(x, y)
    best = concepts.fewest_mistakes({x: (zeros, ones) for x, (zeros, ones) in tally.items()})
    assert mistakes <= (learner.mistake_bound + 1) * best + learner.mistake_bound


def test_a_contradiction_makes_it_forget_everything() -> None:
    run = StateRun(StandardOptimal(FiniteClass([[0, 0], [1, 1]])))
    run.observe(0, 1)
    assert run.hypothesis.many([0, 1]).tolist() == [1, 1]
    run.observe(1, 0)
    assert run.hypothesis.many([0, 1]).tolist() == [0, 0]
    run.observe(0, 1)
    assert run.hypothesis.many([0, 1]).tolist() == [1, 1]


def test_an_equal_hypothesis_keeps_its_identity() -> None:
    run = StateRun(StandardOptimal(Points(8)))
    before = run.hypothesis
    run.observe(3, 0)
    assert run.hypothesis is before


class CountingMistakes:
    """A conservative state: how many mistakes were made, at odds with no concept."""

    failed = False

    def __init__(self, mistakes: int) -> None:
        self.mistakes = mistakes

    @property
    def hypothesis(self) -> Hypothesis:
        concepts = list(Thresholds(8).concepts())
        return concepts[min(self.mistakes, 8)]

    def after(self, x: int, y: int) -> "CountingMistakes":
        return CountingMistakes(self.mistakes + (self.hypothesis(x) != y))


class Counting:
    concepts = Thresholds(8)
    mistake_bound = 8
    conservative = False
    repeats_change_nothing = False

    def start(self) -> CountingMistakes:
        return CountingMistakes(0)


class ConservativeCounting(Counting):
    conservative = True


@given(stream=streams)
@pytest.mark.parametrize("learner", [Counting(), ConservativeCounting()])
def test_learners_without_memory_of_examples_are_asked_each_time(
    learner: Any, stream: Stream
) -> None:
    points = [x for x, _ in stream]
    ys = np.array([y for _, y in stream], dtype=np.uint8)
    xs = np.array(points)
    reference = singly(StateRun(Counting()), points, ys)
    assert blockwise(StateRun(learner), xs, ys) == reference
    assert singly(StateRun(learner), points, ys) == reference
