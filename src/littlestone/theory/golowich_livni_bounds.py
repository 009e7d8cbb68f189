"""Parameters of Golowich and Livni's eager forest, and the order of its mistakes.

The constants inside the paper's Õ were not published, so the mistake bound is an order; the
accuracy of the sparse release is exact, in the form of our own mechanisms.
"""

import math

from littlestone import require
from littlestone.theory.above_threshold_bounds import (
    general_early_upper_bound,
    general_late_upper_bound,
)
from littlestone.theory.outwards import downwards, upwards


def frequency_lower_bound(*, leaves: int) -> float:
    """η = 2^(−4k₁)/(4k₁): this share of the trees has the same hypothesis [GL21, Section 5].

    >>> frequency_lower_bound(leaves=2)
    0.00048828125
    """
    require.integer(leaves=leaves, at_least=1)
    return 2.0 ** (-4 * leaves) / (4 * leaves)


def selections_upper_bound(*, leaves: int) -> int:
    """c = 4k₁/η = 16·k₁²·2^(4k₁): how often a new hypothesis has to be selected [GL21, Section 5].

    >>> selections_upper_bound(leaves=2)
    16384
    """
    require.integer(leaves=leaves, at_least=1)
    return 16 * leaves**2 * int(2 ** (4 * leaves))


def kept_count_lower_bound(
    *,
    threshold: float,
    selections: int,
    threshold_epsilon: float,
    failure_probability: float,
) -> float:
    """τ − ln(2c/β)/ε₁: how many trees still have the published hypothesis while it is kept.

    ``threshold_epsilon`` is the ε₁ of each of c AboveThreshold instances on "has become rare".
    """
    return downwards(
        threshold
        - general_late_upper_bound(
            instances=selections,
            threshold_epsilon=threshold_epsilon,
            failure_probability=failure_probability / 2,
        )
    )


def dropped_count_upper_bound(
    *, threshold: float, rounds: int, query_epsilon: float, failure_probability: float
) -> float:
    """τ + (2/ε₂)·ln(2T/β): how many trees still have the hypothesis when it is dropped."""
    return upwards(
        threshold
        + general_early_upper_bound(
            rounds=rounds, query_epsilon=query_epsilon, failure_probability=failure_probability / 2
        )
    )


def fresh_copy_epsilon_lower_bound(*, rounds: int, epsilon: float, delta: float) -> float:
    """ε/(2√(2T·ln(2/δ))): what each of T releases may cost by advanced composition [DRV10].

    The reduction to adaptive adversaries releases from a fresh forest in every round, each with
    this ε and δ/(2T) [GL21, Theorem 4.2]; hence the √T in its mistakes.

    >>> round(fresh_copy_epsilon_lower_bound(rounds=10**4, epsilon=1.0, delta=1e-6), 6)
    0.000928
    """
    require.usual(rounds=rounds, epsilon=epsilon, delta=delta)
    if epsilon > 1:
        raise ValueError(f"epsilon must be at most 1 here, got epsilon={epsilon!r}")
    return downwards(epsilon / (2 * math.sqrt(2 * rounds * math.log(2 / delta))))


def oblivious_mistakes_order(*, dimension: int, rounds: int, epsilon: float, delta: float) -> float:
    """2^(8·2^d)·ln(T/δ)/ε: mistakes on an oblivious stream, up to constants and logarithms [GL21].

    >>> f"{oblivious_mistakes_order(dimension=1, rounds=10**6, epsilon=1.0, delta=1e-6):.1e}"
    '1.8e+06'
    """
    require.usual(dimension=dimension, rounds=rounds, epsilon=epsilon, delta=delta)
    return float(2 ** (8 * 2**dimension)) * math.log(rounds / delta) / epsilon


def adaptive_mistakes_order(*, dimension: int, rounds: int, epsilon: float, delta: float) -> float:
    """2^(8·2^d)·√T·ln(1/δ)/ε: mistakes of ``FreshCopies`` against adaptive adversaries [GL21]."""
    require.usual(dimension=dimension, rounds=rounds, epsilon=epsilon, delta=delta)
    return float(2 ** (8 * 2**dimension)) * math.sqrt(rounds) * math.log(1 / delta) / epsilon
