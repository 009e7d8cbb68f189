"""What each round's example has paid so far: exact sums that are constant between few rounds."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_NOTHING: Final = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Exact totals of one example: plain epsilon and delta, and concentrated rho."""

    epsilon: Fraction = _NOTHING
    delta: Fraction = _NOTHING
    rho: Fraction = _NOTHING

    def __add__(self, other: "Load") -> "Load":
        return Load(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
        )

    def __neg__(self) -> "Load":
        return Load(epsilon=-self.epsilon, delta=-self.delta, rho=-self.rho)


class Loads:
    """A load for every round from 1 on, kept as stretches of rounds with equal loads.

    >>> loads = Loads()
    >>> loads.add(Load(epsilon=Fraction(1)), first=3, last=5)
    >>> loads.add(Load(epsilon=Fraction(1)), first=5, last=None)
    >>> [int(load.epsilon) for load in loads]  # rounds 1-2, 3-4, 5, and from 6 on
    [0, 1, 2, 1]
    """

    def __init__(self) -> None:
        self._firsts = [1]
        self._loads = [Load()]

    def __iter__(self) -> Iterator[Load]:
        return iter(self._loads)

    def add(self, load: Load, *, first: int, last: int | None) -> None:
        """Add to all rounds from ``first`` to ``last``; to all later ones if that is None."""
        for index in self._between(first, last):
            self._loads[index] += load

    def largest(self, *, first: int, last: int | None) -> Load:
        """The largest of each number among these rounds."""
        loads = [self._loads[index] for index in self._between(first, last)]
        return Load(
            epsilon=max((load.epsilon for load in loads), default=_NOTHING),
            delta=max((load.delta for load in loads), default=_NOTHING),
            rho=max((load.rho for load in loads), default=_NOTHING),
        )

    def _between(self, first: int, last: int | None) -> range:
        start = self._cut(first)
        stop = len(self._firsts) if last is None else self._cut(last + 1)
        return range(start, stop)

    def _cut(self, round_number: int) -> int:
        """Index of the stretch that begins at this round, which is made if need be."""
        index = bisect_left(self._firsts, round_number)
        if index == len(self._firsts) or self._firsts[index] != round_number:
            before = self._loads[bisect_right(self._firsts, round_number) - 1]
            self._firsts.insert(index, round_number)
            self._loads.insert(index, before)
        return index
