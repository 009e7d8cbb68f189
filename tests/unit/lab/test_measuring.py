"""The bounds that verdicts rest on, against all samples of coins."""

import math

import numpy as np
import pytest
from scipy import stats

from littlestone.lab.measuring import ADVANTAGE, mean_bounds, mean_regret, share_upper_bound
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.randomness import seeded

ALLOWED, TOSSES = 0.05, 400


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5, 0.9])
def test_bounds_on_a_mean_fail_as_seldom_as_stated(chance: float) -> None:
    tosses = [[1.0] * heads + [0.0] * (TOSSES - heads) for heads in range(TOSSES + 1)]
    bounds = [mean_bounds(sample, largest=1.0, allowed=ALLOWED) for sample in tosses]
    law = stats.binom.pmf(np.arange(TOSSES + 1), TOSSES, chance)
    assert law @ [low > chance for low, _ in bounds] <= ALLOWED
    assert law @ [high < chance for _, high in bounds] <= ALLOWED
    # They say something: half a coin is told apart from a fair one that never falls.
    assert bounds[TOSSES // 2][0] > 0.3 and bounds[TOSSES // 2][1] < 0.7


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.9])
def test_the_bound_on_a_share_fails_as_seldom_as_stated(chance: float) -> None:
    bounds = [share_upper_bound(hits, 50, allowed=ALLOWED) for hits in range(51)]
    law = stats.binom.pmf(np.arange(51), 50, chance)
    assert law @ [bound < chance for bound in bounds] <= ALLOWED
    assert bounds == sorted(bounds) and bounds[0] < 0.1 and bounds[-1] == 1


def test_a_larger_range_or_fewer_games_leave_more_to_chance() -> None:
    recipe = ExponentialWeights(experts=4, rounds=64, epsilon=4.0, delta=1e-6)
    bound = recipe.expected_regret_bound()
    few, many = (
        mean_regret(recipe, bound=bound, runs=runs, allowed=1e-9, rng=seeded(1)) for runs in (2, 8)
    )
    assert few.deviation == pytest.approx(2 * many.deviation)
    assert few.losses == many.losses == math.ceil(ADVANTAGE * bound) <= 64
    assert 0 <= many.mean <= many.losses
