"""Count examples by the cells of two or three fields: all that pairs and triples of questions need.

A question holds in some cells of one field. So how many examples answer three questions follows
from a table over the cells of three fields, which one pass over the records fills, however many
questions there are.
"""

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The most triples of questions whose counts are held in memory.
_MOST_TRIPLES: Final = 1 << 21
# A pass over the records costs about as much as a matrix product for this many pairs of questions.
_PASS: Final = 20
# Pairs of cells that are counted at once: they fit into the cache.
_AT_ONCE: Final = 1 << 15


class CellTables:
    """Counts of all pairs and triples of questions, from tables over the cells of their fields."""

    def __init__(self, conditions: Sequence[tuple[int, int, int]], widths: Sequence[int]) -> None:
        """``conditions`` are (field, first cell, last cell), ``widths`` the cells of each field."""
        self._widths = widths
        self._count = len(conditions)
        parts, lows, highs = np.array(conditions, dtype=np.int64).reshape(-1, 3).T
        order = np.argsort(parts, kind="stable")  # questions about one field lie together
        self._back = np.argsort(order) if (np.diff(parts) < 0).any() else None
        self._questions: dict[int, slice] = {}
        self._holds: dict[int, Floats] = {}
        """For each field, in which of its cells each question about it holds."""
        for part, first, often in zip(
            *np.unique(parts[order], return_index=True, return_counts=True), strict=True
        ):
            mine, cell = order[first : first + often], np.arange(widths[part])[:, None]
            self._questions[int(part)] = slice(first, first + often)
            self._holds[int(part)] = ((lows[mine] <= cell) & (cell <= highs[mine])).astype(float)
        self._starts = np.cumsum([0, *widths])[:-1]
        self._first, self._last = self._starts[parts] + lows, self._starts[parts] + highs

    @staticmethod
    @lru_cache(maxsize=16)
    def of(conditions: tuple[tuple[int, int, int], ...], widths: tuple[int, ...]) -> "CellTables":
        """Return the tables for these questions, which are made once."""
        return CellTables(conditions, widths)

    @cached_property
    def _every(self) -> Floats:
        """In which cells of all fields each question holds, in the order of the conditions."""
        cell = np.arange(sum(self._widths))[:, None]
        return ((self._first <= cell) & (cell <= self._last)).astype(float)

    @property
    def pays_off(self) -> bool:
        """Whether this is faster than evaluating every pair of questions on every record."""
        few = self._count**3 <= _MOST_TRIPLES and max(self._widths, default=0) <= self._count + 1
        return few and self._count**2 > _PASS * len(self._questions) ** 2

    def pairs(self, cells: NDArray[np.int64], weights: Floats) -> Floats:
        """Return, for each pair of questions, the weight of the records for which both hold."""
        total, holds = len(self._every), self._every
        table = np.zeros(total * total)
        one, other = np.triu_indices(len(self._widths))
        step = max(1, _AT_ONCE // max(1, len(one)))
        for start in range(0, len(cells), step):
            # The cells of all fields are numbered one after another.
            numbers = cells[start : start + step].T + self._starts[:, None]
            both = (total * numbers)[one]
            both += numbers[other]
            often = np.broadcast_to(weights[start : start + step], both.shape)
            table += np.bincount(both.ravel(), often.ravel(), minlength=total * total)
        square = table.reshape(total, total)
        return np.asarray(holds.T @ (square + square.T - np.diag(square.diagonal())) @ holds)

    def triples(self, cells: NDArray[np.int64], weights: Floats) -> Floats:
        """Return, for each triple of questions, the weight of the records for which all hold."""
        counts = np.empty((self._count,) * 3)
        for part in self._questions:
            table, both = self._table(cells, weights, part), self._both(part)
            self._put(counts, both.T @ (table[:, None] * self._holds[part]), part, part, part)
        for one, other in combinations(self._questions, 2):
            table = self._table(cells, weights, one, other)
            self._put(counts, self._both(one).T @ table @ self._holds[other], one, one, other)
            self._put(counts, self._holds[one].T @ table @ self._both(other), one, other, other)
        for fields in combinations(self._questions, 3):
            first, second, third = (self._holds[part] for part in fields)
            inner = second.T @ (self._table(cells, weights, *fields) @ third)
            self._put(counts, first.T @ inner.reshape(len(inner), -1), *fields)
        return self._ordered(counts)

    def _table(self, cells: NDArray[np.int64], weights: Floats, *fields: int) -> Floats:
        """Return the weight of the records in each combination of cells of some fields."""
        shape = tuple(self._widths[part] for part in fields)
        numbers = cells[:, fields[0]]
        for part, width in zip(fields[1:], shape[1:], strict=True):
            numbers = numbers * width + cells[:, part]
        counted = np.bincount(numbers, weights, minlength=math.prod(shape))
        return np.asarray(counted, dtype=np.float64).reshape(shape)

    def _both(self, part: int) -> Floats:
        """Return in which cells of a field two questions about it both hold, for all pairs."""
        holds = self._holds[part]
        return (holds[:, :, None] * holds[:, None, :]).reshape(len(holds), -1)

    def _put(self, counts: Floats, found: Floats, *fields: int) -> None:
        """Write counts for questions about these fields, in every order."""
        chosen = [self._questions[part] for part in fields]
        block = found.reshape([some.stop - some.start for some in chosen])
        for order in permutations(range(len(fields))):
            counts[tuple(chosen[place] for place in order)] = block.transpose(order)

    def _ordered(self, counts: Floats) -> Floats:
        """Return the counts in the order of the conditions."""
        back = self._back
        return counts if back is None else counts[np.ix_(*(back for _ in counts.shape))]
