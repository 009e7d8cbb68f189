"""Sanitize a finite class by sequential fooling: a public generator against the private data."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.sanitizers.discriminator import (
    Discriminator,
    FiniteDiscriminator,
    NoiseBounds,
    ending_test,
)
from littlestone.learners.sanitizers.generator import Generator, HedgeGenerator
from littlestone.learners.sanitizers.protocols import Examples, Progress, Released, SanitizerRecipe
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats, best_rounding, queries_of
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mixed_budget import MixedBudget, Receipt
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticDistribution(Released):
    """Public probabilities of the cells, with how the game that made them ended."""

    queries: FiniteQueries
    weights: Floats
    size: int
    """The number of examples."""
    rounds: int
    """The number of rounds played."""
    won: bool
    """Whether the game ended because no concept differed."""
    discriminator: Discriminator
    receipt: Receipt

    def error_bound(self, *, failure_probability: float) -> float:
        """Bound the error of all estimates after the release; 1 if the generator did not win."""
        require.open_probability(failure_probability=failure_probability)
        if not self.won:
            return 1.0
        accuracy = self.discriminator.accuracy(
            self.queries, size=self.size, failure_probability=failure_probability
        )
        return min(1.0, accuracy.win)

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Estimate the share of the data that ``hypothesis`` maps to 1 (labels wrongly)."""
        share = float(self.queries.indicator(hypothesis) @ self.weights)
        return min(max(share, 0.0), 1.0)

    def estimates(self) -> Floats:
        """Return the estimates for all concepts, in the order of the class."""
        return np.clip(self.queries.answers(self.weights), 0.0, 1.0)

    def distribution(self) -> Mapping[Any, float]:
        """Return the cells of positive probability with their probabilities."""
        support = np.flatnonzero(self.weights).tolist()
        return {self.queries.cell(place): float(self.weights[place]) for place in support}

    def dataset(self, size: int, /) -> list[Any]:
        """Round to ``size`` examples; no concept is off by more than in a random sample."""
        require.integer(size=size, at_least=1)
        counts = best_rounding(self.queries, self.weights, size)
        places = np.repeat(np.arange(len(counts)), counts).tolist()
        return [self.queries.cell(place) for place in places]

    def sample(self, size: int, *, rng: Randomness) -> list[Any]:
        """Draw ``size`` independent examples; public, so floating point is harmless."""
        require.integer(size=size, at_least=1)
        ends = np.cumsum(self.weights)
        darts = rng.below_many(1 << 53, size) * (2.0**-53 * ends[-1])
        places = np.minimum(np.searchsorted(ends, darts, side="right"), len(ends) - 1)
        return [self.queries.cell(place) for place in places.tolist()]


_LARGEST_ROUNDS = 1 << 24
_PATIENCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlan(ABC):
    """The numbers of a sanitizer for one size of dataset, and the error they lead to."""

    budget: MixedBudget
    rounds: int
    error: float
    """The error once objections stop."""

    proposals: ClassVar[int]
    """The number of proposals per concept in each round."""

    @classmethod
    @abstractmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        """Return the rest of a plan for ``rounds`` rounds of the worst dataset."""

    @classmethod
    @require.checked
    def best(
        cls,
        queries: FiniteQueries,
        *,
        size: int,
        budget: MixedBudget,
        failure_probability: float,
        optimism: float = 1.0,
    ) -> Self:
        """Return the plan with the smallest error once objections stop.

        They surely stop if ``optimism`` is 1; with more there are that many times fewer rounds than
        the worst dataset needs. The numbers of rounds tried grow by a tenth each time.
        """
        require.usual(size=size, optimism=optimism, failure_probability=failure_probability)

        best: Self | None = None
        rounds = since = 0
        while best is None or (rounds < _LARGEST_ROUNDS and since < _PATIENCE):
            rounds = max(rounds + 1, round(rounds * 1.1))
            noise = NoiseBounds.of(
                elements=cls.proposals * queries.concepts,
                rounds=rounds,
                choose_epsilon=budget.selection_epsilon(rounds),
                test=ending_test(budget.epsilon),
                failure_probability=failure_probability,
            )
            rest = cls.numbers(queries, size=size, rounds=rounds * optimism, noise=noise)
            found = cls(budget=budget, rounds=rounds, **rest)
            if best is None or found.error < best.error:
                best, since = found, 0
            elif best.error < 1:
                since += 1
        return best


@dataclass(frozen=True, slots=True, kw_only=True)
class FoolingPlan(GamePlan):
    """A plan for objections to a distribution."""

    gap: float
    """Every objection exceeds this."""
    threshold: float

    proposals: ClassVar[int] = 2

    @classmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        """Return gap, threshold and error for ``rounds`` rounds."""
        # Slightly above ln|X| / (2 g**2) = rounds, so fewer objections are possible.
        gap = math.sqrt(math.log(queries.cells) / (2 * rounds)) * (1 + 1e-6) + 1e-9
        margin = (noise.test + 1.5) / size + 2.0**-38  # rounding to whole examples included
        threshold = gap + margin
        error = min(1.0, threshold + margin + noise.choose / size)
        return {"gap": gap, "threshold": threshold, "error": error}


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSanitizer(SanitizerRecipe):
    """A sanitizer of a finite class that plays rounds against the data."""

    concepts: ConceptClass
    labelled: bool = False

    kind_of_plan: ClassVar[type[GamePlan]]

    @classmethod
    @abstractmethod
    def from_plan(cls, plan: Any, *, concepts: ConceptClass, labelled: bool) -> Self:
        """Return the recipe with the numbers of a plan."""

    @abstractmethod
    def budget(self) -> MixedBudget:
        """Return the costs as a budget."""

    @classmethod
    @require.checked
    def planned(
        cls,
        *,
        concepts: ConceptClass,
        size: int,
        epsilon: float | None = None,
        delta: float | None = None,
        labelled: bool = False,
        failure_probability: float = 0.05,
        budget: MixedBudget | None = None,
        optimism: float = 1.0,
    ) -> Self:
        """Return the recipe with the smallest error bound for ``size`` examples.

        Its privacy is that of the budget, whatever the size of the dataset it is used on.

        Args:
            concepts: The class to answer.
            size: The number of examples to plan for.
            epsilon: With ``delta``, the budget unless ``budget`` is given.
            delta: See ``epsilon``.
            labelled: Whether examples are pairs of point and label.
            failure_probability: How often ``error_bound`` may fail.
            budget: Replaces epsilon and delta.
            optimism: Above 1, use that many times fewer rounds than the worst dataset needs, with
                less noise in each; most datasets need far fewer. ``error_bound`` is then 1, but a
                release that has ``won`` is as good.
        """
        if budget is None:
            if epsilon is None or delta is None:
                raise ValueError("give epsilon and delta, or a budget")
            budget = MixedBudget.split(epsilon=epsilon, delta=delta)
        plan = cls.kind_of_plan.best(
            queries_of(concepts, labelled),
            size=size,
            budget=budget,
            failure_probability=failure_probability,
            optimism=optimism,
        )
        return cls.from_plan(plan, concepts=concepts, labelled=labelled)

    @property
    def queries(self) -> FiniteQueries:
        """The concepts as queries."""
        return queries_of(self.concepts, self.labelled)

    def error_at(self, size: int, failure_probability: float) -> float:
        """Return the error of the best plan for ``size`` examples at this budget."""
        return self.kind_of_plan.best(
            self.queries, size=size, budget=self.budget(), failure_probability=failure_probability
        ).error


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FoolingSanitizer(PlannedSanitizer):
    """Release a distribution that no concept can distinguish from the data [BLM20].

    In the role of [P, Theorem sanitizer].

    Privacy:
        Releases:   the objections of the discriminator, and all that follows from them
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  the discriminator's costs, the concentrated ones converted at ``delta``
        Assumes:    nothing
        Proof:      fooling_sanitizer.md

    ``planned`` chooses the best rounds, thresholds and steps for a size.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.randomness import seeded
    >>> recipe = FoolingSanitizer.planned(
    ...     concepts=Thresholds(7), size=50_000, epsilon=1.0, delta=1e-6)
    >>> bound = recipe.error_bound(size=50_000, failure_probability=0.05)
    >>> released = recipe.release([2] * 10_000 + [5] * 40_000, rng=seeded(1))
    >>> rule = next(h for h in Thresholds(7).concepts() if h.describe() == "x >= 4")
    >>> bound < 0.09, abs(released.estimate(rule) - 0.8) <= bound
    (True, True)
    """

    generator: Generator
    discriminator: Discriminator
    delta: float

    kind_of_plan: ClassVar[type[FoolingPlan]] = FoolingPlan

    def __post_init__(self) -> None:
        require.usual_fields(self)

    @classmethod
    def from_plan(
        cls, plan: FoolingPlan, *, concepts: ConceptClass, labelled: bool
    ) -> "FoolingSanitizer":
        return cls(
            concepts=concepts,
            labelled=labelled,
            generator=HedgeGenerator(step=4 * plan.gap),
            discriminator=FiniteDiscriminator(
                rounds=plan.rounds,
                threshold=plan.threshold,
                choose_epsilon=plan.budget.selection_epsilon(plan.rounds),
                test_epsilon=plan.budget.epsilon,
            ),
            delta=plan.budget.delta,
        )

    def costs(self) -> tuple[Cost, ...]:
        """Return the discriminator's costs."""
        return self.discriminator.costs()

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error of all estimates; 1 if the rounds may not be enough."""
        require.usual(size=size, failure_probability=failure_probability)
        accuracy = self.discriminator.accuracy(
            self.queries, size=size, failure_probability=failure_probability
        )
        most = self.generator.most_objections(self.queries, gap=accuracy.gap)
        return min(1.0, accuracy.win) if most < self.discriminator.rounds else 1.0

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> SyntheticDistribution:
        """Play the game and release the generator's last guess."""
        queries = self.queries
        tally = queries.tally(dataset)
        receipt = Receipt.of(self, size=len(dataset), rng=rng)
        judge = self.discriminator.start(queries, tally, rng=rng)
        guess = self.generator.start(queries)
        won, rounds = False, 0
        while not won and rounds < self.discriminator.rounds:  # (L1)
            rounds += 1
            objection = judge.ask(guess.weights)  # (L2)
            won = objection is None
            if objection is not None:
                guess = guess.after(objection.number, objection.sign)  # (L3)
            if progress is not None:
                progress(rounds)
        return SyntheticDistribution(  # (L4)
            queries=queries,
            weights=guess.weights,
            size=len(dataset),
            rounds=rounds,
            won=won,
            discriminator=self.discriminator,
            receipt=receipt,
        )

    def budget(self) -> MixedBudget:
        """Return the costs as a budget, split as usual if they are of one kind only."""
        plain = sum(cost.epsilon for cost in self.costs() if isinstance(cost, PrivacyGuarantee))
        rho = sum(cost.rho for cost in self.costs() if not isinstance(cost, PrivacyGuarantee))
        if plain > 0 and rho > 0:
            return MixedBudget(epsilon=plain, rho=rho, delta=self.delta)
        return MixedBudget.split(epsilon=self.guarantee().epsilon, delta=self.delta)
