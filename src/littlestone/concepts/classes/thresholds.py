"""Thresholds on a range of integers of any length, in closed form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.gaps import optimal_rank
from littlestone.concepts.classes.intervals import Intervals, OnARange
from littlestone.concepts.classes.version_spaces import Remaining
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.common import Written
from littlestone.concepts.hypotheses.runs import Run, first_difference, runs_of
from littlestone.concepts.losses.answers import MOST_CELLS, OnLines, Suffixes
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_runs import (
    LossRuns,
    Projection,
    project_thresholds,
    threshold_runs,
)
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.trackers import ThresholdTracker
from littlestone.concepts.witness_lines import ThresholdSystem
from littlestone.concepts.witness_systems import ThresholdWitnesses


@dataclass(frozen=True, slots=True)
class ThresholdHypothesis(Written):
    """1[x >= k] on the points 0 .. n-1; k = n is 0 everywhere.

    >>> rule = ThresholdHypothesis(n=16, k=5)
    >>> rule(4), rule(5), rule.describe(), rule.disagreement(ThresholdHypothesis(n=16, k=9))
    (0, 1, 'x >= 5', 5)
    """

    kind: ClassVar[str] = "threshold"
    n: int
    k: int

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        require.integer(k=self.k, at_least=0, at_most=self.n)

    @property
    def domain(self) -> IntegerRange:
        """The points that have a label."""
        return IntegerRange(self.n)

    def __call__(self, x: Any, /) -> Label:
        if type(x) is int and 0 <= x < self.n:
            return 1 if x >= self.k else 0
        return 1 if self.domain.check(x) >= self.k else 0

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        labels: NDArray[np.uint8] = (self.domain.check_many(xs) >= self.k).view(np.uint8)
        return labels

    def runs(self) -> Iterator[Run]:
        """Yield (start, stop, label) for each run of equal labels."""
        if self.k > 0:
            yield 0, self.k, 0
        if self.k < self.n:
            yield self.k, self.n, 1

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """Return the smallest point on which the two differ."""
        if isinstance(other, ThresholdHypothesis) and other.n == self.n:
            return None if other.k == self.k else min(self.k, other.k)
        return first_difference(self, other, self.n)

    def describe(self) -> str:
        return f"x >= {self.k}"


@require.checked
@dataclass(frozen=True, slots=True)
class Thresholds(OnARange):
    """1[x >= k] on the points 0 .. n-1, for k = 0 .. n.

    >>> concepts = Thresholds(2**40)
    >>> concepts.littlestone_dimension
    40
    >>> concepts.version_space().restrict(1000, 1).standard_optimal().describe()
    'x >= 511'
    """

    @property
    def size(self) -> int:
        return self.n + 1

    @property
    def littlestone_dimension(self) -> int:
        return (self.n + 1).bit_length() - 1

    @property
    def vc_dimension(self) -> int:
        return 1

    @property
    def dual_vc_dimension(self) -> int:
        return min(1, self.n - 1)

    def version_space(self) -> "ThresholdVersionSpace":
        return ThresholdVersionSpace(self, 0, self.n)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept, in one pass over the sorted tally."""
        mistakes = fewest = sum(zeros for zeros, _ in tally.values())
        for x in sorted(tally, key=self.domain.check):
            zeros, ones = tally[x]
            mistakes += ones - zeros
            fewest = min(fewest, mistakes)
        return fewest

    def concepts(self) -> Iterator[ThresholdHypothesis]:
        return map(self.concept, range(self.n + 1))

    def concept(self, position: int, /) -> ThresholdHypothesis:
        """Return the concept at a position of ``concepts()``."""
        return ThresholdHypothesis(self.n, position)

    def constant(self, label: Label) -> ThresholdHypothesis:
        """Return the concept with this label everywhere."""
        return ThresholdHypothesis(self.n, 0 if label else self.n)

    def majority_of(self, chosen: Sequence[int], /) -> ThresholdHypothesis:
        """Return the majority vote, which is the median threshold."""
        if not len(chosen):
            raise ValueError("chosen must not be empty")
        return self.concept(sorted(chosen)[len(chosen) // 2])

    def answers(self) -> Suffixes:
        """Return the labels under all concepts, or None if they need too much memory."""
        return Suffixes(self.n)

    def on_lines(self) -> OnLines | None:
        """Return the concepts as stretches of lines, or None if some are not."""
        if self.n > MOST_CELLS:
            return None
        starts = np.arange(self.n + 1)
        return OnLines.on_a_line(self.n, starts, np.full(self.n + 1, self.n))

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        """Return the losses of all concepts as runs of equal losses."""
        del deepest  # all losses are exact
        return threshold_runs(self.n, tally, self.concept)

    def project(self, points: Any, /) -> Projection:
        """Return the labellings that the class gives to these points."""
        return project_thresholds(self.n, self.domain.check_many(points), self.concept)

    def tracker(self) -> ThresholdTracker:
        """Return a new consistency tracker."""
        return ThresholdTracker(self.n)

    def agreed(self) -> tuple[Example, int]:
        """Return the last point with label 1, which leaves n thresholds."""
        return (self.n - 1, 1), self.n.bit_length() - 1

    def witness_system(self) -> ThresholdSystem:
        """Return the witness system, or None if it has too many keys."""
        return ThresholdSystem(self.n, partial(ThresholdHypothesis, self.n))

    def witnesses(self) -> ThresholdWitnesses:
        """Return the witnesses of one phase, or None if there are too many."""
        return ThresholdWitnesses()

    @property
    def most_changes(self) -> int:
        """The largest number of label changes along the line."""
        return 1

    def differences(self) -> ConceptClass:
        """Return the intervals: two thresholds differ on one."""
        return Intervals(self.n)


@dataclass(frozen=True, slots=True)
class ThresholdVersionSpace(Remaining):
    """The thresholds from ``low`` to ``high``, both included."""

    concept_class: Thresholds
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.is_empty:  # a single empty version space, so that equal spaces compare equal
            require.settle(self, low=0, high=-1)

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    @property
    def size(self) -> int:
        """The number of concepts."""
        return self.high - self.low + 1

    @property
    def dimension(self) -> int:
        return self.size.bit_length() - 1

    def restrict(self, x: Any, y: Label, /) -> "ThresholdVersionSpace":
        point = self.concept_class.domain.check(x)
        if require.label(y):
            if point >= self.high:
                return self
            return ThresholdVersionSpace(self.concept_class, self.low, point)
        if point < self.low or self.is_empty:
            return self
        return ThresholdVersionSpace(self.concept_class, point + 1, self.high)

    def standard_optimal(self) -> ThresholdHypothesis:
        """Return 1[floor(log2 of the thresholds at or below x) > floor(log2 of those above)]."""
        self._refuse_empty()
        return ThresholdHypothesis(self.concept_class.n, self.low + optimal_rank(self.size) - 1)

    def consistent(self) -> ThresholdHypothesis:
        """Return the smallest threshold left."""
        self._refuse_empty()
        return ThresholdHypothesis(self.concept_class.n, self.low)

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield mistakes by point: a 0 can be wrong from ``low`` on, a 1 below ``high``."""
        if self.is_empty:
            return
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            wrong = (
                range(start, min(stop, self.high)) if label else range(max(start, self.low), stop)
            )
            for x in wrong:
                yield x, 1 - label

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the hardest mistake; among equals, the smallest point.

        A 1 leaves most at its first point. A 0 leaves everything at or above ``high``, and
        otherwise most at its last point.
        """
        candidates: list[tuple[int, int, Label]] = []  # concepts left, negated point, label
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            if label:
                candidates.append((self.high - max(start, self.low - 1), -start, 0))
            else:
                x = min(stop - 1, max(start, self.high))
                candidates.append((min(x, self.high) - self.low + 1, -x, 1))
        left, x, y = max(candidates)
        return (-x, y) if left > 0 and not self.is_empty else None


CLASSES = (
    ClassEntry(
        name="thresholds",
        build=Thresholds,
        example="thresholds:16",
        summary="1[x >= k] on the points 0 .. n-1",
    ),
)
