"""Rounding goes away from the truth, whatever the sign and the size."""

import math
from fractions import Fraction

import numpy as np
import pytest

from littlestone.theory.generalization import self_logarithm_upper_bound
from littlestone.theory.outwards import downwards, each_upwards, log_upwards, upwards

VALUES = [0.0, 1e-320, 1e-9, 0.1, 1.0, 12345.678, 1e300]


@pytest.mark.parametrize("value", [*VALUES, *(-v for v in VALUES)])
def test_a_value_lies_strictly_between_its_two_roundings(value: float) -> None:
    assert downwards(value) < value < upwards(value)
    assert upwards(value) <= value + abs(value) * 1e-11 + 1e-320


def test_arrays_are_rounded_like_single_values() -> None:
    both = [*VALUES, *(-v for v in VALUES)]
    assert each_upwards(np.array(both)).tolist() == [upwards(value) for value in both]


def test_logarithms_of_whole_numbers_beyond_every_float() -> None:
    value = 2**5000
    assert Fraction(5000) * Fraction(math.log(2)) <= log_upwards(value) * (1 + Fraction(1, 2**52))
    assert float(log_upwards(value)) == pytest.approx(5000 * math.log(2))


@pytest.mark.parametrize("factor", [1.0, 1.5, 3.0, 100.0, 1e9])
@pytest.mark.parametrize("offset", [1e-6, 1.0, 1e4])
def test_beyond_the_bound_x_exceeds_its_own_logarithm(factor: float, offset: float) -> None:
    start = self_logarithm_upper_bound(factor=factor, offset=offset)
    for x in (start, 2 * start, 100 * start):
        assert x >= factor * math.log(x) + offset


def test_half_of_the_bound_would_not_do() -> None:
    half = self_logarithm_upper_bound(factor=100.0, offset=1e-6) / 4
    assert half < 100 * math.log(half)


def test_factors_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="factor must be at least 1"):
        self_logarithm_upper_bound(factor=0.5, offset=1.0)
