"""Draw the number of rounds until geometric noise first reaches a gap.

While the gap g stays the same, every round is a coin that shows heads with the same probability
p = e**(-rate * g), so the number W of rounds up to the first heads satisfies P(W > n) = (1 - p)**n.
With U uniform, W = min{n >= 1 : U >= (1 - p)**n} has that law: W is ln U / ln(1 - p) rounded up.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.mechanisms.noise.exact import (
    Bounds,
    Uniform,
    exp_bounds,
    noise_rate,
    power_bounds,
)
from littlestone.randomness import Randomness

LIMIT: Final = 1 << 32
"""Waiting times beyond this are not distinguished: coins have no memory, so one may draw again."""

# Floating point is trusted to one part in 2**40. Where the quotient can be below LIMIT its true
# error is under one part in 2**45 (test_waiting_time.py measures it), for
# words that are not extreme; anything less clear is decided in whole numbers.
_MARGIN: Final = 2.0**-40
_EXTREME: Final = 1 << 44
_WORDS: Final = 1 << 64
_HALF: Final = 1 << 63
_WORTH_A_BLOCK: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTime:
    """Rounds until noise with P(noise >= g) = e**(-rate * max(g, 0)) is first at least the gap.

    The law is exact: a first estimate in floating point is used only when its error cannot change
    the answer. The work depends on the noise alone, apart from the gap being positive or not.

    >>> from littlestone.randomness import seeded
    >>> WaitingTime(rate=0.5).draw(0, seeded(2))
    1
    """

    rate: Fraction | float
    _rate: Fraction = field(init=False, repr=False, compare=False)
    _float_rate: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        rate = noise_rate(rate=self.rate)
        require.settle(self, _rate=rate, _float_rate=float(rate))

    def draw(self, gap: int, rng: Randomness) -> int:
        """Return a waiting time from 1 to LIMIT, or LIMIT + 1 for "longer than LIMIT"."""
        return 1 if gap <= 0 else self._settle(gap, rng.word(), rng)

    def first(
        self, gap: int, lengths: NDArray[np.int64], rng: Randomness
    ) -> tuple[int, int] | None:
        """Find where the wait ends, among stretches with the gaps ``gap``, ``gap - 1``, ….

        Returns the first stretch that is at least as long as its waiting time, and that time, or
        None. All lengths lie between 1 and LIMIT.
        """
        if len(lengths) < _WORTH_A_BLOCK:
            return self._first_one_by_one(gap, lengths.tolist(), rng)
        positive = min(len(lengths), max(gap, 0))
        words = rng.words(positive)
        for index in self._candidates(gap, lengths[:positive], words):
            wait = self._settle(gap - int(index), int(words[index]), rng)
            if wait <= lengths[index]:
                return int(index), wait
        return (positive, 1) if positive < len(lengths) else None

    def _first_one_by_one(
        self, gap: int, lengths: list[int], rng: Randomness
    ) -> tuple[int, int] | None:
        for index, length in enumerate(lengths):
            wait = self.draw(gap - index, rng)
            if wait <= length:
                return index, wait
        return None

    def _candidates(
        self, gap: int, lengths: NDArray[np.int64], words: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return the stretches in which floating point cannot rule out that the wait ends."""
        exponents = self._float_rate * (gap - np.arange(len(lengths), dtype=np.float64))
        complements = np.uint64(0) - words
        with np.errstate(divide="ignore", under="ignore"):
            small = exponents < math.log(2)
            miss = np.where(small, -np.expm1(-exponents), 1 - np.exp(-exponents))
            hazard = -np.where(small, np.log(miss), np.log1p(-np.exp(-exponents)))
            surprise = -np.where(
                words < np.uint64(_HALF),
                np.log(words * 2.0**-64),
                np.log1p(-(complements * 2.0**-64)),
            )
        extreme = (words < np.uint64(_EXTREME)) | (complements < np.uint64(_EXTREME))
        return np.flatnonzero(extreme | (surprise * (1 - _MARGIN) <= lengths * hazard))

    def _settle(self, gap: int, word: int, rng: Randomness) -> int:
        """Return the waiting time of the uniform number that starts with ``word``."""
        if _EXTREME <= word <= _WORDS - _EXTREME:
            hazard, surprise = _hazard(self._float_rate * gap), _surprise(word)
            if surprise * (1 - _MARGIN) > LIMIT * hazard:
                return LIMIT + 1
            quotient = surprise / hazard
            low, high = int(quotient * (1 - _MARGIN)), int(quotient * (1 + _MARGIN))
            if low == high:
                return low + 1
        return self._settle_exactly(gap, Uniform(rng, word))

    def _settle_exactly(self, gap: int, uniform: Uniform) -> int:
        def is_over(rounds: int) -> bool:
            return not uniform.below(partial(self._survival, gap, rounds))

        return 1 + bisect_left(range(1, LIMIT + 1), True, key=is_over)

    def _survival(self, gap: int, rounds: int, bits: int) -> Bounds:
        """Bounds on 2**bits * (1 - e**(-rate * gap))**rounds, for rounds up to LIMIT."""
        guard = 48  # each of the 2 * 33 roundings is magnified at most LIMIT-fold
        low, high = exp_bounds(self._rate * gap, bits + guard)
        one = 1 << (bits + guard)
        low, high = power_bounds((one - high, one - low), rounds, bits + guard)
        return low >> guard, -(-high >> guard)


def _hazard(exponent: float) -> float:
    """-ln(1 - e**(-exponent))."""
    if exponent < math.log(2):
        return -math.log(-math.expm1(-exponent))
    return -math.log1p(-math.exp(-exponent))


def _surprise(word: int) -> float:
    """-ln(word / 2**64)."""
    if word < _HALF:
        return -math.log(word * 2.0**-64)
    return -math.log1p(-(_WORDS - word) * 2.0**-64)
