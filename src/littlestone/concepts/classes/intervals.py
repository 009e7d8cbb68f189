"""Intervals on a range of integers of any length, in closed form."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import isqrt

import numpy as np

from littlestone import require
from littlestone.concepts.classes.gaps import (
    cut_dimension,
    gaps_dimension,
    optimal_ones_within,
    optimal_rank,
    pieces,
)
from littlestone.concepts.classes.version_spaces import InParts
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.runs import StepFunction, runs_of
from littlestone.concepts.losses.answers import OnLines
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.listing import LARGEST_ARRAY
from littlestone.concepts.losses.loss_runs import LossRuns, interval_runs
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.trackers import IntervalTracker
from littlestone.concepts.witness_lines import IntervalSystem


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
        """The number of concepts."""
        return 1 + sum(gap * (gap + 1) // 2 for _, gap in self.gaps())

    @property
    def dimension(self) -> int:
        """The Littlestone dimension of the remaining concepts; -1 if none."""
        (_, largest), (_, second), _ = self._largest()
        return gaps_dimension(largest, second)

    def restrict(self, x: int, y: Label) -> "WithinGaps | AroundPositives | None":
        """Return the concepts that also label ``x`` with ``y``."""
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
        """Yield ranges of ones; they lie only in a strictly largest gap (corollary in gaps.py)."""
        (start, largest), (_, second), (_, third) = self._largest()
        ones = optimal_ones_within(largest, second, third)
        return ((start + first - 1, start + last) for first, last in ones)

    def shortest_ones(self) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of the shortest run of ones that fits."""
        return iter(())

    def allowing(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Yield the points of a range at which some interval here has label ``y``."""
        negatives = set(self.negatives) if y else ()
        return (x for x in range(start, stop) if x not in negatives)

    def corners(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Yield points of a range, one of which keeps the largest dimension, then size.

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
        """Yield the first point and the length of each non-empty gap."""
        ends = (-1, *self.negatives, self.n)
        return ((low + 1, high - low - 1) for low, high in pairwise(ends) if high > low + 1)

    def _cut(self, at: int, low: int, x: int) -> "WithinGaps":
        """Return the space with one more negative, in the gap that starts at ``low``."""
        cut = WithinGaps(self.n, (*self.negatives[:at], x, *self.negatives[at:]))
        if self._top and all(low != start for start, _ in self._top):
            cut._top.extend(self._top)  # the largest gaps are unchanged
        return cut

    def _largest(self) -> list[tuple[int, int]]:
        """Return the three largest gaps; length 0 where there are fewer."""
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
        """The number of concepts."""
        return self._lefts * self._rights

    @property
    def dimension(self) -> int:
        """The Littlestone dimension of the remaining concepts; -1 if none."""
        return cut_dimension(self._lefts, self._rights)

    def restrict(self, x: int, y: Label) -> "AroundPositives | None":
        """Return the concepts that also label ``x`` with ``y``."""
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
        """Yield ranges of points; both ends are thresholds, and the two sides do not meet."""
        begin = self.low + optimal_rank(self._lefts) - 1
        end = self.high - optimal_rank(self._rights) + 1
        return iter([(begin, end + 1)])

    def shortest_ones(self) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of the shortest run of ones that fits."""
        return iter([(self.first, self.last + 1)])

    def allowing(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Yield the points of a range at which some interval here has label ``y``."""
        if y:
            yield from range(max(start, self.low), min(stop, self.high + 1))
        else:
            yield from range(start, min(stop, self.first))
            yield from range(max(start, self.last + 1), stop)

    def corners(self, y: Label, start: int, stop: int) -> Iterator[int]:
        """Yield points of a range, one of which keeps the largest dimension, then size."""
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


@dataclass(frozen=True, slots=True)
class OnARange(ConceptClass):
    """Shared properties of classes on the points 0 .. n-1."""

    n: int
    domain: IntegerRange = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        object.__setattr__(self, "domain", IntegerRange(self.n))

    @property
    def dual_littlestone_dimension(self) -> int:
        """Intervals from the left end, and thresholds, halve any set of points."""
        return self.n.bit_length() - 1


@require.checked
@dataclass(frozen=True, slots=True)
class Intervals(OnARange):
    """1[a <= x <= b] on the points 0 .. n-1, and 0 everywhere.

    >>> concepts = Intervals(2**40)
    >>> concepts.littlestone_dimension
    78
    >>> seen = concepts.version_space().restrict(500, 1).restrict(100, 0).restrict(1000, 0)
    >>> seen.dimension, seen.standard_optimal().describe()
    (16, '1 on 356-744 out of 0-1099511627775')
    """

    @property
    def size(self) -> int:
        return self.n * (self.n + 1) // 2 + 1

    @property
    def littlestone_dimension(self) -> int:
        return gaps_dimension(self.n)

    @property
    def vc_dimension(self) -> int:
        return min(2, self.n)

    @property
    def dual_vc_dimension(self) -> int:
        """At most 2: three intervals cut a line into at most 7 parts, not 8."""
        return min(2, self.n.bit_length() - 1)

    def version_space(self) -> "IntervalVersionSpace":
        return IntervalVersionSpace(self, WithinGaps(self.n, ()))

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept: all ones minus the best block's gain."""
        saved = best = 0
        for x in sorted(tally, key=self.domain.check):
            zeros, ones = tally[x]
            saved = max(0, saved + ones - zeros)
            best = max(best, saved)
        return sum(ones for _, ones in tally.values()) - best

    def concepts(self) -> Iterator[StepFunction]:
        """Yield the empty interval, then all others by their ends."""
        yield StepFunction.from_runs(self.n, ())
        for a in range(self.n):  # itertools would hold all n points in memory
            for b in range(a, self.n):
                yield StepFunction.from_runs(self.n, [(a, b + 1)])

    def concept(self, position: int, /) -> StepFunction:
        """Return the concept at a position; the last (n-a)(n-a+1)/2 begin at a or later."""
        if position == 0:
            return StepFunction.from_runs(self.n, ())
        behind = self.size - 1 - position
        later = (isqrt(8 * behind + 1) - 1) // 2  # number of later starting points
        a = self.n - 1 - later
        return StepFunction.from_runs(self.n, [(a, self.n - (behind - later * (later + 1) // 2))])

    def on_lines(self) -> OnLines | None:
        """Return the concepts as stretches of lines, or None if some are not."""
        if self.size > LARGEST_ARRAY:
            return None
        starts, ends = np.triu_indices(self.n)
        return OnLines.on_a_line(self.n, np.r_[0, starts], np.r_[0, ends + 1])

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        """Return the losses of all concepts as runs of equal losses."""
        require.integer(deepest=deepest, at_least=0, at_most=2 * LARGEST_ARRAY)
        return interval_runs(self.n, tally, deepest=deepest)

    def tracker(self) -> IntervalTracker:
        """Return a new consistency tracker."""
        return IntervalTracker(self.n)

    @property
    def most_changes(self) -> int:
        """The largest number of label changes along the line."""
        return 2

    def agreed(self) -> tuple[Example, int]:
        """Return a point inside; from it, both ends are independent thresholds."""
        system = self.witness_system()
        return (system.deepest, 1), system.rank

    def witness_system(self) -> IntervalSystem:
        """Return the witness system, or None if it has too many keys."""
        return IntervalSystem(self.n, partial(_interval, self.n))


def _interval(n: int, ends: tuple[tuple[int, int], ...] | None) -> StepFunction:
    return StepFunction.from_runs(n, [(low, high + 1) for low, high in ends or ()])


@dataclass(frozen=True, slots=True)
class IntervalVersionSpace(InParts):
    """The intervals that fit the examples: within gaps, then around the positives, then none."""

    concept_class: Intervals
    part: WithinGaps | AroundPositives | None

    def standard_optimal(self) -> StepFunction:
        """Return the standard optimal hypothesis; an interval once there is a positive."""
        return StepFunction.from_runs(self.concept_class.n, self._some_part().optimal_ones())

    def consistent(self) -> StepFunction:
        """Return the shortest interval left."""
        return StepFunction.from_runs(self.concept_class.n, self._some_part().shortest_ones())

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield the mistakes in the order of the points."""
        if self.part is None:
            return
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            for x in self.part.allowing(1 - label, start, stop):
                yield x, 1 - label

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the hardest mistake; among equals, the smallest point."""
        part = self.part
        if part is None:
            return None
        found = [
            (left.dimension, left.size, -x, 1 - label)
            for start, stop, label in runs_of(hypothesis, self.concept_class.n)
            for x in part.corners(1 - label, start, stop)
            if (left := part.restrict(x, 1 - label)) is not None
        ]
        if not found:
            return None
        _, _, negated, y = max(found)
        return -negated, y


CLASSES = (
    ClassEntry(
        name="intervals",
        build=Intervals,
        example="intervals:64",
        summary="1[a <= x <= b] on the points 0 .. n-1, and the empty interval",
    ),
)
