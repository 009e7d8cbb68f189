"""Finite concept classes on finitely many points, with version spaces as bit sets."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.multiclass import MulticlassTable, label_matrix
from littlestone.concepts.classes.version_spaces import BitSetSpace
from littlestone.concepts.dimensions import BitSetDimension, bit_set, bit_set_vc_dimension
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.losses.label_counts import fewest_by_table
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point, Tally

_MEMO_ENTRIES = 1 << 16
_LARGEST_MATRIX = 1 << 28
_TWO = "0 and 1 (MulticlassTable takes more labels)"


@require.checked
class FiniteClass:
    """The rows of a 0/1 matrix as concepts over the points 0 .. columns-1.

    Equal rows are one concept. Rows are sorted, so that two classes with the same concepts are
    equal. Dimensions and predictions of subclasses are cached with the class, up to a fixed number.

    >>> concepts = FiniteClass([[0, 0], [0, 1], [1, 1], [0, 1]])
    >>> concepts.size, concepts.littlestone_dimension
    (3, 1)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix: NDArray[np.uint8] = np.unique(label_matrix(matrix, 2, _TWO), axis=0)
        self.matrix.flags.writeable = False
        self.domain = IntegerRange(self.matrix.shape[1])
        self.size = self.matrix.shape[0]
        everything = (1 << self.size) - 1
        ones = [bit_set(column) for column in self.matrix.T]
        self.sides = tuple((everything ^ part, part) for part in ones)
        self._dimensions = BitSetDimension(ones)
        self._predictions: dict[int, TableHypothesis] = {}
        self._concepts: dict[int, TableHypothesis] = {}
        self._everything = everything
        self._hash = hash((self.matrix.shape, self.matrix.tobytes()))

    @classmethod
    def from_class(cls, concepts: ConceptClass, points: Iterable[Point] | None = None) -> Self:
        """Return a finite class restricted to the given points (all by default).

        Point number i of the result is the i-th of ``points``. A ``FiniteClass`` is returned
        unchanged.
        """
        if points is None and isinstance(concepts, cls):
            return concepts
        if concepts.size is None:
            raise ValueError(f"concepts must be finitely many, got concepts={concepts!r}")
        if points is None:
            if concepts.domain.size is None:
                raise ValueError(f"points must be given: the domain of {concepts!r} is unbounded")
            _refuse_large(concepts.size * concepts.domain.size)
            points = concepts.domain
        block = concepts.domain.check_many(require.listed(points=points))
        _refuse_large(concepts.size * len(block))
        return cls([concept.many(block) for concept in concepts.concepts()])

    @cached_property
    def littlestone_dimension(self) -> int:
        """The Littlestone dimension."""
        return self._dimensions.dimension(self._everything)

    @cached_property
    def vc_dimension(self) -> int:
        """The VC dimension."""
        return bit_set_vc_dimension([part for _, part in self.sides], self._everything)

    @cached_property
    def dual_littlestone_dimension(self) -> int:
        """The Littlestone dimension of the dual class."""
        return self.dual().littlestone_dimension

    @cached_property
    def dual_vc_dimension(self) -> int:
        """The VC dimension of the dual class."""
        return self.dual().vc_dimension

    def dual(self) -> "FiniteClass":
        """Return the points as concepts over the concepts: x(h) = h(x)."""
        return FiniteClass(self.matrix.T)

    def version_space(self) -> "FiniteVersionSpace":
        """Return all concepts, before any example."""
        return FiniteVersionSpace(self, self._everything)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept in hindsight."""
        return fewest_by_table(self.domain, self.labels_at, tally)

    def concepts(self) -> Iterator[TableHypothesis]:
        """Yield the concepts in a fixed order."""
        return map(self.concept, range(self.size))

    def concept(self, position: int, /) -> TableHypothesis:
        """Return the concept at a position of ``concepts()``."""
        known = self._concepts.get(position)
        if known is None:
            require.integer(position=position, at_least=0, at_most=self.size - 1)
            known = TableHypothesis(self.matrix[position].tobytes())
            if len(self._concepts) >= _MEMO_ENTRIES:
                self._concepts.clear()
            self._concepts[position] = known
        return known

    def labels_at(self, points: Any, /) -> NDArray[np.uint8]:
        """Return one row of labels for each concept."""
        return self.matrix[:, self.domain.check_many(points)]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, FiniteClass) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Self], tuple[NDArray[np.uint8]]]:
        return type(self), (self.matrix,)

    def __repr__(self) -> str:
        return f"FiniteClass({self.size} concepts, {self.domain.size} points)"


@lru_cache(maxsize=16)
def listed_class(concepts: ConceptClass) -> FiniteClass:
    """Return ``FiniteClass.from_class``, cached since dimensions are needed repeatedly."""
    return FiniteClass.from_class(concepts)


@dataclass(frozen=True, slots=True, repr=False)
class FiniteVersionSpace(BitSetSpace):
    """A subclass of a finite class."""

    concept_class: FiniteClass
    _optimal: TableHypothesis | None = field(default=None, init=False, compare=False)

    def restrict(self, x: Any, y: Label, /) -> "FiniteVersionSpace":
        sides = self.concept_class.sides[self.concept_class.domain.check(x)]
        members = self.members & sides[require.label(y)]
        return self if members == self.members else FiniteVersionSpace(self.concept_class, members)

    def standard_optimal(self) -> TableHypothesis:
        """Return the hypothesis with label 1 where that keeps the larger Littlestone dimension."""
        if self._optimal is None:
            object.__setattr__(self, "_optimal", self._predict())
        assert self._optimal is not None
        return self._optimal

    def consistent(self) -> TableHypothesis:
        """Return the first concept left, in the order of ``concepts()``."""
        return self.concept_class.concept(self._first())

    def concepts(self) -> Iterator[TableHypothesis]:
        """Yield the concepts left, in the order of the class."""
        members = self.members
        return (c for i, c in enumerate(self.concept_class.concepts()) if members >> i & 1)

    def _predict(self) -> TableHypothesis:
        self._refuse_empty()
        memo = self.concept_class._predictions
        known = memo.get(self.members)
        if known is not None:
            return known
        optimal = TableHypothesis(self.concept_class._dimensions.optimal_labels(self.members))
        if len(memo) >= _MEMO_ENTRIES:
            memo.clear()
        memo[self.members] = optimal
        return optimal

    def _mistakes(self, hypothesis: Hypothesis) -> Iterator[tuple[int, Label, int]]:
        sides = self.concept_class.sides
        labels = hypothesis.many(np.arange(len(sides))).tolist()
        for x, label in enumerate(labels):
            left = self.members & sides[x][1 - label]
            if left:
                yield x, 1 - label, left


def tabulated(concepts: ConceptClass) -> tuple[FiniteClass, list[Hypothesis], dict[Any, int]]:
    """Return the class as a table, its concepts by row, and the column of each point."""
    table, points = FiniteClass.from_class(concepts), list(concepts.domain)
    block = concepts.domain.check_many(points)
    rows = {concept.many(block).tobytes(): concept for concept in concepts.concepts()}
    columns = {x: column for column, x in enumerate(points)}
    return table, [rows[row.tobytes()] for row in table.matrix], columns


def _refuse_large(entries: int) -> None:
    if entries > _LARGEST_MATRIX:
        raise ValueError(f"a matrix of {entries} labels is too large; at most {_LARGEST_MATRIX}")


def _from_file(path: str) -> FiniteClass | MulticlassTable:
    matrix = np.loadtxt(Path(path), delimiter=",", ndmin=2)
    return MulticlassTable(matrix) if (matrix > 1).any() else FiniteClass(matrix)


CLASSES = (
    ClassEntry(
        name="finite",
        build=_from_file,
        example="finite:matrix.csv",
        summary="a matrix of labels 0, 1, …, one concept a row, one point a column",
        arguments=(str,),
    ),
)


_LARGEST_RESULT = 1 << 22


@require.checked
def aggregate(combine: Callable[..., object], *classes: FiniteClass) -> FiniteClass:
    """Return G(H₁, …, H_k): all pointwise G(h₁, …, h_k) with hᵢ in Hᵢ.

    ``combine`` is G, on arguments that are 0 or 1.

    >>> points = FiniteClass([[0, 0], [0, 1], [1, 0]])
    >>> aggregate(lambda a, b: a or b, points, points).size
    4
    """
    _refuse_different_domains(classes)
    _refuse_many_combinations(math.prod(concepts.size for concepts in classes))
    table = np.zeros((2,) * len(classes), dtype=np.uint8)
    for labels in product((0, 1), repeat=len(classes)):
        table[labels] = require.label(combine(*labels))
    picks = np.ix_(*(range(concepts.size) for concepts in classes))
    columns = [concepts.matrix[pick] for concepts, pick in zip(classes, picks, strict=True)]
    combined = table[tuple(np.broadcast_arrays(*columns))]
    return FiniteClass(combined.reshape(-1, combined.shape[-1]))


@require.checked
def complement(concepts: FiniteClass) -> FiniteClass:
    """Return 1 − H: every concept with its labels swapped."""
    return FiniteClass(1 - concepts.matrix)


@require.checked
def union(left: FiniteClass, right: FiniteClass) -> FiniteClass:
    """Return H₁ ∪ H₂, as sets of concepts."""
    _refuse_different_domains((left, right))
    return FiniteClass(np.concatenate([left.matrix, right.matrix]))


@require.checked
def xor(left: FiniteClass, right: FiniteClass) -> FiniteClass:
    """Return H₁ ⊕ H₂: all h₁ ⊕ h₂, which are 1 where the two disagree."""
    return aggregate(lambda a, b: a != b, left, right)


@require.checked
def majority(
    concepts: FiniteClass, members: int, *, threshold: Fraction = Fraction(1, 2)
) -> FiniteClass:
    """Return H_{m,a}: label 1 where at least the share ``threshold`` of m concepts has label 1.

    [P, Section E] uses a = 1/2, where an even m breaks ties towards 1.

    >>> points = FiniteClass([[0, 0], [0, 1], [1, 0]])
    >>> majority(points, 3).size, majority(points, 2).size
    (3, 4)
    """
    require.integer(members=members, at_least=1)
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], got threshold={threshold!r}")
    _refuse_many_combinations(members * concepts.size)
    fewest = -(-threshold.numerator * members // threshold.denominator)  # rounded up, exactly
    # Counts of all points packed into one integer.
    places = [members.bit_length() * point for point in range(concepts.domain.size)]
    rows = [sum(1 << places[x] for x in np.flatnonzero(row)) for row in concepts.matrix]
    votes, looked_at = set(rows), 0
    for _ in range(members - 1):
        looked_at += len(votes) * len(rows)
        _refuse_many_combinations(looked_at)
        votes = {vote + row for vote in votes for row in rows}
    largest = (1 << members.bit_length()) - 1
    return FiniteClass([[(vote >> at) & largest >= fewest for at in places] for vote in votes])


@require.checked
def labelled(concepts: FiniteClass) -> FiniteClass:
    """Return H^label over X × {0, 1}: whether h errs on (x, y), which is point 2x + y."""
    errs: NDArray[np.uint8] = concepts.matrix[:, :, None] != np.array([0, 1])
    return FiniteClass(errs.reshape(concepts.size, -1))


def _refuse_different_domains(classes: tuple[FiniteClass, ...]) -> None:
    if not classes:
        raise ValueError("classes must not be empty")
    sizes = [concepts.domain.size for concepts in classes]
    if len(set(sizes)) > 1:
        raise ValueError(f"classes must be over the same points, got {sizes} points")


def _refuse_many_combinations(combinations: int) -> None:
    if combinations > _LARGEST_RESULT:
        raise ValueError(
            f"{combinations} combinations of concepts are too many; at most {_LARGEST_RESULT}"
        )
