"""Read columns value by value, so that no value decides how another is read.

numpy converts the values of a list to one type: beside floats a large integer is rounded, beside
integers True becomes 1, beside text 1 becomes "1". So a list is never passed to numpy directly. The
type of an array or of a data frame's column was chosen by the caller and is public.
"""

from collections.abc import Callable, Mapping, Sequence
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
from littlestone.type_checks import is_a

EXACT: Final = 2**53
"""Floats hold all integers below this, and not all above."""
_PLAIN: Final = frozenset({int, float, np.float64})
_TEXTS: Final = ("str", "string")
"""What pandas calls the types of columns that hold nothing but text."""


def exact_number(value: Any) -> Any:
    """Return a value as a number that Python compares exactly; None if it is not a number.

    Booleans, text and NaN are not numbers.

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
    if is_a(value, Decimal):
        return None if value.is_nan() else Decimal(value)
    if kind is bool or not is_a(value, Real) or is_a(value, np.timedelta64):
        return None
    try:
        return _exact(value)
    except Exception:  # raised by the value itself
        return None


def _exact(value: Any) -> Any:
    if isinstance(value, Rational):
        if isinstance(value, int | np.integer):
            return int(value)
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*map(int, value.as_integer_ratio()))
    number = float(value)
    return number if number == number else None


def typed(column: Any) -> NDArray[Any] | None:
    """Return a column of one numeric type of at most 64 bits as an array; else None.

    Nothing is converted, since the caller chose this type.
    """
    kind = getattr(column, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.kind not in "iuf" or kind.itemsize > 8:
        return None
    if kind == np.uint64 or is_a(column, np.ma.MaskedArray):
        return None  # numbers beyond int64, or missing values
    return one_dimensional(np.asarray(column))


def is_frame(table: Any) -> bool:
    """Return whether the table is a data frame."""
    kind = type(table)  # a lazy frame would have to compute its names
    return hasattr(kind, "columns") or "columns" in getattr(table, "__dict__", ())


def eager_frame(table: Any, names: Sequence[str] | None = None) -> Any:
    """Return an eager data frame, with these columns in this order if it has all of them.

    pandas frames are returned unchanged; polars, pyarrow, DuckDB relations and others are read
    through narwhals.
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


def frame_kinds(table: Any) -> dict[str, str | None]:
    """Return what the columns of a data frame hold by their types: number, date, text or None.

    No row is read, and a lazy frame is not computed.
    """
    if hasattr(table, "iloc"):
        letters = {"i": "number", "u": "number", "f": "number", "M": "date"}
        return {
            str(name): "text" if str(kind) in _TEXTS else letters.get(getattr(kind, "kind", ""))
            for name, kind in table.dtypes.items()
        }
    narwhals = optional("narwhals", "reading this data frame")
    kinds = narwhals.from_native(table).collect_schema()
    return {
        name: "number" if kind.is_numeric() else "date" if kind.is_temporal() else "text"
        for name, kind in kinds.items()
    }


def frame_columns(frame: Any) -> dict[Any, Any]:
    """Return the columns of an ``eager_frame``, by name.

    The type of a column is public. No value decides how another is read: a column with gaps becomes
    a list with the same values as an array.
    """
    if hasattr(frame, "iloc"):
        return {name: frame.iloc[:, place] for place, name in enumerate(frame.columns)}
    return {name: _values(frame[name]) for name in frame.columns}


class Unreadable:
    """Stands for a value that Python cannot hold: a date past the year 9999, bytes in a text."""

    def __repr__(self) -> str:
        return "a value that Python cannot hold"

    def __str__(self) -> str:
        raise ValueError("this value cannot be written down")  # for example as an id


def _values(series: Any) -> Any:
    """Return the values of a column of narwhals."""
    whole = series.dtype.is_integer() or series.dtype.is_float()
    if whole and not series.null_count():
        with suppress(Exception):  # numpy has no integers of 128 bits
            return series.to_numpy()
    return each_readable(series, lambda part: list(part.to_list()))


def each_readable(column: Any, values: Callable[[Any], list[Any]]) -> list[Any]:
    """Return ``values`` of a column; one that Python cannot hold does not affect the others.

    Of a column that cannot be read as a whole, parts are read by the same function.
    """
    try:
        return values(column)
    except BaseException as problem:
        _raise_others(problem)
    if len(column) <= 1:
        return [Unreadable() for _ in range(len(column))]
    middle, by_place = len(column) // 2, getattr(column, "iloc", column)
    halves = by_place[:middle], by_place[middle:]
    return [value for half in halves for value in each_readable(half, values)]


def _raise_others(problem: BaseException) -> None:
    """Raise what no value causes; a panic of Rust, in polars, is no ``Exception``."""
    if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
        raise problem


def listed(column: Any) -> list[Any]:
    """Return the values of a column one by one.

    >>> listed((1, True, 2.5, "2"))
    [1, True, 2.5, '2']
    """
    if is_a(column, np.ndarray):
        # As integers, dates would lose their unit.
        values = one_dimensional(column)
        return list(values) if column.dtype.kind in "mM" else values.tolist()
    if not is_a(column, str | bytes | Mapping):
        if hasattr(column, "to_pylist"):  # of pyarrow
            return each_readable(column, lambda part: list(part.to_pylist()))
        if hasattr(column, "dtype") and hasattr(column, "__len__"):  # of pandas or polars
            return each_readable(column, list)
        with suppress(ValueError):
            return require.listed(column=column)
    raise ValueError(f"a column must be a sequence of values, got a {type(column).__name__}")


def one_dimensional(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column; raise a ValueError unless it has one dimension."""
    if column.ndim != 1:
        raise ValueError(f"a column must be one-dimensional, got an array of shape {column.shape}")
    return column


def same_numbers(values: list[Any]) -> NDArray[Any] | None:
    """Return the numbers as integers or floats; None if anything else is among them."""
    numbers = whole_numbers(values)
    return plain_numbers(values) if numbers is None else numbers


def plain_numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return plain numbers that floats hold exactly; None if there is anything else.

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
    """Return whether all are numbers and no integer was rounded."""
    if np.isnan(numbers).any():
        return False
    return not whole or bool((np.abs(numbers[np.isfinite(numbers)]) < EXACT).all())
