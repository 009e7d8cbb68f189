"""What is released is a distribution over the cells of a finite domain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.privacy.mixed_budget import Receipt
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.discriminator import Discriminator
from littlestone.sanitizers.queries import FiniteQueries, Floats
from littlestone.sanitizers.recipe import Released
from littlestone.sanitizers.whole_counts import best_rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticDistribution(Released):
    """Public probabilities of the cells, and how the release that made them went."""

    queries: FiniteQueries
    weights: Floats
    size: int
    """How many examples the data had."""
    rounds: int
    """How many times the discriminator was asked."""
    won: bool
    """Whether it ended because no concept was found to differ."""
    discriminator: Discriminator
    receipt: Receipt

    def error_bound(self, *, failure_probability: float) -> float:
        """Known after the release: no estimate is off by more, if the generator has won."""
        require.open_probability(failure_probability=failure_probability)
        if not self.won:
            return 1.0
        accuracy = self.discriminator.accuracy(
            self.queries, size=self.size, failure_probability=failure_probability
        )
        return min(1.0, accuracy.win)

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        share = float(self.queries.indicator(hypothesis) @ self.weights)
        return min(max(share, 0.0), 1.0)

    def estimates(self) -> Floats:
        """The estimates for all concepts, in the order of the class."""
        return np.clip(self.queries.answers(self.weights), 0.0, 1.0)

    def distribution(self) -> Mapping[Any, float]:
        support = np.flatnonzero(self.weights).tolist()
        return {self.queries.cell(place): float(self.weights[place]) for place in support}

    def dataset(self, size: int, /) -> list[Any]:
        """Rounded so that no concept is off by more than a random sample would be."""
        require.integer(size=size, at_least=1)
        counts = best_rounding(self.queries, self.weights, size)
        places = np.repeat(np.arange(len(counts)), counts).tolist()
        return [self.queries.cell(place) for place in places]

    def sample(self, size: int, *, rng: Randomness) -> list[Any]:
        """Independent draws; public post-processing, so floating point does no harm."""
        require.integer(size=size, at_least=1)
        ends = np.cumsum(self.weights)
        darts = rng.below_many(1 << 53, size) * (2.0**-53 * ends[-1])
        places = np.minimum(np.searchsorted(ends, darts, side="right"), len(ends) - 1)
        return [self.queries.cell(place) for place in places.tolist()]
