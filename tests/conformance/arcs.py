"""Arcs of a circle: a concept class that the library has never heard of.

``Arcs`` has the required methods alone, ``OfferingArcs`` some of the capabilities that a class may
offer as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.losses.answers import Matrix
from littlestone.concepts.protocols import Example, Hypothesis, Label, Tally


@dataclass(frozen=True, order=True)
class Arc:
    """1 on ``length`` points from ``start`` on, around a circle of ``n``."""

    n: int
    start: int
    length: int

    @property
    def domain(self) -> IntegerRange:
        return IntegerRange(self.n)

    def __call__(self, x: Any, /) -> Label:
        return int((self.domain.check(x) - self.start) % self.n < self.length)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        inside = (self.domain.check_many(xs) - self.start) % self.n < self.length
        return np.asarray(inside, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> int | None:
        return next((x for x in range(self.n) if self(x) != other(x)), None)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "arc", "n": self.n, "start": self.start, "length": self.length}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        numbers = [data.get(name) for name in ("n", "start", "length")]
        if not all(type(number) is int for number in numbers):
            raise ValueError(f"an arc needs three numbers, got {data!r}")
        return cls(*numbers)  # type: ignore[arg-type]

    def describe(self) -> str:
        return f"{self.length} of {self.n} from {self.start} on"


@dataclass(frozen=True)
class Arcs:
    """Nothing but what ``ConceptClass`` asks for."""

    n: int

    @property
    def domain(self) -> IntegerRange:
        return IntegerRange(self.n)

    @property
    def size(self) -> int:
        return self.n * (self.n - 1) + 2

    @property
    def littlestone_dimension(self) -> int:
        return _table(self).littlestone_dimension

    @property
    def vc_dimension(self) -> int:
        return _table(self).vc_dimension

    @property
    def dual_littlestone_dimension(self) -> int:
        return _table(self).dual_littlestone_dimension

    @property
    def dual_vc_dimension(self) -> int:
        return _table(self).dual_vc_dimension

    def version_space(self) -> "ArcSpace":
        return ArcSpace(self, frozenset(self.concepts()))

    def fewest_mistakes(self, tally: Tally, /) -> int:
        return min(
            sum(two[1 - concept(x)] for x, two in tally.items()) for concept in self.concepts()
        )

    def concepts(self) -> Iterator[Arc]:
        yield Arc(self.n, 0, 0)
        for start in range(self.n):
            for length in range(1, self.n):
                yield Arc(self.n, start, length)
        yield Arc(self.n, 0, self.n)


@dataclass(frozen=True)
class ArcSpace:
    """The arcs left, one by one; their dimension by the library's finite classes."""

    concept_class: Arcs
    members: frozenset[Arc]
    _dimension: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_dimension", _dimension(self.members))

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def dimension(self) -> int:
        return self._dimension

    def restrict(self, x: Any, y: Label, /) -> "ArcSpace":
        label = require.label(y)
        left = frozenset(arc for arc in self.members if arc(x) == label)
        self.concept_class.domain.check(x)
        return self if left == self.members else ArcSpace(self.concept_class, left)

    def standard_optimal(self) -> TableHypothesis:
        self._refuse_empty()
        return _optimal(self)

    def consistent(self) -> Arc:
        self._refuse_empty()
        return min(self.members)

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        for x in self.concept_class.domain:
            y = 1 - hypothesis(x)
            if not self.restrict(x, y).is_empty:
                yield x, y

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        def left(example: Example) -> tuple[int, int]:
            space = self.restrict(*example)
            return space.dimension, space.size

        return max(self.mistakes_of(hypothesis), key=left, default=None)

    def _refuse_empty(self) -> None:
        if not self.members:
            raise ValueError("the version space is empty: no concept fits the examples")


@lru_cache(maxsize=64)
def _table(concepts: Arcs) -> FiniteClass:
    return FiniteClass([arc.many(range(arc.n)) for arc in concepts.concepts()])


@lru_cache(maxsize=1 << 14)
def _dimension(members: frozenset[Arc]) -> int:
    if not members:
        return -1
    return FiniteClass([arc.many(range(arc.n)) for arc in members]).littlestone_dimension


@lru_cache(maxsize=1 << 14)
def _optimal(space: ArcSpace) -> TableHypothesis:
    return TableHypothesis.from_labels(
        space.restrict(x, 1).dimension > space.restrict(x, 0).dimension
        for x in space.concept_class.domain
    )


class OfferingArcs(Arcs):
    """The same class, which knows a few things about itself."""

    most_changes = 2

    def concept(self, position: int, /) -> Arc:
        if position in (0, self.size - 1):
            return Arc(self.n, 0, self.n if position else 0)
        start, length = divmod(position - 1, self.n - 1)
        return Arc(self.n, start, length + 1)

    def labels_at(self, points: Any, /) -> NDArray[np.uint8]:
        asked = [arc.many(points) for arc in self.concepts()]
        return np.array(asked, dtype=np.uint8).reshape(self.size, len(points))

    def answers(self) -> Matrix:
        return Matrix(self.labels_at(np.arange(self.n)))

    def tracker(self) -> "ArcTracker":
        return ArcTracker()


class ArcTracker:
    """Arcs fit as long as the labels seen change at most twice around the circle."""

    def __init__(self) -> None:
        self._labels: dict[int, Label] = {}
        self._contradicted = False

    def observe(self, x: Any, y: Label, /) -> bool:
        self._contradicted |= self._labels.setdefault(x, y) != y
        around = [label for _, label in sorted(self._labels.items())]
        changes = sum(a != b for a, b in pairwise([*around, around[0]]))
        self._contradicted |= changes > 2
        return not self._contradicted

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        for taken, (x, y) in enumerate(zip(xs.tolist(), ys.tolist(), strict=True)):
            if not self.observe(x, y):
                return taken
        return len(ys)
