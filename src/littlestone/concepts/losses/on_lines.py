"""Classes whose concepts are 1 on a stretch of cells of one line: thresholds, intervals, stumps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.losses.label_counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class OnLines:
    """Concept i is 1 where low[i] <= cell < high[i], the cell being the point's on line[i].

    A point has one cell on each line; line f has the cells 0 .. widths[f] - 1.
    """

    widths: tuple[int, ...]
    line: Counts
    low: Counts
    high: Counts

    @classmethod
    def on_a_line(cls, n: int, low: Counts, high: Counts) -> "OnLines":
        """Of the points 0 .. n-1."""
        return cls((n,), np.zeros(len(low), dtype=np.int64), low, high)

    def say(self, positions: Counts, rows: Counts) -> NDArray[np.bool_]:
        """What the concept at each position says of the row beside it."""
        if len(self.widths) == 1:
            cells = rows[:, 0]
        else:
            cells = rows[np.arange(len(rows)), self.line[positions]]
        said = self.low.take(positions) <= cells
        said &= cells < self.high.take(positions)
        return said
