"""From the privacy of one example to that of a person who contributed several."""

from fractions import Fraction
from typing import Final

from littlestone import require
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.transcendental import exp_lower_bound, exp_upper_bound
from littlestone.privacy.zcdp import ZeroConcentrated

_LARGE: Final = 10_000
_SMALL: Final = 1e-20


@require.checked
def user_level(
    guarantee: PrivacyGuarantee,
    *,
    max_contributions: int,
    concentrated: ZeroConcentrated | None = None,
) -> PrivacyGuarantee:
    """What holds for all examples of one person together (docs/GUARANTEES.md, G).

    Epsilon is multiplied by the contributions k and delta by
    1 + e**epsilon + ... + e**((k - 1) * epsilon); a delta that reaches 1 promises nothing any
    more, and the answer is then ``NOT_PRIVATE`` rather than an epsilon that looks like a promise.
    A run that is rho-zCDP for one example (``concentrated``) is k**2 * rho-zCDP for k of them: if
    that gives no larger an epsilon at the same delta, it is converted at the delta of one example.

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
    if epsilon < _SMALL:  # the closed form would cancel; no summand exceeds the last
        return steps * exp_upper_bound(epsilon * (steps - 1))
    return (exp_upper_bound(epsilon * steps) - 1) / (exp_lower_bound(epsilon) - 1)
