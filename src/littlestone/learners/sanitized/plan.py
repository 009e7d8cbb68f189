"""The public numbers of the constructed experts: intervals, switch times, rate and bounds."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from littlestone import require
from littlestone.concepts.classes.version_spaces import subsets_up_to
from littlestone.game.protocols import OnlineLearner
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.lazy_switching import LazySwitching
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.sanitized.families import conversion_delta, detection_bound
from littlestone.learners.sanitized.paths import SLOT_BITS
from littlestone.learners.sanitizers.interval_sanitizer import Family, IntervalSanitizer
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.integer_weights import WeightTable, weight_table
from littlestone.theory.outwards import upwards

Prediction = ExponentialWeights | ShrinkingDartboard
ALGORITHMS: Final[dict[str, type[Prediction]]] = {
    "exponential-weights": ExponentialWeights,
    "lazy-switching": LazySwitching,
    "shrinking-dartboard": ShrinkingDartboard,
}
_GUARD_BITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConstructionPlan:
    """Which intervals are sanitized, and when experts may switch."""

    intervals: IntervalSanitizer
    switch_grid: int
    most_switches: int

    @classmethod
    @require.checked
    def of(
        cls, family: Family, base: OnlineLearner, *, rounds: int, shortest: int, switch_grid: int
    ) -> "ConstructionPlan":
        """Plan the intervals from length ``shortest`` on for a family of sanitizers."""
        intervals = IntervalSanitizer(
            rounds=rounds,
            family=family,
            domain=base.concepts.domain,
            shortest=shortest,
            delta=conversion_delta(family),
        )
        return cls(intervals=intervals, switch_grid=switch_grid, most_switches=base.mistake_bound)

    @property
    def switch_times(self) -> int:
        """The number of switch times: multiples of the grid before the last round."""
        return (self.intervals.rounds - 1) // self.switch_grid

    @property
    def most_points(self) -> int:
        """A bound on the length of every list of released points."""
        return self.intervals.domain.size or self.intervals.rounds

    @property
    def experts(self) -> int:
        """The inverse of an expert's smallest prior probability, rounded up.

        It counts sets of switch times and, for each time, how many points the longest list shares
        the slots among.
        """
        each = -(-(1 << SLOT_BITS) // ((1 << SLOT_BITS) // self.most_points))
        return int(subsets_up_to(self.switch_times, self.most_switches) * each**self.most_switches)

    def undetected_upper_bound(self, *, failure_probability: float) -> float:
        """Bound the disagreements since the last switch that can go unnoticed in any interval.

        An interval has at most two pieces of each length, one if it begins with the first round; if
        it holds more than its pieces may each hide, one of them releases a point.
        """
        rounds, shortest = self.intervals.rounds, self.intervals.shortest
        sanitizers = self.intervals.sanitizers
        releases = sum(rounds // size for size in sanitizers)
        share = failure_probability / max(releases, 1)
        sides = 1 if self.most_switches == 1 else 2
        hidden = sum(
            detection_bound(sanitizer, size=size, failure_probability=share)
            for size, sanitizer in sanitizers.items()
        )
        too_short = 0 if self.switch_grid % shortest == 0 else min(shortest, rounds) - 1
        return sides * (hidden + too_short)

    def construction_upper_bound(self, *, failure_probability: float) -> float:
        """Bound the rounds in which the best expert differs from any given concept.

        That expert switches at the first switch time at which its disagreements are noticed, at
        most as often as the base learner can err. Between two switches its disagreements are those
        that can go unnoticed, and one step of the grid.
        """
        hidden = self.undetected_upper_bound(failure_probability=failure_probability)
        most = upwards(self.most_switches * (hidden + self.switch_grid))
        return min(float(self.intervals.rounds), most)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpertsPlan:
    """A construction, and prediction from the experts it makes."""

    construction: ConstructionPlan
    prediction: Prediction
    table: WeightTable
    refresh: int

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of sanitizers and prediction together."""
        return basic_composition(
            [self.construction.intervals.guarantee(), self.prediction.guarantee()]
        )

    def prediction_upper_bound(self) -> float:
        """Bound the expected regret against the best constructed expert, table error included."""
        experts, rounds = math.log(self.construction.experts), self.prediction.rounds
        if isinstance(self.prediction, ExponentialWeights):
            rate = self.prediction.rate
            squares = self.prediction.batches.sum_of_squares(rounds)
            return upwards(experts / rate + rate * squares / 8 + rounds * self.table_error())
        plan = self.prediction.plan
        assert plan is not None
        padded = -(-rounds // plan.batch) * plan.batch
        regret = experts / plan.rate + plan.rate * padded * plan.batch / 8 + 1 / rounds
        return upwards(regret + rounds * self.table_error() / plan.fake)

    def regret_upper_bound(self, failure_probability: float) -> float:
        """Bound the expected regret against the best concept, unless the sanitizer fails."""
        construction = self.construction.construction_upper_bound(
            failure_probability=failure_probability
        )
        return upwards(construction + self.prediction_upper_bound())

    def table_error(self) -> float:
        """Bound the total variation to exact exponential weights (draw.md)."""
        return (
            2.0 ** (2 - _GUARD_BITS) / self.prediction.rounds
            + self.table.length_upper_bound / 2.0**53
        )


@lru_cache(maxsize=32)
def plan_experts(
    *,
    base: Any,
    family: Family,
    rounds: int,
    budget: PrivacyGuarantee,
    algorithm: str,
    switch_grid: int | None,
    failure_probability: float,
) -> ExpertsPlan:
    """Choose the construction with the smallest bound, and the experts algorithm on the rest.

    ``base`` is an ``OnlineLearner``; all of them are hashable, which the protocol does not say.
    """
    if (base.concepts.domain.size or rounds) > 1 << SLOT_BITS:
        raise ValueError(
            f"concepts must have at most 2**{SLOT_BITS} points, or at most as many rounds if their "
            f"domain is infinite, got {base.concepts.domain.size} points and rounds={rounds!r}"
        )
    construction = _best_construction(
        family, base, rounds, budget, switch_grid, failure_probability
    )
    left = budget.less(construction.intervals.guarantee())
    prediction = ALGORITHMS[algorithm](
        experts=construction.experts, rounds=rounds, epsilon=left.epsilon, delta=left.delta
    )
    eta = prediction._selection.mechanism.eta
    return ExpertsPlan(
        construction=construction,
        prediction=prediction,
        table=weight_table(eta, floor_bits(eta, construction.experts, rounds)),
        refresh=max(1, int(1 / eta)),
    )


def floor_bits(eta: Fraction, experts: int, rounds: int) -> int:
    """Return a floor for the weights, too low to matter or never reached."""
    low = experts.bit_length() + rounds.bit_length() + _GUARD_BITS
    never = math.ceil(eta * rounds * Fraction(3, 2)) + 1  # 1 / ln 2 < 3/2
    return min(low, never)


def _best_construction(
    family: Family,
    base: OnlineLearner,
    rounds: int,
    budget: PrivacyGuarantee,
    switch_grid: int | None,
    failure_probability: float,
) -> ConstructionPlan:
    """Try lengths of the shortest released interval; the default grid is that length."""
    longest = 1 << rounds.bit_length() - 1
    least = 1 if switch_grid is None else min(switch_grid & -switch_grid, longest)
    best: tuple[float, ConstructionPlan] | None = None
    shortest = longest
    while shortest >= least:
        plan = ConstructionPlan.of(
            family,
            base,
            rounds=rounds,
            shortest=shortest,
            switch_grid=shortest if switch_grid is None else switch_grid,
        )
        if not plan.intervals.guarantee().within(budget):
            raise ValueError(
                f"sanitizer must leave some of {budget}, got {plan.intervals.guarantee()}"
            )
        cost = plan.construction_upper_bound(failure_probability=failure_probability)
        # Without a useful bound, try a few switch times.
        hopeless = cost >= rounds and shortest * 8 >= longest
        if best is None or cost < best[0] or (best[0] >= rounds and hopeless):
            best = (cost, plan)
        elif cost > 2 * best[0]:
            break
        shortest //= 2
    assert best is not None
    return best[1]
