"""AboveThreshold errs only near its threshold; these bounds say how near.

The paper adds two-sided noise to the threshold and to every query. For running counts one-sided
noise suffices, and only one of the two noises costs privacy.
"""

import math

from littlestone import require
from littlestone.theory.outwards import upwards


def paper_error_upper_bound(*, rounds: int, epsilon: float, failure_probability: float) -> float:
    """8(ln T + ln(2/β))/ε, on each side of the threshold [P, Theorem abovethreshold].

    >>> round(paper_error_upper_bound(rounds=10**5, epsilon=0.5, failure_probability=0.05))
    243
    """
    require.usual(rounds=rounds, epsilon=epsilon, failure_probability=failure_probability)
    return upwards(8 * (math.log(rounds) + math.log(2 / failure_probability)) / epsilon)


def paper_overshoot_upper_bound(
    *, rounds: int, epsilon: float, failure_probability: float
) -> float:
    """16(ln T + ln(6T/β))/ε + 1: mistakes beyond N_s of one instance in Algorithm 2.

    Each of up to T instances may fail with probability β/(3T), and the threshold is set one error
    above N_s so that no ⊤ comes early [P, Lemma realizable_utility, event E_1].

    >>> round(paper_overshoot_upper_bound(rounds=10**5, epsilon=0.5, failure_probability=0.05))
    891
    """
    require.integer(rounds=rounds, at_least=1)
    share = failure_probability / (3 * rounds)
    error = paper_error_upper_bound(rounds=rounds, epsilon=epsilon, failure_probability=share)
    return upwards(2 * error + 1)


def one_sided_early_upper_bound(
    *, rounds: int, epsilon: float, failure_probability: float
) -> float:
    """ln(T/β)/ε: how far below its threshold the count may be at any ⊤ of T rounds.

    A ⊤ needs query noise that is at least the gap, and P[noise ≥ g] ≤ exp(−εg).
    """
    require.usual(rounds=rounds, epsilon=epsilon, failure_probability=failure_probability)
    return upwards(math.log(rounds / failure_probability) / epsilon)


def one_sided_late_upper_bound(
    *, instances: int, epsilon: float, failure_probability: float
) -> float:
    """ln(K/β)/ε: how far above its threshold the count may be at any ⊥ of K instances.

    Only the threshold's noise, drawn once per instance, can delay an answer.
    """
    require.usual(instances=instances, epsilon=epsilon, failure_probability=failure_probability)
    return upwards(math.log(instances / failure_probability) / epsilon)


def one_sided_overshoot_upper_bound(
    *, rounds: int, instances: int, epsilon: float, failure_probability: float
) -> float:
    """(ln(T/β₁) + ln(K/β₂))/ε + 1, β₁ = β₂ = β/2: mistakes beyond n of one instance.

    The threshold is n + ln(T/β₁)/ε, so that at least n events precede every ⊤.

    >>> bound = one_sided_overshoot_upper_bound(
    ...     rounds=10**5, instances=1, epsilon=0.5, failure_probability=0.05
    ... )
    >>> round(bound - 1)
    38
    """
    half = failure_probability / 2
    early = one_sided_early_upper_bound(rounds=rounds, epsilon=epsilon, failure_probability=half)
    late = one_sided_late_upper_bound(
        instances=instances, epsilon=epsilon, failure_probability=half
    )
    return upwards(early + late + 1)


def general_early_upper_bound(
    *, rounds: int, query_epsilon: float, failure_probability: float
) -> float:
    """(2/ε₂)·ln(T/β): how far below the threshold a ⊤ may be, for any queries of sensitivity 1."""
    return one_sided_early_upper_bound(
        rounds=rounds, epsilon=query_epsilon / 2, failure_probability=failure_probability
    )


def general_late_upper_bound(
    *, instances: int, threshold_epsilon: float, failure_probability: float
) -> float:
    """(1/ε₁)·ln(K/β): how far above the threshold a ⊥ may be, for any queries of sensitivity 1."""
    return one_sided_late_upper_bound(
        instances=instances, epsilon=threshold_epsilon, failure_probability=failure_probability
    )
