"""The exponential mechanism: every dart counted, every input checked."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.exponential import ExponentialMechanism, run_drawn
from littlestone.privacy.mechanisms.noise.integer_weights import WeightTable
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, seeded

SMALL_WEIGHTS = (21, 13, 8, 5, 3)


class Dart:
    """Randomness that has been told what to draw."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.bound: int | None = None

    def below(self, bound: int) -> int:
        self.bound = bound
        return self.value


def with_small_table() -> ExponentialMechanism:
    """A mechanism of so few darts that all of them can be thrown; digits in base four."""
    mechanism = ExponentialMechanism(epsilon=1.0)
    digits = tuple(np.array([w >> s & 3 for w in SMALL_WEIGHTS]) for s in (0, 2, 4))
    table = WeightTable(Fraction(1), 8)
    vars(table).update(weights=SMALL_WEIGHTS, digits=digits, digit_bits=2)
    object.__setattr__(mechanism, "_table", table)
    return mechanism


def darts_of(method: Any, *arguments: Any) -> Counter[int]:
    """How many of all possible darts choose each element."""
    first = Dart(0)
    method(*arguments, first, 1)
    assert first.bound is not None
    chosen: Counter[int] = Counter()
    for value in range(first.bound):
        chosen.update(method(*arguments, Dart(value), 1))
    return chosen


@given(st.lists(st.integers(min_value=-3, max_value=9), min_size=1, max_size=12))
def test_each_element_owns_as_many_darts_as_it_weighs(scores: list[int]) -> None:
    mechanism = with_small_table()
    expected = {i: SMALL_WEIGHTS[min(score - min(scores), 4)] for i, score in enumerate(scores)}
    assert darts_of(mechanism._draw_from_runs, scores, [1] * len(scores)) == expected
    assert darts_of(mechanism._draw_by_digits, np.array(scores)) == expected


@given(
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=6), st.integers(min_value=0, max_value=4)),
        min_size=1,
        max_size=6,
    ).filter(lambda runs: any(length for _, length in runs))
)
def test_runs_are_drawn_from_as_if_they_were_written_out(runs: list[tuple[int, int]]) -> None:
    mechanism = with_small_table()
    scores, lengths = [run[0] for run in runs], [run[1] for run in runs]
    written_out = [score for score, length in runs for _ in range(length)]
    assert darts_of(mechanism._draw_from_runs, scores, lengths) == darts_of(
        mechanism._draw_from_runs, written_out, [1] * len(written_out)
    )


def test_a_run_is_drawn_as_its_elements_are() -> None:
    """By every dart."""
    mechanism, scores, lengths = with_small_table(), [3, 0, 1, 5], [2, 3, 0, 4]
    ends = np.cumsum(lengths)
    first: Any = Dart(0)
    run_drawn(mechanism, scores, lengths, rng=first)
    assert first.bound is not None
    for value in range(first.bound):
        darts: list[Any] = [Dart(value), Dart(value)]
        (element,) = mechanism._draw_from_runs(scores, lengths, darts[0], 1)
        run = run_drawn(mechanism, scores, lengths, rng=darts[1])
        assert run == np.searchsorted(ends, element, side="right")


def test_blocks_are_searched_as_one_array() -> None:
    # Only three elements have the least score, one of them in the third block.
    scores = np.full(20_000, 10_000)
    scores[[5, 9000, 19_999]] = -7
    drawn = ExponentialMechanism(epsilon=2.0).draw(scores, rng=seeded(3), count=300)
    assert set(drawn) == {5, 9000, 19_999}


def test_astronomic_numbers_of_concepts_need_only_their_runs() -> None:
    mechanism = ExponentialMechanism(epsilon=2.0, floor_bits=128)
    lengths = [2**100, 5, 2**100]
    drawn = mechanism.draw([300, 0, 300], multiplicities=lengths, rng=seeded(3), count=50)
    assert all(2**100 <= position < 2**100 + 5 for position in drawn)
    assert len(set(drawn)) > 1


def test_an_empty_run_does_not_count_as_the_least() -> None:
    mechanism = ExponentialMechanism(epsilon=2.0)
    drawn = mechanism.draw([-(10**6), 5, 1000], multiplicities=[0, 2, 1], rng=seeded(1), count=50)
    assert set(drawn) == {0, 1}


def test_extreme_scores_do_not_overflow(rng: Randomness) -> None:
    mechanism = ExponentialMechanism(epsilon=1.0)
    scores = [2**63 - 1] * 200 + [-(2**63)]
    assert mechanism.draw(scores, rng=rng, count=20) == [200] * 20


def test_a_rate_is_kept_to_the_last_digit_of_its_float_and_never_exceeded() -> None:
    for eta in (Fraction(1, 3), 0.05, Fraction(7, 10)):
        mechanism = ExponentialMechanism.from_eta(eta, range_width=2)
        assert Fraction(eta) * (1 - Fraction(1, 2**52)) <= mechanism.eta <= Fraction(eta)
    assert ExponentialMechanism(epsilon=0.5, range_width=1).eta == Fraction(1, 2)


def test_costs_for_losses_that_all_move_one_way_and_for_replaced_examples() -> None:
    eta = Fraction(1, 8)
    one_way = ExponentialMechanism.from_eta(eta, range_width=1)
    replaced = ExponentialMechanism.from_eta(eta, range_width=2)
    assert one_way.guarantee().epsilon == 0.125
    assert replaced.guarantee().epsilon == 0.25
    assert one_way.zero_concentrated() == ZeroConcentrated(rho=float(eta**2 / 8))
    assert replaced.zero_concentrated() == ZeroConcentrated(rho=float(eta**2 / 2))


@pytest.mark.parametrize(
    "scores",
    [[], [[1, 2]], [1.0, 2.0], [math.nan], ["1"], [True, False], [2**64], [2**63], 5, [None]],
)
def test_scores_that_are_not_whole_numbers_are_refused(scores: Any) -> None:
    with pytest.raises(ValueError, match="scores"):
        ExponentialMechanism(epsilon=1.0).draw(scores, rng=seeded(1))


@pytest.mark.parametrize("lengths", [[1], [1, 2, 3], [0, 0], [-1, 2], [1.5, 1], ["1", 1]])
def test_impossible_multiplicities_are_refused(lengths: Any) -> None:
    with pytest.raises(ValueError, match="multiplicities"):
        ExponentialMechanism(epsilon=1.0).draw([1, 2], multiplicities=lengths, rng=seeded(1))


@pytest.mark.parametrize("count", [0, 1.5, True])
def test_impossible_counts_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match="count"):
        ExponentialMechanism(epsilon=1.0).draw([1, 2], count=count, rng=seeded(1))


def test_too_many_separate_scores_are_refused_with_advice() -> None:
    scores = np.zeros(2**22 + 1, dtype=np.int8)
    with pytest.raises(ValueError, match="multiplicities"):
        ExponentialMechanism(epsilon=1.0).draw(scores, rng=seeded(1))
