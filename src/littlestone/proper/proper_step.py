"""From a public function that behaves like a concept to a concept, privately."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.protocols import Hypothesis
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.online.critical_game import minimax
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


@dataclass(frozen=True, slots=True, kw_only=True)
class ProperStep:
    """Concepts close to a public function on every point, of which the best on the data is taken.

    If the function behaves like some concept on any few points, a distribution over the concepts is
    close to it everywhere (a zero-sum game, solved by a linear program). A few draws from it
    contain a concept that is close on the data; the exponential mechanism chooses among them.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the function may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    nothing
        Proof:      proper_step.md
    """

    concepts: FiniteClass
    epsilon: float
    failure_probability: float
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        object.__setattr__(self, "_mechanism", ExponentialMechanism(epsilon=self.epsilon))

    @property
    def proposals(self) -> int:
        """K: all draws are too far away with half of the failure probability at most."""
        return proposals_for(self.failure_probability)

    def guarantee(self) -> PrivacyGuarantee:
        return self._mechanism.guarantee()

    def distribution(self, function: bytes) -> NDArray[np.float64]:
        """Public: over the concepts, as close to the function on the worst point as possible."""
        wrong = self.concepts.matrix != np.frombuffer(function, dtype=np.uint8)
        same = np.flatnonzero(~wrong.any(axis=1))
        if len(same):  # the function is a concept
            alone: NDArray[np.float64] = (np.arange(self.concepts.size) == same[0]) * 1.0
            return alone
        return minimax(wrong.astype(np.float64))  # (L1)

    def gap(self, function: bytes) -> float:
        """How far the distribution is from the function on the worst point."""
        wrong = self.concepts.matrix != np.frombuffer(function, dtype=np.uint8)
        return float((self.distribution(function) @ wrong).max())

    def choose(self, function: bytes, tally: Tallied, *, rng: Randomness) -> Hypothesis:
        """A concept that errs on the data little more than the function does."""
        weights = self.distribution(function)
        proposed = self._propose(weights, rng)  # (L2)
        rows = self.concepts.matrix[proposed][:, tally.points].astype(np.int64)
        losses = tally.ones.sum() + rows @ (tally.zeros - tally.ones)
        [place] = self._mechanism.draw(losses, rng=rng)  # (L3)
        return TableHypothesis(self.concepts.matrix[proposed[place]].tobytes())

    def _propose(self, weights: NDArray[np.float64], rng: Randomness) -> NDArray[np.int64]:
        """In floating point, as everything here is public."""
        ends = np.cumsum(weights)
        darts = rng.below_many(1 << 53, self.proposals) * (2.0**-53 * ends[-1])
        places = np.searchsorted(ends, darts, side="right")
        proposed: NDArray[np.int64] = np.minimum(places, np.flatnonzero(weights)[-1])
        return proposed


def irreducible_gap_bound(*, reach: int, log2_growth: float) -> float:
    """The game's value for the labels of a ``reach``-irreducible part: γ_q of proper_step.md.

    ``log2_growth`` bounds log2 of the number of labellings of 2 * reach points.
    """
    require.integer(reach=reach, at_least=1)
    require.non_negative(log2_growth=log2_growth)
    return min(1.0, upwards(2 * max(4.0, 1 + log2_growth) / reach))


def proposals_for(failure_probability: float) -> int:
    """⌈log₂(2/β)⌉."""
    require.open_probability(failure_probability=failure_probability)
    return math.ceil(math.log2(2 / failure_probability))


def step_excess_bound(
    *, epsilon: float, size: int, gap: float, failure_probability: float
) -> float:
    """The share of errors beyond the function's, if the game has at most the value ``gap``."""
    require.usual(epsilon=epsilon, size=size)
    odds = 2 * proposals_for(failure_probability) / failure_probability
    return upwards(2 * gap + 2 * math.log(odds + 1) / (epsilon * size))
