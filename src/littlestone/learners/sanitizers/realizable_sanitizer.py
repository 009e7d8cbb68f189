"""Realizable sanitization: find the concepts that hold on much of the data, and on none of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import cycle, islice
from typing import Any, ClassVar

import numpy as np

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.sanitizers.discriminator import NoiseBounds, ending_test
from littlestone.learners.sanitizers.fooling_sanitizer import GamePlan, PlannedSanitizer
from littlestone.learners.sanitizers.protocols import Examples, Progress, Released
from littlestone.learners.sanitizers.queries import FiniteQueries
from littlestone.learners.sanitizers.winnow_generator import (
    FlagGenerator,
    Flags,
    WinnowGenerator,
    identric_mean,
)
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mixed_budget import MixedBudget, Receipt
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


def hitting_set(queries: FiniteQueries, flags: Flags) -> list[int]:
    """Return cells such that each flagged concept that is 1 anywhere is 1 on one of them.

    Greedy: take the cell on which most of the remaining concepts hold. If every flagged concept has
    a share of at least c of some distribution, some cell hits a share c of the rest, so ceil(ln |F|
    / c) cells are enough.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.sanitizers.queries import queries_of
    >>> hitting_set(queries_of(Thresholds(4)), np.array([True, True, False, True, False]))
    [3]
    """
    left = flags.astype(np.float64)
    chosen = []
    while left.any():
        hits = queries.cells_answers(left)
        place = int(hits.argmax())
        if hits[place] <= 0:  # the remaining concepts are 0 everywhere
            break
        chosen.append(place)
        left[queries.column(place) == 1] = 0.0
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class RealizablePlan(GamePlan):
    """A plan for objections to flags."""

    low: float
    """Objections to a flag have at most this share."""
    high: float
    """Objections to a missing flag have at least this share."""
    lower: float
    """Test against this share before objecting to a flag."""
    upper: float
    """Test against this share before objecting to a missing flag."""

    proposals: ClassVar[int] = 1

    @classmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        """Return the shares to distinguish, and the error, for ``rounds`` rounds."""
        # Slightly more than the noise, as shares are rounded to whole examples.
        lower = (noise.choose + noise.test + 2) / size
        low = lower + (noise.test + 1) / size
        wanted = math.log(queries.cells) * (1 + 1e-6) / rounds
        high = smallest_high(low, wanted) if low < 1 else 1.0
        upper = high + (noise.test + 1) / size
        error = min(1.0, upper + (noise.choose + noise.test + 2) / size)
        return {"low": low, "high": high, "lower": lower, "upper": upper, "error": error}


def smallest_high(low: float, drop: float) -> float:
    """Return the smallest share that is told from ``low`` with a gain of ``drop`` per objection.

    >>> round(smallest_high(0.01, 0.005), 3)
    0.041
    """
    below, above = low, max(4 * low, 4 * drop)
    while _drop(low, above) < drop:
        above *= 2
    for _ in range(60):
        middle = (below + above) / 2
        if middle > low and _drop(low, middle) >= drop:
            above = middle
        else:
            below = middle
    return above


def _drop(low: float, high: float) -> float:
    """Return the gain of ``WinnowGenerator.between`` with each objection."""
    cut = identric_mean(low, high)
    return high * math.log(high / cut) - high + cut


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class RealizableSanitizer(PlannedSanitizer):
    """Flag every concept whose share is at least the error, and none that never holds.

    In the role of [P, Theorem realizable_sanitizer], with one choice and one test a round where [P,
    Lemma dis] has two of each.

    Privacy:
        Releases:   the concepts objected to, and all that follows from them
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  test_epsilon, and rounds * choose_epsilon**2 / 8 of rho converted at ``delta``
        Assumes:    nothing
        Proof:      realizable_sanitizer.md

    ``planned`` chooses the best parameters for a size.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.randomness import seeded
    >>> recipe = RealizableSanitizer.planned(
    ...     concepts=Thresholds(7), size=20_000, epsilon=1.0, delta=1e-6)
    >>> bound = recipe.error_bound(size=20_000, failure_probability=0.05)
    >>> released = recipe.release([2] * 15_000 + [4] * 5_000, rng=seeded(1))
    >>> [int(released.estimate(h)) for h in Thresholds(7).concepts()], bound < 0.25
    ([1, 1, 1, 1, 1, 0, 0, 0], True)
    >>> released.hitting_set
    [4]
    """

    generator: FlagGenerator
    rounds: int
    lower: float
    upper: float
    choose_epsilon: float
    test_epsilon: float
    delta: float
    _choose: ExponentialMechanism = field(init=False, repr=False, compare=False)

    kind_of_plan: ClassVar[type[RealizablePlan]] = RealizablePlan

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.positive(lower=self.lower, upper=self.upper, test_epsilon=self.test_epsilon)
        choose = ExponentialMechanism(epsilon=self.choose_epsilon, range_width=2)
        object.__setattr__(self, "_choose", choose)

    @classmethod
    def from_plan(
        cls, plan: RealizablePlan, *, concepts: ConceptClass, labelled: bool
    ) -> "RealizableSanitizer":
        return cls(
            concepts=concepts,
            labelled=labelled,
            generator=WinnowGenerator.between(low=min(plan.low, plan.high / 2), high=plan.high),
            rounds=plan.rounds,
            lower=plan.lower,
            upper=plan.upper,
            choose_epsilon=plan.budget.selection_epsilon(plan.rounds),
            test_epsilon=plan.budget.epsilon,
            delta=plan.budget.delta,
        )

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of the test and of all choices."""
        return (
            ending_test(self.test_epsilon).guarantee(),
            self._choose.zero_concentrated().times(self.rounds),
        )

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the share from which concepts are flagged; those with none are not."""
        noise, lower, upper = self._numbers(size, failure_probability)
        most = self.generator.most_objections(
            self.queries, low=(lower + noise.test) / size, high=(upper - noise.test) / size
        )
        if most >= self.rounds:
            return 1.0
        return self.error_if_won(size=size, failure_probability=failure_probability)

    def error_if_won(self, *, size: int, failure_probability: float) -> float:
        """Return the same bound if objections have stopped."""
        noise, lower, upper = self._numbers(size, failure_probability)
        if lower - noise.choose - noise.test < 1:
            return 1.0
        return min(1.0, upwards((upper + noise.choose + noise.test + 1) / size))

    def budget(self) -> MixedBudget:
        rho = self._choose.zero_concentrated().times(self.rounds).rho
        return MixedBudget(epsilon=self.test_epsilon, rho=rho, delta=self.delta)

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> "RealizableRelease":
        """Play the game and release the generator's last flags."""
        queries, size = self.queries, len(dataset)
        counts = queries.counts(queries.tally(dataset))
        receipt = Receipt.of(self, size=size, rng=rng)
        lower, upper = self.thresholds(size)
        test = ending_test(self.test_epsilon).start(rng=rng)  # (L1)
        guess = self.generator.start(queries)
        rounds = 0
        while not test.halted and rounds < self.rounds:
            rounds += 1
            margins = np.where(guess.flags, lower - counts, counts - upper)  # (L2)
            [chosen] = self._choose.draw(-margins, rng=rng)  # (L3)
            if not test.ask(-int(margins[chosen])):  # (L4)
                guess = guess.after(chosen)  # (L5)
            if progress is not None:
                progress(rounds)
        return RealizableRelease(
            queries=queries, flags=guess.flags, rounds=rounds, won=test.halted, receipt=receipt
        )

    def thresholds(self, size: int) -> tuple[int, int]:
        """Return the two shares as whole numbers of examples."""
        return math.floor(Fraction(self.lower) * size), math.ceil(Fraction(self.upper) * size)

    def _numbers(self, size: int, failure_probability: float) -> tuple[NoiseBounds, int, int]:
        require.usual(size=size, failure_probability=failure_probability)
        noise = NoiseBounds.of(
            elements=self.queries.concepts,
            rounds=self.rounds,
            choose_epsilon=self.choose_epsilon,
            test=ending_test(self.test_epsilon),
            failure_probability=failure_probability,
        )
        return noise, *self.thresholds(size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RealizableRelease(Released):
    """Public flags of the concepts, and points on which every flagged one holds."""

    queries: FiniteQueries
    flags: Flags
    rounds: int
    won: bool
    receipt: Receipt

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Return 1 if the concept may hold on much of the data, 0 if surely not."""
        return float(self.flags[self.queries.number_of(hypothesis)])

    @property
    def hitting_set(self) -> list[Any]:
        """A few cells that meet every flagged concept, for use as synthetic points."""
        return [self.queries.cell(place) for place in hitting_set(self.queries, self.flags)]

    def distribution(self) -> Mapping[Any, float]:
        """Return the uniform distribution on the hitting set, or on everything if it is empty."""
        cells = self.hitting_set or [self.queries.cell(i) for i in range(self.queries.cells)]
        return dict.fromkeys(cells, 1 / len(cells))

    def dataset(self, size: int, /) -> list[Any]:
        """Repeat the hitting set up to the wanted size."""
        require.integer(size=size, at_least=1)
        cells = list(self.distribution())
        if self.flags.any() and size < len(cells):
            raise ValueError(f"size must be at least {len(cells)}, to hit all, got size={size!r}")
        return list(islice(cycle(cells), size))
