"""Compute the losses of all concepts of a class, as runs of equal loss.

Thresholds, points and intervals are never listed: their losses are constant between the points that
occurred, so a million concepts cost no more than the examples.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import InRuns, Projecting, Tabular
from littlestone.concepts.hypotheses.runs import StepFunction
from littlestone.concepts.losses.label_counts import Counts, Tallied
from littlestone.concepts.losses.listing import finder, labels_at
from littlestone.concepts.protocols import ConceptClass, Hypothesis, VersionSpace

LARGEST_LIST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LossRuns:
    """Losses of consecutive concepts: run i has ``lengths[i]`` concepts of loss ``losses[i]``.

    Without ``lengths`` each concept is its own run. ``concept`` returns the concept at a position
    of the concatenated runs.
    """

    losses: Counts
    lengths: Sequence[int] | None
    concept: Callable[[int], Hypothesis]


def require_losses(concepts: ConceptClass) -> int:
    """Return the number of concepts; raise if ``losses_on`` cannot handle the class."""
    size = concepts.size
    if size is None:
        raise ValueError(f"concepts must be finitely many, got concepts={concepts!r}")
    if size > LARGEST_LIST and not isinstance(concepts, InRuns):
        raise ValueError(
            f"concepts must be thresholds, points or intervals, or at most {LARGEST_LIST} in "
            f"number, got {size} in concepts={concepts!r}"
        )
    return size


def losses_on(concepts: ConceptClass, tally: Tallied, *, deepest: int) -> LossRuns:
    """Return the mistakes of every concept.

    Losses may be capped at the least loss plus ``deepest``: worse concepts are never drawn.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.concepts.losses.label_counts import tallied
    >>> concepts = Thresholds(2**40)
    >>> runs = losses_on(concepts, tallied(concepts, [(9, 1), (4, 0)]), deepest=9)
    >>> runs.losses.tolist(), runs.lengths
    ([1, 0, 1], [5, 5, 1099511627767])
    >>> runs.concept(7).describe()
    'x >= 7'
    """
    if isinstance(concepts, InRuns):
        return concepts.loss_runs(tally, deepest=deepest)
    losses = tally.losses_of(labels_at(concepts, tally.points))
    return LossRuns(losses, None, finder(concepts))


def threshold_runs(n: int, tally: Tallied, concept: Callable[[int], Hypothesis]) -> LossRuns:
    """Return the losses of 1[x >= k] for k = 0 .. n, which change only at points of the tally."""
    steps = np.concatenate([[tally.zeros.sum()], tally.ones - tally.zeros])
    ends = [*(tally.points + 1).tolist(), n + 1]
    lengths = [end - start for start, end in pairwise([0, *ends])]
    return LossRuns(np.cumsum(steps), lengths, concept)


def point_runs(n: int, tally: Tallied, concept: Callable[[int], Hypothesis]) -> LossRuns:
    """Return the losses of "0 everywhere" (all ones) and of each key (its zeros, others' ones)."""
    everything = int(tally.ones.sum())
    losses, lengths, end = [everything], [1], 0
    own = everything + tally.zeros - tally.ones
    for x, loss in zip(tally.points.tolist(), own.tolist(), strict=True):
        losses += [everything, loss]
        lengths += [x - end, 1]
        end = x + 1
    losses.append(everything)
    lengths.append(n - end)
    return LossRuns(np.array(losses, dtype=np.int64), lengths, concept)


_LISTED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Projection:
    """One row for each labelling; ``concept(i)`` has row i and depends only on the points.

    ``fewest_errors`` takes a tally that contains the points and returns, for each labelling, the
    errors on the whole tally of the best concept with it.
    """

    labels: NDArray[np.uint8]
    concept: Callable[[int], Hypothesis]
    fewest_errors: Callable[[Tallied], Counts]


def project(concepts: ConceptClass, points: Any) -> Projection:
    """Return all labellings of the points, which are distinct (integers sorted).

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> found = project(Thresholds(2**40), np.array([5, 90]))
    >>> found.labels.tolist(), [found.concept(i).k for i in range(3)]
    ([[1, 1], [0, 1], [0, 0]], [0, 6, 91])
    """
    if isinstance(concepts, Projecting):
        return concepts.project(points)
    if isinstance(concepts, Tabular) or (concepts.size or _LISTED + 1) <= _LISTED:
        find = finder(concepts)
        labels, first = np.unique(labels_at(concepts, points), axis=0, return_index=True)

        def concept(row: int) -> Hypothesis:
            return find(int(first[row]))

    else:
        labels, spaces = _split_spaces(concepts, _listed(points))

        def concept(row: int) -> Hypothesis:
            return spaces[row].consistent()

    return Projection(labels, concept, lambda tally: _fewest(concepts, tally, points, labels))


def project_thresholds(
    n: int, points: NDArray[np.int64], concept: Callable[[int], Hypothesis]
) -> Projection:
    """Project thresholds: one labelling up to each point."""
    firsts = [0, *(points + 1).tolist()]
    labels = np.triu(np.ones((len(points) + 1, len(points)), dtype=np.uint8))

    def fewest(tally: Tallied) -> Counts:
        losses = threshold_runs(n, tally, concept).losses
        places = np.searchsorted(tally.points, points) + 1
        found: Counts = np.minimum.reduceat(losses, [0, *places.tolist()])
        return found

    return Projection(labels, lambda row: concept(firsts[row]), fewest)


def project_points(points: Any, concept: Callable[[list[Any]], Hypothesis]) -> Projection:
    """Project points: none, then each alone; ``concept`` is 1 on the keys of a list."""
    keys = _listed(points)
    nothing = np.zeros((1, len(keys)), dtype=np.uint8)
    labels = np.concatenate([nothing, np.eye(len(keys), dtype=np.uint8)])

    def fewest(tally: Tallied) -> Counts:
        places, everything = _places(tally, points), int(tally.ones.sum())
        own = everything + tally.zeros - tally.ones
        others = np.delete(own, places).tolist()
        return np.array([min([everything, *others]), *own[places].tolist()])

    return Projection(labels, lambda row: concept(keys[row - 1 : row]), fewest)


def _fewest(
    concepts: ConceptClass, tally: Tallied, points: Any, labels: NDArray[np.uint8]
) -> Counts:
    everywhere = project(concepts, tally.points).labels
    number = {row.tobytes(): i for i, row in enumerate(labels)}
    rows = [number[row.tobytes()] for row in everywhere[:, _places(tally, points)]]
    fewest = np.full(len(number), np.iinfo(np.int64).max)
    np.minimum.at(fewest, rows, tally.losses_of(everywhere))
    return fewest


def _places(tally: Tallied, points: Any) -> Counts:
    where = {x: place for place, x in enumerate(_listed(tally.points))}
    return np.array([where[x] for x in _listed(points)], dtype=np.int64)


def _listed(points: Any) -> list[Any]:
    return list(points.tolist() if isinstance(points, np.ndarray) else points)


def _split_spaces(
    concepts: ConceptClass, points: list[Any]
) -> tuple[NDArray[np.uint8], list[VersionSpace]]:
    """Split each version space in two, point by point."""
    spaces: list[tuple[VersionSpace, tuple[int, ...]]] = [(concepts.version_space(), ())]
    for x in points:
        split = [(space.restrict(x, y), (*row, y)) for space, row in spaces for y in (0, 1)]
        spaces = [(space, row) for space, row in split if not space.is_empty]
    table = np.array([row for _, row in spaces], dtype=np.uint8).reshape(len(spaces), len(points))
    return table, [space for space, _ in spaces]


def interval_runs(n: int, tally: Tallied, *, deepest: int) -> LossRuns:
    """Return the losses in increasing order with the number of intervals of each.

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
        # The empty interval, and intervals between two neighbouring points.
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
        """Return the interval at a position of the concatenated levels."""
        ends = list(accumulate(self.counts))
        level = bisect_right(ends, position)
        rank = position - (ends[level] - self.counts[level])
        if level == min(
            self.best, self._deepest
        ):  # intervals without gain come first in this level
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
        """Yield, for each last point, the starting places by level, from level ``first``.

        Points at which no interval of a high level ends are skipped.
        """
        starts = np.zeros(self._span, dtype=self._dtype)
        for last, width in enumerate(self._starts):
            starts[self._sums[last] - self._base] += width
            end = self._sums[last + 1]
            if end - self._lowest[last] > self.best - self._deepest:
                low = end - self.best - self._base  # no start has a smaller sum
                yield last, starts[max(low, 0) : low + self._deepest], max(-low, 0)

    def _sizes(self, level: int) -> Iterator[tuple[int, int]]:
        """Return, for each last point, how many intervals of the level end there."""
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
    """Return the interval with this rank among those from ``low`` on, ordered by their ends."""
    end = (isqrt(8 * rank + 1) - 1) // 2
    return low + rank - end * (end + 1) // 2, low + end
