"""The coupon lemma against exact occupancy probabilities."""

import math
from fractions import Fraction

import pytest

from littlestone.theory.concentration import (
    coupon_cells_upper_bound,
    coupon_failure_upper_bound,
    half_uncovered_upper_bound,
)


def exactly_half_missed(cells: int, bins: int, draws: int) -> Fraction:
    """P[at most half of the first ``cells`` bins are hit], one draw after another."""
    hit = {0: Fraction(1)}
    for _ in range(draws):
        later: dict[int, Fraction] = {}
        for covered, chance in hit.items():
            new = Fraction(cells - covered, bins)
            later[covered + 1] = later.get(covered + 1, Fraction(0)) + chance * new
            later[covered] = later.get(covered, Fraction(0)) + chance * (1 - new)
        hit = later
    return sum((chance for covered, chance in hit.items() if 2 * covered <= cells), Fraction(0))


@pytest.mark.parametrize("bins", [1, 3, 8, 20])
@pytest.mark.parametrize("factor", [2, 3])
def test_both_bounds_are_above_the_exact_probability(bins: int, factor: int) -> None:
    for cells in range(1, bins + 1):
        exact = exactly_half_missed(cells, bins, factor * bins)
        assert exact <= half_uncovered_upper_bound(cells=cells, bins=bins, draws=factor * bins)
        assert exact <= coupon_failure_upper_bound(cells=cells)


def test_with_fewer_draws_than_bins_the_lemma_would_be_false() -> None:
    assert exactly_half_missed(20, 20, 14) > coupon_failure_upper_bound(cells=20)


@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-6, 1e-12])
def test_the_wanted_number_of_cells_reaches_the_wanted_probability(beta: float) -> None:
    cells = coupon_cells_upper_bound(failure_probability=beta)
    assert coupon_failure_upper_bound(cells=cells) <= beta
    assert cells <= 4 * math.log(1 / beta) + 1.000001


def test_more_cells_than_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="cells must be at most bins=3, got cells=4"):
        half_uncovered_upper_bound(cells=4, bins=3, draws=6)
