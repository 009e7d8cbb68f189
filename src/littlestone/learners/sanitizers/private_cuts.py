"""Private cut points that halve the columns of a table again and again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness

_EXPONENTS: Final = range(-9, 15)  # up to 9.9999e14, so that floats hold whole numbers exactly
_FITTING: Final = {
    "levels": range(1, 7),
    "digits": range(1, 6),
    "least": _EXPONENTS,
    "most": _EXPONENTS,
}

Part = tuple[int, int]
"""The candidates from the first up to, not including, the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateCuts:
    """Cut each column of a table of numbers into parts of about equal size.

    The candidates are the decimal numbers with at most ``digits`` digits from 10**least up to
    10**(most + 1), their negatives, and zero: fixed in advance, the same for all data. In a column
    that is declared ``whole`` only whole numbers are candidates. A cut c separates the values below
    c from the others. In each of ``levels`` steps every part of a column is cut where its two sides
    are about equal, or not at all if the smaller side of every cut is nearly empty. So a column has
    up to 2**levels - 1 cuts, fewer if it has few distinct values or few rows. A NaN lies in no
    part: a row may have no value in a column.

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
            raise ValueError(
                f"whole must hold column numbers below {self.columns}, got {self.whole!r}"
            )
        # A replaced row leaves one part of each level and enters another.
        share = Fraction(self.epsilon) / (2 * self.levels * self.columns)
        mechanism = ExponentialMechanism(epsilon=float_at_most(share), range_width=2)
        object.__setattr__(self, "_mechanism", mechanism)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one release, for a replaced row."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def release(self, table: Sequence[ArrayLike], *, rng: Randomness) -> list[tuple[float, ...]]:
        """Return the increasing cuts of each column.

        Args:
            table: The columns, of equal length; entry i of each column belongs to row i.
            rng: The source of noise.
        """
        known = [np.asarray(column, dtype=np.float64) for column in table]
        if len(known) != self.columns or {column.shape for column in known} - {known[0].shape}:
            raise ValueError(f"table must have {self.columns} columns of equal length")
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
        """Draw where a part is cut, or None; "no cut" has as many candidates as all cuts."""
        under = below[first:end] - (below[first - 1] if first else 0)
        inside = int(below[end] - (below[first - 1] if first else 0))
        unequal = np.abs(2 * under - inside)  # (L3)
        without = np.full(end - first, 3 * inside // 4)  # (L4)
        (chosen,) = self._mechanism.draw(np.concatenate([unequal, without]), rng=rng)  # (L5)
        return None if chosen >= end - first else first + chosen


def _below(column: NDArray[np.float64], candidates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many values lie below each candidate, and how many there are."""
    values = column[~np.isnan(column)]
    places = np.searchsorted(candidates, values, side="right")
    return np.cumsum(np.bincount(places, minlength=len(candidates) + 1))  # (L1)


@lru_cache(maxsize=4)
def decimals(digits: int, least: int, most: int, whole: bool = False) -> NDArray[np.float64]:
    """Return all candidates in increasing order, each the float nearest its decimal form.

    >>> decimals(1, -1, 0).tolist()[17:21], decimals(1, -1, 0, whole=True).tolist()[9:12]
    ([-0.1, 0.0, 0.1, 0.2], [0.0, 1.0, 2.0])
    """
    mantissas = np.arange(10 ** (digits - 1), 10**digits, dtype=np.float64)
    powers = [exponent - (digits - 1) for exponent in range(least, most + 1)]
    # Both operands are exact, so the result is rounded once.
    positive = np.concatenate(
        [mantissas * 10.0**power if power >= 0 else mantissas / 10.0**-power for power in powers]
    )
    if whole:
        positive = positive[positive == np.floor(positive)]
    return np.concatenate([-positive[::-1], [0.0], positive])
