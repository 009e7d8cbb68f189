"""Floats are rounded away from the truth here, so that a bound stays a bound."""

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

# A few thousand roundings of 2**-53 each fit into this; no formula here comes near.
_SLACK: Final = 2.0**-40


def upwards(value: float) -> float:
    """A float that is not below what ``value`` approximates.

    >>> upwards(1.0) > 1.0
    True
    """
    return math.nextafter(value + abs(value) * _SLACK, math.inf)


def downwards(value: float) -> float:
    """A float that is not above what ``value`` approximates."""
    return -upwards(-value)


def each_upwards(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``upwards`` of many floats at once: exactly the same ones."""
    return np.nextafter(values + np.abs(values) * _SLACK, math.inf)


def log_upwards(value: int | float) -> Fraction:
    """ln(value) from above, exact enough to multiply with whole numbers of any size.

    >>> 693 < 1000 * log_upwards(2**100) / 100 < 694
    True
    """
    return Fraction(upwards(math.log(value)))
