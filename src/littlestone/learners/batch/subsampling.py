"""Run a private learner on draws from the data, as an empirical learner, PAC or agnostic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from littlestone import require
from littlestone.concepts.losses.label_counts import split_labels
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.batch.proper_selection import ProperLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.generalization import agnostic_error_upper_bound
from littlestone.theory.outwards import upwards
from littlestone.theory.sanitization import (
    subsampled_delta_upper_bound,
    subsampled_epsilon_upper_bound,
    subsampled_samples_upper_bound,
)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Subsampled:
    """Draw ``draws`` of at least ``size`` examples with replacement for a PAC learner.

    The learner's accuracy on a distribution becomes accuracy on the data themselves [P, Lemma
    pac_empirical]; that of an agnostic learner too, for data that no concept fits.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (ln r, (r - 1) delta / (e^epsilon - 1)), see ``guarantee``
        Assumes:    the learner's guarantee, with epsilon at most 1
        Proof:      subsampling.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.batch.proper_selection import ProperSelection
    >>> inner = ProperSelection(concepts=Thresholds(7), epsilon=0.1)
    >>> learner = Subsampled.planned(learner=inner, draws=4000)
    >>> learner.size, round(learner.guarantee().epsilon, 3)
    (1001, 0.801)
    """

    learner: ProperLearner
    draws: int
    size: int
    agnostic: bool = False
    """Promise accuracy for all data; needs an agnostic learner and more draws."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(draws=self.draws, size=self.size, at_least=1)
        if self.agnostic and not self.learner.agnostic:
            raise ValueError(f"agnostic=True needs an agnostic learner, got {self.learner!r}")
        self.guarantee()  # raises for an epsilon above 1

    @classmethod
    @require.checked
    def planned(cls, *, learner: ProperLearner, draws: int, agnostic: bool = False) -> "Subsampled":
        """Use 2.5 * epsilon * draws examples; the guarantee is (1, 1.23 delta / epsilon)."""
        size = subsampled_samples_upper_bound(samples=draws, epsilon=learner.guarantee().epsilon)
        return cls(learner=learner, draws=draws, size=size, agnostic=agnostic)

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""
        return self.learner.concepts

    def guarantee(self) -> PrivacyGuarantee:
        """Return ln r = n [ln(1 + (e^ε − 1)/m) − ln(1 − (1 − e^−ε)/m)], n draws from m examples."""
        inner, numbers = self.learner.guarantee(), {"samples": self.draws, "size": self.size}
        epsilon = subsampled_epsilon_upper_bound(**numbers, epsilon=inner.epsilon)
        if inner.delta == 0:
            return PrivacyGuarantee(epsilon=epsilon)
        delta = subsampled_delta_upper_bound(**numbers, epsilon=inner.epsilon, delta=inner.delta)
        return PrivacyGuarantee(epsilon=epsilon, delta=min(1.0, delta))

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return the learner's bound on the data's own distribution, whatever their size."""
        require.integer(size=size, at_least=self.size)
        if self.agnostic:
            return agnostic_error_bound(
                self.learner, size=self.draws, failure_probability=failure_probability
            )
        return self.learner.pac_error_bound(
            size=self.draws, failure_probability=failure_probability
        )

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return 1: the data may be too few to say much about their distribution."""
        del size, failure_probability
        return 1.0

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return ``size`` if the draws are enough for the learner.

        Raises:
            ValueError: If they are not.
        """
        if self.error_bound(size=self.size, failure_probability=failure_probability) > error:
            raise ValueError(
                f"no number of examples reaches error={error!r} with {self.draws} draws"
            )
        return self.size

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Learn one concept from draws of the dataset."""
        if len(dataset) < self.size:
            raise ValueError(f"dataset must have at least {self.size} examples, got {len(dataset)}")
        for x in split_labels(dataset)[0]:  # all of them: an error must not reveal which were drawn
            self.concepts.domain.check(x)
        chosen = rng.below_many(len(dataset), self.draws).tolist()  # (L1)
        return self.learner.learn([dataset[i] for i in chosen], rng=rng)  # (L2)


def agnostic_error_bound(learner: ProperLearner, *, size: int, failure_probability: float) -> float:
    """Bound the learned concept's error beyond the best one's, on any distribution.

    Three parts get a third of the probability each: the excess on ``size`` draws, how much more
    than shown any concept errs, and how much more than its error one best concept shows.
    """
    if not learner.agnostic:
        return 1.0
    third = failure_probability / 3
    shown = learner.error_bound(size=size, failure_probability=third)
    hidden = agnostic_error_upper_bound(
        samples=size, vc_dimension=learner.concepts.vc_dimension, failure_probability=third
    )
    if learner.concepts.size is not None:  # Hoeffding, for every concept
        events = math.log(learner.concepts.size / third)
        hidden = min(hidden, math.sqrt(events / (2 * size)))
    unlucky = math.sqrt(math.log(1 / third) / (2 * size))
    return min(1.0, upwards(shown + hidden + unlucky))
