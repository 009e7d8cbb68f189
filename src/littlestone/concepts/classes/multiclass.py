"""Finite classes with more than two labels: their Littlestone dimension, and the learner for it."""

from dataclasses import dataclass
from reprlib import repr as shorten
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.dimensions import bit_set
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import Label

_MOST_LABELS: Final = 256
_MEMO_ENTRIES: Final = 1 << 18


@require.checked
class MulticlassTable:
    """The rows of a matrix of labels 0 .. 255 as concepts over the points 0 .. columns-1.

    A tree is shattered if each of its nodes is a point, its two edges have *different labels*, and
    some concept follows each path: with two labels this is the dimension of ``FiniteClass``. Equal
    rows are one concept. Privacy: none; private learners of concept classes have two labels.

    Source: Daniely, Sabato, Ben-David and Shalev-Shwartz (2015), Section 5. The standard optimal
    algorithm predicts the label that keeps the largest dimension, and errs at most
    ``littlestone_dimension`` times on realizable streams; no deterministic learner has a smaller
    bound. Ties go to the smallest label.

    >>> table = MulticlassTable([[0, 0], [1, 2], [2, 2]])
    >>> table.size, table.littlestone_dimension
    (3, 1)
    >>> state = table.start().after(0, 2)
    >>> state.labels, state.failed
    ((2, 2), False)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix: NDArray[np.uint8] = np.unique(_label_matrix(matrix), axis=0)
        self.matrix.flags.writeable = False
        self.size, points = self.matrix.shape
        self.domain = IntegerRange(points)
        self._everything = (1 << self.size) - 1
        self._sides: tuple[dict[Label, int], ...] = tuple(
            {int(label): bit_set(column == label) for label in np.unique(column)}
            for column in self.matrix.T
        )
        self._known: dict[tuple[int, int], bool] = {}

    @property
    def littlestone_dimension(self) -> int:
        """The multiclass Littlestone dimension."""
        return self._dimension(self._everything)

    def start(self) -> "MulticlassState":
        """Return the standard optimal algorithm before any example."""
        return MulticlassState(self, self._everything)

    def _dimension(self, concepts: int) -> int:
        """Return the dimension of a subclass, a set of rows as bits; -1 if it is empty."""
        depth = -1
        while self._at_least(concepts, depth + 1):
            depth += 1
        return depth

    def _at_least(self, concepts: int, depth: int) -> bool:
        """Return whether a subclass shatters some tree of this depth; that takes 2**depth rows."""
        if depth <= 1 or concepts.bit_count() >> depth == 0:
            return concepts.bit_count() >> depth > 0
        found = self._known.get((concepts, depth))
        if found is None:
            if len(self._known) >= _MEMO_ENTRIES:
                self._known.clear()
            found = any(self._splits(concepts, sides, depth) for sides in self._sides)
            self._known[concepts, depth] = found
        return found

    def _splits(self, concepts: int, sides: dict[Label, int], depth: int) -> bool:
        """Return whether two labels of a point each leave dimension ``depth - 1``."""
        deep = (self._at_least(concepts & side, depth - 1) for side in sides.values())
        return any(deep) and any(deep)

    def _optimal(self, concepts: int) -> tuple[Label, ...]:
        return tuple(
            max(sides, key=lambda label: (self._dimension(concepts & sides[label]), -label))
            for sides in self._sides
        )

    def _agreeing(self, x: Any, y: Label) -> int:
        return self._sides[self.domain.check(x)].get(y, 0)

    def __repr__(self) -> str:
        return f"MulticlassTable({self.size} concepts, {self.domain.size} points)"


@require.checked
@dataclass(frozen=True, slots=True)
class MulticlassState:
    """The concepts that agree with every example so far."""

    table: MulticlassTable
    concepts: int
    """Their rows, as the bits of one number."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(concepts=self.concepts, at_least=0, at_most=self.table._everything)

    @property
    def failed(self) -> bool:
        """Whether no concept fits the examples."""
        return not self.concepts

    @property
    def dimension(self) -> int:
        """The dimension of the remaining concepts, which bounds later mistakes; -1 if none fit."""
        return self.table._dimension(self.concepts)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The prediction for each point."""
        return self.table._optimal(self.concepts)

    def after(self, x: Any, y: Label, /) -> "MulticlassState":
        """Return the state after one more example."""
        require.integer(y=y, at_least=0, at_most=_MOST_LABELS - 1)
        return MulticlassState(self.table, self.concepts & self.table._agreeing(x, y))


def _label_matrix(matrix: Any) -> NDArray[np.uint8]:
    try:
        array = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            "matrix must have rows (concepts) of one length and columns (points) of labels, got "
            f"matrix={shorten(matrix)}"
        )
    if not ((array == np.floor(array)) & (array >= 0) & (array < _MOST_LABELS)).all():
        raise ValueError(
            f"matrix must hold whole numbers from 0 to {_MOST_LABELS - 1}, got "
            f"matrix={shorten(matrix)}"
        )
    return array.astype(np.uint8)
