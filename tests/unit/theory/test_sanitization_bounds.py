"""Sample sizes: each condition of its proof at the bound, and broken just below it."""

import itertools
import math

import numpy as np
import pytest

from littlestone.theory.sanitization import (
    batched_regret_upper_bound,
    discriminator_samples_upper_bound,
    empirical_delta_upper_bound,
    empirical_epsilon_upper_bound,
    existence_samples_upper_bound,
    generator_rounds_upper_bound,
    labelled_error_upper_bound,
    realizable_discriminator_samples_upper_bound,
    realizable_rounds_upper_bound,
    sanitizer_samples_upper_bound,
    selection_samples_upper_bound,
    subsampled_delta_upper_bound,
    subsampled_epsilon_upper_bound,
    subsampled_samples_upper_bound,
)


def selection_failure(scores: list[int], epsilon: float, excess: int) -> float:
    """P[score ≥ least + excess] under the exponential mechanism."""
    weights = [math.exp(-epsilon * (s - min(scores)) / 2) for s in scores]
    bad = sum(w for w, s in zip(weights, scores, strict=True) if s >= min(scores) + excess)
    return bad / sum(weights)


def test_enough_samples_make_the_exponential_mechanism_accurate() -> None:
    concepts, error, epsilon, beta = 50, 0.1, 0.5, 0.05
    samples = selection_samples_upper_bound(
        concepts=concepts, error=error, epsilon=epsilon, failure_probability=beta
    )
    excess = math.floor(error * samples) + 1
    # The worst scores: one good concept, all others just bad enough to count as failures.
    assert selection_failure([0] + [excess] * (concepts - 1), epsilon, excess) <= beta
    fewer = math.floor(error * samples / 2)
    assert selection_failure([0] + [fewer] * (concepts - 1), epsilon, fewer) > beta


@pytest.mark.parametrize("error", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_discriminator_has_what_its_proof_asks_for(error: float, epsilon: float) -> None:
    beta = 0.05
    samples = discriminator_samples_upper_bound(
        error=error, epsilon=epsilon, failure_probability=beta
    )
    buckets = math.ceil(10 / error)
    choice = 2 * math.log(3 * buckets / beta) / (epsilon / 3 * samples)
    test = math.log(3 / beta) / (epsilon / 3 * samples)
    assert choice <= error / 10 and test <= error / 10
    # The printed constant, a third of ours, is not enough for a choice made with epsilon/3.
    assert 2 * math.log(3 * buckets / beta) / (epsilon / 3 * samples / 3) > error / 10


@pytest.mark.parametrize("error", [0.02, 0.3])
def test_the_realizable_discriminator_has_what_its_proof_asks_for(error: float) -> None:
    samples = realizable_discriminator_samples_upper_bound(
        error=error, epsilon=0.7, failure_probability=0.01
    )
    assert math.log(4 / 0.01) / (0.7 / 4 * samples) <= error / 9
    assert math.log(4 / 0.01) / (0.7 / 4 * (samples - 1)) > error / 9


def test_a_hostile_discriminator_cannot_object_more_often() -> None:
    # All concepts over four points, data on one of them, objections chosen as large as possible.
    data = np.array([1.0, 0.0, 0.0, 0.0])
    concepts = np.array(list(itertools.product((0, 1), repeat=4)))
    for gap in (0.1, 0.3, 0.6):
        weights = np.full(4, 0.25)
        objections = 0
        while True:
            advantage = concepts @ (data - weights)
            allowed = np.flatnonzero(advantage >= gap)
            if not len(allowed):
                break
            weakest = concepts[allowed[np.argmin(advantage[allowed])]]
            weights = weights * np.exp(4 * gap * weakest)
            weights /= weights.sum()
            objections += 1
        assert 0 < objections <= generator_rounds_upper_bound(points=4, gap=gap)


def test_the_sanitizer_has_what_its_rounds_ask_for() -> None:
    concepts, points, error, zcdp, beta = 64, 100, 0.1, 0.0243, 0.05
    samples = sanitizer_samples_upper_bound(
        concepts=concepts, points=points, error=error, zcdp=zcdp, failure_probability=beta
    )
    rounds = math.floor(math.log(points) / (2 * (5 * error / 8) ** 2)) + 1
    choose, test = math.sqrt(4 * zcdp / rounds), math.sqrt(zcdp / rounds)
    assert rounds * (choose**2 / 8 + test**2 / 2) == pytest.approx(zcdp)
    assert 2 / (choose * samples) * math.log(4 * concepts * rounds / beta) <= error / 8
    assert math.log(2 * rounds / beta) / (test * samples) <= error / 8


@pytest.mark.parametrize(
    ("lower", "documented"), [(1 / 3, 35.2), (0.25, 15.2), (0.2, 10.3), (0.1, 5.3)]
)
def test_documented_constants_of_the_multiplicative_rounds(lower: float, documented: float) -> None:
    points, error = 10**6, 0.001
    rounds = realizable_rounds_upper_bound(points=points, error=error, slack=lower / 3)
    assert rounds * error / math.log(points) == pytest.approx(documented, rel=0.01)


def test_a_hostile_realizable_discriminator_cannot_object_more_often() -> None:
    # Data on one of eight points; α = 1: f is reported as 1 when it contains it, else as 0.
    points, slack, theta = 8, 1 / 12, 0.478
    low, high = 3 * slack, 1 - 3 * slack
    sets = np.array(list(itertools.product((0, 1), repeat=points)))[1:]
    weights, objections = np.full(points, 1 / points), 0
    while True:
        predicted = sets @ weights >= theta
        wrong = np.flatnonzero(predicted != (sets[:, 0] == 1))
        if not len(wrong):
            break
        chosen = sets[wrong[np.argmin(np.abs(sets[wrong] @ weights - theta))]]
        factor = high / theta if chosen[0] else low / theta
        weights = weights * np.where(chosen == 1, factor, 1.0)
        weights /= weights.sum()
        objections += 1
    assert 0 < objections <= realizable_rounds_upper_bound(points=points, error=0.999, slack=slack)


def test_points_that_separate_exist_at_the_bound_and_need_the_corrected_lemma() -> None:
    error = 0.2
    samples = existence_samples_upper_bound(vc_dimension=1, error=error)
    failure = 8 * (2 * math.e * samples) * math.exp(-error * samples / 2736)
    assert failure < 1 <= 8 * 2 * math.e * (samples - 1) * math.exp(-error * (samples - 1) / 2736)
    relative, additive = 1 / 18, 1 / 36
    assert (1 + relative) / 2 + additive == pytest.approx(5 / 9)
    assert (1 + relative) * 4 / 9 + additive < 1 / 2


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("samples", [100, 10_000])
def test_subsampling_costs_at_most_one_and_a_quarter_delta_over_epsilon(
    epsilon: float, samples: int
) -> None:
    size = subsampled_samples_upper_bound(samples=samples, epsilon=epsilon)
    arguments = {"samples": samples, "size": size, "epsilon": epsilon}
    assert subsampled_epsilon_upper_bound(**arguments) <= 1  # type: ignore[arg-type]
    delta = subsampled_delta_upper_bound(delta=1e-6, **arguments)  # type: ignore[arg-type]
    assert delta <= 1.23e-6 / epsilon


def test_algorithm_four_costs_far_more_than_its_parameter() -> None:
    # docs/ERRATA.md, S7: the printed e^ε + 24e³ε, and the exact accounting below it.
    for epsilon in (2e-4, 0.01, 0.1):
        printed = math.log(math.exp(epsilon) + 24 * math.exp(3) * epsilon)
        exact = empirical_epsilon_upper_bound(share=epsilon, epsilon=epsilon, inner_epsilon=1.0)
        assert epsilon < exact < printed
    assert math.log(math.exp(2.17e-4) + 24 * math.exp(3) * 2.17e-4) == pytest.approx(0.1, abs=1e-3)
    assert empirical_epsilon_upper_bound(
        share=0.002, epsilon=0.002, inner_epsilon=0.5
    ) == pytest.approx(0.0373, abs=1e-4)
    assert empirical_delta_upper_bound(
        share=0.002, epsilon=0.002, inner_delta=1e-6
    ) == pytest.approx(0.008e-6 * math.exp(1.002))


def test_batches_charge_failures_in_full() -> None:
    regret = batched_regret_upper_bound(
        rounds=1000, batch=100, copy_regret=3.0, error=0.01, failure_probability=1e-4
    )
    assert regret == pytest.approx(300 + 40 + 1)
    hopeless = batched_regret_upper_bound(
        rounds=1000, batch=1, copy_regret=0.0, error=0.0, failure_probability=0.5
    )
    assert hopeless == pytest.approx(1000)


def test_two_sanitizers_and_a_count_give_the_error_of_labelled_data() -> None:
    # The identity behind it, on all datasets of four examples over {0, 1} and all concepts.
    for labels in itertools.product((0, 1), repeat=4):
        for xs in itertools.product((0, 1), repeat=4):
            for concept in itertools.product((0, 1), repeat=2):
                anchor = 0
                ones = sum(labels)
                moved = [
                    sum(concept[x if y == b else anchor] for x, y in zip(xs, labels, strict=True))
                    for b in (0, 1)
                ]
                errors = sum(concept[x] != y for x, y in zip(xs, labels, strict=True))
                assert errors == (moved[0] - moved[1] + ones + concept[anchor] * (4 - 2 * ones))
    bound = labelled_error_upper_bound(
        error=0.01, samples=1000, epsilon=1.0, failure_probability=0.05
    )
    assert bound == pytest.approx(0.02 + math.log(20) / 1000)
