"""Rules over records that look at two fields at most, added up by pairs of fields.

How much was gained in each pair of cells of two fields is all that a rule of two conditions needs;
this table has as many entries as there are pairs of cells, not as many as there are records.
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Answers
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.schema import Condition

_LARGEST_BLOCK: Final = 1 << 20


class FieldRanges(Answers):
    """Concept i is 1 where its conditions hold, at most two; nowhere if they are None.

    A last field that has one cell comes to the others, so that every rule has two conditions.

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
        # First axis: of the first and of the second condition.
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
        """What was gained in the first so many cells of a field and the first so many of another.

        Sums of whole numbers below 2**53 are exact in floating point.
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
    """A stretch for each field that is met: its first 0, 1, 2, … cells."""

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
