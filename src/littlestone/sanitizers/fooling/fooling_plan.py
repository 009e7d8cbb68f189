"""Planning says how many rounds a sanitizer plays and what an objection is; it is public."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from littlestone import require
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.sanitizers.fooling.discriminator import NoiseBounds, ending_test
from littlestone.sanitizers.queries import FiniteQueries

Plan = TypeVar("Plan")

_LARGEST_ROUNDS = 1 << 24
_PATIENCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class FoolingPlan:
    """The numbers of a sanitizer for one size of dataset, and the error to expect from them."""

    budget: MixedBudget
    rounds: int
    gap: float
    """What every objection exceeds."""
    threshold: float
    error: float
    """What remains when nobody objects any more."""

    @classmethod
    @require.plain_arguments
    def best(
        cls,
        queries: FiniteQueries,
        *,
        size: int,
        budget: MixedBudget,
        failure_probability: float,
        optimism: float = 1.0,
    ) -> "FoolingPlan":
        """The smallest error when objections stop, which they do if ``optimism`` is 1.

        With more optimism there are that many times fewer rounds than the worst dataset needs.
        """
        require.usual(size=size, optimism=optimism, failure_probability=failure_probability)

        def plan(rounds: int) -> "FoolingPlan":
            # A hair above ln|X| / (2 g**2) = optimism * rounds: fewer objections are possible.
            gap = math.sqrt(math.log(queries.cells) / (2 * rounds * optimism)) * (1 + 1e-6) + 1e-9
            noise = planned_noise(budget, 2 * queries.concepts, rounds, failure_probability)
            margin = (noise.test + 1.5) / size + 2.0**-38  # rounding to whole examples included
            threshold = gap + margin
            error = min(1.0, threshold + margin + noise.choose / size)
            return cls(budget=budget, rounds=rounds, gap=gap, threshold=threshold, error=error)

        return best_rounds(plan, lambda found: found.error)


def best_rounds(plan: Callable[[int], Plan], error: Callable[[Plan], float]) -> Plan:
    """The plan with the smallest error, over numbers of rounds that grow by a tenth each time."""
    rounds, since = 1, 0
    best = plan(rounds)
    while rounds < _LARGEST_ROUNDS and since < _PATIENCE:
        rounds = max(rounds + 1, round(rounds * 1.1))
        found = plan(rounds)
        if error(found) < error(best):
            best, since = found, 0
        elif error(best) < 1:
            since += 1
    return best


def split_budget(epsilon: float | None, delta: float | None) -> MixedBudget:
    """The usual division of epsilon and delta."""
    if epsilon is None or delta is None:
        raise ValueError("epsilon and delta must be given, or a budget")
    return MixedBudget.split(epsilon=epsilon, delta=delta)


def planned_noise(
    budget: MixedBudget, elements: int, rounds: int, failure_probability: float
) -> NoiseBounds:
    """Of so many rounds that spend the whole budget."""
    return NoiseBounds.of(
        elements=elements,
        rounds=rounds,
        choose_epsilon=budget.selection_epsilon(rounds),
        test=ending_test(budget.epsilon),
        failure_probability=failure_probability,
    )
