"""Square matrices whose columns are one column, moved down, what leaves coming in with minus."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LARGEST_MATRIX: Final = 1 << 21
_SMALL_PRODUCT: Final = 1 << 19  # multiplications
_SHORT_EXACT: Final = 1 << 24


@dataclass(frozen=True, eq=False)
class SkewCirculant:
    """All columns have the same norm, and so have all rows; the Fourier transform solves it.

    >>> SkewCirculant(np.array([1.0, 2.0, 3.0])).times(np.eye(3)).T
    array([[ 1., -3., -2.],
           [ 2.,  1., -3.],
           [ 3.,  2.,  1.]])
    """

    column: Floats

    @classmethod
    def half_of_prefix_sums(cls, width: int) -> "SkewCirculant":
        """C with (prefix sums less suffix sums) = R C, where all rows and columns weigh the same.

        The matrix S of +1 up to the diagonal and -1 beyond is skew-circulant, hence normal: with
        C = |S|**(1/2) the columns of C and the rows of S C**-1 all have the squared norm that is
        the mean of |eigenvalues|, and no two factors of S have a smaller product of norms.
        """
        values = np.sqrt(np.abs(_prefix_eigenvalues(width)))
        return cls(np.real(np.fft.ifft(values) / _turn(width)))

    @classmethod
    def identity(cls, width: int) -> "SkewCirculant":
        return cls(np.eye(1, width)[0])

    def rounded(self, scale: float) -> "SkewCirculant":
        """Whole multiples of 1 / scale, times scale."""
        return SkewCirculant(np.rint(scale * self.column))

    @property
    def squared_norm(self) -> float:
        """Of each column."""
        return float(self.column @ self.column)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        return np.fft.fft(self.column * _turn(len(self.column)))

    def times(self, counts: Floats, *, at_most: int | None = None) -> NDArray[Any]:
        """The matrix times a vector, or each row; exact for whole numbers.

        If they add up to ``at_most`` in size, short floats may hold all sums as well.
        """
        if self._written is not None:
            if at_most is not None and at_most * self._largest < _SHORT_EXACT:
                return product(counts.astype(np.float32), self._short)
            return product(counts, self._written)
        if counts.ndim == 2:
            return np.array([self.times(row) for row in counts])
        # Whatever the data, so many columns at a time: memory must not decide what is published.
        met, most = np.flatnonzero(counts), max(1, _LARGEST_MATRIX // len(counts))
        total = np.zeros(len(counts))
        for start in range(0, len(met), most):
            cells = met[start : start + most]
            total += counts[cells] @ self._columns[len(counts) - cells]
        return total

    def solve(self, answers: Floats) -> Floats:
        """What the matrix maps to ``answers``, along the last axis."""
        turn = _turn(len(self.column))
        values = np.fft.fft(answers * turn) / self.eigenvalues
        return np.real(np.fft.ifft(values) / turn)

    def prefix_products(self) -> Floats:
        """At d = 0 .. width: the product of the weights of two sums that end d cells apart.

        The sums are those of all cells, with + up to some cell and - beyond it, and the weights
        are those on what the matrix gives.
        """
        width = len(self.column)
        values = np.abs(_prefix_eigenvalues(width) / self.eigenvalues) ** 2
        products = np.real(np.fft.ifft(values) / _turn(width))
        return np.append(products, -products[0])

    @cached_property
    def _columns(self) -> Floats:
        """Number width - x is column x; a view."""
        both = np.concatenate([-self.column, self.column])
        return sliding_window_view(both, len(self.column))

    @cached_property
    def _written(self) -> Floats | None:
        """Column x as row x, where it is not too large."""
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
    """``rows @ matrix``, in parts too small for threads, which would wait for each other."""
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
