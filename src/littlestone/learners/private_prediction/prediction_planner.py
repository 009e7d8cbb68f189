"""Choose the numbers of a plan so that the proved bound on mistakes is small."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Final

from littlestone.learners.private_prediction.bound import updates_upper_bound
from littlestone.learners.private_prediction.plan import PredictionPlan
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.zcdp import ZeroConcentrated

FAILURE_PROBABILITY: Final = 0.05
"""With which the run that is planned may end too early or exceed its bound."""
_SHARES: Final = (0.02, 0.05)
_COPIES: Final = tuple(int(2 ** (i / 2)) for i in range(8, 80))
_LARGEST: Final = 2.0**50
_TRIES: Final = 20
_NEARLY: Final = 0.96
"""What the exact cost leaves of the rate that ρ = cap · rate² / 2 would allow."""


@lru_cache(maxsize=64)
def planned(*, rounds: int, epsilon: float, delta: float, base_mistakes: int) -> PredictionPlan:
    """The plan with the smallest proved bound, whether that is below ``rounds`` or not.

    More copies are steadier and have to be taught, one by one; then more disagreements have to be
    allowed for, which takes more noise, so that more copies are needed. For each number of copies
    the smallest cap is found that is not reached.
    """

    def first(share: float, copies: int) -> tuple[float, PredictionPlan]:
        cap_epsilon = share * epsilon
        rho = ZeroConcentrated.largest(
            epsilon=epsilon - cap_epsilon, delta=delta * math.exp(-cap_epsilon)
        ).rho
        early = CountAboveThreshold(epsilon=cap_epsilon, threshold=1).early_error_bound(
            rounds=rounds, failure_probability=FAILURE_PROBABILITY / 2
        )
        cap, needed = 0.0, 1 + early
        while cap < needed < _LARGEST:  # a cap that grows needs a rate that falls
            cap = needed
            needed = early + updates_upper_bound(
                copies=copies,
                rate=_NEARLY * math.sqrt(2 * rho / cap),
                rounds=rounds,
                base_mistakes=base_mistakes,
                failure_probability=FAILURE_PROBABILITY / 2,
            )
        rate = math.sqrt(2 * rho / cap)
        plan = PredictionPlan(copies=copies, rate=rate, cap=math.ceil(cap), cap_epsilon=cap_epsilon)
        return cap, plan

    candidates = [first(share, copies) for share in _SHARES for copies in _COPIES]
    plan = min(candidates, key=lambda pair: pair[0])[1]
    fitting = plan.within(epsilon=epsilon, delta=delta)
    for _ in range(_TRIES):  # for large epsilons the rate is smaller than was thought
        bound = fitting.mistake_bound(
            rounds=rounds, base_mistakes=base_mistakes, failure_probability=FAILURE_PROBABILITY
        )
        if bound < rounds or plan.cap >= rounds:
            break
        plan = replace(plan, cap=plan.cap * 11 // 10)
        fitting = plan.within(epsilon=epsilon, delta=delta)
    return fitting


def predicted_mistakes_upper_bound(
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    littlestone_dimension: int,
    failure_probability: float,
) -> float:
    """What is proved of ``PrivatePrediction`` as it is planned, T at most [KMMNS23].

    Of order d²·ln²T/ε², where each answer goes to its asker alone.

    >>> predicted_mistakes_upper_bound(rounds=10**9, epsilon=1.0, delta=1e-6,
    ...     littlestone_dimension=1, failure_probability=0.05)
    749853.0
    """
    plan = planned(rounds=rounds, epsilon=epsilon, delta=delta, base_mistakes=littlestone_dimension)
    return plan.mistake_bound(
        rounds=rounds,
        base_mistakes=littlestone_dimension,
        failure_probability=failure_probability,
    )
