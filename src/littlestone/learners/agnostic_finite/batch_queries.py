"""Whole-number queries about a batch, and the losses of all concepts estimated from the answers.

On a line of cells let s(x) = #zeros - #ones at cell x. A concept that is 1 on a stretch of the line
has, up to a constant common to all concepts, the loss s(stretch) - share * s(line), for any share:
a difference of prefix sums. Asking for C s with a suitable integer matrix C and solving for the
prefix sums needs far less noise than asking for the losses. ``FreshDraws`` then draws concepts by
the released weights.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Stretched
from littlestone.concepts.losses.answers import OnLines
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.agnostic_finite.running_totals import Floats, SkewCirculant, product
from littlestone.randomness import Randomness

_MORE_BITS: Final = 32  # read where 16 bits do not decide
_ALL: Final = 1 << (16 + _MORE_BITS)  # number of long words
_FEWER: Final = _ALL - 16  # keeps the sum of rounded weights below _ALL
_FEW: Final = 16  # with fewer draws from one row a guide does not pay
_GUIDE_SHIFT: Final = 9
_LEAST: Final = -700.0


@dataclass(init=False, eq=False, repr=False)
class FreshDraws:
    """Draw positions by public weights, from uniform words that are read ahead.

    Floats may be used here: a draw is a function of released numbers and coins. Short words are
    read ahead for whole eras of rounds, so that single rounds and blocks use the same words; more
    bits are read where the short word does not decide.
    """

    _words: NDArray[np.uint16]
    _used: int

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng

    def read_ahead(self, count: int) -> None:
        """Read the words of the next ``count`` draws, dropping unused ones."""
        self._words, self._used = self._rng.short_words(count), 0

    def draw(self, costs: Floats, count: int) -> Counts:
        """Draw ``count`` positions for each row, i with probability exp(-cost of i) / sum."""
        rows = np.atleast_2d(costs)
        ends = _ends(rows)
        short = self._words[self._used : self._used + len(rows) * count]
        self._used += len(short)
        begins = short.astype(np.int64)
        begins += starts(len(rows), count, 1 << 16)
        found, end = _found(ends >> _MORE_BITS, begins, count)
        divided = np.flatnonzero(end == begins)
        if len(divided):
            more = self._rng.words(len(divided)) >> np.uint64(64 - _MORE_BITS)
            words = (begins[divided] << _MORE_BITS) + more.astype(np.int64)
            found[divided] = np.searchsorted(ends, words, side="right")
        found -= starts(len(rows), count, rows.shape[1])
        return found


@lru_cache(maxsize=16)
def starts(rows: int, count: int, width: int) -> Counts:
    """Return where each row of a flattened matrix begins, ``count`` times each."""
    found = np.repeat(np.arange(rows) * width, count)
    found.flags.writeable = False  # the cache shares it
    return found


def _ends(costs: Floats) -> Counts:
    """Return cumulative numbers of words for the positions, row after row, increasing."""
    weights = np.subtract(costs.min(axis=1, keepdims=True), costs)
    # Floats below e**-708 are slow, and too small to matter to any word.
    np.maximum(weights, _LEAST, out=weights)
    np.exp(weights, out=weights)
    weights *= _FEWER / weights.sum(axis=1, keepdims=True)
    ends = weights.astype(np.int64)
    np.cumsum(ends, axis=1, out=ends)  # integers are four times as fast as floats
    ends[:, -1] = _ALL
    ends += (np.arange(len(ends)) * _ALL)[:, None]
    flat: Counts = ends.ravel()
    return flat


def _found(ends: Counts, begins: Counts, count: int) -> tuple[Counts, Counts]:
    """Return, for each word, the place of the first end not below it, and that end."""
    if count < _FEW:
        found = np.searchsorted(ends, begins)
        return found, ends[found]
    # A guide: how many ends lie below all words with the same leading bits.
    here = np.bincount(ends >> _GUIDE_SHIFT)
    firsts = np.cumsum(here)
    firsts -= here
    found = firsts.take(begins >> _GUIDE_SHIFT)
    end = ends.take(found)
    passed = np.flatnonzero(end < begins)
    found[passed] = np.searchsorted(ends, begins[passed])
    end[passed] = ends[found[passed]]
    return found, end


NO_LABEL: Final = 2
"""The label of a round without an example."""
_GAINS: Final = np.array([1.0, -1.0, 0.0])
"""What the labels 0, 1 and none count."""
MOST_CELLS: Final = 1 << 16
_LARGEST_MATRIX: Final = 1 << 21
_SHARES: Final = (0.0, 0.5)


class Queries(ABC):
    """The queries about a batch; their true answers are whole numbers, held exactly in floats."""

    cells: int
    """The number of queries."""
    squared_sensitivity: int
    """A bound on the squared norm of the change by one replaced example."""
    spread: float
    """A bound on the squared norm of an estimate's weights on the answers."""

    @abstractmethod
    def true_answers(self, points: Any, labels: Any, /) -> Floats:
        """Return the true answers about a batch of validated examples."""

    @abstractmethod
    def estimates(self, answers: Floats, /) -> Floats:
        """Estimate losses from answers, up to a common constant, along the last axis."""


class Listed(Queries):
    """Queries for any class: 2 * loss - B of every concept, moved by at most 2 by one example."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._concepts = concepts
        self.cells = concepts.size or 0
        self.squared_sensitivity = 4 * self.cells
        self.spread = 0.25

    def true_answers(self, points: Any, labels: Any, /) -> Floats:
        losses = LossTable(self._concepts)  # a new table: runs share the queries, not their data
        if NO_LABEL in labels:
            points = [x for x, y in zip(points, labels, strict=True) if y != NO_LABEL]
            labels = [y for y in labels if y != NO_LABEL]
        if len(labels):
            losses.add_many(points, labels)
        return (2 * losses.as_array() - len(labels)).astype(np.float64)

    def estimates(self, answers: Floats, /) -> Floats:
        return answers / 2


class Lines(Queries):
    """Queries for classes of stretches: a histogram of each line, times an integer matrix."""

    def __init__(self, stretches: OnLines, scale: float) -> None:
        self.stretches = stretches
        drafts = [_drafted(stretches, share) for share in _SHARES]
        costs = [sum(draft.cost for draft in lines) for lines in drafts]
        chosen = int(np.argmin(costs))
        self._share, lines = _SHARES[chosen], drafts[chosen]
        widest = max((line.weight for line in lines), default=0.0)
        if len(lines) == 1 and np.count_nonzero(lines[0].matrix.column) == 1:
            scale = 1.0  # the cells themselves are asked for, so nothing is rounded
        # Equal errors on all lines cost least, so scales grow with the roots of the weights.
        self._lines = [line.scaled(scale * sqrt(line.weight / widest)) for line in lines]
        self.cells = sum(len(line.matrix.column) for line in self._lines)
        norms = sum(int(line.matrix.squared_norm) for line in self._lines)
        self.squared_sensitivity = 4 * norms
        self.spread = max((line.weight for line in self._lines), default=0.0)

    def rows(self, points: Any) -> Counts:
        """Return points as their cells on each line."""
        return np.asarray(points, dtype=np.int64).reshape(-1, len(self.stretches.widths))

    def true_answers(self, points: Any, labels: Any, /) -> Floats:
        return self.weighted(self.rows(points), _GAINS[np.asarray(labels, dtype=np.intp)])

    def weighted(self, rows: Counts, gains: Floats) -> Floats:
        """Return the answers if each row counts with its gain: +1 for a zero, -1 for a one."""
        return self._concatenated(
            line.matrix.times(_histogram(rows[:, line.number], gains, line.width))
            for line in self._lines
        )

    def true_answers_of_batches(self, rows: Counts, gains: Floats, batches: int) -> Floats:
        """Return ``weighted`` for each of several batches of equal length, all at once."""
        length = len(rows) // batches
        return self._concatenated(
            line.matrix.times(
                _histogram(
                    starts(batches, length, line.width) + rows[:, line.number],
                    gains,
                    batches * line.width,
                ).reshape(batches, line.width),
                at_most=length,
            )
            for line in self._lines
        )

    def estimates(self, answers: Floats, /) -> Floats:
        """Estimate the losses of all stretches from the answers."""
        if self._weights is None:
            return self._solved(answers)
        return product(answers, self._weights)

    def _concatenated(self, parts: Any) -> Floats:
        parts = list(parts)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    @cached_property
    def _weights(self) -> Floats | None:
        """The estimates from each single answer, or None if the matrix is too large."""
        if self.cells * len(self.stretches.low) > _LARGEST_MATRIX:
            return None
        return np.ascontiguousarray(self._solved(np.eye(self.cells)))

    def _solved(self, answers: Floats) -> Floats:
        found = np.zeros((*answers.shape[:-1], len(self.stretches.low)))
        at = 0
        for line in self._lines:
            part = answers[..., at : at + line.width]
            at += line.width
            sums = np.zeros((*answers.shape[:-1], line.width + 1))
            np.cumsum(line.matrix.solve(part), axis=-1, out=sums[..., 1:])
            inside = sums[..., line.high] - sums[..., line.low]
            found[..., line.members] = inside - self._share * sums[..., -1:]
        return found


def _histogram(cells: Counts, gains: Floats, width: int) -> Floats:
    counts: Floats = np.bincount(cells, gains, width).astype(np.float64, copy=False)
    return counts


class _Line:
    """One line, its matrix, and the stretches on it."""

    def __init__(self, number: int, stretches: OnLines, share: float) -> None:
        self.number, self.share = number, share
        self.width = stretches.widths[number]
        self.members = np.flatnonzero(stretches.line == number)
        self.low, self.high = stretches.low[self.members], stretches.high[self.members]

    def with_matrix(self, matrix: SkewCirculant) -> "_Line":
        """Set the matrix, the largest squared norm of an estimate's weights, and the cost."""
        self.matrix = matrix
        products, high, low = matrix.prefix_products(), self.high, self.low
        norms = (products[0] - products[high - low]) / 2
        if self.share:
            end = self.width
            norms += (products[0] - 2 * products[end - high] + 2 * products[end - low]) / 4
        self.weight = float(norms.max(initial=0.0))
        self.cost = matrix.squared_norm * self.weight
        return self

    def scaled(self, scale: float) -> "_Line":
        return self.with_matrix(self.matrix.rounded(max(1.0, scale)))


def _drafted(stretches: OnLines, share: float) -> list[_Line]:
    """Return the better of two unrounded matrices for each line that matters."""
    drafts = []
    for number, width in enumerate(stretches.widths):
        made = (
            _Line(number, stretches, share).with_matrix(matrix)
            for matrix in (
                SkewCirculant.half_of_prefix_sums(width),
                SkewCirculant.identity(width),
            )
        )
        best = min(made, key=lambda line: line.cost)
        if best.weight > 1e-9:  # on some lines no stretch needs an answer
            drafts.append(best)
    return drafts


def has_few_queries(concepts: ConceptClass) -> bool:
    """Return whether ``queries_about`` accepts the class."""
    return _stretches(concepts) is not None or (concepts.size or MOST_CELLS + 1) <= MOST_CELLS


@lru_cache(maxsize=64)
def queries_about(concepts: ConceptClass, scale: float) -> Queries:
    """Return the queries for a class; on lines they are rounded to multiples of 1 / scale.

    Raises:
        ValueError: If the class has too many queries.
    """
    stretches = _stretches(concepts)
    if stretches is not None:
        lines = Lines(stretches, scale)
        if lines.cells:
            return lines
    if not has_few_queries(concepts):
        raise ValueError(
            f"concepts must be stretches of lines with few cells, or at most {MOST_CELLS} in "
            f"number, for noisy losses, got concepts={concepts!r}"
        )
    return Listed(concepts)


@lru_cache(maxsize=64)
def _stretches(concepts: ConceptClass) -> OnLines | None:
    found = concepts.on_lines() if isinstance(concepts, Stretched) else None
    return None if found is None or sum(found.widths) > MOST_CELLS else found
