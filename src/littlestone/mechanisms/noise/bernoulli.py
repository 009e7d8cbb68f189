"""Coins that show heads with probability exactly e**(-a/b)."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.mechanisms.noise.exact import Uniform, exp_bounds, fraction, leading_bits
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class BernoulliExp:
    """True with probability e**(-exponent), for any rational exponent of at least 0.

    A uniform number is compared with e**(-exponent) bit by bit: the first 64 bits settle all but
    one case in 2**64, which ``Uniform`` settles exactly. Apart from that case every draw does the
    same work.

    >>> from littlestone.randomness import seeded
    >>> BernoulliExp(exponent=0).draw(seeded(1))
    True
    """

    exponent: Fraction | float
    _rate: Fraction = field(init=False, repr=False, compare=False)
    _leading: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        require.non_negative(exponent=self.exponent)
        exponent = fraction(self.exponent)
        require.settle(self, _rate=exponent, _leading=_leading_word(exponent))

    def draw(self, rng: Randomness) -> bool:
        """One coin."""
        word = rng.word()
        if word != self._leading:
            return word < self._leading
        return Uniform(rng, word).below(partial(exp_bounds, self._rate))

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.bool_]:
        """``count`` independent coins."""
        words = rng.words(count)
        if self._rate == 0:
            return np.ones(count, dtype=np.bool_)
        leading = np.uint64(self._leading)
        heads: NDArray[np.bool_] = words < leading
        for tie in np.flatnonzero(words == leading):
            heads[tie] = Uniform(rng, self._leading).below(partial(exp_bounds, self._rate))
        return heads


@lru_cache(maxsize=4096)
def _leading_word(exponent: Fraction) -> int:
    if exponent == 0:
        return 1 << 64  # above every word
    return leading_bits(partial(exp_bounds, exponent))
