"""Intervals: the closed form of the dimension against its recursion, and large ranges."""

from functools import cache
from itertools import combinations_with_replacement, islice
from typing import Any

import pytest

from littlestone.concepts.classes.gaps import cut_dimension, gaps_dimension, pieces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.hypotheses.runs import StepFunction


@cache
def by_recursion(gaps: tuple[int, ...]) -> int:
    """The dimension by trying every cut of every gap."""
    best = 0
    for number, gap in enumerate(gaps):
        rest = gaps[:number] + gaps[number + 1 :]
        for i in range(1, (gap + 1) // 2 + 1):
            left = tuple(sorted(part for part in (*rest, i - 1, gap - i) if part))
            best = max(best, 1 + min(cut_dimension(i, gap - i + 1), by_recursion(left)))
    return best


def test_the_two_largest_gaps_decide_the_dimension() -> None:
    for gaps in combinations_with_replacement(range(11), 3):
        listed = tuple(gap for gap in gaps if gap)
        assert gaps_dimension(gaps[2], gaps[1]) == by_recursion(listed)
    for gap in range(28):
        assert gaps_dimension(gap) == by_recursion((gap,) if gap else ())


def test_no_dimension_changes_within_a_piece() -> None:
    for gap in range(1, 40):
        covered: list[int] = []
        for first, last in pieces(gap):
            covered += range(first, last + 1)
            for others in [(0, 0), (3, 2), (7, 7), (20, 11)]:
                found = set()
                for i in range(first, last + 1):
                    *_, second, largest = sorted((*others, i - 1, gap - i))
                    found.add((cut_dimension(i, gap - i + 1), gaps_dimension(largest, second)))
                assert len(found) == 1
        assert covered == list(range(1, gap + 1))


def test_a_long_range_is_learned_within_its_dimension() -> None:
    concepts = Intervals(2**40)
    space, mistakes = concepts.version_space(), 0
    while (example := space.hardest_mistake(space.standard_optimal())) is not None:
        after = space.restrict(*example)
        assert after.dimension == space.dimension - 1
        space, mistakes = after, mistakes + 1
    assert mistakes == concepts.littlestone_dimension == 78


def test_predictions_before_a_positive_need_not_be_an_interval_but_are_few_runs() -> None:
    space = Intervals(10**6).version_space()
    for x in (10, 700_000, 999_000):
        space = space.restrict(x, 0)
    rule = space.standard_optimal()
    ones = [(start, stop) for start, stop, label in rule.runs() if label]
    assert ones and all(start > 10 and stop <= 700_000 for start, stop in ones)
    assert len(list(islice(space.mistakes_of(rule), 3))) == 3


def test_contradictions_leave_nothing() -> None:
    space = Intervals(9).version_space().restrict(2, 1).restrict(4, 0)
    assert space.restrict(5, 1).is_empty and space.restrict(5, 1).dimension == -1
    assert space.restrict(5, 1) == space.restrict(2, 0)
    assert list(space.restrict(5, 1).mistakes_of(StepFunction(9, 0, ()))) == []


@pytest.mark.parametrize("bad", [0, -3, 2.0, False, None])
def test_bad_sizes_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="n must be"):
        Intervals(bad)
