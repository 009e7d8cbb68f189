"""Encode the state of a run as bytes, and back: known types only, equal bytes for equal states.

Plain values are written by their kind; an object of a known class as the name of the class and the
arguments it was made of. A repeated value is written as a number. Reading imports, looks up and
calls nothing but registered classes, so the worst that crafted bytes can do is raise. The order of
a dictionary is part of the state (draws depend on it); the order of a set is not.
"""

import datetime
import struct
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Final, TypeVar, get_type_hints

import numpy as np

from littlestone.errors import SnapshotError
from littlestone.learners.forms import VALUES, part_reader
from littlestone.randomness import Randomness
from littlestone.type_checks import fits

_SMALL: Final = 0x80  # bytes from here on are the whole numbers 0 .. 127
_FIRST_SMALL: Final = b"\x80"
_SHORT: Final = 4  # shorter texts are written in full each time
_MOST_VALUES: Final = 1 << 26  # repetitions included, since hashing visits them all
_MOST_REMEMBERED: Final = 64
_ARRAYS: Final = frozenset("biuf")
_CONSTANTS: Final[dict[bytes, bool | None]] = {b"N": None, b"T": True, b"F": False}
_ONE_BYTE: Final = tuple(bytes((byte,)) for byte in range(256))
_FLOAT: Final = struct.Struct("<d")

_ISO: Final[dict[bytes, Any]] = {b"Y": datetime.datetime, b"E": datetime.date, b"H": datetime.time}
_TEXTS: Final[dict[bytes, Any]] = {b"m": Decimal, b"U": uuid.UUID}
_MANY: Final[dict[bytes, Any]] = {b"t": tuple, b"l": list, b"Q": deque}
_MAPS: Final[dict[bytes, Any]] = {b"C": Counter, b"d": dict}
_SETS: Final[dict[bytes, Any]] = {b"z": frozenset, b"Z": set}

_TAGS: Final[dict[type, bytes]] = {kind: tag for tag, kind in (_MANY | _MAPS | _SETS).items()}
"""The common types; subclasses are found by a search."""

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True, slots=True)
class Known:
    """How objects of one class are written and made again."""

    name: str
    save: Callable[[Any], Iterable[Any]]
    load: Callable[..., Any]
    value: bool
    """Whether it is immutable, so that equal ones may become one object."""
    kind: type


UNCHANGING: Final = {int, str, bytes, float, bool, type(None)}
"""The types of plain constants, and the known immutable classes."""
_by_class: dict[type, Known] = {}
_by_name: dict[str, Known] = {}


def register(
    kind: Class,
    save: Callable[[Any], Iterable[Any]] | None = None,
    load: Callable[..., Any] | None = None,
    *,
    remember: bool = False,
) -> Class:
    """Make a class known to the codec; usable as a decorator.

    Its objects are written as the arguments they were made of (``part_reader``), and made again
    from them once each fits its annotation.

    Args:
        kind: The class.
        save: Replaces the first step: returns the values to write.
        load: Replaces the second step: makes the object from these values.
        remember: Cache the last few objects; for immutable ones that are slow to make.

    Raises:
        ValueError: If another class of the same name is registered.
    """
    make, name = load or _maker(kind), kind.__name__
    known = Known(
        name,
        save or (lambda made: part_reader(kind)(made)),
        lru_cache(maxsize=_MOST_REMEMBERED, typed=True)(make) if remember else make,
        value=_is_value(kind),
        kind=kind,
    )
    if _by_name.setdefault(known.name, known) is not known and kind not in _by_class:
        raise ValueError(f"a class named {known.name!r} is already registered; rename one of them")
    _by_class[kind] = _by_name[known.name] = known
    if known.value:
        UNCHANGING.add(kind)
        if save is None and load is None:
            VALUES[name] = kind
    return kind


def _is_value(kind: type) -> bool:
    """Return whether the class is frozen, or defines equality together with a hash."""
    if is_dataclass(kind):
        return bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return "__eq__" in vars(kind) and kind.__hash__ is not None


def _maker(kind: type) -> Callable[..., Any]:
    hints: dict[str, Any] = {}

    def make(*values: Any) -> Any:
        if not hints:
            hints.update(get_type_hints(kind.__init__, localns={kind.__name__: kind}))  # type: ignore[misc]
            hints.pop("return", None)
        if len(values) > len(hints):
            raise SnapshotError(f"{kind.__name__} takes {len(hints)} values, not {len(values)}")
        given = dict(zip(hints, values, strict=False))
        for argument, value in given.items():
            if not fits(value, hints[argument]):
                raise SnapshotError(f"{argument} of {kind.__name__} cannot be {type(value)}")
        return kind(**given)

    return make


def class_of(data: bytes) -> type | None:
    """Return the class of the written object; None for a plain value or a collection."""
    if data[:1] != b"o" or data[2:3] != b"s":
        return None
    known = _by_name.get(data[4 : 4 + data[3]].decode())
    return None if known is None else known.kind


def dumps(value: Any, shared: Sequence[Any] = ()) -> bytes:
    """Encode ``value``; ``shared`` are objects that the reader will have, too."""
    return _Writer(shared).write(value)[0]


def loads(data: bytes, shared: Sequence[Any] = (), rng: Randomness | None = None) -> Any:
    """Decode what ``dumps`` wrote.

    Raises:
        SnapshotError: If the bytes are anything else.
    """
    reader = _Reader(data, shared, rng)
    try:
        value = reader.read()
    except SnapshotError:
        raise
    except (Exception, RecursionError) as problem:
        raise SnapshotError(f"this is not a saved state: {problem!r}") from problem
    if reader.at != len(data):
        raise SnapshotError(f"{len(data) - reader.at} bytes follow the saved state")
    return value


@dataclass(slots=True, eq=False)
class _Writer:
    """Write a value and its key: the same bytes with numbers for repeated values."""

    shared: Sequence[Any]
    numbers: dict[bytes, int] = field(default_factory=dict)

    def write(self, value: Any) -> tuple[bytes, bytes]:
        kind = type(value)
        if kind is int:
            if 0 <= value < _SMALL:
                written = _ONE_BYTE[_SMALL + value]
            else:
                body = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
                written = b"i" + _length(len(body)) + body
            return written, written
        if kind is str or kind is bytes:
            tag, body = (b"s", value.encode()) if kind is str else (b"b", value)
            whole = key = tag + _length(len(body)) + body
            if len(body) < _SHORT:
                return whole, key
        elif (known := _by_class.get(kind)) is not None:
            for number, other in enumerate(self.shared):
                if value is other or (kind is type(other) and value == other):
                    written = b"c" + _length(number)
                    return written, written
            whole, key = self._many(b"o", chain((known.name,), known.save(value)))
            if not known.value:
                return whole, key
        elif (common := _TAGS.get(kind)) is not None:
            return (self._many if common in _MANY else self._collection)(common, value)
        else:
            return self._rare(value)
        before = len(self.numbers)
        written = b"r" + _length(self.numbers.setdefault(key, before))
        return (whole if len(self.numbers) > before else written), written

    def _rare(self, value: Any) -> tuple[bytes, bytes]:
        """Write what is neither a whole number, a text, of a known class nor of a common type."""
        if value is None or isinstance(value, bool | np.bool_):
            written = b"N" if value is None else b"T" if value else b"F"
            return written, written
        if isinstance(value, int | np.integer):
            return self.write(int(value))
        if isinstance(value, float | np.floating):
            written = b"f" + _FLOAT.pack(float(value))
            return written, written
        if isinstance(value, Randomness):
            return b"R", b"R"
        if isinstance(value, np.ndarray) and value.dtype.kind in _ARRAYS:
            body = np.ascontiguousarray(value).tobytes()
            return self._many(b"a", (value.dtype.str, value.shape, body))
        if isinstance(value, str):
            return self.write(str.__str__(value))
        if isinstance(value, bytes):
            return self.write(b"".join((value,)))
        for kind, tag in _TAGS.items():
            if isinstance(value, kind):
                return self._collection(tag, value)
        if isinstance(value, Fraction):
            return self._many(b"q", (value.numerator, value.denominator))
        for tag, kind in _ISO.items():
            if isinstance(value, kind):
                return self._many(tag, (value.isoformat(), getattr(value, "fold", 0)))
        for tag, kind in _TEXTS.items():
            if isinstance(value, kind):
                return self._many(tag, (str(value),))
        raise SnapshotError(
            f"a snapshot cannot hold {type(value).__name__}: points must be strings, numbers, "
            f"bytes, dates, or tuples and frozensets of these; other classes must be registered"
        )

    def _collection(self, tag: bytes, value: Any) -> tuple[bytes, bytes]:
        if tag in _MAPS:
            value = chain.from_iterable(value.items())
        elif tag in _SETS and len(value) > 1:
            value = sorted(value, key=lambda part: dumps(part, self.shared))
        return self._many(tag, value)

    def _many(self, tag: bytes, parts: Iterable[Any]) -> tuple[bytes, bytes]:
        bodies, keys = [tag, b""], None  # keys equal bodies until some part has a number
        for part in parts:
            if type(part) is int and 0 <= part < _SMALL:  # what write does, without the call
                body = key = _ONE_BYTE[_SMALL + part]
            else:
                body, key = self.write(part)
            if keys is None and key is not body:
                keys = bodies.copy()
            bodies.append(body)
            if keys is not None:
                keys.append(key)
        bodies[1] = _length(len(bodies) - 2)
        joined = b"".join(bodies)
        if keys is None:
            return joined, joined
        keys[1] = bodies[1]
        return joined, b"".join(keys)


@dataclass(slots=True, eq=False)
class _Reader:
    data: bytes
    shared: Sequence[Any]
    rng: Randomness | None
    known: list[tuple[Any, int]] = field(default_factory=list)
    """Numbered values, and how many values each expands to."""
    values: int = 0
    at: int = 0

    def read(self) -> Any:
        self.values += 1
        first = self.data[self.at : self.at + 1]
        self.at += 1
        if first >= _FIRST_SMALL:
            return first[0] - _SMALL
        if first == b"s" or first == b"b":
            body = self._take(self._length())
            text = body.decode() if first == b"s" else body
            if len(body) >= _SHORT:
                self.known.append((text, 1))
            return text
        if first == b"i":
            return int.from_bytes(self._take(self._length()), "little", signed=True)
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first == b"f":
            return _FLOAT.unpack(self._take(8))[0]
        if not first:
            raise SnapshotError("the saved state ends too early")
        if first == b"r":
            value, values = self.known[self._length()]
            self.values += values
            return value
        if first == b"c":
            return self.shared[self._length()]
        if first == b"R":
            return self.rng
        return self._composed(first)

    def _composed(self, tag: bytes) -> Any:
        before = self.values
        data, parts = self.data, list[Any]()
        for _ in range(self._length()):
            first = data[self.at] if self.at < len(data) else 0
            if first >= _SMALL:  # what read does, without the call
                self.values += 1
                self.at += 1
                parts.append(first - _SMALL)
            else:
                parts.append(self.read())
        if self.values > _MOST_VALUES:  # before anything visits them
            raise SnapshotError("the saved state expands to too many values")
        if tag == b"o":
            return self._object(parts, before)
        if tag in _MANY:
            return _MANY[tag](parts)
        if tag in _MAPS:
            return _MAPS[tag](dict(zip(parts[::2], parts[1::2], strict=True)))
        if tag in _SETS:
            return _SETS[tag](parts)
        if tag == b"a":
            return _array(*parts)
        if tag == b"q":
            if not all(type(part) is int for part in parts):  # of a text it could take forever
                raise SnapshotError("the saved state has another value where a number must be")
            return Fraction(*parts)
        if tag in _ISO:
            text, fold = parts
            made = _ISO[tag].fromisoformat(text)
            return made.replace(fold=fold) if fold else made
        if tag in _TEXTS:
            (text,) = parts
            if not isinstance(text, str):
                raise SnapshotError("the saved state has another value where a text must be")
            return _TEXTS[tag](text)
        raise SnapshotError(f"the saved state has a value of the unknown kind {tag!r}")

    def _object(self, parts: list[Any], before: int) -> Any:
        name, *values = parts
        known = _by_name.get(name)
        if known is None:
            raise SnapshotError(f"a snapshot cannot hold {name!r}: no such class is registered")
        made = known.load(*values)
        if known.value:
            self.known.append((made, self.values - before))
        return made

    def _take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if len(taken) != count:
            raise SnapshotError("the saved state ends too early")
        self.at += count
        return taken

    def _length(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < _SMALL:
                if value > len(self.data):
                    raise SnapshotError("the saved state claims more data than it has")
                return value
            shift += 7


def _length(value: int) -> bytes:
    if value < _SMALL:
        return _ONE_BYTE[value]
    written = bytearray()
    while value >= _SMALL:
        written.append(value & 0x7F | _SMALL)
        value >>= 7
    written.append(value)
    return bytes(written)


def _array(kind: str, shape: tuple[int, ...], body: bytes) -> np.ndarray[Any, Any]:
    dtype = np.dtype(kind)
    if dtype.kind not in _ARRAYS:
        raise SnapshotError(f"a snapshot cannot hold arrays of {kind}")
    return np.frombuffer(body, dtype=dtype).reshape(shape).copy()
