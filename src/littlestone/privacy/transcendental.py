"""Logarithms and exponentials of rationals, enclosed: for planning costs, never for sampling.

Python's ``decimal`` rounds ln, exp and sqrt correctly, so each value below is off by less than one
unit in its eightieth digit; widening by 1e-70 makes it a bound, and hides in any float.
"""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

_DIGITS: Final = Context(prec=80)
_WIDER: Final = 1 + Fraction(1, 10**70)


def exp_upper_bound(x: Fraction) -> Fraction:
    """At least e**x, for abs(x) up to a million."""
    # Rounding the argument upwards by 1e-70 keeps the result on its side.
    return Fraction(_DIGITS.exp(_decimal(x + Fraction(1, 10**70)))) * _WIDER


def exp_lower_bound(x: Fraction) -> Fraction:
    """At most e**x, for abs(x) up to a million."""
    return 1 / exp_upper_bound(-x)


def ln_upper_bound(x: Fraction) -> Fraction:
    """At least ln(x), for x > 0."""
    value = Fraction(_DIGITS.ln(_decimal(x)))
    return value + abs(value) * (_WIDER - 1) + (_WIDER - 1)


def sqrt_upper_bound(x: Fraction) -> Fraction:
    """At least the square root of x >= 0."""
    return Fraction(_DIGITS.sqrt(_decimal(x))) * _WIDER


def _decimal(x: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))
