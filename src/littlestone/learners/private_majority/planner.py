"""Numbers for a private majority: chosen for few mistakes, never for privacy.

Whatever is chosen here, ``FreshPlan`` and ``SampledPlan`` compute what it costs, and the recipe
refuses what it cannot afford.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Witnesses
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.private_halving import potential_drop_lower_bound

_SELECTION_SHARES: Final = tuple(share / 40 for share in range(12, 21))
# Adversaries are given this many times the rounds: it costs little, and brings the bound down.
_CAUTION: Final = 20
# Beyond the first so many mistakes of a phase, only the second so many numbers are looked at.
_ALL_COUNTS, _SOME_COUNTS = 2**14, 2**11
_FINEST: Final = 16
_MOST_PHASES: Final = 10**6
_SMALLEST_RATE: Final = 2e-4  # tables of weights grow with its inverse
# How often votes are tripled, and with which charge (rate times mistakes of a phase), before the
# epoch that has a proof. A few votes are enough against most streams; an adversary that exploits
# them pays with the epoch.
_FIRST_CHARGES: Final = (1.25, 1.25, 2.0)
_POINTS_FOR_EACH_VOTE: Final = 4.0  # in logarithms; richer domains leave more room to deviate
_PHASES_FOR_EACH_NAT: Final = 4.0
LAST_EPOCH_FAILS: Final = 0.05


@lru_cache(maxsize=64)
def plan_fresh(witnesses: Witnesses, *, levels: int, rounds: int, epsilon: float) -> FreshPlan:
    """The share of the budget and the threshold with the fewest mistakes in the worst case.

    Two kinds of adversaries are weighed: one errs in every round; the other stops after q mistakes
    of a phase and waits for AboveThreshold to fire by chance, so that little evidence is left to
    draw the witness from. It can wait ``rounds`` rounds in all.
    """
    confusions = Counter(witnesses.confusion(answered) for answered in range(levels))
    best = (math.inf, math.inf, 0, 0.0)
    for share in _SELECTION_SHARES:
        rate = share * epsilon
        threshold_epsilon = float_at_most(Fraction(epsilon) - Fraction(rate))
        most = (math.log(_CAUTION * rounds) + 12) / threshold_epsilon + 12 / rate
        for threshold in sorted({math.ceil(most * step / 80) for step in range(1, 81)}):
            numbers = threshold_epsilon, threshold, rate
            cost = _worst_mistakes(*numbers, confusions, _CAUTION * rounds)
            if cost < best[0]:
                best = (cost, *numbers)
    _, threshold_epsilon, threshold, rate = best
    return FreshPlan(threshold_epsilon=threshold_epsilon, threshold=threshold, selection_rate=rate)


def _worst_mistakes(
    threshold_epsilon: float,
    threshold: int,
    rate: float,
    confusions: Counter[tuple[int, int]],
    rounds: int,
) -> float:
    """Expected mistakes, to a good approximation, against the worse of the two adversaries."""
    counts = threshold if threshold <= _ALL_COUNTS else _SOME_COUNTS
    mistakes = np.linspace(0, threshold, counts + 1)
    right = np.ones_like(mistakes)
    for confusion, times in confusions.items():
        right *= (1 - false_answer_upper_bound(confusion, rate * mistakes)) ** times
    levels = confusions.total()
    fires = np.exp(-threshold_epsilon * (threshold - mistakes))
    attempts = np.minimum(1 / right, np.maximum(rounds * fires / (2 * levels), 1))
    patient = (levels * mistakes * attempts).max()
    # Once all is learned, a threshold that fires by chance starts everything again.
    epochs = (1 + rounds * fires[0] / 2) / right[-1]
    eager = levels * (threshold + 1 / threshold_epsilon) * epochs
    return float(max(patient, eager))


def false_answer_upper_bound(
    confusion: tuple[int, int], evidence: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The probability that a false witness is drawn from mistakes that name only true ones.

    ``evidence`` is the rate times the mistakes, ``confusion`` how many witnesses can be false, and
    how many true. The true witnesses share the mistakes; their
    weights add up to least when they share them evenly. The mechanism's own floor on weights is
    below e**-44.
    """
    false, true = confusion
    most: NDArray[np.float64] = np.exp(np.minimum(evidence / true + math.log(true), 44.0))
    return false * (1 + 2.0**-40) / (false + most)


@lru_cache(maxsize=64)
def plan_sampled(
    *,
    concepts: int,
    columns: float,
    rounds: int,
    epsilon: float,
    delta: float,
    votes: int | None = None,
    phases: int | None = None,
) -> SampledPlan:
    """Epochs with more and more votes, the last of which has a proof.

    ``columns`` is the logarithm of the number of points that the concepts tell apart. With
    ``votes`` or ``phases`` given there is one kind of epoch only, of that size.
    """
    rho, threshold_epsilon = split_budget(epsilon=epsilon, delta=delta)
    usual = max(4, math.ceil(_PHASES_FOR_EACH_NAT * math.log(concepts + 1)))
    fewest = max(3, math.ceil(columns / _POINTS_FOR_EACH_VOTE) | 1)
    if votes is not None or phases is not None:
        sizes = [(votes or fewest, phases or usual, _FIRST_CHARGES[0])]
    else:
        sizes = [(fewest * 3**i, usual, charge) for i, charge in enumerate(_FIRST_CHARGES)]
    patience = math.log(rounds) / 2 / threshold_epsilon
    epochs = [
        epoch_plan(rho=rho, votes=m, phases=p, charge=c, margin=patience) for m, p, c in sizes
    ]
    if votes is None and phases is None:
        epochs.append(_proven_epoch(concepts, columns, rounds, rho, threshold_epsilon))
    return SampledPlan(threshold_epsilon=threshold_epsilon, epochs=tuple(epochs))


def split_budget(*, epsilon: float, delta: float) -> tuple[float, float]:
    """The rho for draws when two mistakes move, and what it leaves for AboveThreshold.

    If only one moves, the draws cost a quarter of it (recipe.md, step 2).
    """
    rho = ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho
    alone = ZeroConcentrated(rho=rho / 4).epsilon_upper_bound(delta)
    return rho, float_at_most(Fraction(epsilon) - Fraction(alone))


def epoch_plan(*, rho: float, votes: int, phases: int, charge: float, margin: float) -> EpochPlan:
    """An epoch whose draws cost no example more than ``rho``.

    A mistake of phase j meets votes * (phases - j) draws, so it may weigh as much as the root of
    the inverse; a phase lasts until its mistakes, times their rate, reach ``charge``, and
    ``margin`` mistakes more for the noise of AboveThreshold.
    """
    if phases > _MOST_PHASES:
        raise ValueError(f"phases must be at most {_MOST_PHASES}, got phases={phases!r}")
    if phases < 2:
        return EpochPlan(votes=votes, rate=1.0, weights=(), thresholds=(math.ceil(margin) + 1,))
    first = math.sqrt(2 * rho / (votes * (phases - 1)))
    finest = max(1, min(_FINEST, int(first / _SMALLEST_RATE)))
    rate = first / finest * (1 - 2.0**-40)  # so that rounding cannot overspend
    weights = tuple(
        math.isqrt(finest**2 * (phases - 1) // (phases - phase)) for phase in range(1, phases)
    )
    thresholds = [math.ceil(charge / (rate * weight) + margin) for weight in weights]
    return EpochPlan(
        votes=votes, rate=rate, weights=weights, thresholds=(*thresholds, thresholds[-1])
    )


def _proven_epoch(
    concepts: int, columns: float, rounds: int, rho: float, threshold_epsilon: float
) -> EpochPlan:
    """The epoch with the smallest bound that fails with ``LAST_EPOCH_FAILS`` at most."""
    share = LAST_EPOCH_FAILS / 3
    margin = math.log(rounds / share) / threshold_epsilon
    best = None
    for wide in range(3, 14):
        for charge in (0.8, 1.0, 1.3, 1.6, 2.0, 2.5):
            drop = potential_drop_lower_bound(margin=wide / 40, charge=charge)
            phases = math.ceil(math.log(concepts) / drop) + 2
            spread = (math.log(2 * phases / share) + columns) / 2 / (wide / 40 - 2.0**-30) ** 2
            votes = math.ceil(spread) | 1
            epoch = epoch_plan(rho=rho, votes=votes, phases=phases, charge=charge, margin=margin)
            if best is None or sum(epoch.thresholds) < sum(best.thresholds):
                best = epoch
    assert best is not None
    return best
