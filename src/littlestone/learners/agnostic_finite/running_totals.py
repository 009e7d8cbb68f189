"""Noisy running totals of a sequence of vectors: noise that is independent, or cancels in sums.

Correlated noise: batches are counted in base m. After batch n the lowest digit of n that is not 0
says which level answers: its newest term is the sum of all batches since it last answered, and the
answer is sum_k w_k * (its term k places ago) + noise, w being whole weights near those of the
square root of summation, C(2k, k) / 4**k [FHU23]. The levels' totals add up to that of all
batches, so that few vectors are remembered, however many batches there are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from littlestone.concepts.losses.label_counts import Counts
from littlestone.learners.agnostic_finite.skew_circulant import Floats, product

_SCALE: Final = 64
"""Weights are whole multiples of its reciprocal."""


@dataclass(frozen=True, slots=True, eq=False)
class TimeWeights:
    """The whole weights w_0 >= w_1 >= … of a level with so many terms."""

    squared_norm: int
    mix: Floats
    """Row b: what the terms up to b count in answer b."""
    unmix: Floats
    """Row b: what the answers up to b count in the total of the terms up to b."""
    errors: Floats
    """At b: the squared norm of what the noise counts in a total of b terms."""


@lru_cache(maxsize=32)
def time_weights(epoch: int) -> TimeWeights:
    """For epochs of ``epoch`` terms; the sum of all of them is the next level's to answer."""
    terms = max(1, epoch - 1)
    steps = np.arange(1, terms)
    exact = np.cumprod(np.append(1.0, (2 * steps - 1) / (2 * steps)))
    weights = np.rint(_SCALE * exact) if epoch > 1 else exact
    noise = np.cumsum(_reciprocal(weights))
    return TimeWeights(
        squared_norm=int((weights**2).sum()),
        mix=_lower_toeplitz(weights),
        unmix=_lower_toeplitz(noise),
        errors=np.append(0.0, np.cumsum(noise**2)),
    )


def _lower_toeplitz(column: Floats) -> Floats:
    places = np.arange(len(column))
    return np.tril(column[places[:, None] - places])


def _reciprocal(series: Floats) -> Floats:
    """The coefficients of 1 / series."""
    found = np.zeros(len(series))
    found[0] = 1 / series[0]
    for place in range(1, len(series)):
        found[place] = -(series[place:0:-1] @ found[:place]) / series[0]
    return found


def levels_for(releases: int, epoch: int) -> int:
    """The digits of ``releases`` in base ``epoch``; one for independent noise."""
    levels = 1
    while epoch > 1 and epoch**levels <= releases:
        levels += 1
    return levels


def squared_shift(releases: int, epoch: int) -> int:
    """By how much more than its own squared length a vector in one batch moves all answers."""
    return levels_for(releases, epoch) * time_weights(epoch).squared_norm


def total_error(releases: int, epoch: int) -> float:
    """The squared norm, at most, of what the noise counts in an estimated total."""
    if epoch == 1:
        return float(releases)
    errors, below = time_weights(epoch).errors, levels_for(releases, epoch) - 1
    return float(below * errors[-1] + errors[releases // epoch**below])


class Totals(ABC):
    """The estimated total of all vectors so far, a function of what was released and of coins."""

    total: Floats

    @property
    @abstractmethod
    def room(self) -> int:
        """How many batches can be released at once."""

    @abstractmethod
    def release(self, asked: Floats, noise: Counts, /) -> None:
        """Take the true answers about one batch, and noise: these become one release."""

    @abstractmethod
    def release_many(self, asked: Floats, noise: Counts, /) -> Floats:
        """The same for some batches, a row for each; returns the totals after each."""


@dataclass(init=False, eq=False, repr=False)
class IndependentTotals(Totals):
    """Each answer is added to the total."""

    total: Floats

    def __init__(self, cells: int) -> None:
        self.total = np.zeros(cells)

    @property
    def room(self) -> int:
        return 1 << 62

    def release(self, asked: Floats, noise: Counts, /) -> None:
        self.total = self.total + (asked + noise)

    def release_many(self, asked: Floats, noise: Counts, /) -> Floats:
        totals = asked + noise
        totals[0] += self.total
        np.cumsum(totals, axis=0, out=totals)
        self.total = totals[-1]
        return totals


@dataclass(init=False, eq=False, repr=False)
class CorrelatedTotals(Totals):
    """Levels of terms, their answers, and noise that keeps the law of the total's error."""

    total: Floats
    _released: int
    _asked: Floats
    """By level: its terms. Secret."""
    _answers: Floats
    """By level: what was released."""
    _padding: Floats
    """By level and number of terms: the noise of the terms that are still missing, drawn anew."""
    _estimates: Floats
    """By level: its total, padded."""

    def __init__(self, cells: int, *, epoch: int, releases: int) -> None:
        self._epoch, self._weights = epoch, time_weights(epoch)
        shape = levels_for(releases, epoch), epoch - 1, cells
        self._released, self.total = 0, np.zeros(cells)
        self._asked, self._answers = np.zeros(shape), np.zeros(shape)
        self._padding = np.zeros((shape[0] - 1, epoch, cells))
        self._estimates = np.zeros((shape[0], cells))

    @property
    def missing(self) -> tuple[int, ...]:
        """The shape of the noise that ``pad`` needs."""
        levels, terms, cells = self._asked.shape
        return levels - 1, terms, cells

    def pad(self, noise: Counts) -> None:
        """Levels that begin again are padded by this, so that no law of an error shrinks."""
        weights = self._weights.unmix[:, 0][:, None]
        self._padding[:, :-1] = np.cumsum((weights * noise)[:, ::-1], axis=1)[:, ::-1]

    @property
    def room(self) -> int:
        return self._epoch - 1 - self._released % self._epoch

    def release(self, asked: Floats, noise: Counts, /) -> None:
        self._released += 1
        level, number = 0, self._released
        while number % self._epoch == 0:
            asked = asked + self._asked[level].sum(axis=0)
            self._estimates[level] = self._padding[level, 0]
            level, number = level + 1, number // self._epoch
        self._answer(level, number % self._epoch - 1, asked[None], noise[None])
        self.total = self._estimates[0] + self._estimates[1:].sum(axis=0)

    def release_many(self, asked: Floats, noise: Counts, /) -> Floats:
        first = self._released % self._epoch
        self._released += len(asked)
        totals = self._answer(0, first, asked, noise)
        totals += self._estimates[1:].sum(axis=0)
        self.total = totals[-1]
        return totals

    def _answer(self, level: int, first: int, asked: Floats, noise: Counts) -> Floats:
        """The next terms of a level, which has ``first``: its totals after each."""
        last = first + len(asked)
        new, known, terms = slice(first, last), slice(0, last), self._asked[level]
        terms[new] = asked
        self._answers[level, new] = product(self._weights.mix[new, known], terms[known]) + noise
        totals = product(self._weights.unmix[new, known], self._answers[level, known])
        if self._released >= self._epoch ** (level + 1):  # it has begun again
            totals += self._padding[level, first + 1 : last + 1]
        self._estimates[level] = totals[-1]
        return totals
