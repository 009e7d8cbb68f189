"""Sum gains over all concepts of a class at once, in forms that make this cheap.

Points are rows of integers, each with a gain. The result is, for every concept, the sum of the
gains of the points that it maps to 1. Losses of all concepts are such sums (``loss_table``).

A rule of two conditions needs only the gain of each pair of cells of two fields; this table has one
entry per pair of cells, not per record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Answers
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.schema import Condition

MOST_CELLS: Final = 1 << 23
_FEW_ROWS: Final = 8  # up to this many, one by one is faster


class Suffixes(Answers):
    """Thresholds: concept k = 0 .. n is 1 on the points from k on."""

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
        # A sum of integers below 2**53 is exact in floating point.
        total = np.bincount(points, gains).astype(np.int64)
        met = np.flatnonzero(total)
        found: Counts = total[met] @ columns[met].astype(np.int64)
        return found

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        said: NDArray[np.bool_] = self._columns[rows[:, 0], position].view(np.bool_)
        return said


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
        """Return stretches of the points 0 .. n-1."""
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
        # Lines are concatenated; a stretch is a difference of two prefix sums.
        starts = np.cumsum((0, *self.widths[:-1]))
        cells, start = (rows + starts).ravel(), starts[self.line]
        before = np.zeros(whole + 1, dtype=np.int64)
        before[1:] = np.cumsum(np.bincount(cells, np.repeat(gains, self.width), whole))
        return before[start + self.high] - before[start + self.low]

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        return self._hold(position, rows[:, self.line[position]])

    def say(self, positions: Counts, rows: Counts) -> NDArray[np.bool_]:
        """Return the label of each row under the concept at the same index of ``positions``."""
        if self.width == 1:
            return self._hold(positions, rows[:, 0])
        return self._hold(positions, rows[np.arange(len(rows)), self.line[positions]])

    def _hold(self, positions: Counts | int | slice, cells: Counts) -> NDArray[np.bool_]:
        said: NDArray[np.bool_] = self.low[positions] <= cells
        said &= cells < self.high[positions]
        return said


_LARGEST_BLOCK: Final = 1 << 20


class FieldRanges(Answers):
    """Concept i is 1 where its (at most two) conditions hold; nowhere if they are None.

    An extra field with one cell gives every rule two conditions.

    >>> rules = FieldRanges((3, 2), [None, (), ((0, 1, 2),), ((0, 1, 2), (1, 0, 0))])
    >>> rules.sums(np.array([[2, 0], [2, 1], [0, 0]] * 2), np.array([1, 10, 100] * 2)).tolist()
    [0, 222, 22, 2]
    """

    def __init__(
        self, widths: Sequence[int], rules: Sequence[tuple[Condition, ...] | None]
    ) -> None:
        self._width, self._rules = len(widths), rules
        holds, fails = (self._width, 0, 0), (self._width, 1, 0)
        pairs = [(fails, fails) if rule is None else (*rule, holds, holds)[:2] for rule in rules]
        # First axis: the first and the second condition.
        self._fields, self._low, last = np.array(pairs, dtype=np.int64).transpose(2, 1, 0)
        self._high = last + 1
        self._left, self._right = (_Axis((*widths, 1), fields) for fields in self._fields)
        self._met = np.unique(self._fields, axis=1)
        self._corners = [
            (sign * other, self._place(self._fields, np.stack([left, right])))
            for (sign, left), (other, right) in product(
                *([(1, high), (-1, low)] for low, high in zip(self._low, self._high, strict=True))
            )
        ]

    @property
    def width(self) -> int:
        return self._width

    def sums(self, rows: Counts, gains: Counts, /) -> Counts:
        cells = _with_the_last_field(rows)
        sums = self._prefix_sums(cells, gains).ravel()
        first, *others = (sign * sums[places] for sign, places in self._corners)
        return sum(others, first)

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        rule = self._rules[position]
        holds = np.full(len(rows), rule is not None)
        for number, low, high in rule or ():
            column = rows[:, number]
            holds &= (low <= column) & (column <= high)
        return holds

    def _prefix_sums(self, cells: Counts, gains: Counts) -> Counts:
        """Return the two-dimensional prefix sums of gains for pairs of fields.

        Sums of integers below 2**53 are exact in floating point.
        """
        size, step = self._left.size * self._right.size, _LARGEST_BLOCK // self._met.shape[1] + 1
        table = np.zeros(size)
        for start in range(0, len(cells), step):
            block = cells[start : start + step].T[self._met] + 1  # condition × pair × row
            places = self._place(self._met[:, :, None], block).ravel()
            weights = np.tile(gains[start : start + step], self._met.shape[1])
            table += np.bincount(places, weights, minlength=size)
        sums = table.astype(np.int64).reshape(self._left.size, self._right.size)
        for stretch in self._left.stretches:
            np.cumsum(sums[stretch], axis=0, out=sums[stretch])
        for stretch in self._right.stretches:
            np.cumsum(sums[:, stretch], axis=1, out=sums[:, stretch])
        return sums

    def _place(self, fields: Counts, ends: Counts) -> Counts:
        left = self._left.starts[fields[0]] + ends[0]
        places: Counts = left * self._right.size + self._right.starts[fields[1]] + ends[1]
        return places


class _Axis:
    """The prefixes of each used field: its first 0, 1, 2, … cells."""

    def __init__(self, widths: tuple[int, ...], fields: Counts) -> None:
        met, sizes = np.unique(fields), np.array(widths) + 1
        self.starts = np.zeros(len(widths), dtype=np.int64)
        self.starts[met] = np.cumsum(sizes[met]) - sizes[met]
        self.size = int(sizes[met].sum())
        self.stretches = [slice(self.starts[i], self.starts[i] + sizes[i]) for i in met]


def _with_the_last_field(rows: Counts) -> Counts:
    cells = np.zeros((len(rows), rows.shape[1] + 1), dtype=np.int64)
    cells[:, :-1] = rows
    return cells
