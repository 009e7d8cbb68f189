"""Cells and columns are read value by value: no value decides how another one is read.

numpy converts the values of a list to one type: among floats a large integer is rounded, among
integers True becomes 1, among texts 1 becomes "1". So a list is never passed to numpy as it is. The
type of an array, or of a data frame's column, was chosen by the caller and is public.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.canonical_key import whole_numbers
from littlestone.errors import optional

EXACT: Final = 2**53
"""Floats hold all whole numbers below, and not all above."""
_PLAIN: Final = frozenset({int, float, np.float64})


def exact_number(value: Any) -> Any:
    """Return the number that a value is, as Python compares it exactly with any other; None if it
    is none.

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
    except (ArithmeticError, TypeError, ValueError):  # of an unknown type
        return None
    return number if number == number else None


def typed(column: Any) -> NDArray[Any] | None:
    """Return a column that has one type of number, with at most 64 bits, as an array; None
    otherwise.

    Nothing is converted: the caller chose this type.
    """
    kind = getattr(column, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.kind not in "iuf" or kind.itemsize > 8:
        return None
    if kind == np.uint64 or isinstance(column, np.ma.MaskedArray):
        return None  # numbers that 64 bits with a sign do not hold; values that are not there
    return one_dimensional(np.asarray(column))


def is_frame(table: Any) -> bool:
    """Return whether it is a table with named columns, as in libraries of data frames."""
    kind = type(table)  # a lazy frame would have to look for the names
    return hasattr(kind, "columns") or "columns" in getattr(table, "__dict__", ())


def eager_frame(table: Any, names: Sequence[str] | None = None) -> Any:
    """Return a data frame, with these columns in this order if it has them all.

    Frames of pandas stay as they are; those of polars and pyarrow, relations of DuckDB and others
    are read through narwhals.
    """
    if hasattr(table, "iloc"):
        chosen = names is not None and set(names) <= set(table.columns)
        return table[list(names or ())] if chosen else table
    narwhals = optional("narwhals", "reading this data frame")
    try:
        frame = narwhals.from_native(table)
    except TypeError:
        raise ValueError(f"xs must be a data frame, got a {type(table).__name__}") from None
    frame = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
    chosen = names is not None and set(names) <= set(frame.columns)
    return frame.select(list(names or ())) if chosen else frame


def frame_columns(frame: Any) -> dict[Any, Any]:
    """Return the columns of what ``eager_frame`` returned, by name.

    The type of a column is public. No value of it decides how another one is read: a column with
    gaps is a list, whose values are the same as in an array.
    """
    if hasattr(frame, "iloc"):
        return {name: frame.iloc[:, place] for place, name in enumerate(frame.columns)}
    return {name: _values(frame[name]) for name in frame.columns}


def _values(series: Any) -> Any:
    whole = series.dtype.is_integer() or series.dtype.is_float()
    try:
        return series.to_numpy() if whole and not series.null_count() else series.to_list()
    except (OverflowError, UnicodeDecodeError) as problem:
        raise ValueError(f"a value of {series.name!r} cannot be read: {problem}") from None


def listed(column: Any) -> list[Any]:
    """Return the values of a column one by one.

    >>> listed((1, True, 2.5, "2"))
    [1, True, 2.5, '2']
    """
    if isinstance(column, np.ndarray):
        # As whole numbers dates would have no unit.
        values = one_dimensional(column)
        return list(values) if column.dtype.kind in "mM" else values.tolist()
    if not isinstance(column, str | bytes | Mapping):
        with suppress(ValueError):
            return require.listed(column=column)
    raise ValueError(f"a column must be a sequence of values, got a {type(column).__name__}")


def one_dimensional(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column; raise a ValueError unless it has one dimension."""
    if column.ndim != 1:
        raise ValueError(f"a column must be one-dimensional, got an array of shape {column.shape}")
    return column


def same_numbers(values: list[Any]) -> NDArray[Any] | None:
    """Return the same numbers as integers or floats; None if anything else is among them."""
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
    """Return whether all are numbers, and those that may have been whole ones were not rounded."""
    if np.isnan(numbers).any():
        return False
    return not whole or bool((np.abs(numbers[np.isfinite(numbers)]) < EXACT).all())
