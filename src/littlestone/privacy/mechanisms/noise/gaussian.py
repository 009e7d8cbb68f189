"""Draw exact Gaussian noise on the integers [CKS20], for small and large variances.

The integers are cut into strips of width 2**shift, 128 to 256 strips per standard deviation. A draw
proposes a strip by an integer weight that is at least its largest value, then a uniform number of
the strip, and accepts it with the probability that makes the law exact. Numbers beyond the strips
are proposed geometrically.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from math import exp, isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.mechanisms.noise.exact import (
    WORD_BITS,
    Bounds,
    Uniform,
    exp_bounds,
    fraction,
)
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness

_WEIGHT_BITS: Final = 32
_STRIP_BITS: Final = 8  # about 2**8 strips per standard deviation
_REACH: Final = 7  # standard deviations covered by strips
_STRIP_GUIDE_BITS: Final = 16
_MORE: Final = 1 + 2.0**-40  # exceeds the relative error of the floats
_COIN_BITS: Final = 32
# Coins closer to their probability than this, in last bits, are decided with integers.
_CLOSE: Final = 8.0
_GUARD: Final = 64


class WideGaussian:
    """P(k) proportional to e**(-k**2 / (2 * variance)), for variances of at least 2**16."""

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        deviation = isqrt(int(variance))
        self._shift = max(0, deviation.bit_length() - _STRIP_BITS)
        self._strips = (_REACH * deviation >> self._shift) + 1
        numbers = np.arange(-self._strips, self._strips, dtype=np.float64)
        width = float(1 << self._shift)
        nearest = np.where(numbers < 0, -width * numbers - (width - 1), width * numbers)
        heights = np.exp(-(nearest**2) / float(2 * variance))
        spare = (1 << _WEIGHT_BITS) - 2 * len(heights) - 4
        self._unit = int(spare / (heights.sum() + 2 * self._beyond(1)))
        weights = np.floor(self._unit * heights * _MORE).astype(np.int64) + 1
        self._tail = int(self._beyond(self._unit) * _MORE) + 1
        # The remaining weight goes to the strip at 0, which is accepted less often.
        weights[self._strips] += (1 << _WEIGHT_BITS) - 2 * self._tail - int(weights.sum())
        self._weights = weights
        self._ends = np.append(np.cumsum(weights), -1)
        starts = np.arange(1 << _STRIP_GUIDE_BITS) << (_WEIGHT_BITS - _STRIP_GUIDE_BITS)
        self._guide = np.searchsorted(self._ends[:-1], starts, side="right").astype(np.int16)
        # One short word holds both the number within the strip and the coin.
        short = self._shift <= _COIN_BITS // 2
        self._coin_bits = _COIN_BITS - self._shift if short else _COIN_BITS
        self._chances = self._unit * 2.0**self._coin_bits / weights

    def _beyond(self, unit: int) -> float:
        """Bound a tail's weight by a geometric sum, if a strip at 0 weighs ``unit``."""
        start = float(self._strips << self._shift)
        variance = float(self.variance)
        return (
            unit / (1 << self._shift) * exp(-(start**2) / (2 * variance)) * (1 + variance / start)
        )

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        values, accepted = self._proposed(count, rng)
        missing = np.flatnonzero(~accepted)
        while len(missing):
            again, accepted = self._proposed(len(missing), rng)
            values[missing[accepted]] = again[accepted]
            missing = missing[~accepted]
        return values

    def _proposed(self, count: int, rng: Randomness) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return proposed values and which of them are accepted."""
        words = rng.words(count)
        places = (words >> np.uint64(64 - _WEIGHT_BITS)).astype(np.int64)
        strips = self._guide[places >> (_WEIGHT_BITS - _STRIP_GUIDE_BITS)]
        passed = np.flatnonzero(self._ends[strips] <= places)  # few; the others are decided
        strips[passed] = np.searchsorted(self._ends[:-1], places[passed], side="right")
        tails = passed[strips[passed] == len(self._weights)]
        strips[tails] = 0
        within, coins = self._split(words, rng)
        values = ((strips.astype(np.int64) - self._strips) << self._shift) + within
        chances = values.astype(np.float64)
        chances *= chances
        chances *= -0.5 / float(self.variance)
        np.exp(chances, out=chances)
        chances *= self._chances[strips]
        accepted = coins < chances
        chances -= coins
        for index in np.flatnonzero(np.abs(chances) <= _CLOSE):
            missing = 64 - self._coin_bits
            coin = Uniform(rng, int(coins[index]) << missing | rng.bits(missing))
            weight = int(self._weights[strips[index]])
            accepted[index] = coin.below(partial(self._chance, int(values[index]), weight))
        for index in tails:
            values[index], accepted[index] = self._beyond_strips(bool(places[index] & 1), rng)
        return values, accepted

    def _split(
        self, words: NDArray[np.uint64], rng: Randomness
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the second half of each word: a number below a strip's width, and a coin."""
        rest = words.astype(np.uint32).astype(np.int64)
        if self._coin_bits < _COIN_BITS:
            return rest >> self._coin_bits, rest & ((1 << self._coin_bits) - 1)
        more = rng.words(len(words)) >> np.uint64(64 - self._shift)
        return more.astype(np.int64), rest

    def _chance(self, value: int, weight: int, bits: int) -> Bounds:
        """Bound unit * e**(-value**2 / (2 * variance)) / weight."""
        low, high = exp_bounds(value**2 / (2 * self.variance), bits + _GUARD)
        weight <<= _GUARD
        return self._unit * low // weight, -(-self._unit * high // weight)

    def _beyond_strips(self, left: bool, rng: Randomness) -> tuple[int, bool]:
        """Propose a geometric number beyond the strips; return it and whether it is accepted."""
        start = (self._strips << self._shift) + left  # the strips begin at -start, end before it
        further = Geometric(rate=start / self.variance).draw(rng)
        accepted = Uniform(rng).below(partial(self._tail_chance, start, further))
        return (-1 if left else 1) * (start + further), accepted

    def _tail_chance(self, start: int, further: int, bits: int) -> Bounds:
        """Bound e**(-(start + further)**2 / (2 variance)) divided by the geometric proposal."""
        precise = bits + _GUARD
        low, high = exp_bounds((start**2 + further**2) / (2 * self.variance), precise)
        step_low, step_high = exp_bounds(start / self.variance, precise + _GUARD)
        one = 1 << (precise + _GUARD)
        weight = self._tail << self._shift
        return (
            (self._unit * low << (bits + _GUARD)) // (weight * (one - step_low)),
            -(-(self._unit * high << (bits + _GUARD)) // (weight * (one - step_high))),
        )


@lru_cache(maxsize=32)
def wide_gaussian(variance: Fraction) -> WideGaussian:
    """Return the sampler of a variance, cached."""
    return WideGaussian(variance)


LARGEST_TABLE_VARIANCE: Final = 1 << 22
"""Beyond this, a table would take too long to build, and draws take twice as long."""
_LARGEST_VARIANCE: Final = 1 << 76
# e**(-0.7 * bits) < 2**(-bits)
_TAIL: Final = Fraction(7, 10)
_GUIDE_BITS: Final = 16
_OPEN: Final = -(1 << 15)  # no value: 16 bits decide only values within 5 standard deviations


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
        """Return one value."""
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
            # floor(2**64 * F(k)) for all k at once.
            bounds = _distribution(variance, WORD_BITS + guard)
            leading = [low >> guard for low, _ in bounds]
            if leading == [(high - 1) >> guard for _, high in bounds]:
                break
            guard *= 2
        self.reach = len(bounds) // 2
        self.leading = leading
        self.words = np.array([*leading, (1 << WORD_BITS) - 1], dtype=np.uint64)
        # For each 16-bit prefix, how many entries are below all words with it.
        starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(WORD_BITS - _GUIDE_BITS)
        self._below = np.searchsorted(self.words, starts).astype(np.int32)
        # This decides the value unless an entry has the same prefix; then more bits are needed.
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
        # Usually right or one too small; checking that is far faster than a search.
        more = np.flatnonzero(self.words.take(found) <= words)
        found[more] += 1
        words = words[more]
        still = self.words.take(found[more], mode="clip") <= words
        found[more[still]] = np.searchsorted(self.words, words[still], side="right")

    def _settle(self, word: int, rng: Randomness) -> int:
        """Return the least k with U < F(k), for a U that starts with ``word``."""
        uniform = Uniform(rng, word)
        k = bisect_right(self.leading, word - 1) - self.reach
        while uniform.below(partial(_distribution_at, self.variance, k - 1)):
            k -= 1
        while not uniform.below(partial(_distribution_at, self.variance, k)):
            k += 1
        return k


@lru_cache(maxsize=32)
def _table(numerator: int, denominator: int) -> _Table:  # a Fraction is slow to hash
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
