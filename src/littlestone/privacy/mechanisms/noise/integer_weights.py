"""Replace exp(-eta k) by integer weights, so that the sampled law is the proved one."""

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.privacy.mechanisms.noise.exact import exp_bounds

_RATIO_BITS: Final = 192
# Three digits of 40 bits hold the weights of the usual floor of 64 bits: 64 + 55 < 120.
_GUARD_BITS: Final = 55
_DIGIT_BITS: Final = 40
_LONGEST_TABLE: Final = 1 << 22
# The sum of this many digits of 40 bits is below 2**63.
_LARGEST_ARRAY: Final = 1 << 22


class WeightTable:
    """Weights W[0] >= W[1] >= ... with W[k] <= exp(eta) * W[k+1], exactly.

    The last entry stands for all larger k. Weights are computed at the first draw, since a plan
    compares many mechanisms and runs one.
    """

    digit_bits: Final = _DIGIT_BITS

    def __init__(self, eta: Fraction, floor_bits: int) -> None:
        self._eta, self._floor_bits = eta, floor_bits

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Each weight is the previous one times an upper bound of exp(-eta), rounded up.

        Rounding only ever brings neighbours closer together.
        """
        last = 1 << _GUARD_BITS
        ratio = exp_bounds(self._eta, _RATIO_BITS)[1]
        weights = [last << self._floor_bits]
        while weights[-1] > last:
            weights.append(max(last, -(-weights[-1] * ratio >> _RATIO_BITS)))
        return tuple(weights)

    @cached_property
    def digits(self) -> tuple[NDArray[np.int64], ...]:
        """The weights in base 2**40, least digit first, as arrays."""
        mask = (1 << _DIGIT_BITS) - 1
        shifts = range(0, self.weights[0].bit_length(), _DIGIT_BITS)
        return tuple(
            np.array([weight >> shift & mask for weight in self.weights], dtype=np.int64)
            for shift in shifts
        )

    @property
    def length_upper_bound(self) -> int:
        """A tight upper bound on the number of weights, without computing them.

        Each weight is at most exp(-eta) + 2**-55 times the one before, which is at least 2**55.
        """
        falls = -math.log1p(math.expm1(-self._eta) + 2.0**-53)
        return math.ceil(self._floor_bits * math.log(2) / falls * (1 + 1e-9)) + 2

    def level(self, excess: int) -> int:
        """Return the index of the weight for a score ``excess`` above the smallest."""
        return min(excess, len(self.weights) - 1)

    def levels(self, scores: NDArray[np.int64], least: np.int64) -> NDArray[np.int64]:
        """Return the indices for many scores at once; none is below ``least``."""
        # Differences of 64-bit numbers, read without a sign, cannot overflow.
        excess = (scores - least).view(np.uint64)
        levels: NDArray[np.int64] = np.minimum(excess, np.uint64(len(self.weights) - 1)).view(
            np.int64
        )
        return levels


@lru_cache(maxsize=64)
def weight_table(eta: Fraction, floor_bits: int) -> WeightTable:
    """Return the table for rate ``eta`` in which no weight falls below W[0] / 2**floor_bits.

    >>> weights = weight_table(Fraction(1, 2), 8).weights
    >>> [round(weight / weights[0], 4) for weight in weights[:4]], len(weights)
    ([1.0, 0.6065, 0.3679, 0.2231], 13)
    >>> weights[-1] * 2**8 == weights[0]
    True
    """
    return WeightTable(eta, floor_bits)


def table_for(*, epsilon: float, range_width: int, floor_bits: int) -> WeightTable:
    """Check the parameters of a selection mechanism and return its table."""
    require.positive(epsilon=epsilon)
    require.integer(range_width=range_width, at_least=1, at_most=1 << 62)
    require.integer(floor_bits=floor_bits, at_least=1, at_most=1 << 20)
    eta = Fraction(epsilon) / range_width
    if eta * _LONGEST_TABLE < floor_bits:
        raise ValueError(
            f"epsilon must be at least {floor_bits * range_width / _LONGEST_TABLE:.2g} for this "
            f"range width and floor (the table of weights would be too long), got "
            f"epsilon={epsilon!r}; count scores in larger units instead"
        )
    return weight_table(eta, floor_bits)


def whole_scores(scores: ArrayLike) -> NDArray[np.int64]:
    """Return the scores as 64-bit integers; the error depends on their type only."""
    given = require.array(scores=scores)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not np.can_cast(given.dtype, np.int64):
        raise ValueError(
            f"scores must be a list of whole numbers of at most 64 bits with sign, "
            f"got shape {given.shape} of {given.dtype}"
        )
    if not 1 <= given.size <= _LARGEST_ARRAY:
        raise ValueError(
            f"scores must have between 1 and {_LARGEST_ARRAY} entries, got {given.size}; "
            f"join equal neighbours and pass their multiplicities"
        )
    return given.astype(np.int64, copy=False)
