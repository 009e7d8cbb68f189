"""Plan how many teachers, phases and mistakes the proof needs, with every constant."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from littlestone import require
from littlestone.learners.batch.proper_step import leaves_bound
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.above_threshold_bounds import (
    one_sided_early_upper_bound,
    one_sided_late_upper_bound,
)
from littlestone.theory.outwards import upwards

_counter = lru_cache(maxsize=16)(
    lambda epsilon, threshold: CountAboveThreshold(epsilon=epsilon, threshold=threshold)
)
_watch = lru_cache(maxsize=16)(
    lambda epsilon, threshold: AboveThreshold(epsilon=epsilon, threshold=threshold)
)
_MOST_STAGES = 1024
_PARTS = 6
"""The failures, each with a sixth of the failure probability: teachers that mislead, checks,
drawing None, counting, phases without a halving, candidates that survive their mistakes."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class TeachersPlan:
    """The numbers of recipe.md. Any plan is private; accuracy is proved for planned ones.

    >>> plan = plan_teachers(dimension=1, log_growth=12.5, size=None, rounds=10**5, epsilon=1.0,
    ...     delta=1e-6, failure_probability=0.05)
    >>> plan.teachers, plan.phases, plan.tolerance
    (16726, 448, 8916)
    """

    teachers: int
    """k: every round belongs to one of them."""
    tolerance: int
    """θ: the errors that a teacher tolerates in a concept, before the stages shrink it."""
    mistakes: int
    """The threshold of the counter that ends a phase."""
    phases: int
    """J: the number of draws that are paid for."""
    count_epsilon: float
    watch_epsilon: float
    """The epsilon of one stage; there are d + 1."""
    draw_epsilon: float
    draw_delta: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(teachers=self.teachers, phases=self.phases, at_least=1)
        require.integer(tolerance=self.tolerance, mistakes=self.mistakes, at_least=1)

    def reach(self, stage: int) -> int:
        """Return p_r = 2^r·(θ + 1): more points than a concept of any stage may err on."""
        require.integer(stage=stage, at_least=0, at_most=_MOST_STAGES)
        return (self.tolerance + 1) << stage

    def longest(self, dimension: int, size: int | None) -> int:
        """Return Λ, a bound on the leaves of a tree at any stage."""
        leaves = leaves_bound(dimension=dimension, reach=self.reach(dimension))
        return leaves if size is None else min(leaves, size)

    def counter(self) -> CountAboveThreshold:
        """Return the counter of mistakes."""
        return _counter(self.count_epsilon, self.mistakes)

    def watch(self) -> AboveThreshold:
        """Return the watch that answers yes if no function is popular; its queries are negated."""
        return _watch(self.watch_epsilon, -(self.teachers // 2))

    def sample(self, dimension: int, size: int | None) -> SparseSample:
        """Return the mechanism that samples a listed function."""
        return SparseSample(
            epsilon=self.draw_epsilon,
            delta=self.draw_delta,
            lists=self.teachers,
            longest=self.longest(dimension, size),
        )

    def guarantee(self, *, dimension: int, delta: float) -> PrivacyGuarantee:
        """Compose one counter, the watches of all stages and all draws, by the cheaper rule.

        The draws are approximately zCDP: half of ``delta`` pays for the conversion.
        """
        require.integer(dimension=dimension, at_least=0)
        require.open_probability(delta=delta)
        pure = Fraction(self.count_epsilon) + (dimension + 1) * Fraction(self.watch_epsilon)
        failing = self.phases * Fraction(self.draw_delta)
        draws = ZeroConcentrated.from_bounded_range(self.draw_epsilon).times(self.phases)
        converted = Fraction(draws.epsilon_upper_bound(delta / 2))
        basic = self.phases * Fraction(self.draw_epsilon)
        if basic <= converted:
            return PrivacyGuarantee.rounded_up(epsilon=pure + basic, delta=failing)
        return PrivacyGuarantee.rounded_up(
            epsilon=pure + converted, delta=failing + Fraction(delta) / 2
        )

    def mistakes_bound(self, *, failure_probability: float) -> float:
        """Return J·(threshold + late + 1), the mistakes of all planned phases."""
        late = one_sided_late_upper_bound(
            instances=self.phases,
            epsilon=self.count_epsilon,
            failure_probability=failure_probability / _PARTS / 2,
        )
        return upwards(self.phases * (self.mistakes + late + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    dimension: int
    log_growth: float
    size: int | None
    rounds: int
    share: float
    """A sixth of the failure probability."""
    count_epsilon: float
    watch_epsilon: float
    rho: float
    delta: float

    def drafted(self, teachers: int, phases: int) -> TeachersPlan:
        """Return the plan with these numbers of teachers and phases, which may be too small."""
        tolerance = math.ceil(
            225
            * self.dimension**2
            * upwards(math.log(3 * self.rounds * teachers / self.share) + self.log_growth)
        )
        early = one_sided_early_upper_bound(
            rounds=self.rounds, epsilon=self.count_epsilon, failure_probability=self.share / 2
        )
        return TeachersPlan(
            teachers=teachers,
            tolerance=tolerance,
            mistakes=2 * teachers * tolerance + math.ceil(early),
            phases=phases,
            count_epsilon=self.count_epsilon,
            watch_epsilon=self.watch_epsilon,
            draw_epsilon=float_at_most(2 * math.sqrt(2 * self.rho / phases) * (1 - 2.0**-40)),
            draw_delta=float_at_most(Fraction(self.delta) / 2 / phases),
        )

    def needs(self, plan: TeachersPlan) -> tuple[int, int]:
        """Return how many teachers and phases the proof needs, given this plan."""
        rate, log_longest = plan.draw_epsilon / 2, self.log_longest(plan)
        bottom = 3 + (log_longest + math.log((1 + math.exp(rate)) / plan.draw_delta)) / rate
        watch = plan.watch().error_bound(
            queries=plan.phases + self.dimension + 1,
            failure_probability=self.share / (self.dimension + 1),
        )
        margin = watch + bottom + math.log(plan.phases / self.share) / rate
        teachers = 2 * math.ceil(upwards(margin)) + 2
        fall = rate * (plan.teachers / 2 + watch) + math.log(plan.teachers) + log_longest
        halvings = (self.dimension + 1) * (math.floor(upwards(fall / math.log(2))) + 1)
        # n/2 − √(n·c) ≥ halvings, Hoeffding with c = ln(1/β)/2; and the phase that never ends.
        chance = math.log(1 / self.share) / 2
        root = math.sqrt(chance) + math.sqrt(chance + 2 * halvings)
        return teachers, math.ceil(upwards(root**2)) + 2

    def log_longest(self, plan: TeachersPlan) -> float:
        return math.log(plan.longest(self.dimension, self.size))

    def survivors(self, plan: TeachersPlan) -> float:
        """Return ln(k²·Λ·J·e^(−θ/4)): a teacher sees too few of some candidate's errors."""
        events = 2 * math.log(plan.teachers) + self.log_longest(plan) + math.log(plan.phases)
        return events - plan.tolerance / 4


def plan_teachers(
    *,
    dimension: int,
    log_growth: float,
    size: int | None,
    rounds: int,
    epsilon: float,
    delta: float,
    failure_probability: float,
) -> TeachersPlan:
    """Return the smallest plan that the proof supports; counting and watching get epsilon / 4.

    ``log_growth`` is the logarithm of the number of labellings of ``rounds`` points.
    """
    require.integer(dimension=dimension, rounds=rounds, at_least=1)
    require.usual(epsilon=epsilon, delta=delta, failure_probability=failure_probability)
    quarter = Fraction(epsilon) / 4
    request = _Request(
        dimension=dimension,
        log_growth=log_growth,
        size=size,
        rounds=rounds,
        share=failure_probability / _PARTS,
        count_epsilon=float_at_most(quarter),
        watch_epsilon=float_at_most(quarter / (dimension + 1)),
        rho=ZeroConcentrated.largest(epsilon=float_at_most(2 * quarter), delta=delta / 2).rho,
        delta=delta,
    )
    plan = request.drafted(2, 2)
    while True:
        teachers, phases = request.needs(plan)
        if teachers <= plan.teachers and phases <= plan.phases:
            # θ is 56·d² times a logarithm of k, T and β; Λ and J are far below that.
            assert request.survivors(plan) <= math.log(request.share)
            return plan
        plan = request.drafted(max(teachers, plan.teachers), max(phases, plan.phases))
