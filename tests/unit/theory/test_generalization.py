"""Uniform convergence: exact tails of single concepts, and samples that reach their probability."""

import math
from fractions import Fraction

import pytest

from littlestone.theory.generalization import (
    agnostic_failure_upper_bound,
    agnostic_samples_upper_bound,
    realizable_failure_upper_bound,
    realizable_samples_upper_bound,
    relative_failure_upper_bound,
)


def binomial(trials: int, chance: Fraction) -> list[Fraction]:
    return [
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)
    ]


@pytest.mark.parametrize("true_error", [Fraction(1, 10), Fraction(3, 10)])
@pytest.mark.parametrize("samples", [50, 200, 400])
def test_a_single_concept_never_deviates_more_often_than_the_relative_bound(
    true_error: Fraction, samples: int
) -> None:
    law = binomial(samples, true_error)
    for relative, additive in ((0.5, 0.05), (0.9, 0.2), (0.2, 0.09)):
        bound = relative_failure_upper_bound(
            samples=samples, vc_dimension=0, relative=relative, additive=additive
        )
        optimistic = sum(
            p for k, p in enumerate(law) if true_error > (1 + relative) * k / samples + additive
        )
        pessimistic = sum(
            p for k, p in enumerate(law) if k / samples > (1 + relative) * true_error + additive
        )
        assert max(optimistic, pessimistic) <= bound


@pytest.mark.parametrize("samples", [100, 400])
def test_a_single_concept_never_deviates_more_often_than_the_agnostic_bound(samples: int) -> None:
    law = binomial(samples, Fraction(1, 2))
    for error in (0.05, 0.1, 0.2):
        exact = sum(p for k, p in enumerate(law) if abs(k / samples - 0.5) > error)
        assert exact <= agnostic_failure_upper_bound(samples=samples, vc_dimension=0, error=error)


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 4)])
def test_a_single_pair_never_deviates_more_often_than_the_realizable_bound(
    alpha: Fraction,
) -> None:
    for samples in (100, 400):
        bound = realizable_failure_upper_bound(samples=samples, vc_dimension=0, error=float(alpha))
        rare, common = binomial(samples, alpha), binomial(samples, 2 * alpha + Fraction(1, 100))
        assert sum(p for k, p in enumerate(rare) if k > 2 * alpha * samples) <= bound
        assert sum(p for k, p in enumerate(common) if k <= alpha * samples) <= bound


@pytest.mark.parametrize("vc_dimension", [0, 1, 5])
@pytest.mark.parametrize("error", [0.3, 0.05])
def test_the_wanted_samples_reach_the_probability_and_one_fewer_does_not(
    vc_dimension: int, error: float
) -> None:
    for samples_for, failure in (
        (realizable_samples_upper_bound, realizable_failure_upper_bound),
        (agnostic_samples_upper_bound, agnostic_failure_upper_bound),
    ):
        needed = samples_for(vc_dimension=vc_dimension, error=error, failure_probability=0.01)
        assert failure(samples=needed, vc_dimension=vc_dimension, error=error) <= 0.01
        assert failure(samples=10 * needed, vc_dimension=vc_dimension, error=error) <= 0.01
        assert failure(samples=needed - 1, vc_dimension=vc_dimension, error=error) > 0.01


def test_the_constant_of_the_realizable_bound_is_the_best_of_its_kind() -> None:
    # λ(1 − λ)/(1 + λ), where (1 + λ)α + (1 − λ)α = 2α, is largest at √2 − 1.
    best = max(k / 1000 * (1 - k / 1000) / (1 + k / 1000) for k in range(1, 1000))
    assert best <= 3 - 2 * math.sqrt(2) <= best + 1e-5


def test_realizable_samples_scale_with_one_over_alpha_and_agnostic_with_its_square() -> None:
    def ratio(samples_for: object) -> float:
        few, many = (
            samples_for(vc_dimension=2, error=error, failure_probability=0.05)  # type: ignore[operator]
            for error in (0.1, 0.01)
        )
        return float(many / few)

    assert 10 < ratio(realizable_samples_upper_bound) < 20
    assert 100 < ratio(agnostic_samples_upper_bound) < 200
