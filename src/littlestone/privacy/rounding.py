"""Exact rationals to floats, always outwards: a cost is rounded up, an allowance down."""

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Final

from littlestone import require

_SHOWN: Final = Context(prec=4, rounding=ROUND_CEILING)


def float_at_least(exact: Fraction | float) -> float:
    """The smallest float that is not below ``exact``; for what is spent.

    >>> float_at_least(Fraction(1, 10)) == 0.1, Fraction(0.1) >= Fraction(1, 10)
    (True, True)
    >>> Fraction(float_at_least(Fraction(3, 10))) >= Fraction(3, 10)
    True
    """
    exact = require.plain_number(exact)
    if isinstance(exact, float):
        return exact + 0.0  # which makes a negative zero a plain one
    exact = Fraction(exact)
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def float_at_most(exact: Fraction | float) -> float:
    """The largest float that is not above ``exact``; for what may be spent."""
    return -float_at_least(-exact)


def text_at_least(cost: float) -> str:
    """Four digits for a reader, never fewer than the truth.

    >>> text_at_least(0.5), text_at_least(0.1000000001), text_at_least(1e-6)
    ('0.5', '0.1001', '1e-06')
    """
    return format(float(_SHOWN.create_decimal(repr(cost))), "g")
