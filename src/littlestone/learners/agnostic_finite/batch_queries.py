"""Whole-number questions about a batch, and the losses of all concepts estimated from the answers.

On a line of cells let s(x) = #zeros - #ones at cell x. A concept that is 1 on a stretch of it has,
up to what is common to all concepts, the loss s(stretch) - share * s(line), whatever the share:
a difference of sums from the left. Asking for C s with a suitable whole matrix C and solving for
these sums needs far less noise than asking for the losses.
"""

from abc import ABC, abstractmethod
from functools import cached_property, lru_cache
from math import sqrt
from typing import Any, Final

import numpy as np

from littlestone.concepts.capabilities import Stretched
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.losses.on_lines import OnLines
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.agnostic_finite.fresh_draws import starts
from littlestone.learners.agnostic_finite.skew_circulant import Floats, SkewCirculant, product

NO_LABEL: Final = 2
"""Of a round without an example."""
_GAINS: Final = np.array([1.0, -1.0, 0.0])
"""What a label counts: 0, 1 and none."""
MOST_CELLS: Final = 1 << 16
_LARGEST_MATRIX: Final = 1 << 21
_SHARES: Final = (0.0, 0.5)


class Queries(ABC):
    """What is asked about a batch. True answers are whole numbers, held exactly in floats."""

    cells: int
    """How many questions."""
    squared_sensitivity: int
    """The squared norm, at most, of what replacing one example changes."""
    spread: float
    """The squared norm, at most, of an estimate's weights on the answers."""

    @abstractmethod
    def asked(self, points: Any, labels: Any, /) -> Floats:
        """The true answers about a batch of validated examples."""

    @abstractmethod
    def estimates(self, answers: Floats, /) -> Floats:
        """From answers to losses, up to what all concepts share, along the last axis."""


class Listed(Queries):
    """Any class: 2 * loss - B of every concept, each of which one example moves by 2 at most."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._concepts = concepts
        self.cells = concepts.size or 0
        self.squared_sensitivity = 4 * self.cells
        self.spread = 0.25

    def asked(self, points: Any, labels: Any, /) -> Floats:
        losses = LossTable(self._concepts)  # afresh: runs share these questions, not their data
        if NO_LABEL in labels:
            points = [x for x, y in zip(points, labels, strict=True) if y != NO_LABEL]
            labels = [y for y in labels if y != NO_LABEL]
        if len(labels):
            losses.add_many(points, labels)
        return (2 * losses.as_array() - len(labels)).astype(np.float64)

    def estimates(self, answers: Floats, /) -> Floats:
        return answers / 2


class Lines(Queries):
    """Classes of stretches: a histogram for each line, times a whole matrix."""

    def __init__(self, stretches: OnLines, scale: float) -> None:
        self.stretches = stretches
        drafts = [_drafted(stretches, share) for share in _SHARES]
        costs = [sum(draft.cost for draft in lines) for lines in drafts]
        chosen = int(np.argmin(costs))
        self._share, lines = _SHARES[chosen], drafts[chosen]
        widest = max((line.weight for line in lines), default=0.0)
        if len(lines) == 1 and np.count_nonzero(lines[0].matrix.column) == 1:
            scale = 1.0  # cells are asked for as they are: nothing is rounded
        # Equal errors on all lines cost least: the scales are as the roots of the weights.
        self._lines = [line.scaled(scale * sqrt(line.weight / widest)) for line in lines]
        self.cells = sum(len(line.matrix.column) for line in self._lines)
        norms = sum(int(line.matrix.squared_norm) for line in self._lines)
        self.squared_sensitivity = 4 * norms
        self.spread = max((line.weight for line in self._lines), default=0.0)

    def rows(self, points: Any) -> Counts:
        """Points as their cells on each line."""
        return np.asarray(points, dtype=np.int64).reshape(-1, len(self.stretches.widths))

    def asked(self, points: Any, labels: Any, /) -> Floats:
        return self.weighted(self.rows(points), _GAINS[np.asarray(labels, dtype=np.intp)])

    def weighted(self, rows: Counts, gains: Floats) -> Floats:
        """The answers if each row counts with its gain, for a zero +1 and for a one -1."""
        return self._concatenated(
            line.matrix.times(_histogram(rows[:, line.number], gains, line.width))
            for line in self._lines
        )

    def asked_batches(self, rows: Counts, gains: Floats, batches: int) -> Floats:
        """``weighted`` for each of some batches of equal length, all at once."""
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
        if self._weights is None:
            return self._solved(answers)
        return product(answers, self._weights)

    def _concatenated(self, parts: Any) -> Floats:
        parts = list(parts)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    @cached_property
    def _weights(self) -> Floats | None:
        """The estimates from each answer alone, where they are not too many to write down."""
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
        """``weight``: the largest squared norm of an estimate's weights; ``cost``: the errors."""
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
    """For each line that matters the better of two matrices, not yet rounded."""
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
        if best.weight > 1e-9:  # on some line no stretch may need any answer
            drafts.append(best)
    return drafts


def can_be_asked(concepts: ConceptClass) -> bool:
    """Whether there are few enough questions about the class."""
    return _stretches(concepts) is not None or (concepts.size or MOST_CELLS + 1) <= MOST_CELLS


@lru_cache(maxsize=64)
def queries_about(concepts: ConceptClass, scale: float) -> Queries:
    """The questions for a class; on lines they are rounded to whole numbers of 1 / scale."""
    stretches = _stretches(concepts)
    if stretches is not None:
        lines = Lines(stretches, scale)
        if lines.cells:
            return lines
    if not can_be_asked(concepts):
        raise ValueError(
            f"concepts must be stretches of lines with few cells, or at most {MOST_CELLS} in "
            f"number, to be asked for noisy losses, got concepts={concepts!r}"
        )
    return Listed(concepts)


@lru_cache(maxsize=64)
def _stretches(concepts: ConceptClass) -> OnLines | None:
    found = concepts.on_lines() if isinstance(concepts, Stretched) else None
    return None if found is None or sum(found.widths) > MOST_CELLS else found
