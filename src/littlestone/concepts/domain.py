"""Domains are sets of points: ranges, grids, plain keys, the Boolean cube, the unit ball."""

import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key, canonical_keys, whole_numbers
from littlestone.concepts.protocols import Domain, Point
from littlestone.type_checks import is_a

_LARGEST_RANGE = 2**63 - 1  # blocks of points are int64 arrays
_FEW = 4  # up to this many are checked one by one: an array has a fixed cost
MOST_SAMPLED = 1 << 24
MOST_LABELS = 256
"""Rules answer with a byte."""


@require.checked
@dataclass(frozen=True, slots=True)
class IntegerRange(Domain):
    """The integers 0 .. n-1, numpy integers included; floats and Booleans are rejected.

    >>> IntegerRange(4).check(np.int16(3))
    3
    >>> IntegerRange(4).check(4)
    Traceback (most recent call last):
    ...
    ValueError: x must be an integer from 0 to 3, got x=4
    """

    n: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        if self.n > _LARGEST_RANGE:
            raise ValueError(f"n must be below 2**63, got n={self.n}")

    @property
    def size(self) -> int:
        return self.n

    def check(self, x: Any, /) -> int:
        if type(x) is int:
            if 0 <= x < self.n:
                return x
        elif is_a(x, Integral) and not is_a(x, bool):
            try:
                point = operator.index(x)
            except Exception:  # raised by the value itself
                raise self._refusal(x) from None
            if 0 <= point < self.n:
                return point
        raise self._refusal(x)

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Return the points as one int64 array; the error names the first bad one."""
        if require.plain_array(xs) is None:
            points = require.listed(xs=xs)
            # numpy would read True as 1 and 3.0 as 3 among integers.
            numbers = whole_numbers(points) if len(points) > _FEW else None
            if numbers is None:
                return np.array([self.check(x) for x in points], dtype=np.int64)
            xs = numbers
        if xs.ndim != 1:
            raise ValueError(f"xs must be one-dimensional, got xs of shape {xs.shape}")
        if xs.dtype.kind not in "iu":
            return np.array([self.check(x) for x in xs], dtype=np.int64)
        if xs.size and (xs.min() < 0 or xs.max() >= self.n):
            raise self._refusal(xs[(xs < 0) | (xs >= self.n)][0].item())
        return np.asarray(xs, dtype=np.int64)

    def sample(self, count: int, generator: np.random.Generator, /) -> list[int]:
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        drawn: list[int] = generator.integers(self.n, size=count).tolist()
        return drawn

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n))

    def _refusal(self, x: Any) -> ValueError:
        return ValueError(f"x must be an integer from 0 to {self.n - 1}, got x={require.shown(x)}")


@require.checked
@dataclass(frozen=True, slots=True)
class LabelledRange(Domain):
    """The integers 0 .. n-1, with labels 0 .. label_count-1.

    It is not an ``IntegerRange`` and equals none: what is made for two labels must not take it.

    >>> LabelledRange(4, 3).check(3), LabelledRange(4, 3) == IntegerRange(4)
    (3, False)
    """

    n: int
    label_count: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(label_count=self.label_count, at_least=2, at_most=MOST_LABELS)
        IntegerRange(self.n)

    @property
    def size(self) -> int:
        return self.n

    @property
    def label_values(self) -> tuple[int, ...]:
        """The labels."""
        return tuple(range(self.label_count))

    def check(self, x: Any, /) -> int:
        return IntegerRange(self.n).check(x)

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Return the points as one int64 array; the error names the first bad one."""
        return IntegerRange(self.n).check_many(xs)

    def sample(self, count: int, generator: np.random.Generator, /) -> list[int]:
        return IntegerRange(self.n).sample(count, generator)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n))


@require.checked
@dataclass(frozen=True, slots=True)
class AnyHashable(Domain):
    """Every key that has a canonical form; unbounded.

    Keys are numbers, text, bytes, dates, times, UUIDs, and tuples and frozensets of these and None.
    Equal keys become the same plain value (``canonical_key``): publishing 1, 1.0 or True must not
    reveal whose key came first. Other types and NaN are rejected.

    >>> AnyHashable().check(("user", 7.0))
    ('user', 7)
    >>> AnyHashable().check([1])
    Traceback (most recent call last):
    ...
    ValueError: x must be made of None, numbers, str, bytes, dates, times and UUIDs, and of tuples \
and frozensets of these, got x=[1]
    """

    @property
    def size(self) -> None:
        """None: there are infinitely many keys."""
        return None

    def check(self, x: Any, /) -> Point:
        if x is None:
            raise ValueError("x must be a key, got x=None: leave out examples without a key")
        return canonical_key(x)

    def check_many(self, xs: Any, /) -> "list[Point] | NDArray[np.int64]":
        """Return the canonical form of many points."""
        array = require.plain_array(xs)
        if array is not None:
            if array.ndim != 1:
                raise ValueError(f"xs must be one-dimensional, got xs of shape {array.shape}")
            if array.dtype.kind == "i":
                return array.astype(np.int64, copy=False)
            if array.dtype.kind not in "mM":  # those are rejected one by one
                xs = array.tolist()
        keys = require.listed(xs=xs)
        numbers = whole_numbers(keys) if keys else None
        return canonical_keys(keys, self.check) if numbers is None else numbers

    def sample(self, count: int, generator: np.random.Generator, /) -> list[int]:
        """Return integer keys, uniform below 2**62, so that repeats are unlikely."""
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        drawn: list[int] = generator.integers(2**62, size=count).tolist()
        return drawn

    def __iter__(self) -> Iterator[int]:
        return itertools.count()


@require.checked
@dataclass(frozen=True, slots=True)
class BooleanCube(Domain):
    """All tuples of ``n`` zeros and ones.

    >>> BooleanCube(3).check([True, 0, 1])
    (1, 0, 1)
    >>> BooleanCube(3).check((0, 2, 1))
    Traceback (most recent call last):
    ...
    ValueError: x must be 3 zeros and ones, got x=(0, 2, 1)
    """

    n: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)

    @property
    def size(self) -> int:
        """The number of corners."""
        return 1 << self.n

    def check(self, x: Any, /) -> tuple[int, ...]:
        try:
            point = tuple(require.label(bit) for bit in _parts(x, self.n + 1))
        except Exception:  # raised by the value itself
            raise self._refusal(x) from None
        if len(point) != self.n:
            raise self._refusal(x)
        return point

    def check_many(self, xs: Any, /) -> NDArray[np.uint8]:
        """Return the points as the rows of one array; the error names the first bad one."""
        array = require.plain_array(xs)
        if array is None or not array.ndim:
            points = require.listed(xs=xs)
            bits = _bits(points, self.n)
            rows = [self.check(x) for x in points] if bits is None else bits
            return np.array(rows, dtype=np.uint8).reshape(len(points), self.n)
        if len(array) == 0:
            return np.empty((0, self.n), dtype=np.uint8)
        if array.ndim != 2 or array.shape[1] != self.n or array.dtype.kind not in "biuf":
            return np.array([self.check(x) for x in array], dtype=np.uint8)
        bad = ((array != 0) & (array != 1)).any(axis=1)
        if bad.any():
            raise self._refusal(tuple(array[bad][0].tolist()))
        return array.astype(np.uint8, copy=False)

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[tuple[int, ...]]:
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        rows = generator.integers(2, size=(count, self.n)).tolist()
        return [tuple(row) for row in rows]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return itertools.product((0, 1), repeat=self.n)

    def _refusal(self, x: Any) -> ValueError:
        return ValueError(f"x must be {self.n} zeros and ones, got x={require.shown(x)}")


@require.checked
@dataclass(frozen=True, slots=True)
class Grid(Domain):
    """All tuples of ``k`` integers 0 .. n-1.

    >>> Grid(2, 5).check([np.int8(4), 0])
    (4, 0)
    >>> Grid(2, 5).check((5, 0))
    Traceback (most recent call last):
    ...
    ValueError: x must be 2 integers from 0 to 4, got x=(5, 0)
    """

    k: int
    n: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(k=self.k, at_least=1)
        IntegerRange(self.n)  # raises a ValueError

    @property
    def size(self) -> int:
        """The number of grid points."""
        return int(self.n**self.k)

    def check(self, x: Any, /) -> tuple[int, ...]:
        try:
            point = tuple(map(IntegerRange(self.n).check, _parts(x, self.k + 1)))
        except Exception:  # raised by the value itself
            raise self._refusal(x) from None
        if len(point) != self.k:
            raise self._refusal(x)
        return point

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Return the points as the rows of one array; the error names the first bad one."""
        array = require.plain_array(xs)
        if array is None or array.ndim != 2 or array.dtype.kind not in "iu":
            rows = [self.check(x) for x in require.listed(xs=xs)]
            return np.array(rows, dtype=np.int64).reshape(len(rows), self.k)
        if array.shape[1] != self.k and len(array):
            raise self._refusal(tuple(array[0].tolist()))
        bad = ((array < 0) | (array >= self.n)).any(axis=1)
        if bad.any():
            raise self._refusal(tuple(array[bad][0].tolist()))
        return array.astype(np.int64, copy=False).reshape(len(array), self.k)

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[tuple[int, ...]]:
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        return [tuple(row) for row in generator.integers(self.n, size=(count, self.k)).tolist()]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(range(self.n), repeat=self.k)

    def _refusal(self, x: Any) -> ValueError:
        return ValueError(
            f"x must be {self.k} integers from 0 to {self.n - 1}, got x={require.shown(x)}"
        )


def _parts(x: Any, most: int) -> Iterable[Any]:
    """Return at most so many parts of a point; an iterator, which is read once only, is none."""
    if type(x) is not tuple and is_a(x, Iterator):
        raise TypeError
    return islice(x, most)


def block_of(domain: Domain, points: Sequence[Point]) -> Any:
    """Return ``domain.check_many`` of points that ``domain.check`` has returned.

    Only the first point is checked again, to get the block's type. Plain keys may have several
    types, so all of them are checked: no key decides how others are read.

    >>> block_of(IntegerRange(9), [3, 5]), block_of(AnyHashable(), [3, "5"])
    (array([3, 5]), [3, '5'])
    """
    if isinstance(domain, AnyHashable):
        return domain.check_many(points)
    first = domain.check_many(points[:1])
    if not isinstance(first, np.ndarray):
        return list(points)
    try:
        return np.array(points, dtype=first.dtype).reshape(len(points), *first.shape[1:])
    except OverflowError:  # integers beyond int64
        return np.array(points, dtype=object)


def points_of(block: Any) -> Sequence[Any]:
    """Return the points of a block of ``check_many``, each as ``check`` returns it.

    >>> points_of(BooleanCube(2).check_many([[True, 0]]))
    [(1, 0)]
    """
    if not isinstance(block, np.ndarray):
        return block  # type: ignore[no-any-return]
    return list(map(tuple, block.tolist())) if block.ndim > 1 else block.tolist()


def _bits(points: list[Any], width: int) -> NDArray[np.uint8] | None:
    """Return rows of ``width`` zeros and ones; None if anything else is among them."""
    if not set(map(type, points)) <= {tuple, list} or set(map(len, points)) != {width}:
        return None
    try:
        # bytes() takes integers, including Booleans, and nothing else.
        bits = np.frombuffer(bytearray(itertools.chain.from_iterable(points)), dtype=np.uint8)
    except Exception:  # raised by an element itself, for example
        return None
    return bits if bits.max() <= 1 else None


BallPoint = tuple[int, ...]
"""The numerators and, last, their common denominator, in lowest terms."""

_SAMPLE_DENOMINATOR = 1 << 20


@require.checked
@dataclass(frozen=True, slots=True)
class RationalBall(Domain):
    """Vectors of ``dimension`` rational numbers, of length at most 1; unbounded in number.

    A point is given as ``dimension`` integers, fractions or floats (each at its exact value), or in
    canonical form: numerators, then one denominator.

    >>> RationalBall(2).check((0.5, -0.25))
    (2, -1, 4)
    >>> RationalBall(2).check((1, 1))
    Traceback (most recent call last):
    ...
    ValueError: x must have length at most 1, got x=(1, 1)
    """

    dimension: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(dimension=self.dimension, at_least=1)

    @property
    def size(self) -> None:
        """None: there are infinitely many points."""
        return None

    def check(self, x: Any, /) -> BallPoint:
        """Return the canonical form of ``x``; raise a ValueError if it is not a point."""
        try:
            numerators, denominator = self._over_one(tuple(_parts(x, self.dimension + 2)))
        except Exception:  # not such numbers, or raised by the value itself
            raise self._refusal(x) from None
        if sum(part * part for part in numerators) > denominator * denominator:
            raise ValueError(f"x must have length at most 1, got x={require.shown(x)}")
        shared = math.gcd(denominator, *numerators)
        return (*(part // shared for part in numerators), denominator // shared)

    def check_many(self, xs: Any, /) -> NDArray[Any]:
        """Return the canonical points as rows of one array, int64 if they fit, else objects."""
        points = [self.check(x) for x in require.listed(xs=xs)]
        if not points:
            return np.empty((0, self.dimension + 1), dtype=np.int64)
        try:
            return np.array(points, dtype=np.int64)
        except OverflowError:
            return np.array(points, dtype=object)

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[BallPoint]:
        """Return uniform directions on the sphere, rounded towards the centre."""
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        rows = generator.standard_normal((count, self.dimension))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)
        whole = np.trunc(rows * _SAMPLE_DENOMINATOR).astype(np.int64).tolist()
        return [self.check((*row, _SAMPLE_DENOMINATOR)) for row in whole]

    def __iter__(self) -> Iterator[BallPoint]:
        """Yield points by denominator, then by numerators; endless."""
        for denominator in count(1):
            for row in _rows(self.dimension, denominator * denominator):
                if math.gcd(denominator, *row) == 1:
                    yield (*row, denominator)

    def _over_one(self, parts: tuple[Any, ...]) -> tuple[list[int], int]:
        """Return the numerators and their common denominator."""
        if len(parts) == self.dimension + 1 and is_a(parts[-1], int | np.integer):
            numerators, denominator = list(map(_whole, parts[:-1])), int(parts[-1])
            if denominator < 1:
                raise ValueError
            return numerators, denominator
        if len(parts) != self.dimension:
            raise ValueError
        fractions = list(map(_fraction, parts))
        denominator = math.lcm(*(part.denominator for part in fractions))
        return [int(part * denominator) for part in fractions], denominator

    def _refusal(self, x: Any) -> ValueError:
        return ValueError(
            f"x must be {self.dimension} finite rational numbers, got x={require.shown(x)}"
        )


def _fraction(part: Any) -> Fraction:
    part = part.item() if is_a(part, np.generic) else part
    if is_a(part, bool) or not is_a(part, Rational | float):
        raise TypeError
    return Fraction(part)  # raises for infinity and NaN


def _whole(part: Any) -> int:
    if is_a(part, bool) or not is_a(part, int | np.integer):
        raise TypeError
    return int(part)


def _rows(length: int, room: int) -> Iterator[tuple[int, ...]]:
    """Yield the integer vectors of at most this squared length, in order."""
    row, left = list[int](), [room]
    while True:
        while len(row) < length:
            row.append(-math.isqrt(left[-1]))
            left.append(left[-1] - row[-1] ** 2)
        yield tuple(row)
        while row and row[-1] == math.isqrt(left[-2]):
            row.pop()
            left.pop()
        if not row:
            return
        row[-1] += 1
        left[-1] = left[-2] - row[-1] ** 2
