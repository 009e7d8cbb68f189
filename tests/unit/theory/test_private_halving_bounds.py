"""Private halving: the drop of the potential over all small weightings, and the plans."""

import itertools
import math
from fractions import Fraction

import pytest

from littlestone.theory.private_halving import (
    points_charge_lower_bound,
    points_triple_plan,
    potential_drop_lower_bound,
    restarted_mistakes_upper_bound,
    sampled_majority_mistakes_upper_bound,
    sampled_majority_plan,
    threshold_median_mistakes_upper_bound,
    threshold_median_plan,
)

# ε = 1, δ = 1e-6, a quarter of ε for AboveThreshold: ρ of (0.75, 1e-6) rounded down.
SPLIT = {
    "rounds": 10**5,
    "zcdp": 0.0142,
    "above_threshold_epsilon": 0.25,
    "failure_probability": 0.05,
}


@pytest.mark.parametrize("charge", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("margin", [0.0, 0.1, 0.25, 0.4])
def test_no_way_to_spread_the_charges_avoids_the_drop(charge: float, margin: float) -> None:
    # n mistakes, each charging a share ≥ ½ − γ of the weight: all integer spreads of the charges
    # over ten equal parts of the weight.
    mistakes, parts = 3, 10
    rate = charge / mistakes
    floor = math.exp(-potential_drop_lower_bound(margin=margin, charge=charge))
    least = math.ceil((0.5 - margin) * parts * mistakes)
    for spread in itertools.combinations_with_replacement(range(mistakes + 1), parts):
        if sum(spread) >= least:
            after = sum(math.exp(-rate * times) for times in spread) / parts
            assert after <= floor + 1e-12


@pytest.mark.parametrize(
    "weights", [[1, 1, 1, 1], [1, 2, 4, 8, 1], [100, 1, 1], [1], [3, 3], [1, 50, 1, 50, 1]]
)
def test_the_lighter_side_of_a_drawn_threshold_has_a_quarter_of_the_weight(
    weights: list[int],
) -> None:
    total = sum(weights)
    expected = sum(
        Fraction(weights[k], total)
        * min(Fraction(sum(weights[: k + 1]), total), Fraction(sum(weights[k:]), total))
        for k in range(len(weights))
    )
    assert expected >= Fraction(1, 4)


def charged(weights: list[float]) -> float:
    """Expected charge of three votes on points of these weights; the rest is the empty concept."""
    chosen = [p * p * (3 - 2 * p) for p in weights]
    empty = (1 - sum(chosen)) * (1 - max(weights))
    return sum(s * p for s, p in zip(chosen, weights, strict=True)) + empty


def test_three_votes_on_points_charge_more_than_the_stated_share() -> None:
    grid = [k / 40 for k in range(41)]
    worst = min(
        charged([a, b, c, *([rest / parts] * parts)])
        for a, b, c in itertools.combinations_with_replacement(grid, 3)
        if (rest := 1 - a - b - c) >= 0
        for parts in (1, 2, 7)
    )
    assert 0.39 == points_charge_lower_bound() < worst < 0.41


def test_the_proof_of_the_share_on_a_fine_grid() -> None:
    # The last line of the docstring; its slope in M and in p is below 6, so a grid suffices.
    step = 1 / 2000

    def least(largest: float) -> float:
        c, s = 1 - largest, largest**2 * (3 - 2 * largest)
        reach = min(largest, c)
        lost = max((q := reach * k / 500) * (3 - 2 * q) * (c - q) for k in range(501))
        return c + s * (2 * largest - 1) - c * lost

    assert min(least(k * step) for k in range(2001)) - 6 * (step + 1 / 500 / 2) / 2 > 0.39


def test_one_vote_on_points_has_no_constant_share() -> None:
    # A drawn point is contradicted by (point, 0), which charges that point only.
    size = 1000
    assert sum(Fraction(1, size) * Fraction(1, size) for _ in range(size)) == Fraction(1, size)


@pytest.mark.parametrize(("concepts", "points"), [(7, 6), (64, 63), (1000, 1000), (10**6, 10**4)])
def test_a_sampled_plan_is_consistent(concepts: int, points: int) -> None:
    plan = sampled_majority_plan(concepts=concepts, points=points, **SPLIT)  # type: ignore[arg-type]
    drop = potential_drop_lower_bound(margin=0.2, charge=1.0)
    assert concepts * math.exp(-drop * (plan.phases - 1)) <= 1
    misled = 2 * points * plan.phases * math.exp(-2 * plan.votes * 0.2**2)
    assert misled <= 0.05 / 3 * (1 + 1e-9)
    spent = (plan.phases - 1) * plan.votes * plan.rate**2 / 2
    assert spent <= 0.0142
    assert plan.rate * plan.mistakes_per_phase >= 1.0


@pytest.mark.parametrize("concepts", [2, 17, 1025, 2**20])
def test_a_median_plan_is_consistent(concepts: int) -> None:
    plan = threshold_median_plan(concepts=concepts, **SPLIT)  # type: ignore[arg-type]
    assert concepts * (1 - (1 - math.exp(-1)) / 4) ** plan.phases <= 0.025 * (1 + 1e-9)
    assert (plan.phases - 1) * plan.rate**2 / 2 <= 0.0142
    assert plan.votes == 1


def test_a_plan_for_points_is_consistent_and_beats_the_general_one() -> None:
    plan = points_triple_plan(concepts=1025, **SPLIT)  # type: ignore[arg-type]
    assert 1025 * (1 - 0.39 * (1 - math.exp(-1))) ** plan.phases <= 0.025 * (1 + 1e-9)
    assert 3 * (plan.phases - 1) * plan.rate**2 / 2 <= 0.0142
    general = sampled_majority_plan(concepts=1025, points=1024, **SPLIT)  # type: ignore[arg-type]
    assert plan.mistakes < general.mistakes / 2


def test_the_numbers_that_the_documents_quote() -> None:
    sampled = {
        (concepts, points): sampled_majority_mistakes_upper_bound(
            concepts=concepts,
            points=points,
            **SPLIT,  # type: ignore[arg-type]
        )
        for concepts, points in ((7, 6), (64, 63), (1000, 1000))
    }
    # The specification's 2993, 8845 and 1.9e4 count one phase of draws too many.
    assert sampled[7, 6] < 2993 and sampled[64, 63] < 8845 and sampled[1000, 1000] < 1.9e4
    median = threshold_median_mistakes_upper_bound(concepts=1024, **SPLIT)  # type: ignore[arg-type]
    assert median < sampled[1000, 1000] / 2


def test_bounds_grow_polylogarithmically_with_the_class() -> None:
    bounds = [
        threshold_median_mistakes_upper_bound(concepts=2**bits, **SPLIT)  # type: ignore[arg-type]
        for bits in (10, 20, 40)
    ]
    assert bounds[0] < bounds[1] < bounds[2] < 4 * bounds[1]


def test_restarts_cost_a_factor() -> None:
    assert restarted_mistakes_upper_bound(one_run=100.0, failure_probability=0.5) >= 200
    runs = sum(100.0 * 0.5**j for j in range(50))
    assert restarted_mistakes_upper_bound(one_run=100.0, failure_probability=0.5) >= runs


def test_margins_of_a_half_are_refused() -> None:
    with pytest.raises(ValueError, match="margin"):
        potential_drop_lower_bound(margin=0.5, charge=1.0)
