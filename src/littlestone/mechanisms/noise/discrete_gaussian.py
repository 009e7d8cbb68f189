"""Gaussian noise on the whole numbers, exactly [CKS20]: the noise of zero-concentrated privacy."""

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.mechanisms.noise.exact import (
    WORD_BITS,
    Bounds,
    Uniform,
    exp_bounds,
    fraction,
)
from littlestone.mechanisms.noise.wide_gaussian import wide_gaussian
from littlestone.randomness import Randomness

LARGEST_TABLE_VARIANCE: Final = 1 << 22
"""Beyond, a table would take too long to make, and drawing takes twice as long."""
_LARGEST_VARIANCE: Final = 1 << 76
# e**(-0.7 * bits) < 2**(-bits)
_TAIL: Final = Fraction(7, 10)
_GUIDE_BITS: Final = 16
_OPEN: Final = -(1 << 15)  # no value: those that 16 bits decide are below 5 deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussian:
    """P(k) proportional to e**(-k**2 / (2 * variance)) on all whole numbers.

    A shift of the mean by a whole number v costs v**2 / (2 * variance) in zero-concentrated
    privacy, and E e**(t * noise) is at most e**(t**2 * variance / 2), both as for the normal law
    [CKS20, Proposition 5, Corollary 17]. The variance of the law is at most ``variance``.

    Up to a deviation of 2**11 one uniform number is compared with a table of the distribution
    function, to as many bits as it takes; beyond, see ``wide_gaussian``.

    >>> from littlestone.randomness import seeded
    >>> noise = DiscreteGaussian(variance=100).draw_many(10_000, seeded(5))
    >>> 9.5 < float(noise.std()) < 10.5
    True
    """

    variance: Fraction | float
    _variance: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        require.positive(variance=self.variance)
        exact = fraction(self.variance)
        if not Fraction(1, 16) <= exact <= _LARGEST_VARIANCE:
            raise ValueError(
                f"variance must lie between 1/16 and 2**76, got variance={self.variance!r}"
            )
        object.__setattr__(self, "_variance", exact)

    def draw(self, rng: Randomness) -> int:
        """One value."""
        if self._variance <= LARGEST_TABLE_VARIANCE:
            return _table(*self._variance.as_integer_ratio()).draw(rng)
        return int(self.draw_many(1, rng)[0])

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        if self._variance <= LARGEST_TABLE_VARIANCE:
            return _table(*self._variance.as_integer_ratio()).draw_many(count, rng)
        return wide_gaussian(self._variance).draw_many(count, rng)


class _Table:
    """The distribution function F at -reach .. reach, in leading words.

    With U uniform, the least k with U < F(k) has the wanted law. The first word of U decides
    against each k except where it equals the leading 64 bits of F(k).
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        guard = 64
        while True:
            # floor(2**64 * F(k)), settled for all k at once.
            bounds = _distribution(variance, WORD_BITS + guard)
            leading = [low >> guard for low, _ in bounds]
            if leading == [(high - 1) >> guard for _, high in bounds]:
                break
            guard *= 2
        self.reach = len(bounds) // 2
        self.leading = leading
        self.words = np.array([*leading, (1 << WORD_BITS) - 1], dtype=np.uint64)
        # For each beginning of a word, how many entries are below all such words.
        starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(WORD_BITS - _GUIDE_BITS)
        self._below = np.searchsorted(self.words, starts).astype(np.int32)
        # That is its value, but where an entry begins like it, more of the word must be read.
        self._guide = (self._below - self.reach).astype(np.int16)  # small, to stay in the cache
        self._guide[(self.words >> np.uint64(WORD_BITS - _GUIDE_BITS)).astype(np.int64)] = _OPEN

    def draw(self, rng: Randomness) -> int:
        word = rng.word()
        index = bisect_right(self.leading, word)
        if index == len(self.leading) or (index and self.leading[index - 1] == word):
            return self._settle(word, rng)
        return index - self.reach

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        begins = rng.short_words(count)  # 16 bits decide most
        guided = self._guide.take(begins)
        values, passed = guided.astype(np.int64), np.flatnonzero(guided == _OPEN)
        rest = rng.words(len(passed)) >> np.uint64(_GUIDE_BITS)
        words = begins[passed].astype(np.uint64) << np.uint64(WORD_BITS - _GUIDE_BITS) | rest
        found = self._below.take(begins[passed]).astype(np.int64)
        self._search(found, words)
        values[passed] = found - self.reach
        for place in np.flatnonzero(self.words[found - 1] == words):
            values[passed[place]] = self._settle(int(words[place]), rng)
        return values

    def _search(self, found: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        """Raise ``found`` to the number of entries that are at most each word."""
        # Mostly it is right, or one too small; looking there is far faster than a search.
        more = np.flatnonzero(self.words.take(found) <= words)
        found[more] += 1
        words = words[more]
        still = self.words.take(found[more], mode="clip") <= words
        found[more[still]] = np.searchsorted(self.words, words[still], side="right")

    def _settle(self, word: int, rng: Randomness) -> int:
        """The least k with U < F(k), for a U that starts with ``word``, however far out it is."""
        uniform = Uniform(rng, word)
        k = bisect_right(self.leading, word - 1) - self.reach
        while uniform.below(partial(_distribution_at, self.variance, k - 1)):
            k -= 1
        while not uniform.below(partial(_distribution_at, self.variance, k)):
            k += 1
        return k


@lru_cache(maxsize=32)
def _table(numerator: int, denominator: int) -> _Table:  # a Fraction takes its time to be found
    return _Table(Fraction(numerator, denominator))


def _distribution_at(variance: Fraction, k: int, bits: int) -> Bounds:
    bounds = _distribution(variance, bits)
    place = k + len(bounds) // 2
    if place < 0:
        return 0, 1
    return bounds[place] if place < len(bounds) else ((1 << bits) - 1, 1 << bits)


def _distribution(variance: Fraction, bits: int) -> list[Bounds]:
    """Bounds on 2**bits * F(k) for k = -reach .. reach; beyond, F is within 2**-bits of 0 or 1."""
    reach = isqrt(int(2 * variance * _TAIL * (bits + 8))) + 2
    precise = bits + 64
    lows, highs = _weights(variance, reach, precise)
    # Beyond the reach r the weights fall faster than powers of e**(-r / variance).
    rest = highs[-1] * (int(variance / reach) + 1) + 1
    whole_low = 2 * sum(lows) - lows[0]
    whole_high = 2 * (sum(highs) + rest) - highs[0]
    below: list[Bounds] = []
    low, high = 0, rest
    for i in range(reach, 0, -1):
        low, high = low + lows[i], high + highs[i]
        below.append(((low << bits) // whole_high, -((-high << bits) // whole_low)))
    # F(k) = 1 - F(-k - 1), F(0) included.
    one = 1 << bits
    above = [(one - high, one - low) for low, high in reversed(below)]
    last = (one - (-((-rest << bits) // whole_low)), one)
    return [*below, *above, last]


def _weights(variance: Fraction, reach: int, bits: int) -> tuple[list[int], list[int]]:
    """Bounds on 2**bits * e**(-i**2 / (2 * variance)) for i = 0 .. reach.

    Each weight is the one before times a ratio, and each ratio the one before times e**(-1/v).
    """
    half = 1 / (2 * variance)
    ratio_low, ratio_high = exp_bounds(half, bits)
    square_low, square_high = exp_bounds(2 * half, bits)
    lows, highs = [1 << bits], [1 << bits]
    for _ in range(reach):
        lows.append(lows[-1] * ratio_low >> bits)
        highs.append(-(-highs[-1] * ratio_high >> bits))
        ratio_low = ratio_low * square_low >> bits
        ratio_high = -(-ratio_high * square_high >> bits)
    return lows, highs
