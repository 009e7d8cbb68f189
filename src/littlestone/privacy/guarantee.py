"""A guarantee is a pair (epsilon, delta), always rounded up.

A promise is about neighbours, inputs that differ in one element:

``replace``     inputs of equal length that differ in one element; streams are compared like this,
                because every round has an example
``add-remove``  inputs that differ by adding or removing one element; a replacement is one of each,
                so it is a group of two (``composition.user_level``)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Literal

from littlestone import require
from littlestone.privacy.rounding import float_at_least, float_at_most, text_at_least

Neighbours = Literal["add-remove", "replace"]
_CERTAIN = 700.0  # e**700 is near the largest float


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyGuarantee:
    """(epsilon, delta)-differential privacy of everything that a run releases.

    Both numbers are upper bounds on the truth; a smaller number is a stronger promise.

    >>> PrivacyGuarantee(epsilon=0.5)
    PrivacyGuarantee(epsilon=0.5, delta=0.0)
    >>> PrivacyGuarantee(epsilon=0.5).within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not type(self.epsilon) is type(self.delta) is float:
            require.fields_fit(self)
        if self.epsilon != math.inf:
            require.non_negative(epsilon=self.epsilon)
        if self.delta != 1:
            require.probability(delta=self.delta)
        require.settle(self, epsilon=float_at_least(self.epsilon), delta=float_at_least(self.delta))

    @classmethod
    def rounded_up(
        cls, *, epsilon: Fraction | float, delta: Fraction | float = 0.0
    ) -> "PrivacyGuarantee":
        """Return the smallest floats that are not below the exact numbers.

        A delta above 1 becomes 1, which promises nothing.

        >>> PrivacyGuarantee.rounded_up(epsilon=Fraction(1, 3)).epsilon * 3 >= 1
        True
        """
        return cls(epsilon=float_at_least(epsilon), delta=min(float_at_least(delta), 1.0))

    @property
    def is_private(self) -> bool:
        """Whether this promises anything at all."""
        return self.epsilon < math.inf and self.delta < 1

    @property
    def best_guess(self) -> float:
        """The largest success probability of an attacker who starts from fifty-fifty.

        >>> round(PrivacyGuarantee(epsilon=1.0).best_guess, 3)
        0.731
        """
        if self.epsilon > _CERTAIN:
            return 1.0
        odds = math.exp(self.epsilon)
        return min(1.0, (odds + self.delta) / (1 + odds))

    def _repr_html_(self) -> str:
        return f"{escape(str(self))}: an attacker is right at most {100 * self.best_guess:.0f} %"

    def within(self, budget: "PrivacyGuarantee") -> bool:
        """Return whether everything that satisfies this guarantee satisfies ``budget`` as well."""
        return self.epsilon <= budget.epsilon and self.delta <= budget.delta

    def divided(self, parts: int) -> "PrivacyGuarantee":
        """Return what each of ``parts`` releases may cost so that together they stay within this.

        >>> PrivacyGuarantee(epsilon=1.0, delta=1e-6).divided(10).epsilon
        0.09999999999999999
        """
        require.integer(parts=parts, at_least=1)
        if not self.is_private:
            return self
        return PrivacyGuarantee(
            epsilon=float_at_most(Fraction(self.epsilon) / parts),
            delta=float_at_most(Fraction(self.delta) / parts),
        )

    def less(self, cost: "PrivacyGuarantee") -> "PrivacyGuarantee":
        """Return what remains after ``cost``, rounded down.

        >>> PrivacyGuarantee(epsilon=1.0).less(PrivacyGuarantee(epsilon=0.25))
        PrivacyGuarantee(epsilon=0.75, delta=0.0)
        """
        if not cost.within(self):
            raise ValueError(f"cost must be within {self!r}, got cost={cost!r}")
        if not self.is_private:
            return self
        return PrivacyGuarantee(
            epsilon=float_at_most(Fraction(self.epsilon) - Fraction(cost.epsilon)),
            delta=float_at_most(Fraction(self.delta) - Fraction(cost.delta)),
        )

    def __str__(self) -> str:
        if not self.is_private:
            return "not private"
        epsilon = f"ε = {text_at_least(self.epsilon)}"
        return f"{epsilon}, δ = {text_at_least(self.delta)}" if self.delta else epsilon


NOT_PRIVATE = PrivacyGuarantee(epsilon=math.inf, delta=1.0)  # unknown is never zero
