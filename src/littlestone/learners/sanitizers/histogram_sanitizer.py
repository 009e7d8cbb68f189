"""Sanitize small sets of keys, of any kind, by one private histogram."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.capabilities import FewOnes
from littlestone.concepts.losses.label_counts import split_labels
from littlestone.concepts.protocols import ConceptClass, Domain, Hypothesis, Label
from littlestone.learners.sanitizers.protocols import Examples, Progress, Released, SanitizerRecipe
from littlestone.learners.sanitizers.queries import systematic
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mixed_budget import Receipt
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards

_SHARE_FOR_LABELS = Fraction(1, 8)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramSanitizer(SanitizerRecipe):
    """Release the frequent keys with noisy counts; all others count as absent.

    The keys may come from an unbounded set. With labels the keys are pairs of key and label, and an
    eighth of epsilon goes to the number of ones.

    Privacy:
        Releases:   the frequent keys and their noisy counts, and a noisy number of ones
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): the work grows with the number of distinct keys
        Proof:      histogram_sanitizer.md

    >>> from littlestone.randomness import seeded
    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> recipe = HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6)
    >>> recipe.error_bound(size=10_000, failure_probability=0.05)
    0.0054
    >>> released = recipe.release(["a"] * 6_000 + list(range(4_000)), rng=seeded(1))
    >>> from littlestone.concepts.hypotheses.support import FiniteSupport
    >>> abs(released.estimate(FiniteSupport.on("a")) - 0.6) < 0.0054
    True
    """

    concepts: ConceptClass
    epsilon: float
    delta: float
    labelled: bool = False
    largest_set: int = field(init=False, repr=False, compare=False)
    """The largest number of keys of a concept."""
    _histogram: PrivateHistogram = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        if not isinstance(self.concepts, FewOnes):
            raise ValueError(
                f"concepts must map few keys to 1, like Points and SparseSets, got "
                f"{self.concepts!r}"
            )
        object.__setattr__(self, "largest_set", self.concepts.most_ones)
        require.positive(epsilon=self.epsilon)
        epsilon = Fraction(self.epsilon) * (1 - _SHARE_FOR_LABELS if self.labelled else 1)
        histogram = PrivateHistogram(epsilon=float_at_most(epsilon), delta=self.delta)
        object.__setattr__(self, "_histogram", histogram)

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of the histogram and of the number of ones."""
        ones = (self._ones().guarantee(),) if self.labelled else ()
        return (self._histogram.guarantee(), *ones)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the error of all estimates; without labels it holds with certainty."""
        require.usual(size=size, failure_probability=failure_probability)
        wrong = self.largest_set * self._histogram.error_bound
        if self.labelled:
            ones = self._ones().error_upper_bound(failure_probability=failure_probability)
            return min(1.0, upwards((2 * wrong + ones) / size))
        return min(1.0, wrong / size)

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> "HistogramRelease":
        """Release noisy counts of the frequent keys."""
        size = len(dataset)
        require.integer(size=size, at_least=1)
        keys, ones = self._keys(dataset)
        receipt = Receipt.of(self, size=size, rng=rng)
        counts = self._histogram.release(keys, rng=rng)  # (L1)
        noisy_ones = self._ones().release(ones, rng=rng) if self.labelled else 0  # (L2)
        if progress is not None:
            progress(1)
        return HistogramRelease(
            domain=self.concepts.domain,
            counts=counts,
            size=size,
            ones=min(max(noisy_ones, 0), size) if self.labelled else None,
            largest_error=self._histogram.error_bound,
            receipt=receipt,
        )

    def _keys(self, dataset: Examples) -> tuple[Any, int]:
        check_many = self.concepts.domain.check_many
        if not self.labelled:
            return check_many(dataset), 0
        points, labels = split_labels(dataset)
        checked = check_many(points)
        natives = checked.tolist() if isinstance(checked, np.ndarray) else checked
        return list(zip(natives, labels, strict=True)), sum(labels)

    def _ones(self) -> LaplaceCount:
        return LaplaceCount(epsilon=float_at_most(Fraction(self.epsilon) * _SHARE_FOR_LABELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramRelease(Released):
    """Noisy counts of the frequent keys (pairs of key and label, if ``ones`` is a number)."""

    domain: Domain
    counts: Mapping[Any, int]
    size: int
    ones: int | None
    largest_error: int
    receipt: Receipt

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Estimate from the released keys alone; all others count as mapped to 0."""
        keys = list(self.counts) if self.ones is None else [key for key, _ in self.counts]
        labels = hypothesis.many(keys).tolist() if keys else []
        wrong = self.ones or 0  # (L3)
        for y, (cell, count) in zip(labels, self.counts.items(), strict=True):
            labelled_one = self.ones is not None and cell[1]
            wrong += -y * count if labelled_one else y * count
        return min(max(wrong / self.size, 0.0), 1.0)

    def distribution(self) -> Mapping[Any, float]:
        """Return the released keys and enough filler keys for the rest.

        No filler gets more than an unreleased key may have had.
        """
        heavy = {key: count / self.size for key, count in self.counts.items()}
        if self.ones is None:
            light = self._fillers(self.size - sum(self.counts.values()), None)
        else:
            zeros = sum(count for (_, y), count in self.counts.items() if not y)
            ones = sum(count for (_, y), count in self.counts.items() if y)
            light = self._fillers(self.size - self.ones - zeros, 0)
            light |= self._fillers(self.ones - ones, 1)
        everything = {**heavy, **light}
        total = sum(everything.values())
        return {key: share / total for key, share in everything.items()}

    def dataset(self, size: int, /) -> list[Any]:
        """Return ``size`` synthetic examples of the distribution."""
        require.integer(size=size, at_least=1)
        shares = self.distribution()
        counts = systematic(np.array(list(shares.values())), size).tolist()
        return [key for key, count in zip(shares, counts, strict=True) for _ in range(count)]

    def _fillers(self, rest: int, label: Label | None) -> dict[Any, float]:
        if rest <= 0:
            return {}
        keys = (x if label is None else (x, label) for x in self.domain)
        free = itertools.islice(
            (key for key in keys if key not in self.counts), math.ceil(rest / self.largest_error)
        )
        chosen = list(free)
        return {key: rest / len(chosen) / self.size for key in chosen}
