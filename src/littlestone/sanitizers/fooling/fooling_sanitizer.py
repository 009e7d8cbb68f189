"""Sanitize a finite class by sequential fooling: a public generator against the private data."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mixed_budget import MixedBudget, Receipt
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.discriminator import Discriminator, FiniteDiscriminator
from littlestone.sanitizers.fooling.fooling_plan import FoolingPlan, PlannedSanitizer
from littlestone.sanitizers.fooling.generator import Generator, HedgeGenerator
from littlestone.sanitizers.protocols import Examples, Progress
from littlestone.sanitizers.synthetic import SyntheticDistribution


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FoolingSanitizer(PlannedSanitizer):
    """A distribution that no concept can tell from the data [BLM20], in the role of
    [P, Theorem sanitizer].

    Privacy:
        Releases:   the objections of the discriminator, and all that follows from them
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  the discriminator's costs, the concentrated ones converted at ``delta``
        Assumes:    nothing
        Proof:      fooling_sanitizer.md

    Use ``planned`` to get the rounds, thresholds and steps that are best for a size.

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
        return self.discriminator.costs()

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        require.usual(size=size, failure_probability=failure_probability)
        accuracy = self.discriminator.accuracy(
            self.queries, size=size, failure_probability=failure_probability
        )
        most = self.generator.most_objections(self.queries, gap=accuracy.gap)
        return min(1.0, accuracy.win) if most < self.discriminator.rounds else 1.0

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> SyntheticDistribution:
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
        """The costs as a budget, or the usual division if they are of one kind only."""
        plain = sum(cost.epsilon for cost in self.costs() if isinstance(cost, PrivacyGuarantee))
        rho = sum(cost.rho for cost in self.costs() if not isinstance(cost, PrivacyGuarantee))
        if plain > 0 and rho > 0:
            return MixedBudget(epsilon=plain, rho=rho, delta=self.delta)
        return MixedBudget.split(epsilon=self.guarantee().epsilon, delta=self.delta)
