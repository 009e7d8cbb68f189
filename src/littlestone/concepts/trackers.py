"""Track whether some concept fits all examples so far, in little memory."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Tracker
from littlestone.concepts.keys import as_integer
from littlestone.concepts.protocols import Label, Point
from littlestone.type_checks import is_a

_LARGEST_BITMAP: Final = 1 << 26
_BUFFER: Final = 1 << 16
_WORD: Final = np.iinfo(np.int64)


class SeenIntegers:
    """A set of 64-bit integers: a bit map if ``bound`` is small, else sorted blocks.

    Blocks double in length, so each of n integers costs O(log n) merges, and each distinct one
    eight bytes.
    """

    def __init__(self, bound: int | None = None) -> None:
        small = bound is not None and bound <= _LARGEST_BITMAP
        self._bitmap = np.zeros(bound, dtype=bool) if small and bound is not None else None
        self._buffer: list[int] = []
        self._blocks: list[NDArray[np.int64]] = []

    def add(self, x: int) -> None:
        """Add one element."""
        if self._bitmap is not None:
            self._bitmap[x] = True
            return
        self._buffer.append(x)
        if len(self._buffer) >= _BUFFER:
            self._flush()

    def add_many(self, xs: NDArray[np.int64]) -> None:
        """Add many elements."""
        if self._bitmap is not None:
            self._bitmap[xs] = True
        elif len(xs):
            self._merge(np.unique(xs))

    def __contains__(self, x: int) -> bool:
        if self._bitmap is not None:
            return 0 <= x < len(self._bitmap) and bool(self._bitmap[x])
        if not _WORD.min <= x <= _WORD.max:
            return False
        self._flush()
        return any(_at(block, np.searchsorted(block, x)) == x for block in self._blocks)

    def neighbours(self, x: int) -> tuple[int | None, int | None]:
        """Return the nearest members below and above ``x``."""
        self._flush()
        blocks = self._blocks if self._bitmap is None else [np.flatnonzero(self._bitmap)]
        below = [_at(block, np.searchsorted(block, x) - 1) for block in blocks]
        above = [_at(block, np.searchsorted(block, x, side="right")) for block in blocks]
        return (
            max((y for y in below if y is not None), default=None),
            min((y for y in above if y is not None), default=None),
        )

    def _flush(self) -> None:
        if self._buffer:
            self._merge(np.unique(np.array(self._buffer, dtype=np.int64)))
            self._buffer = []

    def _merge(self, block: NDArray[np.int64]) -> None:
        while self._blocks and len(self._blocks[-1]) <= 2 * len(block):
            block = _union(self._blocks.pop(), block)
        self._blocks.append(block)


class SeenKeys:
    """A set of keys of any kind; plain integers are stored compactly."""

    def __init__(self) -> None:
        self._integers = SeenIntegers()
        self._others: set[Point] = set()

    def add(self, x: Point) -> None:
        """Add one element."""
        if type(x) is int and _WORD.min <= x <= _WORD.max:
            self._integers.add(x)
        else:
            self._others.add(x)

    def add_many(self, xs: NDArray[np.int64]) -> None:
        """Add many elements."""
        self._integers.add_many(xs)

    def __contains__(self, x: Point) -> bool:
        whole = as_integer(x)
        return x in self._others or (whole is not None and whole in self._integers)


def _union(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    both = np.concatenate([left, right])
    both.sort(kind="stable")  # merges two sorted runs
    new = np.ones(len(both), dtype=bool)
    np.not_equal(both[1:], both[:-1], out=new[1:])
    distinct: NDArray[np.int64] = both[new]
    return distinct


def _at(block: NDArray[np.int64], position: Any) -> int | None:
    return int(block[position]) if 0 <= position < len(block) else None


class ThresholdTracker(Tracker):
    """Tracks the largest 0 and the smallest 1, between which the thresholds lie."""

    def __init__(self, n: int) -> None:
        self._low, self._high = 0, n

    def observe(self, x: Any, y: Label, /) -> bool:
        if y:
            self._high = min(self._high, x)
        else:
            self._low = max(self._low, x + 1)
        return self._low <= self._high

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        points, ones = np.asarray(xs), ys.astype(bool)
        low = max(self._low, int(points.max(where=~ones, initial=-1)) + 1)
        high = min(self._high, int(points.min(where=ones, initial=self._high)))
        if low > high:
            return one_by_one(self, points.tolist(), ys)
        self._low, self._high = low, high
        return len(ys)


class SparseTracker(Tracker):
    """Tracks few positives and up to millions of negatives, which a new positive must avoid."""

    def __init__(self, k: int, n: int | None) -> None:
        self._k = k
        self._positives: set[Point] = set()
        self._negatives: SeenKeys | SeenIntegers = SeenKeys() if n is None else SeenIntegers(n)
        self._contradicted = False

    def observe(self, x: Any, y: Label, /) -> bool:
        if x in self._positives:
            self._contradicted |= not y
        elif y:
            self._contradicted |= x in self._negatives or len(self._positives) == self._k
            self._positives.add(x)
        else:
            self._negatives.add(x)
        return not self._contradicted

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        if not is_a(xs, np.ndarray):
            if set(map(type, xs)) != {int} or not _fits_words(xs):
                return one_by_one(self, xs, ys)
            xs = np.array(xs, dtype=np.int64)
        ones = ys.astype(bool)
        new = set(np.unique(xs[ones]).tolist()) - self._positives
        zeros = xs[~ones]
        if (
            self._contradicted
            or len(self._positives) + len(new) > self._k
            or any((zeros == x).any() for x in self._positives | new)
            or any(x in self._negatives for x in new)
        ):
            return one_by_one(self, xs.tolist(), ys)
        self._positives |= new
        self._negatives.add_many(zeros)
        return len(ys)


class IntervalTracker(Tracker):
    """Tracks the positives' range; after a positive only the nearest negatives matter."""

    def __init__(self, n: int) -> None:
        self._negatives = SeenIntegers(n)
        self._met_positive = False
        self._low, self._high = n, -1  # the positives lie from low to high
        self._left, self._right = -1, n  # the nearest negatives, or the ends
        self._contradicted = False

    def observe(self, x: Any, y: Label, /) -> bool:
        if y and not self._met_positive:
            self._meet_positive(x)
        elif y:
            self._low, self._high = min(self._low, x), max(self._high, x)
        elif not self._met_positive:
            self._negatives.add(x)
        elif x < self._low:
            self._left = max(self._left, x)
        elif x > self._high:
            self._right = min(self._right, x)
        else:
            self._contradicted = True
        self._contradicted |= self._met_positive and not (
            self._left < self._low and self._high < self._right
        )
        return not self._contradicted

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        points, ones = np.asarray(xs), ys.astype(bool)
        start = 0
        if not self._met_positive:
            start = int(ones.argmax()) if ones.any() else len(ones)
            self._negatives.add_many(points[:start])
            if start == len(ones):
                return start
            if not self.observe(int(points[start]), 1):
                return start
        return start + self._observe_rest(points[start:], ones[start:])

    def _observe_rest(self, points: NDArray[Any], ones: NDArray[Any]) -> int:
        low = int(points.min(where=ones, initial=self._low))
        high = int(points.max(where=ones, initial=self._high))
        zeros = points[~ones]
        left = int(zeros.max(where=zeros < self._low, initial=self._left))
        right = int(zeros.min(where=zeros > self._high, initial=self._right))
        inside = ((zeros >= self._low) & (zeros <= self._high)).any()
        if self._contradicted or inside or not (left < low and high < right):
            return one_by_one(self, points.tolist(), ones)
        self._low, self._high, self._left, self._right = low, high, left, right
        return len(ones)

    def _meet_positive(self, x: int) -> None:
        self._met_positive = True
        self._low = self._high = x
        left, right = self._negatives.neighbours(x)
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        self._contradicted |= x in self._negatives
        self._negatives = SeenIntegers()


def _fits_words(xs: list[int]) -> bool:
    return min(xs) >= -(2**63) and max(xs) < 2**63


class BoxTracker(Tracker):
    """Tracks the hull of the positives; negatives matter when it grows."""

    def __init__(self) -> None:
        self._negatives: set[tuple[int, ...]] = set()
        self._hull: list[tuple[int, int]] | None = None
        self._contradicted = False

    def observe(self, x: Any, y: Label, /) -> bool:
        if self._hull is not None and self._holds(x):
            self._contradicted |= not y
        elif not y:
            self._negatives.add(x)
        else:
            old = self._hull or [(place, place) for place in x]
            pairs = zip(old, x, strict=True)
            self._hull = [(min(a, place), max(b, place)) for (a, b), place in pairs]
            self._contradicted |= any(map(self._holds, self._negatives))
        return not self._contradicted

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        return one_by_one(self, map(tuple, np.asarray(xs).tolist()), ys)

    def _holds(self, x: tuple[int, ...]) -> bool:
        assert self._hull is not None
        return all(a <= place <= b for place, (a, b) in zip(x, self._hull, strict=True))


def one_by_one(tracker: Tracker, xs: Iterable[Any], ys: NDArray[Any]) -> int:
    """Run ``observe`` on a block up to the first contradiction."""
    for i, (x, y) in enumerate(zip(xs, ys.tolist(), strict=True)):
        if not tracker.observe(x, int(y)):
            return i
    return len(ys)
