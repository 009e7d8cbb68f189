"""Positions drawn by weights that are public by then, from uniform words that were read ahead."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.losses.label_counts import Counts
from littlestone.learners.agnostic_finite.skew_circulant import Floats
from littlestone.randomness import Randomness


@dataclass(init=False, eq=False, repr=False)
class FreshDraws:
    """Floats may weigh here: a draw is a function of released numbers and of fresh words.

    Words are read ahead for whole eras of rounds, so that single rounds and blocks use the same.
    """

    _words: NDArray[np.uint64]
    _used: int

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng

    def read_ahead(self, count: int) -> None:
        """The words of the coming ``count`` draws; those that are left over are dropped."""
        self._words, self._used = self._rng.words(count), 0

    def draw(self, costs: Floats, count: int) -> Counts:
        """For each row of costs ``count`` positions, i with probability exp(-cost of i) / sum."""
        rows = np.atleast_2d(costs)
        sums = np.cumsum(np.exp(rows.min(axis=1, keepdims=True) - rows), axis=1)
        heights = self._heights(len(rows) * count).reshape(len(rows), count) * sums[:, -1:]
        if len(rows) == 1:
            chosen: Counts = np.searchsorted(sums[0], heights[0], side="right")
            return chosen
        # Row after row on one axis, so that one search finds all.
        starts = np.concatenate([[0.0], np.cumsum(sums[:-1, -1])])[:, None]
        found = np.searchsorted((sums + starts).ravel(), (heights + starts).ravel(), side="right")
        width = rows.shape[1]
        places = found.reshape(len(rows), count) - np.arange(len(rows))[:, None] * width
        chosen = np.clip(places, 0, width - 1).ravel()  # rounding may cross a row's border
        return chosen

    def _heights(self, count: int) -> Floats:
        """Uniform in [0, 1)."""
        words = self._words[self._used : self._used + count]
        self._used += count
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
