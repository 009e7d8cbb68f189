"""The losses of all concepts of a finite class, kept so that one example costs little.

Each class counts the examples in its own way; the losses of all concepts are written out only when
something is to be drawn from them.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point

LARGEST_ARRAY: Final = 1 << 22
_LARGEST_MATRIX: Final = 1 << 26
_POINTS_REMEMBERED: Final = 256


class Losses(Protocol):
    """The weighted mistakes of every concept so far, in the order of ``concepts()``."""

    def add(self, x: Any, y: Label, weight: int, /) -> None:
        """Charge ``weight`` to each concept that does not label ``x`` with ``y``."""
        ...

    def written_out(self) -> NDArray[np.int64]:
        """The loss of each concept."""
        ...

    def vote(self, chosen: Sequence[int], /) -> Hypothesis:
        """The majority vote of an odd number of concepts, given by their positions."""
        ...

    def state(self) -> NDArray[np.int64]:
        """What ``load`` takes."""
        ...

    def load(self, state: NDArray[np.int64], /) -> None: ...


def require_listable(concepts: ConceptClass) -> int:
    """The number of concepts, or a refusal if they are too many to keep a loss for each."""
    size = concepts.size
    if size is None or size > LARGEST_ARRAY:
        raise ValueError(
            f"concepts must be at most {LARGEST_ARRAY} in number, got {size or 'infinitely many'} "
            f"in concepts={concepts!r}; LazyForest learns larger classes"
        )
    return size


def distinguished_points(concepts: ConceptClass) -> float:
    """The logarithm of how many points, at most, the concepts tell apart."""
    patterns = require_listable(concepts) * math.log(2)
    points = concepts.domain.size
    return patterns if points is None else min(patterns, math.log(points))


def losses_of(concepts: ConceptClass) -> Losses:
    """A table of zeros for a class with finitely many concepts."""
    size = require_listable(concepts)
    if isinstance(concepts, Thresholds):
        return ThresholdLosses(concepts)
    if isinstance(concepts, Points):
        return PointLosses(concepts)
    domain = concepts.domain
    if isinstance(concepts, FiniteClass):
        return MatrixLosses(concepts.matrix)
    if isinstance(domain, IntegerRange) and size * domain.n <= _LARGEST_MATRIX:
        points = np.arange(domain.n)
        return MatrixLosses(np.array([concept.many(points) for concept in concepts.concepts()]))
    return ListedLosses(concepts)


class ThresholdLosses:
    """How the loss changes from one threshold to the next: each example changes it twice."""

    def __init__(self, concepts: Thresholds) -> None:
        self._n = concepts.n
        self._changes = np.zeros(concepts.n + 2, dtype=np.int64)

    def add(self, x: int, y: Label, weight: int, /) -> None:
        # 1[x >= k] labels x with 1 for k = 0 .. x and with 0 from x + 1 on.
        if y:
            self._changes[x + 1] += weight
        else:
            self._changes[0] += weight
            self._changes[x + 1] -= weight

    def written_out(self) -> NDArray[np.int64]:
        return np.cumsum(self._changes[:-1])

    def vote(self, chosen: Sequence[int], /) -> ThresholdHypothesis:
        """The median threshold is the majority vote."""
        return ThresholdHypothesis(self._n, sorted(chosen)[len(chosen) // 2])

    def state(self) -> NDArray[np.int64]:
        return self._changes.copy()

    def load(self, state: NDArray[np.int64], /) -> None:
        self._changes[:] = state


class PointLosses:
    """The loss of "0 everywhere", and how much more or less each key has."""

    def __init__(self, concepts: Points) -> None:
        assert concepts.n is not None
        self._extra = np.zeros(concepts.n + 1, dtype=np.int64)
        self._common = 0

    def add(self, x: int, y: Label, weight: int, /) -> None:
        if y:
            self._common += weight
            self._extra[x + 1] -= weight
        else:
            self._extra[x + 1] += weight

    def written_out(self) -> NDArray[np.int64]:
        return self._extra + self._common

    def vote(self, chosen: Sequence[int], /) -> FiniteSupport:
        counts = Counter(chosen)
        return FiniteSupport(
            frozenset(i - 1 for i, count in counts.items() if i and 2 * count > len(chosen))
        )

    def state(self) -> NDArray[np.int64]:
        return self.written_out()  # "0 everywhere" comes first and has nothing extra

    def load(self, state: NDArray[np.int64], /) -> None:
        self._common = int(state[0])
        self._extra[:] = state - self._common


class MatrixLosses:
    """All labels in one matrix: an example adds a row of it."""

    def __init__(self, matrix: NDArray[np.uint8]) -> None:
        self._labels = np.ascontiguousarray(matrix.T)
        self._losses = np.zeros(matrix.shape[0], dtype=np.int64)

    def add(self, x: int, y: Label, weight: int, /) -> None:
        self._losses += weight * (self._labels[x] != y)

    def written_out(self) -> NDArray[np.int64]:
        return self._losses.copy()

    def vote(self, chosen: Sequence[int], /) -> TableHypothesis:
        ones = self._labels[:, list(chosen)].sum(axis=1, dtype=np.int64)
        return TableHypothesis((2 * ones > len(chosen)).astype(np.uint8).tobytes())

    def state(self) -> NDArray[np.int64]:
        return self.written_out()

    def load(self, state: NDArray[np.int64], /) -> None:
        self._losses[:] = state


class ListedLosses:
    """Any other class: the concepts are asked one by one, for each new point once.

    Rules over records answer all at once.
    """

    def __init__(self, concepts: ConceptClass) -> None:
        self._concepts = list(concepts.concepts())
        self._losses = np.zeros(len(self._concepts), dtype=np.int64)
        self._remembered: dict[Point, NDArray[np.uint8]] = {}
        self._labels = concepts.labels if isinstance(concepts, Stumps) else self._asked

    def add(self, x: Any, y: Label, weight: int, /) -> None:
        self._losses += weight * (self._labels(x) != y)

    def written_out(self) -> NDArray[np.int64]:
        return self._losses.copy()

    def vote(self, chosen: Sequence[int], /) -> Hypothesis:
        members = [self._concepts[i] for i in chosen]
        return members[0] if len(members) == 1 else MajorityVote(members)

    def state(self) -> NDArray[np.int64]:
        return self.written_out()

    def load(self, state: NDArray[np.int64], /) -> None:
        self._losses[:] = state

    def _asked(self, x: Point) -> NDArray[np.uint8]:
        known = self._remembered.get(x)
        if known is None:
            known = np.fromiter((concept(x) for concept in self._concepts), dtype=np.uint8)
            if len(self._remembered) >= _POINTS_REMEMBERED:
                self._remembered.clear()
            self._remembered[x] = known
        return known
