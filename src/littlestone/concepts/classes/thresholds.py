"""Thresholds on a range of integers, in closed form however long the range is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.intervals import Intervals, OnARange
from littlestone.concepts.classes.version_spaces import Remaining
from littlestone.concepts.dimensions.gaps import optimal_rank
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import Run, first_difference, runs_of
from littlestone.concepts.losses.answers import MOST_CELLS, Suffixes
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_runs import LossRuns, threshold_runs
from littlestone.concepts.losses.on_lines import OnLines
from littlestone.concepts.losses.projection import Projection, project_thresholds
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.trackers import ThresholdTracker
from littlestone.concepts.witnesses.fresh_witnesses import ThresholdWitnesses
from littlestone.concepts.witnesses.systems import ThresholdSystem
from littlestone.concepts.written import Written


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
        return IntegerRange(self.n)

    def __call__(self, x: Any, /) -> Label:
        if type(x) is int and 0 <= x < self.n:
            return 1 if x >= self.k else 0
        return 1 if self.domain.check(x) >= self.k else 0

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        labels: NDArray[np.uint8] = (self.domain.check_many(xs) >= self.k).view(np.uint8)
        return labels

    def runs(self) -> Iterator[Run]:
        if self.k > 0:
            yield 0, self.k, 0
        if self.k < self.n:
            yield self.k, self.n, 1

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """The smallest point on which the two differ."""
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
        """Walk the threshold upwards past each point of the tally."""
        mistakes = fewest = sum(zeros for zeros, _ in tally.values())
        for x in sorted(tally, key=self.domain.check):
            zeros, ones = tally[x]
            mistakes += ones - zeros
            fewest = min(fewest, mistakes)
        return fewest

    def concepts(self) -> Iterator[ThresholdHypothesis]:
        return map(self.concept, range(self.n + 1))

    def concept(self, position: int, /) -> ThresholdHypothesis:
        return ThresholdHypothesis(self.n, position)

    def constant(self, label: Label) -> ThresholdHypothesis:
        return ThresholdHypothesis(self.n, 0 if label else self.n)

    def majority_of(self, chosen: Sequence[int], /) -> ThresholdHypothesis:
        """The median threshold is the majority vote."""
        if not len(chosen):
            raise ValueError("chosen must not be empty: nobody has a majority")
        return self.concept(sorted(chosen)[len(chosen) // 2])

    def answers(self) -> Suffixes:
        return Suffixes(self.n)

    def on_lines(self) -> OnLines | None:
        if self.n > MOST_CELLS:
            return None
        starts = np.arange(self.n + 1)
        return OnLines.on_a_line(self.n, starts, np.full(self.n + 1, self.n))

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        del deepest  # all losses are exact
        return threshold_runs(self.n, tally, self.concept)

    def project(self, points: Any, /) -> Projection:
        return project_thresholds(self.n, self.domain.check_many(points), self.concept)

    def tracker(self) -> ThresholdTracker:
        return ThresholdTracker(self.n)

    def witness_system(self) -> ThresholdSystem:
        return ThresholdSystem(self.n, partial(ThresholdHypothesis, self.n))

    def witnesses(self) -> ThresholdWitnesses:
        return ThresholdWitnesses()

    @property
    def most_changes(self) -> int:
        return 1

    def differences(self) -> ConceptClass:
        """Two thresholds differ on an interval."""
        return Intervals(self.n)


@dataclass(frozen=True, slots=True)
class ThresholdVersionSpace(Remaining):
    """The thresholds from ``low`` to ``high``, both included."""

    concept_class: Thresholds
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.is_empty:  # there is one empty version space, so that equal is equal
            require.settle(self, low=0, high=-1)

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    @property
    def size(self) -> int:
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
        """1 where floor(log2 of the thresholds at or below x) exceeds that of those above."""
        self._refuse_empty()
        return ThresholdHypothesis(self.concept_class.n, self.low + optimal_rank(self.size) - 1)

    def consistent(self) -> ThresholdHypothesis:
        """The smallest threshold left."""
        self._refuse_empty()
        return ThresholdHypothesis(self.concept_class.n, self.low)

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """In the order of the points: a 0 can be wrong from ``low`` on, a 1 below ``high``."""
        if self.is_empty:
            return
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            wrong = (
                range(start, min(stop, self.high)) if label else range(max(start, self.low), stop)
            )
            for x in wrong:
                yield x, 1 - label

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Among equals, the smallest point.

        A 1 leaves most at its first point. A 0 leaves everything at or above ``high``, and
        otherwise most at its last point.
        """
        kept: list[tuple[int, int, Label]] = []  # how many are left, the point negated, the label
        for start, stop, label in runs_of(hypothesis, self.concept_class.n):
            if label:
                kept.append((self.high - max(start, self.low - 1), -start, 0))
            else:
                x = min(stop - 1, max(start, self.high))
                kept.append((min(x, self.high) - self.low + 1, -x, 1))
        left, x, y = max(kept)
        return (-x, y) if left > 0 and not self.is_empty else None
