"""How many mistakes counters of witnesses can be made to count: proven, with explicit constants."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincc

Array = NDArray[np.float64]

_OUTWARDS: Final = 1 + 1e-9
_FLOATING: Final = 1e-11  # far more than Fourier transforms err in a probability
_NEGLIGIBLE: Final = 36.0  # in logarithms
_MOST_LOST: Final = 60
_LONGEST: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class Counted:
    """How far a counter gets before it fires, at most: if it is moved as slowly as possible.

    Whenever it is moved its query noise is drawn at least once at the new count. So the count at
    which it fires is at most that of a counter which is moved in every round (algorithm.md).
    """

    query_rate: float
    threshold_rate: float
    threshold: int

    def law(self) -> Array:
        """The probability of each count; what is too unlikely to follow up counts as the largest.

        >>> law = Counted(0.78, 0.22, 20).law()
        >>> round(float(law @ np.arange(len(law))), 1)  # without query noise 20 + 4.1
        22.8
        """
        return _law(self.query_rate, self.threshold_rate, self.threshold)

    def mean(self) -> float:
        law = self.law()
        return float(law @ np.arange(len(law))) * _OUTWARDS


@lru_cache(maxsize=32)
def _law(query_rate: float, threshold_rate: float, threshold: int) -> Array:
    noise = np.arange(math.ceil(_NEGLIGIBLE / threshold_rate) + 1)
    likely = -math.expm1(-threshold_rate) * np.exp(-threshold_rate * noise)
    gaps = np.arange(min(threshold, math.ceil(_NEGLIGIBLE / query_rate)))
    fires = np.exp(-query_rate * gaps)
    # A gap is reached if none of the larger ones fired; those left out would only help.
    passed = np.concatenate([np.cumprod((1 - fires)[::-1])[::-1][1:], [1.0]])
    law = np.zeros(threshold + len(noise))
    for gap, probability in zip(gaps.tolist(), (fires * passed).tolist(), strict=True):
        start = threshold - gap
        law[start : start + len(noise)] += likely * probability
    law[-1] += max(0.0, 1 - law.sum())
    return law


def sum_upper_bound(parts: tuple[tuple[Counted, int], ...], failure_probability: float) -> float:
    """So many independent counts of each kind exceed it with this probability at most.

    >>> one = Counted(0.78, 0.22, 20)
    >>> sum_upper_bound(((one, 16),), 0.05)
    398.0
    """
    size = sum(times * len(part.law()) for part, times in parts) + 1
    if size > _LONGEST or failure_probability <= 2 * _FLOATING:
        return rough_upper_bound(parts, failure_probability)
    size = 1 << size.bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for part, times in parts:
        product *= np.fft.rfft(part.law(), size) ** times
    tail = np.cumsum(np.fft.irfft(product, size)[::-1])[::-1] * _OUTWARDS + _FLOATING
    # tail[m] is P(sum >= m); the smallest m with P(sum >= m + 1) small enough.
    return float(np.argmax(np.append(tail[1:], 0.0) <= failure_probability))


def rough_upper_bound(parts: tuple[tuple[Counted, int], ...], failure_probability: float) -> float:
    """The same without query noise: thresholds and a sum of geometric noises."""
    fixed = sum(times * part.threshold for part, times in parts)
    counters = sum(times for _, times in parts)
    if not counters:
        return 0.0
    stop = -math.expm1(-min(part.threshold_rate for part, times in parts if times))
    return fixed + _most_failures(failure_probability / _OUTWARDS, counters, stop)


def _most_failures(tail: float, successes: int, stop: float) -> int:
    """Before so many successes, each with probability ``stop``: more have a smaller tail."""
    high = 1
    while betaincc(successes, high + 1, stop) > tail:
        high *= 2
    return bisect_left(
        range(high), True, key=lambda k: bool(betaincc(successes, k + 1, stop) <= tail)
    )


@dataclass(frozen=True, slots=True)
class Counters:
    """What is counted: for a witness, for what ends a lost epoch, and for a place."""

    one: Counted
    last: Counted
    place: Counted | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """One kind of concept: its true witnesses, and how likely an epoch is to go wrong."""

    accepted: int
    false: float
    """The probability of a false witness or place."""
    lost: float
    """The probability that everything starts again."""
    places: int = 0
    """How many are drawn in an epoch."""
    more: int = 1
    """How many further counters move in an epoch that is lost."""
    late: float = 0.0
    """How likely a counter is to fire before it is first moved, if that would be false."""

    def mean(self, counters: Counters) -> float:
        """Of the mistakes, at most; infinite if nothing is proved."""
        if max(self.lost, self.late) >= 1:
            return math.inf
        witnesses = (
            self.accepted * counters.one.mean() + self.false * self.more * counters.last.mean()
        )
        epoch = witnesses / (1 - self.late) + self._places(counters)
        return epoch / (1 - self.lost) * _OUTWARDS

    def _places(self, counters: Counters) -> float:
        return self.places * counters.place.mean() if counters.place else 0.0

    def bound(
        self, counters: Counters, failure_probability: float, *, rough: bool = False
    ) -> float:
        """So many epochs are not all lost, and their counters do not all have large noise."""
        best, sums = math.inf, rough_upper_bound if rough else sum_upper_bound
        for times in range(_MOST_LOST):
            left = failure_probability - self.lost ** (times + 1) * _OUTWARDS
            parts = [
                (counters.one, (times + 1) * self.accepted),
                (counters.last, times * self.more),
            ]
            if counters.place:
                parts.append((counters.place, (times + 1) * self.places))
            if sum(number * part.threshold for part, number in parts) * 0.5 >= best:
                break
            left *= (1 - self.late) ** (parts[0][1] + parts[1][1])
            if left > 0:
                best = min(best, sums(tuple(parts), left))
        return best


def largest_bound(loads: list[Load], counters: Counters, failure_probability: float) -> float:
    """Over all loads; only those are computed to the end that may be the largest."""
    budget = failure_probability
    rough = [(load.bound(counters, budget, rough=True), load) for load in loads]
    largest = 0.0
    for bound, load in sorted(rough, key=lambda pair: -pair[0]):
        if bound <= largest:
            break
        largest = max(largest, min(bound, load.bound(counters, budget)))
    return largest
