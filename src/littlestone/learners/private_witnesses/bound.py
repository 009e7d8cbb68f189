"""Proved bounds on the mistakes that counters of witnesses count, with explicit constants."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import WitnessLoad
from littlestone.theory.tails import most_failures

Array = NDArray[np.float64]

_OUTWARDS: Final = 1 + 1e-9
_FLOATING: Final = 1e-11  # far above the error of Fourier transforms in a probability
_NEGLIGIBLE: Final = 36.0  # in logarithms
_MOST_LOST: Final = 60
_MOST_ASTRAY: Final = 3
_LONGEST: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class Counted:
    """How far a counter gets before it fires, if it moves as slowly as possible.

    Each move draws query noise at least once at the new count. So a counter fires at the latest at
    the count of one that moves in every round (recipe.md).
    """

    query_rate: float
    threshold_rate: float
    threshold: int

    def law(self) -> Array:
        """Return the probability of each count; negligible ones are added to the largest count.

        >>> law = Counted(0.78, 0.22, 20).law()
        >>> round(float(law @ np.arange(len(law))), 1)  # without query noise 20 + 4.1
        22.8
        """
        return _law(self.query_rate, self.threshold_rate, self.threshold)

    def mean(self) -> float:
        """Return the mean count, from above."""
        law = self.law()
        return float(law @ np.arange(len(law))) * _OUTWARDS


@lru_cache(maxsize=32)
def _law(query_rate: float, threshold_rate: float, threshold: int) -> Array:
    noise = np.arange(math.ceil(_NEGLIGIBLE / threshold_rate) + 1)
    likely = -math.expm1(-threshold_rate) * np.exp(-threshold_rate * noise)
    gaps = np.arange(min(threshold, math.ceil(_NEGLIGIBLE / query_rate)))
    fires = np.exp(-query_rate * gaps)
    # A gap is reached if no larger one fired; leaving some out only raises the count.
    passed = np.concatenate([np.cumprod((1 - fires)[::-1])[::-1][1:], [1.0]])
    law = np.zeros(threshold + len(noise))
    for gap, probability in zip(gaps.tolist(), (fires * passed).tolist(), strict=True):
        start = threshold - gap
        law[start : start + len(noise)] += likely * probability
    law[-1] += max(0.0, 1 - law.sum())
    return law


def sum_upper_bound(parts: tuple[tuple[Counted, int], ...], failure_probability: float) -> float:
    """Bound the sum of independent counts, except with ``failure_probability``.

    Args:
        parts: Each kind of counter, with how many there are.
        failure_probability: How often the sum may exceed the bound.

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
    """Bound the same sum without query noise: thresholds plus a sum of geometric noises."""
    fixed = sum(times * part.threshold for part, times in parts)
    counters = sum(times for _, times in parts)
    if not counters:
        return 0.0
    stop = -math.expm1(-min(part.threshold_rate for part, times in parts if times))
    return fixed + most_failures(failure_probability / _OUTWARDS, counters, stop)


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a witness, of what ends a lost epoch, and of a place."""

    one: Counted
    last: Counted
    place: Counted | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """One kind of epoch: the counters that move, and how likely it is to go wrong."""

    moved: WitnessLoad
    false: float
    """The mean number of witnesses that are accepted although no mistake named them."""
    again: float = 0.0
    """The same for witnesses that restart the system or undo an accepted one."""
    places: int = 0
    """The number of places drawn in an epoch."""
    misplaced: float = 0.0
    """The probability that an epoch has a false place, or starts again for another reason."""
    late: float = 0.0
    """The probability that a counter fires before its first move, if that is an error."""

    @property
    def risk(self) -> float:
        """Bound the probability that anything goes wrong."""
        return self.false + self.again + self.misplaced

    def mean(self, one: float, last: float, place: float) -> float:
        """Bound the mean of the mistakes, given those of a counter; infinite if nothing is proved.

        Args:
            one: The mean cost of a witness.
            last: The mean cost of a witness that restarts the system or undoes an accepted one.
            place: The mean cost of a place.
        """
        if max(self.misplaced, self.late) >= 1:
            return math.inf
        moved, starts = self.moved, 1 + self.again + (0 if self._goes_back else self.false)
        epochs = starts / (1 - self.misplaced)
        more = self._more(one, last)
        astray = max(moved.astray * last - moved.accepted * one, moved.further * last)
        witnesses = epochs * (moved.accepted * one + self.misplaced * astray) + self.false * more
        return (witnesses / (1 - self.late) + epochs * self.places * place) * _OUTWARDS

    @property
    def _goes_back(self) -> bool:
        return self.moved.back is not None

    def _more(self, one: float, last: float) -> float:
        """Return the cost of a false witness beyond that of the epochs."""
        back = self.moved.back
        return self.moved.further * last if back is None else back * one + last

    def bound(
        self, counters: Counters, failure_probability: float, *, rough: bool = False
    ) -> float:
        """Bound the mistakes: little goes wrong, and the noise of all counters is bounded.

        Args:
            counters: The counters in use.
            failure_probability: How often the mistakes may exceed the bound.
            rough: Use the faster bound without query noise.
        """
        best, sums = math.inf, rough_upper_bound if rough else sum_upper_bound
        for wrong in range(_MOST_LOST):
            for strays in range(_MOST_ASTRAY + 1 if self.misplaced else 1):
                parts = self._parts(counters, wrong, strays)
                left = failure_probability - self._more_wrong(wrong, strays) * _OUTWARDS
                left *= (1 - self.late) ** sum(number for _, number in parts)
                if left > 0 and _fixed(parts) * 0.5 < best:
                    best = min(best, sums(tuple(parts), left))
            if _fixed(self._parts(counters, wrong, 0)) * 0.5 >= best:
                break
        return best

    def _parts(self, counters: Counters, wrong: int, strays: int) -> list[tuple[Counted, int]]:
        """Return the counters that move, given the numbers of false witnesses and places."""
        moved, back = self.moved, self.moved.back
        whole = 1 if self._goes_back else 1 + wrong
        ones = whole * moved.accepted + (0 if back is None else wrong * back)
        lasts = wrong * (moved.further if back is None else 1)
        if moved.astray:
            lasts += strays * moved.astray
        else:
            ones, lasts = ones + strays * moved.accepted, lasts + strays * moved.further
        parts = [(counters.one, ones), (counters.last, lasts)]
        if counters.place:
            parts.append((counters.place, (whole + strays) * self.places))
        return parts

    def _more_wrong(self, wrong: int, strays: int) -> float:
        """Bound the probability that more witnesses or places are false, or too much is undone."""
        false, undone = self.false + self.again, 0.0
        if self._goes_back:
            false, undone = self.false, self.again
        epochs = strays + (1 if self._goes_back else 1 + wrong)
        many = math.exp(
            min(0.0, (wrong + 1) * math.log(max(false, 1e-300)) - math.lgamma(wrong + 2))
        )
        return many + undone + math.comb(epochs, strays + 1) * self.misplaced ** (strays + 1)


def _fixed(parts: list[tuple[Counted, int]]) -> int:
    return sum(number * part.threshold for part, number in parts)


def largest_bound(loads: list[Load], counters: Counters, failure_probability: float) -> float:
    """Return the largest bound of all loads; only candidates for it are computed exactly."""
    budget = failure_probability
    rough = [(load.bound(counters, budget, rough=True), load) for load in loads]
    largest = 0.0
    for bound, load in sorted(rough, key=lambda pair: -pair[0]):
        if bound <= largest:
            break
        largest = max(largest, min(bound, load.bound(counters, budget)))
    return largest
