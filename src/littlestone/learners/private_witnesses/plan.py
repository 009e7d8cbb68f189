"""Numbers for counters of witnesses: chosen for few mistakes, never for privacy.

Any two rates whose sum is at most epsilon keep the promise, whatever the thresholds are; places are
drawn by a plan of their own, which keeps it by itself.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

from littlestone import require
from littlestone.concepts.capabilities import PlacingSystem, WitnessSystem
from littlestone.concepts.witnesses.systems import AGAIN
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_witnesses.bound import Counted, Counters, Load, largest_bound
from littlestone.learners.private_witnesses.places import misplaced_upper_bound, plan_places
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most

_SHARES: Final = tuple(share / 50 for share in range(25, 50))
_CHANCES: Final = tuple(2.0 ** (-power / 2) for power in range(40))
_AGAIN: Final = 1e-3
"""How likely, at most, everything is ever to start again though nothing was wrong."""
_NEAR: Final = 1.015
_SELDOM: Final = 0.045
"""For so much larger a mean, so few epochs may be lost that bounds with 95 % need but one."""
_OUTWARDS: Final = 1 + 1e-9


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessPlan:
    """The rates of the noise, and the thresholds of the counters."""

    query_rate: float
    threshold_rate: float
    threshold: int
    again: int
    """The threshold for "start again"."""
    drawing: FreshPlan | None = None
    """How places are drawn, for systems that seek some."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(query_rate=self.query_rate, threshold_rate=self.threshold_rate)
        require.integer(threshold=self.threshold, again=self.again, at_least=1)

    def guarantee(self) -> PrivacyGuarantee:
        """One count falls and another one rises: a share for each; or a place is drawn."""
        both = Fraction(self.query_rate) + Fraction(self.threshold_rate)
        drawing = self.drawing.guarantee(delta=0.0).epsilon if self.drawing else 0
        return PrivacyGuarantee.rounded_up(epsilon=max(both, Fraction(drawing)))

    def expected(self, system: WitnessSystem, rounds: int) -> float:
        """The mean of the mistakes on realizable streams, at most (algorithm.md)."""
        means = [load.mean(self._counters()) for load in self._loads(system, rounds)]
        return min(float(rounds), max(means))

    def bound(self, system: WitnessSystem, rounds: int, failure_probability: float) -> float:
        """Exceeded with ``failure_probability`` at most (algorithm.md)."""
        loads = self._loads(system, rounds)
        largest = largest_bound(loads, self._counters(), failure_probability)
        return min(float(rounds), largest)

    def roughly_expected(self, system: WitnessSystem, rounds: int) -> float:
        """The same without what query noise saves; much faster."""
        counters = self._counters()
        noise = 1 / math.expm1(self.threshold_rate)
        one, last = counters.one.threshold + noise, counters.last.threshold + noise
        place = counters.place.threshold + 1 if counters.place else 0
        return max(
            (load.places * place + load.accepted * one + load.false * load.more * last)
            / (1 - min(load.lost, 1 - 1e-9))
            for load in self._loads(system, rounds)
        )

    def lost(self, system: WitnessSystem, rounds: int) -> float:
        """How likely an epoch is to end, at most."""
        return max(load.lost for load in self._loads(system, rounds))

    def _counters(self) -> Counters:
        rates, drawing = (self.query_rate, self.threshold_rate), self.drawing
        one, last = (
            Counted(*rates, at) for at in (self.threshold, max(self.threshold, self.again))
        )
        if drawing is None:
            return Counters(one, last)
        # What ends a lost epoch is a witness like any other.
        rate = drawing.threshold_epsilon
        return Counters(one, one, Counted(rate, rate, drawing.threshold))

    def _loads(self, system: WitnessSystem, rounds: int) -> list[Load]:
        chance = self._chance(self.threshold, rounds)
        if self.drawing is not None:
            placing = cast(PlacingSystem, system)  # the recipe has asked; a plan is tried often
            misplaced = misplaced_upper_bound(self.drawing, placing.places, rounds)
            return [
                Load(accepted, lost, lost, placing.sought, placing.counters, late=chance)
                for accepted, false in placing.loads(chance)
                for lost in [min(1.0, false + placing.sought * misplaced)]
            ]
        starts_again = AGAIN in system.live(system.begin())
        by_chance = self._chance(self.again, rounds) if starts_again else 0.0
        return [
            Load(accepted, min(1.0, false), min(1.0, false + by_chance))
            for accepted, false in system.loads(chance)
        ]

    def _chance(self, threshold: int, rounds: int) -> float:
        """A counter at 0 fires within so many rounds with this probability at most."""
        require.integer(rounds=rounds, at_least=1)
        share = _share(self.query_rate, self.threshold_rate)
        return min(1.0, rounds * share * math.exp(-self.query_rate * threshold) * _OUTWARDS)


@lru_cache(maxsize=64)
def plan_witnesses(system: WitnessSystem, *, rounds: int, epsilon: float) -> WitnessPlan:
    """The shares of the budget and the threshold with the smallest mean that is proved, nearly."""
    drawing = _planned_places(system, rounds, epsilon)
    plans = [
        _planned(share * epsilon, epsilon, rounds, chance, drawing)
        for share in _SHARES
        for chance in _CHANCES
    ]
    means = [plan.roughly_expected(system, rounds) for plan in plans]
    near = sorted((mean, i) for i, mean in enumerate(means) if mean <= _NEAR * min(means))
    seldom = (plans[i] for _, i in near if plans[i].lost(system, rounds) <= _SELDOM)
    return next(seldom, plans[near[0][1]])


def _planned_places(system: WitnessSystem, rounds: int, epsilon: float) -> FreshPlan | None:
    if not isinstance(system, PlacingSystem):
        return None
    accepted = max(accepted for accepted, _ in system.loads(0.0))
    epoch = accepted * 1.25 * math.log(10 * system.counters * rounds) / epsilon
    return plan_places(places=system.places, rounds=rounds, epsilon=epsilon, epoch=epoch)


def _planned(
    query_rate: float, epsilon: float, rounds: int, chance: float, drawing: FreshPlan | None
) -> WitnessPlan:
    threshold_rate = float_at_most(Fraction(epsilon) - Fraction(query_rate))
    share = math.log(_share(query_rate, threshold_rate))
    threshold, again = (
        max(1, math.ceil((math.log(rounds / allowed) + share) / query_rate))
        for allowed in (chance, _AGAIN)
    )
    return WitnessPlan(
        query_rate=query_rate,
        threshold_rate=threshold_rate,
        threshold=threshold,
        again=again,
        drawing=drawing,
    )


def _share(query_rate: float, threshold_rate: float) -> float:
    """P(query noise >= threshold + threshold noise) = share * e**(-query_rate * threshold)."""
    return math.expm1(-threshold_rate) / math.expm1(-query_rate - threshold_rate)
