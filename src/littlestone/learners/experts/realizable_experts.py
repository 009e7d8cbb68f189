"""For streams with a faultless expert: draw again only when AboveThreshold notices losses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from littlestone import require
from littlestone.learners.experts.run import Drawing, DrawingRecipe, zcdp_budget
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
)
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness
from littlestone.theory.outwards import downwards, upwards
from littlestone.theory.tails import binomial_lower_tail

# With a patience of 3 / rate, a phase halves the weights with at least this probability.
_PATIENCE = 3
_HALVING = downwards(1 - 0.5 / -math.expm1(-_PATIENCE))
_SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class RealizableExperts(DrawingRecipe):
    """Play one expert until a sparse vector notices its losses, then draw by exponential weights.

    For streams in which some expert errs at most ``best_loss`` times (zero by default), after
    [AFKT23]. Losses are 0 or 1. If no expert is that good, privacy still holds and the expert of
    the last phase is kept.

    Privacy:
        Releases:   the expert of every round, and when it was drawn anew
        Neighbours: streams in which the losses of one round differ
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): a round with a loss takes longer
        Proof:      realizable_experts.md

    Loss: O(log(N)^(3/2) sqrt(log(1/delta)) / epsilon + log(N) log(T) / epsilon), against oblivious
    adversaries; ``loss_bound`` is the exact number.

    >>> recipe = RealizableExperts(experts=100, rounds=10**5, epsilon=1.0, delta=1e-6)
    >>> recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    """

    epsilon: float
    delta: float
    best_loss: int = 0
    failure_probability: float = 0.05
    phases: int = field(init=False)
    rate: float = field(init=False)
    monitor: CountAboveThreshold = field(init=False)

    loss_scale: ClassVar[int] = 1
    oblivious_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_sizes()
        require.integer(best_loss=self.best_loss, at_least=0, at_most=self.rounds)
        share = min(_SHARES, key=self._loss_for)
        phases, rate, watching = self._divided(share)
        threshold = math.ceil(upwards(_PATIENCE / rate)) + math.ceil(
            _early(self.rounds, watching, self.failure_probability / 4)
        )
        monitor = CountAboveThreshold(epsilon=watching, threshold=threshold)
        drawing = self._drawing(rate)
        require.settle(self, phases=phases, rate=rate, monitor=monitor, _selection=drawing)
        require.settle(self, _guarantee=self._cost())

    def _divided(self, share: float) -> tuple[int, float, float]:
        """Return phases, rate and the watch's epsilon if it gets this share of the budget."""
        watching = float_at_most(Fraction(share) * Fraction(self.epsilon))
        drawing = float_at_most(Fraction(self.epsilon) - Fraction(watching))
        budget = Fraction(zcdp_budget(drawing, float(self.delta)))
        phases = 1
        while True:
            rate = downwards(math.sqrt(2 * budget / max(1, phases - 1)))
            needed = self._phases_for(rate)
            if needed <= phases:
                return phases, rate, watching
            phases = needed if self.best_loss == 0 else phases + 1

    def _phases_for(self, rate: float) -> int:
        """Return the fewest phases that succeed more often than the weights can be halved."""
        halvings = math.floor(
            upwards(math.log2(self.experts) + rate * self.best_loss / math.log(2))
        )
        phases = halvings + 1
        while (
            upwards(binomial_lower_tail(halvings, phases, _HALVING)) > self.failure_probability / 2
        ):
            phases += 1
        return phases

    def _loss_for(self, share: float) -> float:
        phases, rate, watching = self._divided(share)
        early = _early(self.rounds, watching, self.failure_probability / 4)
        late = _early(phases, watching, self.failure_probability / 4)
        return phases * (math.ceil(_PATIENCE / rate) + math.ceil(early) + late + 1)

    def _cost(self) -> PrivacyGuarantee:
        """Return the cost of all draws and, as its instances see disjoint rounds, one watch."""
        draws = self._selection.zero_concentrated().times(self.phases - 1)
        return PrivacyGuarantee.rounded_up(
            epsilon=Fraction(self.monitor.epsilon)
            + Fraction(draws.epsilon_upper_bound(self.delta)),
            delta=self.delta,
        )

    def loss_bound(self) -> float:
        """Bound the loss if some expert is good enough, except with ``failure_probability``."""
        late = self.monitor.late_error_bound(
            instances=self.phases, failure_probability=self.failure_probability / 4
        )
        return upwards(self.phases * (self.monitor.threshold + late + 1))

    def expected_regret_bound(self) -> float:
        """Bound the expected regret; a small ``failure_probability`` makes it small."""
        return upwards(min(self.loss_bound() + self.failure_probability * self.rounds, self.rounds))

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Return 0 if the probability suffices for ``loss_bound``, else all rounds."""
        return 0.0 if failure_probability >= self.failure_probability else float(self.rounds)

    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> "RealizableStrategy":
        """Return the strategy that plays in phases."""
        return RealizableStrategy(self, drawing, rng)


@dataclass(init=False, eq=False, repr=False)
class RealizableStrategy:
    """One expert and one AboveThreshold for each phase."""

    _phase: int
    expert: int
    _watch: CountAboveThresholdRun
    _drawing: Drawing

    def __init__(self, recipe: RealizableExperts, drawing: Drawing, rng: Randomness) -> None:
        self._recipe, self._drawing, self._rng = recipe, drawing, rng
        self._fired = False

    def begin(self) -> None:
        """Draw the first expert and start watching it."""
        self._phase = 1
        self.expert = self._drawing.draw()  # (L1)
        self._watch = self._recipe.monitor.start(rng=self._rng)  # (L2)

    @property
    def status(self) -> str:
        """``learning``, or that the last phase is over."""
        if self._phase == self._recipe.phases and self._watch.halted:
            return "halted: the last phase is over"
        return "learning"

    def take(self, own: Sequence[int], /) -> int:
        """Take rounds until the phase ends; return how many."""
        count = len(own)
        if not self._watch.halted:
            fired = self._watch.observe_block(np.flatnonzero(np.asarray(own)), count)  # (L3)
            self._fired = fired is not None
            count = count if fired is None else fired + 1
        self._drawing.passed(count)
        return count

    def settle(self) -> None:
        """Start the next phase if this one has ended."""
        if not self._fired:
            return
        self._fired = False
        if self._phase < self._recipe.phases:  # (L5)
            self._phase += 1
            self.expert = self._drawing.draw()  # (L4)
            self._watch = self._recipe.monitor.start(rng=self._rng)


def _early(rounds: int, epsilon: float, failure_probability: float) -> float:
    """Bound geometric noise of this epsilon in ``rounds`` draws."""
    return upwards(math.log(rounds / failure_probability) / epsilon)
