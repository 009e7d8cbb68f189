"""Algorithm 4: make a private learner for realizable data agnostic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Projecting
from littlestone.concepts.losses.label_counts import Tallied, split_labels, tallied
from littlestone.concepts.losses.loss_runs import Projection, project
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.batch.proper_selection import (
    ProperLearner,
    ProperSelection,
    doubling_share,
    hidden_share_bound,
)
from littlestone.learners.batch.subsampling import Subsampled
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.rounding import exp_upper_bound, ln_upper_bound
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards

_MOST_ROWS: Final = 1 << 13
_LARGEST_TABLE: Final = 1 << 27


def log2_growth(concepts: ConceptClass, points: int) -> float:
    """Bound log2 of the number of labellings of ``points`` points."""
    size, vc = concepts.size, concepts.vc_dimension
    listed = math.inf if size is None else math.log2(size)
    sauer = float(points) if points <= vc else vc * math.log2(math.e * points / vc)
    return upwards(min(listed, sauer)) if vc else 0.0


def fits_into_memory(concepts: ConceptClass, *, size: int, sampled: int) -> bool:
    """Return whether the labellings of any ``sampled`` of ``size`` examples can be listed."""
    if 2 ** min(64.0, log2_growth(concepts, sampled)) > _MOST_ROWS:
        return False
    if isinstance(concepts, Projecting):
        return True
    points = size if concepts.domain.size is None else min(size, concepts.domain.size)
    return 2 ** min(64.0, log2_growth(concepts, points)) * points <= _LARGEST_TABLE


_FLOOR: Final = 2.0**-64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticEmpirical:
    """Choose a labelling of a sample that fits all data well; learn from the relabelled sample.

    [P, Algorithm 4]; ``planned_agnostic`` finds sample and budgets for a wanted epsilon. On classes
    that can be listed, ProperSelection needs far fewer examples.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of ``size`` examples that differ in one
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  exact in the share that is sampled, see ``guarantee``; not O(epsilon)
        Assumes:    the learner's guarantee; timing (docs/GUARANTEES.md): the number of labellings
        Proof:      agnostic_empirical.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.batch.proper_selection import ProperSelection
    >>> learner = AgnosticEmpirical(
    ...     learner=ProperSelection(concepts=Thresholds(63), epsilon=1.0),
    ...     size=100_000, sampled=1000, epsilon=0.01)
    >>> round(learner.guarantee().epsilon, 3)
    0.261
    >>> round(learner.error_bound(size=100_000, failure_probability=0.05), 3)
    0.09
    """

    learner: ProperLearner
    """The learner for realizable data; it gets ``sampled`` examples."""
    size: int
    sampled: int
    epsilon: float
    """The budget of the exponential mechanism alone."""
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
        """Make a PAC learner for ``draws`` examples agnostic: [P, Lemma pac_to_agnostic].

        The learner, with epsilon at most 1, is subsampled to an empirical learner, which Algorithm
        4 makes agnostic. As in the paper, its exponential mechanism has the budget ``share``.
        """
        require.open_probability(share=share)
        inner = Subsampled.planned(learner=learner, draws=draws)
        size = math.ceil(inner.size / share)
        return cls(learner=inner, size=size, sampled=inner.size, epsilon=share)

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""
        return self.learner.concepts

    @property
    def weight(self) -> int:
        """n/m, rounded up: how many errors on all data one error on the sample counts as."""
        return -(-self.size // self.sampled)

    def guarantee(self) -> PrivacyGuarantee:
        """Return e^ε = (1 − γ)·e^ε₁ + 4γ·e^(ε₁ + cε₁ + ε_A) and δ = 4γ·e^(ε₁ + cε₁)·δ_A.

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
        """Bound the error beyond the best concept's; sharper than ``paper_error_bound``."""
        if size < self.size:
            return 1.0
        return self._accuracy(failure_probability).error_bound()

    def paper_error_bound(self, *, failure_probability: float) -> float:
        """Return 5α, with the smallest α that the proof of [P, Claim empirical_utility] allows."""
        return self._accuracy(failure_probability).paper_error_bound()

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error on the distribution; 1 for infinitely many concepts."""
        if self.concepts.size is None:
            return 1.0
        half = failure_probability / 2
        return hidden_share_bound(
            seen=self.error_bound(size=size, failure_probability=half),
            trials=size,
            log_events=math.log(self.concepts.size / half),
        )

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return ``size`` if it reaches the error, for which the recipe is made.

        Raises:
            ValueError: If it does not.
        """
        if self.error_bound(size=self.size, failure_probability=failure_probability) > error:
            raise ValueError(f"this recipe for {self.size} examples does not reach error={error!r}")
        return self.size

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Learn one concept from exactly ``size`` labelled examples."""
        if len(dataset) != self.size:
            raise ValueError(f"dataset must have {self.size} examples, got {len(dataset)}")
        tally = tallied(self.concepts, dataset)
        xs, _ = split_labels(dataset)
        # In random order, so that the learner does not see the positions of examples.
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
        """Return n q for each labelling of the sample, in whole numbers.

        q is the minimum over all concepts f of the share of the sample on which f disagrees with
        the labelling plus the share of errors of f on all data.
        """
        # Departs from [P, Algorithm 4, L4]: n/m is rounded up, so that scores are whole numbers.
        errors = labellings.fewest_errors(tally)
        # Whole numbers below 2**53: the floating-point product is exact, and fast.
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
    """The three sources of error, each with a third of the failure probability."""

    sampled: int
    chosen: float
    """The error of choosing a labelling."""
    learned: float
    """The learner's error on the sample."""
    log_events: float
    """ln(pairs of labellings / probability that one differs more than the sample shows)."""

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
        """Compute the three for a learner, a sample and a budget."""
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
        """Return up(a) + up(a') of agnostic_empirical.md."""
        if max(self.chosen, self.learned) >= 0.5:
            return 1.0
        hidden = [
            hidden_share_bound(seen=seen, trials=self.sampled, log_events=self.log_events)
            for seen in (self.chosen, self.learned)
        ]
        # Up to 1/2 the hidden part grows faster than the seen part, so the largest is worst.
        total = sum(hidden) if hidden[0] <= 0.5 else self.chosen + sum(hidden)
        return min(1.0, upwards(total))

    def paper_error_bound(self) -> float:
        """Return 5α for the smallest α that the proof allows."""
        doubling = doubling_share(trials=self.sampled, log_events=self.log_events)
        return min(1.0, upwards(5 * max(self.chosen, self.learned, doubling)))


_FACTORS: Final = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_INNER: Final = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# With choice c, swapping a sampled example may change a weight by e^(c / 2).
_CHOICES: Final = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)


def planned_agnostic(
    *, concepts: ConceptClass, size: int, epsilon: float, failure_probability: float = 0.05
) -> AgnosticEmpirical:
    """Plan Algorithm 4 around ProperSelection with the smallest error bound for this epsilon.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = planned_agnostic(concepts=Thresholds(63), size=100_000, epsilon=1.0)
    >>> learner.guarantee().epsilon <= 1, learner.sampled
    (True, 25000)
    """
    require.integer(size=size, at_least=4)
    require.positive(epsilon=epsilon)
    found: list[tuple[float, int, float, float]] = []
    for factor, inner, choice in product(_FACTORS, _INNER, _CHOICES):
        if factor > size or spent(1 / factor, choice / factor, inner) > epsilon:
            continue
        if fits_into_memory(concepts, size=size, sampled=size // factor):
            accuracy = Accuracy.of(
                ProperSelection(concepts=concepts, epsilon=inner),
                size=size,
                sampled=size // factor,
                epsilon=choice / factor,
                failure_probability=failure_probability,
            )
            found.append((accuracy.error_bound(), factor, inner, choice))
    for _, factor, inner, choice in sorted(found):
        recipe = AgnosticEmpirical(
            learner=ProperSelection(concepts=concepts, epsilon=inner),
            size=size,
            sampled=size // factor,
            epsilon=choice / factor,
        )
        # A factor that does not divide the size costs more than ``spent`` says.
        if recipe.guarantee().epsilon <= epsilon:
            return recipe
    raise ValueError(
        f"epsilon={epsilon!r} is too small for Algorithm 4 on {size} examples: it spends more "
        f"than its budgets (docs/ERRATA.md, S7); use ProperSelection"
    )


def spent(share: float, choose: float, inner: float) -> float:
    """Approximate the ε of Algorithm 4; ``AgnosticEmpirical.guarantee`` is exact."""
    swapped = 4 * share * math.exp(choose * (1 + math.ceil(1 / share)) + inner)
    return upwards(math.log((1 - share) * math.exp(choose) + swapped))
