"""Private proper learners: a dataset in, one concept of the class out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np

from littlestone import require
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.losses.loss_runs import LossRuns, losses_on, require_losses
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.noise.integer_weights import weight_table
from littlestone.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.proper.deviation import hidden_share_bound
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards
from littlestone.theory.sample_size import smallest_size

LARGEST_FLIP: Final = 1 << 16
_FLOOR_BITS: Final = 64


class ProperLearner(Protocol):
    """A frozen recipe that learns one concept from a labelled dataset, privately.

    The number of examples is public: neighbouring datasets have the same.
    """

    @property
    def concepts(self) -> ConceptClass: ...

    @property
    def agnostic(self) -> bool:
        """Whether accuracy is promised for all data, or only if some concept fits them."""

    def guarantee(self) -> PrivacyGuarantee: ...

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """The learned concept's share of errors exceeds the best one's by no more.

        1 promises nothing.
        """

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """If some concept fits the distribution that ``size`` examples are drawn from: the
        learned concept's probability of an error there.
        """

    def needed(self, *, error: float, failure_probability: float) -> int:
        """A number of examples from which the error is as small as wanted."""

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """One concept; never refuses because of what the examples are, if all are in the domain."""


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
        return self._mechanism.guarantee()

    def zero_concentrated(self) -> ZeroConcentrated:
        """The cost for zCDP: epsilon**2 / 8, but epsilon**2 / 2 for permute-and-flip."""
        return self._mechanism.zero_concentrated()

    def excess_bound(self, *, failure_probability: float) -> float:
        """How many more errors than the best concept the learned one makes, at most.

        P(excess >= k) <= |H| (exp(-epsilon k / 2) + floor), the half of it for permute-and-flip.
        """
        require.open_probability(failure_probability=failure_probability)
        size = require_losses(self.concepts)
        flips = isinstance(self._mechanism, PermuteAndFlip)
        chance = failure_probability * (2 if flips else 1) / size - 2.0**-self._mechanism.floor_bits
        if chance <= 0:
            return math.inf
        return max(0.0, upwards(-2 * math.log(chance) / self._mechanism.epsilon))

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        require.integer(size=size, at_least=1)
        return min(1.0, upwards(self.excess_bound(failure_probability=failure_probability) / size))

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """No concept that errs so little on the examples hides a larger probability of errors."""
        half = failure_probability / 2
        return hidden_share_bound(
            seen=self.error_bound(size=size, failure_probability=half),
            trials=size,
            log_events=math.log(require_losses(self.concepts) / half),
        )

    def needed(self, *, error: float, failure_probability: float) -> int:
        require.open_probability(error=error, failure_probability=failure_probability)
        return smallest_size(
            lambda size: self.error_bound(size=size, failure_probability=failure_probability), error
        )

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
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
        """Where the table of weights ends: larger losses have one weight anyway."""
        mechanism = self._mechanism
        eta = ExponentialMechanism(epsilon=mechanism.epsilon, floor_bits=mechanism.floor_bits).eta
        return len(weight_table(eta, mechanism.floor_bits).weights)

    def _choose_mechanism(self, size: int) -> ExponentialMechanism | PermuteAndFlip:
        # All concepts together must not weigh more than a chance that nobody asks for.
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
