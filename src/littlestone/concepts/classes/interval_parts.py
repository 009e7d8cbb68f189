"""The two shapes of a set of intervals that fit some examples."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from littlestone.concepts.dimensions.gaps import (
    cut_dimension,
    gaps_dimension,
    optimal_ones_within,
    optimal_rank,
    pieces,
)
from littlestone.concepts.protocols import Label


@dataclass(frozen=True, slots=True)
class WithinGaps:
    """The intervals that avoid the ``negatives`` (in order), and the empty one."""

    n: int
    negatives: tuple[int, ...]
    _top: list[tuple[int, int]] = field(
        default_factory=list, init=False, repr=False, compare=False, hash=False
    )

    @property
    def size(self) -> int:
        return 1 + sum(gap * (gap + 1) // 2 for _, gap in self.gaps())

    @property
    def dimension(self) -> int:
        (_, largest), (_, second), _ = self._largest()
        return gaps_dimension(largest, second)

    def restrict(self, x: int, y: Label) -> "WithinGaps | AroundPositives | None":
        at = bisect_left(self.negatives, x)
        known = at < len(self.negatives) and self.negatives[at] == x
        low = self.negatives[at - 1] + 1 if at else 0
        if y == 0:
            return self if known else self._cut(at, low, x)
        if known:
            return None
        high = self.negatives[at] - 1 if at < len(self.negatives) else self.n - 1
        return AroundPositives(low, x, x, high)

    def optimal_ones(self) -> Iterator[tuple[int, int]]:
        """Ones fall only into a gap that is larger than all others (the corollary in gaps.py)."""
        (start, largest), (_, second), (_, third) = self._largest()
        ones = optimal_ones_within(largest, second, third)
        return ((start + first - 1, start + last) for first, last in ones)

    def shortest_ones(self) -> Iterator[tuple[int, int]]:
        return iter(())

    def allowing(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """The points of a range at which some interval here has label ``y``."""
        negatives = set(self.negatives) if y else ()
        return (x for x in range(start, stop) if x not in negatives)

    def corners(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Points of a range among which one keeps the largest dimension, then size.

        Between breakpoints the dimension is constant, and the number of intervals around a point
        grows towards the middle of its gap.
        """
        if y == 0:
            at = bisect_left(self.negatives, start)
            if at < len(self.negatives) and self.negatives[at] < stop:
                yield self.negatives[at]  # keeps everything
                return
        for begin, gap in self.gaps():
            if begin + gap <= start or begin >= stop:
                continue
            middles = ((gap + 1) // 2, gap // 2 + 1)
            for first, last in pieces(gap):
                for i in (first, last, *middles, start - begin + 1, stop - begin):
                    if first <= i <= last and start <= begin + i - 1 < stop:
                        yield begin + i - 1

    def gaps(self) -> Iterator[tuple[int, int]]:
        """First point and length of each gap that is not empty."""
        ends = (-1, *self.negatives, self.n)
        return ((low + 1, high - low - 1) for low, high in pairwise(ends) if high > low + 1)

    def _cut(self, at: int, low: int, x: int) -> "WithinGaps":
        """With one more negative; the gap that it cuts starts at ``low``."""
        cut = WithinGaps(self.n, (*self.negatives[:at], x, *self.negatives[at:]))
        if self._top and all(low != start for start, _ in self._top):
            cut._top.extend(self._top)  # the largest gaps are still whole
        return cut

    def _largest(self) -> list[tuple[int, int]]:
        """The three largest gaps; length 0 where there are fewer."""
        if not self._top:
            ends = np.array((-1, *self.negatives, self.n), dtype=np.int64)
            lengths = np.diff(ends) - 1
            order = np.argsort(-lengths, kind="stable")[:3]
            top = [(int(ends[i]) + 1, int(lengths[i])) for i in order]
            self._top.extend(top + [(0, 0)] * (3 - len(top)))
        return self._top


@dataclass(frozen=True, slots=True)
class AroundPositives:
    """The intervals from a in low .. first to b in last .. high."""

    low: int
    first: int
    last: int
    high: int

    @property
    def size(self) -> int:
        return self._lefts * self._rights

    @property
    def dimension(self) -> int:
        return cut_dimension(self._lefts, self._rights)

    def restrict(self, x: int, y: Label) -> "AroundPositives | None":
        low, first, last, high = self.low, self.first, self.last, self.high
        if y:
            if first <= x <= last:
                return self
            if not low <= x <= high:
                return None
            return AroundPositives(low, min(first, x), max(last, x), high)
        if first <= x <= last:
            return None
        if not low <= x <= high:
            return self
        return (
            AroundPositives(max(low, x + 1), first, last, high)
            if x < first
            else (AroundPositives(low, first, last, x - 1))
        )

    def optimal_ones(self) -> Iterator[tuple[int, int]]:
        """Both ends are thresholds, and the two sides do not meet."""
        begin = self.low + optimal_rank(self._lefts) - 1
        end = self.high - optimal_rank(self._rights) + 1
        return iter([(begin, end + 1)])

    def shortest_ones(self) -> Iterator[tuple[int, int]]:
        return iter([(self.first, self.last + 1)])

    def allowing(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """The points of a range at which some interval here has label ``y``."""
        if y:
            yield from range(max(start, self.low), min(stop, self.high + 1))
        else:
            yield from range(start, min(stop, self.first))
            yield from range(max(start, self.last + 1), stop)

    def corners(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Points of a range among which one keeps the largest dimension, then size."""
        del y
        bounds = (0, self.low, self.first, self.last + 1, self.high + 1, stop)
        for begin, end in pairwise(bounds):
            begin, end = max(begin, start), min(end, stop)
            if begin < end:
                yield begin
                yield end - 1

    @property
    def _lefts(self) -> int:
        return self.first - self.low + 1

    @property
    def _rights(self) -> int:
        return self.high - self.last + 1
