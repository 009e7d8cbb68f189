"""Exact privacy of whole games on tiny instances, over all adaptive adversaries.

The adversary's best choice after every release is found by recursion, so the moments and deltas
below are suprema over all strategies, not over some.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest

from littlestone.learners.experts.dartboard_plan import DartboardPlan
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.protocols import Batches
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard

Totals = tuple[int, ...]
Weights = tuple[int, ...]
ORDERS = (1.25, 2.0, 5.0, 30.0)
ROUNDING = 1e-12


def law(totals: Totals, weights: Weights) -> list[float]:
    """Of one draw, with the least total of the start (zero) as the reference."""
    each = [weights[min(total, len(weights) - 1)] for total in totals]
    return [weight / sum(each) for weight in each]


def added(totals: Totals, losses: Totals) -> Totals:
    return tuple(map(sum, zip(totals, losses, strict=True)))


def choices(experts: int) -> list[Totals]:
    return list(product((0, 1), repeat=experts))


Release = tuple[float, float, Any]


class Fresh:
    """Exponential weights: every round ends in a draw. A state is the pair of totals."""

    def __init__(self, experts: int, rounds: int, weights: Weights) -> None:
        self.experts, self.rounds, self.weights = experts, rounds, weights
        self.start = (0,) * experts, (0,) * experts

    def after(self, state: tuple[Totals, Totals], zero: Totals, one: Totals) -> Iterator[Release]:
        """What is released after a round: probabilities in the two worlds, and the next state."""
        totals = added(state[0], zero), added(state[1], one)
        for p, q in zip(law(totals[0], self.weights), law(totals[1], self.weights), strict=True):
            yield p, q, totals


class Lazy:
    """The dartboard with batches of one round; the expert and the draws so far are public."""

    def __init__(
        self, experts: int, rounds: int, weights: Weights, plan: DartboardPlan, cap: int | None
    ) -> None:
        self.experts, self.rounds, self.weights, self.plan = experts, rounds, weights, plan
        self.cap = cap
        nothing = (0,) * experts
        self.start = nothing, nothing, 0, 0

    def keep(self, loss: int) -> float:
        return (1 - self.plan.fake) * math.exp(-self.plan.rate * loss)

    def after(self, state: Any, zero: Totals, one: Totals) -> Iterator[Release]:
        totals, others, x, used = state
        totals, others = added(totals, zero), added(others, one)
        if used == self.cap:
            yield 1.0, 1.0, (totals, others, x, used)
            return
        stay, stays = self.keep(zero[x]), self.keep(one[x])
        yield stay, stays, (totals, others, x, used)
        laws = zip(law(totals, self.weights), law(others, self.weights), strict=True)
        for y, (p, q) in enumerate(laws):
            yield (1 - stay) * p, (1 - stays) * q, (totals, others, y, used + 1)


def largest_moment(game: Fresh | Lazy, order: float) -> float:
    """sup over adversaries of ln E_Q (P/Q)^order / (order - 1), the Rényi divergence.

    The last example is followed by no release, so there is one round of releases fewer.
    """

    @cache
    def value(state: Any, played: int, challenged: bool) -> float:
        if played == game.rounds - 1:
            return 1.0
        best = 0.0
        for zero in choices(game.experts):
            for one in [zero] if challenged else choices(game.experts):
                total = sum(
                    q * (p / q) ** order * value(after, played + 1, challenged or zero != one)
                    for p, q, after in game.after(state, zero, one)
                    if p > 0
                )
                best = max(best, total)
        return best

    return math.log(value(game.start, 0, False)) / (order - 1)


def largest_delta(game: Fresh | Lazy, epsilon: float) -> float:
    """sup over adversaries of P(O) - e^epsilon Q(O), for the best event O."""

    def value(state: Any, played: int, challenged: bool, p: float, q: float) -> float:
        if played == game.rounds - 1:
            return max(0.0, p - math.exp(epsilon) * q)
        best = 0.0
        for zero in choices(game.experts):
            for one in [zero] if challenged else choices(game.experts):
                total = sum(
                    value(after, played + 1, challenged or zero != one, p * a, q * b)
                    for a, b, after in game.after(state, zero, one)
                )
                best = max(best, total)
        return best

    return value(game.start, 0, False, 1.0, 1.0)


def table(recipe: ExponentialWeights | ShrinkingDartboard) -> Weights:
    return recipe._selection.mechanism._table.weights


def weights_of(rate: float) -> Weights:
    """Exact exponential weights, as if a table had this rate."""
    return tuple(round(math.exp(-rate * k) * 2**60) for k in range(8))


@pytest.mark.parametrize(("experts", "rounds"), [(2, 4), (3, 3)])
def test_fresh_draws_have_the_moments_that_are_charged(experts: int, rounds: int) -> None:
    recipe = ExponentialWeights(
        experts=experts, rounds=rounds, epsilon=1.0, delta=1e-2, spend_all=True
    )
    rho = (rounds - 1) * recipe._selection.zero_concentrated().rho
    for order in ORDERS:
        game = Fresh(experts, rounds, table(recipe))
        assert largest_moment(game, order) <= rho * order + ROUNDING
        steeper = Fresh(experts, rounds, weights_of(4 * recipe.rate))
        assert largest_moment(steeper, order) > rho * order


@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_fresh_draws_keep_their_delta(delta: float) -> None:
    recipe = ExponentialWeights(experts=2, rounds=4, epsilon=0.3, delta=delta, spend_all=True)
    claimed = recipe.guarantee()
    assert largest_delta(Fresh(2, 4, table(recipe)), claimed.epsilon) <= claimed.delta + ROUNDING
    steeper = Fresh(2, 4, weights_of(4 * recipe.rate))
    assert largest_delta(steeper, claimed.epsilon) > delta


PLANS = [
    DartboardPlan(rate=0.1, fake=0.3, batch=1, cap=1),
    DartboardPlan(rate=0.3, fake=0.2, batch=1, cap=2),
    DartboardPlan(rate=0.2, fake=0.6, batch=1, cap=3),
    DartboardPlan(rate=0.2, fake=1.0, batch=1, cap=3),
]


def dartboard(plan: DartboardPlan, delta: float) -> ShrinkingDartboard:
    return ShrinkingDartboard(experts=2, rounds=4, epsilon=9.0, delta=delta, plan=plan)


@pytest.mark.parametrize("plan", PLANS)
def test_the_dartboard_has_the_moments_that_are_charged(plan: DartboardPlan) -> None:
    recipe = dartboard(plan, 0.01)
    bit = math.log(1 + (1 - plan.fake) * (1 - math.exp(-plan.rate)) / plan.fake)
    keep = plan.rate if plan.fake < 1 else 0.0
    rho = (keep + bit) ** 2 / 8 + plan.cap * plan.rate**2 / 2
    game = Lazy(2, 4, table(recipe), plan, plan.cap)
    for order in ORDERS:
        assert largest_moment(game, order) <= rho * order + ROUNDING


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("delta", [1e-2, 1e-9])
def test_the_dartboard_keeps_its_delta(plan: DartboardPlan, delta: float) -> None:
    recipe = dartboard(plan, delta)
    claimed = recipe.guarantee()
    game = Lazy(2, 4, table(recipe), plan, plan.cap)
    assert largest_delta(game, claimed.epsilon) <= claimed.delta + ROUNDING


def test_a_dartboard_without_fake_switches_has_no_delta() -> None:
    plan = PLANS[1]
    game = Lazy(2, 4, table(dartboard(plan, 1e-9)), plan, plan.cap)
    game.keep = lambda loss: math.exp(-plan.rate * loss)  # type: ignore[method-assign]

    def chance_of_the_impossible() -> float:
        ((_, _, _), *switches) = game.after(game.start, (1, 1), (0, 0))
        return sum(p for p, q, _ in switches if q == 0)

    assert chance_of_the_impossible() == pytest.approx(1 - math.exp(-plan.rate))


def test_a_dartboard_without_a_cap_exceeds_what_one_draw_costs() -> None:
    plan = DartboardPlan(rate=0.3, fake=0.9, batch=1, cap=1)
    claimed = plan.guarantee(delta=0.0)
    assert claimed.delta == 0
    weights = weights_of(plan.rate)
    assert largest_delta(Lazy(2, 4, weights, plan, plan.cap), claimed.epsilon) <= ROUNDING
    assert largest_delta(Lazy(2, 4, weights, plan, None), claimed.epsilon) > 1e-3


def test_nothing_is_released_after_the_last_round() -> None:
    # So one draw is enough for two rounds, and none for one.
    single = ExponentialWeights(experts=2, rounds=1, epsilon=0.1, delta=1e-6)
    assert single.guarantee().epsilon == 0
    whole = ExponentialWeights(
        experts=2, rounds=10, epsilon=0.1, delta=1e-6, batches=Batches(first=10)
    )
    assert whole.guarantee().epsilon == 0


def test_plain_addition_is_used_where_it_is_better() -> None:
    few = ExponentialWeights(experts=2, rounds=3, epsilon=1.0, delta=1e-6, spend_all=True)
    assert few.rate == pytest.approx(1 / 4) and few.guarantee().delta == 0
    many = ExponentialWeights(experts=2, rounds=100, epsilon=1.0, delta=1e-6, spend_all=True)
    assert many.guarantee().delta == 1e-6
    ways: dict[str, Callable[[int], float]] = {
        "plain": lambda draws: 1 / (2 * draws),
        "concentrated": lambda draws: math.sqrt(2 * 0.02435 / draws),
    }
    assert many.rate >= max(way(99) for way in ways.values())
