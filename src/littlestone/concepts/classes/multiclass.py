"""Finite classes with more than two labels: dimension, version spaces, optimal predictions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as shorten
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.version_spaces import BitSetSpace
from littlestone.concepts.dimensions import bit_set
from littlestone.concepts.domain import MOST_LABELS, LabelledRange
from littlestone.concepts.hypotheses.tables import LabelTable
from littlestone.concepts.protocols import Hypothesis, Label, Tally

_MEMO_ENTRIES: Final = 1 << 18


@require.checked
class MulticlassTable:
    """The rows of a matrix of labels as concepts over the points 0 .. columns-1.

    A tree is shattered if each of its nodes is a point, its two edges have *different labels*, and
    some concept follows each path: with two labels this is the dimension of ``FiniteClass``. Equal
    rows are one concept, and rows are sorted. ``StandardOptimal`` learns the class, the
    adversaries that force mistakes play it, and ``Replay`` plays any labels.

    Privacy: none; private learners of concept classes have two labels and reject this class.

    Source: [DSBS15]. The standard optimal algorithm predicts the label that keeps the
    largest dimension (ties go to the smallest label), and errs at most ``littlestone_dimension``
    times on realizable streams; no deterministic learner has a smaller bound.

    Args:
        matrix: One row for each concept, one column for each point.
        label_count: How many labels there are; by default the largest in the matrix and those
            below it, at least two.

    >>> table = MulticlassTable([[0, 0], [1, 2], [2, 2]])
    >>> table.size, table.label_count, table.littlestone_dimension
    (3, 3, 1)
    >>> table.version_space().restrict(0, 2).standard_optimal().labels
    (2, 2)
    """

    _why_lacking: ClassVar[str] = (
        "these are for two labels; StandardOptimal learns tables with more of them without "
        "privacy, and DisjointBatches learns private decision trees over records with declared "
        "labels"
    )

    def __init__(self, matrix: Any, *, label_count: int | None = None) -> None:
        most = MOST_LABELS if label_count is None else label_count
        require.integer(label_count=most, at_least=2, at_most=MOST_LABELS)
        wanted = f"whole numbers from 0 to {most - 1}"
        self.matrix: NDArray[np.uint8] = np.unique(label_matrix(matrix, most, wanted), axis=0)
        self.matrix.flags.writeable = False
        self.label_count = max(2, int(self.matrix.max()) + 1) if label_count is None else most
        self.size, points = self.matrix.shape
        self.domain = LabelledRange(points, self.label_count)
        self.sides: tuple[dict[Label, int], ...] = tuple(
            {int(label): bit_set(column == label) for label in np.unique(column)}
            for column in self.matrix.T
        )
        self._everything = (1 << self.size) - 1
        self._dimensions = SplitDimension(self.sides)
        self._hash = hash((self.label_count, self.matrix.shape, self.matrix.tobytes()))

    @property
    def littlestone_dimension(self) -> int:
        """The multiclass Littlestone dimension."""
        return self._dimensions.dimension(self._everything)

    def version_space(self) -> "MulticlassSpace":
        """Return all concepts, before any example."""
        return MulticlassSpace(self, self._everything)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept in hindsight."""
        correct = np.zeros(self.size, dtype=np.int64)
        for x, counts in tally.items():
            correct += np.array(counts, dtype=np.int64)[self.matrix[:, self.domain.check(x)]]
        return sum(map(sum, tally.values())) - int(correct.max())

    def concepts(self) -> Iterator[LabelTable]:
        """Yield the concepts in a fixed order."""
        return map(self.concept, range(self.size))

    def concept(self, position: int, /) -> LabelTable:
        """Return the concept at a position of ``concepts()``."""
        require.integer(position=position, at_least=0, at_most=self.size - 1)
        return LabelTable(tuple(self.matrix[position].tolist()), self.label_count)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MulticlassTable)
            and self.label_count == other.label_count
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return (
            f"MulticlassTable({self.size} concepts, {self.domain.size} points, "
            f"{self.label_count} labels)"
        )


@dataclass(frozen=True, slots=True, repr=False)
class MulticlassSpace(BitSetSpace):
    """A subclass of a table."""

    concept_class: MulticlassTable

    def restrict(self, x: Any, y: Label, /) -> "MulticlassSpace":
        table = self.concept_class
        label = require.label(y, count=table.label_count)
        members = self.members & table.sides[table.domain.check(x)].get(label, 0)
        return self if members == self.members else MulticlassSpace(table, members)

    def standard_optimal(self) -> LabelTable:
        """Return the hypothesis with the label that keeps the largest dimension; ties go to 0."""
        self._refuse_empty()
        table = self.concept_class
        return LabelTable(table._dimensions.optimal_labels(self.members), table.label_count)

    def consistent(self) -> LabelTable:
        """Return the first concept left, in the order of ``concepts()``."""
        return self.concept_class.concept(self._first())

    def _mistakes(self, hypothesis: Hypothesis) -> Iterator[tuple[int, Label, int]]:
        for x, sides in enumerate(self.concept_class.sides):
            predicted = hypothesis(x)
            for label, side in sides.items():
                if label != predicted and self.members & side:
                    yield x, label, self.members & side


class SplitDimension:
    """Littlestone dimensions of the subclasses of one table, memoised.

    ``sides[x]`` maps each label to the concepts that give it to x; a subclass is a set of rows as
    bits.
    """

    def __init__(self, sides: tuple[Mapping[Label, int], ...]) -> None:
        self._sides = sides
        self._known: dict[tuple[int, int], bool] = {}

    def dimension(self, concepts: int) -> int:
        """Return the dimension of a subclass; -1 if it is empty."""
        depth = -1
        while self.at_least(concepts, depth + 1):
            depth += 1
        return depth

    def at_least(self, concepts: int, depth: int) -> bool:
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

    def optimal_labels(self, concepts: int) -> tuple[Label, ...]:
        """Return, for each point, the label that keeps the largest dimension, the smallest one."""
        return tuple(
            max(sides, key=lambda label: (self.dimension(concepts & sides[label]), -label))
            for sides in self._sides
        )

    def _splits(self, concepts: int, sides: Mapping[Label, int], depth: int) -> bool:
        """Return whether two labels of a point each leave dimension ``depth - 1``."""
        deep = (self.at_least(concepts & side, depth - 1) for side in sides.values())
        return any(deep) and any(deep)


def label_matrix(matrix: Any, count: int, wanted: str) -> NDArray[np.uint8]:
    """Return a matrix of labels below ``count``; the error names the first bad entry."""
    try:
        array = require.array(matrix=matrix)
    except ValueError:
        raise ValueError(
            f"matrix must have rows of one length, got matrix={shorten(matrix)}"
        ) from None
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"matrix must have rows (concepts) and columns (points), got matrix={shorten(matrix)}"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"matrix must hold only {wanted}, got matrix={shorten(matrix)}")
    fits = (array >= 0) & (array < count)
    if array.dtype.kind == "f":
        fits &= array == np.floor(array)
    bad = np.argwhere(~fits)
    if len(bad):
        concept, point = bad[0].tolist()
        entry = f"matrix[{concept}, {point}]={array[concept, point].item()!r}"
        raise ValueError(f"matrix must hold only {wanted}, got {entry}")
    return array.astype(np.uint8)
