"""Plans of the dartboard: their exact cost, and how good the best ones are."""

import math
from dataclasses import replace

import pytest

from littlestone.learners.experts.dartboard_plan import DartboardPlan, best_plan
from littlestone.learners.experts.lazy_switching import LazySwitching
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.expert_bounds import (
    dartboard_regret_upper_bound,
    dartboard_switches_upper_bound,
    dartboard_zcdp_upper_bound,
    hedge_regret_upper_bound,
    low_switching_regret_lower_bound,
)

PLAN = DartboardPlan(rate=0.01, fake=0.05, batch=3, cap=300)


@pytest.mark.parametrize("fake", [0.05, 0.9, 1.0])
def test_the_cost_is_the_smallest_of_three_accounts(fake: float) -> None:
    plan, delta = replace(PLAN, fake=fake), 1e-6
    bit = math.log(1 + (1 - fake) * (1 - math.exp(-0.01)) / fake)
    keep = 0.01 if fake < 1 else 0.0
    draws = 300 * 0.01**2 / 2
    together = ZeroConcentrated(rho=(keep + bit) ** 2 / 8 + draws).epsilon_upper_bound(delta)
    apart = max(keep, bit) + ZeroConcentrated(rho=draws).epsilon_upper_bound(delta)
    plain = max(keep, bit) + 2 * 0.01 * 300
    assert plan.guarantee(delta=delta).epsilon == pytest.approx(min(together, apart, plain))
    assert plan.guarantee(delta=0.0).epsilon == pytest.approx(plain)
    if fake < 1:
        charged = dartboard_zcdp_upper_bound(rate=0.01, fake=fake, switches=300)
        assert charged == pytest.approx((keep + bit) ** 2 / 8 + draws)


def test_a_costly_bit_is_better_counted_by_itself() -> None:
    plan = DartboardPlan(rate=1e-3, fake=5e-4, batch=1, cap=1000)
    bit = math.log(1 + (1 - 5e-4) * (1 - math.exp(-1e-3)) / 5e-4)
    draws = 1000 * 1e-6 / 2
    apart = bit + ZeroConcentrated(rho=draws).epsilon_upper_bound(1e-6)
    together = ZeroConcentrated(rho=(1e-3 + bit) ** 2 / 8 + draws).epsilon_upper_bound(1e-6)
    assert apart < 0.5 * together
    assert plan.guarantee(delta=1e-6).epsilon == pytest.approx(apart)


@pytest.mark.parametrize("worse", [{"rate": 0.011}, {"cap": 301}, {"fake": 0.04}])
def test_more_of_anything_costs_more(worse: dict[str, float]) -> None:
    other = replace(PLAN, **worse)  # type: ignore[arg-type]
    assert other.guarantee(delta=1e-6).epsilon > PLAN.guarantee(delta=1e-6).epsilon


@pytest.mark.parametrize(
    ("experts", "rounds", "epsilon", "most"),
    [(100, 10**6, 1.0, 2650), (100, 10**6, 0.1, 1.02e4), (10**6, 10**6, 1.0, 6.7e3)],
)
def test_the_best_plan_reaches_the_bounds_of_the_prototype(
    experts: int, rounds: int, epsilon: float, most: float
) -> None:
    recipe = ShrinkingDartboard(experts=experts, rounds=rounds, epsilon=epsilon, delta=1e-6)
    assert recipe.expected_regret_bound() <= most
    assert recipe.guarantee().within(PrivacyGuarantee(epsilon=epsilon, delta=1e-6))
    assert recipe.guarantee().epsilon >= 0.995 * epsilon  # little is given away
    plan = recipe.plan
    assert plan is not None
    assert plan.cap >= dartboard_switches_upper_bound(
        rounds=rounds, batch=plan.batch, rate=plan.rate, fake=plan.fake
    )


@pytest.mark.parametrize("epsilon", [0.003, 0.03, 0.3, 3.0, 30.0, 1000.0, 1e6])
@pytest.mark.parametrize("rounds", [1, 2, 50, 3000])
def test_every_plan_fits_its_budget(epsilon: float, rounds: int) -> None:
    plan = best_plan(experts=10, rounds=rounds, epsilon=epsilon, delta=1e-6)
    assert plan.guarantee(delta=1e-6).within(PrivacyGuarantee(epsilon=epsilon, delta=1e-6))


def test_planning_is_deterministic() -> None:
    sizes = {"experts": 7, "rounds": 12345, "epsilon": 0.7, "delta": 1e-5}
    assert best_plan.__wrapped__(**sizes) == best_plan.__wrapped__(**sizes)


def test_with_a_large_budget_privacy_is_free() -> None:
    rich = ShrinkingDartboard(experts=10, rounds=10_000, epsilon=50.0, delta=1e-6)
    plain = hedge_regret_upper_bound(experts=10, rounds=10_000)
    assert rich.expected_regret_bound() <= plain * 1.01


def test_a_plan_that_costs_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="plan must cost at most"):
        ShrinkingDartboard(experts=5, rounds=900, epsilon=0.5, delta=1e-6, plan=PLAN)


@pytest.mark.parametrize(
    "bad", [{"rate": 0.0}, {"fake": 0.0}, {"fake": 1.5}, {"batch": 0}, {"cap": -1}]
)
def test_bad_plans_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        replace(PLAN, **bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.02])
def test_published_batches_are_never_better_than_the_best(epsilon: float) -> None:
    sizes = {"experts": 50, "rounds": 10**5, "epsilon": epsilon, "delta": 1e-6}
    published, best = LazySwitching(**sizes), ShrinkingDartboard(**sizes)  # type: ignore[arg-type]
    assert published.plan is not None and published.plan.batch == math.ceil(1 / epsilon)
    assert best.expected_regret_bound() <= published.expected_regret_bound()
    # Proposition 1 of lazy_switching.md: batches of B rounds cost 0.39 √(TB) whatever is done.
    assert published.expected_regret_bound() >= 0.39 * math.sqrt(10**5 * published.plan.batch)


def test_the_lower_bound_for_few_switches_is_below_what_the_dartboard_promises() -> None:
    for rounds, epsilon in ((10**6, 0.01), (10**7, 0.003), (10**8, 0.01)):
        plan = best_plan(experts=2, rounds=rounds, epsilon=epsilon, delta=1e-12)
        floor = low_switching_regret_lower_bound(
            rounds=rounds, epsilon=epsilon, switches=plan.cap, delta=1e-12
        )
        bound = dartboard_regret_upper_bound(
            experts=2, rounds=rounds, batch=plan.batch, rate=plan.rate
        )
        assert 0 < floor <= bound


def test_a_cap_that_is_too_small_shows_in_the_bound() -> None:
    sizes = {"experts": 5, "rounds": 900, "epsilon": 5.0, "delta": 1e-6}
    bounds = [
        ShrinkingDartboard(**sizes, plan=replace(PLAN, cap=cap)).expected_regret_bound()  # type: ignore[arg-type]
        for cap in (0, 20, 60, 299)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] - bounds[-1] > 0.99 * 900  # without any draw nothing is learned
    theory = dartboard_regret_upper_bound(experts=5, rounds=900, batch=3, rate=0.01)
    assert bounds[-1] == pytest.approx(theory, abs=0.01)


def test_another_horizon_keeps_a_given_plan_and_plans_anew_without_one() -> None:
    sizes = {"experts": 50, "rounds": 10**5, "epsilon": 1.0, "delta": 1e-6}
    best = ShrinkingDartboard(**sizes)  # type: ignore[arg-type]
    assert best.plan is not None
    shorter = best.for_rounds(10**3)
    assert shorter == replace(best, rounds=10**3, plan=None) and shorter.plan != best.plan
    by_hand = replace(best, plan=replace(best.plan, cap=best.plan.cap - 1))
    assert by_hand.for_rounds(10**3).plan == by_hand.plan
