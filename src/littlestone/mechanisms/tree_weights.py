"""The total weight of all decision trees on some examples, in floating point.

Weights factorise: the trees below a question are a tree for the records where it holds and one
for the others. Two questions deep, the counts of all pairs of questions are one matrix product.
What is computed here only proposes; ``tree_selection.py`` draws from the exact law.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.protocols import Tally

Floats = NDArray[np.float64]

_LN2: Final = math.log(2)
# Whole numbers up to here are exact in single precision, and so are their sums.
_EXACT_SINGLE: Final = 1 << 24
# So many triples of questions at once: few calls, and what they work on stays in the cache.
_TRIPLES: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class Sample:
    """Different records, with how often each came with label 0 and with label 1."""

    cells: NDArray[np.int64]
    counts: Floats
    """Two rows: zeros and ones."""

    @classmethod
    def of(cls, tally: Tally) -> "Sample":
        """From how often each record, given by its cells, came with label 0 and with label 1."""
        counts = np.array(list(tally.values()), dtype=np.float64).reshape(-1, 2)
        return cls(_cells(tally), counts.T)

    @property
    def zeros(self) -> int:
        return int(self.counts[0].sum())

    @property
    def ones(self) -> int:
        return int(self.counts[1].sum())

    @property
    def size(self) -> int:
        return self.zeros + self.ones


def _cells(tally: Tally) -> NDArray[np.int64]:
    try:  # most fields have fewer cells than a byte has values, and bytes are quickly put together
        rows = b"".join(map(bytes, tally))  # type: ignore[arg-type]
    except ValueError:
        return np.array(list(tally), dtype=np.int64)
    return np.frombuffer(rows, dtype=np.uint8).reshape(len(tally), -1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many zeros and ones there are: at one node, or at each of many."""

    zeros: Any
    ones: Any

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(self.zeros - other.zeros, self.ones - other.ones)

    def __getitem__(self, some: slice) -> "Counts":
        return Counts(self.zeros[some], self.ones[some])


class TreeWeights:
    """Logarithms of weights: of a leaf, of each question, of everything below a node."""

    def __init__(self, trees: Branching, eta: float) -> None:
        self.trees, self._eta = trees, eta
        self._asked = len(trees.conditions)
        parts, lows, highs = np.array(trees.conditions, dtype=np.int64).reshape(-1, 3).T
        widths = [part.cells for part in trees.schema.fields]
        self._offsets = np.concatenate([[0], np.cumsum(widths)])
        self._begins = self._offsets[parts] + lows
        self._ends = self._offsets[parts] + highs + 1

    def parts(self, sample: Sample, number: int) -> tuple[Sample, Sample]:
        """The records for which a condition holds, and the others."""
        part, low, high = self.trees.conditions[number]
        column = sample.cells[:, part]
        inside = (low <= column) & (column <= high)
        return (
            Sample(sample.cells[inside], sample.counts[:, inside]),
            Sample(sample.cells[~inside], sample.counts[:, ~inside]),
        )

    def log_options(self, sample: Sample, depth: int) -> Floats:
        """The weights of label 0, of label 1, and of each question with all that may follow."""
        labels = -self._eta * np.array([sample.ones, sample.zeros], dtype=np.float64)
        if depth == 0 or not self._asked:
            return labels - _LN2
        questions = self._questions(sample, depth) - math.log(2 * self._asked)
        return np.concatenate([labels - 2 * _LN2, questions])

    def _questions(self, sample: Sample, depth: int) -> Floats:
        single, (zeros, ones) = self._single(sample), sample.counts
        whole = Counts(zeros.sum(), ones.sum())
        if depth == 1:
            return self._leaf(single) + self._leaf(whole - single)
        exact = np.float32 if sample.size < _EXACT_SINGLE else np.float64
        holds = self.trees.holding(sample.cells, exact)
        if depth == 2:
            signed = holds.T * (zeros - ones).astype(holds.dtype)
            excess = np.asarray(signed @ holds, dtype=np.float64)
            return self._with_one_more(excess, single, whole)
        by_zeros, by_ones = (holds.T * row.astype(holds.dtype) for row in (zeros, ones))
        pairs = Counts(*(np.asarray(side @ holds, np.float64) for side in (by_zeros, by_ones)))
        weighted = by_zeros - by_ones
        everywhere = pairs.zeros - pairs.ones
        questions, step = np.empty(self._asked), max(1, _TRIPLES // self._asked**2)
        for start in range(0, self._asked, step):
            some = slice(start, start + step)
            rows = np.flatnonzero(holds[:, some].any(axis=1))
            first = holds[rows, some].T[:, None, :] * weighted[:, rows]
            inside = np.asarray(first @ holds[rows], dtype=np.float64)
            here, there = pairs[some], single - pairs[some]
            questions[some] = self._subtrees(inside, here, single[some]) + self._subtrees(
                everywhere - inside, there, whole - single[some]
            )
        return questions

    def _single(self, sample: Sample) -> Counts:
        """The zeros and ones for which each condition holds, from one histogram of each field."""
        fields = len(self._offsets) - 1
        sums = []
        for row in sample.counts:
            there = np.flatnonzero(row)
            cells = (sample.cells[there] + self._offsets[:-1]).ravel()
            often = np.repeat(row[there], fields)
            histogram = np.bincount(cells, weights=often, minlength=int(self._offsets[-1]))
            upto = np.concatenate([[0.0], np.cumsum(histogram)])
            sums.append(upto[self._ends] - upto[self._begins])
        return Counts(*sums)

    def _leaf(self, counts: Counts) -> Floats:
        """The average over both labels of exp(-eta * errors)."""
        zeros, ones = -self._eta * counts.zeros, -self._eta * counts.ones
        return np.asarray(np.logaddexp(zeros, ones) - _LN2)

    def _below(self, excess: Floats, counts: Counts) -> Floats:
        """A leaf, or one last question; ``excess`` is how many more zeros hold it, for each.

        With e = excess, two leaves weigh (q^z + q^o + q^(o + e) + q^(z - e)) / 4, q = exp(-eta).
        """
        leaf = self._leaf(counts)
        steps = self._eta * excess
        asked = np.logaddexp(
            _log_sums(-steps) - self._eta * counts.ones, _log_sums(steps) - self._eta * counts.zeros
        )
        questions = self._asked
        both = np.logaddexp(leaf + math.log(2 * questions), asked) - math.log(4 * questions)
        return np.asarray(np.logaddexp(leaf, both) - _LN2)

    def _with_one_more(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """Questions with one more on either side; ``excess[a, b]`` is of those where both hold."""
        inside = self._below(excess, single)
        outside = self._below((single.zeros - single.ones)[..., None, :] - excess, whole - single)
        return inside + outside

    def _subtrees(self, excess: Floats, single: Counts, whole: Counts) -> Floats:
        """A leaf, or a question and one more on either side, at each of several nodes."""
        nodes = Counts(whole.zeros[:, None], whole.ones[:, None])
        asked = _log_sums(self._with_one_more(excess, single, nodes))
        return np.asarray(np.logaddexp(self._leaf(whole), asked - math.log(self._asked)) - _LN2)


def log_sum(logs: Floats) -> float:
    """The logarithm of the sum of numbers that are given by their logarithms."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


def _log_sums(logs: Floats) -> Floats:
    """The same along the last axis."""
    largest = logs.max(axis=-1)
    sums = np.exp(logs - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(sums))
