"""Check every example before it counts, and find the best concept in hindsight."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Trackable, Tracker
from littlestone.concepts.domain import IntegerRange, LabelledRange
from littlestone.concepts.protocols import Domain, Example, Label, OnlineClass, Point, VersionSpace
from littlestone.concepts.schema import label_values
from littlestone.concepts.trackers import one_by_one
from littlestone.errors import NotRealizableError
from littlestone.type_checks import is_a

_LARGEST_TABLE: Final = 1 << 21
_RANGES: Final = (IntegerRange, LabelledRange)


class ExampleCounts:
    """Counts of examples in canonical form, added one by one or block by block."""

    def __init__(self, domain: Domain) -> None:
        self.singles: defaultdict[Example, int] = defaultdict(int)
        """For the loop to add to."""
        self._check = domain.check
        self._labels = len(label_values(domain))
        self._waiting: list[NDArray[np.int64]] = []
        self._many_waiting = 0
        # Entry Kx + y of the table counts (x, y), for K labels; other domains have no table.
        entries = self._labels * domain.size if isinstance(domain, _RANGES) else 0
        self._table = np.zeros(entries if entries <= _LARGEST_TABLE else 0, dtype=np.int64)

    def add_block(self, points: Any, labels: NDArray[np.uint8]) -> None:
        """Count a block of examples."""
        if len(self._table):
            self._waiting.append(self._labels * points + labels)
            self._many_waiting += len(labels)
            # Adding to the table takes time in its length, so examples are buffered.
            if self._many_waiting >= len(self._table):
                self._enter()
            return
        check = self._check
        for x, y in zip(points, labels.tolist(), strict=True):
            self.singles[check(x), y] += 1

    def tally(self) -> dict[Point, tuple[int, ...]]:
        """Return how often each point came with each label."""
        counts = defaultdict[Point, list[int]](lambda: [0] * self._labels)
        for (x, y), times in self.singles.items():
            counts[x][y] += times
        self._enter()
        by_point = self._table.reshape(-1, self._labels)
        for x in np.flatnonzero(by_point.any(axis=1)).tolist():
            counts[x] = list(map(int.__add__, counts[x], by_point[x].tolist()))
        return {x: tuple(each) for x, each in counts.items()}

    def _enter(self) -> None:
        if self._waiting:
            codes = np.concatenate(self._waiting)
            self._table += np.bincount(codes, minlength=len(self._table))
            self._waiting, self._many_waiting = [], 0


_LARGEST_BITMAP: Final = 1 << 23


@require.checked
class ConsistencyTracker:
    """Takes examples in canonical form and reports whether some concept still fits all of them.

    Unlike a version space it is mutable, and it stores only what later examples can contradict.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> tracker = ConsistencyTracker(Thresholds(10))
    >>> tracker.observe(3, 0), tracker.observe(7, 1)
    (True, True)
    >>> tracker.observe_many(np.array([8, 4, 2, 5]), np.array([1, 1, 1, 1]))
    2
    >>> tracker.observe(9, 1)
    False
    """

    def __init__(self, concepts: OnlineClass) -> None:
        self._tracker, self._domain = _tracker_for(concepts), concepts.domain
        self._labels = len(label_values(concepts.domain))

    def observe(self, x: Any, y: Label, /) -> bool:
        """Return whether some concept fits this example and all before it."""
        return self._tracker.observe(self._domain.check(x), require.label(y, count=self._labels))

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """Return how many leading examples of a block some concept fits, with all before."""
        points, labels = self._domain.check_many(xs), require.labels(ys, self._labels)
        if len(points) != len(labels):
            raise ValueError(f"xs and ys must be equally long, got {len(points)}, {len(labels)}")
        return self._tracker.observe_many(points, labels) if len(labels) else 0


def contradicted(
    concepts: OnlineClass, played: Sequence[Example], example: Example
) -> list[Example]:
    """Return a minimal set of played examples that contradicts ``example``.

    Empty if some concept fits all of them. Some concept must fit the played ones.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> contradicted(Thresholds(10), [(3, 0), (7, 1)], (8, 0))
    [(7, 1)]
    >>> contradicted(Thresholds(10), [(3, 0), (7, 1)], (5, 0))
    []
    """
    alone = concepts.version_space().restrict(*example)
    for other in played:
        if alone.restrict(*other).is_empty:  # the usual reason, found quickly
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


def _tracker_for(concepts: OnlineClass) -> Tracker:
    if isinstance(concepts, Trackable):
        return concepts.tracker()
    labels = len(label_values(concepts.domain))
    if isinstance(concepts.domain, _RANGES) and labels * concepts.domain.size <= _LARGEST_BITMAP:
        return _TableTracker(concepts, concepts.domain.size, labels)
    return _PlainTracker(concepts)


class _PlainTracker:
    """Restricts the version space, except for recent duplicates."""

    def __init__(self, concepts: OnlineClass) -> None:
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
        if not is_a(xs, np.ndarray) or xs.ndim != 2:
            return one_by_one(self, map(self._check, xs), ys)
        # Rows of cells or bits: repeated examples carry no information.
        _, firsts = np.unique(np.column_stack([xs, ys]), axis=0, return_index=True)
        for i in np.sort(firsts).tolist():
            if not self.observe(self._check(xs[i]), int(ys[i])):
                return int(i)
        return len(ys)


class _TableTracker:
    """Restricts the version space once for each of the possible examples."""

    def __init__(self, concepts: OnlineClass, n: int, labels: int) -> None:
        self._left, self._labels = concepts.version_space(), labels
        self._met = np.zeros(labels * n, dtype=bool)

    def observe(self, x: Any, y: Label, /) -> bool:
        example = self._labels * x + y
        if not self._met[example]:
            self._left = self._left.restrict(x, y)
            self._met[example] = True
        return not self._left.is_empty

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        if self._left.is_empty:
            return 0
        examples = self._labels * np.asarray(xs) + ys
        for i in np.flatnonzero(~self._met[examples]).tolist():
            if not self.observe(int(xs[i]), int(ys[i])):
                return int(i)
        return len(ys)


_MOST_REMEMBERED: Final = 1 << 16
_REMEMBERED_OF_A_BLOCK: Final = 1 << 10


class Referee:
    """Validates examples, checks that a realizable adversary is consistent, and counts for regret.

    Against a realizable adversary it stores only what the consistency check needs. Otherwise it
    counts examples, and memory grows with the number of distinct ones.
    """

    def __init__(self, concepts: OnlineClass, *, realizable: bool) -> None:
        self._concepts = concepts
        self._domain = concepts.domain
        self._labels = len(label_values(concepts.domain))
        self._tracker = ConsistencyTracker(concepts) if realizable else None
        self._counts = ExampleCounts(concepts.domain)
        self.admitted: dict[Any, Example] = {}
        """Recent examples as they came → as they are; the loop looks here before it asks."""

    @property
    def singles(self) -> defaultdict[Example, int] | None:
        """Where the loop counts single rounds; None when no count is needed."""
        return None if self._tracker else self._counts.singles

    def admit(self, example: Any, round_number: int) -> Example:
        """Return the example in canonical form, or raise an error that names the round."""
        try:
            x, y = example
            x, y = self._domain.check(x), require.label(y, count=self._labels)
        except (TypeError, ValueError) as refusal:
            raise ValueError(f"round {round_number}: {refusal}") from None
        if self._tracker is not None and not self._tracker.observe(x, y):
            raise _contradiction(round_number)
        self._remember(example, (x, y))
        return x, y

    def admit_many(self, xs: Any, ys: Any, round_number: int) -> tuple[Any, NDArray[np.uint8]]:
        """Return the valid examples at the head of a block; raise if its first is not valid."""
        try:
            points, labels = self._domain.check_many(xs), require.labels(ys, self._labels)
        except (TypeError, ValueError):
            valid = self._leading_valid(xs, ys, round_number)
            points = self._domain.check_many(xs[:valid])
            labels = require.labels(ys[:valid], self._labels)
        if not 0 < len(labels) == len(points):
            raise ValueError(
                f"round {round_number}: a plan needs equally many points and labels, "
                f"got {len(points)} and {len(labels)}"
            )
        return points, labels

    def count(self, points: Any, labels: NDArray[np.uint8], round_number: int) -> None:
        """Count a block of admitted examples that were played."""
        if self._tracker is None:
            self._counts.add_block(points, labels)
            return
        # Slow for lists, and not needed if all examples are known.
        distinct = set() if isinstance(points, np.ndarray) else _distinct(points, labels)
        if distinct and distinct <= self.admitted.keys():
            return
        consistent = self._tracker.observe_many(points, labels)
        if consistent < len(labels):
            raise _contradiction(round_number + consistent)
        for example in islice(distinct, _REMEMBERED_OF_A_BLOCK):
            self._remember(example, example)

    def fewest_so_far(self) -> int | None:
        """Return 0 against a realizable adversary, else None (a search at the end decides)."""
        return None if self._tracker is None else 0

    def fewest_mistakes(self) -> int | None:
        """Return the mistakes of the best concept in hindsight.

        None if the class cannot compute it.
        """
        if self._tracker is not None:
            return 0
        try:
            return self._concepts.fewest_mistakes(self._counts.tally())
        except ValueError:  # halfspaces: too hard a search
            return None

    def _leading_valid(self, xs: Any, ys: Any, round_number: int) -> int:
        for i, (x, y) in enumerate(zip(xs, ys, strict=False)):
            try:
                self._domain.check(x)
                require.label(y, count=self._labels)
            except (TypeError, ValueError) as refusal:
                if i:
                    return i
                raise ValueError(f"round {round_number}: {refusal}") from None
        return min(len(xs), len(ys))

    def _remember(self, example: Any, canonical: Example) -> None:
        try:
            if len(self.admitted) >= _MOST_REMEMBERED:
                self.admitted.clear()
            self.admitted[example] = canonical
        except TypeError:  # not hashable, as records: checked each time
            pass


def _distinct(points: Any, labels: NDArray[np.uint8]) -> set[Example]:
    return set(zip(points, labels.tolist(), strict=True))


def _contradiction(round_number: int) -> NotRealizableError:
    return NotRealizableError(
        f"round {round_number}: the adversary promised that some concept fits all its examples, "
        f"and none does any more",
        round_number=round_number,
    )
