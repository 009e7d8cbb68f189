"""Learners that are wrong in one place each: the auditor must catch every one of them.

Each changes one step of the real engine and leaves the rest to it, so that they stay in step with
the code that is audited. They claim what their authors believed in. None is in the catalogue.

*What looks like a bug and costs no privacy.* Leaving out the permutation of Update costs accuracy
only, as long as layers have all their slots: a changed child is on one slot, whichever permutation
(or none) put it there, so one pair of the next layer differs, and that is all that the lemma of
learners/lazy_forest/layer.md needs. In *packed* layers the same omission is ruinous: a missing
sequence moves all later ones by one place, and every pair changes (``forest-matched-in-order``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from littlestone.audit import broken_learner_attacks as attacks
from littlestone.audit import learner_attacks, small_learners
from littlestone.audit.learner_subjects import BrokenLearner
from littlestone.audit.two_worlds import TwoWorldAdversary
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Label, VersionSpace
from littlestone.learners.golowich_livni.eager_forest import EagerForest
from littlestone.learners.lazy_forest import layer as forest_table
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.matching import Pairs
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.fresh import FreshEngine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import Engine, PrivateLearner
from littlestone.learners.wrappers.restarting import Restarting
from littlestone.mechanisms.frequent_release import FrequentRelease
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.neighbours import Neighbours
from littlestone.randomness import Randomness

TWO = PrivacyGuarantee(epsilon=2.0, delta=1e-3)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestWith(LazyForest):
    """The real recipe with a changed engine."""

    changed: Callable[..., LazyForestEngine]

    def engine(self, rng: Randomness) -> LazyForestEngine:
        return self.changed(self, rng)


class _ReusesThresholdNoise(LazyForestEngine):
    def _begin_turn(self) -> None:
        super()._begin_turn()
        if self._watch is not None:
            threshold = self._watch._recipe.threshold
            self._noise: int = getattr(self, "_noise", self._watch._gap - threshold)
            self._watch._gap = threshold + self._noise


class _WatchesTheWholeListAtOnce(LazyForestEngine):
    """All hypotheses of the last list are watched from its release on, each for epsilon."""

    def _climb(self) -> None:
        super()._climb()
        start = self._recipe.switch(self._layer, 0).start
        self._waiting = {listed: start(rng=self._rng) for listed, _ in self._listed}

    def step(self, x: Any, y: Label) -> None:
        for listed, watch in self._waiting_ones():
            if not watch.halted:
                watch.observe(listed(x) != y)
        super().step(x, y)

    def _begin_turn(self) -> None:
        super()._begin_turn()
        if self._layer == self._depth:
            self._watch = self._waiting.pop(self._listed[0][0])
            if self._watch.halted:
                self._end_turn()

    def _waiting_ones(self) -> list[Any]:
        return list(getattr(self, "_waiting", {}).items())


class _TrueCounts(PrivateHistogram):
    def release(self, data: Any, **how: Any) -> dict[Any, int]:
        return {key: data[key] for key in super().release(data, **how)}


class _OrderedByTrueCount(LazyForest):
    def histogram(self, layer: int) -> PrivateHistogram:
        real = super().histogram(layer)
        return _TrueCounts(
            epsilon=real.epsilon,
            delta=real.delta,
            threshold=real.threshold,
            neighbours=real.neighbours,
        )


class _AddRemoveAtTheLastLayer(LazyForest):
    def histogram(self, layer: int) -> PrivateHistogram:
        return replace(super().histogram(layer), neighbours="add-remove")


class _NoNoiseWhenCorrect(LazyForestEngine):
    def step(self, x: Any, y: Label) -> None:
        if self._watch is not None and self.hypothesis(x) == y:
            self._played += 1
            return
        super().step(x, y)


class _ExactCount:
    def __init__(self, threshold: int) -> None:
        self.left = threshold

    def observe(self, bit: int) -> bool:
        self.left -= bit
        return self.left <= 0


class _TimedByTrueCount(LazyForestEngine):
    def _begin_turn(self) -> None:
        super()._begin_turn()
        if self._watch is not None:
            self._watch = _ExactCount(self._watch._recipe.threshold)  # type: ignore[assignment]


class _JudgesAgain(LazyForestEngine):
    """The example that ended a turn is held against the next hypothesis as well."""

    def step(self, x: Any, y: Label) -> None:
        before = self._charge
        super().step(x, y)
        next_turn = self._charge is not before and self._watch is not None
        if next_turn and self._watch.observe(self.hypothesis(x) != y):  # type: ignore[union-attr]
            self._end_turn()


def _in_order(elements: int, *, slots: int, rng: Randomness) -> Pairs:
    del slots, rng
    return np.arange(elements - elements % 2, dtype=np.int64).reshape(-1, 2)


class _MatchedInOrder(LazyForestEngine):
    def _climb(self) -> None:
        with mock.patch.object(forest_table, "random_pairs", _in_order):
            super()._climb()


class _CountsKept(FreshEngine):
    def _begin_phase(self, space: VersionSpace) -> None:
        counts = getattr(self, "_counts", None)
        super()._begin_phase(space)
        if counts is not None:
            self._counts = counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _MajorityThatKeepsCounts(PrivateMajority):
    def engine(self, rng: Randomness) -> Engine:
        with mock.patch("littlestone.learners.private_majority.recipe.FreshEngine", _CountsKept):
            return PrivateMajority.engine(self, rng)


def _edges_forest() -> LazyForest:
    """Both lists spend 0.1; their noise reaches its bound nearly as often as that allows.

    The turn of layer 1 takes six mistakes for each slot, so that its length tells their number.
    """
    concepts = Thresholds(6)
    listing = (
        PrivacyGuarantee(epsilon=0.252, delta=0.1),
        PrivacyGuarantee(epsilon=0.4715, delta=0.1),
    )
    budgets = ForestBudgets.from_listing(2.0, listing)
    kinds: tuple[Neighbours, ...] = ("add-remove", "replace")
    noise = [
        PrivateHistogram(epsilon=cost.epsilon, delta=cost.delta, neighbours=kind).noise_bound
        for cost, kind in zip(listing, kinds, strict=True)
    ]
    pairs = 2 * noise[0] + 2
    return LazyForest(
        concepts=concepts,
        rounds=100_000,
        epsilon=2.0,
        delta=0.2,
        base=StandardOptimal(concepts),
        plan=ForestPlan(
            slots=small_learners.MANY_SLOTS,
            packed=True,
            mistakes_per_layer=(2 * pairs - 1, 1 << 30, 1),
            mistakes_per_slot=(1.0, 6.0),
            margins=(1, 1, 1),
            list_thresholds=(noise[0] + 1, pairs + noise[1]),
            budgets=budgets,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeltaForEverySelection(FrequentRelease):
    def histogram(self) -> PrivateHistogram:
        return replace(FrequentRelease.histogram(self), delta=self.delta, threshold=None)


def _one_tree() -> EagerForest:
    release = _DeltaForEverySelection(epsilon=1.0, delta=0.1, selections=16, rare_below=10**6)
    return EagerForest(
        concepts=Points(),
        rounds=small_learners.ROUNDS,
        epsilon=1.0,
        delta=0.1,
        trees=1,
        leaves=2,
        release=release,
        base=StandardOptimal(Points()),
    )


class _FlagEngine:
    """Shows a flag with probability 1/16; only then may the next example leak."""

    halted = False
    status = "learning"

    def __init__(self, rng: Randomness) -> None:
        self._rng, self._flag = rng, rng.below(16) == 0
        self.hypothesis = FiniteSupport.on("flag") if self._flag else FiniteSupport.on()
        self.ledger = Ledger(budget=TWO, private=rng.private)

    def step(self, x: Any, y: Label) -> None:
        if self._flag and y and self._rng.coin():
            self.hypothesis = FiniteSupport.on(x)
        self.halted = not self.hypothesis(x)

    def steps(self, xs: Any, ys: Any) -> int:
        self.step(xs[0], int(ys[0]))
        return 1

    def state(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLearner(PrivateLearner):
    """(0, 1/32)-private, but not conditionally on what it showed before; it says that it is."""

    concepts: Points = field(default_factory=Points)
    rounds: int = small_learners.ROUNDS
    max_contributions: int = 1

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True  # the lie

    @property
    def per_example(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=0.0, delta=1 / 32)

    def bound(self, *, failure_probability: float) -> float:
        del failure_probability
        return float(self.rounds)

    def engine(self, rng: Randomness) -> Engine:
        return _FlagEngine(rng)

    def restored_engine(self, state: dict[str, Any], rng: Randomness) -> Engine:
        del state
        return _FlagEngine(rng)


def _fresh(kind: type[PrivateMajority], concepts: ConceptClass, plan: FreshPlan) -> PrivateMajority:
    cost = plan.guarantee(delta=0.0)
    return kind(concepts=concepts, rounds=small_learners.ROUNDS, epsilon=cost.epsilon, plan=plan)


def _control(
    name: str,
    bug: str,
    recipe: Any,
    adversary: TwoWorldAdversary,
    claimed: PrivacyGuarantee | None = None,
) -> tuple[BrokenLearner, TwoWorldAdversary]:
    promise = recipe.guarantee() if claimed is None else claimed
    return BrokenLearner(name=name, bug=bug, claimed=promise, recipe=recipe), adversary


def _changed(engine: type[LazyForestEngine]) -> Callable[..., LazyForest]:
    return partial(ForestWith, changed=engine)


def _early(engine: type[LazyForestEngine]) -> LazyForest:
    return small_learners.early_forest(TWO.epsilon, TWO.delta, kind=_changed(engine))


def _listing(kind: Callable[..., LazyForest]) -> LazyForest:
    return small_learners.listing_forest(TWO.epsilon, TWO.delta, kind=kind)


def _both_listed(engine: type[LazyForestEngine]) -> LazyForest:
    """Layer 0 lasts until two keys are sure to be listed."""
    forest = small_learners.listing_forest(2.0, 1e-3, share=0.8, kind=_changed(engine))
    needed = 2 * forest.histogram(1).certain_inclusion
    plan = replace(forest.plan, mistakes_per_layer=(needed, 1), margins=(5, 1))
    return replace(forest, plan=plan)


def _four_groups() -> LazyForest:
    forest = small_learners.deep_forest(2.0, 1e-2, share=0.7, kind=_changed(_MatchedInOrder))
    mistakes = (8 * forest.plan.list_thresholds[0] + 1, *forest.plan.mistakes_per_layer[1:])
    return replace(forest, plan=replace(forest.plan, mistakes_per_layer=mistakes))


_CONTROLS = [
    _control(
        "forest-threshold-noise-reused",
        "LazyForest: the noise on one switch's threshold serves all later switches",
        _early(_ReusesThresholdNoise),
        attacks.KnownThreshold(),
    ),
    _control(
        "forest-overlapping-instances",
        "LazyForest: all hypotheses of a list are watched at once, paid for as if one by one",
        _both_listed(_WatchesTheWholeListAtOnce),
        attacks.BothErr(),
    ),
    _control(
        "forest-order-by-true-count",
        "LazyForest: a list is sorted by true instead of noisy counts",
        _listing(_OrderedByTrueCount),
        attacks.WhichComesFirst(),
    ),
    _control(
        "forest-add-remove-last-layer",
        "LazyForest: the last list priced for an added element, where one is replaced",
        _listing(_AddRemoveAtTheLastLayer),
        learner_attacks.ListMembership(),
    ),
    _control(
        "forest-noise-skipped-when-correct",
        "LazyForest: AboveThreshold is not asked in rounds without a mistake",
        _early(_NoNoiseWhenCorrect),
        learner_attacks.LastSwitch(),
    ),
    _control(
        "forest-timed-by-true-count",
        "LazyForest: a hypothesis is given up after its n-th mistake, not after a noisy n",
        _early(_TimedByTrueCount),
        learner_attacks.LastSwitch(),
    ),
    _control(
        "forest-judged-after-seeing",
        "LazyForest: an example counts against the hypothesis published after it, too",
        small_learners.one_concept_forest(2.0, 1e-3, kind=_changed(_JudgesAgain)),
        attacks.TwoSwitches(),
    ),
    _control(
        "forest-matched-in-order",
        "LazyForest: packed layers matched in order of arrival, without a permutation",
        _four_groups(),
        attacks.ShiftedPairs(),
    ),
    _control(
        "forest-delta-not-divided",
        "LazyForest: the list of each of two layers spends the whole delta",
        _edges_forest(),
        attacks.EdgesOfBothLists(),
        claimed=PrivacyGuarantee(epsilon=2.0, delta=0.1),
    ),
    _control(
        "eager-delta-not-divided",
        "EagerForest: each of sixteen selections spends the whole delta",
        _one_tree(),
        attacks.RareListing(),
    ),
    _control(
        "majority-counts-kept",
        "PrivateMajority: the counts of one phase's mistakes are drawn from again in the next",
        _fresh(
            _MajorityThatKeepsCounts,
            Points(2),
            FreshPlan(threshold_epsilon=0.5, threshold=1, selection_rate=0.5),
        ),
        attacks.CountsOfEarlierPhases(),
    ),
    _control(
        "majority-one-witness-priced",
        "PrivateMajority: the draw priced for a mistake more or less, not for one exchanged",
        _fresh(
            PrivateMajority,
            Thresholds(3),
            FreshPlan(threshold_epsilon=0.1, threshold=10, selection_rate=0.9),
        ),
        attacks.OtherWitness(),
        claimed=PrivacyGuarantee(epsilon=1.0),
    ),
    _control(
        "restarts-wrongly-free",
        "Restarting a learner whose delta was spent before the special round, for free",
        Restarting(learner=FlagLearner()),
        attacks.WaitForTheFlag(),
    ),
]

BROKEN: dict[str, BrokenLearner] = {learner.name: learner for learner, _ in _CONTROLS}

CONTROLS: dict[str, TwoWorldAdversary] = {
    learner.name: adversary for learner, adversary in _CONTROLS
}
