"""Whether some concept fits all examples so far, at the speed of the game."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Trackable, Tracker
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import ConceptClass, Example, Label, Point, VersionSpace
from littlestone.concepts.trackers import one_by_one

_LARGEST_TABLE: Final = 1 << 22
_MOST_REMEMBERED: Final = 1 << 16


@require.checked
class ConsistencyTracker:
    """Takes examples in canonical form and says whether some concept still fits all of them.

    Once none does, none ever will again. Unlike a version space it changes, and keeps only what
    later examples can contradict.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> tracker = ConsistencyTracker(Thresholds(10))
    >>> tracker.observe(3, 0), tracker.observe(7, 1)
    (True, True)
    >>> tracker.observe_many(np.array([8, 4, 2, 5]), np.array([1, 1, 1, 1]))
    2
    >>> tracker.observe(9, 1)
    False
    """

    def __init__(self, concepts: ConceptClass) -> None:
        self._tracker, self._domain = _tracker_for(concepts), concepts.domain

    def observe(self, x: Any, y: Label, /) -> bool:
        """Whether some concept fits this example and all before it."""
        return self._tracker.observe(self._domain.check(x), require.label(y))

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """How many examples of a block, from its start, some concept fits with all before."""
        points, labels = self._domain.check_many(xs), require.labels(ys)
        if len(points) != len(labels):
            raise ValueError(f"xs and ys must be equally long, got {len(points)}, {len(labels)}")
        return self._tracker.observe_many(points, labels) if len(labels) else 0


def contradicted(
    concepts: ConceptClass, played: Sequence[Example], example: Example
) -> list[Example]:
    """Examples among those played with which no concept fits ``example``, none to spare.

    Empty if some concept fits it and all that were played; some concept must fit those.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> contradicted(Thresholds(10), [(3, 0), (7, 1)], (8, 0))
    [(7, 1)]
    >>> contradicted(Thresholds(10), [(3, 0), (7, 1)], (5, 0))
    []
    """
    alone = concepts.version_space().restrict(*example)
    for other in played:
        if alone.restrict(*other).is_empty:  # the usual reason, found at once
            return [other]
    if _fits(alone, played):
        return []
    blamed = list(played)
    for other in played:
        rest = [one for one in blamed if one != other]
        if not _fits(alone, rest):
            blamed = rest
    return blamed


def _fits(space: VersionSpace, examples: Iterable[Example]) -> bool:
    for example in examples:
        space = space.restrict(*example)
    return not space.is_empty


def _tracker_for(concepts: ConceptClass) -> Tracker:
    if isinstance(concepts, Trackable):
        return concepts.tracker()
    if isinstance(concepts.domain, IntegerRange) and concepts.domain.size <= _LARGEST_TABLE:
        return _TableTracker(concepts, concepts.domain.size)
    return _PlainTracker(concepts)


class _PlainTracker:
    """Restricts the version space, except for examples that it has met lately."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._check = concepts.domain.check
        self._left = concepts.version_space()
        self._met: set[tuple[Point, Label]] = set()

    def observe(self, x: Any, y: Label, /) -> bool:
        if (x, y) not in self._met:
            self._left = self._left.restrict(x, y)
            if len(self._met) >= _MOST_REMEMBERED:
                self._met.clear()
            self._met.add((x, y))
        return not self._left.is_empty

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        if not isinstance(xs, np.ndarray) or xs.ndim != 2:
            return one_by_one(self, map(self._check, xs), ys)
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

    def observe(self, x: Any, y: Label, /) -> bool:
        if not self._met[2 * x + y]:
            self._left = self._left.restrict(x, y)
            self._met[2 * x + y] = True
        return not self._left.is_empty

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        if self._left.is_empty:
            return 0
        examples = 2 * np.asarray(xs) + ys
        for i in np.flatnonzero(~self._met[examples]).tolist():
            if not self.observe(int(xs[i]), int(ys[i])):
                return int(i)
        return len(ys)
