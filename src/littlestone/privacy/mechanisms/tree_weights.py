"""The total weight of all decision trees on some examples, in floating point.

Weights factorise: the trees below a question are a tree for the records where it holds and one
for the others. Two questions deep, the counts of all pairs of questions are one matrix product.
What is computed here only proposes; ``tree_selection.py`` draws from the exact law.
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

Floats = NDArray[np.float64]

_LN2: Final = math.log(2)
# Whole numbers up to here are exact in single precision, and so are their sums.
_EXACT_SINGLE: Final = 1 << 24
MOST_ROWS: Final = 1 << 48
"""So many different records at most can be counted by their numbers."""
# So many triples of questions at once: few calls, and what they work on stays in the cache.
_TRIPLES: Final = 1 << 15
# So many answers, of records to questions, at once.
_ANSWERS: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Sample:
    """Different records, with how often each came with each label."""

    cells: NDArray[np.int64]
    counts: Floats
    """A row for each answer of a leaf: how many examples of each record it is right about.

    Of two labels, zeros and ones."""
    labels: int | None = None
    """So many of the rows are for labels, each example being in one of them; None for all."""

    @classmethod
    def of(cls, tally: Mapping[Point, Sequence[int]], labels: int = 2) -> "Sample":
        """From how often each record, given by its cells, came with each label."""
        counts = np.array(list(tally.values()), dtype=np.float64).reshape(-1, labels)
        return cls(rows_of(tally), counts.T)

    @classmethod
    def of_rows(cls, rows: NDArray[np.int64], widths: Sequence[int], labels: int) -> "Sample":
        """From rows of cells with a label behind them, -1 for none; fields have these widths.

        There may be ``MOST_ROWS`` different records, so that each, with a label, has a number.
        """
        numbers = rows[:, 0]
        for column, width in zip(rows.T[1:], [*widths[1:], labels + 1], strict=True):
            numbers = numbers * width + column
        found, often = np.unique(numbers + 1, return_counts=True)
        records, label = np.divmod(found, labels + 1)
        first = np.append(True, records[1:] != records[:-1])
        counts = np.zeros((int(first.sum()), labels + 1))
        counts[np.cumsum(first) - 1, label] = often
        cells = np.stack(np.unravel_index(records[first], tuple(widths)), axis=1)
        return cls(cells.astype(np.int64, copy=False), counts[:, 1:].T)

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
        """Of a leaf that gives this answer."""
        return self.size - int(self.counts[answer].sum())

    def where(self, some: NDArray[np.bool_]) -> "Sample":
        """Return the records for which this holds."""
        return Sample(self.cells[some], self.counts[:, some], self.labels)


def rows_of(records: Collection[Point]) -> NDArray[np.int64]:
    """Return records, given by their cells, as rows."""
    try:  # most fields have fewer cells than a byte has values, and bytes are quickly put together
        rows = b"".join(map(bytes, records))  # type: ignore[arg-type]
    except ValueError:
        return np.array(list(records), dtype=np.int64)
    return np.frombuffer(rows, dtype=np.uint8).reshape(len(records), -1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many zeros and ones there are: at one node, or at each of many."""

    zeros: Any
    ones: Any

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(self.zeros - other.zeros, self.ones - other.ones)

    def __getitem__(self, some: NDArray[np.int64]) -> "Counts":
        return Counts(self.zeros[some], self.ones[some])


class TreeWeights:
    """Logarithms of weights: of a leaf, of each question, of everything below a node."""

    def __init__(
        self, trees: Branching, eta: float, below: NDArray[np.int64] | None = None
    ) -> None:
        """``below``: the questions of nodes below the root, for trees of depth two; else all."""
        self.trees, self._eta, self._below_root = trees, eta, below
        self._asked = len(trees.conditions)
        parts, lows, highs = np.array(trees.conditions, dtype=np.int64).reshape(-1, 3).T
        self._parts, self._lows, self._spans = parts, lows, highs - lows
        widths = [part.cells for part in trees.schema.fields]
        self._offsets = np.concatenate([[0], np.cumsum(widths)])
        self._begins = self._offsets[parts] + lows
        self._ends = self._offsets[parts] + highs + 1

    def parts(self, sample: Sample, number: int) -> tuple[Sample, Sample]:
        """Return the records for which a condition holds, and the others."""
        part, low, high = self.trees.conditions[number]
        column = sample.cells[:, part]
        inside = (low <= column) & (column <= high)
        return sample.where(inside), sample.where(~inside)

    def log_options(self, sample: Sample, depth: int) -> Floats:
        """Return the weights of label 0, label 1, and each question with all that may follow."""
        labels = -self._eta * np.array([sample.ones, sample.zeros], dtype=np.float64)
        if depth == 0 or not self._asked:
            return labels - _LN2
        weights = self._questions(sample, depth)
        return np.concatenate([labels - 2 * _LN2, weights - math.log(2 * len(weights))])

    def question(self, option: int, depth: int) -> int:
        """Return the number of the question that is this one of ``log_options`` at this depth."""
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
        if depth == 2:
            return self._two_questions(sample, exact, single, whole)
        holds = self._holding(sample.cells, exact)
        by_zeros, by_ones = (holds.T * row.astype(holds.dtype) for row in (zeros, ones))
        pairs = Counts(*(np.asarray(side @ holds, np.float64) for side in (by_zeros, by_ones)))
        everywhere = pairs.zeros - pairs.ones
        questions = np.empty(self._asked)
        for some, inside in self._triples(sample.cells, holds, by_zeros - by_ones):
            here, there = pairs[some], single - pairs[some]
            questions[some] = self._subtrees(inside, here, single[some]) + self._subtrees(
                everywhere - inside, there, whole - single[some]
            )
        return questions

    def _triples(
        self, cells: NDArray[np.int64], holds: NDArray[Any], weighted: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """Yield some questions, and how many more zeros hold each of them and any two others.

        A question holds in a run of cells of its field, so the records of a cell are added up once
        for all questions about the field.
        """
        step = max(1, _TRIPLES // self._asked**2)
        for part in np.unique(self._parts):
            order = np.argsort(cells[:, part], kind="stable")
            width = self._offsets[part + 1] - self._offsets[part]
            ends = np.searchsorted(cells[order, part], np.arange(width + 1)).tolist()
            mine, theirs = weighted[:, order], holds[order]
            upto = np.zeros((len(ends), self._asked, self._asked), dtype=holds.dtype)
            for cell, (start, end) in enumerate(pairwise(ends)):
                upto[cell + 1] = upto[cell] + mine[:, start:end] @ theirs[start:end]
            asked = np.flatnonzero(self._parts == part)
            for some in np.split(asked, range(step, len(asked), step)):
                lows = self._lows[some]
                inside = upto[lows + self._spans[some] + 1] - upto[lows]
                yield some, np.asarray(inside, dtype=np.float64)

    def _two_questions(self, sample: Sample, exact: Any, single: Counts, whole: Counts) -> Floats:
        below = self._below_root
        second = slice(None) if below is None else below
        signed = (sample.counts[0] - sample.counts[1]).astype(exact)
        surplus = single.zeros - single.ones
        excess = np.zeros((self._asked, len(surplus[second])), dtype=exact)
        step = max(1, _ANSWERS // self._asked)
        for start in range(0, len(sample.cells), step):
            holds = self._holding(sample.cells[start : start + step], exact)
            later = holds[:, second] * signed[start : start + step, None]
            excess += holds.T @ later
        inside = self._below(excess, single)
        outside = self._below(surplus[second] - excess, whole - single)
        return inside + outside

    def _holding(self, cells: NDArray[np.int64], exact: Any) -> NDArray[Any]:
        """For each record and each question, 1 where it holds; as ``Branching.holding`` says.

        Below the first cell of a question an unsigned difference is large.
        """
        widest = max(part.cells for part in self.trees.schema.fields)
        kind: Any = np.uint8 if widest <= 1 << 8 else np.uint64
        apart = cells.astype(kind)[:, self._parts]
        apart -= self._lows.astype(kind)
        return (apart <= self._spans.astype(kind)).astype(exact)

    def _single(self, sample: Sample) -> Counts:
        """Return the zeros and ones for which each condition holds, from one histogram of each
        field."""
        fields, step = len(self._offsets) - 1, max(1, _ANSWERS // len(self._offsets))
        sums = []
        for row in sample.counts:
            there, histogram = np.flatnonzero(row), np.zeros(int(self._offsets[-1]))
            for start in range(0, len(there), step):
                some = there[start : start + step]
                cells = (sample.cells[some] + self._offsets[:-1]).ravel()
                often = np.repeat(row[some], fields)
                histogram += np.bincount(cells, weights=often, minlength=len(histogram))
            upto = np.concatenate([[0.0], np.cumsum(histogram)])
            sums.append(upto[self._ends] - upto[self._begins])
        return Counts(*sums)

    def _leaf(self, counts: Counts) -> Floats:
        """Return the average over both labels of exp(-eta * errors)."""
        zeros, ones = -self._eta * counts.zeros, -self._eta * counts.ones
        return np.asarray(np.logaddexp(zeros, ones) - _LN2)

    def _below(self, excess: NDArray[Any], counts: Counts) -> Floats:
        """Return a leaf, or one last question; ``excess`` is how many more zeros hold it, for each.

        With e = excess, two leaves weigh (q^z + q^o + q^(o + e) + q^(z - e)) / 4, q = exp(-eta).
        """
        leaf = self._leaf(counts)
        steps = self._eta * excess.astype(np.float64, copy=False)
        asked = np.logaddexp(
            log_sums(-steps) - self._eta * counts.ones, log_sums(steps) - self._eta * counts.zeros
        )
        questions = excess.shape[-1]
        both = np.logaddexp(leaf + math.log(2 * questions), asked) - math.log(4 * questions)
        return np.asarray(np.logaddexp(leaf, both) - _LN2)

    def _with_one_more(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """Questions with one more on either side; ``excess[a, b]`` is of those where both hold."""
        inside = self._below(excess, single)
        outside = self._below((single.zeros - single.ones)[..., None, :] - excess, whole - single)
        return inside + outside

    def _subtrees(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """Return a leaf, or a question and one more on either side, at each of several nodes."""
        nodes = Counts(whole.zeros[:, None], whole.ones[:, None])
        asked = log_sums(self._with_one_more(excess, single, nodes))
        return np.asarray(np.logaddexp(self._leaf(whole), asked - math.log(self._asked)) - _LN2)


def log_sum(logs: Floats) -> float:
    """Return the logarithm of the sum of numbers that are given by their logarithms."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


def log_sums(logs: Floats) -> Floats:
    """Return the same along the last axis."""
    largest = logs.max(axis=-1)
    sums = np.exp(logs - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(sums))
