"""Coins whose probability, or whose odds, are exactly a power of e."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.mechanisms.noise.exact import (
    Bounds,
    Uniform,
    exp_bounds,
    fraction,
    leading_bits,
)
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class BernoulliExp:
    """True with probability e**(-exponent), for any rational exponent of at least 0.

    Compares a uniform number with e**(-exponent) bit by bit: the first 64 bits decide all but one
    case in 2**64, which ``Uniform`` decides exactly. Apart from that case every draw does the same
    work.

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
        """Return one coin."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticCoin:
    """True with odds e**log_odds : 1, for any rational ``log_odds``.

    Like ``BernoulliExp``: 64 uniform bits decide all but one case in 2**64, which is decided
    exactly.

    >>> from littlestone.randomness import seeded
    >>> LogisticCoin(log_odds=100).draw(seeded(1)), LogisticCoin(log_odds=-100).draw(seeded(1))
    (True, False)
    """

    log_odds: Fraction | float
    _against: Fraction = field(init=False, repr=False, compare=False)
    _leading: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        require.non_negative(log_odds=abs(self.log_odds))
        against = abs(fraction(self.log_odds))
        require.settle(self, _against=against, _leading=_leading_odds(against))

    def draw(self, rng: Randomness) -> bool:
        """Return one coin."""
        return self._unlikely(rng) == (self.log_odds < 0)

    def _unlikely(self, rng: Randomness) -> bool:
        """Return whether the less likely side shows."""
        word = rng.word()
        if self._against == 0 or word != self._leading:
            return word < self._leading
        return Uniform(rng, word).below(partial(unlikely_bounds, self._against))


def unlikely_bounds(against: Fraction, bits: int) -> Bounds:
    """Bounds on 2**bits / (1 + e**against), for ``against`` of at least 0.

    >>> unlikely_bounds(Fraction(1), 10)  # 1024 / (1 + e) = 275.4…
    (275, 276)
    """
    low, high = exp_bounds(against, bits + 2)
    one = 1 << (bits + 2)
    return (low << bits) // (one + low), -((-high << bits) // (one + high))


@lru_cache(maxsize=4096)
def _leading_odds(against: Fraction) -> int:
    if against == 0:
        return 1 << 63
    return leading_bits(partial(unlikely_bounds, against))
