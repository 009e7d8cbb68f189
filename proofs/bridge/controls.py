"""Python that is broken in one place each: the comparison with Coq's law must catch every one."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any, Final

import instances
from forest_instances import early_forest, first_frequent, lazy_forest
from middle_instances import forest_plan, middle_forest, middle_packed
from place_instances import fresh_majority, majority_plan, place_plan, witness_places
from writing import Instance

from littlestone.audit.controls import broken_counters as counters
from littlestone.audit.controls import broken_forests as forests
from littlestone.audit.controls import broken_learners as learners
from littlestone.audit.substitution import altered, with_engine
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeysEngine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnessesEngine
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace, TruncatedLaplace

Drawing = Callable[[Random], Instance]


class _Monitor:
    """AboveThreshold written out, with one line wrong."""

    def __init__(self, recipe: CountAboveThreshold, coins: Any, gap: Any) -> None:
        self._noise, self._coins, self._gap = recipe._noise, coins, gap

    def observe(self, bit: int) -> bool:
        self._gap -= bit
        return bool(self._noise.draw(self._coins) >= self._gap)


class _NoNoiseForZeros(_Monitor):
    def observe(self, bit: int) -> bool:
        return bool(bit) and super().observe(bit)


def _without_threshold_noise(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
    return _Monitor(recipe, coins, recipe.threshold)


def _noise_skipped(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
    return _NoNoiseForZeros(recipe, coins, recipe.threshold + recipe._noise.draw(coins))


def _threshold_noise_reused() -> Callable[[CountAboveThreshold, Any], _Monitor]:
    kept: list[Any] = [None, None]

    def start(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
        if kept[0] is not coins:
            kept[:] = [coins, recipe._noise.draw(coins)]
        return _Monitor(recipe, coins, recipe.threshold + kept[1])

    return start


class _CountsTwice(_Monitor):
    """A round that was interrupted is played again from its beginning."""

    def observe(self, bit: int) -> bool:
        self._gap -= bit
        return super().observe(bit)


def _counts_twice(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
    return _CountsTwice(recipe, coins, recipe.threshold + recipe._noise.draw(coins))


def _counts_not_reset() -> Callable[[CountAboveThreshold, Any], _Monitor]:
    """The count survives a yes; noise is fresh."""
    kept: list[Any] = [None, 0]

    class Counting(_Monitor):
        def observe(self, bit: int) -> bool:
            kept[1] += bit
            return super().observe(bit)

    def start(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
        if kept[0] is not coins:
            kept[:] = [coins, 0]
        return Counting(recipe, coins, recipe.threshold + recipe._noise.draw(coins) - kept[1])

    return start


def _overlapping() -> Callable[[CountAboveThreshold, Any], _Monitor]:
    """The next instance counts already while the one before it answers."""
    kept: list[Any] = [None, None]

    class Overlapping(_Monitor):
        def observe(self, bit: int) -> bool:
            kept[1] -= bit
            return super().observe(bit)

    def start(recipe: CountAboveThreshold, coins: Any) -> _Monitor:
        def fresh() -> Any:
            return recipe.threshold + recipe._noise.draw(coins)

        now = kept[1] if kept[0] is coins else fresh()
        kept[:] = [coins, fresh()]
        return Overlapping(recipe, coins, now)

    return start


def _half_sensitivity(
    mechanism: ExponentialMechanism, scores: Any, lengths: Any, coins: Any
) -> int:
    wrong = ExponentialMechanism(
        epsilon=mechanism.epsilon * 2,
        range_width=mechanism.range_width,
        floor_bits=mechanism.floor_bits,
    )
    return wrong.draw(scores, multiplicities=lengths, rng=coins)[0]


class _KeepsTheBatch(DisjointBatchesEngine):
    """Every draw reads all earlier batches, too."""

    _kept: tuple[list[Any], list[Any]] = ([], [])

    def _draw(self) -> None:
        points, labels = self._kept
        self._points, self._labels = points + self._points, labels + self._labels
        self._kept = self._points, self._labels
        super()._draw()


class _GrowsAgain(LazyForestEngine):
    """A pair of layer 0 takes every example that comes to its slot."""

    def _insert(self, x: Any, y: int) -> Any:
        start, pairs = self._recipe.base.start(), self._recipe.plan.slots // 2
        self._forest = ForestTable.of_empty_sequences(start, pairs=pairs)
        return super()._insert(x, y)


def _one_priced(plan: FreshPlan) -> Fraction:
    """The price of a draw if a mistake that moves cost as much as one more or less."""
    return Fraction(plan.threshold_epsilon) + Fraction(plan.selection_rate)


def _one_place_priced(plan: WitnessPlan) -> Fraction:
    both = Fraction(plan.query_rate) + Fraction(plan.threshold_rate)
    return max(both, _one_priced(plan.drawing)) if plan.drawing else both


def _delta_of_one_list(recipe: LazyForest) -> PrivacyGuarantee:
    """The promise of a forest in which each list spends the whole delta."""
    delta = max(cost.delta for cost in recipe.plan.budgets.listing)
    return replace(recipe.per_example, delta=delta)


def _one_threshold_noise(run: Any) -> None:
    run._noise = counters._OneNoise(run._noise)


def _low_threshold(recipe: PrivateHistogram) -> PrivateHistogram:
    object.__setattr__(recipe, "threshold", recipe._noise.bound)
    return recipe


def _add_remove(recipe: PrivateHistogram) -> PrivateHistogram:
    return replace(recipe, neighbours="add-remove")


def _too_little_noise(recipe: PrivateHistogram) -> PrivateHistogram:
    noise = recipe._noise
    object.__setattr__(recipe, "_noise", TruncatedLaplace(rate=2 * noise.rate, bound=noise.bound))
    return recipe


def _scale_inverted(recipe: LaplaceCount) -> LaplaceCount:
    """Noise of scale epsilon, so too little for one below 1."""
    rate = Fraction(recipe.sensitivity) / Fraction(recipe.epsilon)
    object.__setattr__(recipe, "_noise", DiscreteLaplace(rate=rate))
    return recipe


def _learner(draw: Callable[..., Instance], engine: type, changed: type) -> Drawing:
    wrong = counters._wrong(engine, changed)
    return lambda random: draw(random, lambda recipe: with_engine(recipe, wrong))


def _keys(changed: type) -> Drawing:
    return _learner(instances.private_keys, PrivateKeysEngine, changed)


def _witnesses(changed: type) -> Drawing:
    return _learner(instances.private_witnesses, PrivateWitnessesEngine, changed)


def _forest(changed: type) -> Drawing:
    return lambda random: lazy_forest(random, lambda recipe: with_engine(recipe, changed))


CONTROLS: Final[dict[str, Drawing]] = {
    "CountAboveThreshold without threshold noise": lambda random: instances.count_above_threshold(
        random, _without_threshold_noise
    ),
    "noise-skipped-when-correct": lambda random: instances.count_above_threshold(
        random, _noise_skipped
    ),
    "threshold-noise-reused": lambda random: instances.count_above_threshold(
        random, _threshold_noise_reused()
    ),
    "counts-not-reset": lambda random: instances.count_above_threshold(random, _counts_not_reset()),
    "overlapping-instances": lambda random: instances.count_above_threshold(random, _overlapping()),
    "interrupted-round-retried": lambda random: instances.count_above_threshold(
        random, _counts_twice
    ),
    "first-frequent-one-threshold": lambda random: first_frequent(random, _one_threshold_noise),
    "keys-one-noise": _keys(counters._OneNoiseForAll),
    "keys-counters-kept": _keys(counters._CountersKept),
    "keys-noise-when-reported": _keys(counters._NoiseOnlyWhenCounted),
    "keys-true-count": _keys(counters._KeysByTrueCount),
    "witnesses-one-noise": _witnesses(counters._OneNoiseForAll),
    "witnesses-noise-when-named": _learner(
        partial(instances.private_witnesses, long=True),
        PrivateWitnessesEngine,
        counters._NoiseOnlyWhenCounted,
    ),
    "witnesses-true-count": _witnesses(counters._WitnessesByTrueCount),
    "places-one-priced": lambda random: place_plan(random, _one_place_priced),
    "places-kept": _learner(
        partial(witness_places, twice=True), PrivateWitnessesEngine, counters._KeepsPlaces
    ),
    "majority-counts-kept": lambda random: fresh_majority(
        random, lambda recipe: with_engine(recipe, learners.CountsKept)
    ),
    "majority-one-witness-priced": lambda random: majority_plan(random, _one_priced),
    "exponential-half-sensitivity": lambda random: instances.exponential(random, _half_sensitivity),
    "DisjointBatches keeps a batch": _learner(
        instances.disjoint_batches, DisjointBatchesEngine, _KeepsTheBatch
    ),
    "forest-threshold-noise-reused": _forest(forests._ReusesThresholdNoise),
    "forest-noise-skipped-when-correct": _forest(forests._NoNoiseWhenCorrect),
    "forest-timed-by-true-count": _forest(forests._TimedByTrueCount),
    "forest-judged-after-seeing": _forest(forests._JudgesAgain),
    "forest-kept-across-restarts": lambda random: lazy_forest(
        random, lambda recipe: with_engine(recipe, forests._KeepsTheForest), again=True
    ),
    "forest-delta-not-divided": lambda random: forest_plan(random, _delta_of_one_list),
    "forest-add-remove-last-layer": lambda random: lazy_forest(
        random, lambda recipe: altered(recipe, histogram=forests.add_remove)
    ),
    "forest-order-by-true-count": lambda random: middle_forest(
        random, lambda recipe: altered(recipe, histogram=forests._with_true_counts)
    ),
    "forest-overlapping-instances": lambda random: middle_forest(
        random, lambda recipe: with_engine(recipe, forests._WatchesTheWholeListAtOnce)
    ),
    "forest-matched-in-order": lambda random: middle_packed(
        random, lambda recipe: with_engine(recipe, forests._MatchedInOrder), kind="matching"
    ),
    "forest-slots-by-true-count": lambda random: middle_packed(
        random, lambda recipe: with_engine(recipe, forests._TrueSlots), kind="slots"
    ),
    "early release counts a slot twice": lambda random: early_forest(
        random, lambda recipe: with_engine(recipe, _GrowsAgain)
    ),
    "histogram-threshold-low": lambda random: instances.private_histogram(random, _low_threshold),
    "PrivateHistogram with half the scale": lambda random: instances.private_histogram(
        random, _too_little_noise
    ),
    "add-remove-for-replace": lambda random: instances.private_histogram(random, _add_remove),
    "histogram-scale-inverted": lambda random: instances.laplace_count(random, _scale_inverted),
}
