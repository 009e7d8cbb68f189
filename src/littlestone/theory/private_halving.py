"""Private halving draws majorities from exponential weights; a finished phase costs W a factor.

W = Σ exp(−η·loss) starts at |H| and never falls below 1 on realizable data. A phase that ends has
charged a constant share of the weight with n mistakes. How many phases and mistakes follow is in
``learners/private_majority``.
"""

import math

from littlestone import require
from littlestone.theory.outwards import downwards


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
