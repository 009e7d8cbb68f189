"""The concepts of a finite class as questions about a dataset: one matrix, exact counts."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.losses.label_counts import Counts as Counts
from littlestone.concepts.losses.label_counts import split_labels
from littlestone.concepts.losses.listing import LARGEST_MATRIX, fits_a_matrix, label_matrix
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point

Floats = NDArray[np.float64]


class FiniteQueries:
    """For each concept h: how many examples it maps to 1; if ``labelled``, labels wrongly.

    The examples are counted in cells: one for each point, or for each pair of point and label,
    those with label 0 first. A sum of whole numbers below 2**53 is exact in floating point,
    whatever the order, so counts are taken with the same matrix product as weights.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> queries = queries_of(Thresholds(3))
    >>> queries.counts(queries.tally([0, 2, 2])).tolist()
    [3, 2, 2, 0]
    >>> labelled = queries_of(Thresholds(3), labelled=True)
    >>> labelled.counts(labelled.tally([(0, 0), (2, 1), (2, 1)])).tolist()
    [1, 0, 0, 2]
    """

    def __init__(self, concepts: ConceptClass, *, labelled: bool = False) -> None:
        size, points = concepts.size, concepts.domain.size
        if size is None or points is None:
            raise ValueError(
                f"concepts must be finitely many on finitely many points, got {concepts!r}; "
                f"HistogramSanitizer works on unbounded domains"
            )
        if not fits_a_matrix(concepts):
            raise ValueError(
                f"a matrix of {size} concepts and {points} points is too large (at most "
                f"{LARGEST_MATRIX} entries); TreeSanitizer works on long ranges"
            )
        self.concept_class = concepts
        self.labelled = labelled
        self.points: list[Point] = list(concepts.domain)
        self._block = concepts.domain.check_many(self.points)
        self._matrix = label_matrix(concepts).astype(np.float64, order="C")
        self._positions = {point: place for place, point in enumerate(self.points)}
        self.concepts = len(self._matrix)
        self.cells = len(self.points) * (1 + labelled)

    def tally(self, dataset: Sequence[Any] | NDArray[Any]) -> Counts:
        """How many examples fall into each cell; refuses, naming it, one that is in none."""
        if len(dataset) == 0:
            raise ValueError("dataset must not be empty")
        if not self.labelled:
            return self._bins(self._cells_of(dataset))
        points, labels = split_labels(dataset)
        sides = np.array(labels, dtype=np.int64) * len(self.points)
        return self._bins(self._cells_of(points) + sides)

    def counts(self, tally: Counts) -> Counts:
        """The number of examples for each concept, exactly."""
        exact: Counts = self.answers(tally.astype(np.float64)).astype(np.int64)
        return exact

    def answers(self, weights: Floats) -> Floats:
        """The weight of the cells for each concept: one matrix–vector product."""
        if not self.labelled:
            return self._product(weights)
        zeros, ones = weights.reshape(2, -1)
        answers: Floats = self._product(zeros - ones) + ones.sum()
        return answers

    def cells_answers(self, weights: Floats) -> Floats:
        """The weight of the concepts for each cell: the transposed product."""
        sums: Floats = np.einsum("i,ij->j", weights, self._matrix)
        return np.concatenate([sums, weights.sum() - sums]) if self.labelled else sums

    def row(self, number: int) -> Floats:
        """0 or 1 for each cell: what concept ``number`` says of it."""
        row: Floats = self._matrix[number]
        return np.concatenate([row, 1.0 - row]) if self.labelled else row

    def column(self, place: int) -> Floats:
        """0 or 1 for each concept: what it says of this cell."""
        label, point = divmod(place, len(self.points))
        column: Floats = self._matrix[:, point]
        return 1.0 - column if label else column

    def indicator(self, hypothesis: Hypothesis) -> Floats:
        """The same for any hypothesis on the domain."""
        row = hypothesis.many(self._block).astype(np.float64)
        return np.concatenate([row, 1.0 - row]) if self.labelled else row

    def number_of(self, hypothesis: Hypothesis) -> int:
        """Which concept this hypothesis is."""
        number = self._numbers.get(hypothesis.many(self._block).tobytes())
        if number is None:
            raise ValueError(f"hypothesis must be in {self.concept_class!r}, got {hypothesis!r}")
        return number

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        rows = label_matrix(self.concept_class)
        return {row.tobytes(): number for number, row in enumerate(rows)}

    def cell(self, place: int) -> Any:
        """The point, or the pair of point and label, of a cell."""
        if not self.labelled:
            return self.points[place]
        label, point = divmod(place, len(self.points))
        return self.points[point], label

    def _product(self, weights: Floats) -> Floats:
        # One thread and one order of summation: steady on a busy machine, the same bits each time.
        product: Floats = np.einsum("ij,j->i", self._matrix, weights)
        return product

    def _bins(self, places: Counts) -> Counts:
        return np.bincount(places, minlength=self.cells).astype(np.int64)

    def _cells_of(self, points: Sequence[Any] | NDArray[Any]) -> Counts:
        domain = self.concept_class.domain
        if isinstance(domain, IntegerRange):
            return domain.check_many(points)
        return np.array([self._positions[domain.check(x)] for x in points], dtype=np.int64)


@lru_cache(maxsize=16)
def queries_of(concepts: ConceptClass, labelled: bool = False) -> FiniteQueries:
    """The questions of a class; the matrix is made once."""
    return FiniteQueries(concepts, labelled=labelled)
