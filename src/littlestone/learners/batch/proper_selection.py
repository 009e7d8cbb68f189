"""Private selection of a concept with few errors, and the protocol of proper learners."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np

from littlestone import require
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.losses.loss_runs import LossRuns, losses_on, require_losses
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.theory.outwards import downwards, smallest_size, upwards


def hidden_share_bound(*, seen: float, trials: int, log_events: float) -> float:
    """Return the largest share that may show as at most ``seen`` among ``trials``.

    Sampling with or without replacement shows a share of at most a where the truth is above b > a
    with probability at most exp(-trials * KL(a || b)) [H63, Theorem 1 and Section 6]. The result
    solves trials * KL = ``log_events``; it is 1 if no share is too large.

    Args:
        seen: The observed share a.
        trials: The sample size.
        log_events: ln(number of events / probability that any of them happens).

    >>> round(hidden_share_bound(seen=0.0, trials=1000, log_events=10.0), 4)
    0.01
    """
    require.non_negative(seen=seen, log_events=log_events)
    require.integer(trials=trials, at_least=1)
    wanted = log_events / trials
    low, high = min(seen, 1.0), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if divergence(seen, middle) >= wanted else (middle, high)
    return min(1.0, upwards(high))


def divergence(share: float, other: float) -> float:
    """Return KL(share || other) of two coins, from below; 0 unless ``other`` is larger."""
    if other <= share:
        return 0.0
    if other >= 1:
        return math.inf if share < 1 else 0.0
    heads = share * math.log(share / other) if share > 0 else 0.0
    tails = (1 - share) * math.log((1 - share) / (1 - other))
    return max(0.0, downwards(heads + tails) - 1e-13)


def doubling_share(*, trials: int, log_events: float) -> float:
    """Return the smallest α such that a share that shows as at most α is at most 2α.

    >>> round(doubling_share(trials=1000, log_events=10.0), 3)
    0.031
    """
    low, high = 0.0, 0.5
    if trials * divergence(high, 1.0 - 2.0**-53) < log_events:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        small = trials * divergence(middle, 2 * middle) < log_events
        low, high = (middle, high) if small else (low, middle)
    return upwards(high)


LARGEST_FLIP: Final = 1 << 16
_FLOOR_BITS: Final = 64


class ProperLearner(Protocol):
    """A frozen recipe that learns one concept from a labelled dataset, privately.

    The number of examples is public: neighbouring datasets have the same.
    """

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""

    @property
    def agnostic(self) -> bool:
        """Whether accuracy is promised for all data, or only if some concept fits them."""

    def guarantee(self) -> PrivacyGuarantee:
        """Return the privacy of one call of ``learn``."""

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the learned concept's share of errors beyond the best concept's; 1 if unproved."""

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error probability on a realizable distribution of ``size`` examples."""

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return a number of examples from which the error is as small as wanted."""

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Learn one concept; never raise because of the examples if all are in the domain."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ProperSelection:
    """Choose a concept with few errors by the exponential mechanism, or by permute-and-flip.

    For classes with finitely many concepts. The exponential mechanism never lists thresholds,
    points or intervals, however many there are. Permute-and-flip errs less on average but flips a
    coin for each concept, so it takes small classes only.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    timing (docs/GUARANTEES.md): the number of different points shows
        Proof:      proper_selection.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.randomness import seeded
    >>> learner = ProperSelection(concepts=Thresholds(2**20), epsilon=1.0)
    >>> learner.guarantee(), learner.needed(error=0.1, failure_probability=0.05)
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), 338)
    >>> dataset = [(x * 2**11, int(x >= 200)) for x in range(512)]
    >>> 180 * 2**11 < learner.learn(dataset, rng=seeded(1)).k < 220 * 2**11
    True
    """

    concepts: ConceptClass
    epsilon: float
    selection: Literal["exponential", "permute-and-flip"] = "exponential"
    _mechanism: ExponentialMechanism | PermuteAndFlip = field(init=False, repr=False, compare=False)

    agnostic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        size = require_losses(self.concepts)
        object.__setattr__(self, "_mechanism", self._choose_mechanism(size))

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of the mechanism."""
        return self._mechanism.guarantee()

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the zCDP cost: epsilon**2 / 8, or epsilon**2 / 2 for permute-and-flip."""
        return self._mechanism.zero_concentrated()

    def excess_bound(self, *, failure_probability: float) -> float:
        """Bound the errors of the learned concept beyond the best one's.

        P(excess >= k) <= |H| (exp(-epsilon k / 2) + floor), the half of it for permute-and-flip.
        """
        size = require_losses(self.concepts)
        flips = isinstance(self._mechanism, PermuteAndFlip)
        chance = failure_probability * (2 if flips else 1) / size - 2.0**-self._mechanism.floor_bits
        if chance <= 0:
            return math.inf
        return max(0.0, upwards(-2 * math.log(chance) / self._mechanism.epsilon))

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the share of errors beyond the best concept's."""
        require.integer(size=size, at_least=1)
        return min(1.0, upwards(self.excess_bound(failure_probability=failure_probability) / size))

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error probability: no concept with so few errors hides a larger one."""
        half = failure_probability / 2
        return hidden_share_bound(
            seen=self.error_bound(size=size, failure_probability=half),
            trials=size,
            log_events=math.log(require_losses(self.concepts) / half),
        )

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return the smallest number of examples for which ``error_bound`` is at most ``error``."""
        require.open_probability(error=error, failure_probability=failure_probability)
        return smallest_size(
            lambda size: self.error_bound(size=size, failure_probability=failure_probability), error
        )

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Draw one concept by its errors on the dataset."""
        tally = tallied(self.concepts, dataset)
        runs = losses_on(self.concepts, tally, deepest=self._deepest())  # (L1)
        return runs.concept(self._draw(runs, rng))  # (L2)

    def _draw(self, runs: LossRuns, rng: Randomness) -> int:
        if isinstance(self._mechanism, PermuteAndFlip):
            losses = runs.losses if runs.lengths is None else np.repeat(runs.losses, runs.lengths)
            return self._mechanism.draw(losses, rng=rng)
        [position] = self._mechanism.draw(runs.losses, multiplicities=runs.lengths, rng=rng)
        return position

    def _deepest(self) -> int:
        """Return where the table of weights ends: all larger losses have the same weight."""
        mechanism = self._mechanism
        eta = ExponentialMechanism(epsilon=mechanism.epsilon, floor_bits=mechanism.floor_bits).eta
        return len(weight_table(eta, mechanism.floor_bits).weights)

    def _choose_mechanism(self, size: int) -> ExponentialMechanism | PermuteAndFlip:
        # The floors of all concepts together must stay below any useful probability.
        floor_bits = max(_FLOOR_BITS, size.bit_length() + _FLOOR_BITS // 2)
        if self.selection == "exponential":
            return ExponentialMechanism(epsilon=self.epsilon, floor_bits=floor_bits)
        if self.selection != "permute-and-flip":
            raise ValueError(
                f"selection must be 'exponential' or 'permute-and-flip', "
                f"got selection={self.selection!r}"
            )
        if size > LARGEST_FLIP:
            raise ValueError(
                f"permute-and-flip takes at most {LARGEST_FLIP} concepts, got {size} in "
                f"concepts={self.concepts!r}; the exponential mechanism takes them"
            )
        return PermuteAndFlip(epsilon=self.epsilon, floor_bits=floor_bits)
