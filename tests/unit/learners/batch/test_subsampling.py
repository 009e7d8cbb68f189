"""Subsampling: the exact formula against laws computed by listing every draw."""

import math
from itertools import pairwise, product

import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.learners.batch.subsampling import Subsampled, agnostic_error_bound
from littlestone.randomness import Randomness
from littlestone.theory.outwards import smallest_size

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


def chance_of_the_wrong_label(ones: int, recipe: Subsampled, epsilon: float) -> float:
    """Exactly: how often the coin with more errors on the data is learned."""
    share, draws = ones / recipe.size, recipe.draws
    return sum(
        math.comb(draws, k)
        * share**k
        * (1 - share) ** (draws - k)
        / (1 + math.exp(epsilon * (2 * k - draws) / 2))
        for k in range(draws + 1)
    )


BETA = 0.05


def broken_promises(recipe: Subsampled, epsilon: float, promised: float) -> list[int]:
    """The numbers of ones for which the excess is above the promise too often."""
    size = recipe.size
    return [
        ones
        for ones in range(size // 2 + 1, size + 1)
        if (2 * ones - size) / size > promised  # the excess of the concept 0
        and chance_of_the_wrong_label(ones, recipe, epsilon) > BETA
    ]


@pytest.mark.parametrize(("draws", "epsilon"), [(60, 1.0), (200, 0.5), (300, 1.0)])
def test_an_agnostic_learner_keeps_its_promise_on_all_data(draws: int, epsilon: float) -> None:
    inner = ProperSelection(concepts=COIN, epsilon=epsilon)
    recipe = Subsampled.planned(learner=inner, draws=draws, agnostic=True)
    promised = recipe.error_bound(size=recipe.size, failure_probability=BETA)
    assert promised < 1
    assert not broken_promises(recipe, epsilon, promised)
    # Not idle: a fifth of it is broken.
    assert broken_promises(recipe, epsilon, promised / 5)
    # The promise for data that some concept fits is smaller, so it cannot be the same one.
    realizable = Subsampled.planned(learner=inner, draws=draws)
    assert realizable.error_bound(size=recipe.size, failure_probability=BETA) < promised
    assert recipe.agnostic and not realizable.agnostic


def test_the_learner_s_own_bound_would_be_a_false_promise() -> None:
    """Broken variant: the learner's excess on the draws, as if they were the data."""
    inner = ProperSelection(concepts=COIN, epsilon=1.0)
    recipe = Subsampled.planned(learner=inner, draws=300, agnostic=True)
    assert broken_promises(recipe, 1.0, inner.error_bound(size=300, failure_probability=BETA))


def test_a_learner_that_is_not_agnostic_is_refused() -> None:
    inner = Subsampled.planned(learner=ProperSelection(concepts=COIN, epsilon=0.1), draws=100)
    assert agnostic_error_bound(inner, size=100, failure_probability=BETA) == 1
    with pytest.raises(ValueError, match="agnostic=True needs an agnostic learner"):
        Subsampled(learner=inner, draws=10, size=100, agnostic=True)


def records(error: float, epsilon: float) -> int:
    """How many the agnostic learner of thresholds takes at the total epsilon 1."""
    inner = ProperSelection(concepts=Thresholds(63), epsilon=epsilon)
    draws = smallest_size(
        lambda n: agnostic_error_bound(inner, size=n, failure_probability=BETA), error
    )
    recipe = Subsampled.planned(learner=inner, draws=draws, agnostic=True)
    assert recipe.guarantee().epsilon <= 1
    assert recipe.error_bound(size=recipe.size, failure_probability=BETA) <= error
    return recipe.size


def test_the_remark_s_square_is_a_matter_of_the_inner_epsilon() -> None:
    errors = (0.1, 0.01, 0.001)
    fixed = [records(error, 1.0) for error in errors]
    matched = [records(error, error) for error in errors]
    # Ten times the accuracy: close to 100 times the records at ε = 1, ten times at ε = α.
    assert all(60 < after / before < 101 for before, after in pairwise(fixed))
    assert all(9.9 < after / before < 10.1 for before, after in pairwise(matched))
