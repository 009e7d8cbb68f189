"""Realizable experts: what they cost, and how they are planned."""

import math
from typing import Any

import pytest
from tests.reference.block_losses import OneBetter

from littlestone.learners.experts.play_experts import play_experts
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import seeded
from littlestone.theory.expert_bounds import (
    realizable_loss_upper_bound,
    realizable_phases_upper_bound,
)

SIZES: dict[str, Any] = {"experts": 100, "rounds": 10**5, "epsilon": 1.0, "delta": 1e-6}


def test_it_costs_one_watch_and_a_draw_for_each_further_phase() -> None:
    recipe = RealizableExperts(**SIZES)
    draws = ZeroConcentrated(rho=(recipe.phases - 1) * recipe.rate**2 / 2)
    cost = recipe.monitor.epsilon + draws.epsilon_upper_bound(1e-6)
    assert recipe.guarantee().epsilon == pytest.approx(cost, rel=1e-9)
    assert 0.999 <= recipe.guarantee().epsilon <= 1.0


def test_phases_are_those_of_the_theory() -> None:
    recipe = RealizableExperts(**SIZES)
    assert recipe.phases == realizable_phases_upper_bound(experts=100, failure_probability=0.025)
    assert recipe.monitor.threshold >= 3 / recipe.rate + math.log(4 * 10**5 / 0.05) / (
        recipe.monitor.epsilon
    )
    theory = realizable_loss_upper_bound(
        experts=100,
        rounds=10**5,
        zcdp=(recipe.phases - 1) * recipe.rate**2 / 2,
        above_threshold_epsilon=recipe.monitor.epsilon,
        failure_probability=0.05,
    )
    # One draw fewer than phases is drawn, so the rate is a little larger than there.
    assert 0.95 * theory <= recipe.loss_bound() <= theory
    assert recipe.loss_bound() < 4100


def test_the_bound_on_the_mean_adds_the_failures() -> None:
    sure = RealizableExperts(**SIZES, failure_probability=1e-5)
    assert sure.expected_regret_bound() == pytest.approx(sure.loss_bound() + 1)
    assert sure.deviation_bound(failure_probability=0.01) == 0
    assert sure.deviation_bound(failure_probability=1e-9) == 10**5


def test_a_worse_best_expert_needs_more_phases() -> None:
    phases = [RealizableExperts(**SIZES, best_loss=loss).phases for loss in (0, 30, 300)]
    assert phases == sorted(phases) and phases[0] < phases[-1]


def test_without_a_good_expert_it_stops_and_says_so() -> None:
    recipe = RealizableExperts(**{**SIZES, "rounds": 20_000, "epsilon": 30.0})
    run = recipe.start(rng=seeded(1))
    while run.rounds_played < 20_000:
        run.observe_many([[1] * 100] * 1000)
        if run.status != "learning":
            break
    assert run.status == "halted: the last phase is over"
    kept = run.play()
    assert run.observe_many([[1] * 100] * 50) == 50 and run.play() == kept


def test_it_finds_the_expert_that_never_errs() -> None:
    recipe = RealizableExperts(**{**SIZES, "rounds": 5000})
    played = play_experts(recipe, OneBetter(experts=100, gap=0.5), rounds=5000, rng=seeded(1))
    assert played.fewest_mistakes == 0 and played.mistakes < recipe.loss_bound()


@pytest.mark.parametrize(
    "bad", [{"best_loss": -1}, {"failure_probability": 0.0}, {"epsilon": 0.0}, {"experts": 0}]
)
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        RealizableExperts(**{**SIZES, **bad})
