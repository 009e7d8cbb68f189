"""A halfspace through the origin with integer weights."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import BallPoint, RationalBall
from littlestone.concepts.hypotheses.common import Written
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.type_checks import is_a

_WORD = 1 << 63


@dataclass(frozen=True, slots=True)
class LinearHypothesis(Written):
    """1 where the weighted sum is above 0, on the rational points of the unit ball.

    Weights are integers without a common divisor; all zeros means 0 everywhere. Two such hypotheses
    are the same function exactly if their weights are equal: otherwise some direction separates
    them.

    >>> rule = LinearHypothesis.towards([6, -4])
    >>> rule.weights, rule((0.5, 0.5)), rule((0.5, 0.75)), rule.describe()
    ((3, -2), 1, 0, '3·x0 - 2·x1 > 0')
    """

    kind: ClassVar[str] = "halfspace"
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        require.plain(self)
        if not self.weights:
            raise ValueError("weights must not be empty")
        require.integer(**{f"weights[{i}]": weight for i, weight in enumerate(self.weights)})
        if math.gcd(*self.weights) > 1:
            raise ValueError(f"weights must have no common divisor, got weights={self.weights}")

    @classmethod
    def towards(cls, direction: Iterable[int]) -> Self:
        """Return the halfspace of all vectors at an acute angle to ``direction``."""
        weights = tuple(direction)
        shared = math.gcd(*weights) or 1
        return cls(tuple(weight // shared for weight in weights))

    @property
    def domain(self) -> RationalBall:
        """The points that have a label."""
        return RationalBall(len(self.weights))

    def __call__(self, x: Any, /) -> Label:
        return int(dot(self.weights, self.domain.check(x)) > 0)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        canonical = is_a(xs, np.ndarray) and xs.dtype == np.int64
        points = xs if canonical and xs.ndim == 2 else self.domain.check_many(xs)
        if points.shape[1:] != (len(self.weights) + 1,):
            points = self.domain.check_many(xs)
        numerators = points[:, :-1]
        if len(numerators) == 0:
            return np.zeros(0, dtype=np.uint8)
        largest = sum(map(abs, self.weights)) * int(np.abs(numerators).max())
        kind = np.int64 if largest < _WORD else object  # 64 bits must not overflow
        sums = numerators.astype(kind) @ np.array(self.weights, dtype=kind)
        return np.asarray(sums > 0, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> BallPoint | None:
        """Return a point on which the two differ, near u/|u| - v/|v| for halfspaces.

        That direction lies inside the open set on which they differ, so rounding it to finer and
        finer grids finds a point.
        """
        if not isinstance(other, LinearHypothesis):
            return other.disagreement(self)  # type: ignore[return-value]
        if len(other.weights) != len(self.weights):
            raise ValueError(
                f"other must have {len(self.weights)} weights, got {len(other.weights)}"
            )
        if other == self:
            return None
        shift = 8
        while True:
            mine, theirs = unit(self.weights, shift), unit(other.weights, shift)
            apart = [left - right for left, right in zip(mine, theirs, strict=True)]
            if not any(mine):  # 0 everywhere: they differ where the other is 1
                apart = theirs
            point = self.domain.check((*unit(apart, shift), 1 << shift))
            if self(point) != other(point):
                return point
            shift *= 2

    def describe(self) -> str:
        terms = [(weight, f"x{i}") for i, weight in enumerate(self.weights) if weight]
        if not terms:
            return "0 everywhere"
        words = [
            f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight)}·'}{name}"
            for weight, name in terms
        ]
        return f"{' '.join(words).removeprefix('+ ')} > 0"


def dot(weights: Sequence[int], point: Sequence[int]) -> int:
    """Return the inner product; a denominator at the end of ``point`` is ignored."""
    return sum(weight * part for weight, part in zip(weights, point, strict=False))


def unit(vector: Sequence[int], shift: int) -> list[int]:
    """Return the vector scaled to length 2**shift and rounded towards 0."""
    squared = sum(part * part for part in vector)
    if squared == 0:
        return [0] * len(vector)
    return [
        (1 if part > 0 else -1) * math.isqrt((part * part << 2 * shift) // squared)
        for part in vector
    ]
