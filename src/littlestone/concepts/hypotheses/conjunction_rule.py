"""A conjunction of literals as a hypothesis."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.scan import first_seen_difference
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.written import Written

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
        """Between conjunctions in closed form; against any other kind, the first such point."""
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
        """A point with label 1 here and 0 there."""
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
