"""Planning says how many rounds a sanitizer plays and what an objection is; it is public."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.sanitizers.fooling.discriminator import NoiseBounds, ending_test
from littlestone.sanitizers.queries import FiniteQueries, queries_of
from littlestone.sanitizers.recipe import SanitizerRecipe

_LARGEST_ROUNDS = 1 << 24
_PATIENCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlan(ABC):
    """The numbers of a sanitizer for one size of dataset, and the error to expect from them."""

    budget: MixedBudget
    rounds: int
    error: float
    """What remains when nobody objects any more."""

    proposals: ClassVar[int]
    """How many there are to choose from in each round, for each concept."""

    @classmethod
    @abstractmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        """The rest of a plan for so many rounds of the worst dataset."""

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
        """The smallest error when objections stop, which they do if ``optimism`` is 1.

        With more optimism there are that many times fewer rounds than the worst dataset needs.
        The numbers of rounds that are tried grow by a tenth each time.
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
    """For objections to a distribution."""

    gap: float
    """What every objection exceeds."""
    threshold: float

    proposals: ClassVar[int] = 2

    @classmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        # A hair above ln|X| / (2 g**2) = rounds: fewer objections are possible.
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
        """The recipe with the numbers of a plan."""

    @abstractmethod
    def budget(self) -> MixedBudget:
        """What the costs amount to."""

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
        """The recipe with the smallest error bound for ``size`` examples.

        Its privacy is that of the ``budget`` (by default a division of epsilon and delta),
        whatever the size of the dataset it is used on. With ``optimism`` above 1 it has that many
        times fewer rounds than the worst dataset needs, and less noise in each: most datasets need
        far fewer. The promise of ``error_bound`` is then void (1), but a release that has ``won``
        is as good as if it were not.
        """
        if budget is None:
            if epsilon is None or delta is None:
                raise ValueError("epsilon and delta must be given, or a budget")
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
        """The concepts as questions."""
        return queries_of(self.concepts, self.labelled)

    def error_at(self, size: int, failure_probability: float) -> float:
        return self.kind_of_plan.best(
            self.queries, size=size, budget=self.budget(), failure_probability=failure_probability
        ).error
