"""Intervals on a range of integers, in closed form however long the range is."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from math import isqrt

import numpy as np

from littlestone import require
from littlestone.concepts.classes.interval_parts import AroundPositives, WithinGaps
from littlestone.concepts.classes.version_spaces import InParts
from littlestone.concepts.dimensions.gaps import gaps_dimension
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import runs_of
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.losses.interval_losses import interval_runs
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.listing import LARGEST_ARRAY
from littlestone.concepts.losses.loss_runs import LossRuns
from littlestone.concepts.losses.on_lines import OnLines
from littlestone.concepts.protocols import Example, Hypothesis, Tally
from littlestone.concepts.trackers import IntervalTracker
from littlestone.concepts.witnesses.box_system import BoxSystem


@dataclass(frozen=True, slots=True)
class OnARange:
    """What is known about functions on the points 0 .. n-1."""

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
        """Three intervals cut a line into at most 7 parts, and 8 would be needed."""
        return min(2, self.n.bit_length() - 1)

    def version_space(self) -> "IntervalVersionSpace":
        return IntervalVersionSpace(self, WithinGaps(self.n, ()))

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """All the ones, less what the best block of neighbouring points saves."""
        saved = best = 0
        for x in sorted(tally, key=self.domain.check):
            zeros, ones = tally[x]
            saved = max(0, saved + ones - zeros)
            best = max(best, saved)
        return sum(ones for _, ones in tally.values()) - best

    def concepts(self) -> Iterator[StepFunction]:
        """The empty interval, then all others by their ends."""
        yield StepFunction.from_runs(self.n, ())
        for a in range(self.n):  # itertools would hold all n points in memory
            for b in range(a, self.n):
                yield StepFunction.from_runs(self.n, [(a, b + 1)])

    def concept(self, position: int, /) -> StepFunction:
        """Those with the last n - a beginnings are the last (n-a)(n-a+1)/2."""
        if position == 0:
            return StepFunction.from_runs(self.n, ())
        behind = self.size - 1 - position
        later = (isqrt(8 * behind + 1) - 1) // 2  # how many beginnings come after this one
        a = self.n - 1 - later
        return StepFunction.from_runs(self.n, [(a, self.n - (behind - later * (later + 1) // 2))])

    def on_lines(self) -> OnLines | None:
        if self.size > LARGEST_ARRAY:
            return None
        starts, ends = np.triu_indices(self.n)
        return OnLines.on_a_line(self.n, np.r_[0, starts], np.r_[0, ends + 1])

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        require.integer(deepest=deepest, at_least=0, at_most=2 * LARGEST_ARRAY)
        return interval_runs(self.n, tally, deepest=deepest)

    def tracker(self) -> IntervalTracker:
        return IntervalTracker(self.n)

    @property
    def most_changes(self) -> int:
        return 2

    def witness_system(self) -> BoxSystem:
        return BoxSystem(1, self.n, partial(_interval, self.n))


def _interval(n: int, ends: tuple[tuple[int, int], ...] | None) -> StepFunction:
    return StepFunction.from_runs(n, [(low, high + 1) for low, high in ends or ()])


@dataclass(frozen=True, slots=True)
class IntervalVersionSpace(InParts):
    """The intervals that fit the examples: within gaps, then around the positives, then none."""

    concept_class: Intervals
    part: WithinGaps | AroundPositives | None

    def standard_optimal(self) -> StepFunction:
        """Before the first positive it need not be an interval; after it, it is one."""
        return StepFunction.from_runs(self.concept_class.n, self._some_part().optimal_ones())

    def consistent(self) -> StepFunction:
        """The shortest interval left."""
        return StepFunction.from_runs(self.concept_class.n, self._some_part().shortest_ones())

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """In the order of the points."""
        if self.part is None:
            return
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            for x in self.part.allowing(1 - label, start, stop):
                yield x, 1 - label

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Among equals, the smallest point."""
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
