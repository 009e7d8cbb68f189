"""The public numbers of counters of witnesses: their cost, their bounds and their choice.

Any two rates whose sum is at most epsilon keep the promise, whatever the thresholds; places are
drawn by a separate plan, which keeps it by itself. The planner chooses numbers for few mistakes,
never for privacy.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import PlacingSystem, WitnessLoad, WitnessSystem
from littlestone.concepts.witness_lines import MOST_CONTRADICTIONS
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_witnesses.bound import Counted, Counters, Load, largest_bound
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most

Counts = NDArray[np.int64]

_SELECTION_SHARES: Final = (0.34, 0.42, 0.5)
_THRESHOLDS: Final = 14
_BLOCK: Final = 0.5
_NEGLIGIBLE: Final = 24.0  # in logarithms
_LARGEST: Final = 43.0  # in logarithms; beyond it the mechanism's floor on weights counts
_ROUNDING: Final = 1 + 2.0**-40


@lru_cache(maxsize=256)
def misplaced_upper_bound(plan: FreshPlan, places: int, rounds: int) -> float:
    """Bound the probability of a false place, against an adversary that knows the threshold.

    The adversary may stop at any count and wait for the counter to fire by chance. Counts are taken
    in blocks and threshold noise is rounded down to blocks, both in its favour (recipe.md).
    """
    rate = plan.threshold_epsilon
    block = max(1, int(_BLOCK / rate))
    noise = block * np.arange(math.ceil(_NEGLIGIBLE / rate / block) + 1)
    law = np.exp(-rate * noise)
    law[:-1] -= law[1:]
    fires = plan.threshold + noise
    counts = np.arange(0, fires[-1], block)[:, None]
    gaps = np.maximum(fires - (counts + block - 1), 0)
    with np.errstate(divide="ignore"):
        waits = -np.expm1(rounds * np.log1p(-np.exp(-rate * gaps)))
    waits[counts >= fires] = 0.0
    drawn, value = _false_draw(plan, places, counts), _false_draw(plan, places, fires)
    for wait, now in zip(waits[::-1], drawn[::-1], strict=True):
        value += wait * np.maximum(now - value, 0)
    return min(1.0, float(law @ value) * _ROUNDING)


def _false_draw(plan: FreshPlan, places: int, mistakes: Counts) -> NDArray[np.float64]:
    """Bound the probability of a false draw; without mistakes there may be no true place."""
    true = 2 * np.exp(np.minimum(plan.selection_rate * mistakes / 2, _LARGEST))
    false = np.minimum((places - 1) * _ROUNDING / np.maximum(places - 2 + true, 1), 1.0)
    return np.where(mistakes > 0, false, 1.0)


def plan_places(
    *, places: int, rounds: int, epsilon: float, epoch: float, astray: float = 0.0
) -> FreshPlan:
    """Choose budget share and threshold for places, given the mistakes of the rest of an epoch.

    ``astray`` is how many more there are after a false place.
    """

    def cost(plan: FreshPlan) -> float:
        mistakes = plan.threshold + 1 / math.expm1(plan.threshold_epsilon) + epoch
        true = 1 - misplaced_upper_bound(plan, places, rounds)
        return (mistakes + (1 - true) * astray) / true if true > 0 else math.inf

    best = []
    for share in _SELECTION_SHARES:
        rate = share * epsilon
        watch = float_at_most(Fraction(epsilon) - Fraction(rate))
        low, high = 0.0, 2 * (math.log(places * epoch + 1) + 2) / rate + math.log(rounds) / watch
        for _ in range(2):
            thresholds = np.linspace(low, high, _THRESHOLDS)[1:-1]
            plans = [
                FreshPlan(threshold_epsilon=watch, threshold=max(1, round(at)), selection_rate=rate)
                for at in thresholds.tolist()
            ]
            best.append(min(plans, key=cost))
            step = (high - low) / (_THRESHOLDS - 1)
            low, high = best[-1].threshold - step, best[-1].threshold + step
    return min(best, key=cost)


_SHARES: Final = tuple(share / 50 for share in range(25, 50))
_CHANCES: Final = tuple(2.0 ** (-power / 2) for power in range(40))
_AGAIN: Final = 1e-3
"""The largest probability of a restart although nothing was wrong."""
_COMPARED: Final = 40
_NEAR: Final = 1.015
_SELDOM: Final = 0.045
"""Means up to ``_NEAR`` times the smallest are accepted if so few epochs are lost."""
_OUTWARDS: Final = 1 + 1e-9


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessPlan:
    """The rates of the noise, and the thresholds of the counters."""

    query_rate: float
    threshold_rate: float
    threshold: int
    again: int
    """The threshold of the counter that starts again."""
    drawing: FreshPlan | None = None
    """How places are drawn, for systems that need them."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(query_rate=self.query_rate, threshold_rate=self.threshold_rate)
        require.integer(threshold=self.threshold, again=self.again, at_least=1)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost: one count falls and another rises, or a place is drawn."""
        both = Fraction(self.query_rate) + Fraction(self.threshold_rate)
        drawing = self.drawing.guarantee(delta=0.0).epsilon if self.drawing else 0
        return PrivacyGuarantee.rounded_up(epsilon=max(both, Fraction(drawing)))

    def expected(self, system: WitnessSystem, rounds: int) -> float:
        """Bound the mean of the mistakes on realizable streams (recipe.md)."""
        counters = self._counters(system)
        each = [one.mean() if one else 0.0 for one in (counters.one, counters.last, counters.place)]
        means = [load.mean(*each) for load in self._loads(system, rounds)]
        return min(float(rounds), max(means))

    def bound(self, system: WitnessSystem, rounds: int, failure_probability: float) -> float:
        """Bound the mistakes, except with ``failure_probability`` (recipe.md)."""
        loads = self._loads(system, rounds)
        largest = largest_bound(loads, self._counters(system), failure_probability)
        return min(float(rounds), largest)

    def roughly_expected(self, system: WitnessSystem, rounds: int) -> float:
        """Estimate ``expected`` without what query noise saves; much faster."""
        counters = self._counters(system)
        noise = 1 / math.expm1(self.threshold_rate)
        one, last = counters.one.threshold + noise, counters.last.threshold + noise
        place = counters.place.threshold + 1 if counters.place else 0
        return max(load.mean(one, last, place) for load in self._loads(system, rounds))

    def risk(self, system: WitnessSystem, rounds: int) -> float:
        """Bound the probability that something false is accepted."""
        return max(load.risk for load in self._loads(system, rounds))

    def _counters(self, system: WitnessSystem) -> Counters:
        rates, drawing = (self.query_rate, self.threshold_rate), self.drawing
        # A witness like any other may end a lost epoch.
        again = max(self.threshold, self.again) if _loads_of(system)[0].again else self.threshold
        one, last = (Counted(*rates, at) for at in (self.threshold, again))
        if drawing is None:
            return Counters(one, last)
        rate = drawing.threshold_epsilon
        return Counters(one, last, Counted(rate, rate, drawing.threshold))

    def _loads(self, system: WitnessSystem, rounds: int) -> list[Load]:
        by_chance = (self._chance(at, rounds) for at in (self.threshold, self.again))
        witness, again = by_chance
        misplaced, sought, late = 0.0, 0, 0.0
        if self.drawing is not None:
            placing = cast(PlacingSystem, system)  # checked by the recipe; plans are tried often
            sought, late = placing.sought, witness if placing.renews else 0.0
            misplaced = sought * misplaced_upper_bound(self.drawing, placing.places, rounds)
        return [
            Load(
                load,
                false=load.counters * witness,
                again=load.again * again,
                places=sought,
                misplaced=min(1.0, misplaced + _too_many(load, witness, again)),
                late=late,
            )
            for load in _loads_of(system)
        ]

    def _chance(self, threshold: int, rounds: int) -> float:
        """Bound the probability that a counter at 0 fires within ``rounds`` rounds."""
        require.integer(rounds=rounds, at_least=1)
        share = _share(self.query_rate, self.threshold_rate)
        return min(1.0, rounds * share * math.exp(-self.query_rate * threshold) * _OUTWARDS)


@lru_cache(maxsize=64)
def plan_witnesses(system: WitnessSystem, *, rounds: int, epsilon: float) -> WitnessPlan:
    """Choose budget shares and threshold with nearly the smallest proved mean."""
    drawing = _planned_places(system, rounds, epsilon)
    plans = [
        plan
        for share in _SHARES
        for plan in _with_query_rate(share * epsilon, epsilon, rounds, drawing)
    ]
    rough = sorted((plan.roughly_expected(system, rounds), i) for i, plan in enumerate(plans))
    # Query noise does not save the same for all of them.
    means = sorted((plans[i].expected(system, rounds), i) for _, i in rough[:_COMPARED])
    near = [i for mean, i in means if mean <= _NEAR * means[0][0]]
    seldom = (plans[i] for i in near if plans[i].risk(system, rounds) <= _SELDOM)
    return next(seldom, plans[near[0]])


def _planned_places(system: WitnessSystem, rounds: int, epsilon: float) -> FreshPlan | None:
    if not isinstance(system, PlacingSystem):
        return None
    load = _loads_of(system)[0]
    each = 1.25 * math.log(10 * load.counters * rounds) / epsilon
    return plan_places(
        places=system.places,
        rounds=rounds,
        epsilon=epsilon,
        epoch=load.accepted * each,
        astray=max(load.astray - load.accepted, load.further) * each,
    )


def _with_query_rate(
    query_rate: float, epsilon: float, rounds: int, drawing: FreshPlan | None
) -> Iterator[WitnessPlan]:
    threshold_rate = float_at_most(Fraction(epsilon) - Fraction(query_rate))
    share = math.log(_share(query_rate, threshold_rate))

    def threshold(allowed: float) -> int:
        return max(1, math.ceil((math.log(rounds / allowed) + share) / query_rate))

    again = threshold(_AGAIN)
    for chance in _CHANCES:
        yield WitnessPlan(
            query_rate=query_rate,
            threshold_rate=threshold_rate,
            threshold=threshold(chance),
            again=again,
            drawing=drawing,
        )


@lru_cache(maxsize=64)
def _loads_of(system: WitnessSystem) -> Sequence[WitnessLoad]:
    return system.loads()


def _too_many(load: WitnessLoad, witness: float, again: float) -> float:
    """Bound the probability that a true place is given up after too many contradictions."""
    if not load.astray:
        return 0.0
    wrong = load.counters * witness + load.again * again
    most = MOST_CONTRADICTIONS + 1
    return wrong**most / math.factorial(most)


def _share(query_rate: float, threshold_rate: float) -> float:
    """P(query noise >= threshold + threshold noise) = share * e**(-query_rate * threshold)."""
    return math.expm1(-threshold_rate) / math.expm1(-query_rate - threshold_rate)
