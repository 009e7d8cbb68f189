"""The table of weights keeps its promise in whole numbers, for every rate."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.noise.integer_weights import table_for, weight_table
from littlestone.privacy.rounding import exp_lower_bound

rates = st.floats(min_value=0.01, max_value=200.0).map(Fraction)


def steps_are_within(rate: Fraction, weights: list[int]) -> bool:
    """W[k+1] <= W[k] <= exp(rate) * W[k+1], compared with a lower bound of exp(rate)."""
    growth = exp_lower_bound(rate)
    return all(after <= before <= growth * after for before, after in pairwise(weights))


@given(rates, st.integers(min_value=1, max_value=130))
def test_no_step_of_the_table_is_larger_than_its_rate(rate: Fraction, floor_bits: int) -> None:
    weights = weight_table(rate, floor_bits).weights
    # exp_lower_bound is short by 1e-70, which the table's own rounding may use up: allow 1e-60.
    assert steps_are_within(rate + Fraction(1, 10**60), list(weights))
    assert weights[0] == weights[-1] << floor_bits
    longest = weight_table(rate, floor_bits).length_upper_bound
    assert len(weights) <= longest <= len(weights) + 4


def test_weights_rounded_to_nearest_are_noticed() -> None:
    rate = Fraction(1, 10)
    nearest = [round(2**16 * math.exp(-0.1 * k)) for k in range(100)]
    assert not steps_are_within(rate + Fraction(1, 10**60), nearest)


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(0.05), Fraction(3, 2), Fraction(20)])
def test_weights_are_the_exponentials_to_fifteen_digits_down_to_the_floor(rate: Fraction) -> None:
    weights = weight_table(rate, 64).weights
    for k in range(0, len(weights) - 1, max(1, len(weights) // 50)):
        assert Fraction(weights[k], weights[0]) == pytest.approx(math.exp(-rate * k), rel=1e-12)
    assert len(weights) == math.floor(64 * math.log(2) / rate) + 2


@given(rates, st.integers(min_value=1, max_value=130))
def test_digits_are_the_weights(rate: Fraction, floor_bits: int) -> None:
    table = weight_table(rate, floor_bits)
    for k, weight in enumerate(table.weights):
        digits = [int(digit[k]) for digit in table.digits]
        assert all(0 <= digit < 2**40 for digit in digits)
        assert sum(digit << 40 * place for place, digit in enumerate(digits)) == weight


def test_levels_are_cut_off_at_the_floor_and_never_overflow() -> None:
    table = weight_table(Fraction(1), 8)
    last = len(table.weights) - 1
    scores = np.array([-(2**63), 0, 2**63 - 1, -(2**63) + 2], dtype=np.int64)
    assert table.levels(scores, scores.min()).tolist() == [0, last, last, 2]
    assert [table.level(k) for k in (0, 2, 10**30)] == [0, 2, last]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_impossible_epsilons_are_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        table_for(epsilon=epsilon, range_width=2, floor_bits=64)


def test_a_rate_too_small_for_a_table_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"epsilon=1e-09; count scores in larger units"):
        table_for(epsilon=1e-9, range_width=2, floor_bits=64)
    with pytest.raises(ValueError, match="range_width=0"):
        table_for(epsilon=1.0, range_width=0, floor_bits=64)
    with pytest.raises(ValueError, match="floor_bits=0"):
        table_for(epsilon=1.0, range_width=2, floor_bits=0)
