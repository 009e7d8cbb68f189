"""Positions drawn by weights that are public by then, from uniform words that were read ahead."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.losses.label_counts import Counts
from littlestone.learners.agnostic_finite.skew_circulant import Floats
from littlestone.randomness import Randomness

_MORE_BITS: Final = 32  # read where 16 do not decide
_ALL: Final = 1 << (16 + _MORE_BITS)  # words there are
_FEWER: Final = _ALL - 16  # so that rounded weights do not add up to more
_FEW: Final = 16  # draws from one row, for which no guide pays
_GUIDE_SHIFT: Final = 9
_LEAST: Final = -700.0


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
        begins += starts(len(rows), count, 1 << 16)
        found, end = _found(ends >> _MORE_BITS, begins, count)
        divided = np.flatnonzero(end == begins)
        if len(divided):
            more = self._rng.words(len(divided)) >> np.uint64(64 - _MORE_BITS)
            words = (begins[divided] << _MORE_BITS) + more.astype(np.int64)
            found[divided] = np.searchsorted(ends, words, side="right")
        found -= starts(len(rows), count, rows.shape[1])
        return found


@lru_cache(maxsize=16)
def starts(rows: int, count: int, width: int) -> Counts:
    """Where each row of a matrix that is laid out in a line begins, ``count`` times each."""
    found = np.repeat(np.arange(rows) * width, count)
    found.flags.writeable = False  # many share it
    return found


def _ends(costs: Floats) -> Counts:
    """How many words choose a position up to each: one row after another, always rising."""
    weights = np.subtract(costs.min(axis=1, keepdims=True), costs)
    # Floats below e**-708 are slow, and add nothing to a sum that words could tell.
    np.maximum(weights, _LEAST, out=weights)
    np.exp(weights, out=weights)
    weights *= _FEWER / weights.sum(axis=1, keepdims=True)
    ends = weights.astype(np.int64)
    np.cumsum(ends, axis=1, out=ends)  # whole numbers: four times as fast as floats
    ends[:, -1] = _ALL
    ends += (np.arange(len(ends)) * _ALL)[:, None]
    flat: Counts = ends.ravel()
    return flat


def _found(ends: Counts, begins: Counts, count: int) -> tuple[Counts, Counts]:
    """For each word, ``count`` in a row: the place of the first end not below it, and that end."""
    if count < _FEW:
        found = np.searchsorted(ends, begins)
        return found, ends[found]
    # A guide: how many ends are below all words with such a beginning.
    here = np.bincount(ends >> _GUIDE_SHIFT)
    firsts = np.cumsum(here)
    firsts -= here
    found = firsts.take(begins >> _GUIDE_SHIFT)
    end = ends.take(found)
    passed = np.flatnonzero(end < begins)
    found[passed] = np.searchsorted(ends, begins[passed])
    end[passed] = ends[found[passed]]
    return found, end
