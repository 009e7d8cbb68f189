"""Noisy running totals of a sequence of vectors: noise that hides one term and cancels in sums.

Within an epoch of batches the release of batch b is sum_k w_k q_{b-k} + noise, q being what was
asked and w whole weights near those of the square root of summation, C(2k, k) / 4**k [FHU23]. The
total follows from all releases of the epoch. An epoch of one batch is noise without correlation.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from littlestone.concepts.losses.label_counts import Counts
from littlestone.learners.agnostic_finite.batch_queries import Lines, Queries
from littlestone.learners.agnostic_finite.skew_circulant import Floats

_SMALLEST_SCALE: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class TimeWeights:
    """The weights w_0 >= w_1 >= … of an epoch, whole numbers, few of them different."""

    squared_norm: int
    first: int
    lags: Counts
    """Where the weights change, from 1 on."""
    jumps: Floats
    """By how much."""
    errors: Floats
    """At b: the squared norm of the weights that noise has in the total after b batches."""

    def total_error(self, releases: int) -> float:
        """The same for so many batches in epochs one after another."""
        epochs, rest = divmod(releases, len(self.errors) - 1)
        return float(epochs * self.errors[-1] + self.errors[rest])


@lru_cache(maxsize=32)
def time_weights(epoch: int) -> TimeWeights:
    """Rounded to so few values that most neighbours are equal."""
    if epoch == 1:
        none = np.empty(0)
        return TimeWeights(1, 1, none.astype(np.int64), none, np.array([0.0, 1.0]))
    steps = np.arange(1, epoch)
    exact = np.cumprod(np.append(1.0, (2 * steps - 1) / (2 * steps)))
    weights = np.rint(max(_SMALLEST_SCALE, isqrt(epoch)) * exact)
    lags = np.flatnonzero(np.diff(weights)) + 1
    noise = np.cumsum(_reciprocal(weights))
    return TimeWeights(
        squared_norm=int((weights**2).sum()),
        first=int(weights[0]),
        lags=lags,
        jumps=np.diff(weights)[lags - 1],
        errors=np.append(0.0, np.cumsum(noise**2)),
    )


def _reciprocal(series: Floats) -> Floats:
    """The coefficients of 1 / series, by Newton's iteration."""
    found = np.array([1 / series[0]])
    while len(found) < len(series):
        size = min(2 * len(found), len(series))
        error = -fftconvolve(series[:size], found)[:size]
        error[0] += 2
        found = fftconvolve(found, error)[:size]
    return found


@dataclass(init=False, eq=False, repr=False)
class EpochSums:
    """The running total, with what must be remembered of the epoch."""

    total: Floats
    """Estimated, of all batches; a function of what was released."""
    _before: Floats
    """The total at the end of the last epoch."""
    _in_epoch: int
    _asked: Floats
    """sum_k w_k q_{b-k}: secret."""
    _rows: Counts
    _gains: NDArray[np.int8]
    _estimates: Floats
    """The total of the epoch after each of its batches."""

    def __init__(self, queries: Queries, *, epoch: int, batch: int) -> None:
        self._queries, self._epoch, self._batch = queries, epoch, batch
        self._weights = time_weights(epoch)

    def begin(self) -> None:
        cells, epoch, kept = self._queries.cells, self._epoch, self._epoch > 1
        self.total, self._before, self._asked = np.zeros((3, cells))
        self._in_epoch = 0
        width = len(self._queries.stretches.widths) if isinstance(self._queries, Lines) else 0
        self._rows = np.zeros((kept * epoch * self._batch, width), dtype=np.int64)
        self._gains = np.zeros(kept * epoch * self._batch, dtype=np.int8)
        self._estimates = np.zeros((kept * epoch, cells))

    def release(self, points: Any, labels: Any, noise: Counts) -> None:
        """Add one batch: the only place where examples become something that is released."""
        if self._epoch == 1:
            self.total = self.total + (self._queries.asked(points, labels) + noise)
            return
        now = self._in_epoch
        self._remember(points, labels, now)
        past = now - self._weights.lags[: np.searchsorted(self._weights.lags, now, "right")]
        jumps = self._weights.jumps[: len(past)]
        answers = self._asked + noise
        # w_0 * total + sum over lags of jump * (total at that lag) is what was answered.
        estimate = (answers - jumps @ self._estimates[past]) / self._weights.first
        self._estimates[now] = estimate
        self.total = self._before + estimate
        self._in_epoch = now + 1
        if self._in_epoch == self._epoch:
            self._before, self._in_epoch = self.total, 0
            self._asked = np.zeros_like(self._asked)

    def _remember(self, points: Any, labels: Any, now: int) -> None:
        """Bring what is asked up to date: the newest batch, and those whose weight changes."""
        queries, batch = self._queries, self._batch
        assert isinstance(queries, Lines)
        here = slice(now * batch, (now + 1) * batch)
        self._rows[here] = queries.rows(points)
        self._gains[here] = 1 - 2 * np.asarray(labels, dtype=np.int8)
        past = now - self._weights.lags[: np.searchsorted(self._weights.lags, now, "right")]
        jumps = self._weights.jumps[: len(past)]
        places = (np.append(now, past)[:, None] * batch + np.arange(batch)).ravel()
        factors = np.repeat(np.append(self._weights.first, jumps), batch)
        self._asked = self._asked + queries.weighted(
            self._rows[places], factors * self._gains[places]
        )
