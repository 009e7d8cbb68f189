"""The values of cells and columns as they are: no value decides how another one is read.

numpy brings the values of a list to one type: among floats a large whole number is rounded, among
whole numbers True is 1, among texts 1 is "1". So a list is never handed to it as it is. The type of
an array, or of a data frame's column, was chosen by whoever made it and is public.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.canonical_key import whole_numbers

EXACT: Final = 2**53
"""Floats hold all whole numbers below, and not all above."""
_PLAIN: Final = frozenset({int, float, np.float64})


def exact_number(value: Any) -> Any:
    """The number that a value is, as Python compares it exactly with any other; None if it is none.

    Booleans are no numbers, nor is text, nor what is "not a number".

    >>> exact_number(np.float32(0.5)), exact_number(np.int64(3)), exact_number(Decimal("0.1"))
    (0.5, 3, Decimal('0.1'))
    >>> exact_number(True) is exact_number("3") is exact_number(float("nan")) is None
    True
    """
    kind = type(value)
    if kind is float:
        return value if value == value else None
    if kind is int:
        return value
    if isinstance(value, Decimal):
        return None if value.is_nan() else Decimal(value)
    if kind is bool or not isinstance(value, Real) or isinstance(value, np.timedelta64):
        return None
    if isinstance(value, Rational):
        if isinstance(value, int | np.integer):
            return int(value)
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*map(int, value.as_integer_ratio()))
    try:
        number = float(value)
    except (ArithmeticError, TypeError, ValueError):  # of a type that nobody here knows
        return None
    return number if number == number else None


def typed(column: Any) -> NDArray[Any] | None:
    """A column that has one type of number, with at most 64 bits, as an array; None otherwise.

    Without conversion: what it holds was brought to this type by whoever made it.
    """
    kind = getattr(column, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.kind not in "iuf" or kind.itemsize > 8:
        return None
    if kind == np.uint64 or isinstance(column, np.ma.MaskedArray):
        return None  # numbers that 64 bits with a sign do not hold; values that are not there
    return one_dimensional(np.asarray(column))


def listed(column: Any) -> list[Any]:
    """The values of a column one by one.

    >>> listed((1, True, 2.5, "2"))
    [1, True, 2.5, '2']
    """
    if isinstance(column, np.ndarray):
        # As whole numbers dates would have no unit.
        values = one_dimensional(column)
        return list(values) if column.dtype.kind in "mM" else values.tolist()
    if not isinstance(column, str | bytes | Mapping):
        try:
            return list(column)
        except TypeError:
            pass
    raise ValueError(f"a column must be a sequence of values, got a {type(column).__name__}")


def one_dimensional(column: NDArray[Any]) -> NDArray[Any]:
    if column.ndim != 1:
        raise ValueError(f"a column must be one-dimensional, got an array of shape {column.shape}")
    return column


def same_numbers(values: list[Any]) -> NDArray[Any] | None:
    """The same numbers as whole ones or floats; None if there is anything else among them."""
    numbers = whole_numbers(values)
    return plain_numbers(values) if numbers is None else numbers


def plain_numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Plain numbers that floats hold as they are; None if there is anything else.

    >>> plain_numbers([3, 0.5]), plain_numbers([3, True]), plain_numbers([2**53 + 1, 0.5])
    (array([3. , 0.5]), None, None)
    """
    every = list(map(type, values))
    kinds = {float} if every.count(float) == len(every) else set(every)
    if not kinds <= _PLAIN:
        return None
    try:
        numbers = np.fromiter(values, np.float64, len(values))
    except OverflowError:
        return None
    return numbers if are_exact(numbers, whole=int in kinds) else None


def are_exact(numbers: NDArray[np.float64], *, whole: bool) -> bool:
    """Whether all are numbers, and those that may have been whole ones were not rounded."""
    if np.isnan(numbers).any():
        return False
    return not whole or bool((np.abs(numbers[np.isfinite(numbers)]) < EXACT).all())
