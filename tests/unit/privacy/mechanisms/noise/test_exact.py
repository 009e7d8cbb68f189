"""Bounds on reals, and decisions made from them."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.noise.exact import (
    Uniform,
    exp_bounds,
    fraction,
    leading_bits,
    noise_rate,
    power_bounds,
)
from littlestone.randomness import Randomness

Script = Callable[..., Randomness]


def decimal_exp(exponent: Fraction, bits: int) -> Decimal:
    """2**bits * e**(-exponent), correctly rounded to 200 digits, as an independent oracle."""
    with localcontext() as context:
        context.prec = 200
        quotient = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        return Decimal(2) ** bits * (-quotient).exp()


@given(st.fractions(min_value=0, max_value=200, max_denominator=10**9), st.integers(1, 300))
def test_exp_bounds_enclose_the_exponential_within_one(exponent: Fraction, bits: int) -> None:
    low, high = exp_bounds(exponent, bits)
    if exponent == 0:
        assert low == high == 2**bits
    else:
        assert high == low + 1
        assert low < decimal_exp(exponent, bits) < high


@given(st.floats(min_value=2.0**-40, max_value=1e300))
def test_exp_bounds_take_floats_at_their_exact_value(rate: float) -> None:
    low, high = exp_bounds(fraction(rate), 64)
    assert low <= decimal_exp(Fraction(rate), 64) <= high


@given(st.fractions(min_value="1/1000", max_value=30), st.integers(0, 2**33), st.integers(8, 200))
def test_power_bounds_enclose_the_power(exponent: Fraction, power: int, bits: int) -> None:
    low, high = power_bounds(exp_bounds(exponent, bits), power, bits)
    assert low <= decimal_exp(exponent * power, bits) <= high


@given(st.fractions(min_value="1/1000", max_value=100))
def test_leading_bits_are_the_floor(exponent: Fraction) -> None:
    leading = leading_bits(lambda bits: exp_bounds(exponent, bits))
    assert leading <= decimal_exp(exponent, 64) < leading + 1


@given(
    exponent=st.fractions(min_value="1/100", max_value=40),
    offset=st.integers(-2, 2),
    half=st.integers(0, 1),
)
def test_a_tie_in_the_leading_bits_is_settled_by_the_next(
    exponent: Fraction, offset: int, half: int, script: Script
) -> None:
    # The uniform number is e**(-exponent) rounded down to 128 bits, plus a little.
    target = leading_bits(lambda bits: exp_bounds(exponent, bits), 128) + offset
    if not 0 <= target < 2**128:
        return
    rng = script(target & (2**64 - 1), 2**63 * half)
    answer = Uniform(rng, target >> 64).below(lambda bits: exp_bounds(exponent, bits))
    assert answer == (2 * target + half < decimal_exp(exponent, 129))


def test_a_uniform_number_keeps_the_bits_it_has_shown(script: Script) -> None:
    # 0.75 exactly: not below 3/4, below anything larger, whatever is asked first.
    uniform = Uniform(script(3 << 62))
    assert not uniform.below(lambda bits: (3 << (bits - 2), 3 << (bits - 2)))
    assert uniform.below(lambda bits: ((3 << (bits - 2)) + 1, (3 << (bits - 2)) + 1))


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), 2.0**-41, True, "1", None])
def test_noise_rates_are_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        noise_rate(epsilon=value)


def test_noise_rates_are_exact() -> None:
    assert noise_rate(epsilon=0.1) == Fraction(3602879701896397, 36028797018963968)
    assert noise_rate(epsilon=Fraction(1, 3)) == Fraction(1, 3)
    assert noise_rate(epsilon=np.float64(0.5)) == Fraction(1, 2)
    assert noise_rate(epsilon=np.int64(2)) == 2  # type: ignore[arg-type]
