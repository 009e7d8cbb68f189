"""Whether some concept fits all examples so far, at the speed of the game."""

from collections.abc import Iterable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import ConceptClass, Label, Point
from littlestone.game.seen import SeenIntegers, SeenKeys

_LARGEST_TABLE: Final = 1 << 22
_MOST_REMEMBERED: Final = 1 << 16


class ConsistencyTracker:
    """Takes examples in canonical form and says whether some concept still fits all of them.

    Once none does, none ever will again. Unlike a version space it changes, and keeps only what
    later examples can contradict.

    >>> tracker = ConsistencyTracker(Thresholds(10))
    >>> tracker.observe(3, 0), tracker.observe(7, 1)
    (True, True)
    >>> tracker.observe_many(np.array([8, 4, 2, 5]), np.array([1, 1, 1, 1]))
    2
    >>> tracker.observe(9, 1)
    False
    """

    __slots__ = ("_tracker",)

    def __init__(self, concepts: ConceptClass) -> None:
        self._tracker = _tracker_for(concepts)

    def observe(self, x: Any, y: Label, /) -> bool:
        """Whether some concept fits this example and all before it."""
        return self._tracker.observe(x, y)

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """How many examples of a block, from its start, some concept fits with all before."""
        labels = np.asarray(ys)
        return self._tracker.observe_many(xs, labels) if len(labels) else 0


class _Tracker(Protocol):
    def observe(self, x: Any, y: Label) -> bool: ...

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int: ...


def _tracker_for(concepts: ConceptClass) -> _Tracker:
    if isinstance(concepts, Thresholds):
        return _ThresholdTracker(concepts)
    if isinstance(concepts, Points):
        return _SparseTracker(1, concepts.n)
    if isinstance(concepts, SparseSets):
        return _SparseTracker(concepts.k, concepts.n)
    if isinstance(concepts, Intervals):
        return _IntervalTracker(concepts.n)
    if isinstance(concepts.domain, IntegerRange) and concepts.domain.size <= _LARGEST_TABLE:
        return _TableTracker(concepts, concepts.domain.size)
    return _PlainTracker(concepts)


class _PlainTracker:
    """Restricts the version space, except for examples that it has met lately."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._check = concepts.domain.check
        self._left = concepts.version_space()
        self._met: set[tuple[Point, Label]] = set()

    def observe(self, x: Any, y: Label) -> bool:
        if (x, y) not in self._met:
            self._left = self._left.restrict(x, y)
            if len(self._met) >= _MOST_REMEMBERED:
                self._met.clear()
            self._met.add((x, y))
        return not self._left.is_empty

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int:
        if not isinstance(xs, np.ndarray) or xs.ndim != 2:
            return _one_by_one(self, map(self._check, xs), ys)
        # Rows of cells or bits: only the first of equal examples can say anything.
        _, firsts = np.unique(np.column_stack([xs, ys]), axis=0, return_index=True)
        for i in np.sort(firsts).tolist():
            if not self.observe(self._check(xs[i]), int(ys[i])):
                return int(i)
        return len(ys)


class _TableTracker:
    """Restricts the version space at each of the 2n possible examples once."""

    def __init__(self, concepts: ConceptClass, n: int) -> None:
        self._left = concepts.version_space()
        self._met = np.zeros(2 * n, dtype=bool)

    def observe(self, x: Any, y: Label) -> bool:
        if not self._met[2 * x + y]:
            self._left = self._left.restrict(x, y)
            self._met[2 * x + y] = True
        return not self._left.is_empty

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int:
        if self._left.is_empty:
            return 0
        examples = 2 * np.asarray(xs) + ys
        for i in np.flatnonzero(~self._met[examples]).tolist():
            if not self.observe(int(xs[i]), int(ys[i])):
                return int(i)
        return len(ys)


class _ThresholdTracker:
    def __init__(self, concepts: Thresholds) -> None:
        self._low, self._high = 0, concepts.n

    def observe(self, x: Any, y: Label) -> bool:
        if y:
            self._high = min(self._high, x)
        else:
            self._low = max(self._low, x + 1)
        return self._low <= self._high

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int:
        points, ones = np.asarray(xs), ys.astype(bool)
        low = max(self._low, int(points.max(where=~ones, initial=-1)) + 1)
        high = min(self._high, int(points.min(where=ones, initial=self._high)))
        if low > high:
            return _one_by_one(self, points.tolist(), ys)
        self._low, self._high = low, high
        return len(ys)


class _SparseTracker:
    """Positives are few; negatives may be millions, and matter when a new positive comes."""

    def __init__(self, k: int, n: int | None) -> None:
        self._k = k
        self._positives: set[Point] = set()
        self._negatives: SeenKeys | SeenIntegers = SeenKeys() if n is None else SeenIntegers(n)
        self._contradicted = False

    def observe(self, x: Any, y: Label) -> bool:
        if x in self._positives:
            self._contradicted |= not y
        elif y:
            self._contradicted |= x in self._negatives or len(self._positives) == self._k
            self._positives.add(x)
        else:
            self._negatives.add(x)
        return not self._contradicted

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int:
        if not isinstance(xs, np.ndarray):
            if set(map(type, xs)) != {int} or not _fits_words(xs):
                return _one_by_one(self, xs, ys)
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
            return _one_by_one(self, xs.tolist(), ys)
        self._positives |= new
        self._negatives.add_many(zeros)
        return len(ys)


class _IntervalTracker:
    """After a positive only the nearest negatives on both sides matter."""

    def __init__(self, n: int) -> None:
        self._negatives = SeenIntegers(n)
        self._met_positive = False
        self._low, self._high = n, -1  # the positives lie from low to high
        self._left, self._right = -1, n  # the nearest negatives, or the ends
        self._contradicted = False

    def observe(self, x: Any, y: Label) -> bool:
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

    def observe_many(self, xs: Any, ys: NDArray[Any]) -> int:
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
            return _one_by_one(self, points.tolist(), ones)
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


def _one_by_one(tracker: _Tracker, xs: Iterable[Any], ys: NDArray[Any]) -> int:
    for i, (x, y) in enumerate(zip(xs, ys.tolist(), strict=True)):
        if not tracker.observe(x, int(y)):
            return i
    return len(ys)
