"""Classes whose concepts are 1 on a stretch of cells of one line: thresholds, intervals, stumps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Answers
from littlestone.concepts.losses.label_counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class OnLines(Answers):
    """Concept i is 1 where low[i] <= cell < high[i], the cell being the point's on line[i].

    A point has one cell on each line; line f has the cells 0 .. widths[f] - 1.

    >>> lines = OnLines((3, 2), np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))
    >>> lines.sums(np.array([[2, 0], [2, 1], [0, 0]] * 2), np.array([1, 10, 100] * 2)).tolist()
    [22, 202]
    """

    widths: tuple[int, ...]
    line: Counts
    low: Counts
    high: Counts

    @classmethod
    def on_a_line(cls, n: int, low: Counts, high: Counts) -> "OnLines":
        """Of the points 0 .. n-1."""
        return cls((n,), np.zeros(len(low), dtype=np.int64), low, high)

    @property
    def width(self) -> int:
        return len(self.widths)

    def sums(self, rows: Counts, gains: Counts, /) -> Counts:
        whole = sum(self.widths)
        if len(rows) * len(self.low) <= whole + 2 * len(self.low):
            pairs = zip(rows, gains, strict=True)
            each = (gain * self._hold(slice(None), row[self.line]) for row, gain in pairs)
            return sum(each, np.zeros(len(self.low), dtype=np.int64))
        # All lines one after another: a stretch is a difference of two sums from the left.
        starts = np.cumsum((0, *self.widths[:-1]))
        cells, start = (rows + starts).ravel(), starts[self.line]
        before = np.zeros(whole + 1, dtype=np.int64)
        before[1:] = np.cumsum(np.bincount(cells, np.repeat(gains, self.width), whole))
        return before[start + self.high] - before[start + self.low]

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        return self._hold(position, rows[:, self.line[position]])

    def say(self, positions: Counts, rows: Counts) -> NDArray[np.bool_]:
        """What the concept at each position says of the row beside it."""
        if self.width == 1:
            return self._hold(positions, rows[:, 0])
        return self._hold(positions, rows[np.arange(len(rows)), self.line[positions]])

    def _hold(self, positions: Counts | int | slice, cells: Counts) -> NDArray[np.bool_]:
        said: NDArray[np.bool_] = self.low[positions] <= cells
        said &= cells < self.high[positions]
        return said
