"""The public numbers of a private majority: their privacy cost, and how they are chosen.

The planners choose numbers for few mistakes, never for privacy: ``FreshPlan`` and ``SampledPlan``
compute the cost of any choice, and the recipe rejects what exceeds the budget.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Witnesses
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.expert_bounds import potential_drop_lower_bound


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FreshPlan:
    """Every phase learns from its own mistakes only: which witness they name.

    ``selection_rate`` is the rate of the exponential mechanism that draws the witness.
    """

    threshold_epsilon: float
    threshold: int
    selection_rate: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(
            threshold_epsilon=self.threshold_epsilon, selection_rate=self.selection_rate
        )
        require.integer(threshold=self.threshold, at_least=1)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return the cost for one replaced example.

        A mistake that disappears moves the count and one witness; one that changes moves
        two witnesses and not the count (recipe.md, step 2).
        """
        del delta  # pure
        rate = Fraction(self.selection_rate)
        return PrivacyGuarantee.rounded_up(
            epsilon=max(Fraction(self.threshold_epsilon) + rate, 2 * rate)
        )

    def watch(self) -> CountAboveThreshold:
        """Return the AboveThreshold that ends a phase."""
        return CountAboveThreshold(epsilon=self.threshold_epsilon, threshold=self.threshold)

    def selection(self) -> ExponentialMechanism:
        """Return the mechanism that draws the witness."""
        # Scores are counts; a replaced example moves two of them in opposite directions.
        return ExponentialMechanism.from_eta(self.selection_rate, range_width=2)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class EpochPlan:
    """Phases that learn from all mistakes since the epoch began.

    A mistake in phase j adds ``weights[j]`` to the loss of every concept that errs with it;
    concepts are drawn with rate ``rate`` per unit of loss. Later mistakes meet fewer draws and may
    weigh more. Mistakes of the last phase meet none.
    """

    votes: int
    rate: float
    weights: tuple[int, ...]
    thresholds: tuple[int, ...]

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(votes=self.votes, at_least=1)
        require.positive(rate=self.rate)
        for weight in self.weights:
            require.integer(weights=weight, at_least=1)
        for threshold in self.thresholds:
            require.integer(thresholds=threshold, at_least=1)
        if self.votes % 2 == 0:
            raise ValueError(f"votes must be odd, got votes={self.votes!r}")
        if len(self.thresholds) != len(self.weights) + 1:
            raise ValueError(
                f"thresholds must have one entry more than weights, got {len(self.thresholds)} and "
                f"{len(self.weights)}"
            )

    @property
    def phases(self) -> int:
        """The number of phases."""
        return len(self.thresholds)

    def draw(self) -> ExponentialMechanism:
        """Return the mechanism that draws the votes; account for it by ``concentrated``."""
        return ExponentialMechanism.from_eta(self.rate, range_width=2)

    def concentrated(self, *, mistakes_moved: int) -> ZeroConcentrated:
        """Return the cost of all draws of an epoch for the example that pays most.

        One mistake moves losses by 0 or its weight: a range of the weight. Two move them by as much
        in either direction: a range of twice the weight.
        """
        costs = (
            self.votes
            * (self.phases - phase)
            * (mistakes_moved * weight * Fraction(self.rate)) ** 2
            for phase, weight in enumerate(self.weights, start=1)
        )
        return ZeroConcentrated.rounded_up(rho=max(costs, default=Fraction(0)) / 8)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPlan:
    """The epochs, one after another; the last one is repeated."""

    threshold_epsilon: float
    epochs: tuple[EpochPlan, ...]

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(threshold_epsilon=self.threshold_epsilon)
        if not self.epochs:
            raise ValueError("epochs must not be empty")

    def epoch(self, number: int) -> EpochPlan:
        """Return the plan of epoch ``number``, counted from 0."""
        require.integer(number=number, at_least=0)
        return self.epochs[min(number, len(self.epochs) - 1)]

    def watch(self, threshold: int) -> CountAboveThreshold:
        """Return the AboveThreshold that ends a phase."""
        return CountAboveThreshold(epsilon=self.threshold_epsilon, threshold=threshold)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return the cost for one replaced example.

        A mistake that disappears moves the count and the losses one way; one that changes
        moves the losses both ways and not the count (recipe.md).
        """
        require.open_probability(delta=delta)
        one = max(epoch.concentrated(mistakes_moved=1).rho for epoch in self.epochs)
        two = max(epoch.concentrated(mistakes_moved=2).rho for epoch in self.epochs)
        if two == inf:
            return PrivacyGuarantee(epsilon=inf, delta=delta)
        alone = Fraction(ZeroConcentrated(rho=two).epsilon_upper_bound(delta))
        with_count = Fraction(ZeroConcentrated(rho=one).epsilon_upper_bound(delta))
        return PrivacyGuarantee.rounded_up(
            epsilon=max(alone, with_count + Fraction(self.threshold_epsilon)), delta=delta
        )


Plan = FreshPlan | SampledPlan


_SELECTION_SHARES: Final = tuple(share / 40 for share in range(12, 21))
# Adversaries get this many times the rounds, which costs little and lowers the bound.
_CAUTION: Final = 20
# Thresholds above the first number are tried at only as many counts as the second.
_ALL_COUNTS, _SOME_COUNTS = 2**14, 2**11
_FINEST: Final = 16
_MOST_PHASES: Final = 10**6
_SMALLEST_RATE: Final = 2e-4  # tables of weights grow with its inverse
# The charges (rate times mistakes of a phase) of the epochs before the proved one; each triples
# the votes. Few votes suffice against most streams; exploiting them only ends the epoch.
_FIRST_CHARGES: Final = (1.25, 1.25, 2.0)
_POINTS_FOR_EACH_VOTE: Final = 4.0  # in logarithms; votes on richer domains deviate more
_PHASES_FOR_EACH_NAT: Final = 4.0
LAST_EPOCH_FAILS: Final = 0.05


@lru_cache(maxsize=64)
def plan_fresh(witnesses: Witnesses, *, levels: int, rounds: int, epsilon: float) -> FreshPlan:
    """Choose the budget shares and the threshold with the fewest mistakes in the worst case.

    Two kinds of adversaries are considered: one errs in every round; the other stops after q
    mistakes of a phase and waits up to ``rounds`` rounds for AboveThreshold to fire by chance, so
    that little evidence is left to draw the witness from.
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
    """Approximate the expected mistakes against the worse of the two adversaries."""
    counts = threshold if threshold <= _ALL_COUNTS else _SOME_COUNTS
    mistakes = np.linspace(0, threshold, counts + 1)
    right = np.ones_like(mistakes)
    for confusion, times in confusions.items():
        right *= (1 - false_answer_upper_bound(confusion, rate * mistakes)) ** times
    levels = confusions.total()
    fires = np.exp(-threshold_epsilon * (threshold - mistakes))
    attempts = np.minimum(1 / right, np.maximum(rounds * fires / (2 * levels), 1))
    patient = (levels * mistakes * attempts).max()
    # After everything is learned, a threshold that fires by chance restarts all.
    epochs = (1 + rounds * fires[0] / 2) / right[-1]
    eager = levels * (threshold + 1 / threshold_epsilon) * epochs
    return float(max(patient, eager))


def false_answer_upper_bound(
    confusion: tuple[int, int], evidence: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bound the probability of drawing a false witness when mistakes name only true ones.

    The true witnesses share the mistakes, and their weights sum to the least when they share them
    evenly. The mechanism's own floor on weights is below e**-44.

    Args:
        confusion: How many witnesses can be false, and how many true.
        evidence: The rate times the number of mistakes.
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
    """Plan epochs with more and more votes, the last of which has a proof.

    Args:
        concepts: The number of concepts.
        columns: The logarithm of the number of points that the concepts distinguish.
        rounds: The horizon.
        epsilon: The budget.
        delta: The budget.
        votes: With ``votes`` or ``phases`` there is only one kind of epoch, of that size.
        phases: See ``votes``.
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
    """Return the rho for draws when two mistakes move, and the epsilon left for AboveThreshold.

    If only one mistake moves, the draws cost a quarter of it (recipe.md, step 2).
    """
    rho = ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho
    alone = ZeroConcentrated(rho=rho / 4).epsilon_upper_bound(delta)
    return rho, float_at_most(Fraction(epsilon) - Fraction(alone))


def epoch_plan(*, rho: float, votes: int, phases: int, charge: float, margin: float) -> EpochPlan:
    """Plan an epoch whose draws cost no example more than ``rho``.

    A mistake of phase j meets votes * (phases - j) draws, so its weight may be the inverse root of
    that. A phase lasts until its mistakes, times their rate, reach ``charge``, plus ``margin``
    mistakes for the noise of AboveThreshold.
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
    """Return the epoch with the smallest bound that fails with at most ``LAST_EPOCH_FAILS``."""
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
