"""Compute the total weight of all decision trees on some examples, in floating point.

Weights factorise: the trees below a question are a tree for the records where it holds and one
for the others. For depth two, the counts of all pairs of questions are one matrix product. These
weights only propose trees; ``tree_selection.py`` draws from the exact law.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.protocols import Point
from littlestone.privacy.mechanisms.cell_tables import CellTables

Floats = NDArray[np.float64]

_LN2: Final = math.log(2)
# Integers and sums up to this are exact in single precision.
_EXACT_SINGLE: Final = 1 << 24
MOST_ROWS: Final = 1 << 48
"""The largest number of different records that can be counted by their numbers."""
# Triples of questions per block: few calls, and the arrays fit into the cache.
_TRIPLES: Final = 1 << 15
# Answers (records times questions) per block.
_ANSWERS: Final = 1 << 22
# Cells that are counted at once: they fit into the cache.
_CELLS: Final = 1 << 15
# exp(-x) is 0 in floating point for larger x.
_VANISHES: Final = 746


@dataclass(frozen=True, slots=True)
class Sample:
    """Distinct records, with their count for each label."""

    cells: NDArray[np.int64]
    counts: Floats
    """A row for each answer of a leaf: for each record, the examples that it predicts correctly.
    With two labels, zeros and ones."""
    labels: int | None = None
    """The number of rows for labels, of which each example is in one; None for all."""

    @classmethod
    def of(cls, tally: Mapping[Point, Sequence[int]], labels: int = 2) -> "Sample":
        """Return the sample of a tally: a count for each record (its cells) and label."""
        counts = np.array(list(tally.values()), dtype=np.float64).reshape(-1, labels)
        return cls(rows_of(tally), counts.T)

    @classmethod
    def of_rows(cls, rows: NDArray[np.int64], widths: Sequence[int], labels: int) -> "Sample":
        """Return the sample of rows: the cells and then a label, or -1 for no label.

        ``widths`` are the numbers of cells of the fields. At most ``MOST_ROWS`` records may exist,
        so that a record fits into one integer.
        """
        numbers = rows[:, 0]
        for column, width in zip(rows.T[1:-1], widths[1:], strict=True):
            numbers = numbers * width + column
        order = np.argsort(numbers)
        ordered = numbers[order]
        first = np.append(len(rows) > 0, ordered[1:] != ordered[:-1])[: len(rows)]
        records = order[first]
        places = (np.cumsum(first) - 1) * (labels + 1) + rows[order, -1] + 1
        counts = np.bincount(places, minlength=len(records) * (labels + 1))
        return cls(rows[records, :-1], counts.reshape(-1, labels + 1)[:, 1:].T.astype(np.float64))

    @property
    def zeros(self) -> int:
        """The number of examples with label 0."""
        return int(self.counts[0].sum())

    @property
    def ones(self) -> int:
        """The number of examples with label 1."""
        return int(self.counts[1].sum())

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.counts[: self.labels].sum())

    def errors(self, answer: int) -> int:
        """Return the errors of a leaf with this answer."""
        return self.size - int(self.counts[answer].sum())

    def where(self, some: NDArray[np.bool_]) -> "Sample":
        """Return the records that the mask selects."""
        return Sample(self.cells[some], self.counts[:, some], self.labels)


def rows_of(records: Collection[Point]) -> NDArray[np.int64]:
    """Return records, given by their cells, as rows."""
    try:  # most fields have at most 256 cells, and bytes are fast to join
        rows = b"".join(map(bytes, records))  # type: ignore[arg-type]
    except ValueError:
        return np.array(list(records), dtype=np.int64)
    return np.frombuffer(rows, dtype=np.uint8).reshape(len(records), -1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of zeros and ones at one node, or at each of many."""

    zeros: Any
    ones: Any

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(self.zeros - other.zeros, self.ones - other.ones)

    def __getitem__(self, some: NDArray[np.int64]) -> "Counts":
        return Counts(self.zeros[some], self.ones[some])


class TreeWeights:
    """Logarithms of the weights of leaves, questions and subtrees."""

    def __init__(
        self, trees: Branching, eta: float, below: NDArray[np.int64] | None = None
    ) -> None:
        """Use ``below`` as the questions below the root (depth two only); all by default."""
        self.trees, self._eta, self._below_root = trees, eta, below
        self._count = len(trees.conditions)
        parts, lows, highs = np.array(trees.conditions, dtype=np.int64).reshape(-1, 3).T
        self._parts, self._lows, self._spans = parts, lows, highs - lows
        widths = tuple(part.cells for part in trees.schema.fields)
        self._offsets = np.concatenate([[0], np.cumsum(widths)])
        self._begins = self._offsets[parts] + lows
        self._ends = self._offsets[parts] + highs + 1
        self._widths, self._powers = widths, np.ones(1)

    def parts(self, sample: Sample, number: int) -> tuple[Sample, Sample]:
        """Return the records for which a condition holds, and the others."""
        part, low, high = self.trees.conditions[number]
        column = sample.cells[:, part]
        inside = (low <= column) & (column <= high)
        return sample.where(inside), sample.where(~inside)

    def log_options(self, sample: Sample, depth: int) -> Floats:
        """Return the weights of label 0, label 1 and each question with its possible subtrees."""
        labels = -self._eta * np.array([sample.ones, sample.zeros], dtype=np.float64)
        if depth == 0 or not self._count:
            return labels - _LN2
        weights = self._questions(sample, depth)
        return np.concatenate([labels - 2 * _LN2, weights - math.log(2 * len(weights))])

    def question(self, option: int, depth: int) -> int:
        """Return the number of the question at this index of ``log_options``."""
        below = self._below_root
        return option if below is None or depth == self.trees.depth else int(below[option])

    def _questions(self, sample: Sample, depth: int) -> Floats:
        single, (zeros, ones) = self._single(sample), sample.counts
        whole = Counts(zeros.sum(), ones.sum())
        below = self._below_root
        if depth == 1:
            if below is not None and self.trees.depth > 1:
                single = Counts(single.zeros[below], single.ones[below])
            return self._leaf(single) + self._leaf(whole - single)
        exact = np.float32 if sample.size < _EXACT_SINGLE else np.float64
        self._prepare_powers(sample.size)
        if depth == 2:
            return self._two_questions(sample, exact, single, whole)
        pairs, triples = self._pairs_and_triples(sample, exact)
        everywhere = pairs.zeros - pairs.ones
        questions = np.empty(self._count)
        for some, inside in triples:
            here, there = pairs[some], single - pairs[some]
            questions[some] = self._subtrees(inside, here, single[some]) + self._subtrees(
                everywhere - inside, there, whole - single[some]
            )
        return questions

    def _pairs_and_triples(
        self, sample: Sample, exact: Any
    ) -> tuple[Counts, Iterator[tuple[NDArray[np.int64], Floats]]]:
        """Return the counts of all pairs of questions, and the surplus of zeros of all triples."""
        zeros, ones = sample.counts
        tables = CellTables.of(self.trees.conditions, self._widths)
        if tables.pays_off:
            columns = np.asfortranarray(sample.cells)
            pairs = Counts(tables.pairs(columns, zeros), tables.pairs(columns, ones))
            surplus = tables.triples(columns, zeros - ones)
            return pairs, ((some, surplus[some]) for some in self._some(np.arange(self._count)))
        holds = self._holding(sample.cells, exact)
        by_zeros, by_ones = (holds.T * row.astype(holds.dtype) for row in (zeros, ones))
        pairs = Counts(*(np.asarray(side @ holds, np.float64) for side in (by_zeros, by_ones)))
        return pairs, self._triples(sample.cells, holds, by_zeros - by_ones)

    def _some(self, questions: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        step = max(1, _TRIPLES // self._count**2)
        return np.split(questions, range(step, len(questions), step))

    def _triples(
        self, cells: NDArray[np.int64], holds: NDArray[Any], weighted: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """Yield blocks of questions and the excess of zeros of each triple that starts in one.

        A question holds in a run of cells of its field, so the records of a cell are added up once
        for all questions about the field.
        """
        for part in np.unique(self._parts):
            order = np.argsort(cells[:, part], kind="stable")
            width = self._offsets[part + 1] - self._offsets[part]
            ends = np.searchsorted(cells[order, part], np.arange(width + 1)).tolist()
            mine, theirs = weighted[:, order], holds[order]
            upto = np.zeros((len(ends), self._count, self._count), dtype=holds.dtype)
            for cell, (start, end) in enumerate(pairwise(ends)):
                upto[cell + 1] = upto[cell] + mine[:, start:end] @ theirs[start:end]
            chosen = np.flatnonzero(self._parts == part)
            for some in self._some(chosen):
                lows = self._lows[some]
                inside = upto[lows + self._spans[some] + 1] - upto[lows]
                yield some, np.asarray(inside, dtype=np.float64)

    def _two_questions(self, sample: Sample, exact: Any, single: Counts, whole: Counts) -> Floats:
        below = self._below_root
        second = slice(None) if below is None else below
        signed, surplus = sample.counts[0] - sample.counts[1], single.zeros - single.ones
        tables = CellTables.of(self.trees.conditions, self._widths) if below is None else None
        excess: NDArray[np.floating[Any]]
        if tables is not None and tables.pays_off:
            excess = tables.pairs(sample.cells, signed)
        else:
            excess = self._excess(sample.cells, signed.astype(exact), second)
        inside = self._below(excess, single)
        outside = self._below(surplus[second] - excess, whole - single)
        return inside + outside

    def _excess(
        self, cells: NDArray[np.int64], signed: NDArray[Any], second: Any
    ) -> NDArray[np.floating[Any]]:
        """Return the excess of zeros for each pair of a question and a second one."""
        excess = np.zeros((self._count, len(np.arange(self._count)[second])), dtype=signed.dtype)
        step = max(1, _ANSWERS // self._count)
        for start in range(0, len(cells), step):
            holds = self._holding(cells[start : start + step], signed.dtype)
            later = holds[:, second] * signed[start : start + step, None]
            excess += holds.T @ later
        return excess

    def _holding(self, cells: NDArray[np.int64], exact: Any) -> NDArray[Any]:
        """Return 1 for each record and question that holds (see ``Branching.holding``).

        An unsigned difference is large below a question's first cell.
        """
        widest = max(part.cells for part in self.trees.schema.fields)
        kind: Any = np.uint8 if widest <= 1 << 8 else np.uint64
        apart = cells.astype(kind)[:, self._parts]
        apart -= self._lows.astype(kind)
        return (apart <= self._spans.astype(kind)).astype(exact)

    def _single(self, sample: Sample) -> Counts:
        """Return the zeros and ones for which each condition holds, from a histogram per field."""
        fields, total = len(self._offsets) - 1, int(self._offsets[-1])
        upto = np.zeros((2, total + 1))
        step = max(1, _CELLS // fields)
        for start in range(0, len(sample.cells), step):
            cells = (sample.cells[start : start + step] + self._offsets[:-1]).ravel()
            for sums, row in zip(upto, sample.counts, strict=True):
                often = np.repeat(row[start : start + step], fields)
                sums[1:] += np.bincount(cells, weights=often, minlength=total)
        np.cumsum(upto, axis=1, out=upto)
        return Counts(*(upto[:, self._ends] - upto[:, self._begins]))

    def _leaf(self, counts: Counts) -> Floats:
        """Return the average over both labels of exp(-eta * errors)."""
        zeros, ones = -self._eta * counts.zeros, -self._eta * counts.ones
        return np.asarray(np.logaddexp(zeros, ones) - _LN2)

    def _below(self, excess: NDArray[Any], counts: Counts) -> Floats:
        """Return the weight of a leaf or one last question, given each question's excess of zeros.

        With e = excess, two leaves weigh (q^z + q^o + q^(o + e) + q^(z - e)) / 4, q = exp(-eta).
        """
        leaf = self._leaf(counts)
        least, most = excess.min(axis=-1), excess.max(axis=-1)
        chosen = np.logaddexp(
            self._log_powers(excess - least[..., None]) - self._eta * (counts.ones + least),
            self._log_powers(most[..., None] - excess) - self._eta * (counts.zeros - most),
        )
        questions = excess.shape[-1]
        both = np.logaddexp(leaf + math.log(2 * questions), chosen) - math.log(4 * questions)
        return np.asarray(np.logaddexp(leaf, both) - _LN2)

    def _prepare_powers(self, size: int) -> None:
        """Compute the powers of q for all counts of a sample, up to those that vanish."""
        count = min(size, math.ceil(_VANISHES / self._eta)) + 1
        if len(self._powers) < count:
            self._powers = np.exp(-self._eta * np.arange(count))

    def _log_powers(self, numbers: NDArray[Any]) -> Floats:
        """Return the logarithm of the sum of q to these whole numbers, along the last axis."""
        powers = self._powers.take(numbers.astype(np.intp), mode="clip")
        return np.asarray(np.log(powers.sum(axis=-1)))

    def _with_one_more(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """Return the weight of questions with one more on either side."""
        inside = self._below(excess, single)
        outside = self._below((single.zeros - single.ones)[..., None, :] - excess, whole - single)
        return inside + outside

    def _subtrees(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """Return the weight of a leaf, or of a question with one more on either side, per node."""
        nodes = Counts(whole.zeros[:, None], whole.ones[:, None])
        chosen = log_sums(self._with_one_more(excess, single, nodes))
        return np.asarray(np.logaddexp(self._leaf(whole), chosen - math.log(self._count)) - _LN2)


def log_sum(logs: Floats) -> float:
    """Return ln Σ e**x for the given x."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


def log_sums(logs: Floats) -> Floats:
    """Return ``log_sum`` along the last axis."""
    largest = logs.max(axis=-1)
    sums = np.exp(logs - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(sums))
