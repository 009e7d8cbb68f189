"""Forests with one bug each, which the auditor must find.

Each changes one step of the real engine, so that it follows the audited code. Each claims the
guarantee that its author believed in. None is in the catalogue.

*Not a privacy bug:* omitting the permutation of Update costs only accuracy as long as layers have
all their slots. A changed child is in one slot, with any permutation, so one pair of the next layer
differs, which is all that the lemma of learners/lazy_forest/layer.md needs. In *packed* layers the
same omission breaks privacy: a missing sequence shifts all later ones by one place, and every pair
changes (``forest-matched-in-order``).
"""

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np

from littlestone.audit import learner_attacks
from littlestone.audit import learner_bug_attacks as attacks
from littlestone.audit.subjects import small_learners
from littlestone.audit.substitution import altered, replaced, with_engine
from littlestone.audit.two_worlds import Control, Subject, TwoWorldAdversary
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Label
from littlestone.learners.lazy_forest import layer as forest_table
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.layer import Pairs
from littlestone.learners.lazy_forest.plan import ForestBudgets
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.privacy.guarantee import Neighbours, PrivacyGuarantee
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness

TWO = PrivacyGuarantee(epsilon=2.0, delta=1e-3)


def broken(
    name: str,
    bug: str,
    recipe: Any,
    adversary: TwoWorldAdversary,
    claimed: PrivacyGuarantee | None = None,
) -> Control:
    """Return a control whose claim is ``claimed`` or by default its recipe's guarantee."""
    subject = Subject.from_learner(recipe, name=name, claimed=claimed)
    return Control(subject=subject, adversary=adversary, bug=bug)


class _ReusesThresholdNoise(LazyForestEngine):
    def _initiate(self) -> None:
        super()._initiate()
        if self._above_threshold is not None:
            threshold = self._above_threshold._recipe.threshold
            self._noise: int = getattr(self, "_noise", self._above_threshold._gap - threshold)
            self._above_threshold._gap = threshold + self._noise


class _WatchesTheWholeListAtOnce(LazyForestEngine):
    """A bug: watches all hypotheses of the last list at once, each for epsilon."""

    def _update(self) -> None:
        super()._update()
        start = self._recipe.switch(self._layer, 0).start
        self._waiting = {listed: start(rng=self._rng) for listed, _ in self._listed}

    def step(self, x: Any, y: Label) -> None:
        for listed, watch in self._waiting_ones():
            if not watch.halted:
                watch.observe(listed(x) != y)
        super().step(x, y)

    def _initiate(self) -> None:
        super()._initiate()
        if self._layer == self._depth:
            self._above_threshold = self._waiting.pop(self._listed[0][0])
            if self._above_threshold.halted:
                self._halt_instance()

    def _waiting_ones(self) -> list[Any]:
        return list(getattr(self, "_waiting", {}).items())


class _TrueCounts(PrivateHistogram):
    def release(self, data: Any, **how: Any) -> dict[Any, int]:
        return {key: data[key] for key in super().release(data, **how)}


def _with_true_counts(recipe: LazyForest, layer: int) -> PrivateHistogram:
    real = LazyForest.histogram(recipe, layer)
    return _TrueCounts(
        epsilon=real.epsilon,
        delta=real.delta,
        threshold=real.threshold,
        neighbours=real.neighbours,
    )


def add_remove(recipe: LazyForest, layer: int) -> PrivateHistogram:
    """Return the histogram of a layer, calibrated to the wrong neighbours."""
    return replace(LazyForest.histogram(recipe, layer), neighbours="add-remove")


class _NoNoiseWhenCorrect(LazyForestEngine):
    def step(self, x: Any, y: Label) -> None:
        if self._above_threshold is not None and self.hypothesis(x) == y:
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
    def _initiate(self) -> None:
        super()._initiate()
        if self._above_threshold is not None:
            self._above_threshold = _ExactCount(self._above_threshold._recipe.threshold)  # type: ignore[assignment]


class _JudgesAgain(LazyForestEngine):
    """A bug: counts the example that ended an instance for the next hypothesis, too."""

    def step(self, x: Any, y: Label) -> None:
        before = self._charge
        super().step(x, y)
        next_one = self._charge is not before and self._above_threshold is not None
        if next_one and self._above_threshold.observe(self.hypothesis(x) != y):  # type: ignore[union-attr]
            self._halt_instance()


def _in_order(elements: int, *, slots: int, rng: Randomness) -> Pairs:
    del slots, rng
    return np.arange(elements - elements % 2, dtype=np.int64).reshape(-1, 2)


class _MatchedInOrder(LazyForestEngine):
    def _update(self) -> None:
        with replaced(forest_table, random_pairs=_in_order):
            super()._update()


class _TrueSlots(LazyForestEngine):
    """A bug: a listed hypothesis gets as many slots as its true count, not its noisy one."""

    def _update(self) -> None:
        super()._update()
        if self._layer < self._depth:
            true = self._forest.agreeing()
            self._listed = deque((listed, max(1, true[listed])) for listed, _ in self._listed)


class _KeepsTheForest(LazyForestEngine):
    """A bug: a new copy starts with the sequences of the old one."""

    def _update(self) -> None:
        if self._layer == 0:
            self._stale = self._forest
        super()._update()

    def _begin_copy(self) -> None:
        super()._begin_copy()
        self._forest = getattr(self, "_stale", self._forest)


def _edges_forest(
    *,
    epsilons: tuple[float, float] = (0.252, 0.4715),
    delta: float = 0.1,
    margin: int = 1,
) -> LazyForest:
    """Return a forest whose lists both use ``delta``; their noise often reaches its bound.

    The instance of layer 1 takes six mistakes per slot, so its length shows their number.
    """
    listing = tuple(PrivacyGuarantee(epsilon=epsilon, delta=delta) for epsilon in epsilons)
    kinds: tuple[Neighbours, ...] = ("add-remove", "replace")
    noise = [
        PrivateHistogram(epsilon=cost.epsilon, delta=cost.delta, neighbours=kind).noise_bound
        for cost, kind in zip(listing, kinds, strict=True)
    ]
    pairs = 2 * noise[0] + 2
    return small_learners.forest(
        Thresholds(6),
        epsilon=2.0,
        delta=2 * delta,
        rounds=100_000,
        mistakes_per_layer=(2 * pairs - 1, 1 << 30, 1),
        mistakes_per_slot=(1.0, 6.0),
        margins=(margin, 1, 1),
        list_thresholds=(noise[0] + 1, pairs + noise[1]),
        budgets=ForestBudgets.from_listing(listing, epsilon=2.0),
    )


EARLY = small_learners.early_forest(TWO.epsilon, TWO.delta)
LISTING = small_learners.listing_forest(TWO.epsilon, TWO.delta)


def _both_listed() -> LazyForest:
    """Return a forest whose layer 0 lasts until two keys are certainly listed."""
    forest = small_learners.listing_forest(2.0, 1e-3, share=0.8)
    needed = 2 * forest.histogram(1).certain_inclusion
    plan = replace(forest.plan, mistakes_per_layer=(needed, 1), margins=(5, 1))
    return replace(forest, plan=plan)


def _four_groups() -> LazyForest:
    forest = small_learners.deep_forest(2.0, 1e-2, share=0.7)
    mistakes = (8 * forest.plan.list_thresholds[0] + 1, *forest.plan.mistakes_per_layer[1:])
    return replace(forest, plan=replace(forest.plan, mistakes_per_layer=mistakes))


CONTROLS = (
    broken(
        "forest-threshold-noise-reused",
        "LazyForest: the noise on one switch's threshold serves all later switches",
        with_engine(EARLY, _ReusesThresholdNoise),
        attacks.KnownThreshold(),
    ),
    broken(
        "forest-overlapping-instances",
        "LazyForest: all hypotheses of a list are watched at once, at the price of one at a time",
        with_engine(_both_listed(), _WatchesTheWholeListAtOnce),
        attacks.BothErr(),
    ),
    broken(
        "forest-order-by-true-count",
        "LazyForest: a list is sorted by true instead of noisy counts",
        altered(LISTING, histogram=_with_true_counts),
        attacks.WhichComesFirst(),
    ),
    broken(
        "forest-add-remove-last-layer",
        "LazyForest: the last list pays for an added element, not for a replaced one",
        altered(LISTING, histogram=add_remove),
        learner_attacks.ListMembership(),
    ),
    broken(
        "forest-noise-skipped-when-correct",
        "LazyForest: AboveThreshold is not queried in rounds without a mistake",
        with_engine(EARLY, _NoNoiseWhenCorrect),
        learner_attacks.LastSwitch(),
    ),
    broken(
        "forest-timed-by-true-count",
        "LazyForest: a hypothesis is given up after its n-th mistake, not after a noisy n",
        with_engine(EARLY, _TimedByTrueCount),
        learner_attacks.LastSwitch(),
    ),
    broken(
        "forest-judged-after-seeing",
        "LazyForest: an example counts against the hypothesis published after it, too",
        with_engine(small_learners.one_concept_forest(2.0, 1e-3), _JudgesAgain),
        attacks.TwoSwitches(),
    ),
    broken(
        "forest-matched-in-order",
        "LazyForest: packed layers matched in order of arrival, without a permutation",
        with_engine(_four_groups(), _MatchedInOrder),
        attacks.ShiftedPairs(),
    ),
    broken(
        "forest-delta-not-divided",
        "LazyForest: the list of each of two layers spends the whole delta",
        _edges_forest(epsilons=(0.01, 0.4), delta=0.34, margin=3),
        attacks.EdgesOfBothLists(),
        claimed=PrivacyGuarantee(epsilon=2.0, delta=0.34),
    ),
    broken(
        "forest-slots-by-true-count",
        "LazyForest: packed layers have as many slots as the true count, not the noisy one",
        with_engine(_edges_forest(), _TrueSlots),
        attacks.LengthOfTheTurn(),
        claimed=PrivacyGuarantee(epsilon=2.0, delta=0.2),
    ),
    broken(
        "forest-kept-across-restarts",
        "LazyForest: a new copy starts with the sequences of the old one",
        with_engine(LISTING, _KeepsTheForest),
        attacks.SeveralLists(),
    ),
)
