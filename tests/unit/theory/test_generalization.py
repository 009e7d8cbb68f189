"""Uniform convergence: exact tails of single concepts, and samples that reach their probability."""

import math
from fractions import Fraction

import pytest

from littlestone.theory.generalization import (
    agnostic_error_upper_bound,
    agnostic_failure_upper_bound,
    agnostic_samples_lower_bound,
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


def excess_of_the_best_rule(dimension: int, samples: int, gap: float) -> float:
    """Exactly: the majority of the labels at each of ``dimension`` points, labels ½ ± ``gap``."""
    wrong = 0.0
    for seen in range(samples + 1):  # how many of the samples are at one point
        place = math.comb(samples, seen) * (1 / dimension) ** seen
        place *= (1 - 1 / dimension) ** (samples - seen)
        for k in range(seen + 1):  # labels that tell the truth; a tie is a coin
            law = math.comb(seen, k) * (0.5 + gap) ** k * (0.5 - gap) ** (seen - k)
            wrong += place * law * (0.5 if 2 * k == seen else 2 * k < seen)
    return 2 * gap * wrong


def fails(dimension: int, samples: int, error: float, chance: float) -> bool:
    """Whether some gap makes even the best rule err more than the promise allows on average."""
    gaps = (error * step / 4 for step in range(5, 40) if error * step / 4 < 0.5)
    return any(
        excess_of_the_best_rule(dimension, samples, gap) > error + 2 * gap * chance for gap in gaps
    )


@pytest.mark.parametrize(("dimension", "error"), [(1, 0.01), (2, 0.02), (3, 0.02)])
def test_no_agnostic_learner_has_fewer_examples_than_the_floor(
    dimension: int, error: float
) -> None:
    floor = agnostic_samples_lower_bound(
        vc_dimension=dimension, error=error, failure_probability=0.01
    )
    assert floor > 20
    assert fails(dimension, floor - 1, error, 0.01)


def test_a_larger_constant_would_be_refuted_by_the_rule_that_there_is() -> None:
    floor = agnostic_samples_lower_bound(vc_dimension=1, error=0.05, failure_probability=0.01)
    assert fails(1, floor - 1, 0.05, 0.01)
    assert not fails(1, 100 * floor, 0.05, 0.01)


def test_the_floor_grows_with_the_square_and_stays_below_what_suffices() -> None:
    for error in (0.1, 0.01, 0.001):
        floor = agnostic_samples_lower_bound(vc_dimension=10, error=error, failure_probability=0.01)
        assert 0.005 < floor * error**2 / 10 < 1 / (64 * math.e) + 0.001
        assert floor < agnostic_samples_upper_bound(
            vc_dimension=10, error=error, failure_probability=0.01
        )
    assert agnostic_samples_lower_bound(vc_dimension=3, error=0.1, failure_probability=0.3) == 0


def test_the_agnostic_error_is_the_one_that_the_samples_were_planned_for() -> None:
    samples = agnostic_samples_upper_bound(vc_dimension=2, error=0.1, failure_probability=0.05)
    enough, fewer = (
        agnostic_error_upper_bound(samples=n, vc_dimension=2, failure_probability=0.05)
        for n in (samples, samples - 1)
    )
    assert enough <= 0.1 + 1e-9 and fewer > 0.1
