"""Concepts that are 1 on boxes of cells: all of their losses come from one table of sums."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass

MOST_CELLS: Final = 1 << 23


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Concept i is 1 on the cells c with low[i] <= c < high[i] in every coordinate."""

    widths: tuple[int, ...]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def errors(self, points: NDArray[np.int64], labels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The mistakes of every concept on these examples: corners of a table of sums."""
        cells = np.ravel_multi_index(tuple(points.T), self.widths)
        size = prod(self.widths)
        # A concept errs on all ones outside of its box and on all zeros inside.
        signed = np.bincount(cells[labels == 0], minlength=size) - np.bincount(
            cells[labels == 1], minlength=size
        )
        sums = np.zeros([width + 1 for width in self.widths], dtype=np.int64)
        sums[tuple(slice(1, None) for _ in self.widths)] = signed.reshape(self.widths)
        for axis in range(len(self.widths)):
            np.cumsum(sums, axis=axis, out=sums)
        return int(np.count_nonzero(labels)) + self._inside(sums)

    def errors_of(self, concept: int, points: NDArray[np.int64], labels: NDArray[np.uint8]) -> int:
        """The mistakes of one concept."""
        inside = (points >= self.low[concept]) & (points < self.high[concept])
        return int(np.count_nonzero(inside.all(axis=1) != labels))

    def _inside(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(len(self.low), dtype=np.int64)
        for corner in product((True, False), repeat=len(self.widths)):
            ends = np.where(corner, self.high, self.low)
            part = sums[tuple(ends.T)]
            total += part if corner.count(False) % 2 == 0 else -part
        return total


def boxes_of(concepts: ConceptClass) -> Boxes | None:
    """The boxes of a class, in the order of its ``concepts()``; None if it has no such form."""
    if isinstance(concepts, Thresholds):
        low = np.arange(concepts.n + 1)
        return _on_a_line(concepts.n, low, np.full_like(low, concepts.n))
    if isinstance(concepts, Points) and concepts.n is not None:
        keys = np.arange(concepts.n)
        return _on_a_line(concepts.n, np.r_[0, keys], np.r_[0, keys + 1])
    if isinstance(concepts, Intervals):
        starts, ends = np.triu_indices(concepts.n)
        return _on_a_line(concepts.n, np.r_[0, starts], np.r_[0, ends + 1])
    if isinstance(concepts, Stumps) and concepts.schema.size <= MOST_CELLS:
        return _of_rules(concepts)
    return None


def _on_a_line(n: int, low: NDArray[Any], high: NDArray[Any]) -> Boxes | None:
    if n > MOST_CELLS:
        return None
    return Boxes((n,), low[:, np.newaxis].astype(np.int64), high[:, np.newaxis].astype(np.int64))


def _of_rules(concepts: Stumps) -> Boxes:
    widths = tuple(part.cells for part in concepts.schema.fields)
    low = np.zeros((concepts.size, len(widths)), dtype=np.int64)
    high = np.tile(np.array(widths, dtype=np.int64), (concepts.size, 1))
    for i, rule in enumerate(concepts.rules):
        if rule.conditions is None:
            high[i] = 0
        for number, first, last in rule.conditions or ():
            low[i, number], high[i, number] = first, last + 1
    return Boxes(widths, low, high)
