"""Features that count for something each: 1 where those present reach a threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.scan import first_seen_difference, shown
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.written import Written

_LARGEST_THRESHOLD = 1 << 31


@dataclass(frozen=True, slots=True)
class WeightedFeatures(Written):
    """1 where the weights of the features that are 1 sum to at least ``threshold``.

    Weights are whole numbers from 0 to the threshold (more would change nothing). Equal means
    equal weights; different weights may still be the same function, which ``disagreement`` tells.
    A forest counts such twins apart, so that a function is listed later than it might be: that
    costs mistakes, and no privacy. To find one form of a function of many features is hard.

    >>> rule = WeightedFeatures(weights=(2, 1, 1), threshold=2)
    >>> rule((0, 1, 1)), rule((0, 0, 1)), rule.describe()
    (1, 0, '2·x0 + x1 + x2 >= 2')
    >>> rule.disagreement(WeightedFeatures(weights=(2, 2, 1), threshold=2))
    (0, 1, 0)
    """

    kind: ClassVar[str] = "weighted_features"
    weights: tuple[int, ...]
    threshold: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(threshold=self.threshold, at_least=1, at_most=_LARGEST_THRESHOLD)
        if not self.weights:
            raise ValueError("weights must not be empty")
        named = {f"weights[{i}]": weight for i, weight in enumerate(self.weights)}
        require.integer(at_least=0, at_most=self.threshold, **named)

    @property
    def domain(self) -> BooleanCube:
        return BooleanCube(len(self.weights))

    def __call__(self, x: Any, /) -> Label:
        return int(total(self.weights, self.domain.check(x)) >= self.threshold)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs)
        sums = points.astype(np.int64) @ np.array(self.weights, dtype=np.int64)
        return np.asarray(sums >= self.threshold, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> tuple[int, ...] | None:
        """Exact: of all points below one threshold, the heaviest for the other."""
        if not isinstance(other, WeightedFeatures) or len(other.weights) != len(self.weights):
            point: tuple[int, ...] | None = first_seen_difference(self, other, self.domain)
        elif self == other:
            point = None
        else:
            point = _heaviest(self, other) or _heaviest(other, self)
        return point

    def describe(self) -> str:
        words = [
            f"x{i}" if weight == 1 else f"{weight}·x{i}"
            for i, weight in enumerate(self.weights)
            if weight
        ]
        if not words:
            return "0 everywhere"
        return f"{' + '.join(shown(words))} >= {self.threshold}"


def total(weights: Sequence[int], point: Sequence[int]) -> int:
    """The weights of the features present."""
    return sum(weight for weight, present in zip(weights, point, strict=True) if present)


def _heaviest(above: WeightedFeatures, below: WeightedFeatures) -> tuple[int, ...] | None:
    """A point with label 1 for ``above`` and 0 for ``below``: a knapsack, by dynamic programming.

    ``best[c]`` is the largest weight for ``above`` of features that weigh at most c for ``below``.
    """
    best = np.zeros(below.threshold, dtype=np.int64)
    taken = []
    for value, cost in zip(above.weights, below.weights, strict=True):
        added = np.full_like(best, -1)
        added[cost:] = best[: len(best) - cost] + value
        taken.append(added > best)
        best = np.maximum(best, added)
    if best[-1] < above.threshold:
        return None
    room, point = below.threshold - 1, [0] * len(taken)
    for i in reversed(range(len(taken))):
        if taken[i][room]:
            point[i] = 1
            room -= below.weights[i]
    return tuple(point)
