"""From the privacy of one example to that of a person who contributed several."""

from fractions import Fraction
from typing import Final

from littlestone import require
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.transcendental import exp_lower_bound, exp_upper_bound

_LARGE: Final = 10_000
_SMALL: Final = 1e-20


@require.checked
def user_level(guarantee: PrivacyGuarantee, *, max_contributions: int) -> PrivacyGuarantee:
    """What holds for all examples of one person together (docs/GUARANTEES.md, G).

    Epsilon is multiplied by the contributions k and delta by
    1 + e**epsilon + ... + e**((k - 1) * epsilon); a delta that reaches 1 promises nothing any
    more, and the answer is then ``NOT_PRIVATE`` rather than an epsilon that looks like a promise.

    >>> user_level(PrivacyGuarantee(epsilon=0.5), max_contributions=3)
    PrivacyGuarantee(epsilon=1.5, delta=0.0)
    >>> print(user_level(PrivacyGuarantee(epsilon=1.0, delta=1e-6), max_contributions=3))
    ε = 3, δ = 1.111e-05
    >>> print(user_level(PrivacyGuarantee(epsilon=1.0, delta=1e-6), max_contributions=20))
    not private
    """
    require.integer(max_contributions=max_contributions, at_least=1)
    if not guarantee.is_private:
        return NOT_PRIVATE
    if max_contributions == 1:
        return guarantee
    epsilon = Fraction(guarantee.epsilon) * max_contributions
    if guarantee.delta == 0:
        return PrivacyGuarantee.rounded_up(epsilon=epsilon)
    if epsilon > _LARGE:  # e**_LARGE times any positive float exceeds 1 by far
        return NOT_PRIVATE
    delta = Fraction(guarantee.delta) * _steps_upper_bound(
        Fraction(guarantee.epsilon), max_contributions
    )
    return NOT_PRIVATE if delta >= 1 else PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)


def _steps_upper_bound(epsilon: Fraction, steps: int) -> Fraction:
    """1 + e**epsilon + ... + e**((steps - 1) * epsilon), from above."""
    if epsilon < _SMALL:  # the closed form would cancel; no summand exceeds the last
        return steps * exp_upper_bound(epsilon * (steps - 1))
    return (exp_upper_bound(epsilon * steps) - 1) / (exp_lower_bound(epsilon) - 1)
