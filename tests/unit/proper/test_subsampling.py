"""Subsampling: the exact formula against laws computed by listing every draw."""

import math
from itertools import product

import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.proper.proper_selection import ProperSelection
from littlestone.proper.subsampling import Subsampled
from littlestone.randomness import Randomness

COIN = FiniteClass([[0], [1]])


def chance_of_one(labels: tuple[int, ...], epsilon: float) -> float:
    """The law of ProperSelection on the class with the concepts 0 and 1."""
    surplus = sum(1 if y else -1 for y in labels)
    return 1 / (1 + math.exp(-epsilon * surplus / 2))


def subsampled_chance(labels: tuple[int, ...], draws: int, epsilon: float) -> float:
    every = [chance_of_one(drawn, epsilon) for drawn in product(labels, repeat=draws)]
    return sum(every) / len(every)


@pytest.mark.parametrize(("size", "draws"), [(2, 5), (3, 4), (4, 4), (5, 3)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_no_two_neighbours_are_told_apart_better_than_promised(
    size: int, draws: int, epsilon: float
) -> None:
    inner = ProperSelection(concepts=COIN, epsilon=epsilon)
    promised = Subsampled(learner=inner, draws=draws, size=size).guarantee().epsilon
    worst = 0.0
    for rest in product((0, 1), repeat=size - 1):
        zero, one = (subsampled_chance((y, *rest), draws, epsilon) for y in (0, 1))
        worst = max(worst, abs(math.log(one / zero)), abs(math.log((1 - one) / (1 - zero))))
    assert 0 < worst <= promised
    assert worst > 0.15 * promised  # the formula is no idle bound


def test_two_and_a_half_epsilon_draws_cost_at_most_one() -> None:
    for epsilon in (0.01, 0.1, 1.0):
        inner = ProperSelection(concepts=COIN, epsilon=epsilon)
        recipe = Subsampled.planned(learner=inner, draws=5000)
        assert recipe.size == pytest.approx(2.5 * epsilon * 5000, abs=2)
        assert recipe.guarantee().epsilon <= 1
        assert Subsampled(learner=inner, draws=5000, size=2 * recipe.size).guarantee().epsilon < (
            recipe.guarantee().epsilon
        )


def test_it_learns_from_the_data_and_refuses_too_few(rng: Randomness) -> None:
    inner = ProperSelection(concepts=COIN, epsilon=1.0)
    recipe = Subsampled.planned(learner=inner, draws=400)
    assert recipe.learn([(0, 1)] * recipe.size, rng=rng)(0) == 1  # errs with probability e^-200
    with pytest.raises(ValueError, match="at least"):
        recipe.learn([(0, 1)] * (recipe.size - 1), rng=rng)
    with pytest.raises(ValueError, match="x must be"):  # whether or not it would be drawn
        recipe.learn([(0, 1)] * recipe.size + [(1, 1)], rng=rng)
    assert recipe.needed(error=0.2, failure_probability=0.05) == recipe.size
    with pytest.raises(ValueError, match="draws"):
        recipe.needed(error=1e-4, failure_probability=0.05)
    with pytest.raises(ValueError, match="epsilon must be at most 1"):
        Subsampled.planned(learner=ProperSelection(concepts=COIN, epsilon=2.0), draws=100)
