"""Two-sided geometric noise on the whole numbers: the discrete Laplace law."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.mechanisms.noise.exact import noise_rate
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplace:
    """P(k) = (1 - q) / (1 + q) * q**|k| on all whole numbers, with q = e**(-rate).

    ``rate`` is the reciprocal of the scale: epsilon for a count that one example moves by one.
    It is taken as an exact rational number; write a scale as ``1 / Fraction(scale)``, because the
    float ``1 / scale`` may be rounded. The law is that of X - Y for independent geometric X and Y:
    the sum over y of (1 - q)**2 * q**(y + |k|) * q**y is the formula above.

    >>> from littlestone.randomness import seeded
    >>> noise = DiscreteLaplace(rate=Fraction(1, 3))
    >>> abs(int(noise.draw_many(10_000, seeded(5)).sum())) < 5_000
    True
    """

    rate: Fraction | float
    _one_side: Geometric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        rate = noise_rate(rate=self.rate)
        object.__setattr__(self, "_one_side", Geometric(rate=rate))

    def draw(self, rng: Randomness) -> int:
        """One value."""
        return self._one_side.draw(rng) - self._one_side.draw(rng)

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        return self._one_side.draw_many(count, rng) - self._one_side.draw_many(count, rng)
