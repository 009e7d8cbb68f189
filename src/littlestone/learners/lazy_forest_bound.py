"""What is proved about the mistakes of a forest with given numbers (lazy_forest_engine.md, §4)."""

import math
from typing import TYPE_CHECKING

from littlestone import require
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.theory.rounding import upwards

if TYPE_CHECKING:
    from littlestone.learners.lazy_forest import LazyForest


def copy_failure_upper_bound(forest: "LazyForest") -> float:
    """The probability that one copy uses up its lists on a realizable stream; 1 if unknown."""
    if not _proved(forest):
        return 1.0
    # The last list holds the target, which never errs: only an early yes can drop it.
    return min(1.0, _early_yes_upper_bound(forest, forest.depth))


def mistakes_upper_bound(forest: "LazyForest", *, failure_probability: float) -> float:
    """Mistakes of all copies together, or the number of rounds where nothing better is proved."""
    require.open_probability(failure_probability=failure_probability)
    if forest.depth == 0:
        return 0.0 if isinstance(forest.base, StandardOptimal) else float(forest.rounds)
    if not _proved(forest):
        return float(forest.rounds)
    fails = copy_failure_upper_bound(forest)
    copies = 1
    while fails**copies > failure_probability / 2:
        copies += 1
        if fails >= 1 or not forest.restarts:
            return float(forest.rounds)
    share = failure_probability / (4 * copies)
    release = forest.first_frequent()
    mistakes = release.threshold + release.late_error_bound(failure_probability=share)
    if mistakes**2 / forest.slots > share:  # two mistakes in one slot count once
        return float(forest.rounds)
    return float(min(forest.rounds, copies * mistakes))


def _proved(forest: "LazyForest") -> bool:
    return forest.early_release and isinstance(forest.base, StandardOptimal)


def _early_yes_upper_bound(forest: "LazyForest", layer: int) -> float:
    threshold = forest.mistakes_per_layer[layer] + forest.margins[layer]
    exponent = math.log(forest.rounds) - forest.budgets.switching[layer] * threshold
    return upwards(math.exp(min(0.0, upwards(exponent))))
