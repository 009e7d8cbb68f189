"""Regret bounds for prediction from experts, with and without privacy.

Where privacy is an argument, ``zcdp`` is the ρ that all releases together may cost.

W = Σ exp(−η·loss) starts at |H| and never falls below 1 on realizable data. A phase that ends has
charged a constant share of the weight with n mistakes. How many phases and mistakes follow is in
``learners/private_majority``.
"""

import math
from statistics import NormalDist
from typing import Final

from littlestone import require
from littlestone.theory.above_threshold_bounds import one_sided_overshoot_upper_bound
from littlestone.theory.outwards import downwards, upwards
from littlestone.theory.tails import binomial_lower_tail, binomial_upper_tail

_SMOOTHING: Final = 2.0
"""The variance of Gaussian noise that makes a discrete Gaussian nearly a continuous one."""


def hedge_regret_upper_bound(*, experts: int, rounds: int, rate: float | None = None) -> float:
    """ln N/η + ηT/8, at η = √(8·ln N/T): √(T·ln N/2), not private [CL06, Theorem 2.2].

    Holds against adaptive adversaries if each round makes a new draw from the weights.

    >>> round(hedge_regret_upper_bound(experts=100, rounds=10**4))
    152
    """
    require.usual(experts=experts, rounds=rounds)
    if rate is None:
        return upwards(math.sqrt(rounds * math.log(experts) / 2))
    require.positive(rate=rate)
    return upwards(math.log(experts) / rate + rate * rounds / 8)


def exponential_weights_rate_lower_bound(*, experts: int, rounds: int, zcdp: float) -> float:
    """min(√(2ρ/T), √(8·ln N/T)): T draws whose log-ratio spans 2η cost Tη²/2 ≤ ρ."""
    require.usual(experts=experts, rounds=rounds, zcdp=zcdp)
    wanted = math.sqrt(8 * math.log(max(experts, 2)) / rounds)
    return downwards(min(math.sqrt(2 * zcdp / rounds), wanted))


def exponential_weights_regret_upper_bound(*, experts: int, rounds: int, zcdp: float) -> float:
    """Bound the regret of a new draw per round from private weights, against adaptive adversaries.

    In the role of [P, Theorem jain2014near], whose order is √(T·ln(1/δ))·ln N/ε.

    >>> round(exponential_weights_regret_upper_bound(experts=100, rounds=10**4, zcdp=0.024356))
    2089
    """
    rate = exponential_weights_rate_lower_bound(experts=experts, rounds=rounds, zcdp=zcdp)
    return hedge_regret_upper_bound(experts=experts, rounds=rounds, rate=rate)


def dartboard_zcdp_upper_bound(*, rate: float, fake: float, switches: int) -> float:
    """(η + ε_sw)²/8 + Kη²/2 with ε_sw = ln(1 + (1 − p)(1 − e^(−η))/p).

    Pays for the one keep-or-switch bit that depends on the replaced round, and for K resamples.
    """
    require.usual(rate=rate, fake=fake, switches=switches)
    bit = math.log1p((1 - fake) * -math.expm1(-rate) / fake)
    return upwards((rate + bit) ** 2 / 8 + switches * rate**2 / 2)


def dartboard_switches_upper_bound(*, rounds: int, batch: int, rate: float, fake: float) -> int:
    """Return the K switches that a shrinking dartboard exceeds with probability at most 1/T².

    For oblivious losses. Each of ⌈T/B⌉ batches ends in a switch with probability at most
    1 − (1 − p)e^(−ηB).
    """
    require.usual(rounds=rounds, batch=batch, rate=rate, fake=fake)
    batches = -(-rounds // batch)
    chance = min(1.0, upwards(-math.expm1(math.log1p(-fake) - rate * batch)))
    low, high = -1, batches  # more than all batches never switch
    while high - low > 1:
        middle = (low + high) // 2
        rare = upwards(binomial_upper_tail(middle, batches, chance)) <= 1 / rounds**2
        low, high = (low, middle) if rare else (middle, high)
    return high


def dartboard_regret_upper_bound(*, experts: int, rounds: int, batch: int, rate: float) -> float:
    """ln N/η + ηTB/8 + 1/T, against oblivious adversaries only.

    The marginal law of the expert played is that of exponential weights over batches of B rounds,
    except with probability 1/T² (``dartboard_switches_upper_bound``).

    >>> round(dartboard_regret_upper_bound(experts=100, rounds=10**6, batch=2, rate=0.0022), -1)
    2640.0
    """
    require.usual(experts=experts, rounds=rounds, batch=batch, rate=rate)
    # The last batch may be longer than the rounds left; its loss is still at most B.
    padded = -(-rounds // batch) * batch
    return upwards(math.log(experts) / rate + rate * padded * batch / 8 + 1 / rounds)


def noisy_losses_variance_upper_bound(*, experts: int, zcdp: float) -> float:
    """N/(2ρ): the variance of one batch's noisy losses, for arbitrary experts.

    Replacing one example moves each of N losses by at most 1. Stretches of X cells on a line need
    only 4γ²/(2ρ) with γ ≈ (ln X + 1.5)/π (agnostic_finite/noisy_losses_engine.md).
    """
    require.usual(experts=experts, zcdp=zcdp)
    return upwards(experts / (2 * zcdp))


def largest_noise_upper_bound(
    *, experts: int, noise_variance: float, draws: int = 0, draw_variance: float | None = None
) -> float:
    """√V·(q + N·(φ(q) − q·Q(q))), Q(q) = 1/N: the mean of the largest of N Gaussians.

    The Gaussians may depend on one another: the largest exceeds any q by no more than all of them
    together do. At most √(2V·ln N). Sums of ``draws`` independent *discrete* Gaussians need a
    little more, by the variance of each (agnostic_finite/noisy_losses_engine.md).

    >>> largest_noise_upper_bound(experts=100, noise_variance=1.0) / math.sqrt(2 * math.log(100))
    0.878...
    """
    require.usual(experts=experts)
    require.non_negative(noise_variance=noise_variance, draws=draws)
    widened = 1.0
    if draw_variance is not None:
        require.positive(draw_variance=draw_variance)
        widened += _SMOOTHING / draw_variance
    many = max(experts, 2)
    place = -NormalDist().inv_cdf(1 / many)
    beyond = math.exp(-(place**2) / 2) / math.sqrt(2 * math.pi) - place * 0.5 * math.erfc(
        place / math.sqrt(2)
    )
    # With a little Gaussian noise added, a draw's density exceeds a Gaussian's by at most this
    # factor.
    more = 2.1 * math.exp(-2 * math.pi**2 * _SMOOTHING / widened)
    gaussian = math.sqrt(widened) * (place + math.exp(min(draws * more, 700.0)) * many * beyond)
    return upwards(math.sqrt(noise_variance) * min(gaussian, math.sqrt(2 * math.log(many))))


def noisy_losses_regret_upper_bound(
    *,
    experts: int,
    rounds: int,
    batch: int,
    noise_variance: float,
    rate: float | None = None,
    largest_noise: float | None = None,
) -> float:
    """ln N/η + η(nB²/8 + V/2) + Λ, n = ⌈T/B⌉, V = (n − 1)s²; the best η by default.

    Losses are released once per batch, each with independent Gaussian noise of variance s²; every
    round makes a new draw from the weights. ``noise_variance`` is V, and ``largest_noise`` is Λ,
    the mean of the largest noise of a total. Against oblivious adversaries Λ is 0, and then V may
    be the variance of the last total's noise, if each total adds independent noise to the one
    before.

    >>> round(noisy_losses_regret_upper_bound(
    ...     experts=100, rounds=10**5, batch=62, noise_variance=1612 * 17.63**2))
    6233
    """
    require.usual(experts=experts, rounds=rounds, batch=batch)
    require.non_negative(noise_variance=noise_variance)
    if largest_noise is None:
        largest_noise = largest_noise_upper_bound(experts=experts, noise_variance=noise_variance)
    require.non_negative(largest_noise=largest_noise)
    whole, rest = divmod(rounds, batch)
    spent = (whole * batch**2 + rest**2) / 8 + noise_variance / 2
    logarithm = math.log(max(experts, 2))
    if rate is None:
        rate = math.sqrt(logarithm / spent)
    require.positive(rate=rate)
    return upwards(logarithm / rate + rate * spent + largest_noise)


def low_switching_regret_lower_bound(
    *, rounds: int, epsilon: float, switches: float, delta: float = 0.0
) -> float:
    """Regret of every (ε, δ)-private algorithm with K expected switches (docs/ERRATA.md, X14).

    There are two experts. In each of T/L blocks of L ≤ 1/ε rounds a random one always errs and the
    other never does. The losses of a block change the probability of having left its first expert
    by a factor of at most e^((j−1)ε) ≤ 1 + (e − 1)(j − 1)ε, so the loss is at least T/2 − (e −
    1)/2·εL(L−1)K − LTδ, while the better expert is L·E|Bin(T/L, ½) − T/(2L)| ahead of T/2.

    >>> round(low_switching_regret_lower_bound(rounds=10**6, epsilon=0.01, switches=1000))
    700
    """
    require.usual(rounds=rounds, epsilon=epsilon)
    require.non_negative(switches=switches)
    require.probability(delta=delta)

    def regret(length: int) -> float:
        blocks = rounds // length
        # The smallest of E|Bin(n, ½) − n/2|/√n is at n = 2; from n = 12 on it exceeds 0.39.
        ahead = length * math.sqrt(blocks) * (0.39 if blocks >= 12 else 0.3535)
        noticed = (math.e - 1) / 2 * epsilon * length * (length - 1) * switches
        return ahead - noticed - length * rounds * delta

    longest = min(math.floor(1 / epsilon), rounds)
    if longest < 1:
        return 0.0
    weight = max(epsilon * switches, 1e-300)
    peak = min((0.1135 * math.sqrt(rounds) / weight) ** (2 / 3), longest)
    near = (min(math.floor(peak) + step, longest) for step in (0, 1) if peak >= 1 - step)
    return max(0.0, downwards(max(map(regret, near))))


def realizable_phases_upper_bound(*, experts: int, failure_probability: float) -> int:
    """min K with P[Bin(K, 0.474) ≤ log₂N] ≤ β: phases until an expert without loss is played.

    With ηL = 3 each phase halves the weights with probability at least 1 − ½/(1 − e^(−3)), and
    there are at most ⌊log₂N⌋ halvings. Oblivious losses only.
    """
    require.usual(experts=experts, failure_probability=failure_probability)
    chance = 1 - 0.5 / -math.expm1(-3)
    halvings = experts.bit_length() - 1
    phases = halvings + 1
    while upwards(binomial_lower_tail(halvings, phases, chance)) > failure_probability:
        phases += 1
    return phases


def realizable_loss_upper_bound(
    *,
    experts: int,
    rounds: int,
    zcdp: float,
    above_threshold_epsilon: float,
    failure_probability: float,
) -> float:
    """K(⌈3/η⌉ + overshoot), η = √(2ρ/K): oblivious losses, some expert never errs, failure ≤ β.

    >>> round(realizable_loss_upper_bound(
    ...     experts=100, rounds=10**5, zcdp=0.0142, above_threshold_epsilon=0.25,
    ...     failure_probability=0.05), -2)
    4400.0
    """
    require.usual(experts=experts, rounds=rounds, zcdp=zcdp)
    require.usual(above_threshold_epsilon=above_threshold_epsilon)
    phases = realizable_phases_upper_bound(
        experts=experts, failure_probability=failure_probability / 2
    )
    rate = downwards(math.sqrt(2 * zcdp / phases))
    overshoot = one_sided_overshoot_upper_bound(
        rounds=rounds,
        instances=phases,
        epsilon=above_threshold_epsilon,
        failure_probability=failure_probability / 2,
    )
    return upwards(phases * (math.ceil(upwards(3 / rate)) + overshoot))


def agnostic_experts_upper_bound(*, rounds: int, littlestone_dimension: int) -> int:
    """Σ_{j ≤ d} C(T, j): experts that together imitate every concept of the class [BPS09].

    >>> agnostic_experts_upper_bound(rounds=100, littlestone_dimension=2)
    5051
    """
    require.usual(rounds=rounds, littlestone_dimension=littlestone_dimension)
    return sum(math.comb(rounds, j) for j in range(littlestone_dimension + 1))


def constructed_experts_upper_bound(*, rounds: int, switches: int) -> int:
    """Σ_{k ≤ M} C(T + k, 2k): experts of Algorithm 7 with at most M switches.

    The paper's O(T^M) should read O(T^(2M)) (docs/ERRATA.md, X3 and X7) [P, Theorem experts].

    >>> constructed_experts_upper_bound(rounds=3, switches=1)
    7
    """
    require.usual(rounds=rounds, switches=switches)
    return sum(math.comb(rounds + k, 2 * k) for k in range(switches + 1))


def potential_drop_lower_bound(*, margin: float, charge: float) -> float:
    """g = −ln(1 − (½ − γ)(1 − e^(−c))): how much ln W falls in a finished phase.

    After n' ≥ n mistakes of a vote that is within γ of the weights, E_P[Δ] ≥ n'(½ − γ) with
    0 ≤ Δ ≤ n', so E_P[e^(−ηΔ)] ≤ 1 − (½ − γ)(1 − e^(−ηn')) by convexity, and ηn ≥ c.

    >>> round(potential_drop_lower_bound(margin=0.2, charge=1.0), 3)
    0.21
    """
    require.non_negative(margin=margin)
    require.positive(charge=charge)
    if margin >= 0.5:
        raise ValueError(f"margin must be below 1/2, got margin={margin!r}")
    return downwards(-math.log1p((0.5 - margin) * math.expm1(-charge)))


def points_charge_lower_bound() -> float:
    """0.39: expected share of the weight that a mistake of three votes on ``Points`` charges.

    Let p be the weights of the points, M the largest, c = 1 − M, and s(p) = p²(3 − 2p) the chance
    that two of three votes fall on a point of weight p. The vote for a point charges at least its
    weight, the empty vote at least c; so the expectation is c + Σ s(pᵢ)(pᵢ − c). All but the
    largest sum to at most c and add p·p(3 − 2p)(p − c) each, so it is at least
    c + s(M)(2M − 1) − c·max_{p ≤ min(M, c)} p(3 − 2p)(c − p), which exceeds 0.397 for every M.
    """
    return 0.39
