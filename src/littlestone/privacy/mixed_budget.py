"""A mixed budget has plain epsilon for watching and rho for many small choices."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from littlestone import require
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Cost, Ledger
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated, compose_zero_concentrated
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedBudget:
    """epsilon of plain cost and rho of zero-concentrated cost, which is converted at delta.

    >>> budget = MixedBudget.split(epsilon=1.0, delta=1e-6)
    >>> budget.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    """

    epsilon: float
    rho: float
    delta: float

    def __post_init__(self) -> None:
        require.plain(self)
        require.positive(epsilon=self.epsilon, rho=self.rho)
        require.open_probability(delta=self.delta)

    @classmethod
    @require.checked
    def split(cls, *, epsilon: float, delta: float, watching: float = 0.125) -> "MixedBudget":
        """Split epsilon: the share ``watching`` stays plain, the rest becomes rho."""
        require.positive(epsilon=epsilon)
        require.open_probability(delta=delta, watching=watching)
        plain = float_at_most(Fraction(epsilon) * Fraction(watching))
        rest = float_at_most(Fraction(epsilon) - Fraction(plain))
        rho = ZeroConcentrated.largest(epsilon=rest, delta=delta).rho
        return cls(epsilon=plain, rho=rho, delta=delta)

    def divided(self, parts: int) -> "MixedBudget":
        """Return what each of ``parts`` releases may cost; the delta converts their sum."""
        require.integer(parts=parts, at_least=1)
        return MixedBudget(
            epsilon=float_at_most(Fraction(self.epsilon) / parts),
            rho=float_at_most(Fraction(self.rho) / parts),
            delta=self.delta,
        )

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of spending the whole budget."""
        costs: tuple[Cost, ...] = (
            PrivacyGuarantee(epsilon=self.epsilon),
            ZeroConcentrated(rho=self.rho),
        )
        return total_guarantee(costs, delta=self.delta)

    def selection_epsilon(self, rounds: int) -> float:
        """Return the largest bounded range that ``rounds`` choices may have within rho.

        >>> 7 * MixedBudget(epsilon=1.0, rho=0.5, delta=1e-6).selection_epsilon(7) ** 2 <= 8 * 0.5
        True
        """
        require.integer(rounds=rounds, at_least=1)
        above, below = self.rho.as_integer_ratio()
        above, below = 8 * above, below * rounds
        width = math.sqrt(above / below)
        while _is_above(width, above, below):
            width = math.nextafter(width, 0.0)
        return width


def _is_above(width: float, above: int, below: int) -> bool:
    """Return whether the square of ``width`` exceeds above / below."""
    numerator, denominator = width.as_integer_ratio()
    return numerator * numerator * below > above * denominator * denominator


def total_guarantee(costs: Iterable[Cost], *, delta: float) -> PrivacyGuarantee:
    """Return the joint cost of releases from the same data; zCDP is converted at ``delta``."""
    return _total(tuple(costs), delta)


@lru_cache(maxsize=256)
def _total(known: tuple[Cost, ...], delta: float) -> PrivacyGuarantee:
    plain = basic_composition([cost for cost in known if isinstance(cost, PrivacyGuarantee)])
    rho = compose_zero_concentrated([cost for cost in known if isinstance(cost, ZeroConcentrated)])
    if rho.rho == 0:
        return plain
    return basic_composition([plain, rho.guarantee(delta=delta)])


class OneRelease(Protocol):
    """A recipe that reads a dataset once."""

    @property
    def delta(self) -> float:
        """The delta at which concentrated costs are converted."""

    def costs(self) -> tuple[Cost, ...]:
        """Return what the release costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The full cost of a release; ending early refunds nothing."""

    mechanism: str
    costs: tuple[Cost, ...]
    delta: float
    size: int
    private: bool

    @classmethod
    def of(cls, recipe: OneRelease, *, size: int, rng: Randomness) -> "Receipt":
        """Return the receipt of a release of ``recipe`` from ``size`` examples."""
        return cls(
            mechanism=type(recipe).__name__,
            costs=recipe.costs(),
            delta=recipe.delta,
            size=size,
            private=rng.private,
        )

    def ledger(self) -> Ledger:
        """Return a ledger whose budget is exactly these costs."""
        ledger = ledger_for(self.costs, delta=self.delta, private=self.private)
        for cost in self.costs:
            ledger.charge(self.mechanism, cost, first=1, last=self.size)
        return ledger


def ledger_for(
    costs: Iterable[Cost], *, delta: float, private: bool, budget: PrivacyGuarantee | None = None
) -> Ledger:
    """Return an empty ledger with this budget; by default it fits these costs exactly once."""
    known = list(costs)
    rho = compose_zero_concentrated([cost for cost in known if isinstance(cost, ZeroConcentrated)])
    return Ledger(
        budget=budget or total_guarantee(known, delta=delta),
        private=private,
        concentrated=rho,
        concentrated_delta=delta if rho.rho else 0.0,
    )
