"""Geometric noise, drawn exactly by inverting its distribution function bit by bit.

The digits of a geometric variable in base ``_BASE`` are independent, because
e**(-rate * (d0 + d1 * base + …)) is a product over the digits. So a small rate needs a few short
tables instead of a long one.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.mechanisms.noise.exact import (
    Bounds,
    Uniform,
    exp_bounds,
    leading_bits,
    noise_rate,
)
from littlestone.randomness import MOST_WORDS, Randomness

_BASE: Final = 256
_SMALLEST_TOP_RATE: Final = Fraction(1, 8)
_TAIL_EXPONENT: Final = 45  # e**(-45) < 2**(-64)


class _Table:
    """A geometric variable of ``rate``, conditioned to lie below ``size`` unless that is None.

    P(value < i) = (1 - q**i) / (1 - q**size) with q = e**(-rate). With U uniform, the number of
    i >= 1 with U >= P(value < i) has the wanted law. The first word of U decides against each i
    except where it equals the leading 64 bits of P(value < i); there more bits of both are read.
    Without ``size`` the table ends where the tail weighs less than 2**(-64); a value beyond it is
    drawn again from there (a geometric variable has no memory).
    """

    def __init__(self, rate: Fraction, size: int | None) -> None:
        self.rate = rate
        self.size = size

    @cached_property
    def leading(self) -> list[int]:
        """The leading words of P(value < 1), P(value < 2), …; computed at the first draw."""
        entries = int(_TAIL_EXPONENT / self.rate) + 1 if self.size is None else self.size - 1
        return [leading_bits(partial(self.below_bounds, i)) for i in range(1, entries + 1)]

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        return np.array(self.leading, dtype=np.uint64)

    def below_bounds(self, i: int, bits: int) -> Bounds:
        """Bounds on 2**bits * P(value < i)."""
        precise = bits + self.rate.denominator.bit_length() + 8
        one = 1 << precise
        low, high = exp_bounds(self.rate * i, precise)
        if self.size is None:
            return (one - high) >> (precise - bits), -((low - one) >> (precise - bits))
        all_low, all_high = exp_bounds(self.rate * self.size, precise)
        numerator_low, numerator_high = (one - high) << bits, (one - low) << bits
        return numerator_low // (one - all_low), -(-numerator_high // (one - all_high))

    def draw(self, rng: Randomness) -> int:
        value = 0
        while True:
            word = rng.word()
            index = bisect_right(self.leading, word)
            if index and self.leading[index - 1] == word:
                index = self._settle(word, index, rng)
            value += index
            if self.size is not None or index < len(self.leading):
                return value

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        words = rng.words(count)
        values = np.searchsorted(self.words, words, side="right").astype(np.int64)
        if len(self.words):
            ties = np.flatnonzero(self.words[np.maximum(values - 1, 0)] == words)
            for tie in ties:
                values[tie] = self._settle(int(words[tie]), int(values[tie]), rng)
        if self.size is None:
            for beyond in np.flatnonzero(values == len(self.words)):
                values[beyond] += self.draw(rng)
        return values

    def _settle(self, word: int, index: int, rng: Randomness) -> int:
        """Return the value if ``word`` equals leading[index - 1], whose neighbours may be equal."""
        uniform = Uniform(rng, word)
        while index and self.leading[index - 1] == word:
            if not uniform.below(partial(self.below_bounds, index)):
                return index
            index -= 1
        return index


@lru_cache(maxsize=256)
def _tables(rate: Fraction, size: int | None) -> tuple[_Table, ...]:
    """Return one table per digit, lowest first; together they cover at least 0 .. size-1."""
    tables = []
    while rate < _SMALLEST_TOP_RATE and (size is None or size > 4 * _BASE):
        tables.append(_Table(rate, _BASE))
        rate *= _BASE
        size = None if size is None else -(-size // _BASE)
    if size is not None and size - 1 > _TAIL_EXPONENT / rate:
        size = None  # rejection is cheaper than a full table
    return (*tables, _Table(rate, size))


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Geometric:
    """P(k) proportional to e**(-rate * k) on 0, 1, 2, …, or on 0 .. size-1.

    The law is exact for the rational number ``rate`` (a float counts as its binary value). One
    draw does the same work whatever the value, except with probability below 2**(-50): a tie, or
    a value beyond the table. Timing still shows the memory access of a binary search. With
    ``size``, draws outside are rejected; their number is independent of the returned value.

    >>> from littlestone.randomness import seeded
    >>> int(Geometric(rate=1.0).draw_many(1000, seeded(3)).min())
    0
    """

    rate: Fraction | float
    size: int | None = None
    _digits: tuple[_Table, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        rate = noise_rate(rate=self.rate)
        if self.size is not None:
            require.integer(size=self.size, at_least=1)
        object.__setattr__(self, "_digits", _tables(rate, self.size))

    def draw(self, rng: Randomness) -> int:
        """Return one value."""
        while True:
            value = 0
            for table in reversed(self._digits):
                value = value * _BASE + table.draw(rng)
            if self.size is None or value < self.size:
                return value

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        values = self._candidates(count, rng)
        if self.size is None:
            return values
        outside = np.flatnonzero(values >= self.size)
        while len(outside):
            values[outside] = self._candidates(len(outside), rng)
            outside = outside[values[outside] >= self.size]
        return values

    def _candidates(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        values = np.zeros(count, dtype=np.int64)
        for table in reversed(self._digits):
            values = values * _BASE + table.draw_many(count, rng)
        return values


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
        """Return one value."""
        return self._one_side.draw(rng) - self._one_side.draw(rng)

    def draw_many(self, count: int, rng: Randomness) -> NDArray[np.int64]:
        """``count`` independent values."""
        return self._one_side.draw_many(count, rng) - self._one_side.draw_many(count, rng)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedLaplace:
    """P(k) = q**|k| / Z on -bound .. bound, with q = e**(-rate) and Z the sum of those powers.

    A fair sign and a geometric size below bound + 1 give every non-zero k the weight q**|k| and
    zero twice the weight 1; "minus zero" is drawn again. The number of redraws is independent of
    the returned value, so timing reveals nothing about it.

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
        """Return one value."""
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


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class CubeNoise:
    """P(z) is proportional to e**(-rate * max|z_i|), on all vectors of ``width`` whole numbers.

    Shifting every component by at most m changes probabilities by a factor of at most
    e**(rate * m). The law is a mixture of uniform laws on cubes of vectors with components from -k
    to k, where k has a probability proportional to (2k + 1)**width * e**(-rate * k). Proof and
    sampler: docs/theory/cube-noise.md.

    >>> from littlestone.randomness import seeded
    >>> len(CubeNoise(rate=Fraction(1, 100), width=5).draw(seeded(1)))
    5
    """

    rate: Fraction | float
    width: int
    _side: Geometric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(width=self.width, at_least=1)
        object.__setattr__(self, "_side", Geometric(rate=noise_rate(rate=self.rate)))

    def draw(self, rng: Randomness) -> list[int]:
        """Draw one vector, exactly."""
        while True:
            reach = sum(self._side.draw(rng) for _ in range(self.width + 1))  # (N1)
            chance = acceptance(reach, self.width)
            if rng.below(chance.denominator) < chance.numerator:  # (N2)
                return [rng.below(2 * reach + 1) - reach for _ in range(self.width)]  # (N3)


def acceptance(reach: int, width: int) -> Fraction:
    """Return the product over i = 1 .. width of (2k + 1) / (2k + 2i), for k the reach."""
    numerator, denominator = 1, 1
    for place in range(1, width + 1):
        numerator *= 2 * reach + 1
        denominator *= 2 * (reach + place)
    return Fraction(numerator, denominator)
