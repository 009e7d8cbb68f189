"""Discrete Gaussian noise of large variance, exactly: a strip of equally wide ones, then a coin.

The whole numbers are cut into strips of 2**shift each, so many that a deviation has 128 to 256.
A strip is proposed with a whole-number weight of at least its largest value, a number of it
uniformly, and kept with the probability that makes the law exact. What lies beyond the strips is
proposed geometrically.
"""

from fractions import Fraction
from functools import lru_cache, partial
from math import exp, isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.mechanisms.noise.exact import Bounds, Uniform, exp_bounds
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness

_WEIGHT_BITS: Final = 32
_STRIP_BITS: Final = 8  # a deviation has about so many bits' worth of strips
_REACH: Final = 7  # deviations that have strips
_GUIDE_BITS: Final = 16
_MORE: Final = 1 + 2.0**-40  # floats are below the truth by less than this
_COIN_BITS: Final = 32
# A coin this close to its chance, in units of its last bit, is tossed in whole numbers.
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
        # What is left over makes the strip at 0 too heavy: it is kept less often.
        weights[self._strips] += (1 << _WEIGHT_BITS) - 2 * self._tail - int(weights.sum())
        self._weights = weights
        self._ends = np.append(np.cumsum(weights), -1)
        starts = np.arange(1 << _GUIDE_BITS) << (_WEIGHT_BITS - _GUIDE_BITS)
        self._guide = np.searchsorted(self._ends[:-1], starts, side="right").astype(np.int16)
        # Short words are shared by the number within the strip and the coin.
        short = self._shift <= _COIN_BITS // 2
        self._coin_bits = _COIN_BITS - self._shift if short else _COIN_BITS
        self._chances = self._unit * 2.0**self._coin_bits / weights

    def _beyond(self, unit: int) -> float:
        """At least what a tail weighs if a strip at 0 weighs ``unit``: a geometric sum."""
        start = float(self._strips << self._shift)
        variance = float(self.variance)
        return (
            unit / (1 << self._shift) * exp(-(start**2) / (2 * variance)) * (1 + variance / start)
        )

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        values, kept = self._proposed(count, rng)
        missing = np.flatnonzero(~kept)
        while len(missing):
            again, kept = self._proposed(len(missing), rng)
            values[missing[kept]] = again[kept]
            missing = missing[~kept]
        return values

    def _proposed(self, count: int, rng: Randomness) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Values, and which of them are kept."""
        words = rng.words(count)
        places = (words >> np.uint64(64 - _WEIGHT_BITS)).astype(np.int64)
        strips = self._guide[places >> (_WEIGHT_BITS - _GUIDE_BITS)]
        passed = np.flatnonzero(self._ends[strips] <= places)  # few: the others are settled
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
        kept = coins < chances
        chances -= coins
        for index in np.flatnonzero(np.abs(chances) <= _CLOSE):
            missing = 64 - self._coin_bits
            coin = Uniform(rng, int(coins[index]) << missing | rng.bits(missing))
            weight = int(self._weights[strips[index]])
            kept[index] = coin.below(partial(self._chance, int(values[index]), weight))
        for index in tails:
            values[index], kept[index] = self._beyond_strips(bool(places[index] & 1), rng)
        return values, kept

    def _split(
        self, words: NDArray[np.uint64], rng: Randomness
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The second half of each word: a number below a strip's width, and a coin."""
        rest = words.astype(np.uint32).astype(np.int64)
        if self._coin_bits < _COIN_BITS:
            return rest >> self._coin_bits, rest & ((1 << self._coin_bits) - 1)
        more = rng.words(len(words)) >> np.uint64(64 - self._shift)
        return more.astype(np.int64), rest

    def _chance(self, value: int, weight: int, bits: int) -> Bounds:
        """unit * e**(-value**2 / (2 * variance)) / weight."""
        low, high = exp_bounds(value**2 / (2 * self.variance), bits + _GUARD)
        weight <<= _GUARD
        return self._unit * low // weight, -(-self._unit * high // weight)

    def _beyond_strips(self, left: bool, rng: Randomness) -> tuple[int, bool]:
        """Start + a geometric number, and whether it is kept."""
        start = (self._strips << self._shift) + left  # the strips begin at -start, end before it
        further = Geometric(rate=start / self.variance).draw(rng)
        kept = Uniform(rng).below(partial(self._tail_chance, start, further))
        return (-1 if left else 1) * (start + further), kept

    def _tail_chance(self, start: int, further: int, bits: int) -> Bounds:
        """What e**(-(start + further)**2 / (2 variance)) is of the geometric proposal."""
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
    """Made once for each variance."""
    return WideGaussian(variance)
