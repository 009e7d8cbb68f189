"""Turn a sanitizer for H into one for H^label: two relabelled copies and a count of the ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from littlestone import require
from littlestone.concepts.losses.label_counts import split_labels
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.learners.sanitizers.protocols import (
    Costed,
    Examples,
    Progress,
    Released,
    Sanitized,
    Sanitizer,
)
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mixed_budget import Receipt
from littlestone.randomness import Randomness
from littlestone.theory.outwards import smallest_size, upwards


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConversion(Costed):
    """Estimate errors from two releases for H: [P, Lemma convert_label].

    S'_b keeps the points with label b and puts ``anchor`` in place of the others. With n_1 ones
    among n labels, the share of errors of h is

        P(h; S'_0) - P(h; S'_1) + n_1 / n + h(anchor) * (n - 2 n_1) / n.

    The result estimates errors and has no distribution; to get a dataset, use a sanitizer with
    ``labelled=True``.

    Privacy:
        Releases:   the releases for S'_0 and S'_1, and a noisy count of the ones
        Neighbours: labelled datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  twice the sanitizer's, plus ``count_epsilon``
        Assumes:    the sanitizer's guarantee
        Proof:      labels.md
    """

    sanitizer: Sanitizer
    domain: Domain
    anchor: Point
    """Any point of the domain, chosen before the data."""
    count_epsilon: float
    delta: float = 0.0
    """The delta at which concentrated costs are converted; 0 if there are none."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        object.__setattr__(self, "anchor", self.domain.check(self.anchor))
        require.positive(count_epsilon=self.count_epsilon)
        require.probability(delta=self.delta)
        if not self.sanitizer.prefix_conditional:
            raise ValueError(f"sanitizer must be prefix-conditional, got {self.sanitizer!r}")

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of two releases and of the count."""
        return (*self.sanitizer.costs(), *self.sanitizer.costs(), self._count().guarantee())

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return 2α + |n̂_1 − n_1|/n, each part failing with a third of the probability."""
        require.integer(size=size, at_least=1)
        third = failure_probability / 3
        error = self.sanitizer.error_bound(size=size, failure_probability=third)
        count = self._count().error_upper_bound(failure_probability=third)
        return min(1.0, upwards(2 * error + count / size))

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return a number of examples from which the error is as small as wanted."""
        require.open_probability(error=error, failure_probability=failure_probability)
        third = failure_probability / 3
        count = self._count().error_upper_bound(failure_probability=third)
        # A fortieth of the error is left for the count.
        enough = smallest_size(lambda size: count / size, error / 40)
        inner = self.sanitizer.needed(error=0.4875 * error, failure_probability=third)
        return max(enough, inner)

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> "LabelledEstimate":
        """Release both relabelled copies and the noisy count."""
        points, labels = split_labels(dataset)
        points = [self.domain.check(x) for x in points]
        receipt = Receipt.of(self, size=len(points), rng=rng)
        copies = [relabelled(points, labels, label, self.anchor) for label in (0, 1)]  # (L1)
        zeros, ones = (
            self.sanitizer.release(copy, rng=rng, progress=progress)
            for copy in copies  # (L2)
        )
        count = self._count().release(sum(labels), rng=rng)  # (L3)
        share = min(max(count / len(points), 0.0), 1.0)
        return LabelledEstimate(
            zeros=zeros, ones=ones, share=share, anchor=self.anchor, receipt=receipt
        )

    def _count(self) -> LaplaceCount:
        return LaplaceCount(epsilon=self.count_epsilon)


def relabelled(
    points: Sequence[Point], labels: Sequence[Label], label: Label, anchor: Point
) -> list[Point]:
    """Return S'_b: the points labelled b, with the anchor in place of the others."""
    return [x if y == label else anchor for x, y in zip(points, labels, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledEstimate(Released):
    """Estimates of errors; a signed measure, without a distribution behind it."""

    zeros: Sanitized
    ones: Sanitized
    share: float
    """The estimated share of the label 1."""
    anchor: Point
    receipt: Receipt

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Estimate the share of errors of ``hypothesis``."""
        balance = hypothesis(self.anchor) * (1 - 2 * self.share)
        error = self.zeros.estimate(hypothesis) - self.ones.estimate(hypothesis)
        return min(max(error + self.share + balance, 0.0), 1.0)  # (L4)

    def distribution(self) -> Mapping[Any, float]:
        """Raise: there are no synthetic examples."""
        raise ValueError(_NO_DATASET)

    def dataset(self, size: int, /) -> list[Any]:
        """Raise: there are no synthetic examples."""
        raise ValueError(_NO_DATASET)


_NO_DATASET = (
    "a converted sanitizer estimates errors and has no synthetic examples; "
    "use a sanitizer with labelled=True for those"
)
