"""Regret bounds against exact small games and independently computed numbers."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import ndtr

from littlestone.theory.expert_bounds import (
    agnostic_experts_upper_bound,
    constructed_experts_upper_bound,
    dartboard_regret_upper_bound,
    dartboard_switches_upper_bound,
    dartboard_zcdp_upper_bound,
    exponential_weights_rate_lower_bound,
    exponential_weights_regret_upper_bound,
    hedge_regret_upper_bound,
    largest_noise_upper_bound,
    low_switching_regret_lower_bound,
    realizable_loss_upper_bound,
    realizable_phases_upper_bound,
)

RHO = 0.024356  # of (1, 1e-6)


def exact_regret(losses: list[tuple[int, ...]], rate: float) -> float:
    """Expected regret of fresh draws from the weights, on this very sequence."""
    totals = np.zeros(len(losses[0]))
    paid = 0.0
    for loss in losses:
        weights = np.exp(-rate * (totals - totals.min()))
        paid += float(weights @ np.array(loss) / weights.sum())
        totals += loss
    return paid - float(totals.min())


@pytest.mark.parametrize("rate", [0.05, 0.5, 2.0])
def test_no_loss_sequence_beats_the_hedge_bound(rate: float) -> None:
    for losses in itertools.product(itertools.product((0, 1), repeat=2), repeat=6):
        bound = hedge_regret_upper_bound(experts=2, rounds=6, rate=rate)
        assert exact_regret(list(losses), rate) <= bound


def test_the_default_rate_is_the_best_one() -> None:
    best = hedge_regret_upper_bound(experts=50, rounds=1000)
    rates = [0.01 * 1.1**k for k in range(60)]
    assert best <= min(hedge_regret_upper_bound(experts=50, rounds=1000, rate=r) for r in rates)


@pytest.mark.parametrize(
    ("rounds", "experts", "documented"),
    [(10**4, 100, 2089), (10**6, 100, 2.09e4), (10**6, 10**6, 6.3e4)],
)
def test_documented_numbers_of_exponential_weights(
    rounds: int, experts: int, documented: float
) -> None:
    bound = exponential_weights_regret_upper_bound(experts=experts, rounds=rounds, zcdp=RHO)
    assert bound == pytest.approx(documented, rel=0.01)


def test_privacy_is_free_once_rho_exceeds_four_logarithms() -> None:
    free = exponential_weights_regret_upper_bound(experts=100, rounds=10**4, zcdp=4 * math.log(100))
    assert free == pytest.approx(hedge_regret_upper_bound(experts=100, rounds=10**4))
    rate = exponential_weights_rate_lower_bound(experts=100, rounds=10**4, zcdp=RHO)
    assert 10**4 * rate**2 / 2 <= RHO


def test_the_dartboard_bit_and_its_resamples() -> None:
    rate, fake = 0.01, 0.1
    keep_more, keep_less = (1 - fake) * 1.0, (1 - fake) * math.exp(-rate)
    span = math.log(keep_more / keep_less) + math.log((1 - keep_less) / (1 - keep_more))
    exact = span**2 / 8 + 7 * (2 * rate) ** 2 / 8
    assert dartboard_zcdp_upper_bound(rate=rate, fake=fake, switches=7) == pytest.approx(exact)


@pytest.mark.parametrize("batch", [1, 3, 10])
def test_the_cap_on_switches_is_the_first_that_is_rare_enough(batch: int) -> None:
    rounds, rate, fake = 50, 0.02, 0.1
    cap = dartboard_switches_upper_bound(rounds=rounds, batch=batch, rate=rate, fake=fake)
    batches = -(-rounds // batch)
    chance = 1 - (1 - fake) * math.exp(-rate * batch)

    def exceeded(most: int) -> float:
        return sum(
            math.comb(batches, k) * chance**k * (1 - chance) ** (batches - k)
            for k in range(most + 1, batches + 1)
        )

    assert exceeded(cap) <= 1 / rounds**2 < exceeded(cap - 1)


def test_the_documented_dartboard() -> None:
    # T = 10⁶, N = 100, ε = 1, δ = 1e-6: B = 2, p = 0.0084, η = 0.0022.
    rate, fake, batch, rounds = 0.0022, 0.0084, 2, 10**6
    cap = dartboard_switches_upper_bound(rounds=rounds, batch=batch, rate=rate, fake=fake)
    assert cap == pytest.approx(6973, rel=0.02)
    assert dartboard_zcdp_upper_bound(rate=rate, fake=fake, switches=cap) <= RHO
    regret = dartboard_regret_upper_bound(experts=100, rounds=rounds, batch=batch, rate=rate)
    assert regret <= 2650


def absolute_deviation(trials: int) -> float:
    return sum(math.comb(trials, k) * abs(k - trials / 2) for k in range(trials + 1)) / 2**trials


def test_the_constants_of_the_obstruction() -> None:
    shares = [absolute_deviation(n) / math.sqrt(n) for n in range(1, 200)]
    assert min(shares) >= 0.3535
    assert min(shares[11:]) >= 0.39
    assert min(shares[:11]) < 0.39  # the specification's constant needs twelve blocks


def test_never_switching_is_subject_to_the_obstruction() -> None:
    # One expert for ever: expected loss T/2 against L·E|Bin − n/2| ahead; K = 0.
    rounds, epsilon = 1000, 0.1
    floor = low_switching_regret_lower_bound(rounds=rounds, epsilon=epsilon, switches=0)
    exact = 10 * absolute_deviation(100)
    assert 0.95 * exact < floor <= exact


def test_more_switches_or_a_large_epsilon_weaken_the_obstruction() -> None:
    floors = [
        low_switching_regret_lower_bound(rounds=10**6, epsilon=0.01, switches=k)
        for k in (0, 100, 10**4, 10**8)
    ]
    assert floors == sorted(floors, reverse=True)
    assert low_switching_regret_lower_bound(rounds=10**6, epsilon=2.0, switches=1) == 0


def test_phases_of_the_realizable_algorithm() -> None:
    phases = realizable_phases_upper_bound(experts=100, failure_probability=0.025)
    chance = 1 - 0.5 / (1 - math.exp(-3))

    def stuck(total: int) -> float:
        return sum(math.comb(total, k) * chance**k * (1 - chance) ** (total - k) for k in range(7))

    assert stuck(phases) <= 0.025 < stuck(phases - 1)
    loss = realizable_loss_upper_bound(
        experts=100,
        rounds=10**5,
        zcdp=0.0142,
        above_threshold_epsilon=0.25,
        failure_probability=0.05,
    )
    rate = math.sqrt(2 * 0.0142 / phases)
    by_hand = phases * (math.ceil(3 / rate) + (math.log(8e6) + math.log(80 * phases)) * 4 + 1)
    assert loss == pytest.approx(by_hand)


@pytest.mark.parametrize(("rounds", "switches"), [(1, 1), (4, 1), (5, 2), (6, 3)])
def test_constructed_experts_are_counted(rounds: int, switches: int) -> None:
    def indices(count: int, after: int) -> int:
        """Ways to choose j₁ ≤ i₁ < j₂ ≤ i₂ < … beyond ``after``."""
        if count == 0:
            return 1
        return sum(
            indices(count - 1, i)
            for j in range(after + 1, rounds + 1)
            for i in range(j, rounds + 1)
        )

    listed = sum(indices(k, 0) for k in range(switches + 1))
    assert constructed_experts_upper_bound(rounds=rounds, switches=switches) == listed


def test_agnostic_experts_are_the_sets_of_flips() -> None:
    sets = sum(1 for k in range(3) for _ in itertools.combinations(range(7), k))
    assert agnostic_experts_upper_bound(rounds=7, littlestone_dimension=2) == sets


@pytest.mark.parametrize("experts", [2, 3, 10, 100, 10**4])
def test_the_largest_of_independent_gaussians_is_below_the_bound(experts: int) -> None:
    places = np.linspace(-12, 12, 48_001)
    below = ndtr(places) ** experts
    above = places > 0
    mean = float(((1 - below)[above]).sum() - below[~above].sum()) * (places[1] - places[0])
    bound = largest_noise_upper_bound(experts=experts, noise_variance=1.0)
    assert mean < bound < math.sqrt(2 * math.log(experts))
    assert largest_noise_upper_bound(experts=experts, noise_variance=9.0) == pytest.approx(
        3 * bound
    )


def test_the_larger_of_a_gaussian_and_its_opposite_is_the_bound() -> None:
    bound = largest_noise_upper_bound(experts=2, noise_variance=1.0)
    assert math.sqrt(2 / math.pi) <= bound < math.sqrt(2 / math.pi) + 1e-9


def smoothed_over_gaussian(variance: int, added: int) -> Decimal:
    """At 0: the density of a discrete Gaussian plus a Gaussian, over one of both variances."""
    squares = [Decimal(k * k) / 2 for k in range(-200, 201)]
    whole = sum(((-square / variance).exp() for square in squares), Decimal())
    both = sum(((-square / variance - square / added).exp() for square in squares), Decimal())
    return both / whole * (Decimal(variance + added) / added).sqrt()


@pytest.mark.parametrize("variance", [8, 20])
def test_discrete_noise_is_paid_for(variance: int) -> None:
    """The density of a draw, smoothed, exceeds a Gaussian's by what is added for each draw."""
    draws = 10**15
    with localcontext() as context:
        context.prec = 60
        excess = float((smoothed_over_gaussian(variance, 2) - 1) * draws)
    gaussian = largest_noise_upper_bound(experts=100, noise_variance=1.0)
    place = 2.3263478740408408
    for one, factor in ((1, 1.0), (draws, math.exp(excess))):
        least = math.sqrt(1 + 2 / variance) * (place + factor * (gaussian - place))
        found = largest_noise_upper_bound(
            experts=100, noise_variance=1.0, draws=one, draw_variance=variance
        )
        assert min(least, math.sqrt(2 * math.log(100))) <= found * (1 + 1e-9)
        assert found < 1.05 * least or found == pytest.approx(math.sqrt(2 * math.log(100)))
