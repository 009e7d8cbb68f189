"""The losses of all intervals on some examples, counted level by level."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.losses.label_counts import Counts, Tallied
from littlestone.concepts.losses.loss_runs import LossRuns


def interval_runs(n: int, tally: Tallied, *, deepest: int) -> LossRuns:
    """Losses from the least one upwards, how many intervals of 0 .. n-1 have each, and which.

    The last run stands for all intervals whose loss exceeds the least by ``deepest`` or more.
    """
    levels = _Levels(n, tally.points, tally.ones - tally.zeros, deepest)
    losses = int(tally.ones.sum()) - levels.best + np.arange(deepest + 1, dtype=np.int64)
    return LossRuns(losses, levels.counts, levels.interval)


class _Levels:
    """Intervals sorted by gain: the ones inside, less the zeros inside.

    An interval that holds the points numbered i .. l of those that occurred gains
    sum[l + 1] - sum[i]; it begins at one of ``starts[i]`` places and ends at one of ``ends[l]``.
    Level k holds the intervals whose gain is k below the best.
    """

    def __init__(self, n: int, points: Counts, gains: Counts, deepest: int) -> None:
        self._n, self._deepest = n, deepest
        self._points: list[int] = points.tolist()
        bounds = [-1, *self._points, n]
        widths = [high - low for low, high in pairwise(bounds)]
        self._starts, self._ends = widths[:-1], widths[1:]
        # The empty interval, and those that lie between two points that occurred.
        self._outside = 1 + sum((w - 1) * w // 2 for w in widths)
        sums = np.concatenate([[0], np.cumsum(gains)]).astype(np.int64)
        lowest = np.minimum.accumulate(sums[:-1])
        self.best = int((sums[1:] - lowest).max(initial=0))
        self._sums: list[int] = sums.tolist()
        self._lowest: list[int] = lowest.tolist()
        self._base = int(sums.min())
        # A sum of products of lengths is at most n**2.
        self._dtype: Any = np.int64 if n < 1 << 31 else object
        self._span = int(sums.max()) - self._base + deepest + 1
        self.counts = self._count()

    def interval(self, position: int) -> StepFunction:
        """The interval at a position, the levels written out one after another."""
        ends = list(accumulate(self.counts))
        level = bisect_right(ends, position)
        rank = position - (ends[level] - self.counts[level])
        if level == min(self.best, self._deepest):  # where those without gain are, first
            if rank < self._outside:
                return self._outside_interval(rank)
            rank -= self._outside
        for last, size in self._sizes(level):
            if rank < size:
                return self._inside_interval(level, last, rank)
            rank -= size
        raise AssertionError("a position is below the sum of the counts")

    def _count(self) -> list[int]:
        deepest = self._deepest
        counts = np.zeros(deepest, dtype=self._dtype)
        for last, window, first in self._windows():
            counts[first:] += self._ends[last] * window
        levels: list[int] = [int(count) for count in counts]
        if self.best < deepest:
            levels[self.best] += self._outside
        everything = self._n * (self._n + 1) // 2 + 1
        return [*levels, everything - sum(levels)]

    def _windows(self) -> Iterator[tuple[int, NDArray[Any], int]]:
        """For each last point: the places to start at, by level; ``first`` is the first level.

        Points that no interval of an upper level ends with are left out.
        """
        starts = np.zeros(self._span, dtype=self._dtype)
        for last, width in enumerate(self._starts):
            starts[self._sums[last] - self._base] += width
            end = self._sums[last + 1]
            if end - self._lowest[last] > self.best - self._deepest:
                low = end - self.best - self._base  # no start has a smaller sum
                yield last, starts[max(low, 0) : low + self._deepest], max(-low, 0)

    def _sizes(self, level: int) -> Iterator[tuple[int, int]]:
        """For each last point, how many intervals of the level end with it."""
        if level < self._deepest:
            for last, window, first in self._windows():
                if level >= first:
                    yield last, self._ends[last] * int(window[level - first])
            return
        upper = {last: int(window.sum()) for last, window, _ in self._windows()}
        for last, point in enumerate(self._points):
            yield last, self._ends[last] * (point + 1 - upper.get(last, 0))

    def _inside_interval(self, level: int, last: int, rank: int) -> StepFunction:
        place, beyond = divmod(rank, self._ends[last])
        for first in range(last + 1):
            loss = self.best - (self._sums[last + 1] - self._sums[first])
            if min(loss, self._deepest) == level:
                if place < self._starts[first]:
                    begin = self._points[first] - place
                    return self._step(begin, self._points[last] + beyond)
                place -= self._starts[first]
        raise AssertionError("the rank is below the number of places")

    def _outside_interval(self, rank: int) -> StepFunction:
        if rank == 0:
            return StepFunction.from_runs(self._n, ())
        rank -= 1
        bounds = [-1, *self._points, self._n]
        for low, high in pairwise(bounds):
            width = high - low - 1
            if rank < width * (width + 1) // 2:
                return self._step(*_pair(low + 1, rank))
            rank -= width * (width + 1) // 2
        raise AssertionError("the rank is below the number of intervals outside")

    def _step(self, begin: int, end: int) -> StepFunction:
        return StepFunction.from_runs(self._n, [(begin, end + 1)])


def _pair(low: int, rank: int) -> tuple[int, int]:
    """The interval with this rank among those from ``low`` on, ordered by their ends."""
    end = (isqrt(8 * rank + 1) - 1) // 2
    return low + rank - end * (end + 1) // 2, low + end
