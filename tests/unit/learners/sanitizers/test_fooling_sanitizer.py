"""Sequential fooling: plans keep their promises, and cost what they say."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reference.bucketed import BucketedDiscriminator
from tests.reference.dual_generator import DualGenerator

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.discriminator import FiniteDiscriminator
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.generator import HedgeGenerator
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.randomness import Randomness, seeded
from littlestone.theory.sanitization import sanitizer_samples_upper_bound

SCATTERED = FiniteClass(np.random.default_rng(5).integers(2, size=(64, 32)))
BUDGET = PrivacyGuarantee(epsilon=1.0, delta=1e-6)


def skewed(size: int, points: int, seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).dirichlet(np.full(points, 0.05))
    return np.random.default_rng(seed + 1).choice(points, size=size, p=weights)


def largest_error(recipe: FoolingSanitizer, data: np.ndarray, rng: Randomness) -> float:
    released = recipe.release(data, rng=rng)
    truth = recipe.queries.counts(recipe.queries.tally(data)) / len(data)
    return float(np.abs(released.estimates() - truth).max())


def test_the_planned_error_is_kept(rng: Randomness) -> None:
    # Each release may fail with probability 1e-10, and there are six.
    for seed in range(6):
        recipe = FoolingSanitizer.planned(
            concepts=SCATTERED,
            size=60_000,
            epsilon=1.0,
            delta=1e-6,
            failure_probability=1e-10,
        )
        bound = recipe.error_bound(size=60_000, failure_probability=1e-10)
        assert bound < 0.16
        assert largest_error(recipe, skewed(60_000, 32, seed), rng) <= bound


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_budget_is_used_and_not_exceeded(epsilon: float) -> None:
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=10_000, epsilon=epsilon, delta=1e-6)
    budget = PrivacyGuarantee(epsilon=epsilon, delta=1e-6)
    assert recipe.guarantee().within(budget)
    assert recipe.guarantee().epsilon > 0.999 * epsilon


def test_needed_is_the_smallest_size_that_a_plan_reaches() -> None:
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=1000, epsilon=1.0, delta=1e-6)
    needed = recipe.needed(error=0.1, failure_probability=0.05)

    def bound(size: int) -> float:
        plan = FoolingSanitizer.planned(concepts=SCATTERED, size=size, epsilon=1.0, delta=1e-6)
        return plan.error_bound(size=size, failure_probability=0.05)

    assert bound(needed) <= 0.1 + 1e-4
    assert bound(needed - needed // 50) > 0.1
    assert 0.9 < recipe.needed(error=0.05, failure_probability=0.05) / needed / 4 < 1.2


def test_one_watch_for_all_rounds_saves_examples() -> None:
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=1000, epsilon=1.0, delta=1e-6)
    rho = 0.0243  # what (1, 1e-6) allows
    tested_each_round = sanitizer_samples_upper_bound(
        concepts=64, points=32, error=0.1, zcdp=rho, failure_probability=0.05
    )
    assert recipe.needed(error=0.1, failure_probability=0.05) < tested_each_round / 2.5


def test_too_few_rounds_promise_nothing_but_a_win_still_means_something(rng: Randomness) -> None:
    data = skewed(60_000, 32)
    recipe = FoolingSanitizer.planned(
        concepts=SCATTERED,
        size=60_000,
        epsilon=1.0,
        delta=1e-6,
        failure_probability=1e-10,
        optimism=8.0,
    )
    planned = FoolingSanitizer.planned(
        concepts=SCATTERED, size=60_000, epsilon=1.0, delta=1e-6, failure_probability=1e-10
    )
    assert recipe.error_bound(size=60_000, failure_probability=1e-10) == 1.0
    assert recipe.guarantee().within(BUDGET)
    assert recipe.discriminator.rounds < planned.discriminator.rounds
    released = recipe.release(data, rng=rng)
    certified = released.error_bound(failure_probability=1e-10)
    truth = recipe.queries.counts(recipe.queries.tally(data)) / len(data)
    assert np.abs(released.estimates() - truth).max() <= certified
    if released.won:
        assert certified < planned.error_bound(size=60_000, failure_probability=1e-10)


def test_a_release_that_did_not_win_certifies_nothing() -> None:
    recipe = FoolingSanitizer(
        concepts=Thresholds(3),
        generator=HedgeGenerator(step=0.01),
        discriminator=FiniteDiscriminator(
            rounds=3, threshold=0.01, choose_epsilon=1.0, test_epsilon=1.0
        ),
        delta=1e-6,
    )
    released = recipe.release([2] * 5000, rng=seeded(1))
    assert not released.won
    assert released.rounds == 3
    assert released.error_bound(failure_probability=0.05) == 1.0


def test_labels_are_sanitized_directly(rng: Randomness) -> None:
    points = skewed(60_000, 31)
    labels = np.random.default_rng(3).random(60_000) < np.where(points >= 16, 0.8, 0.1)
    data = list(zip(points.tolist(), labels.astype(int).tolist(), strict=True))
    recipe = FoolingSanitizer.planned(
        concepts=Thresholds(31),
        size=60_000,
        epsilon=1.0,
        delta=1e-6,
        labelled=True,
        failure_probability=1e-10,
    )
    released = recipe.release(data, rng=rng)
    bound = recipe.error_bound(size=60_000, failure_probability=1e-10)
    for concept in Thresholds(31).concepts():
        errors = sum(concept.many(points) != labels) / 60_000
        assert abs(released.estimate(concept) - errors) <= bound
    synthetic = released.dataset(200)
    assert {label for _, label in synthetic} == {0, 1}
    assert all(0 <= x < 31 for x, _ in synthetic)


def test_other_generators_and_discriminators_fit_in(rng: Randomness) -> None:
    concepts = Points(12)
    recipe = FoolingSanitizer.planned(concepts=concepts, size=50_000, epsilon=1.0, delta=1e-6)
    dual = DualGenerator.for_gap(recipe.queries, gap=0.15)
    bucketed = BucketedDiscriminator(rounds=dual.rounds, error=0.3, epsilon=0.05)
    other = replace(recipe, generator=dual, discriminator=bucketed)
    data = np.repeat([3, 7], [30_000, 20_000])
    assert other.error_bound(size=50_000, failure_probability=1e-6) < 0.36
    assert largest_error(other, data, rng) < 0.36
    assert other.guarantee().epsilon > 0
    assert other.needed(error=0.3, failure_probability=0.05) > 0


def test_a_dataset_keeps_the_estimates_and_samples_come_from_the_distribution(
    rng: Randomness,
) -> None:
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=20_000, epsilon=1.0, delta=1e-6)
    released = recipe.release(skewed(20_000, 32), rng=rng)
    synthetic = recipe.queries.tally(released.dataset(500))
    shares = recipe.queries.counts(synthetic) / 500
    assert np.abs(shares - released.estimates()).max() < 0.06
    drawn = recipe.queries.tally(released.sample(20_000, rng=rng)) / 20_000
    # Hoeffding over 32 cells at 1e-9 each: sqrt(ln(2e9) / 40,000) < 0.024.
    assert np.abs(drawn - released.weights).max() < 0.024
    assert sum(released.distribution().values()) == pytest.approx(1)


def test_a_plan_may_be_given_a_share_of_a_larger_budget() -> None:
    whole = MixedBudget.split(epsilon=1.0, delta=1e-6)
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=10_000, budget=whole.divided(4))
    plain, concentrated = recipe.costs()
    assert 4 * plain.epsilon <= whole.epsilon  # type: ignore[union-attr]
    assert 4 * concentrated.rho <= whole.rho * (1 + 1e-12)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="epsilon and delta"):
        FoolingSanitizer.planned(concepts=SCATTERED, size=10_000, epsilon=1.0)


def test_tiny_datasets_are_sanitized_without_any_promise(rng: Randomness) -> None:
    recipe = FoolingSanitizer.planned(concepts=SCATTERED, size=3, epsilon=1.0, delta=1e-6)
    assert recipe.error_bound(size=3, failure_probability=0.05) == 1.0
    assert 0 <= recipe.release([1, 2, 3], rng=rng).estimate(next(SCATTERED.concepts())) <= 1
