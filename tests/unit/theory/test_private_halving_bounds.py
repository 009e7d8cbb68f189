"""Private halving: the drop of the potential over all small weightings."""

import itertools
import math

import pytest

from littlestone.theory.expert_bounds import (
    points_charge_lower_bound,
    potential_drop_lower_bound,
)


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


def test_margins_of_a_half_are_refused() -> None:
    with pytest.raises(ValueError, match="margin"):
        potential_drop_lower_bound(margin=0.5, charge=1.0)


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
