"""Cuts that halve the columns of a table again and again: a grid that was paid for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness

_EXPONENTS: Final = range(-9, 15)  # up to 9.9999e14, so that floats hold all that is whole
_FITTING: Final = {
    "levels": range(1, 7),
    "digits": range(1, 6),
    "least": _EXPONENTS,
    "most": _EXPONENTS,
}

Part = tuple[int, int]
"""The candidates from the first up to the second; its values lie between those next to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateCuts:
    """Cut each column of a table of numbers into parts of about equal size.

    Candidates are the decimal numbers with at most ``digits`` digits from 10**least up to
    10**(most + 1), those below zero, and zero: fixed beforehand, the same for all data. Of a column
    that is among the ``whole`` ones, which are declared, only whole numbers are. A cut c is between
    the values below c and the others. In each of ``levels`` steps every part of a column
    is cut where its two sides are about equal, or not at all, if the better side of every cut has
    hardly anything. So a column has up to 2**levels - 1 cuts, fewer if it has few different values
    or few rows. A value that is not a number lies in no part: a row may have none in a column.

    Privacy:
        Releases:   the cuts of every column
        Neighbours: replace: tables that differ in one row, by any values or none in any column; one
                    row more or less costs half. The number of rows is no parameter and not public.
        Adversary:  adaptive; may choose tables after seeing earlier releases
        Guarantee:  (epsilon, 0)
        Assumes:    timing
        Proof:      private_cuts.md

    >>> from littlestone.randomness import seeded
    >>> recipe = PrivateCuts(epsilon=40.0, columns=1, levels=2)
    >>> recipe.guarantee()
    PrivacyGuarantee(epsilon=40.0, delta=0.0)
    >>> (cuts,) = recipe.release([np.arange(1000.0)], rng=seeded(1))
    >>> [round(cut, -1) for cut in cuts]
    [250.0, 500.0, 750.0]
    """

    epsilon: float
    columns: int
    levels: int = 3
    digits: int = 4
    least: int = -6
    most: int = 14
    whole: tuple[int, ...] = ()
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.positive(epsilon=self.epsilon)
        require.integer(columns=self.columns, at_least=1)
        for name, known in _FITTING.items():
            if getattr(self, name) not in known:
                limits = f"from {known[0]} to {known[-1]}"
                raise ValueError(f"{name} must be {limits}, got {name}={getattr(self, name)!r}")
        if self.least > self.most:
            raise ValueError(f"most must be at least {self.least}, got most={self.most}")
        if not set(self.whole) <= set(range(self.columns)):
            raise ValueError(f"whole must be places of columns, got whole={self.whole!r}")
        # A row that is replaced leaves one part of each level and comes into one.
        share = Fraction(self.epsilon) / (2 * self.levels * self.columns)
        mechanism = ExponentialMechanism(epsilon=float_at_most(share), range_width=2)
        object.__setattr__(self, "_mechanism", mechanism)

    def guarantee(self) -> PrivacyGuarantee:
        """The cost of one release, for a row that is replaced."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def release(self, table: Sequence[ArrayLike], *, rng: Randomness) -> list[tuple[float, ...]]:
        """The cuts of each column, increasing; a row's values stand at one place of the columns."""
        known = [np.asarray(column, dtype=np.float64) for column in table]
        if len(known) != self.columns or {column.shape for column in known} - {known[0].shape}:
            raise ValueError(f"table must have {self.columns} columns that are equally long")
        released = []
        for place, column in enumerate(known):
            candidates = decimals(self.digits, self.least, self.most, place in self.whole)
            cuts = sorted(self._cuts(_below(column, candidates), rng))
            released.append(tuple(candidates[cuts].tolist()))
        return released

    def _cuts(self, below: NDArray[np.int64], rng: Randomness) -> Iterator[int]:
        parts: list[Part] = [(0, len(below) - 1)]
        for _ in range(self.levels):  # (L2)
            halves: list[Part] = []
            for first, end in parts:
                cut = self._cut(below, first, end, rng)
                if cut is not None:
                    yield cut
                    halves += [(first, cut), (cut + 1, end)]
            parts = [(first, end) for first, end in halves if first < end]  # (L6)

    def _cut(self, below: NDArray[np.int64], first: int, end: int, rng: Randomness) -> int | None:
        """Where a part is cut; as many candidates say that it is not."""
        under = below[first:end] - (below[first - 1] if first else 0)
        inside = int(below[end] - (below[first - 1] if first else 0))
        unequal = np.abs(2 * under - inside)  # (L3)
        without = np.full(end - first, 3 * inside // 4)  # (L4)
        (chosen,) = self._mechanism.draw(np.concatenate([unequal, without]), rng=rng)  # (L5)
        return None if chosen >= end - first else first + chosen


def _below(column: NDArray[np.float64], candidates: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many values lie below each candidate, and how many there are at all."""
    values = column[~np.isnan(column)]
    places = np.searchsorted(candidates, values, side="right")
    return np.cumsum(np.bincount(places, minlength=len(candidates) + 1))  # (L1)


@lru_cache(maxsize=4)
def decimals(digits: int, least: int, most: int, whole: bool = False) -> NDArray[np.float64]:
    """All candidates, increasing; each is the float that its decimal form is read as.

    >>> decimals(1, -1, 0).tolist()[17:21], decimals(1, -1, 0, whole=True).tolist()[9:12]
    ([-0.1, 0.0, 0.1, 0.2], [0.0, 1.0, 2.0])
    """
    mantissas = np.arange(10 ** (digits - 1), 10**digits, dtype=np.float64)
    powers = [exponent - (digits - 1) for exponent in range(least, most + 1)]
    # Both sides of each product and quotient are exact, so the result is rounded once.
    positive = np.concatenate(
        [mantissas * 10.0**power if power >= 0 else mantissas / 10.0**-power for power in powers]
    )
    if whole:
        positive = positive[positive == np.floor(positive)]
    return np.concatenate([-positive[::-1], [0.0], positive])
