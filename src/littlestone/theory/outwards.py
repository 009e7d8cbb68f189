"""Round floats outwards, so that a bound stays a bound."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require

# A few thousand roundings of 2**-53 each fit into this; no formula here comes near.
_SLACK: Final = 2.0**-40
_LARGEST_SIZE = 1 << 62


def upwards(value: float) -> float:
    """Return a float that is not below what ``value`` approximates.

    >>> upwards(1.0) > 1.0
    True
    """
    return math.nextafter(value + abs(value) * _SLACK, math.inf)


def downwards(value: float) -> float:
    """Return a float that is not above what ``value`` approximates."""
    return -upwards(-value)


def each_upwards(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Apply ``upwards`` to every element; the results are exactly the same."""
    return np.nextafter(values + np.abs(values) * _SLACK, math.inf)


def log_upwards(value: int | float) -> Fraction:
    """ln(value) from above, exact enough to multiply with whole numbers of any size.

    >>> 693 < 1000 * log_upwards(2**100) / 100 < 694
    True
    """
    return Fraction(upwards(math.log(value)))


def smallest_size(error_at: Callable[[int], float], error: float, *, start: int = 1) -> int:
    """Return the smallest number of examples, from ``start`` on, whose error bound is at most
    ``error``.

    ``error_at`` should decrease from there on. If it has small jumps, the result still suffices but
    may not be the smallest.

    >>> smallest_size(lambda size: 10 / size, 0.1)
    100
    """
    require.positive(error=error)
    low, high = start - 1, start
    while error_at(high) > error:
        low, high = high, 2 * high
        if high > _LARGEST_SIZE:
            raise ValueError(f"no number of examples reaches error={error!r}; raise error")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle) <= error else (middle, high)
    return high
