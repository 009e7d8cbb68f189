"""Error bounds of AboveThreshold: their formulas, and the one-sided ones against exact laws."""

import math

import pytest

from littlestone.theory.above_threshold_bounds import (
    general_early_upper_bound,
    general_late_upper_bound,
    one_sided_early_upper_bound,
    one_sided_late_upper_bound,
    one_sided_overshoot_upper_bound,
    paper_error_upper_bound,
    paper_overshoot_upper_bound,
)


def geometric_tail(epsilon: float, least: int) -> float:
    """P[noise ≥ least] of the geometric law on 0, 1, 2, … with ratio e^(−ε)."""
    return math.exp(-epsilon * max(least, 0))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("rounds", [1, 10, 10**6])
def test_no_noise_of_all_rounds_exceeds_the_early_bound(epsilon: float, rounds: int) -> None:
    beta = 0.05
    bound = one_sided_early_upper_bound(rounds=rounds, epsilon=epsilon, failure_probability=beta)
    # ⊤ at q < τ − bound needs noise above the bound; the first integer there is ⌊bound⌋ + 1.
    chance = geometric_tail(epsilon, math.floor(bound) + 1)
    assert 1 - (1 - chance) ** rounds <= beta


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("instances", [1, 50])
def test_no_threshold_noise_of_all_instances_exceeds_the_late_bound(
    epsilon: float, instances: int
) -> None:
    bound = one_sided_late_upper_bound(
        instances=instances, epsilon=epsilon, failure_probability=0.05
    )
    chance = geometric_tail(epsilon, math.floor(bound) + 1)
    assert 1 - (1 - chance) ** instances <= 0.05


def test_the_comparison_that_the_documents_quote() -> None:
    ours = one_sided_overshoot_upper_bound(
        rounds=10**5, instances=1, epsilon=0.5, failure_probability=0.05
    )
    papers = paper_overshoot_upper_bound(rounds=10**5, epsilon=0.5, failure_probability=0.05)
    assert ours == pytest.approx(2 * (math.log(4e6) + math.log(40)) + 1)
    assert papers == pytest.approx(32 * (math.log(1e5) + math.log(1.2e7)) + 1)
    assert 38 < ours < 39 and 890 < papers < 892


def test_the_paper_error_is_its_formula() -> None:
    bound = paper_error_upper_bound(rounds=1000, epsilon=0.1, failure_probability=0.01)
    assert bound == pytest.approx(80 * (math.log(1000) + math.log(200)))


def test_general_queries_pay_twice_for_query_noise() -> None:
    early = general_early_upper_bound(rounds=100, query_epsilon=1.0, failure_probability=0.1)
    late = general_late_upper_bound(instances=1, threshold_epsilon=1.0, failure_probability=0.1)
    assert early == pytest.approx(2 * math.log(1000))
    assert late == pytest.approx(math.log(10))


def test_bounds_grow_with_rounds_and_shrink_with_epsilon() -> None:
    def bound(rounds: int, epsilon: float) -> float:
        return one_sided_overshoot_upper_bound(
            rounds=rounds, instances=3, epsilon=epsilon, failure_probability=0.05
        )

    assert bound(10, 1.0) < bound(100, 1.0) < bound(100, 0.5)


@pytest.mark.parametrize("beta", [0.0, 1.0, math.nan])
def test_impossible_failure_probabilities_are_refused(beta: float) -> None:
    with pytest.raises(ValueError, match="failure_probability"):
        paper_error_upper_bound(rounds=10, epsilon=1.0, failure_probability=beta)
