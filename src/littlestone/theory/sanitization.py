"""Sample sizes of sanitizers and proper private learners, with explicit constants."""

import math

from littlestone import require
from littlestone.theory.generalization import relative_failure_upper_bound
from littlestone.theory.outwards import downwards, smallest_size, upwards


def selection_samples_upper_bound(
    *, concepts: int, error: float, epsilon: float, failure_probability: float
) -> int:
    """n ≥ (2/(εα))·ln(|H|/β): the exponential mechanism as an agnostic empirical learner.

    [P, Lemma exp] with the number of errors as score, which one example changes by at most 1.

    >>> selection_samples_upper_bound(
    ...     concepts=1024, error=0.1, epsilon=1.0, failure_probability=0.05)
    199
    """
    require.usual(concepts=concepts, error=error)
    require.usual(epsilon=epsilon, failure_probability=failure_probability)
    return math.ceil(upwards(2 * math.log(concepts / failure_probability) / (epsilon * error)))


def discriminator_samples_upper_bound(
    *, error: float, epsilon: float, failure_probability: float
) -> int:
    """n ≥ 60·ln(60/(αβ))/(εα): buckets and test of the discriminator [P, Lemma dis_strengthened].

    The paper has 20 instead of 60, but its exponential mechanism runs with ε/3 (docs/ERRATA.md,
    S1). The agnostic empirical learner inside needs its own samples.

    >>> discriminator_samples_upper_bound(error=0.1, epsilon=1.0, failure_probability=0.05)
    5636
    """
    require.usual(error=error, epsilon=epsilon, failure_probability=failure_probability)
    buckets = 60 * math.log(60 / (error * failure_probability))
    test = 30 * math.log(3 / failure_probability)
    return math.ceil(upwards(max(buckets, test) / (epsilon * error)))


def realizable_discriminator_samples_upper_bound(
    *, error: float, epsilon: float, failure_probability: float
) -> int:
    """n ≥ 36·ln(4/β)/(εα): the two tests of the realizable discriminator [P, Lemma dis].

    >>> realizable_discriminator_samples_upper_bound(
    ...     error=0.1, epsilon=1.0, failure_probability=0.05)
    1578
    """
    require.usual(error=error, epsilon=epsilon, failure_probability=failure_probability)
    return math.ceil(upwards(36 * math.log(4 / failure_probability) / (epsilon * error)))


def generator_rounds_upper_bound(*, points: int, gap: float) -> int:
    """⌊ln|X|/(2g²)⌋: how often the discriminator can object to exponential weights over X.

    Each objection by at least g lowers KL(data‖weights) by 2g² at step size 4g. The divergence
    starts at most at ln|X| and is never negative. In the role of [P, Lemma gen].

    >>> generator_rounds_upper_bound(points=1024, gap=0.1)
    346
    """
    require.usual(points=points, gap=gap)
    return math.floor(upwards(math.log(points) / (2 * gap**2)))


def sanitizer_samples_upper_bound(
    *, concepts: int, points: int, error: float, zcdp: float, failure_probability: float
) -> int:
    """Bound the samples of the finite sanitizer: exponential weights over X against a finite H.

    Each of R + 1 rounds spends ρ/(R + 1), half on choosing (ε₁) and half on testing (ε₂); it needs
    (2/(ε₁n))·ln(4|H|(R + 1)/β) ≤ α/8 and ln(2(R + 1)/β)/(ε₂n) ≤ α/8, and then objects by 5α/8.
    In the role of [P, Theorem sanitizer].

    >>> sanitizer_samples_upper_bound(
    ...     concepts=64, points=64, error=0.1, zcdp=0.0243, failure_probability=0.05)
    175583
    """
    require.usual(concepts=concepts, zcdp=zcdp)
    require.usual(error=error, failure_probability=failure_probability)
    rounds = generator_rounds_upper_bound(points=points, gap=5 * error / 8) + 1
    choose = downwards(math.sqrt(4 * zcdp / rounds))
    test = downwards(math.sqrt(zcdp / rounds))
    share = failure_probability / rounds
    chosen = 16 * math.log(4 * concepts / share) / (choose * error)
    tested = 8 * math.log(2 / share) / (test * error)
    return math.ceil(upwards(max(chosen, tested)))


def realizable_rounds_upper_bound(*, points: int, error: float, slack: float = 0.1) -> int:
    """Bound the rounds of the multiplicative realizable sanitizer: ln|X|/(α·drop(γ)).

    With lo = 3γ, hi = 1 − 3γ and the best θ between them, an objection lowers KL(data‖weights)
    by α·min(hi·ln(hi/θ) − hi + θ, lo·ln(lo/θ) − lo + θ). In the role of
    [P, Theorem realizable_sanitizer], where SOA needs more.

    >>> [realizable_rounds_upper_bound(points=1024, error=0.1, slack=g) for g in (1 / 9, 1 / 30)]
    [2439, 367]
    """
    require.integer(points=points, at_least=1)
    require.open_probability(error=error, slack=slack)
    if slack >= 1 / 6:
        raise ValueError(f"slack must be below 1/6, got slack={slack!r}")
    return math.floor(upwards(math.log(points) / (error * _realizable_drop(slack))))


def existence_samples_upper_bound(*, vc_dimension: int, error: float) -> int:
    """Return how many points separate 5α/9 from 4α/9 at α/2, for all concepts [P, Lemma exist].

    By Lemma relative with λ = 1/18 and μ = α/36, whose two failures together stay below 1
    (docs/ERRATA.md, X4).
    """
    require.usual(vc_dimension=vc_dimension, error=error)

    def failure(samples: int) -> float:
        return 2 * relative_failure_upper_bound(
            samples=samples, vc_dimension=vc_dimension, relative=1 / 18, additive=error / 36
        )

    return smallest_size(failure, math.nextafter(1.0, 0.0))


def subsampled_samples_upper_bound(*, samples: int, epsilon: float) -> int:
    """⌈2.5·ε·n⌉, at least 10: input size of the empirical learner [P, Lemma pac_empirical]."""
    require.integer(samples=samples, at_least=1)
    _check_epsilon_at_most_one(epsilon)
    return max(10, math.ceil(upwards(2.5 * epsilon * samples)))


def subsampled_epsilon_upper_bound(*, samples: int, size: int, epsilon: float) -> float:
    """ε of running an (ε, δ)-private learner on ``samples`` draws from ``size`` records.

    ln r = n·[ln(1 + (e^ε − 1)/m) − ln(1 − (1 − e^(−ε))/m)] [P, Lemma pac_empirical].

    >>> subsampled_epsilon_upper_bound(samples=1000, size=2500, epsilon=1.0) < 1
    True
    """
    require.integer(samples=samples, size=size, at_least=1)
    _check_epsilon_at_most_one(epsilon)
    more = math.log1p(math.expm1(epsilon) / size)
    less = math.log1p(math.expm1(-epsilon) / size)
    return upwards(samples * (more - less))


def subsampled_delta_upper_bound(*, samples: int, size: int, epsilon: float, delta: float) -> float:
    """(r − 1)·δ/(e^ε − 1): δ of running it on ``samples`` draws [P, Lemma pac_empirical]."""
    require.probability(delta=delta)
    ratio = subsampled_epsilon_upper_bound(samples=samples, size=size, epsilon=epsilon)
    return upwards(math.expm1(ratio) * delta / math.expm1(epsilon))


def empirical_epsilon_upper_bound(*, share: float, epsilon: float, inner_epsilon: float) -> float:
    """ε of Algorithm 4: ln(e^(ε₁) + 4·γ/(1 − γ)·e^(ε₁ + ε₁/γ + ε_A)) [P, Claim empirical_privacy].

    γ is the share of the records that is sampled, ε₁ the budget of the exponential mechanism and
    ε_A that of the learner inside.

    >>> round(empirical_epsilon_upper_bound(share=0.1, epsilon=0.1, inner_epsilon=1.0), 2)
    1.55
    """
    require.usual(share=share, epsilon=epsilon, inner_epsilon=inner_epsilon)
    odds = 4 * share / (1 - share)
    inside = odds * math.exp(epsilon + epsilon / share + inner_epsilon)
    return upwards(math.log(math.exp(epsilon) + inside))


def empirical_delta_upper_bound(*, share: float, epsilon: float, inner_delta: float) -> float:
    """δ of Algorithm 4: 4γ·e^(ε₁ + ε₁/γ)·δ_A [P, Claim empirical_privacy]."""
    require.usual(share=share, epsilon=epsilon)
    require.probability(inner_delta=inner_delta)
    return upwards(4 * share * math.exp(epsilon + epsilon / share) * inner_delta)


def labelled_error_upper_bound(
    *, error: float, samples: int, epsilon: float, failure_probability: float
) -> float:
    """2α + ln(1/β)/(ε'n): error for H^label from two sanitizers for H [P, Lemma convert_label].

    ``epsilon`` is the ε' of the released number of ones; the whole costs (2ε + ε', 2δ).
    """
    require.usual(error=error, samples=samples)
    require.usual(epsilon=epsilon, failure_probability=failure_probability)
    return upwards(2 * error + math.log(1 / failure_probability) / (epsilon * samples))


def batched_regret_upper_bound(
    *, rounds: int, batch: int, copy_regret: float, error: float, failure_probability: float
) -> float:
    """B·R(T/B) + 4αT + T·(T/B)β: Algorithm 3, failures included [P, Theorem simple].

    ``copy_regret`` bounds R(⌈T/B⌉), the regret of one of the B copies. Instead of conditioning on
    success, a failed batch counts every round as lost (docs/ERRATA.md, S4).
    """
    require.integer(rounds=rounds, batch=batch, at_least=1)
    require.non_negative(copy_regret=copy_regret, error=error)
    require.probability(failure_probability=failure_probability)
    batches = -(-rounds // batch)
    failures = min(1.0, batches * failure_probability)
    return upwards(batch * copy_regret + 4 * error * rounds + rounds * failures)


def _realizable_drop(slack: float) -> float:
    """Maximise the smaller drop over θ: one decreases in θ and the other increases, so bisect."""
    low_share, high_share = 3 * slack, 1 - 3 * slack

    def drop(share: float, theta: float) -> float:
        return share * math.log(share / theta) - share + theta

    below, above = low_share, high_share
    for _ in range(100):
        theta = (below + above) / 2
        if drop(high_share, theta) > drop(low_share, theta):
            below = theta
        else:
            above = theta
    return downwards(min(drop(high_share, below), drop(low_share, below)))


def _check_epsilon_at_most_one(epsilon: float) -> None:
    require.positive(epsilon=epsilon)
    if epsilon > 1:
        raise ValueError(f"epsilon must be at most 1, got epsilon={epsilon!r}")
