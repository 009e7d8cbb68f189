"""A tree of intervals counts cells, and turns noisy counts into cumulative curves."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from littlestone import require
from littlestone.sanitizers.queries import Counts, Floats
from littlestone.theory.outwards import upwards


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTree:
    """Every node below the root is an interval of ``branching`` to some power cells.

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
        """The levels below the root, from coarse to fine."""
        levels, width = 1, self.branching
        while width < self.cells:
            levels, width = levels + 1, width * self.branching
        return levels

    @property
    def widths(self) -> list[int]:
        """How many cells a node of each level has."""
        return [self.branching**power for power in reversed(range(self.levels))]

    def node_counts(self, tally: Counts) -> list[Counts]:
        """The counts of the nodes, level by level."""
        return [np.add.reduceat(tally, np.arange(0, self.cells, width)) for width in self.widths]

    def prefixes(self, noisy: list[Counts], *, total: int) -> Floats:
        """The cumulative curve at 0 .. cells, from noisy counts and the known total."""
        known = np.array([0.0, total])
        for level, counts in enumerate(noisy):
            values = counts.astype(np.float64)
            if level == 0:  # these add up to the total, which is public
                values += (total - values.sum()) / len(values)
            known = self._refined(known, np.concatenate([[0.0], np.cumsum(values)]))
        return known

    def _refined(self, known: Floats, sums: Floats) -> Floats:
        """The curve at the ends of a level's nodes: from the nearer end of their parent."""
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
        """No value of the curve is off by more, with discrete Laplace noise of this rate.

        Chernoff's bound for each value, both sides, with the best exponent of a few hundred.
        """
        exponents, total = _log_moments(self, rate)
        # ``cells`` + 1 values, of which the first and the last are known.
        total = total + math.log(2 * max(self.cells - 1, 1) / failure_probability)
        return upwards(float((total / exponents).min()))


@lru_cache(maxsize=1024)
def _log_moments(tree: IntervalTree, rate: float) -> tuple[Floats, Floats]:
    """For a few hundred exponents, those of the curve's noise where it is worst."""
    exponents = rate * np.linspace(0.002, 0.98, 490)
    inner = (tree.levels - 1) * (tree.branching // 2) * _log_moment(exponents, rate)
    top = -(-tree.cells // tree.widths[0])
    # The noise of the top level was made to add up to 0; j and top - j are alike.
    j = np.arange(top // 2 + 1)[:, None]
    share = j / top
    left = j * _log_moment(exponents * (1 - share), rate)
    right = (top - j) * _log_moment(exponents * share, rate)
    return exponents, inner + (left + right).max(axis=0)


def _log_moment(exponents: Floats, rate: float) -> Floats:
    """ln E exp(s K) for discrete Laplace K, |s| < rate; even in s."""
    q = math.exp(-rate)
    # (1 - q)**2 / ((1 - q e^s) (1 - q e^-s)) = 1 / (1 - 2 q (cosh s - 1) / (1 - q)**2)
    excess = 2 * q * (np.cosh(exponents) - 1) / (1 - q) ** 2
    moment: Floats = -np.log1p(-excess)
    return moment
