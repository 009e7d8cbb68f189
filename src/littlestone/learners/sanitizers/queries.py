"""The concepts of a finite class as queries about a dataset, and rounding to whole examples."""

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.losses.label_counts import Counts, split_labels
from littlestone.concepts.losses.listing import LARGEST_MATRIX, fits_a_matrix, label_matrix
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point

Floats = NDArray[np.float64]


class FiniteQueries:
    """For each concept, how many examples it maps to 1 or, if ``labelled``, labels wrongly.

    The examples are counted in cells: one for each point, or for each pair of point and label,
    those with label 0 first. A sum of whole numbers below 2**53 is exact in floating point in any
    order, so counts use the same matrix product as weights.

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
                f"concepts must be a finite class over a finite domain, got {concepts!r}; "
                f"use HistogramSanitizer for unbounded domains"
            )
        if not fits_a_matrix(concepts):
            raise ValueError(
                f"concepts × points must be at most {LARGEST_MATRIX}, got {size} × {points}; use "
                f"TreeSanitizer for long ranges"
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
        """Count the examples in each cell; raise for one that is in none."""
        if len(dataset) == 0:
            raise ValueError("dataset must not be empty")
        if not self.labelled:
            return self._bins(self._cells_of(dataset))
        points, labels = split_labels(dataset)
        sides = np.array(labels, dtype=np.int64) * len(self.points)
        return self._bins(self._cells_of(points) + sides)

    def counts(self, tally: Counts) -> Counts:
        """Return the exact number of examples for each concept."""
        exact: Counts = self.answers(tally.astype(np.float64)).astype(np.int64)
        return exact

    def answers(self, weights: Floats) -> Floats:
        """Return the weight of the cells for each concept: one matrix–vector product."""
        if not self.labelled:
            return self._product(weights)
        zeros, ones = weights.reshape(2, -1)
        answers: Floats = self._product(zeros - ones) + ones.sum()
        return answers

    def cells_answers(self, weights: Floats) -> Floats:
        """Return the weight of the concepts for each cell: the transposed product."""
        sums: Floats = np.einsum("i,ij->j", weights, self._matrix)
        return np.concatenate([sums, weights.sum() - sums]) if self.labelled else sums

    def row(self, number: int) -> Floats:
        """Return 0 or 1 for each cell: what concept ``number`` says of it."""
        row: Floats = self._matrix[number]
        return np.concatenate([row, 1.0 - row]) if self.labelled else row

    def column(self, place: int) -> Floats:
        """Return 0 or 1 for each concept: what it says of this cell."""
        label, point = divmod(place, len(self.points))
        column: Floats = self._matrix[:, point]
        return 1.0 - column if label else column

    def indicator(self, hypothesis: Hypothesis) -> Floats:
        """Return 0 or 1 for each cell: what any hypothesis on the domain says of it."""
        row = hypothesis.many(self._block).astype(np.float64)
        return np.concatenate([row, 1.0 - row]) if self.labelled else row

    def number_of(self, hypothesis: Hypothesis) -> int:
        """Return the number of the concept that this hypothesis is."""
        number = self._numbers.get(hypothesis.many(self._block).tobytes())
        if number is None:
            raise ValueError(f"hypothesis must be in {self.concept_class!r}, got {hypothesis!r}")
        return number

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        rows = label_matrix(self.concept_class)
        return {row.tobytes(): number for number, row in enumerate(rows)}

    def cell(self, place: int) -> Any:
        """Return the point, or the pair of point and label, of a cell."""
        if not self.labelled:
            return self.points[place]
        label, point = divmod(place, len(self.points))
        return self.points[point], label

    def _product(self, weights: Floats) -> Floats:
        # One thread and one order of summation, so that the bits are the same each time.
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
    """Return the queries of a class; the matrix is made once."""
    return FiniteQueries(concepts, labelled=labelled)


def systematic(weights: Floats, size: int) -> Counts:
    """Place examples at the quantiles (i + 1/2) / size, in the order of the cells.

    Every prefix of the cells gets its share of the examples, up to 1/2; a single cell up to 1.

    >>> systematic(np.array([0.5, 0.3, 0.2]), 5).tolist()
    [2, 2, 1]
    """
    ends = np.cumsum(weights / weights.sum())
    places = np.searchsorted(ends, (np.arange(size) + 0.5) / size, side="right")
    return np.bincount(np.minimum(places, len(weights) - 1), minlength=len(weights)).astype(
        np.int64
    )


def greedy(queries: FiniteQueries, weights: Floats, size: int) -> Counts:
    """Take whole parts first; then add, one by one, the example that balances all concepts best.

    The last R examples derandomise independent draws by the method of conditional expectations,
    with Hoeffding's bound as the pessimistic estimator. So no concept is off by more than sqrt(R
    ln(2 |H|) / 2) examples, and R is at most the number of cells.
    """
    wanted = weights / weights.sum() * size
    taken: Counts = np.floor(wanted).astype(np.int64)
    rest = size - int(taken.sum())
    if rest == 0:
        return taken
    residual = queries.answers(wanted - taken)  # how many more each concept should get
    rate = math.sqrt(8 * math.log(2 * queries.concepts) / rest)
    deviation = np.zeros(queries.concepts)
    each = residual / rest
    more, less = math.expm1(rate), math.expm1(-rate)
    for _ in range(rest):
        deviation -= each
        tilt = np.clip(rate * deviation, -600, 600)
        cost = queries.cells_answers(np.exp(tilt) * more + np.exp(-tilt) * less)
        place = int(cost.argmin())
        taken[place] += 1
        deviation += queries.column(place)
    return taken


def rounding_error(queries: FiniteQueries, weights: Floats, counts: Counts) -> float:
    """Return the largest difference of a concept's share in the dataset and the distribution."""
    difference = counts / counts.sum() - weights / weights.sum()
    return float(np.abs(queries.answers(difference)).max())


def best_rounding(queries: FiniteQueries, weights: Floats, size: int) -> Counts:
    """Return the better of both roundings; everything is public, so comparing costs nothing."""
    quick = systematic(weights, size)
    if rounding_error(queries, weights, quick) * size <= 1:
        return quick
    careful = greedy(queries, weights, size)
    return min((quick, careful), key=lambda counts: rounding_error(queries, weights, counts))
