"""The paper's realizable learner: a forest of standard optimal learners, updated layer by layer."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.bound import (
    copy_failure_upper_bound,
    mistakes_upper_bound,
    smallest_proved,
)
from littlestone.learners.lazy_forest.checks import check_budgets, check_numbers
from littlestone.learners.lazy_forest.plan import (
    ForestBudgets,
    ForestPlan,
    calibrated_plan,
    paper_plan,
)
from littlestone.learners.run import PrivateRun
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.first_frequent import FirstFrequent
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.online.protocols import OnlineLearner
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.privacy.group import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

_LARGEST_THRESHOLD: Final = 1 << 60


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyForest:
    """Publish frequent hypotheses of a forest, each until it has erred often [P, Algorithm 2].

    ``paper`` has the theorem's constants, ``calibrated`` much smaller ones; the numbers below may
    also be chosen by hand, since privacy does not depend on them.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a round with a
                    mistake takes longer
        Proof:      algorithm.md, layer.md, mechanisms/first_frequent.md

    Mistakes: O_d(log T) for the paper's constants, on realizable streams, the adversary being
    adaptive; ``bound`` says what is proved for the numbers at hand.

    >>> from littlestone.concepts.classes.points import Points
    >>> learner = LazyForest.calibrated(
    ...     concepts=Points(), rounds=10**6, epsilon=1.0, delta=1e-6
    ... )
    >>> learner.guarantee(), learner.bound(failure_probability=0.05)
    (PrivacyGuarantee(epsilon=1.0, delta=1e-06), 61.0)
    """

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    base: OnlineLearner
    slots: int
    """N_0, the sequences of layer 0."""
    packed: bool
    """Whether only living sequences are matched, and slots kept for listed hypotheses only."""
    mistakes_per_layer: tuple[int, ...]
    """n_0 .. n_d: after so many mistakes (or fewer, see below) the next hypothesis comes up."""
    mistakes_per_slot: tuple[float, ...]
    """For layers 0 .. d-1: so many mistakes for every slot are enough, too."""
    margins: tuple[int, ...]
    """λ_0 .. λ_d, added to the mistakes because AboveThreshold may answer early."""
    list_thresholds: tuple[int, ...]
    """t_1 .. t_d: the noisy count that a hypothesis needs to be listed."""
    budgets: ForestBudgets
    early_release: bool
    """Whether the only list is released as soon as a hypothesis is frequent (d = 1 only)."""
    restarts: bool = True
    """Whether a copy whose list is used up is followed by a fresh one; the paper halts."""
    failure_probability: float = 0.25
    """Of one copy, as planned for."""
    max_contributions: int = 1

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.integer(rounds=self.rounds, max_contributions=self.max_contributions, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(delta=self.delta, failure_probability=self.failure_probability)
        check_numbers(self)
        check_budgets(self)
        for layer in range(1, self.depth + 1):
            self.histogram(layer)  # refuses a list threshold that delta does not allow

    @classmethod
    def paper(
        cls,
        *,
        concepts: ConceptClass,
        rounds: int,
        epsilon: float,
        delta: float,
        failure_probability: float,
        base: OnlineLearner | None = None,
        max_contributions: int = 1,
    ) -> "LazyForest":
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
        _check_basics(rounds, epsilon, delta, failure_probability)
        learner = StandardOptimal(concepts) if base is None else base
        plan = paper_plan(
            learner.mistake_bound,
            rounds=rounds,
            epsilon=epsilon,
            delta=delta,
            failure_probability=failure_probability,
        )
        return cls(
            concepts=concepts,
            rounds=rounds,
            epsilon=epsilon,
            delta=delta,
            base=learner,
            restarts=False,
            failure_probability=failure_probability,
            max_contributions=max_contributions,
            **_numbers(plan),
        )

    @classmethod
    def calibrated(
        cls,
        *,
        concepts: ConceptClass,
        rounds: int,
        epsilon: float,
        delta: float,
        failure_probability: float = 0.25,
        base: OnlineLearner | None = None,
        max_contributions: int = 1,
    ) -> "LazyForest":
        """The smallest forest that should succeed with 1 - ``failure_probability`` per copy.

        A copy that fails is followed by a fresh one at no cost of privacy, so that a small
        failure probability is not worth its mistakes (algorithm.md, Sections 4 and 5).
        """
        _check_basics(rounds, epsilon, delta, failure_probability)
        learner = StandardOptimal(concepts) if base is None else base
        plan = calibrated_plan(
            learner.mistake_bound,
            rounds=rounds,
            epsilon=epsilon,
            delta=delta,
            failure_probability=failure_probability,
        )
        return cls(
            concepts=concepts,
            rounds=rounds,
            epsilon=epsilon,
            delta=delta,
            base=learner,
            failure_probability=failure_probability,
            max_contributions=max_contributions,
            **_numbers(plan),
        )

    @classmethod
    def proved(
        cls,
        *,
        concepts: ConceptClass,
        rounds: int,
        epsilon: float,
        delta: float,
        failure_probability: float = 0.05,
        max_contributions: int = 1,
    ) -> "LazyForest":
        """A larger forest than the calibrated one, so that ``bound`` is below ``rounds``.

        Dimension 4 and more would need more than 10^8 mistakes: there it is the calibrated one.

        >>> from littlestone.concepts.classes.thresholds import Thresholds
        >>> learner = LazyForest.proved(
        ...     concepts=Thresholds(6), rounds=10**6, epsilon=1.0, delta=1e-6
        ... )
        >>> learner.bound(failure_probability=0.05) < 10_000
        True
        """
        draft = cls.calibrated(
            concepts=concepts,
            rounds=rounds,
            epsilon=epsilon,
            delta=delta,
            failure_probability=failure_probability / 10,
            max_contributions=max_contributions,
        )
        if draft.early_release or not draft.depth:
            return draft
        return smallest_proved(draft, failure_probability=failure_probability)

    def for_rounds(self, rounds: int) -> "LazyForest":
        """The same learner for another horizon, planned anew unless chosen by hand."""
        for plan in (calibrated_plan, paper_plan):
            if self == replace(self, **_numbers(self._planned_by(plan, self.rounds))):
                return replace(self, rounds=rounds, **_numbers(self._planned_by(plan, rounds)))
        return replace(self, rounds=rounds)

    def _planned_by(self, plan: Any, rounds: int) -> ForestPlan:
        planned: ForestPlan = plan(
            self.depth,
            rounds=rounds,
            epsilon=self.epsilon,
            delta=self.delta,
            failure_probability=self.failure_probability,
        )
        return planned

    @property
    def depth(self) -> int:
        """d: how many layers there are above layer 0."""
        return self.base.mistake_bound

    @property
    def per_example(self) -> PrivacyGuarantee:
        """What is promised to a user with a single example."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)

    def guarantee(self) -> PrivacyGuarantee:
        """Per user who contributes at most ``max_contributions`` examples."""
        return user_level(self.per_example, max_contributions=self.max_contributions)

    def bound(self, *, failure_probability: float) -> float:
        """Mistakes on realizable streams; the number of rounds where nothing better is proved."""
        return mistakes_upper_bound(self, failure_probability=failure_probability)

    @property
    def halting_probability(self) -> float:
        """A proved upper bound on the probability that one copy uses up its lists."""
        return copy_failure_upper_bound(self)

    def histogram(self, layer: int) -> PrivateHistogram:
        """The mechanism that lists the frequent hypotheses of ``layer``."""
        cost = self.budgets.listing[layer - 1]
        return PrivateHistogram(
            epsilon=cost.epsilon,
            delta=cost.delta,
            threshold=self.list_thresholds[layer - 1],
            neighbours="replace" if layer == self.depth else "add-remove",
        )

    def switch(self, layer: int, slots: int) -> CountAboveThreshold:
        """The mechanism that ends the turn of a hypothesis with that many slots."""
        mistakes = self.mistakes_per_layer[layer]
        if layer < self.depth:
            mistakes = min(mistakes, math.ceil(Fraction(self.mistakes_per_slot[layer]) * slots))
        return CountAboveThreshold(
            epsilon=self.budgets.switching[layer], threshold=mistakes + self.margins[layer]
        )

    def first_frequent(self) -> FirstFrequent:
        """The mechanism that releases early."""
        cost = self.budgets.listing[0]
        return FirstFrequent(epsilon=cost.epsilon, delta=cost.delta, rounds=self.rounds)

    def start(self, *, rng: Randomness | None = None) -> PrivateRun:
        """A run, unless the forest is so large that its first layer could never end."""
        first = self.mistakes_per_layer[0]
        if first > _LARGEST_THRESHOLD or (not self.packed and first > self.rounds):
            raise ForestTooLargeError(mistakes=first, slots=self.slots, rounds=self.rounds)
        return PrivateRun.begin(self, rng)

    def restore(self, snapshot: bytes) -> PrivateRun:
        return PrivateRun.restore(self, snapshot)

    def engine(self, rng: Randomness) -> "LazyForestEngine":
        return LazyForestEngine(self, rng)

    def restored_engine(self, state: dict[str, Any], rng: Randomness) -> "LazyForestEngine":
        return LazyForestEngine(self, rng, state)


def _numbers(plan: ForestPlan) -> dict[str, Any]:
    return {entry.name: getattr(plan, entry.name) for entry in fields(plan)}


def _check_basics(rounds: int, epsilon: float, delta: float, failure_probability: float) -> None:
    require.integer(rounds=rounds, at_least=1)
    require.positive(epsilon=epsilon)
    require.open_probability(delta=delta, failure_probability=failure_probability)
