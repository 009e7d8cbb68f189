"""Convert equal keys to the same plain value, whatever their types.

Of 1, 1.0 and True, or of one instant in two time zones, a dictionary keeps the first one, and
showing it would reveal whose it was. So every key is converted to one form on input. A type whose
equal values may differ in unknown ways is rejected there, since a later error would depend on data.
"""

import marshal
import math
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Point
from littlestone.type_checks import is_a, shown

LARGEST_WHOLE: Final = 1 << 2000
"""Python may refuse to print larger integers, which then could not be published."""
_DEEPEST: Final = 16
_LARGEST_EXPONENT: Final = 600
_TEXTS: Final = 1 << 12  # checked together, so that little is copied at a time
_SHORT: Final = 1 << 31
_PLAIN_MARSHAL: Final = 2  # the last version without object references
_MARSHALLED: Final = np.dtype([("kind", "u1"), ("value", "<i4")])  # bytes compare faster than S1


def canonical_key(x: Any) -> Point:
    """Return the canonical form of ``x``, shared by all keys equal to it.

    Numbers become integers, floats or fractions, whichever is exact first; times with a zone become
    UTC; members of a ``str`` Enum and named tuples become the plain values that they equal.

    Raises:
        ValueError: ``x`` has no canonical form.

    >>> canonical_key(("user", 7.0, True))
    ('user', 7, 1)
    >>> canonical_key(1j)
    Traceback (most recent call last):
    ...
    ValueError: x must be made of None, numbers, str, bytes, dates, times and UUIDs, and of tuples \
and frozensets of these, got x=1j
    """
    kind = type(x)
    if (kind is str and x.isascii()) or (kind is int and _is_small(x)):
        key: Point = x
        return key
    try:
        return _canonical(x, 0)
    except Exception:  # there is no form, or the value itself raises
        raise _refusal(x) from None


def canonical_keys(xs: Iterable[Any], one: Callable[[Any], Point] = canonical_key) -> list[Point]:
    """Return the canonical form of each key; ``one`` converts a single key.

    Fast if all are strings, integers, or tuples of these.
    """
    keys = list(xs)
    if _stay_as_they_are(keys):
        return keys
    return [one(x) for x in keys]


def whole_numbers(keys: list[Any]) -> NDArray[np.int64] | None:
    """Return the keys as an int64 array; None unless all are plain integers that fit.

    >>> whole_numbers([3, -4]), whole_numbers([3, True]), whole_numbers([3, 2**70])
    (array([ 3, -4]), None, None)
    """
    if not keys or type(keys[0]) is not int:
        return None if keys else np.empty(0, dtype=np.int64)
    short = _short_numbers(keys) if -_SHORT <= keys[0] < _SHORT else None
    if short is None and _are_all(int, keys):
        with suppress(OverflowError):
            return np.fromiter(keys, np.int64, len(keys))
    return short


def _short_numbers(keys: list[Any]) -> NDArray[np.int64] | None:
    """Return the keys as an array if they fit into 32 bits, in one pass over types and values.

    Two passes take twice as long.
    """
    try:
        # marshal writes 32-bit integers, and nothing else, as "i" and four bytes.
        written = marshal.dumps(keys, _PLAIN_MARSHAL)
    except ValueError:  # a type unknown to marshal
        return None
    if len(written) != _MARSHALLED.itemsize * (len(keys) + 1):
        return None
    records = np.frombuffer(written, dtype=_MARSHALLED)[1:]  # after the list's header
    return records["value"].astype(np.int64) if (records["kind"] == ord("i")).all() else None


def _stay_as_they_are(keys: list[Any]) -> bool:
    """Return whether all keys are obviously in canonical form."""
    if keys and type(keys[0]) is tuple:
        return _are_all(tuple, keys) and _are_flat(keys)
    return _are_plain(keys)


def _are_plain(keys: list[Any]) -> bool:
    """Return whether all are valid text, or all are small integers."""
    if keys and type(keys[0]) is str:
        pieces = (keys[start : start + _TEXTS] for start in range(0, len(keys), _TEXTS))
        return _are_all(str, keys) and all(_is_text("".join(piece)) for piece in pieces)
    if whole_numbers(keys) is not None:
        return True
    return _are_all(int, keys) and _is_small(min(keys)) and _is_small(max(keys))


def _are_flat(tuples: list[Any]) -> bool:
    """Return whether all elements are strings or integers in canonical form."""
    parts: list[Any] = []
    deque(map(parts.extend, tuples), maxlen=0)  # twice as fast as a chain
    places = max(1, len(tuples[0]))
    # The elements at one position mostly have one type, which is faster to check.
    if all(_are_plain(parts[place::places]) for place in range(places)):
        return True
    return set(map(type, parts)) <= {int, str} and all(_are_plain([part]) for part in set(parts))


def _are_all(kind: type, keys: list[Any]) -> bool:
    """Return whether each is exactly of this type, not of a subclass."""
    return list(map(type, keys)).count(kind) == len(keys)


def _is_small(x: int) -> bool:
    return -LARGEST_WHOLE < x < LARGEST_WHOLE


class _NoFormError(Exception):
    """Some part of a key has no canonical form."""


def _refusal(x: Any) -> ValueError:
    return ValueError(
        "x must be made of None, numbers, str, bytes, dates, times and UUIDs, and of tuples and "
        f"frozensets of these, got x={shown(x)}"
    )


def _canonical(x: Any, depth: int) -> Point:
    if is_a(x, np.generic):
        if is_a(x, np.datetime64 | np.timedelta64):  # its conversion depends on its unit
            raise _NoFormError
        x = x.item()
    kind = type(x)
    if kind not in _FORMS:
        kind, x = _plain(x)
    if kind is tuple or kind is frozenset:
        if depth == _DEEPEST:
            raise _NoFormError
        parts = [_canonical(part, depth + 1) for part in x]
        # The iteration order of a set depends on how it was built.
        return tuple(parts) if kind is tuple else frozenset(sorted(parts, key=_place))
    form: Point = _FORMS[kind](x)
    return form


def _place(part: Point) -> tuple[str, str]:
    return type(part).__name__, repr(part)


def _plain(x: Any) -> tuple[type, Any]:
    """Return the plain value that a member of a subclass is equal to."""
    for kind, value in _PLAIN_VALUES.items():
        methods = ("__eq__", "__hash__")
        if is_a(x, kind) and all(
            getattr(type(x), method) is getattr(kind, method) for method in methods
        ):
            return kind, value(x)
    raise _NoFormError


def _same(x: Any) -> Any:
    return x


def _text(x: str) -> str:
    if not _is_text(x):
        raise _NoFormError
    return x


def _is_text(x: str) -> bool:
    try:
        return x.isascii() or bool(x.encode())
    except UnicodeEncodeError:  # a lone surrogate cannot be saved or published
        return False


def _whole(x: int) -> int:
    if not _is_small(x):
        raise _NoFormError
    return int(x)


def _number(x: Any) -> Point:
    if x in (math.inf, -math.inf):
        return float(x)
    exact = Fraction(x)
    if exact.denominator == 1:
        return _whole(exact.numerator)
    _whole(exact.numerator)
    _whole(exact.denominator)
    nearest = exact.numerator / exact.denominator
    return nearest if Fraction(nearest) == exact else exact


def _float(x: float) -> Point:
    if x != x:
        raise _NoFormError  # not even equal to itself
    return int(x) if x.is_integer() else x


def _decimal(x: Decimal) -> Point:
    exponent = x.as_tuple().exponent
    if x.is_nan() or (isinstance(exponent, int) and abs(exponent) > _LARGEST_EXPONENT):
        raise _NoFormError
    return _number(x)


def _instant(x: datetime) -> datetime:
    if x.utcoffset() is None:
        return x.replace(tzinfo=None, fold=0)
    return x.astimezone(UTC).replace(fold=0)


def _time(x: time) -> time:
    if x.tzinfo is not None:  # without a date the offset of a zone is undefined
        raise _NoFormError
    return x.replace(fold=0)


_FORMS: Final[dict[type, Callable[[Any], Any]]] = {
    NoneType: _same,
    str: _text,
    bytes: _same,
    bool: int,
    int: _whole,
    float: _float,
    Fraction: _number,
    Decimal: _decimal,
    date: _same,
    datetime: _instant,
    time: _time,
    UUID: lambda x: UUID(int=x.int),
    tuple: _same,
    frozenset: _same,
}
_PLAIN_VALUES: Final[dict[type, Callable[[Any], Any]]] = {
    str: lambda x: "".join((x,)),
    bytes: lambda x: b"".join((x,)),
    int: lambda x: int.__add__(x, 0),
    float: lambda x: float.__add__(x, 0.0),
    tuple: lambda x: tuple.__getitem__(x, slice(None)),
    frozenset: frozenset.union,
}
