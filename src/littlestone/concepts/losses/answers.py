"""What all concepts of a class say at once, in the forms that make adding up cheap.

Points are rows of whole numbers here, each with a gain; asked is, for every concept, the sum of the
gains where it says 1. Losses of all concepts are such sums (``loss_table``).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Answers
from littlestone.concepts.losses.label_counts import Counts

MOST_CELLS: Final = 1 << 23
_FEW_ROWS: Final = 8  # up to here, one after another is faster than all at once


class Suffixes(Answers):
    """Concept k = 0 .. n is 1 on the points from k on: thresholds."""

    def __init__(self, n: int) -> None:
        self._n = n

    def sums(self, rows: Counts, gains: Counts, /) -> Counts:
        found = np.zeros(self._n + 1, dtype=np.int64)
        if len(rows) <= _FEW_ROWS:
            for x, gain in zip(rows[:, 0].tolist(), gains.tolist(), strict=True):
                found[: x + 1] += gain
            return found
        found[0] = gains.sum()
        np.subtract.at(found, rows[:, 0] + 1, gains)
        return np.cumsum(found, out=found)

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        return rows[:, 0] >= position


class Matrix(Answers):
    """Any concepts over the points 0 .. n-1, as the matrix of their labels."""

    def __init__(self, labels: NDArray[np.uint8]) -> None:
        self._columns = np.ascontiguousarray(labels.T)

    def sums(self, rows: Counts, gains: Counts, /) -> Counts:
        points, columns = rows[:, 0], self._columns
        if len(rows) <= _FEW_ROWS:
            each = (gain * columns[x] for x, gain in zip(points, gains, strict=True))
            return sum(each, np.zeros(columns.shape[1], dtype=np.int64))
        # A sum of whole numbers below 2**53 is exact in floating point.
        total = np.bincount(points, gains).astype(np.int64)
        met = np.flatnonzero(total)
        found: Counts = total[met] @ columns[met].astype(np.int64)
        return found

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        said: NDArray[np.bool_] = self._columns[rows[:, 0], position].view(np.bool_)
        return said
