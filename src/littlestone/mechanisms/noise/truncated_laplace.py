"""Discrete Laplace noise that never exceeds a bound, for errors bounded with probability one."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.mechanisms.noise.exact import noise_rate
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.randomness import MOST_WORDS, Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedLaplace:
    """P(k) = q**|k| / Z on -bound .. bound, with q = e**(-rate) and Z the sum of those powers.

    A fair sign and a geometric size below bound + 1 give every non-zero k the weight q**|k| and
    zero twice the weight 1; "minus zero" is drawn again. How often is independent of the value
    kept, so a stopwatch learns nothing about it.

    >>> from littlestone.randomness import seeded
    >>> values = TruncatedLaplace(rate=0.5, bound=3).draw_many(1000, seeded(5))
    >>> sorted(set(values.tolist()))
    [-3, -2, -1, 0, 1, 2, 3]
    """

    rate: Fraction | float
    bound: int
    _size: Geometric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        rate = noise_rate(rate=self.rate)
        require.integer(bound=self.bound, at_least=0)
        object.__setattr__(self, "_size", Geometric(rate=rate, size=int(self.bound) + 1))

    def draw(self, rng: Randomness) -> int:
        """One value."""
        while True:
            size, negative = self._size.draw(rng), rng.coin()
            if size or not negative:
                return -size if negative else size

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        values = np.zeros(count, dtype=np.int64)
        missing = np.arange(count)
        while len(missing):
            sizes, negative = self._size.draw_many(len(missing), rng), _coins(len(missing), rng)
            values[missing] = np.where(negative, -sizes, sizes)
            missing = missing[negative & (sizes == 0)]
        return values


def _coins(count: int, rng: Randomness) -> NDArray[np.bool_]:
    octets = rng.words(-(-count // 64)).view(np.uint8)
    return np.unpackbits(octets, count=count).astype(np.bool_)
