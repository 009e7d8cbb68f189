"""Numbers for counters of witnesses: chosen for few mistakes, never for privacy.

Any two rates whose sum is at most epsilon keep the promise, whatever the thresholds are.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from littlestone import require
from littlestone.concepts.capabilities import WitnessSystem
from littlestone.concepts.witnesses import AGAIN
from littlestone.learners.private_witnesses.bound import Counted, Load, largest_bound
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most

_SHARES: Final = tuple(share / 50 for share in range(25, 50))
_CHANCES: Final = tuple(2.0 ** (-power / 2) for power in range(40))
_AGAIN: Final = 1e-3
"""How likely, at most, everything is ever to start again though nothing was wrong."""
_OUTWARDS: Final = 1 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessPlan:
    """The rates of the noise, and the thresholds of the counters."""

    query_rate: float
    threshold_rate: float
    threshold: int
    again: int
    """The threshold for "start again"."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(query_rate=self.query_rate, threshold_rate=self.threshold_rate)
        require.integer(threshold=self.threshold, again=self.again, at_least=1)

    def guarantee(self) -> PrivacyGuarantee:
        """One count falls and another one rises: a share for each."""
        both = Fraction(self.query_rate) + Fraction(self.threshold_rate)
        return PrivacyGuarantee.rounded_up(epsilon=both)

    def expected(self, system: WitnessSystem, rounds: int) -> float:
        """The mean of the mistakes on realizable streams, at most (algorithm.md)."""
        means = [load.mean(*self._counters()) for load in self._loads(system, rounds)]
        return min(float(rounds), max(means))

    def bound(self, system: WitnessSystem, rounds: int, failure_probability: float) -> float:
        """Exceeded with ``failure_probability`` at most (algorithm.md)."""
        loads = self._loads(system, rounds)
        largest = largest_bound(loads, *self._counters(), failure_probability)
        return min(float(rounds), largest)

    def roughly_expected(self, system: WitnessSystem, rounds: int) -> float:
        """The same without what query noise saves; much faster."""
        one, last = self._counters()
        noise = 1 / math.expm1(self.threshold_rate)
        return max(
            (load.accepted * (one.threshold + noise) + load.false * (last.threshold + noise))
            / (1 - min(load.lost, 1 - 1e-9))
            for load in self._loads(system, rounds)
        )

    def _counters(self) -> tuple[Counted, Counted]:
        """The one of a witness, and the one that ends a lost epoch."""
        rates = self.query_rate, self.threshold_rate
        return Counted(*rates, self.threshold), Counted(*rates, max(self.threshold, self.again))

    def _loads(self, system: WitnessSystem, rounds: int) -> list[Load]:
        starts_again = AGAIN in system.live(system.begin())
        by_chance = self._chance(self.again, rounds) if starts_again else 0.0
        return [
            Load(accepted, min(1.0, false), min(1.0, false + by_chance))
            for accepted, false in system.loads(self._chance(self.threshold, rounds))
        ]

    def _chance(self, threshold: int, rounds: int) -> float:
        """A counter at 0 fires within so many rounds with this probability at most."""
        share = _share(self.query_rate, self.threshold_rate)
        return min(1.0, rounds * share * math.exp(-self.query_rate * threshold) * _OUTWARDS)


@lru_cache(maxsize=64)
def plan_witnesses(system: WitnessSystem, *, rounds: int, epsilon: float) -> WitnessPlan:
    """The shares of the budget and the threshold with the smallest mean that is proved, nearly."""
    plans = [
        _planned(share * epsilon, epsilon, rounds, chance)
        for share in _SHARES
        for chance in _CHANCES
    ]
    return min(plans, key=lambda plan: plan.roughly_expected(system, rounds))


def _planned(query_rate: float, epsilon: float, rounds: int, chance: float) -> WitnessPlan:
    threshold_rate = float_at_most(Fraction(epsilon) - Fraction(query_rate))
    share = math.log(_share(query_rate, threshold_rate))
    threshold, again = (
        max(1, math.ceil((math.log(rounds / allowed) + share) / query_rate))
        for allowed in (chance, _AGAIN)
    )
    return WitnessPlan(
        query_rate=query_rate, threshold_rate=threshold_rate, threshold=threshold, again=again
    )


def _share(query_rate: float, threshold_rate: float) -> float:
    """P(query noise >= threshold + threshold noise) = share * e**(-query_rate * threshold)."""
    return math.expm1(-threshold_rate) / math.expm1(-query_rate - threshold_rate)
