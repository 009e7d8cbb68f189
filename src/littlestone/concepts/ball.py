"""The rational points of the unit ball, exactly."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import MOST_SAMPLED

BallPoint = tuple[int, ...]
"""The numerators and, last, their common denominator, in lowest terms."""

_SAMPLE_DENOMINATOR = 1 << 20


@require.checked
@dataclass(frozen=True, slots=True)
class RationalBall:
    """Vectors of ``dimension`` rational numbers, of length at most 1; unbounded in number.

    A point is given as that many whole numbers, fractions or floats (each float stands for the
    rational number it is), or in canonical form: numerators, then one denominator.

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
        return None

    def check(self, x: Any, /) -> BallPoint:
        try:
            parts = tuple(x)
        except Exception:  # of whatever it is
            raise self._refusal(x) from None
        if len(parts) == self.dimension + 1 and isinstance(parts[-1], int | np.integer):
            numerators, denominator = [self._whole(part, x) for part in parts[:-1]], int(parts[-1])
            if denominator < 1:
                raise self._refusal(x)
        elif len(parts) == self.dimension:
            fractions = [self._fraction(part, x) for part in parts]
            denominator = math.lcm(*(part.denominator for part in fractions))
            numerators = [int(part * denominator) for part in fractions]
        else:
            raise self._refusal(x)
        if sum(part * part for part in numerators) > denominator * denominator:
            raise ValueError(f"x must have length at most 1, got x={require.shown(x)}")
        shared = math.gcd(denominator, *numerators)
        return (*(part // shared for part in numerators), denominator // shared)

    def check_many(self, xs: Any, /) -> NDArray[Any]:
        """The canonical points as the rows of one array: of int64 if they fit, else of objects."""
        points = [self.check(x) for x in require.listed(xs=xs)]
        if not points:
            return np.empty((0, self.dimension + 1), dtype=np.int64)
        try:
            return np.array(points, dtype=np.int64)
        except OverflowError:
            return np.array(points, dtype=object)

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[BallPoint]:
        """Directions uniform on the sphere, rounded towards the centre."""
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        rows = generator.standard_normal((count, self.dimension))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)
        whole = np.trunc(rows * _SAMPLE_DENOMINATOR).astype(np.int64).tolist()
        return [self.check((*row, _SAMPLE_DENOMINATOR)) for row in whole]

    def __iter__(self) -> Iterator[BallPoint]:
        """By denominator, then by numerators; endless."""
        for denominator in count(1):
            for row in _rows(self.dimension, denominator * denominator):
                if math.gcd(denominator, *row) == 1:
                    yield (*row, denominator)

    def _fraction(self, part: Any, x: Any) -> Fraction:
        part = part.item() if isinstance(part, np.generic) else part
        if isinstance(part, bool) or not isinstance(part, Rational | float):
            raise self._refusal(x)
        if isinstance(part, float) and not math.isfinite(part):
            raise self._refusal(x)
        return Fraction(part)

    def _whole(self, part: Any, x: Any) -> int:
        if isinstance(part, bool) or not isinstance(part, int | np.integer):
            raise self._refusal(x)
        return int(part)

    def _refusal(self, x: Any) -> ValueError:
        return ValueError(
            f"x must be {self.dimension} finite rational numbers, got x={require.shown(x)}"
        )


def _rows(length: int, room: int) -> Iterator[tuple[int, ...]]:
    """Whole vectors of at most this squared length, in order; the others are never looked at."""
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
