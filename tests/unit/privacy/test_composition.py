"""Composition: closed cases, and mechanisms that would break a cheaper rule."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add

import pytest
from scipy.special import ndtr

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.composition import (
    advanced_composition,
    basic_composition,
    optimal_composition,
    parallel_composition,
    user_level,
)
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated

EACH = PrivacyGuarantee(epsilon=0.01, delta=1e-9)


def test_ten_tenths_in_floats_exceed_one_and_the_sum_says_so() -> None:
    # The float 0.1 lies above a tenth; adding to nearest would hide that.
    total = basic_composition([PrivacyGuarantee(epsilon=0.1)] * 10)
    assert total.epsilon == math.nextafter(1.0, 2.0)
    assert reduce(add, [0.1] * 10) < 1.0  # sum() compensates since Python 3.12


def test_nothing_released_costs_nothing() -> None:
    assert basic_composition([]) == PrivacyGuarantee(epsilon=0.0)
    assert parallel_composition([], prefix_conditional=False) == PrivacyGuarantee(epsilon=0.0)


def test_one_unknown_cost_makes_the_whole_unknown() -> None:
    known = [EACH, NOT_PRIVATE]
    assert basic_composition(known) is NOT_PRIVATE
    assert parallel_composition(known, prefix_conditional=True) is NOT_PRIVATE
    assert advanced_composition(known, extra_delta=1e-6) is NOT_PRIVATE
    assert optimal_composition(NOT_PRIVATE, count=3, extra_delta=1e-6) is NOT_PRIVATE
    assert user_level(NOT_PRIVATE, max_contributions=2) is NOT_PRIVATE


def test_better_rules_give_smaller_epsilons_for_many_small_releases() -> None:
    basic = basic_composition([EACH] * 1000)
    advanced = advanced_composition([EACH] * 1000, extra_delta=1e-6)
    optimal = optimal_composition(EACH, count=1000, extra_delta=1e-6)
    assert optimal.epsilon < advanced.epsilon < basic.epsilon
    exact = 1000 * Fraction(1e-9) + Fraction(1e-6)
    assert Fraction(optimal.delta) >= exact and Fraction(advanced.delta) >= exact


def test_optimal_composition_of_one_release_needs_less_epsilon_for_the_extra_delta() -> None:
    one = optimal_composition(PrivacyGuarantee(epsilon=1.0), count=1, extra_delta=0.1)
    # delta = (e - e**x) / (1 + e) = 0.1
    assert one.epsilon == pytest.approx(math.log(math.e - 0.1 * (1 + math.e)), abs=1e-9)
    assert optimal_composition(PrivacyGuarantee(epsilon=0.1), count=1, extra_delta=0.4).epsilon == 0


def test_epsilons_beyond_all_use_are_simply_added() -> None:
    huge = PrivacyGuarantee(epsilon=1e6)
    assert optimal_composition(huge, count=3, extra_delta=1e-6).epsilon == 3e6
    assert advanced_composition([huge] * 3, extra_delta=1e-6).epsilon == 3e6
    assert not user_level(
        PrivacyGuarantee(epsilon=1e6, delta=1e-300), max_contributions=2
    ).is_private


@pytest.mark.parametrize("extra_delta", [0.0, 1.0, math.nan])
def test_an_extra_delta_must_be_a_probability(extra_delta: float) -> None:
    with pytest.raises(ValueError, match="extra_delta"):
        advanced_composition([EACH], extra_delta=extra_delta)
    with pytest.raises(ValueError, match="extra_delta"):
        optimal_composition(EACH, count=2, extra_delta=extra_delta)


@pytest.mark.parametrize("copies", [0, 1.5, True])
def test_counts_must_be_whole_and_positive(copies: int) -> None:
    with pytest.raises(ValueError, match="count"):
        optimal_composition(EACH, count=copies, extra_delta=0.1)
    with pytest.raises(ValueError, match="max_contributions"):
        user_level(EACH, max_contributions=copies)


def test_restarting_a_mechanism_with_a_published_flag_costs_delta_for_every_restart() -> None:
    # docs/GUARANTEES.md, F3: a flag of probability q, then the datum with probability delta / q.
    # The adversary waits for a flagged copy before it shows the special example.
    delta, restarts = Fraction(1, 1000), 50
    flag = Fraction(1, 500)
    leak = delta / flag * (1 - (1 - flag) ** restarts)
    one = PrivacyGuarantee(epsilon=0.0, delta=float(delta))
    free = parallel_composition([one] * restarts, prefix_conditional=True)
    paid = parallel_composition([one] * restarts, prefix_conditional=False)
    assert leak > 40 * Fraction(free.delta)
    assert leak <= Fraction(paid.delta)


@pytest.mark.parametrize("people", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_user_level_delta_is_attained_by_a_staircase(people: int, epsilon: float) -> None:
    # P_i(event) = e**epsilon * P_{i-1}(event) + delta from P_0(event) = 0: each step is allowed,
    # and after k steps the event has exactly the probability that the rule charges.
    delta, probability = 1e-6, 0.0
    for _ in range(people):
        probability = math.exp(epsilon) * probability + delta
    together = user_level(PrivacyGuarantee(epsilon=epsilon, delta=delta), max_contributions=people)
    assert together.delta == pytest.approx(probability, rel=1e-12)


def gaussian_delta(epsilon: float, distance: float) -> float:
    """The exact delta of Gaussian noise between means that are so many deviations apart."""
    tilted = math.exp(epsilon) * float(ndtr(-distance / 2 - epsilon / distance))
    return float(ndtr(distance / 2 - epsilon / distance)) - tilted


@pytest.mark.parametrize("people", [2, 5, 15, 40])
def test_user_level_of_concentrated_runs_covers_gaussian_noise(people: int) -> None:
    # Gaussian noise attains rho-zCDP, and k examples that each move the mean by the same amount
    # attain k**2 * rho: the promise must hold for it, and k * rho would not.
    each = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
    rho = ZeroConcentrated.largest(epsilon=1.0, delta=1e-6)
    together = user_level(each, max_contributions=people, concentrated=rho)
    moved = people * math.sqrt(2 * rho.rho)
    assert together.is_private
    assert gaussian_delta(together.epsilon, moved) <= together.delta
    wrong = rho.times(people).guarantee(delta=1e-6)
    assert gaussian_delta(wrong.epsilon, moved) > 10 * wrong.delta


def test_user_level_takes_the_better_of_two_accounts() -> None:
    """From 15 contributions on the other account promised nothing at all."""
    each = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
    rho = ZeroConcentrated.largest(epsilon=1.0, delta=1e-6)
    for people in range(2, 40):
        plain = user_level(each, max_contributions=people)
        better = user_level(each, max_contributions=people, concentrated=rho)
        converted = rho.times(people**2)
        assert better in (plain, converted.guarantee(delta=1e-6))
        if better == plain:
            assert plain.epsilon <= converted.epsilon_upper_bound(plain.delta)
    fifteen = user_level(each, max_contributions=15, concentrated=rho)
    assert fifteen.delta == 1e-6 and 21.7 < fifteen.epsilon < 21.8
    pure = PrivacyGuarantee(epsilon=1.0)
    assert user_level(pure, max_contributions=9, concentrated=rho).epsilon == 9
    assert user_level(each, max_contributions=1, concentrated=rho) == each


@pytest.mark.parametrize(
    "learner",
    [
        AgnosticFinite(concepts=Thresholds(8), rounds=1000, epsilon=1.0, delta=1e-6),
        NaiveRecomposition(concepts=Thresholds(8), rounds=1000, epsilon=1.0, delta=1e-6),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_concentrated_learners_promise_something_to_busy_users(learner: PrivateLearner) -> None:
    rho = learner.concentrated
    assert rho is not None
    # What one example is promised follows from it, so it describes the whole run.
    assert rho.guarantee(delta=1e-6).within(learner.per_example)
    busy = replace(learner, max_contributions=15)  # type: ignore[type-var]
    assert busy.guarantee().is_private and busy.guarantee().delta == 1e-6
    assert not user_level(learner.per_example, max_contributions=15).is_private
