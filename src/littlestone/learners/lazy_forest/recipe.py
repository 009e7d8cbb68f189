"""The paper's realizable learner: a forest of standard optimal learners, updated layer by layer."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, NotRequired, TypedDict, Unpack

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.bound import (
    copy_failure_upper_bound,
    mistakes_upper_bound,
    smallest_proved,
)
from littlestone.learners.lazy_forest.checks import check_budgets, check_numbers
from littlestone.learners.lazy_forest.plan import (
    ForestPlan,
    Rule,
    as_measured,
    calibrated_plan,
    paper_plan,
)
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.first_frequent import FirstFrequent
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.online.protocols import OnlineLearner, require_base
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness

_LARGEST_THRESHOLD: Final = 1 << 60
# A copy fails far less often than a plan by mean values allows for (algorithm.md, Section 5).
_MEASURED, _LIKELY = 4, 0.9999
# A search for a plan asks for the same few again and again.
_histogram: Final = lru_cache(maxsize=64, typed=True)(PrivateHistogram)


class ForestTooLargeError(LittlestoneError):
    """The first layer would need more mistakes than there can be."""

    def __init__(self, *, mistakes: int, slots: int, rounds: int) -> None:
        super().__init__(
            f"this forest cannot exist: its first layer waits for about "
            f"2^{math.log2(mistakes):.1f} mistakes (and has 2^{math.log2(slots):.1f} slots), but "
            f"the horizon is {rounds} rounds. LazyForest.calibrated needs far fewer up to "
            f"dimension 4; PrivateMajority suits finite classes of any dimension"
        )
        self.mistakes = mistakes
        self.slots = slots
        self.rounds = rounds


class PlainForestOptions(TypedDict):
    """What every way to make a forest takes."""

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    max_contributions: NotRequired[int]


class ForestOptions(PlainForestOptions):
    """And a base learner, the standard optimal one unless given."""

    base: NotRequired[OnlineLearner | None]


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class LazyForest(Budgeted):
    """Publish frequent hypotheses of a forest, each until it has erred often [P, Algorithm 2].

    ``paper`` has the theorem's constants, ``calibrated`` much smaller ones, ``proved`` the smallest
    with a useful bound; a plan may also be made by hand, since privacy does not depend on it.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a round with a
                    mistake takes longer
        Proof:      algorithm.md, layer.md, mechanisms/first_frequent.md
        Checked:    proofs/promises/LazyForest.v, theorem lazy_forest_private,
                    for plans that are neither packed nor early

    Mistakes: O_d(log T) for the paper's constants, on realizable streams, the adversary being
    adaptive; ``mistake_bound`` says what is proved for the numbers at hand. With another base than
    the standard optimal learner of ``concepts`` nothing is proved, and privacy is the same.

    >>> from littlestone.concepts.classes.points import Points
    >>> learner = LazyForest.calibrated(
    ...     concepts=Points(), rounds=10**6, epsilon=1.0, delta=1e-6
    ... )
    >>> learner.guarantee(), learner.mistake_bound(failure_probability=0.05)
    (PrivacyGuarantee(epsilon=1.0, delta=1e-06), 61.0)
    """

    base: OnlineLearner
    plan: ForestPlan
    restarts: bool = True
    """Whether a copy whose list is used up is followed by a fresh one; the paper halts."""
    failure_probability: float = 0.25
    """Of one copy, as planned for."""

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(failure_probability=self.failure_probability)
        require_base(self.base, self.concepts)
        check_numbers(self.plan, depth=self.depth)
        check_budgets(self.plan, depth=self.depth, promised=self.per_example)
        for layer in range(1, self.depth + 1):
            self.histogram(layer)  # refuses a list threshold that delta does not allow

    @classmethod
    @require.checked
    def paper(cls, *, failure_probability: float, **options: Unpack[ForestOptions]) -> "LazyForest":
        """The theorem's constants; from dimension 1 on they ask for more than 2^72 mistakes.

        >>> from littlestone.concepts.classes.thresholds import Thresholds
        >>> learner = LazyForest.paper(
        ...     concepts=Thresholds(6), rounds=10**6, epsilon=1.0, delta=1e-6,
        ...     failure_probability=0.05,
        ... )
        >>> learner.start()
        Traceback (most recent call last):
        ...
        littlestone.learners.lazy_forest.recipe.ForestTooLargeError: this forest cannot exist: its \
first layer waits for about 2^139.6 mistakes (and has 2^139.6 slots), but the horizon is 1000000 \
rounds. LazyForest.calibrated needs far fewer up to dimension 4; PrivateMajority suits finite \
classes of any dimension
        """
        return cls._planned(
            "paper", failure_probability=failure_probability, restarts=False, **options
        )

    @classmethod
    @require.checked
    def calibrated(
        cls, *, failure_probability: float = 0.25, **options: Unpack[ForestOptions]
    ) -> "LazyForest":
        """The smallest forest that should succeed with 1 - ``failure_probability`` per copy.

        A copy that fails is followed by a fresh one at no cost of privacy, so that a small
        failure probability is not worth its mistakes (algorithm.md, Sections 4 and 5).
        """
        return cls._planned("calibrated", failure_probability=failure_probability, **options)

    @classmethod
    @require.checked
    def proved(
        cls, *, failure_probability: float = 0.05, **options: Unpack[PlainForestOptions]
    ) -> "LazyForest":
        """A larger forest than the calibrated one, so that ``mistake_bound`` is below ``rounds``.

        Dimension 4 and more would need more than 10^8 mistakes: there it is the calibrated one.

        >>> from littlestone.concepts.classes.thresholds import Thresholds
        >>> learner = LazyForest.proved(
        ...     concepts=Thresholds(6), rounds=10**6, epsilon=1.0, delta=1e-6
        ... )
        >>> learner.mistake_bound(failure_probability=0.05) < 10_000
        True
        """
        return cls._planned("proved", failure_probability=failure_probability, **options)

    @classmethod
    def _planned(
        cls, rule: Rule, *, base: OnlineLearner | None = None, **rest: Any
    ) -> "LazyForest":
        numbers = ("rounds", "epsilon", "delta", "failure_probability")
        asked = {name: rest[name] for name in numbers}
        require.usual(**asked)
        if rule == "proved":
            # Its bound counts on one copy; this is where the search begins.
            asked["failure_probability"] /= 10
        if rule == "calibrated":
            asked["failure_probability"] = min(_MEASURED * rest["failure_probability"], _LIKELY)
        learner = StandardOptimal(rest["concepts"]) if base is None else base
        planner = paper_plan if rule == "paper" else calibrated_plan
        plan = planner(learner.mistake_bound, **asked)
        plan = as_measured(plan) if rule == "calibrated" else plan
        forest = cls(base=learner, plan=plan, **rest)
        return smallest_proved(forest) if rule == "proved" else forest

    def for_rounds(self, rounds: int) -> "LazyForest":
        """The same learner for another horizon, planned anew by the rule that planned it."""
        changed = replace(self, rounds=rounds)
        rule = self.plan.made_by
        if rule is None:
            return changed
        kept = {entry.name: getattr(changed, entry.name) for entry in fields(self)}
        del kept["plan"]
        return type(self)._planned(rule, **kept)

    @property
    def depth(self) -> int:
        """d: how many layers there are above layer 0."""
        return self.base.mistake_bound

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Mistakes on realizable streams; the number of rounds where nothing better is proved."""
        return mistakes_upper_bound(self, failure_probability=failure_probability)

    @property
    def halting_probability(self) -> float:
        """A proved upper bound on the probability that one copy uses up its lists."""
        return copy_failure_upper_bound(self)

    def histogram(self, layer: int) -> PrivateHistogram:
        """The mechanism that lists the frequent hypotheses of ``layer``."""
        require.integer(layer=layer, at_least=1, at_most=self.depth)
        cost = self.plan.budgets.listing[layer - 1]
        return _histogram(
            epsilon=cost.epsilon,
            delta=cost.delta,
            threshold=self.plan.list_thresholds[layer - 1],
            neighbours="replace" if layer == self.depth else "add-remove",
        )

    def switch(self, layer: int, slots: Any) -> CountAboveThreshold:
        """The AboveThreshold of a hypothesis with that many slots.

        In an audit the whole number ``slots`` may be one whose draw is not decided yet.
        """
        require.integer(layer=layer, at_least=0, at_most=self.depth)
        mistakes = self.plan.mistakes_per_layer[layer]
        if layer < self.depth:
            mistakes = min(
                mistakes, math.ceil(Fraction(self.plan.mistakes_per_slot[layer]) * slots)
            )
        return CountAboveThreshold(
            epsilon=self.plan.budgets.switching[layer],
            threshold=mistakes + self.plan.margins[layer],
        )

    def first_frequent(self) -> FirstFrequent:
        """The mechanism that releases early."""
        cost = self.plan.budgets.listing[0]
        return FirstFrequent(epsilon=cost.epsilon, delta=cost.delta, rounds=self.rounds)

    def refuse_to_start(self) -> None:
        """If the forest is so large that its first layer could never end."""
        first = self.plan.mistakes_per_layer[0]
        if first > _LARGEST_THRESHOLD or (not self.plan.packed and first > self.rounds):
            raise ForestTooLargeError(mistakes=first, slots=self.plan.slots, rounds=self.rounds)

    def engine(self, rng: Randomness) -> "LazyForestEngine":
        return LazyForestEngine(self, rng)
