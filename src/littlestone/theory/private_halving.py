"""Private halving draws majorities from exponential weights; these are its mistakes.

W = Σ exp(−η·loss) starts at |H| and never falls below 1 on realizable data. A phase that ends has
charged a constant share of the weight with n mistakes, so it cost W a constant factor. Privacy is
an argument: ``zcdp`` is the ρ of all draws together, ``above_threshold_epsilon`` the pure rest.
"""

import math
from dataclasses import dataclass
from typing import TypedDict, Unpack

from littlestone import require
from littlestone.theory.above_threshold_bounds import one_sided_overshoot_upper_bound
from littlestone.theory.outwards import downwards, upwards


class Asked(TypedDict):
    """What every plan is for."""

    concepts: int
    rounds: int
    zcdp: float
    above_threshold_epsilon: float
    failure_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HalvingPlan:
    """Parameters of a run, and the mistakes they prove with the stated failure probability."""

    phases: int
    votes: int
    rate: float
    mistakes_per_phase: int
    mistakes: float


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


def sampled_majority_plan(
    *, points: int, margin: float = 0.2, charge: float = 1.0, **asked: Unpack[Asked]
) -> HalvingPlan:
    """Any finite class: m votes for each phase, enough to be within γ of the weights everywhere.

    K = ⌈ln|H|/g⌉ + 1 phases, m ≥ ln(2|X|K/β₁)/(2γ²) odd, η = √(2ρ/((K − 1)m)), n = ⌈c/η⌉; in all
    at most K(n + overshoot) mistakes. A third of β each goes to the votes and to the two sides
    of AboveThreshold.

    >>> plan = sampled_majority_plan(
    ...     concepts=1000, points=1000, rounds=10**5, zcdp=0.0142,
    ...     above_threshold_epsilon=0.25, failure_probability=0.05,
    ... )
    >>> plan.phases, plan.votes, round(plan.mistakes, -2)
    (34, 191, 19200.0)
    """
    require.usual(**asked)
    require.usual(points=points)
    require.positive(margin=margin)
    drop = potential_drop_lower_bound(margin=margin, charge=charge)
    phases = math.ceil(upwards(math.log(asked["concepts"]) / drop)) + 1
    spread = math.log(6 * points * phases / asked["failure_probability"])
    votes = math.ceil(upwards(spread / (2 * margin**2)))
    votes += 1 - votes % 2
    return _plan(asked, phases, votes, charge, 2 * asked["failure_probability"] / 3)


def threshold_median_plan(*, charge: float = 1.0, **asked: Unpack[Asked]) -> HalvingPlan:
    """Thresholds: one vote for each phase is enough.

    All mistakes of a threshold k in a phase charge every a ≤ k, or every a ≥ k; for k drawn from
    the weights the lighter of the two sides has expected share at least ¼, so
    P[K phases end] ≤ |H|·(1 − (1 − e^(−c))/4)^K. Half of β goes there, half to AboveThreshold.

    >>> plan = threshold_median_plan(
    ...     concepts=1024, rounds=10**5, zcdp=0.0142, above_threshold_epsilon=0.25,
    ...     failure_probability=0.05,
    ... )
    >>> plan.phases, plan.votes, round(plan.mistakes, -2)
    (62, 1, 9000.0)
    """
    # A margin of ¼ in the general drop leaves exactly the share of ¼.
    return _few_votes_plan(asked, votes=1, margin=0.25, charge=charge)


def points_charge_lower_bound() -> float:
    """0.39: expected share of the weight that a mistake of three votes on ``Points`` charges.

    Let p be the weights of the points, M the largest, c = 1 − M, and s(p) = p²(3 − 2p) the chance
    that two of three votes fall on a point of weight p. The vote for a point charges at least its
    weight, the empty vote at least c; so the expectation is c + Σ s(pᵢ)(pᵢ − c). All but the
    largest sum to at most c and add p·p(3 − 2p)(p − c) each, so it is at least
    c + s(M)(2M − 1) − c·max_{p ≤ min(M, c)} p(3 − 2p)(c − p), which exceeds 0.397 for every M.
    """
    return 0.39


def points_triple_plan(*, charge: float = 1.0, **asked: Unpack[Asked]) -> HalvingPlan:
    """Points, with or without the empty concept: three votes for each phase are enough.

    As for thresholds, with 0.39 in place of ¼ (``points_charge_lower_bound``).

    >>> plan = points_triple_plan(
    ...     concepts=1025, rounds=10**5, zcdp=0.0142, above_threshold_epsilon=0.25,
    ...     failure_probability=0.05,
    ... )
    >>> plan.phases, plan.votes, round(plan.mistakes, -2)
    (38, 3, 6100.0)
    """
    margin = 0.5 - points_charge_lower_bound()
    return _few_votes_plan(asked, votes=3, margin=margin, charge=charge)


def sampled_majority_mistakes_upper_bound(*, points: int, **asked: Unpack[Asked]) -> float:
    """The best ``sampled_majority_plan`` over a grid of margins and charges."""
    return min(
        sampled_majority_plan(
            points=points, margin=margin / 40, charge=charge / 10, **asked
        ).mistakes
        for margin in range(3, 13)
        for charge in range(6, 22, 2)
    )


def threshold_median_mistakes_upper_bound(**asked: Unpack[Asked]) -> float:
    """The best ``threshold_median_plan`` over a grid of charges."""
    return min(
        threshold_median_plan(charge=charge / 10, **asked).mistakes for charge in range(4, 40, 2)
    )


def restarted_mistakes_upper_bound(*, one_run: float, failure_probability: float) -> float:
    """E/(1 − β): expected mistakes with restarts, if every run fails with probability ≤ β.

    E bounds one run's expected mistakes against every adversary, failures included. The j-th run
    is started with probability at most β^(j−1), whatever happened before.

    >>> round(restarted_mistakes_upper_bound(one_run=300.0, failure_probability=0.25))
    400
    """
    require.non_negative(one_run=one_run)
    require.probability(failure_probability=failure_probability)
    return upwards(one_run / (1 - failure_probability))


def _few_votes_plan(asked: Asked, *, votes: int, margin: float, charge: float) -> HalvingPlan:
    """Half of β goes to P[K phases end] ≤ |H|·e^(−gK), half to AboveThreshold."""
    require.usual(**asked)
    drop = potential_drop_lower_bound(margin=margin, charge=charge)
    failure = asked["failure_probability"]
    phases = math.ceil(upwards(math.log(2 * asked["concepts"] / failure) / drop))
    return _plan(asked, phases, votes, charge, failure / 2)


def _plan(
    asked: Asked, phases: int, votes: int, charge: float, failure_probability: float
) -> HalvingPlan:
    """AboveThreshold may fail, on one side or the other, with what is left of β."""
    # Only draws after the special round depend on it, so the first phase costs nothing.
    rate = downwards(math.sqrt(2 * asked["zcdp"] / (max(phases - 1, 1) * votes)))
    mistakes_per_phase = math.ceil(upwards(charge / rate))
    overshoot = one_sided_overshoot_upper_bound(
        rounds=asked["rounds"],
        instances=phases,
        epsilon=asked["above_threshold_epsilon"],
        failure_probability=failure_probability,
    )
    return HalvingPlan(
        phases=phases,
        votes=votes,
        rate=rate,
        mistakes_per_phase=mistakes_per_phase,
        mistakes=upwards(phases * (mistakes_per_phase + overshoot)),
    )
