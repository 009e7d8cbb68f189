"""Thresholds, however many, at once; step functions; runs of integer hypotheses."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.gaps import optimal_rank
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.hypotheses.runs import StepFunction, first_difference, runs_of
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote

HUGE = 2**40


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 8, 1000, HUGE - 1, HUGE, 2**62])
def test_the_littlestone_dimension_is_the_logarithm_of_the_number_of_concepts(n: int) -> None:
    assert 2 ** Thresholds(n).littlestone_dimension <= n + 1
    assert n + 1 < 2 ** (Thresholds(n).littlestone_dimension + 1)


def test_the_optimal_rank_is_the_first_that_beats_the_rest() -> None:
    for size in range(1, 300):
        wins = [k for k in range(1, size + 1) if k.bit_length() > (size - k).bit_length()]
        assert optimal_rank(size) == wins[0]
        assert wins == list(range(wins[0], size + 1))


def test_a_huge_class_answers_at_once() -> None:
    left = Thresholds(HUGE).version_space().restrict(10**9, 0).restrict(10**12, 1)
    rule = left.standard_optimal()
    hardest = left.hardest_mistake(rule)
    assert hardest is not None
    x, y = hardest
    assert left.restrict(x, y).dimension == left.dimension - 1
    assert list(islice(left.mistakes_of(rule), 2)) == [(10**9 + 1, 1), (10**9 + 2, 1)]


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, "3", None, 2**63])
def test_bad_sizes_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="n must be"):
        Thresholds(bad)


@pytest.mark.parametrize(("n", "k"), [(0, 0), (3, 4), (3, -1), (3, 1.0), (3, None)])
def test_bad_thresholds_are_refused(n: Any, k: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        ThresholdHypothesis(n, k)


def test_points_and_labels_out_of_range_change_nothing() -> None:
    space = Thresholds(4).version_space()
    bad: list[Any] = [(4, 0), (-1, 0), (1.5, 0), (True, 0), (0, 2), (0, None)]
    for x, y in bad:
        with pytest.raises(ValueError, match="must be"):
            space.restrict(x, y)
    assert space == Thresholds(4).version_space()


@pytest.mark.parametrize("changes", [(0,), (10,), (3, 3), (5, 2), (2.0,)])
def test_bad_changes_are_refused(changes: Any) -> None:
    with pytest.raises(ValueError, match="changes"):
        StepFunction(n=10, first=0, changes=changes)


def test_adjacent_and_empty_runs_are_joined() -> None:
    assert StepFunction.from_runs(9, [(0, 2), (2, 4), (6, 6), (7, 9)]).changes == (4, 7)
    assert StepFunction.from_runs(9, [(0, 9)]) == StepFunction(9, 1, ())


SAME: list[Any] = [
    ThresholdHypothesis(70_000, 69_000),
    StepFunction(70_000, 0, (69_000,)),
    TableHypothesis(bytes(69_000) + bytes([1]) * 1000),
    MajorityVote(ThresholdHypothesis(70_000, k) for k in (5, 69_000, 69_500)),
]


@pytest.mark.parametrize("hypothesis", SAME, ids=lambda h: type(h).__name__)
def test_every_kind_has_the_same_runs(hypothesis: Any) -> None:
    assert list(runs_of(hypothesis, 70_000)) == [(0, 69_000, 0), (69_000, 70_000, 1)]
    assert first_difference(hypothesis, SAME[0], 70_000) is None
    assert first_difference(hypothesis, StepFunction(70_000, 0, (4,)), 70_000) == 4
    assert SAME[0].disagreement(hypothesis) is None


def test_the_runs_of_a_vote_need_no_scan() -> None:
    vote = MajorityVote(ThresholdHypothesis(HUGE, k) for k in (3, HUGE // 2, HUGE))
    assert list(runs_of(vote, HUGE)) == [(0, HUGE // 2, 0), (HUGE // 2, HUGE, 1)]
    assert ThresholdHypothesis(HUGE, 3).disagreement(vote) == 3


def test_supports_have_runs_too() -> None:
    assert list(runs_of(FiniteSupport.on(0, 1, 5), 6)) == [(0, 2, 1), (2, 5, 0), (5, 6, 1)]
    assert list(runs_of(FiniteSupport.on(), 6)) == [(0, 6, 0)]


def test_step_functions_take_blocks_of_large_points() -> None:
    rule = StepFunction(HUGE, 1, (7, HUGE - 1))
    assert rule.many(np.array([0, 6, 7, HUGE - 2, HUGE - 1])).tolist() == [1, 1, 0, 0, 1]
