"""How many mistakes a private majority can be made to make: proven, with explicit constants."""

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Witnesses
from littlestone.concepts.losses.listing import distinguished_points, require_listable
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.learners.private_majority.planner import LAST_EPOCH_FAILS, false_answer_upper_bound
from littlestone.theory.private_halving import potential_drop_lower_bound

Array = NDArray[np.float64]

_PRICES: Final = 10.0 ** np.arange(-0.25, 1.3, 0.25)
_MOMENTS: Final = 10.0 ** np.arange(-1.25, 0.3, 0.25)
_BLOCK: Final = 0.5
_NOISE: Final = 10
_TURNS: Final = 60
_DIVERGED: Final = 1e100
_ROUNDING: Final = 1 + 1e-6
_FLOATING: Final = 1 + 1e-9  # far more than floating point can err in one turn


def fresh_mistakes_upper_bound(
    plan: FreshPlan,
    witnesses: Witnesses,
    *,
    levels: int,
    rounds: int,
    failure_probability: float,
) -> float:
    """Exceeded with ``failure_probability`` at most, by whatever adversary.

    Rounds are given a price: for all prices and moments, E[exp(moment * (mistakes - price *
    rounds))] is at most the value of a game that an all-knowing adversary plays alone
    (fresh.md), and Markov's inequality does the rest.
    """
    moments, prices, values = _played(plan, witnesses, levels, rounds)
    bounds = prices * rounds + (np.log(values) - math.log(failure_probability)) / moments
    return min(float(rounds), float(bounds.min()) * _ROUNDING)


@lru_cache(maxsize=256)
def _played(
    plan: FreshPlan, witnesses: Witnesses, levels: int, rounds: int
) -> tuple[Array, Array, Array]:
    """The value of the game for a grid of moments and prices."""
    one_phase = plan.threshold + 1 / plan.threshold_epsilon
    grid = np.meshgrid(_MOMENTS / one_phase, _PRICES * one_phase / rounds)
    moments, prices = (axis.ravel() for axis in grid)
    return moments, prices, _game_value(_Game(plan, moments, prices), witnesses, levels)


class _Game:
    """One phase as the adversary sees it that knows the noisy threshold.

    It either errs, or waits for AboveThreshold to fire by chance, or gives up. Counts are taken in
    blocks and threshold noise is rounded down to blocks, both in the adversary's favour, so that a
    small epsilon costs no more time. All of this for many moments and prices (first axis) and all
    thresholds (second) at once.
    """

    def __init__(self, plan: FreshPlan, moments: Array, prices: Array) -> None:
        rate = plan.threshold_epsilon
        block = max(1, int(_BLOCK / rate))
        noise = block * np.arange(math.ceil(_NOISE / rate / block) + 1)
        counts = block * np.arange(-(-(plan.threshold + int(noise[-1])) // block))
        self.size = len(moments)
        self.starts: Array = plan.selection_rate * counts.astype(np.float64)
        self.nexts: Array = self.starts + plan.selection_rate

        def fires(mistakes: NDArray[np.int64]) -> Array:
            gaps = plan.threshold + noise - mistakes[:, None]
            probability: Array = np.exp(-rate * np.maximum(gaps, 0))
            return probability

        self._seldom = 1 - (1 - fires(counts + 1)) ** block
        self._often = 1 - (1 - fires(counts + block)) ** block
        waits = fires(counts + block - 1)[:, None, :]
        price = np.exp(-moments * prices)[:, None]
        paid = -np.expm1(-moments * prices)[:, None]  # 1 − price, which may be too small for that
        self._waits = waits * price / (paid + waits * price)
        self._errs = np.exp(block * moments * (1 - prices))[:, None]
        self._stops = np.exp((block - 1) * moments)[:, None]
        self._law = _law(rate, block, noise, moments)

    def value(self, at_start: Array, at_next: Array) -> Array:
        """What a phase is worth, given what firing is worth at each count and one after it."""
        worth = np.repeat(at_next[-1][:, None], self._law.shape[1], axis=1)
        for block in range(len(at_start) - 1, -1, -1):
            still = np.maximum(self._waits[block] * at_start[block][:, None], 1)
            later, now = np.maximum(worth, still), at_next[block][:, None]
            erring = np.maximum(
                later + self._seldom[block] * (now - later),
                later + self._often[block] * (now - later),
            )
            worth = np.maximum(self._stops * still, self._errs * erring)
        return self._expected(worth)

    def value_without_mistakes(self, after: Array) -> Array:
        """The same for an adversary that cannot err."""
        return self._expected(np.maximum(self._waits[0] * after[:, None], 1))

    def _expected(self, worth: Array) -> Array:
        expected: Array = (self._law * worth).sum(axis=1)
        return expected


def _law(rate: float, block: int, noise: NDArray[np.int64], moments: Array) -> Array:
    """The law of the noise in blocks, times what rounding it down could have cost.

    One more on the threshold is worth one more mistake at most, a factor of e**moment; so a block
    is a geometric sum, and the tail after the last one a series.
    """
    growth = np.minimum(moments - rate, 0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.expm1(block * growth) / np.expm1(growth)
        law = -math.expm1(-rate) * np.exp(-rate * noise) * within
        law[:, -1] = -math.expm1(-rate) * math.exp(-rate * noise[-1]) / -np.expm1(growth[:, 0])
    return np.where(moments[:, None] < rate, law, np.inf)


def _game_value(game: _Game, witnesses: Witnesses, levels: int) -> Array:
    """The value from the start: the smallest solution, approached from below, then verified.

    A value is certain once a slightly larger one does not grow any more; where that does not
    happen, the moment is too large for the price, and the answer is infinite.
    """
    values = np.ones(game.size)
    certain = np.full(game.size, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_TURNS):
            tried = values * _ROUNDING
            values = _one_epoch(game, witnesses, levels, tried)
            settled = values * _FLOATING <= tried
            certain = np.where(settled, np.minimum(certain, tried), certain)
            values = np.where(values < _DIVERGED, values, np.inf)
            if (settled | np.isinf(values)).all():
                break
    return certain


def _one_epoch(game: _Game, witnesses: Witnesses, levels: int, again: Array) -> Array:
    """The value of an epoch if starting another one is worth ``again``."""
    lost = [again]  # by how many phases are left once a false witness was drawn
    for _ in range(levels):
        after = np.broadcast_to(lost[-1], (len(game.starts), game.size))
        lost.append(np.maximum(lost[-1], game.value(after, after)))
    value = game.value_without_mistakes(again)
    for answered in range(levels - 1, -1, -1):
        harm: Array = np.maximum(lost[levels - answered] - value, 0)
        false_now = false_answer_upper_bound(witnesses, answered, game.starts)[:, None]
        false_next = false_answer_upper_bound(witnesses, answered, game.nexts)[:, None]
        phase = game.value(value + false_now * harm, value + false_next * harm)
        value = np.maximum(value, phase)
    return value


def sampled_mistakes_upper_bound(
    plan: SampledPlan, concepts: ConceptClass, *, rounds: int, failure_probability: float
) -> float:
    """Exceeded with ``failure_probability`` at most; the number of rounds if nothing is proved.

    All epochs before the last are taken to fail; the last one is repeated until its failures in a
    row are unlikely enough. Half of the probability goes there, half to late thresholds.
    """
    last = plan.epochs[-1]
    needed = _phases_needed(last, plan.threshold_epsilon, concepts, rounds)
    if needed is None:
        return float(rounds)
    repeats = math.ceil(math.log(failure_probability / 2) / math.log(LAST_EPOCH_FAILS))
    thresholds = [t for epoch in plan.epochs[:-1] for t in epoch.thresholds]
    thresholds += [*last.thresholds] * (repeats - 1) + [*last.thresholds[:needed]]
    late = math.log(2 * len(thresholds) / failure_probability) / plan.threshold_epsilon
    return min(float(rounds), sum(threshold + late + 1 for threshold in thresholds) * _ROUNDING)


def _phases_needed(
    epoch: EpochPlan, threshold_epsilon: float, concepts: ConceptClass, rounds: int
) -> int | None:
    """How many phases at most can end if nothing goes wrong; None if more than there are.

    Something goes wrong with probability ``LAST_EPOCH_FAILS``: a vote that is off by more than the
    margin at some point, or an AboveThreshold that fires too early.
    """
    share = LAST_EPOCH_FAILS / 3
    spread = math.log(2 * epoch.phases / share) + distinguished_points(concepts)
    # Weights are rounded and kept above a floor: 2**-30 is far more than that can change.
    margin = math.sqrt(spread / (2 * epoch.votes)) + 2.0**-30
    early = math.log(rounds / share) / threshold_epsilon
    if margin >= 0.5:
        return None
    left = math.log(require_listable(concepts))
    for phase, (weight, threshold) in enumerate(
        zip(epoch.weights, epoch.thresholds, strict=False), start=1
    ):
        charge = epoch.rate * weight * (threshold - early)
        if charge > 0:
            left -= potential_drop_lower_bound(margin=margin, charge=charge)
        if left < 0:
            return phase
    return None
