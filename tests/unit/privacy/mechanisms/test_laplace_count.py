"""Noisy counts: whole numbers in, whole numbers out."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.rounding import exp_lower_bound, exp_upper_bound
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, seeded


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("failure", [0.5, 0.05, 1e-9])
def test_the_error_bound_is_the_smallest_with_its_failure_probability(
    epsilon: float, sensitivity: int, failure: float
) -> None:
    rate = Fraction(epsilon) / sensitivity
    bound = LaplaceCount(epsilon=epsilon, sensitivity=sensitivity).error_upper_bound(
        failure_probability=failure
    )

    def beyond(n: int) -> Fraction:  # 2 q**(n+1) / (1 + q)
        return 2 * exp_upper_bound(-rate * (n + 1)) / (1 + exp_lower_bound(-rate))

    assert beyond(bound) <= failure * (1 + Fraction(1, 10**50))
    assert bound == 0 or beyond(bound - 1) > failure


def test_counts_of_any_size_are_released_as_whole_numbers(rng: Randomness) -> None:
    mechanism = LaplaceCount(epsilon=1.0)
    released = mechanism.release(10**30, rng=rng)
    assert isinstance(released, int) and abs(released - 10**30) < 100
    many = mechanism.release_many(np.array([[0, 10], [20, 30]]), rng=rng)
    assert many.dtype == np.int64 and many.shape == (2, 2)


def test_costs_are_stated_for_the_whole_sensitivity() -> None:
    mechanism = LaplaceCount(epsilon=0.5, sensitivity=4)
    assert mechanism.guarantee().epsilon == 0.5
    assert mechanism.zero_concentrated() == ZeroConcentrated(rho=0.125)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_impossible_epsilons_are_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        LaplaceCount(epsilon=epsilon)


def test_counts_that_are_not_whole_are_refused_before_any_noise_is_drawn() -> None:
    rng = seeded(1)
    before = rng.state()
    counts: list[Any] = [1.0, math.nan, "3", True]
    for count in counts:
        with pytest.raises(ValueError, match="count"):
            LaplaceCount(epsilon=1.0).release(count, rng=rng)
    with pytest.raises(ValueError, match="counts"):
        LaplaceCount(epsilon=1.0).release_many(np.array([0.5]), rng=rng)
    with pytest.raises(ValueError, match="at most 64 bits with sign"):  # it would wrap around
        LaplaceCount(epsilon=1.0).release_many(np.array([2**63], dtype=np.uint64), rng=rng)
    with pytest.raises(ValueError, match="sensitivity"):
        LaplaceCount(epsilon=1.0, sensitivity=0)
    assert rng.state() == before
