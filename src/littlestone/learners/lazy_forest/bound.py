"""Proved mistake bounds of a forest with given numbers (algorithm.md, §4)."""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.learners.lazy_forest.plan import paper_plan
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.theory.outwards import downwards, each_upwards, upwards
from littlestone.theory.realizable_bounds import mistakes_upper_bound as theorem_upper_bound

if TYPE_CHECKING:
    from littlestone.learners.lazy_forest.recipe import LazyForest

_SPLITS: Final = np.arange(65) / 64  # in thirds of all sequences
_SMALLEST_SHARE: Final = 1e-30
_FAILURES: Final = tuple(0.1 / 4**power for power in range(49))  # above _SMALLEST_SHARE
_PER_SLOT: Final = 0.7  # covers half of the slots, as much as a guess does
_LIST_FACTORS: Final = (1.5, 2.0, 3.0, 4.0, 6.0)
_LARGEST: Final = 1 << 60


def copy_failure_upper_bound(forest: "LazyForest") -> float:
    """Bound the probability that a copy uses up its lists on a realizable stream; 1 if unknown."""
    if not _standard_optimal(forest) or not forest.plan.packed:
        return 1.0
    if forest.depth <= 1 and (forest.plan.early_release or forest.depth == 0):
        # The only list holds the target, which never errs; only an early yes can drop it.
        return _early_yes_upper_bound(forest, forest.depth)
    # The less likely the events that are excluded, the fewer sequences are sure to be left.
    proved = bisect_left(_FAILURES, True, key=lambda share: not _target_is_listed(forest, share))
    if not proved:
        return 1.0
    fails = _events(forest) * _FAILURES[proved - 1] + _early_answers(forest)
    return upwards(fails) if fails < 1 else 1.0


def mistakes_upper_bound(forest: "LazyForest", *, failure_probability: float) -> float:
    """Bound the mistakes of all copies together; the number of rounds where nothing is proved."""
    require.open_probability(failure_probability=failure_probability)
    if not _standard_optimal(forest):
        return float(forest.rounds)
    if forest.depth == 0:
        return 0.0
    if not forest.plan.packed and failure_probability >= forest.failure_probability:
        return _theorem(forest)
    fails, copies = copy_failure_upper_bound(forest), 1
    while fails**copies > failure_probability / 2:
        copies += 1
        if fails >= 1 or not forest.restarts:
            return float(forest.rounds)
    share = failure_probability / (2 * copies)
    each = _early_mistakes if forest.plan.early_release else _mistakes_of_a_copy
    # Mistakes are whole numbers, so the bound may be rounded down.
    most = min(float(forest.rounds), upwards(copies * each(forest, share)))
    return float(math.floor(most))


def _standard_optimal(forest: "LazyForest") -> bool:
    """Return whether the base is the learner that all accuracy proofs assume."""
    return isinstance(forest.base, StandardOptimal) and forest.base.concepts == forest.concepts


def _theorem(forest: "LazyForest") -> float:
    """Return the bound of [P, Theorem realizable2] if the plan has its numbers."""
    basics = {
        "rounds": forest.rounds,
        "epsilon": forest.epsilon,
        "delta": forest.delta,
        "failure_probability": forest.failure_probability,
    }
    if forest.plan != paper_plan(forest.depth, **basics):  # type: ignore[arg-type]
        return float(forest.rounds)
    theorem = theorem_upper_bound(dimension=forest.depth, slots=forest.plan.slots, **basics)  # type: ignore[arg-type]
    return float(min(forest.rounds, theorem))


def smallest_proved(draft: "LazyForest") -> "LazyForest":
    """Return ``draft`` with the first instance and list thresholds that prove the smallest bound.

    A higher list threshold makes lists shorter, and needs more mistakes in the first instance.
    """
    best, failure_probability = draft, draft.failure_probability
    searched = draft.depth > 1  # at smaller depths the calibrated numbers are proved
    for factor in _LIST_FACTORS if searched else ():
        candidate = _smallest_first_instance(_raised(draft, factor), failure_probability / 2)
        before, after = (
            forest.mistake_bound(failure_probability=failure_probability)
            for forest in (best, candidate)
        )
        best = candidate if after < before else best
    return replace(best, plan=best.plan.signed("proved"))


def _raised(draft: "LazyForest", factor: float) -> "LazyForest":
    plan = replace(
        draft.plan,
        list_thresholds=tuple(math.ceil(factor * count) for count in draft.plan.list_thresholds),
        mistakes_per_slot=(draft.plan.mistakes_per_slot[0], *[_PER_SLOT] * (draft.depth - 1)),
    )
    return replace(draft, plan=plan)


def _smallest_first_instance(draft: "LazyForest", failure_probability: float) -> "LazyForest":
    def sized(mistakes: int) -> "LazyForest":
        plan = replace(draft.plan, mistakes_per_layer=(*[mistakes] * draft.depth, 1))
        return replace(draft, plan=plan)

    enough = draft.plan.mistakes_per_layer[0]
    while copy_failure_upper_bound(sized(enough)) > failure_probability:
        enough *= 2
        if enough > _LARGEST:
            return draft
    low = enough // 2
    while enough > low * 1.01 + 1:
        middle = (low + enough) // 2
        fails = copy_failure_upper_bound(sized(middle))
        low, enough = (middle, enough) if fails > failure_probability else (low, middle)
    return sized(enough)


def _early_mistakes(forest: "LazyForest", failure_probability: float) -> float:
    release, half = forest.first_frequent(), failure_probability / 2
    mistakes = release.threshold + release.late_error_bound(failure_probability=half)
    # Two mistakes in one slot count once, which must be unlikely.
    return mistakes if mistakes**2 / forest.plan.slots <= half else math.inf


def _mistakes_of_a_copy(forest: "LazyForest", failure_probability: float) -> float:
    """Bound the mistakes of one copy: list lengths times the cost of an instance."""
    share = failure_probability / (3 * forest.depth + 1)
    sequences = _first_instance(forest, share)
    total = sequences
    for layer in range(1, forest.depth + 1):
        last = layer == forest.depth
        places = sequences if last else sequences / 2
        histogram = forest.histogram(layer)
        rate = forest.plan.budgets.listing[layer - 1].epsilon / (2 if last else 1)
        # Rare hypotheses are listed by lucky noise only: P(noise ≥ g) ≤ e^(−rate·g).
        lucky = min(float(histogram.noise_bound), math.log(max(places, 1) / share) / rate)
        length = math.floor(places / max(1.0, forest.plan.list_thresholds[layer - 1] - lucky))
        if not length:
            break
        each = forest.plan.margins[layer] + _late(forest, layer, share / length) + 1
        total += length * each
        if not last:
            slots = places + 2 * histogram.noise_bound * length
            most = forest.plan.mistakes_per_layer[layer] * length
            total += min(most, forest.plan.mistakes_per_slot[layer] * slots + length)
        else:
            total += length * forest.plan.mistakes_per_layer[layer]
        sequences = places
    return total


@dataclass(frozen=True, slots=True)
class _Layer:
    """At least ``consistent`` of at most ``sequences`` living sequences fit any target."""

    consistent: float
    sequences: float


def _target_is_listed(forest: "LazyForest", share: float) -> bool:
    """Return whether every remaining concept has enough sequences in the last layer.

    Excludes events that have probability at most ``share`` for each concept.
    """
    log_inverse = math.log(1 / share)
    first = float(min(forest.plan.mistakes_per_layer[0], math.ceil(forest.plan.slots / 2)))
    layer = _Layer(first, _first_instance(forest, share))
    for number in range(1, forest.depth):
        layer = _next(forest, number, layer, log_inverse)
        if layer.consistent < 1:
            return False
    return layer.consistent >= forest.histogram(forest.depth).certain_inclusion


def _next(forest: "LazyForest", number: int, layer: _Layer, log_inverse: float) -> _Layer:
    collisions = _colliding_pairs(layer, log_inverse)
    guessed = downwards(collisions / 2 - math.sqrt(collisions * log_inverse / 2))
    agreeing = _agreeing_pairs(layer, log_inverse)
    histogram = forest.histogram(number)
    if agreeing < histogram.certain_inclusion:
        return _Layer(0.0, layer.sequences / 2)
    most = layer.sequences / 2 + 2 * histogram.noise_bound
    plan = forest.plan
    per_slot = min(plan.mistakes_per_slot[number], plan.mistakes_per_layer[number] / most)
    covered = float(_low(np.asarray(-math.expm1(-per_slot) * agreeing), log_inverse))
    return _Layer(math.floor(max(0.0, min(guessed, covered))), layer.sequences / 2)


def _agreeing_pairs(layer: _Layer, log_inverse: float) -> float:
    """Bound the target's agreeing pairs on a hypothesis that two thirds of its sequences share."""
    size = 2 * layer.consistent / 3
    return float(_low(np.asarray(size * (size - 1) / (2 * layer.sequences)), log_inverse))


def _colliding_pairs(layer: _Layer, log_inverse: float) -> float:
    """Bound the target's pairs across a split of its sequences, each side a third or more.

    The minimum over all splits with one side between ``least`` and ``most``.
    """
    third = layer.consistent / 3
    least, most = third * (1 + _SPLITS[:-1]), third * (1 + _SPLITS[1:])
    inside = _high(most * (most - 1) / (2 * (layer.sequences - 1)), log_inverse)
    open_ends = np.maximum(0.0, least - 2 * inside)
    others = np.maximum(1.0, layer.sequences + 1 - least)
    return float(_low(open_ends * (layer.consistent - most) / others, log_inverse).min())


def _low(mean: NDArray[np.float64], log_inverse: float) -> NDArray[np.float64]:
    """Chernoff: a negatively associated sum is below this with probability e^(−log_inverse)."""
    mean = np.maximum(0.0, mean)
    return np.maximum(0.0, -each_upwards(np.sqrt(2 * mean * log_inverse) - mean))


def _high(mean: NDArray[np.float64], log_inverse: float) -> NDArray[np.float64]:
    """Chernoff: the sum is above this with probability e^(−log_inverse)."""
    spread = np.sqrt(log_inverse * log_inverse / 9 + 2 * mean * log_inverse)
    return each_upwards(mean + log_inverse / 3 + spread)


def _first_instance(forest: "LazyForest", share: float) -> float:
    """Bound the mistakes of layer 0; each makes at most one living sequence."""
    threshold = forest.plan.mistakes_per_layer[0] + forest.plan.margins[0]
    return threshold + _late(forest, 0, share) + 1


def _late(forest: "LazyForest", layer: int, share: float) -> float:
    return math.log(1 / share) / forest.plan.budgets.switching[layer]


def _events(forest: "LazyForest") -> float:
    """Count the events of probability ``share`` that the proof excludes."""
    return 1 + 3 * (forest.depth - 1) * _labelings(forest)


def _labelings(forest: "LazyForest") -> float:
    """Bound the labelings of the forest's points by concepts: their number, or Sauer's bound."""
    size = forest.concepts.size
    if size is not None:
        return float(size)
    dimension = forest.depth
    points = (dimension + 1) * _first_instance(forest, _SMALLEST_SHARE)
    return (math.e * points / dimension) ** dimension


def _early_answers(forest: "LazyForest") -> float:
    """Bound the probability that an instance ends early or a slot of layer 0 is hit twice."""
    early = [
        forest.rounds * math.exp(-share * margin)
        for share, margin in zip(forest.plan.budgets.switching, forest.plan.margins, strict=True)
    ]
    twice = (forest.plan.mistakes_per_layer[0] + forest.plan.margins[0]) ** 2 / forest.plan.slots
    return math.fsum(early) + twice


def _early_yes_upper_bound(forest: "LazyForest", layer: int) -> float:
    threshold = forest.plan.mistakes_per_layer[layer] + forest.plan.margins[layer]
    exponent = math.log(forest.rounds) - forest.plan.budgets.switching[layer] * threshold
    return upwards(math.exp(min(0.0, upwards(exponent))))
