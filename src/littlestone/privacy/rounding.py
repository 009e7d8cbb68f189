"""Turn exact rationals, logarithms and exponentials into floats, rounded outwards.

Python's ``decimal`` rounds ln, exp and sqrt correctly, so each value below is off by less than one
unit in its eightieth digit; widening by 1e-70 makes it a bound without changing the float.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from littlestone import require

_SHOWN: Final = Context(prec=4, rounding=ROUND_CEILING)


def float_at_least(exact: Fraction | float) -> float:
    """Return the smallest float that is not below ``exact``; for what is spent.

    >>> float_at_least(Fraction(1, 10)) == 0.1, Fraction(0.1) >= Fraction(1, 10)
    (True, True)
    >>> Fraction(float_at_least(Fraction(3, 10))) >= Fraction(3, 10)
    True
    """
    exact = require.plain_number(exact)
    if isinstance(exact, float):
        return exact + 0.0  # turns -0.0 into 0.0
    exact = Fraction(exact)
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def float_at_most(exact: Fraction | float) -> float:
    """Return the largest float that is not above ``exact``; for what may be spent."""
    return -float_at_least(-exact)


def text_at_least(cost: float) -> str:
    """Return four digits as text, rounded up.

    >>> text_at_least(0.5), text_at_least(0.1000000001), text_at_least(1e-6)
    ('0.5', '0.1001', '1e-06')
    """
    return format(float(_SHOWN.create_decimal(repr(cost))), "g")


_DIGITS: Final = Context(prec=80)
_WIDER: Final = 1 + Fraction(1, 10**70)


def exp_upper_bound(x: Fraction) -> Fraction:
    """Return an upper bound of e**x, for abs(x) up to a million."""
    # Rounding the argument upwards by 1e-70 keeps the result on its side.
    return Fraction(_DIGITS.exp(_decimal(x + Fraction(1, 10**70)))) * _WIDER


def exp_lower_bound(x: Fraction) -> Fraction:
    """Return a lower bound of e**x, for abs(x) up to a million."""
    return 1 / exp_upper_bound(-x)


def ln_upper_bound(x: Fraction) -> Fraction:
    """Return an upper bound of ln(x), for x > 0."""
    value = Fraction(_DIGITS.ln(_decimal(x)))
    return value + abs(value) * (_WIDER - 1) + (_WIDER - 1)


def sqrt_upper_bound(x: Fraction) -> Fraction:
    """Return an upper bound of the square root of x >= 0."""
    return Fraction(_DIGITS.sqrt(_decimal(x))) * _WIDER


def _decimal(x: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))
