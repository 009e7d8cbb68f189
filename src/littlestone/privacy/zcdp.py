"""Zero-concentrated differential privacy: costs that add up like squares [BS16, CKS20]."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_least, float_at_most, ln_upper_bound

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_APART: Final = 2.0**-10
_FLOAT_ERROR: Final = 1e-10
"""A hundred times the error of epsilon in floats beside its parts, at orders ``_APART`` from 1."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentrated:
    """rho-zero-concentrated differential privacy: Rényi divergence at most rho * a for all a > 1.

    >>> ZeroConcentrated.from_bounded_range(0.5)
    ZeroConcentrated(rho=0.03125)
    >>> ZeroConcentrated(rho=0.02435).guarantee(delta=1e-6).epsilon < 1.0
    True
    """

    rho: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        if self.rho != math.inf:
            require.non_negative(rho=self.rho)
        object.__setattr__(self, "rho", float_at_least(self.rho))

    @classmethod
    def rounded_up(cls, *, rho: Fraction) -> "ZeroConcentrated":
        """Return the smallest cost in floats that is not below the exact number."""
        return cls(rho=float_at_least(rho))

    @classmethod
    def from_pure(cls, epsilon: float) -> "ZeroConcentrated":
        """Return what (epsilon, 0)-differential privacy costs: epsilon**2 / 2."""
        require.non_negative(epsilon=epsilon)
        return cls.rounded_up(rho=Fraction(epsilon) ** 2 / 2)

    @classmethod
    def from_bounded_range(cls, width: float) -> "ZeroConcentrated":
        """Return the cost of a log-likelihood ratio in an interval of this width: width**2 / 8."""
        require.non_negative(width=width)
        return cls.rounded_up(rho=Fraction(width) ** 2 / 8)

    @classmethod
    def largest(cls, *, epsilon: float, delta: float) -> "ZeroConcentrated":
        """Return the largest rho whose guarantee stays within (epsilon, delta), rounded down.

        >>> round(ZeroConcentrated.largest(epsilon=1.0, delta=1e-6).rho, 5)
        0.02436
        """
        require.positive(epsilon=epsilon)
        require.open_probability(delta=delta)
        return cls(rho=_largest_rho(epsilon, delta))

    def times(self, count: int) -> "ZeroConcentrated":
        """Return the cost of ``count`` adaptively chosen releases of this cost."""
        require.integer(count=count, at_least=0)
        return self if self.rho == math.inf else self.rounded_up(rho=Fraction(self.rho) * count)

    def divided(self, parts: int) -> "ZeroConcentrated":
        """Return what each of ``parts`` releases may cost, rounded down."""
        require.integer(parts=parts, at_least=1)
        if self.rho == math.inf:
            return self
        return ZeroConcentrated(rho=float_at_most(Fraction(self.rho) / parts))

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return the (epsilon, delta) guarantee that this implies, for any ``delta``."""
        require.probability(delta=delta)
        return PrivacyGuarantee(epsilon=self.epsilon_upper_bound(delta), delta=delta)

    def epsilon_upper_bound(self, delta: float) -> float:
        """Return the smallest epsilon that the conversion proves, rounded up."""
        require.probability(delta=delta)
        if self.rho == 0:
            return 0.0
        if delta == 0 or self.rho == math.inf:
            return math.inf
        order = _best_order(lambda a: _epsilon_nearly(self.rho, delta, a))
        return _epsilon_at_order(self.rho, delta, order)


def compose_zero_concentrated(costs: Iterable[ZeroConcentrated]) -> ZeroConcentrated:
    """Return the sum, exact and rounded up once."""
    rhos = [cost.rho for cost in costs]
    if math.inf in rhos:
        return ZeroConcentrated(rho=math.inf)
    return ZeroConcentrated.rounded_up(rho=sum(map(Fraction, rhos), Fraction(0)))


@lru_cache(maxsize=256, typed=True)  # plans use the same few budgets repeatedly
def _largest_rho(epsilon: float, delta: float) -> float:
    def fits(rho: float) -> bool:
        order = _best_order(lambda a: _epsilon_nearly(rho, delta, a))
        if order >= 1 + _APART:
            # Floats decide where their error cannot: exact logarithms take half a millisecond.
            size = rho * order + (math.log(order) - math.log(delta)) / (order - 1)
            excess = _epsilon_nearly(rho, delta, order) - epsilon
            if abs(excess) > _FLOAT_ERROR * (size - math.log1p(-1 / order)):
                return excess < 0
        return _epsilon_at_order(rho, delta, order) <= epsilon

    low, high = 0.0, 1.0
    while fits(high):
        low, high = high, 2 * high
    # Relative precision, so that small budgets get as many digits as large ones.
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _epsilon_nearly(rho: float, delta: float, order: float) -> float:
    return rho * order - (math.log(delta) + math.log(order)) / (order - 1) + math.log1p(-1 / order)


def _epsilon_at_order(rho: float, delta: float, order: float) -> float:
    """rho a + ln(1 / (a delta)) / (a - 1) + ln(1 - 1/a) at a = ``order``, from above."""
    a = Fraction(order)
    epsilon = (
        Fraction(rho) * a
        + ln_upper_bound(1 / (a * Fraction(delta))) / (a - 1)
        + ln_upper_bound(1 - 1 / a)
    )
    return max(0.0, float_at_least(epsilon))


def _best_order(epsilon_at: Callable[[float], float]) -> float:
    """Return an order near the minimum; the search may be inexact, since any order > 1 is valid.

    The bound is quasi-convex in the order: {a : epsilon(a) <= e} is a sublevel set of ln delta,
    which is convex in a.
    """

    def order(position: float) -> float:
        return 1 + math.exp(position)

    left, right = -36.0, 60.0
    while right - left > 1e-7:
        reach = _GOLDEN * (right - left)
        if epsilon_at(order(right - reach)) < epsilon_at(order(left + reach)):
            right = left + reach
        else:
            left = right - reach
    return order((left + right) / 2)
