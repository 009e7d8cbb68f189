"""A place between the mistakes, drawn privately, and how seldom it is false."""

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.privacy.rounding import float_at_most

Counts = NDArray[np.int64]

_SHARES: Final = (0.34, 0.42, 0.5)
_THRESHOLDS: Final = 14
_BLOCK: Final = 0.5
_NEGLIGIBLE: Final = 24.0  # in logarithms
_LARGEST: Final = 43.0  # in logarithms; beyond it the mechanism's floor on weights counts
_ROUNDING: Final = 1 + 2.0**-40


def depths(places: list[int], length: int) -> tuple[list[int], list[int]]:
    """For runs of places 0 .. length-1: of how many mistakes the fewer lie on one side of them.

    A mistake at a place lies on both sides of it. Returned are depths and lengths of the runs.

    >>> depths([2, 5, 5, 7], 10)
    ([0, 1, 1, 3, 1, 1, 0], [2, 1, 2, 1, 1, 1, 2])
    """
    found, lengths, passed, end = [], [], 0, 0
    for place, times in sorted(Counter(places).items()):
        found += [min(passed, len(places) - passed), min(passed + times, len(places) - passed)]
        lengths += [place - end, 1]
        passed, end = passed + times, place + 1
    return [*found, 0], [*lengths, length - end]


@lru_cache(maxsize=256)
def misplaced_upper_bound(plan: FreshPlan, places: int, rounds: int) -> float:
    """How likely the place is false, at most, whatever an adversary does that knows the threshold.

    It may stop at any count and wait for the counter to fire by chance. Counts are taken in blocks
    and threshold noise is rounded down to blocks, both in its favour (algorithm.md).
    """
    rate = plan.threshold_epsilon
    block = max(1, int(_BLOCK / rate))
    noise = block * np.arange(math.ceil(_NEGLIGIBLE / rate / block) + 1)
    law = np.exp(-rate * noise)
    law[:-1] -= law[1:]
    fires = plan.threshold + noise
    counts = np.arange(0, fires[-1], block)[:, None]
    gaps = np.maximum(fires - (counts + block - 1), 0)
    with np.errstate(divide="ignore"):
        waits = -np.expm1(rounds * np.log1p(-np.exp(-rate * gaps)))
    waits[counts >= fires] = 0.0
    drawn, value = _false_draw(plan, places, counts), _false_draw(plan, places, fires)
    for wait, now in zip(waits[::-1], drawn[::-1], strict=True):
        value += wait * np.maximum(now - value, 0)
    return min(1.0, float(law @ value) * _ROUNDING)


def _false_draw(plan: FreshPlan, places: int, mistakes: Counts) -> NDArray[np.float64]:
    """After so many mistakes; without any, there may be no true place at all."""
    true = 2 * np.exp(np.minimum(plan.selection_rate * mistakes / 2, _LARGEST))
    false = np.minimum((places - 1) * _ROUNDING / np.maximum(places - 2 + true, 1), 1.0)
    return np.where(mistakes > 0, false, 1.0)


def plan_places(*, places: int, rounds: int, epsilon: float, epoch: float) -> FreshPlan:
    """The share of the budget and the threshold, if the rest of an epoch costs so many mistakes."""

    def cost(plan: FreshPlan) -> float:
        mistakes = plan.threshold + 1 / math.expm1(plan.threshold_epsilon) + epoch
        true = 1 - misplaced_upper_bound(plan, places, rounds)
        return mistakes / true if true > 0 else math.inf

    best = []
    for share in _SHARES:
        rate = share * epsilon
        watch = float_at_most(Fraction(epsilon) - Fraction(rate))
        low, high = 0.0, 2 * (math.log(places * epoch + 1) + 2) / rate + math.log(rounds) / watch
        for _ in range(2):
            thresholds = np.linspace(low, high, _THRESHOLDS)[1:-1]
            plans = [
                FreshPlan(threshold_epsilon=watch, threshold=max(1, round(at)), selection_rate=rate)
                for at in thresholds.tolist()
            ]
            best.append(min(plans, key=cost))
            step = (high - low) / (_THRESHOLDS - 1)
            low, high = best[-1].threshold - step, best[-1].threshold + step
    return min(best, key=cost)
