"""The paper's realizable learner: a forest of standard optimal learners, updated layer by layer."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, NotRequired, TypedDict, Unpack

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.game.protocols import OnlineLearner, require_base
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.bound import (
    copy_failure_upper_bound,
    mistakes_upper_bound,
    smallest_proved,
)
from littlestone.learners.lazy_forest.plan import (
    ForestPlan,
    Rule,
    as_measured,
    calibrated_plan,
    check_budgets,
    check_numbers,
    paper_plan,
)
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness

_LARGEST_THRESHOLD: Final = 1 << 60
# A copy fails far less often than a plan by mean values assumes (algorithm.md, Section 5).
_MEASURED, _LIKELY = 4, 0.9999
# The search for a plan asks for the same few many times.
_histogram: Final = lru_cache(maxsize=64, typed=True)(PrivateHistogram)


class ForestTooLargeError(LittlestoneError):
    """Raised when the first layer needs more mistakes than there can be."""

    def __init__(self, *, mistakes: int, slots: int, rounds: int) -> None:
        super().__init__(
            f"this forest cannot exist: its first layer waits for about "
            f"2^{math.log2(mistakes):.1f} mistakes (and has 2^{math.log2(slots):.1f} slots), but "
            f"the horizon is {rounds} rounds. LazyForest.calibrated waits for about 400, 3,100 and "
            f"94,000 at dimensions 2, 3 and 4 (epsilon = 1); PrivateMajority suits finite classes "
            f"of any dimension"
        )
        self.mistakes = mistakes
        self.slots = slots
        self.rounds = rounds


class PlainForestOptions(TypedDict):
    """The arguments that every forest constructor takes."""

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    max_contributions: NotRequired[int]


class ForestOptions(PlainForestOptions):
    """The plain options and a base learner; by default the standard optimal one."""

    base: NotRequired[OnlineLearner | None]


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class LazyForest(Budgeted):
    """Publish frequent hypotheses of a forest, each until it has erred often [P, Algorithm 2].

    ``paper`` uses the theorem's constants, ``calibrated`` much smaller ones, ``proved`` the
    smallest with a useful bound. A plan may also be made by hand: privacy does not depend on it.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a round with a
                    mistake takes longer
        Proof:      algorithm.md, layer.md, privacy/mechanisms/first_frequent.md
        Checked:    proofs/promises/LazyForest.v, theorem lazy_forest_private; packed plans:
                    proofs/promises/PackedForest.v, theorem packed_forest_private; early
                    release: proofs/promises/EarlyForest.v, theorem early_forest_private

    Mistakes: O_d(log T) on realizable streams against adaptive adversaries, for the paper's
    constants; ``mistake_bound`` is what is proved for the numbers at hand. With another base than
    the standard optimal learner of ``concepts`` privacy is the same and no bound is proved.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> learner = LazyForest.calibrated(
    ...     concepts=Points(), rounds=10**6, epsilon=1.0, delta=1e-6
    ... )
    >>> learner.guarantee(), learner.mistake_bound(failure_probability=0.05)
    (PrivacyGuarantee(epsilon=1.0, delta=1e-06), 61.0)
    """

    base: OnlineLearner
    plan: ForestPlan
    restarts: bool = True
    """Whether a fresh copy follows one whose list is used up; the paper halts."""
    failure_probability: float = 0.25
    """The planned failure probability of one copy."""

    oblivious_only: ClassVar[bool] = False
    most_rounds: ClassVar[int] = 10**150  # what the theorem needs is more than any stream has
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
        """Use the theorem's constants, which need more than 2^72 mistakes from dimension 1 on.

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
rounds. LazyForest.calibrated waits for about 400, 3,100 and 94,000 at dimensions 2, 3 and 4 \
(epsilon = 1); PrivateMajority suits finite classes of any dimension
        """
        return cls._planned(
            "paper", failure_probability=failure_probability, restarts=False, **options
        )

    @classmethod
    @require.checked
    def calibrated(
        cls, *, failure_probability: float = 0.25, **options: Unpack[ForestOptions]
    ) -> "LazyForest":
        """Plan the smallest forest whose copies should fail with ``failure_probability`` each.

        A failed copy is followed by a fresh one at no privacy cost, so a small failure probability
        is not worth its mistakes (algorithm.md, Sections 4 and 5). With fewer rounds than its first
        layer waits for mistakes (``plan.mistakes_per_layer``; 94,000 at dimension 4 and epsilon =
        1) it starts and never switches.
        """
        return cls._planned("calibrated", failure_probability=failure_probability, **options)

    @classmethod
    @require.checked
    def proved(
        cls, *, failure_probability: float = 0.05, **options: Unpack[PlainForestOptions]
    ) -> "LazyForest":
        """Plan a larger forest than the calibrated one, with ``mistake_bound`` below ``rounds``.

        From dimension 4 on that would need more than 10^8 mistakes, and the calibrated one is used.

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
        problem = {name: rest[name] for name in numbers}
        require.usual(**problem)
        if rule == "proved":
            # Its bound assumes that one copy succeeds; the search begins here.
            problem["failure_probability"] /= 10
        if rule == "calibrated":
            problem["failure_probability"] = min(_MEASURED * rest["failure_probability"], _LIKELY)
        learner = StandardOptimal(rest["concepts"]) if base is None else base
        planner = paper_plan if rule == "paper" else calibrated_plan
        plan = planner(learner.mistake_bound, **problem)
        plan = as_measured(plan) if rule == "calibrated" else plan
        forest = cls(base=learner, plan=plan, **rest)
        return smallest_proved(forest) if rule == "proved" else forest

    def for_rounds(self, rounds: int) -> "LazyForest":
        """Return the same learner for another horizon, planned again by its rule."""
        changed = replace(self, rounds=rounds)
        rule = self.plan.made_by
        if rule is None:
            return changed
        options = {entry.name: getattr(changed, entry.name) for entry in fields(self)}
        del options["plan"]
        return type(self)._planned(rule, **options)

    @property
    def depth(self) -> int:
        """d: the number of layers above layer 0."""
        return self.base.mistake_bound

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes on realizable streams; ``rounds`` where nothing better is proved."""
        return mistakes_upper_bound(self, failure_probability=failure_probability)

    @property
    def halting_probability(self) -> float:
        """A proved upper bound on the probability that one copy uses up its lists."""
        return copy_failure_upper_bound(self)

    def histogram(self, layer: int) -> PrivateHistogram:
        """Return the mechanism that lists the frequent hypotheses of ``layer``."""
        require.integer(layer=layer, at_least=1, at_most=self.depth)
        cost = self.plan.budgets.listing[layer - 1]
        return _histogram(
            epsilon=cost.epsilon,
            delta=cost.delta,
            threshold=self.plan.list_thresholds[layer - 1],
            neighbours="replace" if layer == self.depth else "add-remove",
        )

    def switch(self, layer: int, slots: Any) -> CountAboveThreshold:
        """Return the AboveThreshold of a hypothesis with ``slots`` slots.

        In an audit ``slots`` may be a number whose draw is not decided yet.
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
        """Return the mechanism that releases early."""
        cost = self.plan.budgets.listing[0]
        return FirstFrequent(epsilon=cost.epsilon, delta=cost.delta, rounds=self.rounds)

    def refuse_to_start(self) -> None:
        """Raise ``ForestTooLargeError`` if the first layer could never end."""
        first = self.plan.mistakes_per_layer[0]
        if first > _LARGEST_THRESHOLD or (not self.plan.packed and first > self.rounds):
            raise ForestTooLargeError(mistakes=first, slots=self.plan.slots, rounds=self.rounds)

    def engine(self, rng: Randomness) -> "LazyForestEngine":
        return LazyForestEngine(self, rng)
