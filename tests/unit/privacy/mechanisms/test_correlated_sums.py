"""Correlated sums: the sensitivity in whole numbers, and what undoing the mix gives back."""

from fractions import Fraction

import numpy as np
import pytest

from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums, Vector
from littlestone.randomness import seeded

SUMS = CorrelatedSums(releases=12, width=3, longest_squared=25, rho=0.5)
BATCHES = np.random.default_rng(4).integers(-50, 50, size=(12, 3))


def released(recipe: CorrelatedSums, batches: np.ndarray, seed: int = 1) -> list[Vector]:
    """With frozen coins: two worlds get the same noise, and differ by their means."""
    run = recipe.start(rng=seeded(seed))
    return [run.release(batch.tolist()) for batch in batches]


def spent(recipe: CorrelatedSums, place: int, zero: Vector, one: Vector) -> Fraction:
    """The exact zero-concentrated cost of replacing one vector by another."""
    other = BATCHES.copy()
    other[place] += np.array(one) - np.array(zero)
    worlds = np.array([released(recipe, BATCHES), released(recipe, other)], dtype=object)
    shift = sum(int(part) ** 2 for part in (worlds[0] - worlds[1]).ravel())
    return Fraction(shift) / (2 * Fraction(recipe.noise.variance))


class WithoutTheFactorTwo(CorrelatedSums):
    """Broken: priced for a vector that comes or goes."""

    @property
    def _shift_squared(self) -> int:
        return self.longest_squared * sum(weight * weight for weight in self.mix)


@pytest.mark.parametrize("place", [0, 5, 11])
def test_replacing_a_vector_costs_rho_at_most_in_whole_numbers(place: int) -> None:
    longest, opposite = (3, 4, 0), (-3, -4, 0)
    for zero, one in ((longest, opposite), (longest, (0, 0, 5)), ((1, 2, 2), opposite)):
        assert spent(SUMS, place, zero, one) <= Fraction(SUMS.zero_concentrated().rho) <= SUMS.rho
    # The first batch is in every release, and the bound is attained there.
    assert (spent(SUMS, place, longest, opposite) > Fraction(49, 100)) == (place == 0)


def test_a_price_without_the_factor_two_is_noticed() -> None:
    broken = WithoutTheFactorTwo(releases=12, width=3, longest_squared=25, rho=0.5)
    assert spent(broken, 0, (3, 4, 0), (-3, -4, 0)) > Fraction(3, 2)


def test_the_mix_is_a_square_root_of_the_prefix_sums() -> None:
    mix = np.array(CorrelatedSums(releases=200, width=1, longest_squared=1, rho=1.0).mix)
    assert np.allclose(np.convolve(mix, mix)[:200], 2**20, rtol=0.01)


def test_undoing_the_mix_gives_the_sums_back_but_for_the_noise() -> None:
    exact = [
        tuple(int(part) for part in np.array(SUMS.mix[: b + 1][::-1]) @ BATCHES[: b + 1])
        for b in range(12)
    ]
    for b in range(12):
        assert np.allclose(SUMS.prefix_sum(exact[: b + 1]), BATCHES[: b + 1].sum(axis=0))


@pytest.mark.slow
def test_the_noise_of_the_last_prefix_sum_has_the_stated_deviation() -> None:
    # Of fixed seeds: nothing is left to chance. The ratio of 3,000 nearly normal values is off by
    # 1/sqrt(6000) = 0.013 usually.
    last = [SUMS.prefix_sum(released(SUMS, 0 * BATCHES, seed)) for seed in range(1000)]
    ratio = float(np.std(last)) / SUMS.deviation()
    assert abs(ratio - 1) < 0.1
    assert abs(2 * ratio - 1) > 0.1


def test_bad_numbers_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="releases"):
        CorrelatedSums(releases=2000, width=1, longest_squared=1, rho=1.0)
    with pytest.raises(ValueError, match="rho"):
        CorrelatedSums(releases=2, width=1, longest_squared=2**40, rho=1e-9)
    run = CorrelatedSums(releases=1, width=2, longest_squared=1, rho=1.0).start(rng=seeded(1))
    with pytest.raises(ValueError, match="total must be 2 whole numbers"):
        run.release((1, 2, 3))
    run.release((1, 2))
    with pytest.raises(ValueError, match="at most 1 times"):
        run.release((1, 2))
