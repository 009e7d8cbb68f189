"""Floors: the documented values, the plain maximum, and learners that must respect them."""

import math
from typing import Any

import pytest

from littlestone.theory.floors import (
    coin_tree_lower_bound,
    deterministic_lower_bound,
    logarithmic_lower_bound,
    points_window_lower_bound,
    randomized_lower_bound,
    sparse_sets_lower_bound,
)


def plain_floor(rounds: int, epsilon: float, delta: float, longest: int) -> float:
    """The formula over every block length, term by term."""
    best = 0.0
    for block in range(1, longest + 1):
        lost = sum(math.expm1((i - 1) * epsilon) / math.expm1(epsilon) for i in range(1, block + 1))
        anywhere = sum(math.exp((i - 1) * epsilon) for i in range(1, block + 1))
        weight = math.exp((block - 1) * epsilon) / (rounds // block)
        weight = min(weight, anywhere / (rounds - block + 1))
        best = max(best, (block - delta * lost) / (1 + weight))
    return best


@pytest.mark.parametrize(("epsilon", "documented"), [(0.1, 83.3), (0.5, 20), (1, 10.9), (2, 5.9)])
def test_the_documented_floors(epsilon: float, documented: float) -> None:
    found = points_window_lower_bound(rounds=10**6, epsilon=epsilon, delta=1e-6)
    assert round(found, 1) == documented


@pytest.mark.parametrize("rounds", [1, 2, 7, 100, 10**4])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0])
def test_the_search_finds_the_plain_maximum(rounds: int, epsilon: float) -> None:
    for delta in (0.0, 1e-9, 1e-3):
        plain = plain_floor(rounds, epsilon, delta, longest=min(rounds, 150))
        found = points_window_lower_bound(rounds=rounds, epsilon=epsilon, delta=delta)
        # Any block is valid, so the search may only miss a little because of ⌊T/k⌋.
        assert 0.9 * plain <= found <= plain


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_the_closed_form_is_below_the_maximum_and_grows_like_the_logarithm(epsilon: float) -> None:
    def closed(exponent: int) -> float:
        return logarithmic_lower_bound(rounds=10**exponent, epsilon=epsilon, delta=0.0)

    for exponent in (3, 6, 9):
        whole = points_window_lower_bound(rounds=10**exponent, epsilon=epsilon, delta=0.0)
        assert closed(exponent) <= whole
    slope = (closed(12) - closed(6)) / (6 * math.log(10))
    assert slope == pytest.approx(1 / (2 * epsilon), rel=0.1)


def test_a_delta_that_spoils_the_closed_form_is_refused() -> None:
    with pytest.raises(ValueError, match="delta must be at most"):
        logarithmic_lower_bound(rounds=10**6, epsilon=0.1, delta=1e-6)


def test_a_learner_that_ignores_the_data_stays_above_the_floor() -> None:
    # Perfect privacy: answering 1 with probability p everywhere costs max(pT, (1 − p)T) ≥ T/2.
    for rounds in (1, 2, 50):
        assert (
            points_window_lower_bound(rounds=rounds, epsilon=1e-9, delta=0.0) <= rounds / 2 + 1e-6
        )


def test_without_privacy_the_dimension_decides() -> None:
    assert deterministic_lower_bound(littlestone_dimension=4) == 4
    assert randomized_lower_bound(littlestone_dimension=4) == 2.0
    assert points_window_lower_bound(rounds=10**6, epsilon=50.0, delta=0.0) <= 1


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="rounds"):
        points_window_lower_bound(rounds=0, epsilon=1.0, delta=0.0)
    with pytest.raises(ValueError, match="epsilon"):
        points_window_lower_bound(rounds=10, epsilon=math.nan, delta=0.0)


@pytest.mark.parametrize("epsilon", [3e-4, 0.1, 1.0, 800.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1])
def test_the_floor_of_every_class_by_its_definition(epsilon: float, delta: float) -> None:
    rounds, total = 4 * 10**6, 0.0
    for j in range(min(rounds // 4, int(45 / epsilon) + 1)):
        grown = math.exp(min(j * epsilon, 700.0))
        lost = delta * (grown - 1) / math.expm1(min(epsilon, 700.0))
        total += max(0.0, 1 - lost) / (1 + grown)
    found = coin_tree_lower_bound(
        littlestone_dimension=4, rounds=rounds, epsilon=epsilon, delta=delta
    )
    # Where terms are too many, the integral is below the sum, and a large delta leaves the first.
    assert found <= 4 * total + 1e-9
    assert found >= (0.99 if delta * 40 < epsilon**2 or epsilon > 1e-3 else 0.0) * 4 * total
    assert found >= 2.0 - 1e-9


def test_without_privacy_half_of_the_dimension_is_left() -> None:
    few: dict[str, Any] = {"rounds": 10**6, "epsilon": 800.0, "delta": 0.0}
    assert coin_tree_lower_bound(littlestone_dimension=6, **few) == pytest.approx(3.0)
    assert coin_tree_lower_bound(littlestone_dimension=0, **few) == 0
    short = coin_tree_lower_bound(littlestone_dimension=6, rounds=4, epsilon=1.0, delta=0.0)
    assert short == 2.0


def test_sets_of_keys_pay_for_each() -> None:
    budget: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-9}
    one = points_window_lower_bound(rounds=10**5, **budget)
    ten = sparse_sets_lower_bound(littlestone_dimension=10, rounds=10**6, **budget)
    assert ten == pytest.approx(10 * one)
