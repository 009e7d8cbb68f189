"""Algorithm 4: a private learner for data that some concept fits, made agnostic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.losses.label_counts import Tallied, split_labels, tallied
from littlestone.concepts.losses.projection import Projection, project
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.transcendental import exp_upper_bound, ln_upper_bound
from littlestone.proper.deviation import doubling_share, hidden_share_bound
from littlestone.proper.growth import fits_into_memory, log2_growth
from littlestone.proper.proper_selection import ProperLearner
from littlestone.proper.subsampling import Subsampled
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards

_FLOOR: Final = 2.0**-64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticEmpirical:
    """Choose a labelling of a sample that fits all data well, and learn from the relabelled sample.

    [P, Algorithm 4]; ``planned_agnostic`` finds the sample and the budgets for a wanted
    epsilon. On classes that can be listed, ProperSelection needs far fewer examples.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of ``size`` examples that differ in one
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  exact in the share that is sampled, see ``guarantee``; not O(epsilon)
        Assumes:    the learner's guarantee; timing (docs/GUARANTEES.md): the number of labellings
        Proof:      agnostic_empirical.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.proper.proper_selection import ProperSelection
    >>> learner = AgnosticEmpirical(
    ...     learner=ProperSelection(concepts=Thresholds(63), epsilon=1.0),
    ...     size=100_000, sampled=1000, epsilon=0.01)
    >>> round(learner.guarantee().epsilon, 3)
    0.261
    >>> round(learner.error_bound(size=100_000, failure_probability=0.05), 3)
    0.09
    """

    learner: ProperLearner
    """For data that some concept fits; given ``sampled`` examples."""
    size: int
    sampled: int
    epsilon: float
    """Of the exponential mechanism alone."""
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    agnostic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(sampled=self.sampled, at_least=1)
        require.integer(size=self.size, at_least=self.sampled + 1)
        if not fits_into_memory(self.concepts, size=self.size, sampled=self.sampled):
            raise ValueError(
                f"{self.sampled} of {self.size} examples may have too many labellings by "
                f"{self.concepts!r}; sample fewer"
            )
        object.__setattr__(self, "_mechanism", ExponentialMechanism(epsilon=self.epsilon))

    @classmethod
    @require.checked
    def from_pac(cls, learner: ProperLearner, *, draws: int, share: float) -> "AgnosticEmpirical":
        """[P, Lemma pac_to_agnostic]: a PAC learner for ``draws`` examples, with epsilon at most 1.

        Subsampled to an empirical learner, which Algorithm 4 makes agnostic; its exponential
        mechanism has the budget ``share``, as in the paper.
        """
        require.open_probability(share=share)
        inner = Subsampled.planned(learner=learner, draws=draws)
        size = math.ceil(inner.size / share)
        return cls(learner=inner, size=size, sampled=inner.size, epsilon=share)

    @property
    def concepts(self) -> ConceptClass:
        return self.learner.concepts

    @property
    def weight(self) -> int:
        """n/m, rounded up: an error on the sample counts as so many errors on all data."""
        return -(-self.size // self.sampled)

    def guarantee(self) -> PrivacyGuarantee:
        """e^ε = (1 − γ)·e^ε₁ + 4γ·e^(ε₁ + cε₁ + ε_A) and δ = 4γ·e^(ε₁ + cε₁)·δ_A.

        γ = m/n is the share that is sampled, and c = ⌈1/γ⌉.
        """
        inner = self.learner.guarantee()
        share = Fraction(self.sampled, self.size)
        choose = Fraction(self._mechanism.epsilon)
        swapped = 4 * share * exp_upper_bound(choose * (1 + self.weight))
        total = (1 - share) * exp_upper_bound(choose)
        total += swapped * exp_upper_bound(Fraction(inner.epsilon))
        return PrivacyGuarantee.rounded_up(
            epsilon=ln_upper_bound(total), delta=swapped * Fraction(inner.delta)
        )

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Sharper than 5α: what two labellings may hide outside the sample."""
        if size < self.size:
            return 1.0
        return self._accuracy(failure_probability).error_bound()

    def paper_error_bound(self, *, failure_probability: float) -> float:
        """5α, with the smallest α that the proof of [P, Claim empirical_utility] allows."""
        return self._accuracy(failure_probability).paper_error_bound()

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """As for ProperSelection, if the concepts are finitely many; otherwise nothing."""
        if self.concepts.size is None:
            return 1.0
        half = failure_probability / 2
        return hidden_share_bound(
            seen=self.error_bound(size=size, failure_probability=half),
            trials=size,
            log_events=math.log(self.concepts.size / half),
        )

    def needed(self, *, error: float, failure_probability: float) -> int:
        """``size``, if it is enough; the recipe is made for one size."""
        if self.error_bound(size=self.size, failure_probability=failure_probability) > error:
            raise ValueError(f"this recipe for {self.size} examples does not reach error={error!r}")
        return self.size

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        if len(dataset) != self.size:
            raise ValueError(f"dataset must have {self.size} examples, got {len(dataset)}")
        tally = tallied(self.concepts, dataset)
        xs, _ = split_labels(dataset)
        # In random order: the learner must not see where in the data an example stood.
        chosen = rng.permutation(self.size)[: self.sampled].tolist()  # (L1)
        points = [xs[i] for i in chosen]
        sample = tallied(self.concepts, [(x, 0) for x in points])
        labellings = project(self.concepts, sample.points)  # (L2, L3)
        scores = self._scores(tally, sample, labellings)  # (L4)
        [row] = self._mechanism.draw(scores, rng=rng)  # (L5)
        relabelling = labellings.concept(row)
        relabelled = [(x, relabelling(x)) for x in points]  # (L6)
        return self.learner.learn(relabelled, rng=rng)  # (L7)

    def _scores(self, tally: Tallied, sample: Tallied, labellings: Projection) -> NDArray[np.int64]:
        """n q for each labelling of the sample, in whole numbers.

        q is the least, over all concepts f, of the share of the sample on which f disagrees with
        the labelling plus the share of errors of f on all data.
        """
        # Departs from [P, Algorithm 4, L4]: n/m is rounded up, so that scores are whole numbers.
        errors = labellings.fewest_errors(tally)
        # Whole numbers below 2**53: the product in floating point is exact, and fast.
        rows = labellings.labels.astype(np.float64)
        heavy = rows * sample.zeros  # how often each point was sampled
        ones = heavy.sum(axis=1)
        distance = ones[:, None] + ones[None, :] - 2 * (heavy @ rows.T)
        scores: NDArray[np.int64] = (self.weight * distance + errors).min(axis=1).astype(np.int64)
        return scores

    def _accuracy(self, failure_probability: float) -> "Accuracy":
        return Accuracy.of(
            self.learner,
            size=self.size,
            sampled=self.sampled,
            epsilon=self._mechanism.epsilon,
            failure_probability=failure_probability,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The three things that can go wrong, each with a third of the probability."""

    sampled: int
    chosen: float
    """How much the choice of a labelling loses."""
    learned: float
    """How much the learner loses on the sample."""
    log_events: float
    """The pairs of labellings that may differ more than the sample shows, over the chance."""

    @classmethod
    @require.checked
    def of(
        cls,
        learner: ProperLearner,
        *,
        size: int,
        sampled: int,
        epsilon: float,
        failure_probability: float,
    ) -> "Accuracy":
        require.open_probability(failure_probability=failure_probability)
        third = failure_probability / 3
        labellings = 2.0 ** min(1000.0, log2_growth(learner.concepts, sampled))
        chance = third / labellings - _FLOOR
        chosen = -2 * math.log(chance) / (epsilon * size) if chance > 0 else math.inf
        pairs = 2 * log2_growth(learner.concepts, size) * math.log(2)
        return cls(
            sampled=sampled,
            chosen=upwards(chosen),
            learned=learner.error_bound(size=sampled, failure_probability=third),
            log_events=upwards(pairs + math.log(1 / third)),
        )

    def error_bound(self) -> float:
        """up(a) + up(a') of agnostic_empirical.md."""
        if max(self.chosen, self.learned) >= 0.5:
            return 1.0
        hidden = [
            hidden_share_bound(seen=seen, trials=self.sampled, log_events=self.log_events)
            for seen in (self.chosen, self.learned)
        ]
        # Up to 1/2 what is hidden grows faster than what is seen, so the largest one is worst.
        total = sum(hidden) if hidden[0] <= 0.5 else self.chosen + sum(hidden)
        return min(1.0, upwards(total))

    def paper_error_bound(self) -> float:
        """5α for the smallest α that the proof allows."""
        doubling = doubling_share(trials=self.sampled, log_events=self.log_events)
        return min(1.0, upwards(5 * max(self.chosen, self.learned, doubling)))
