"""Each tail bound against the exact tail on small cases, where nothing is left to chance."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from littlestone.theory.concentration import (
    hoeffding_upper_bound,
    mean_upper_bound,
    permutation_swap_upper_bound,
    permutation_upper_bound,
    without_replacement_upper_bound,
)


def binomial_lower_tail(trials: int, chance: Fraction, most: Fraction) -> Fraction:
    return sum(
        (
            math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k)
            for k in range(trials + 1)
            if k <= most
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("trials", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("chance", [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)])
def test_hoeffding_is_above_every_binomial_tail(trials: int, chance: Fraction) -> None:
    for below in range(trials + 1):
        deviation = trials * chance - below
        if deviation >= 0:
            exact = binomial_lower_tail(trials, chance, Fraction(below))
            assert exact <= hoeffding_upper_bound(deviation=float(deviation), variables=trials)


def test_a_quarter_of_the_hoeffding_exponent_more_would_be_wrong() -> None:
    # The exponent 2 is the best one: with 2.5 a fair coin's tail exceeds the bound.
    exact = binomial_lower_tail(400, Fraction(1, 2), Fraction(170))
    assert exact > math.exp(-2.5 * 30**2 / 400 - math.log(9))
    assert exact <= hoeffding_upper_bound(deviation=30, variables=400)


def permutation_tails(elements: str, function: Callable[[str], int]) -> dict[Fraction, Fraction]:
    values = [function("".join(order)) for order in itertools.permutations(elements)]
    mean = Fraction(sum(values), len(values))
    gaps = {mean - value for value in values if value <= mean}
    return {
        gap: Fraction(sum(1 for value in values if mean - value >= gap), len(values))
        for gap in gaps
    }


def agreeing_pairs(order: str) -> int:
    return sum(left == right for left, right in zip(order[::2], order[1::2], strict=True))


def fixed_places(order: str) -> int:
    return sum(here == wanted for here, wanted in zip(order, "aaaabbbb", strict=False))


@pytest.mark.parametrize("function", [agreeing_pairs, fixed_places])
@pytest.mark.parametrize("elements", ["aabb", "aaaabb", "aabbcc", "aaaabbbb"])
def test_permutation_bounds_are_above_every_exact_tail(
    elements: str, function: Callable[[str], int]
) -> None:
    for gap, exact in permutation_tails(elements, function).items():
        arguments = {"deviation": float(gap), "variables": len(elements)}
        assert exact <= permutation_swap_upper_bound(**arguments)  # type: ignore[arg-type]
        assert exact <= permutation_upper_bound(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("population", "ones", "draws"), [(10, 4, 5), (30, 12, 10), (50, 40, 25)])
def test_chernoff_without_replacement_is_above_every_hypergeometric_tail(
    population: int, ones: int, draws: int
) -> None:
    mean = Fraction(draws * ones, population)
    for below in range(math.ceil(mean)):
        exact = Fraction(
            sum(
                math.comb(ones, k) * math.comb(population - ones, draws - k)
                for k in range(below + 1)
                if draws - k >= 0
            ),
            math.comb(population, draws),
        )
        share = 1 - below / mean
        if 0 < share < 1:
            assert exact <= without_replacement_upper_bound(share=float(share), mean=float(mean))


def test_disagreeing_pairs_of_a_random_matching_can_be_positively_correlated() -> None:
    # docs/ERRATA.md, R20: of the three matchings of a, a, b, b two have both pairs disagree.
    orders = ["".join(order) for order in itertools.permutations("aabb")]
    first = Fraction(sum(o[0] != o[1] for o in orders), len(orders))
    both = Fraction(sum(o[0] != o[1] and o[2] != o[3] for o in orders), len(orders))
    assert (first, both) == (Fraction(2, 3), Fraction(2, 3))
    assert both > first**2


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_nonsense_deviations_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="deviation"):
        hoeffding_upper_bound(deviation=bad, variables=3)


@pytest.mark.parametrize("most", [3.0, 50.0, 1e6])
def test_a_mean_is_bounded_by_its_tails(most: float) -> None:
    """An exponential variable, capped: its mean is 1 − e^(−most), and its quantiles are known."""

    def tail(*, failure_probability: float) -> float:
        return min(most, -math.log(failure_probability))

    mean = -math.expm1(-most)
    bound = mean_upper_bound(tail, most=most)
    # The quantile of a lower end replaces those up to four times as likely: at most ln 4 more.
    assert mean < bound < mean + math.log(4) + 1e-5


def test_a_mean_without_a_largest_value_is_unknown() -> None:
    assert mean_upper_bound(lambda *, failure_probability: 1.0, most=math.inf) == math.inf
    assert mean_upper_bound(lambda *, failure_probability: 5.0, most=5.0) == pytest.approx(5.0)
