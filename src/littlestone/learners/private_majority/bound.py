"""Proved bounds on the mistakes of a private majority, with explicit constants."""

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Witnesses
from littlestone.concepts.losses.listing import distinguished_points, require_listable
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.private_majority.plan import (
    LAST_EPOCH_FAILS,
    EpochPlan,
    FreshPlan,
    SampledPlan,
    false_answer_upper_bound,
)
from littlestone.theory.expert_bounds import potential_drop_lower_bound

Array = NDArray[np.float64]

# In units of the cost of all phases of one epoch; the best ones are taken.
_PRICES: Final = 10.0 ** np.arange(-1.2, 0.7, 0.3)
_MOMENTS: Final = 10.0 ** np.array([-0.9, -0.6, -0.3, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
_HARMS: Final = np.array([0.0, *2.0 ** np.arange(-1, 33)])
_TABLES: Final = 3  # further levels share one, computed for the worst of them
_BLOCK: Final = 0.5
_NOISE: Final = 6
_TRIED: Final = 48  # values tried at a time, then as many between the best two
_LARGEST: Final = 20.0  # in logarithms, beyond an epoch without restarts
_ROUNDING: Final = 1 + 1e-6
_FLOATING: Final = 1 + 1e-9  # far more than floating point can err in one epoch


def fresh_mistakes_upper_bound(
    plan: FreshPlan,
    witnesses: Witnesses,
    *,
    levels: int,
    rounds: int,
    failure_probability: float = 1.0,
) -> float:
    """Bound the mistakes against any adversary, except with ``failure_probability``.

    With a failure probability of 1 it bounds the mean. Rounds get a price. For all prices and
    moments, E[exp(moment * (mistakes - price * rounds))] is at most the value of a game that an
    all-knowing adversary plays alone (fresh.md). Markov's inequality gives the bound, and Jensen's
    the mean.
    """
    moments, prices, values = _played(plan, witnesses, levels, rounds)
    bounds = prices * rounds + (np.log(values) - math.log(failure_probability)) / moments
    return min(float(rounds), float(bounds.min()) * _ROUNDING)


@lru_cache(maxsize=256)
def _played(
    plan: FreshPlan, witnesses: Witnesses, levels: int, rounds: int
) -> tuple[Array, Array, Array]:
    """Return the value of the game on a grid of moments and prices."""
    one_epoch = levels * (plan.threshold + 1 / plan.threshold_epsilon)
    grid = np.meshgrid(_MOMENTS / one_epoch, _PRICES * one_epoch / rounds)
    moments, prices = (axis.ravel() for axis in grid)
    return moments, prices, game_value(plan, witnesses, levels, moments, prices)


def game_value(
    plan: FreshPlan, witnesses: Witnesses, levels: int, moments: Array, prices: Array
) -> Array:
    """Return the smallest tried value that a restart cannot raise; infinite if there is none."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        epoch = _Epoch(_Phase(plan, moments, prices), witnesses, levels)
        below = np.zeros(len(moments))
        above = below + levels * np.log(epoch.lost_phase) + _LARGEST
        certain = np.full(len(moments), np.inf)
        for _ in range(2):
            steps = np.linspace(0, 1, _TRIED + 1)[1:]
            logarithms = below[:, None] + (above - below)[:, None] * steps
            settled = epoch.value(np.exp(logarithms)) * _FLOATING <= np.exp(logarithms)
            first, any_settled = settled.argmax(axis=1), settled.any(axis=1)
            rows = np.arange(len(moments))
            below = np.where(any_settled & (first > 0), logarithms[rows, first - 1], below)
            above = np.where(any_settled, logarithms[rows, first], above)
            certain = np.where(any_settled, np.exp(above), certain)
    return certain


class _Phase:
    """One phase, played by an adversary that knows the noisy threshold.

    In each round it errs, waits for AboveThreshold to fire by chance, or gives up. Counts are
    taken in blocks and threshold noise is rounded down to blocks, both in the adversary's favour,
    so that a small epsilon takes no more time. Arrays run over moments and prices (first axis),
    worths of a false witness (second) and thresholds (third).
    """

    def __init__(self, plan: FreshPlan, moments: Array, prices: Array) -> None:
        rate = plan.threshold_epsilon
        block = max(1, int(_BLOCK / rate))
        noise = block * np.arange(math.ceil(_NOISE / rate / block) + 1)
        counts = block * np.arange(-(-(plan.threshold + int(noise[-1])) // block))
        self.starts: Array = plan.selection_rate * counts.astype(np.float64)
        self.nexts: Array = self.starts + plan.selection_rate

        def fires(mistakes: NDArray[np.int64]) -> Array:
            gaps = plan.threshold + noise - mistakes[:, None]
            probability: Array = np.exp(-rate * np.maximum(gaps, 0))
            return probability

        self._seldom = -np.expm1(block * np.log1p(-fires(counts + 1)))
        self._often = -np.expm1(block * np.log1p(-fires(counts + block)))
        waits = fires(counts + block - 1)[:, None, None, :]
        moment, paid = moments[:, None, None], (moments * prices)[:, None, None]
        # 1 - e**-paid may be too small for a subtraction.
        self._waits = waits * np.exp(-paid) / (-np.expm1(-paid) + waits * np.exp(-paid))
        self._errs = np.exp(block * (moment - paid))
        self._stops = np.exp((block - 1) * moment)
        self._law = _law(rate, block, noise, moments)[:, None, :]

    def value(self, at_start: Array, at_next: Array) -> Array:
        """Return the worth of a phase, given the worth of firing at each count and at the next."""
        worth = at_next[-1][:, None]
        for block in range(len(at_start) - 1, -1, -1):
            still = np.maximum(self._waits[block] * at_start[block][:, None], 1)
            later = np.maximum(worth, still)
            gain = at_next[block][:, None] - later
            erring = later + np.maximum(self._seldom[block] * gain, self._often[block] * gain)
            worth = np.maximum(self._stops * still, self._errs * erring)
        return self._expected(worth)

    def value_without_mistakes(self, after: Array) -> Array:
        """Return the worth for an adversary that cannot err, if firing is worth ``after``."""
        return self._expected(np.maximum(self._waits[0] * after[:, :, None], 1))

    def _expected(self, worth: Array) -> Array:
        expected: Array = (self._law * worth).sum(axis=2)
        return expected


def _law(rate: float, block: int, noise: NDArray[np.int64], moments: Array) -> Array:
    """Return the law of the noise in blocks, times the most that rounding it down could cost.

    A threshold higher by one is worth at most one more mistake, a factor of e**moment. So a block
    is a geometric sum, and the tail after the last block a geometric series.
    """
    growth = np.minimum(moments - rate, 0)[:, None]
    within = np.expm1(block * growth) / np.expm1(growth)
    law = -math.expm1(-rate) * np.exp(-rate * noise) * within
    law[:, -1] = -math.expm1(-rate) * math.exp(-rate * noise[-1]) / -np.expm1(growth[:, 0])
    return np.where(moments[:, None] < rate, law, np.inf)


class _Epoch:
    """The phases of one epoch, as tables that several levels share.

    A phase is worth a multiple of what follows a true witness. The multiple is a convex function
    of the harm (how much more a false witness is worth), so chords between the entries of a table
    bound it from above.
    """

    def __init__(self, phase: _Phase, witnesses: Witnesses, levels: int) -> None:
        self._phase = phase
        ones = np.ones((len(phase.starts), 1))
        self.lost_phase: Array = np.maximum(phase.value(ones, ones)[:, 0], 1)
        confusions = [witnesses.confusion(answered) for answered in range(levels)]
        kinds = list(dict.fromkeys(confusions))
        size = math.ceil(len(kinds) / _TABLES)
        tables = [self._table(kinds[at : at + size]) for at in range(0, len(kinds), size)]
        self._tables = [tables[kinds.index(confusion) // size] for confusion in confusions]

    def _table(self, kinds: list[tuple[int, int]]) -> Array:
        """Return the multiple for each harm, with the largest false-witness probability."""
        now, after = (
            np.max([false_answer_upper_bound(kind, evidence) for kind in kinds], axis=0)[:, None]
            for evidence in (self._phase.starts, self._phase.nexts)
        )
        return np.maximum(self._phase.value(1 + now * _HARMS, 1 + after * _HARMS), 1)

    def value(self, again: Array) -> Array:
        """Return the worth of an epoch for each moment, if another one is worth ``again``."""
        value, lost = self._phase.value_without_mistakes(again), again
        for table in reversed(self._tables):
            lost = lost * self.lost_phase[:, None]
            value = value * _chord(table, lost / value - 1)
        return value


def _chord(table: Array, harm: Array) -> Array:
    """Interpolate each row of the table at its harms, from above; infinite beyond the end."""
    left = np.clip(np.searchsorted(_HARMS, harm, side="right") - 1, 0, len(_HARMS) - 2)
    rows = np.arange(len(table))[:, None]
    low, high = table[rows, left], table[rows, left + 1]
    share = np.maximum(harm - _HARMS[left], 0) / (_HARMS[left + 1] - _HARMS[left])
    return np.where(share <= 1, low + share * (high - low), np.inf)


def sampled_mistakes_upper_bound(
    plan: SampledPlan, concepts: ConceptClass, *, rounds: int, failure_probability: float
) -> float:
    """Bound the mistakes, except with ``failure_probability``; the number of rounds if unproved.

    All epochs before the last are assumed to fail; the last one is repeated until failing each time
    is unlikely enough. Half of the probability goes there, half to late thresholds.
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
    """Return how many phases can end if nothing fails; None if more than there are.

    A failure has probability ``LAST_EPOCH_FAILS``: some vote is off by more than the margin, or
    an AboveThreshold fires too early.
    """
    share = LAST_EPOCH_FAILS / 3
    spread = math.log(2 * epoch.phases / share) + distinguished_points(concepts)
    # Weights are rounded and have a floor; 2**-30 is far more than both can change.
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
