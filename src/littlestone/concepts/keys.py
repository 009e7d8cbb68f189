"""Sets of keys that grow cheaply, a fixed order of keys, and their JSON form."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import date, datetime, time
from fractions import Fraction
from itertools import islice
from numbers import Rational, Real
from typing import Any, Final, Generic, NoReturn, TypeVar
from uuid import UUID

from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.protocols import Point
from littlestone.type_checks import is_a, shown

Key = TypeVar("Key", bound=Hashable)


class KeySet(Generic[Key]):
    """An immutable set of keys; a set with one more key shares its storage.

    Extending the newest set of a chain costs O(1); extending an older one copies it. Equality and
    hash do not depend on the order of insertion.

    >>> small = KeySet[str]().adding("a")
    >>> large = small.adding("b")
    >>> "b" in small, "b" in large, large == KeySet[str]().adding("b").adding("a")
    (False, True, True)
    """

    __slots__ = ("_hash", "_positions", "_size")

    def __init__(self) -> None:
        self._positions: dict[Key, int] = {}
        self._size = 0
        self._hash = 0

    def adding(self, key: Key) -> "KeySet[Key]":
        """Return the set with ``key`` added."""
        positions, size = self._positions, self._size
        known = positions.get(key)
        if known is None or known > size:
            if len(positions) > size:  # a later set of this chain owns what follows
                positions = dict(islice(positions.items(), size))
            positions[key] = size
        elif known < size:
            return self
        grown: KeySet[Key] = KeySet.__new__(KeySet)
        grown._positions = positions
        grown._size = size + 1
        grown._hash = self._hash ^ hash((key,))
        return grown

    def __contains__(self, key: object) -> bool:
        position = self._positions.get(key)  # type: ignore[arg-type]
        return position is not None and position < self._size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Key]:
        return islice(iter(self._positions), self._size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeySet):
            return NotImplemented
        if self._positions is other._positions:
            return self._size == other._size
        return (
            self._size == other._size
            and self._hash == other._hash
            and all(key in other for key in self)
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return KeySet, (), tuple(self)

    def __setstate__(self, keys: tuple[Key, ...]) -> None:
        grown = key_set(keys)
        self._positions, self._size, self._hash = grown._positions, grown._size, grown._hash

    def __repr__(self) -> str:
        return f"KeySet({self._size} keys)"


def key_set(keys: Iterable[Key]) -> KeySet[Key]:
    """Return the set of these keys."""
    grown = KeySet[Key]()
    for key in keys:
        grown = grown.adding(key)
    return grown


def as_integer(key: Any) -> int | None:
    """Return the integer equal to the key, or None; 1, True and 1.0 are one key.

    >>> as_integer(2.0), as_integer(2.5), as_integer("2")
    (2, None, None)
    """
    if not isinstance(key, Real):
        return None
    try:
        whole = int(key)  # type: ignore[call-overload]
    except (OverflowError, ValueError):  # infinite, or not a number
        return None
    return whole if whole == key else None


def key_order(key: Any) -> tuple[Any, ...]:
    """Return a sort key that does not depend on the process or on PYTHONHASHSEED.

    Equal keys (1, True and 1.0) have the same place. Keys of other types are ordered by ``repr``.

    >>> sorted(["b", 3, (1, "a"), "a", None, 2.5], key=key_order)
    [None, 2.5, 3, 'a', 'b', (1, 'a')]
    """
    if key is None:
        return (0,)
    if isinstance(key, Rational | float):
        return (1, key)
    if isinstance(key, str):
        return (2, str(key))
    if isinstance(key, bytes):
        return (3, bytes(key))
    if isinstance(key, tuple):
        return (4, tuple(key_order(part) for part in key))
    if isinstance(key, frozenset):
        return (5, tuple(sorted(key_order(part) for part in key)))
    return (6, type(key).__qualname__, repr(key), hash(key))


def key_to_json(key: Any) -> Any:
    """Return a JSON value that ``key_from_json`` turns into an equal key.

    >>> key_to_json(("user", 7))
    {'tuple': ['user', 7]}
    >>> key_to_json(date(2024, 2, 29))
    {'date': '2024-02-29'}
    """
    return _to_json(canonical_key(key))


def key_from_json(data: Any) -> Point:
    """Read what ``key_to_json`` wrote, as a canonical key."""
    try:
        return canonical_key(_read(data))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise ValueError(f"a key must be what key_to_json returned, got {shown(data)}") from None


def _to_json(key: Any) -> Any:
    if type(key) is float and math.isinf(key):
        return {"infinity": repr(key)}
    for kind, write in _WRITERS.items():
        if type(key) is kind:
            return {kind.__name__.lower(): write(key)}
    return key


def _read(data: Any) -> Point:
    if is_a(data, dict):
        [(kind, value)] = data.items()
        return _READERS[kind](value) if kind in _READERS else _refuse(data)
    if data is None or is_a(data, str | int) or (type(data) is float and math.isfinite(data)):
        point: Point = data
        return point
    return _refuse(data)


def _parts(data: Any) -> Iterator[Point]:
    return map(_read, data) if is_a(data, list) else _refuse(data)


def _refuse(data: Any) -> NoReturn:
    raise ValueError(f"a key must be what key_to_json returned, got {shown(data)}")


_WRITERS: Final[dict[type, Callable[[Any], Any]]] = {
    bytes: bytes.hex,
    tuple: lambda key: [_to_json(part) for part in key],
    frozenset: lambda key: [_to_json(part) for part in sorted(key, key=key_order)],
    Fraction: str,
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
    UUID: str,
}
_INFINITIES: Final = {"inf": math.inf, "-inf": -math.inf}
_READERS: Final[dict[str, Callable[[Any], Point]]] = {
    "bytes": bytes.fromhex,
    "tuple": lambda data: tuple(_parts(data)),
    "frozenset": lambda data: frozenset(_parts(data)),
    "fraction": lambda text: Fraction(str(text)),
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
    "uuid": lambda text: UUID(hex=str(text)),
    "infinity": lambda text: _INFINITIES[text] if text in _INFINITIES else _refuse(text),
}
