"""Parameters of the eager forest."""

import math

import pytest

from littlestone.theory.golowich_livni_bounds import (
    adaptive_mistakes_order,
    dropped_count_upper_bound,
    frequency_lower_bound,
    fresh_copy_epsilon_lower_bound,
    kept_count_lower_bound,
    oblivious_mistakes_order,
    selections_upper_bound,
)


@pytest.mark.parametrize("leaves", [1, 2, 4, 8])
def test_selections_are_four_leaves_over_the_frequency(leaves: int) -> None:
    assert selections_upper_bound(leaves=leaves) * frequency_lower_bound(leaves=leaves) == (
        4 * leaves
    )


def test_kept_and_dropped_counts_are_the_two_sides_of_the_threshold() -> None:
    kept = kept_count_lower_bound(
        threshold=500.0, selections=10, threshold_epsilon=0.1, failure_probability=0.05
    )
    dropped = dropped_count_upper_bound(
        threshold=500.0, rounds=1000, query_epsilon=0.2, failure_probability=0.05
    )
    assert kept == pytest.approx(500 - 10 * math.log(20 / 0.05))
    assert dropped == pytest.approx(500 + 10 * math.log(2000 / 0.05))
    assert kept < 500 < dropped


@pytest.mark.parametrize("rounds", [10, 10**4, 10**8])
def test_shares_of_fresh_copies_compose_to_the_budget(rounds: int) -> None:
    epsilon, delta = 0.5, 1e-6
    share = fresh_copy_epsilon_lower_bound(rounds=rounds, epsilon=epsilon, delta=delta)
    advanced = math.sqrt(2 * rounds * math.log(2 / delta)) * share
    advanced += rounds * share * math.expm1(share)
    assert advanced <= epsilon
    assert 4 * advanced > epsilon


def test_the_price_of_adaptivity_is_the_root_of_the_rounds() -> None:
    arguments = {"dimension": 1, "epsilon": 1.0, "delta": 1e-6}
    oblivious = [oblivious_mistakes_order(rounds=r, **arguments) for r in (10**4, 10**6)]  # type: ignore[arg-type]
    adaptive = [adaptive_mistakes_order(rounds=r, **arguments) for r in (10**4, 10**6)]  # type: ignore[arg-type]
    assert oblivious[1] / oblivious[0] < 1.3
    assert adaptive[1] / adaptive[0] == pytest.approx(10)
