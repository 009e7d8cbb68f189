"""Positions drawn by weights that are public by then, from uniform words that were read ahead."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.losses.label_counts import Counts
from littlestone.learners.agnostic_finite.skew_circulant import Floats
from littlestone.randomness import Randomness

_MORE_BITS: Final = 32  # read where 16 do not decide
_ALL: Final = 1 << (16 + _MORE_BITS)  # words there are
_FEW: Final = 16  # draws from one row, for which no guide pays
_GUIDE_SHIFT: Final = 9


@dataclass(init=False, eq=False, repr=False)
class FreshDraws:
    """Whole numbers from floats may weigh here: a draw is a function of released numbers and coins.

    Short words are read ahead for whole eras of rounds, so that single rounds and blocks use the
    same; more of a word is read where it begins like the end of a position.
    """

    _words: NDArray[np.uint16]
    _used: int

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng

    def read_ahead(self, count: int) -> None:
        """The words of the coming ``count`` draws; those that are left over are dropped."""
        self._words, self._used = self._rng.short_words(count), 0

    def draw(self, costs: Floats, count: int) -> Counts:
        """For each row of costs ``count`` positions, i with probability exp(-cost of i) / sum."""
        rows = np.atleast_2d(costs)
        ends = _ends(rows)
        short = self._words[self._used : self._used + len(rows) * count]
        self._used += len(short)
        begins = short.astype(np.int64)
        if len(rows) > 1:
            begins += np.repeat(np.arange(len(rows)) * (1 << 16), count)
        found = _found(ends >> _MORE_BITS, begins, count)
        divided = np.flatnonzero(ends[found] >> _MORE_BITS == begins)
        if len(divided):
            more = self._rng.words(len(divided)) >> np.uint64(64 - _MORE_BITS)
            words = (begins[divided] << _MORE_BITS) + more.astype(np.int64)
            found[divided] = np.searchsorted(ends, words, side="right")
        if len(rows) > 1:
            found -= np.repeat(np.arange(len(rows)) * rows.shape[1], count)
        return found


def _ends(costs: Floats) -> Counts:
    """How many words choose a position up to each: one row after another, always rising."""
    weights = np.subtract(costs.min(axis=1, keepdims=True), costs)
    np.cumsum(np.exp(weights, out=weights), axis=1, out=weights)
    weights *= _ALL / weights[:, -1:]
    ends = weights.astype(np.int64)
    ends[:, -1] = _ALL
    ends += (np.arange(len(ends)) * _ALL)[:, None]
    flat: Counts = ends.ravel()
    return flat


def _found(ends: Counts, begins: Counts, count: int) -> Counts:
    """The first end that is not below each word, ``count`` of them for each row."""
    if count < _FEW:
        return np.searchsorted(ends, begins)
    # A guide: how many ends are below all words with such a beginning.
    here = np.bincount(ends >> _GUIDE_SHIFT)
    firsts = np.cumsum(here)
    firsts -= here
    found: Counts = firsts[begins >> _GUIDE_SHIFT]
    passed = np.flatnonzero(ends[found] < begins)
    found[passed] = np.searchsorted(ends, begins[passed])
    return found
