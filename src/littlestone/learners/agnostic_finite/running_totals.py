"""Noisy running totals of a sequence of vectors, with noise that is independent or cancels in sums.

Correlated noise: batches are counted in base m. After batch n the lowest non-zero digit of n says
which level answers: its newest term is the sum of all batches since it last answered, and the
answer is sum_k w_k * (its term k places ago) + noise. The integer weights w are near those of the
square root of summation, C(2k, k) / 4**k [FHU23]. The totals of the levels add up to that of all
batches, so few vectors are stored, however many batches there are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from littlestone.concepts.losses.label_counts import Counts

Floats = NDArray[np.float64]
_LARGEST_MATRIX: Final = 1 << 21
_SMALL_PRODUCT: Final = 1 << 19  # multiplications
_SHORT_EXACT: Final = 1 << 24


@dataclass(frozen=True, eq=False)
class SkewCirculant:
    """A square matrix whose columns are shifts of one column, negated when they wrap around.

    All columns have the same norm, and so have all rows; the Fourier transform solves it.

    >>> SkewCirculant(np.array([1.0, 2.0, 3.0])).times(np.eye(3)).T
    array([[ 1., -3., -2.],
           [ 2.,  1., -3.],
           [ 3.,  2.,  1.]])
    """

    column: Floats

    @classmethod
    def half_of_prefix_sums(cls, width: int) -> "SkewCirculant":
        """Return C with (prefix sums less suffix sums) = R C, all rows and columns of equal norm.

        The matrix S of +1 up to the diagonal and -1 beyond is skew-circulant, hence normal. With C
        = |S|**(1/2), the columns of C and the rows of S C**-1 all have as squared norm the mean of
        |eigenvalues|, and no other factorization of S has a smaller product of norms.
        """
        values = np.sqrt(np.abs(_prefix_eigenvalues(width)))
        return cls(np.real(np.fft.ifft(values) / _turn(width)))

    @classmethod
    def identity(cls, width: int) -> "SkewCirculant":
        """Return the identity matrix."""
        return cls(np.eye(1, width)[0])

    def rounded(self, scale: float) -> "SkewCirculant":
        """Return scale times the matrix, rounded to whole numbers."""
        return SkewCirculant(np.rint(scale * self.column))

    @property
    def squared_norm(self) -> float:
        """The squared norm of each column."""
        return float(self.column @ self.column)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues, by the Fourier transform."""
        return np.fft.fft(self.column * _turn(len(self.column)))

    def times(self, counts: Floats, *, at_most: int | None = None) -> NDArray[Any]:
        """Multiply a vector, or each row, by the matrix; exact for whole numbers.

        Args:
            counts: A vector, or a matrix whose rows are multiplied.
            at_most: A bound on the sum of absolute values; a small one allows short floats.
        """
        if self._written is not None:
            if at_most is not None and at_most * self._largest < _SHORT_EXACT:
                return product(counts.astype(np.float32), self._short)
            return product(counts, self._written)
        if counts.ndim == 2:
            return np.array([self.times(row) for row in counts])
        # Bounded memory for any data: running out of it would depend on the data.
        met, most = np.flatnonzero(counts), max(1, _LARGEST_MATRIX // len(counts))
        total = np.zeros(len(counts))
        for start in range(0, len(met), most):
            cells = met[start : start + most]
            total += counts[cells] @ self._columns[len(counts) - cells]
        return total

    def solve(self, answers: Floats) -> Floats:
        """Solve for what the matrix maps to ``answers``, along the last axis."""
        turn = _turn(len(self.column))
        values = np.fft.fft(answers * turn) / self.eigenvalues
        return np.real(np.fft.ifft(values) / turn)

    def prefix_products(self) -> Floats:
        """Return, for d = 0 .. width, the inner product of the weights of sums that end d apart.

        Each sum takes all cells, with + up to some cell and - beyond it; its weights are those on
        the matrix's output.
        """
        width = len(self.column)
        values = np.abs(_prefix_eigenvalues(width) / self.eigenvalues) ** 2
        products = np.real(np.fft.ifft(values) / _turn(width))
        return np.append(products, -products[0])

    @cached_property
    def _columns(self) -> Floats:
        """A view whose row width - x is column x."""
        both = np.concatenate([-self.column, self.column])
        return sliding_window_view(both, len(self.column))

    @cached_property
    def _written(self) -> Floats | None:
        """The matrix with column x as row x, or None if it is too large."""
        width = len(self.column)
        if width**2 > _LARGEST_MATRIX:
            return None
        return np.ascontiguousarray(self._columns[width:0:-1])

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.column).max())

    @cached_property
    def _short(self) -> NDArray[np.float32]:
        assert self._written is not None
        return self._written.astype(np.float32)


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> NDArray[Any]:
    """Return ``rows @ matrix``, in parts too small for threads, which would wait for each other."""
    few = max(1, _SMALL_PRODUCT // matrix.size)
    if rows.ndim == 1 or len(rows) <= few:
        whole: NDArray[Any] = rows @ matrix
        return whole
    found = np.empty((len(rows), matrix.shape[1]), dtype=matrix.dtype)
    for start in range(0, len(rows), few):
        np.matmul(rows[start : start + few], matrix, out=found[start : start + few])
    return found


def _turn(width: int) -> NDArray[np.complex128]:
    turned: NDArray[np.complex128] = np.exp(-1j * np.pi * np.arange(width) / width)
    return turned


def _prefix_eigenvalues(width: int) -> NDArray[np.complex128]:
    return np.fft.fft(_turn(width))


_SCALE: Final = 64
"""Weights are multiples of its reciprocal."""


@dataclass(frozen=True, slots=True, eq=False)
class TimeWeights:
    """The whole weights w_0 >= w_1 >= … of a level."""

    squared_norm: int
    mix: Floats
    """Row b: the weights of the terms up to b in answer b."""
    unmix: Floats
    """Row b: the weights of the answers up to b in the total of the terms up to b."""
    errors: Floats
    """At b: the squared norm of the noise's weights in a total of b terms."""


@lru_cache(maxsize=32)
def time_weights(epoch: int) -> TimeWeights:
    """Return the weights for epochs of ``epoch`` terms; the next level answers their sum."""
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
    """Return the coefficients of 1 / series."""
    found = np.zeros(len(series))
    found[0] = 1 / series[0]
    for place in range(1, len(series)):
        found[place] = -(series[place:0:-1] @ found[:place]) / series[0]
    return found


def levels_for(releases: int, epoch: int) -> int:
    """Return the number of digits of ``releases`` in base ``epoch``; 1 for independent noise."""
    levels = 1
    while epoch > 1 and epoch**levels <= releases:
        levels += 1
    return levels


def squared_shift(releases: int, epoch: int) -> int:
    """Return how much more than its own squared norm a vector in one batch moves all answers."""
    return levels_for(releases, epoch) * time_weights(epoch).squared_norm


def total_error(releases: int, epoch: int) -> float:
    """Bound the squared norm of the noise's weights in an estimated total."""
    if epoch == 1:
        return float(releases)
    errors, below = time_weights(epoch).errors, levels_for(releases, epoch) - 1
    return float(below * errors[-1] + errors[releases // epoch**below])


class Totals(ABC):
    """The estimated total of all vectors so far, a function of releases and coins."""

    total: Floats

    @property
    @abstractmethod
    def room(self) -> int:
        """How many batches can be released at once."""

    @abstractmethod
    def release(self, exact: Floats, noise: Counts, /) -> None:
        """Release one batch: its true answers plus noise."""

    @abstractmethod
    def release_many(self, exact: Floats, noise: Counts, /) -> Floats:
        """Release several batches, one row each; return the total after each."""


@dataclass(init=False, eq=False, repr=False)
class IndependentTotals(Totals):
    """Add each noisy answer to the total."""

    total: Floats

    def __init__(self, cells: int) -> None:
        self.total = np.zeros(cells)

    @property
    def room(self) -> int:
        """No limit."""
        return 1 << 62

    def release(self, exact: Floats, noise: Counts, /) -> None:
        """Release one batch: its true answers plus noise."""
        self.total = self.total + (exact + noise)

    def release_many(self, exact: Floats, noise: Counts, /) -> Floats:
        """Release several batches, one row each; return the total after each."""
        totals = exact + noise
        totals[0] += self.total
        np.cumsum(totals, axis=0, out=totals)
        self.total = totals[-1]
        return totals


@dataclass(init=False, eq=False, repr=False)
class CorrelatedTotals(Totals):
    """Levels of terms and answers, padded so that the law of the total's error stays the same."""

    total: Floats
    _released: int
    _terms: Floats
    """The terms of each level; secret."""
    _answers: Floats
    """The released answers of each level."""
    _padding: Floats
    """By level and number of terms: fresh noise for the terms still missing."""
    _estimates: Floats
    """The padded total of each level."""

    def __init__(self, cells: int, *, epoch: int, releases: int) -> None:
        self._epoch, self._weights = epoch, time_weights(epoch)
        shape = levels_for(releases, epoch), epoch - 1, cells
        self._released, self.total = 0, np.zeros(cells)
        self._terms, self._answers = np.zeros(shape), np.zeros(shape)
        self._padding = np.zeros((shape[0] - 1, epoch, cells))
        self._estimates = np.zeros((shape[0], cells))

    @property
    def missing(self) -> tuple[int, ...]:
        """The shape of the noise that ``pad`` needs."""
        levels, terms, cells = self._terms.shape
        return levels - 1, terms, cells

    def pad(self, noise: Counts) -> None:
        """Set the padding of restarted levels, so that no error law shrinks."""
        weights = self._weights.unmix[:, 0][:, None]
        self._padding[:, :-1] = np.cumsum((weights * noise)[:, ::-1], axis=1)[:, ::-1]

    @property
    def room(self) -> int:
        """The batches left before a higher level answers."""
        return self._epoch - 1 - self._released % self._epoch

    def release(self, exact: Floats, noise: Counts, /) -> None:
        """Release one batch, at the level that its number selects."""
        self._released += 1
        level, number = 0, self._released
        while number % self._epoch == 0:
            exact = exact + self._terms[level].sum(axis=0)
            self._estimates[level] = self._padding[level, 0]
            level, number = level + 1, number // self._epoch
        self._answer(level, number % self._epoch - 1, exact[None], noise[None])
        self.total = self._estimates[0] + self._estimates[1:].sum(axis=0)

    def release_many(self, exact: Floats, noise: Counts, /) -> Floats:
        """Release several batches of the lowest level; return the total after each."""
        first = self._released % self._epoch
        self._released += len(exact)
        totals = self._answer(0, first, exact, noise)
        totals += self._estimates[1:].sum(axis=0)
        self.total = totals[-1]
        return totals

    def _answer(self, level: int, first: int, exact: Floats, noise: Counts) -> Floats:
        """Add terms to a level that has ``first`` of them; return its total after each."""
        last = first + len(exact)
        new, known, terms = slice(first, last), slice(0, last), self._terms[level]
        terms[new] = exact
        self._answers[level, new] = product(self._weights.mix[new, known], terms[known]) + noise
        totals = product(self._weights.unmix[new, known], self._answers[level, known])
        if self._released >= self._epoch ** (level + 1):  # the level has restarted
            totals += self._padding[level, first + 1 : last + 1]
        self._estimates[level] = totals[-1]
        return totals
