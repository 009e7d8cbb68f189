"""Hypotheses on the Boolean cube: conjunctions, tables and weighted features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.common import Written, first_seen_difference, shown
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.protocols import Hypothesis, Label

Term = tuple[tuple[int, Label], ...]
"""Features and the values they must have, in the order of the features."""


@dataclass(frozen=True, slots=True)
class ConjunctionHypothesis(Written):
    """1 where every feature of ``term`` has its value; 0 everywhere when ``term`` is None.

    >>> rule = ConjunctionHypothesis(n=4, term=((0, 1), (2, 0)))
    >>> rule((1, 0, 0, 1)), rule((1, 0, 1, 1)), rule.describe()
    (1, 0, 'x0 and not x2')
    >>> rule.disagreement(ConjunctionHypothesis(n=4, term=((0, 1),)))
    (1, 0, 1, 0)
    """

    kind: ClassVar[str] = "conjunction"
    n: int
    term: Term | None

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        if self.term is None:
            return
        for feature, value in self.term:
            require.integer(feature=feature, at_least=0)
            require.label(value)
        features = [feature for feature, _ in self.term]
        if features != sorted(set(features)) or features[-1:] > [self.n - 1]:
            raise ValueError(
                f"term must name features below {self.n} in increasing order, got term={self.term}"
            )

    @property
    def domain(self) -> BooleanCube:
        """The points that have a label."""
        return BooleanCube(self.n)

    def __call__(self, x: Any, /) -> Label:
        point = self.domain.check(x)
        if self.term is None:
            return 0
        return int(all(point[feature] == value for feature, value in self.term))

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs)
        if self.term is None:
            return np.zeros(len(points), dtype=np.uint8)
        features = [feature for feature, _ in self.term]
        values = np.array([value for _, value in self.term], dtype=np.uint8)
        labels: NDArray[np.uint8] = (points[:, features] == values).all(axis=1).view(np.uint8)
        return labels

    def disagreement(self, other: Hypothesis, /) -> tuple[int, ...] | None:
        """Return a point on which the two differ; in closed form between conjunctions."""
        if not isinstance(other, ConjunctionHypothesis) or other.n != self.n:
            point: tuple[int, ...] | None = first_seen_difference(self, other, self.domain)
        else:
            point = self._above(other) or other._above(self)
        return point

    def describe(self) -> str:
        if self.term is None:
            return "0 everywhere"
        words = [f"x{feature}" if value else f"not x{feature}" for feature, value in self.term]
        return " and ".join(words) or "1 everywhere"

    def _above(self, other: "ConjunctionHypothesis") -> tuple[int, ...] | None:
        """Return a point with label 1 here and 0 there."""
        if self.term is None:
            return None
        mine = dict(self.term)
        if other.term is not None:
            apart = [(f, v) for f, v in other.term if mine.get(f) != v]
            if not apart:
                return None
            feature, value = apart[0]
            mine.setdefault(feature, 1 - value)
        return tuple(mine.get(feature, 0) for feature in range(self.n))


@dataclass(frozen=True, slots=True)
class CubeTable(Written):
    """Any function on the corners of a cube, in the cube's order (last feature fastest).

    >>> table = CubeTable(2, TableHypothesis.from_labels([0, 1, 1, 0]))
    >>> table((0, 1)), table([1, 1]), table.describe()
    (1, 0, '1 on 2 of 4 corners')
    >>> CubeTable.from_json(table.to_json()) == table
    True
    """

    kind: ClassVar[str] = "cube_table"
    n: int
    labels: TableHypothesis

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        corners = self.labels.domain.size
        if corners & (corners - 1) or corners.bit_length() != self.n + 1:
            raise ValueError(f"labels must be for 2**{self.n} corners, got {corners}")

    @property
    def domain(self) -> BooleanCube:
        """The points that have a label."""
        return BooleanCube(self.n)

    def __call__(self, x: Any, /) -> Label:
        corner = int("".join(map(str, self.domain.check(x))), base=2)
        return self.labels(corner)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs).astype(np.int64)
        corners = points @ (1 << np.arange(self.n, dtype=np.int64)[::-1])
        return self.labels.many(corners)

    def disagreement(self, other: Hypothesis, /) -> tuple[int, ...] | None:
        """Return the first corner, in the cube's order, on which the two differ."""
        point: tuple[int, ...] | None = first_seen_difference(self, other, self.domain)
        return point

    def describe(self) -> str:
        return f"1 on {int(self.labels.as_array().sum())} of {self.domain.size} corners"


_LARGEST_THRESHOLD = 1 << 31


@dataclass(frozen=True, slots=True)
class WeightedFeatures(Written):
    """1 where the weights of the features that are 1 sum to at least ``threshold``.

    Weights are integers from 0 to the threshold (larger ones would change nothing). Hypotheses are
    equal if their weights are; unequal ones may be the same function, which ``disagreement`` shows.
    A forest counts them separately and lists the function later: this costs mistakes, not privacy.
    A canonical form for many features is hard to compute.

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
        """The points that have a label."""
        return BooleanCube(len(self.weights))

    def __call__(self, x: Any, /) -> Label:
        return int(total(self.weights, self.domain.check(x)) >= self.threshold)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs)
        sums = points.astype(np.int64) @ np.array(self.weights, dtype=np.int64)
        return np.asarray(sums >= self.threshold, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> tuple[int, ...] | None:
        """Return a point on which the two differ, exactly, by a knapsack."""
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
    """Return the total weight of the features present."""
    return sum(weight for weight, present in zip(weights, point, strict=True) if present)


def _heaviest(above: WeightedFeatures, below: WeightedFeatures) -> tuple[int, ...] | None:
    """Return a point with label 1 for ``above`` and 0 for ``below``, by dynamic programming.

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
