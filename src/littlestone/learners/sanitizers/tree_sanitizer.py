"""Sanitize classes that rarely change along a line, by noisy counts of a tree of intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.capabilities import OnALine
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.losses.label_counts import Counts, split_labels
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.sanitizers.protocols import Examples, Progress, Released, SanitizerRecipe
from littlestone.learners.sanitizers.queries import Floats, systematic
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mixed_budget import Receipt
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTree:
    """A tree whose nodes below the root are intervals of ``branching`` to some power cells.

    >>> tree = IntervalTree(cells=6, branching=2)
    >>> [counts.tolist() for counts in tree.node_counts(np.array([1, 0, 2, 0, 0, 5]))]
    [[3, 5], [1, 2, 5], [1, 0, 2, 0, 0, 5]]
    """

    cells: int
    branching: int

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(branching=self.branching, at_least=2)

    @property
    def levels(self) -> int:
        """The number of levels below the root."""
        levels, width = 1, self.branching
        while width < self.cells:
            levels, width = levels + 1, width * self.branching
        return levels

    @property
    def widths(self) -> list[int]:
        """The number of cells of a node, by level, from coarse to fine."""
        return [self.branching**power for power in reversed(range(self.levels))]

    def node_counts(self, tally: Counts) -> list[Counts]:
        """Return the counts of the nodes, level by level."""
        return [np.add.reduceat(tally, np.arange(0, self.cells, width)) for width in self.widths]

    def prefixes(self, noisy: list[Counts], *, total: int) -> Floats:
        """Return the cumulative curve at 0 .. cells, from noisy counts and the known total."""
        known = np.array([0.0, total])
        for level, counts in enumerate(noisy):
            values = counts.astype(np.float64)
            if level == 0:  # these sum to the public total
                values += (total - values.sum()) / len(values)
            known = self._refined(known, np.concatenate([[0.0], np.cumsum(values)]))
        return known

    def _refined(self, known: Floats, sums: Floats) -> Floats:
        """Compute the curve at the ends of a level's nodes, from the nearer end of the parent."""
        last = len(sums) - 1
        ends = np.arange(last + 1)
        parent = np.minimum(ends // self.branching, len(known) - 2)
        left = parent * self.branching
        right = np.minimum(left + self.branching, last)
        from_left = known[parent] + sums[ends] - sums[left]
        from_right = known[parent + 1] - (sums[right] - sums[ends])
        refined: Floats = np.where(ends - left <= right - ends, from_left, from_right)
        return refined

    def prefix_error_bound(self, *, rate: float, failure_probability: float) -> float:
        """Bound the error of the curve, with discrete Laplace noise of this rate.

        Chernoff's bound for each value, both sides, with the best exponent of a few hundred.
        """
        exponents, total = _log_moments(self, rate)
        # ``cells`` + 1 values, of which the first and the last are known.
        total = total + math.log(2 * max(self.cells - 1, 1) / failure_probability)
        return upwards(float((total / exponents).min()))


@lru_cache(maxsize=1024)
def _log_moments(tree: IntervalTree, rate: float) -> tuple[Floats, Floats]:
    """Return a few hundred exponents, and the curve's largest log-moment at each."""
    exponents = rate * np.linspace(0.002, 0.98, 490)
    inner = (tree.levels - 1) * (tree.branching // 2) * _log_moment(exponents, rate)
    top = -(-tree.cells // tree.widths[0])
    # The noise of the top level sums to 0, so j and top - j are alike.
    j = np.arange(top // 2 + 1)[:, None]
    share = j / top
    left = j * _log_moment(exponents * (1 - share), rate)
    right = (top - j) * _log_moment(exponents * share, rate)
    return exponents, inner + (left + right).max(axis=0)


def _log_moment(exponents: Floats, rate: float) -> Floats:
    """Return ln E exp(s K) for discrete Laplace K, |s| < rate; even in s."""
    q = math.exp(-rate)
    # (1 - q)**2 / ((1 - q e^s) (1 - q e^-s)) = 1 / (1 - 2 q (cosh s - 1) / (1 - q)**2)
    excess = 2 * q * (np.cosh(exponents) - 1) / (1 - q) ** 2
    moment: Floats = -np.log1p(-excess)
    return moment


_MOST_CELLS = 1 << 22
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 1024)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSanitizer(SanitizerRecipe):
    """Release noisy counts of the nodes of a tree over the range, as a cumulative curve.

    For classes over 0 .. n-1 whose labels change at most a few times from one end to the other.

    Privacy:
        Releases:   a noisy count of every node below the root
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, delta); with delta = 0 as well
        Assumes:    nothing
        Proof:      tree_sanitizer.md

    >>> from littlestone.randomness import seeded
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> recipe = TreeSanitizer(concepts=Thresholds(1024), epsilon=1.0)
    >>> recipe.guarantee(), recipe.branching, recipe.levels
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), 32, 2)
    >>> bound = recipe.error_bound(size=100_000, failure_probability=0.05)
    >>> released = recipe.release([100] * 30_000 + [900] * 70_000, rng=seeded(1))
    >>> rule = next(h for h in Thresholds(1024).concepts() if h(100) == 0)
    >>> bound < 0.0025, abs(released.estimate(rule) - 0.7) <= bound
    (True, True)
    """

    concepts: ConceptClass
    epsilon: float
    delta: float = 0.0
    labelled: bool = False
    branching: int = 0
    """Children of a node; 0 chooses the smallest error bound."""
    points: int = field(init=False, repr=False, compare=False)
    """The number of points."""
    _changes: int = field(init=False, repr=False, compare=False)
    _tree: IntervalTree = field(init=False, repr=False, compare=False)
    _count: LaplaceCount = field(init=False, repr=False, compare=False)
    _pure: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        domain = self.concepts.domain
        if not isinstance(self.concepts, OnALine) or not isinstance(domain, IntegerRange):
            raise ValueError(
                f"concepts must rarely change along 0 .. n-1, like Thresholds and Intervals, got "
                f"{self.concepts!r}"
            )
        require.settle(self, points=domain.n, _changes=self.concepts.most_changes)
        require.positive(epsilon=self.epsilon)
        require.probability(delta=self.delta)
        require.integer(branching=self.branching, at_least=0)
        if self.cells > _MOST_CELLS:
            raise ValueError(
                f"concepts must have at most {_MOST_CELLS} cells, got {self.cells}; "
                f"merge neighbouring points first"
            )
        if self.branching == 0:
            best = _best_branching(self.cells, self.epsilon, self.delta)
            require.settle(self, branching=best)
        tree = IntervalTree(cells=self.cells, branching=self.branching)
        epsilon, pure = _node_epsilon(tree.levels, self.epsilon, self.delta)
        require.settle(self, _tree=tree, _count=LaplaceCount(epsilon=epsilon), _pure=pure)

    @property
    def cells(self) -> int:
        """The number of points, or of pairs of point and label, those with label 0 first."""
        return self.points * (1 + self.labelled)

    @property
    def levels(self) -> int:
        """The number of levels below the root, whose count is the public size."""
        return self._tree.levels

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of all node counts."""
        if self._pure:
            return (PrivacyGuarantee(epsilon=self.epsilon),)
        # A replaced example changes two nodes of each level.
        return (self._count.zero_concentrated().times(2 * self.levels),)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        require.usual(size=size, failure_probability=failure_probability)
        prefix = self._tree.prefix_error_bound(
            rate=self._count.epsilon, failure_probability=failure_probability
        )
        return min(1.0, upwards(self._prefixes() * prefix / size))

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> "CumulativeRelease":
        """Release a noisy count of every node, as a monotone cumulative curve."""
        tally = self._tally(dataset)
        size = len(dataset)
        receipt = Receipt.of(self, size=size, rng=rng)
        noisy = [
            self._count.release_many(counts, rng=rng)  # (L2)
            for counts in self._tree.node_counts(tally)  # (L1)
        ]
        if progress is not None:
            progress(1)
        curve = monotone(self._tree.prefixes(noisy, total=size), total=size)  # (L3, L4)
        return CumulativeRelease(
            points=self.points,
            labelled=self.labelled,
            weights=np.diff(curve) / size,
            receipt=receipt,
        )

    def _tally(self, dataset: Examples) -> Counts:
        require.integer(size=len(dataset), at_least=1)
        if not self.labelled:
            cells = self.concepts.domain.check_many(dataset)
        else:
            points, labels = split_labels(dataset)
            cells = self.concepts.domain.check_many(points)
            cells = cells + np.array(labels, dtype=np.int64) * self.points
        return np.bincount(cells, minlength=self.cells).astype(np.int64)

    def _prefixes(self) -> int:
        """Return how many values of the curve one estimate sums."""
        changes = self._changes
        return 2 * changes + (changes % 2 == 0) if self.labelled else changes


def _node_epsilon(levels: int, epsilon: float, delta: float) -> tuple[float, bool]:
    """Return the budget of a node by the better of plain and zCDP accounting."""
    plain = float_at_most(Fraction(epsilon) / (2 * levels))
    if delta == 0:
        return plain, True
    rho = Fraction(ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho)
    width = math.sqrt(rho / levels)
    # Each of 2 * levels nodes costs width**2 / 2.
    while ZeroConcentrated.from_pure(width).times(2 * levels).rho > rho:
        width = math.nextafter(width, 0.0)
    return (width, False) if width > plain else (plain, True)


@lru_cache(maxsize=1024)
def _best_branching(cells: int, epsilon: float, delta: float) -> int:
    """Choose the branching; cached, as stream planners ask for the same tree at every level."""

    def error(branching: int) -> float:
        tree = IntervalTree(cells=cells, branching=branching)
        rate = _node_epsilon(tree.levels, epsilon, delta)[0]
        return tree.prefix_error_bound(rate=rate, failure_probability=0.05)

    return min((b for b in _BRANCHINGS if b <= max(2, cells)), key=error)


def monotone(curve: Floats, *, total: int) -> Floats:
    """Make the curve rise from 0 to the total.

    Each value becomes the midpoint of the largest value so far and the smallest to come; if the
    true curve rises, the largest error does not grow.

    >>> monotone(np.array([0.0, 3.0, 1.0, 4.0]), total=4).tolist()
    [0.0, 2.0, 2.0, 4.0]
    """
    cut = np.clip(curve, 0, total)
    risen = np.maximum.accumulate(cut)
    falling = np.minimum.accumulate(cut[::-1])[::-1]
    return (risen + falling) / 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CumulativeRelease(Released):
    """A released distribution on the range: differences of a cumulative curve."""

    points: int
    labelled: bool
    weights: Floats
    receipt: Receipt

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        """Estimate the share of the data that ``hypothesis`` maps to 1 (labels wrongly)."""
        ones = hypothesis.many(np.arange(self.points)).astype(np.float64)
        row = np.concatenate([ones, 1 - ones]) if self.labelled else ones
        return min(max(float(row @ self.weights), 0.0), 1.0)

    def distribution(self) -> Mapping[Any, float]:
        """Return the cells of positive weight with their probabilities."""
        support = np.flatnonzero(self.weights).tolist()
        return {self._cell(place): float(self.weights[place]) for place in support}

    def dataset(self, size: int, /) -> list[Any]:
        """Return ``size`` synthetic examples at the quantiles."""
        require.integer(size=size, at_least=1)
        counts = systematic(self.weights, size)
        places = np.repeat(np.arange(len(counts)), counts).tolist()
        return [self._cell(place) for place in places]

    def _cell(self, place: int) -> Any:
        return (place % self.points, place // self.points) if self.labelled else place
