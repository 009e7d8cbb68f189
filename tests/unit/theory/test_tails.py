"""Tails in floats beside the same sums in whole numbers."""

import math
from fractions import Fraction

import pytest

from littlestone.theory.tails import (
    beta_quantile,
    binomial_lower_tail,
    binomial_upper_tail,
    failures_upper_tail,
)

CHANCES = [Fraction(1, 2), Fraction(1, 1024), Fraction(1000, 1024), Fraction(311, 1024)]
CLOSE = Fraction(1, 10**11)


def exact_lower_tail(most: int, trials: int, chance: Fraction) -> Fraction:
    hits, misses, total = chance.numerator, chance.denominator - chance.numerator, 0
    for successes in range(most + 1):
        total += math.comb(trials, successes) * hits**successes * misses ** (trials - successes)
    return Fraction(total, chance.denominator**trials)


def is_close(value: float, exact: Fraction) -> bool:
    # Below the smallest normal float there are too few digits to compare.
    return abs(Fraction(value) - exact) <= CLOSE * exact or exact < Fraction(1, 10**290)


@pytest.mark.parametrize("chance", CHANCES, ids=str)
@pytest.mark.parametrize("trials", [1, 2, 15, 16, 40, 300])
def test_tails_are_those_of_the_exact_sums(trials: int, chance: Fraction) -> None:
    for most in {*range(0, trials, max(1, trials // 30)), trials - 1}:
        below = exact_lower_tail(most, trials, chance)
        assert is_close(binomial_lower_tail(most, trials, float(chance)), below)
        assert is_close(binomial_upper_tail(most, trials, float(chance)), 1 - below)
        # More than `most` failures before the last success: too few successes among so many.
        successes = trials - most
        failing = exact_lower_tail(successes - 1, trials, chance)
        assert is_close(failures_upper_tail(most, successes, float(chance)), failing)


def test_tails_of_many_trials_are_exact_where_they_can_be_counted() -> None:
    """Symmetry gives one tail, and the mass of one outcome the step between two."""
    for trials in (10**4, 10**5 + 1):
        middle = trials // 2
        two = binomial_lower_tail(middle - 1, trials, 0.5), binomial_lower_tail(middle, trials, 0.5)
        step = two[1] - two[0]
        exact = Fraction(math.comb(trials, middle), 2**trials)
        assert abs(Fraction(step) - exact) <= CLOSE
        assert binomial_upper_tail(trials - middle, trials, 0.5) == pytest.approx(two[0], rel=1e-11)


@pytest.mark.parametrize("probability", [1e-12, 1e-3, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (900, 1), (2, 3), (400, 60_000), (5, 5)])
def test_a_quantile_has_its_tail(shape: tuple[int, int], probability: float) -> None:
    a, b = shape
    x = beta_quantile(a, b, probability)
    assert binomial_upper_tail(a - 1, a + b - 1, x) == pytest.approx(probability, rel=1e-9)


def test_nothing_and_everything_are_certain() -> None:
    assert binomial_upper_tail(-1, 3, 0.2) == 1 and binomial_upper_tail(3, 3, 0.2) == 0
    assert binomial_lower_tail(3, 3, 0.2) == 1 and binomial_lower_tail(-1, 3, 0.2) == 0
    assert binomial_upper_tail(2, 3, 1.0) == 1 and binomial_lower_tail(2, 3, 1.0) == 0
    assert binomial_upper_tail(0, 3, 0.0) == 0 and binomial_lower_tail(0, 3, 0.0) == 1
    assert (beta_quantile(2, 3, 0.0), beta_quantile(2, 3, 1.0)) == (0, 1)
