"""Composition bounds what several releases cost together; proofs in docs/GUARANTEES.md.

Every function returns an upper bound, rounded up, for mechanisms that may be chosen adaptively. The
costs must be fixed in advance. Only ``basic_composition`` also allows adaptive costs, if their sums
stay within the given ones on every path (F2); advanced and optimal composition do not hold for
costs that depend on what was released.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from littlestone import require
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.rounding import (
    exp_lower_bound,
    exp_upper_bound,
    float_at_least,
    ln_upper_bound,
    sqrt_upper_bound,
)
from littlestone.privacy.zcdp import ZeroConcentrated

_DIGITS: Final = Context(prec=80)
_SLACK: Final = Fraction(1, 10**75)
_LARGE: Final = 10_000
_MOST_EQUAL: Final = 10**6


@require.checked
def basic_composition(costs: Iterable[PrivacyGuarantee]) -> PrivacyGuarantee:
    """Add up epsilons and deltas of releases from the same data (F2).

    >>> basic_composition([PrivacyGuarantee(epsilon=0.5, delta=1e-6)] * 2)
    PrivacyGuarantee(epsilon=1.0, delta=2e-06)
    """
    known = require.listed(PrivacyGuarantee, costs=costs)
    if not all(cost.is_private for cost in known):
        return NOT_PRIVATE
    return PrivacyGuarantee.rounded_up(
        epsilon=sum((Fraction(cost.epsilon) for cost in known), Fraction(0)),
        delta=_sum_of_deltas(known),
    )


@require.checked
def parallel_composition(
    costs: Iterable[PrivacyGuarantee], *, prefix_conditional: bool
) -> PrivacyGuarantee:
    """Compose releases from disjoint rounds, each started after the previous one stopped (F3).

    An example pays only for the release that reads it, so the largest cost counts. For delta this
    requires mechanisms that are private conditionally on every prefix; otherwise an adversary can
    wait for a copy in a bad state, and the deltas add up.

    >>> copies = [PrivacyGuarantee(epsilon=1.0, delta=1e-6)] * 100
    >>> parallel_composition(copies, prefix_conditional=True)
    PrivacyGuarantee(epsilon=1.0, delta=1e-06)
    >>> parallel_composition(copies, prefix_conditional=False).delta
    0.0001
    """
    known = require.listed(PrivacyGuarantee, costs=costs)
    if not all(cost.is_private for cost in known):
        return NOT_PRIVATE
    largest = max((Fraction(cost.delta) for cost in known), default=Fraction(0))
    return PrivacyGuarantee.rounded_up(
        epsilon=max((cost.epsilon for cost in known), default=0.0),
        delta=largest if prefix_conditional else _sum_of_deltas(known),
    )


@require.checked
def advanced_composition(
    costs: Iterable[PrivacyGuarantee] | Mapping[PrivacyGuarantee, int], *, extra_delta: float
) -> PrivacyGuarantee:
    """Compose epsilons as the root of their squares, for an ``extra_delta`` [DRV10, KOV15].

    Epsilon is the sum of e * tanh(e / 2) plus the root of 2 * ln(1 / extra_delta) times the sum of
    e**2. ``costs`` is a list, or a mapping from each cost to its count.

    >>> each = PrivacyGuarantee(epsilon=0.01)
    >>> round(advanced_composition([each] * 1000, extra_delta=1e-6).epsilon, 3)
    1.712
    """
    require.open_probability(extra_delta=extra_delta)
    known = Counter(_counted(costs))
    require.listed(int, counts=known.values())
    if not all(cost.is_private for cost in known):
        return NOT_PRIVATE
    counted = [(Fraction(cost.epsilon), count) for cost, count in known.items()]
    drift = sum((n * e * _tanh_of_half_upper_bound(e) for e, n in counted), Fraction(0))
    variance = sum((n * e * e for e, n in counted), Fraction(0))
    spread = sqrt_upper_bound(2 * variance * ln_upper_bound(1 / Fraction(extra_delta)))
    deltas = sum((n * Fraction(cost.delta) for cost, n in known.items()), Fraction(0))
    return PrivacyGuarantee.rounded_up(
        epsilon=min(drift + spread, sum((n * e for e, n in counted), Fraction(0))),
        delta=deltas + Fraction(extra_delta),
    )


@require.checked
def optimal_composition(
    cost: PrivacyGuarantee, *, count: int, extra_delta: float
) -> PrivacyGuarantee:
    """Return the best epsilon for ``count`` arbitrary releases of equal cost [KOV15].

    The worst case is ``count`` randomized responses with odds e**epsilon, whose joint likelihood
    ratio has count + 1 values. Delta is computed from those, and bisection finds the smallest
    sufficient epsilon. The time grows with ``count``, so it is at most a million;
    ``advanced_composition`` takes any number.

    >>> each = PrivacyGuarantee(epsilon=0.01)
    >>> round(optimal_composition(each, count=1000, extra_delta=1e-6).epsilon, 3)
    1.365
    """
    require.integer(count=count, at_least=1, at_most=_MOST_EQUAL)
    require.open_probability(extra_delta=extra_delta)
    if not cost.is_private:
        return NOT_PRIVATE
    low, high = 0.0, float_at_least(Fraction(cost.epsilon) * count)
    if high > _LARGE:  # the plain sum is good enough here
        return basic_composition([cost] * count)
    if _coins_delta_upper_bound(cost.epsilon, count, low) <= extra_delta:
        high = low
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        enough = _coins_delta_upper_bound(cost.epsilon, count, middle) <= extra_delta
        low, high = (low, middle) if enough else (middle, high)
    return PrivacyGuarantee.rounded_up(
        epsilon=high, delta=Fraction(cost.delta) * count + Fraction(extra_delta)
    )


def _sum_of_deltas(costs: list[PrivacyGuarantee]) -> Fraction:
    return sum((Fraction(cost.delta) for cost in costs), Fraction(0))


@lru_cache(maxsize=64)
def _tanh_of_half_upper_bound(epsilon: Fraction) -> Fraction:
    if epsilon > _LARGE:
        return Fraction(1)
    odds = exp_upper_bound(epsilon)
    return (odds - 1) / (odds + 1)


def _coins_delta_upper_bound(epsilon: float, count: int, total: float) -> Fraction:
    """Sum over k lies of C(count, k) * max(0, e^((count-k) epsilon) - e^(total + k epsilon)),
    divided by (1 + e^epsilon)^count, from above."""
    c = _DIGITS
    odds = c.exp(Decimal(epsilon))
    allowed = c.exp(Decimal(total))
    everything = c.power(c.add(odds, Decimal(1)), count)
    share = c.divide(c.power(odds, count), everything)  # no coin lies
    back = c.divide(Decimal(1), everything)  # the same outcome under the other secret
    delta = Decimal(0)
    for lies in range(count + 1):
        excess = c.subtract(share, c.multiply(allowed, back))
        if excess <= 0:
            break
        delta = c.add(delta, excess)
        ways = Decimal(count - lies)
        share = c.divide(c.divide(c.multiply(share, ways), Decimal(lies + 1)), odds)
        back = c.divide(c.multiply(c.multiply(back, ways), odds), Decimal(lies + 1))
    # Each number above is off by at most about ten roundings for each release, in the eightieth
    # digit; no summand exceeds 1, and there are at most count + 1 of them.
    return Fraction(delta) + (count + 10) ** 2 * _SLACK


def _counted(costs: Any) -> Any:
    """Check a list or a mapping of costs and return their counts."""
    if not isinstance(costs, Mapping):
        return require.listed(PrivacyGuarantee, costs=costs)
    require.listed(PrivacyGuarantee, costs=costs)
    return costs


_SMALL: Final = 1e-20


@require.checked
def user_level(
    guarantee: PrivacyGuarantee,
    *,
    max_contributions: int,
    concentrated: ZeroConcentrated | None = None,
) -> PrivacyGuarantee:
    """Return the guarantee for all examples of one user together (docs/GUARANTEES.md, G).

    Epsilon is multiplied by the contributions k and delta by
    1 + e**epsilon + ... + e**((k - 1) * epsilon); a delta that reaches 1 promises nothing, and the
    result is then ``NOT_PRIVATE`` rather than an epsilon that looks like a promise. A run that is
    rho-zCDP for one example (``concentrated``) is k**2 * rho-zCDP for k of them: if that gives no
    larger an epsilon at the same delta, it is converted at the delta of one example.

    >>> user_level(PrivacyGuarantee(epsilon=0.5), max_contributions=3)
    PrivacyGuarantee(epsilon=1.5, delta=0.0)
    >>> each = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
    >>> print(user_level(each, max_contributions=3))
    ε = 3, δ = 1.111e-05
    >>> print(user_level(each, max_contributions=15))
    not private
    >>> rho = ZeroConcentrated.largest(epsilon=1.0, delta=1e-6)
    >>> print(user_level(each, max_contributions=15, concentrated=rho))
    ε = 21.79, δ = 1e-06
    """
    max_contributions = require.integer(max_contributions=max_contributions, at_least=1)
    if not guarantee.is_private:
        return NOT_PRIVATE
    if max_contributions == 1:
        return guarantee
    plain = _of_a_group(guarantee, max_contributions)
    if concentrated is None or not guarantee.delta:
        return plain
    rho = ZeroConcentrated.rounded_up(rho=Fraction(concentrated.rho) * max_contributions**2)
    if plain.is_private and rho.epsilon_upper_bound(plain.delta) > plain.epsilon:
        return plain
    return rho.guarantee(delta=guarantee.delta)


def _of_a_group(guarantee: PrivacyGuarantee, size: int) -> PrivacyGuarantee:
    epsilon = Fraction(guarantee.epsilon) * size
    if guarantee.delta == 0:
        return PrivacyGuarantee.rounded_up(epsilon=epsilon)
    if epsilon > _LARGE:  # e**_LARGE times any positive float exceeds 1 by far
        return NOT_PRIVATE
    delta = Fraction(guarantee.delta) * _steps_upper_bound(Fraction(guarantee.epsilon), size)
    return NOT_PRIVATE if delta >= 1 else PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)


def _steps_upper_bound(epsilon: Fraction, steps: int) -> Fraction:
    """1 + e**epsilon + ... + e**((steps - 1) * epsilon), from above."""
    if epsilon < _SMALL:  # the closed form would cancel; the last summand is the largest
        return steps * exp_upper_bound(epsilon * (steps - 1))
    return (exp_upper_bound(epsilon * steps) - 1) / (exp_lower_bound(epsilon) - 1)
