"""Split any interval of rounds into few intervals from a fixed family: the dyadic ones."""

from dataclasses import dataclass
from typing import TypeVar

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated

Interval = tuple[int, int]
Cost = TypeVar("Cost", PrivacyGuarantee, ZeroConcentrated)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DyadicIntervals:
    """The intervals [k * 2**j + 1, (k + 1) * 2**j] within rounds 1 .. ``rounds``.

    If each is released once, when it is over, at the cost ``share(total)``, all of them together
    cost ``total``: a round lies in at most one interval of each length.

    Privacy:
        Releases:   nothing by itself; it says which intervals to release
        Neighbours: streams that differ in one round
        Adversary:  adaptive; an interval is over before anything of it is released
        Guarantee:  that of ``levels`` releases from the same data
        Assumes:    nothing
        Proof:      binary_mechanism.md

    >>> intervals = DyadicIntervals(rounds=16)
    >>> intervals.decompose(2, 15)
    [(2, 2), (3, 4), (5, 8), (9, 12), (13, 14), (15, 15)]
    >>> intervals.closing_at(12)
    [(12, 12), (11, 12), (9, 12)]
    >>> intervals.levels
    5
    """

    rounds: int

    def __post_init__(self) -> None:
        require.usual_fields(self)

    @property
    def levels(self) -> int:
        """The number of lengths, which bounds the number of intervals that contain a round."""
        return int(self.rounds).bit_length()

    def decompose(self, left: int, right: int) -> list[Interval]:
        """Return disjoint dyadic intervals, in order, that cover rounds ``left`` to ``right``."""
        require.integer(right=right, at_least=1, at_most=self.rounds)
        require.integer(left=left, at_least=1, at_most=right)
        pieces = []
        while left <= right:
            room = 1 << (right - left + 1).bit_length() - 1
            aligned = (left - 1) & -(left - 1) or room
            size = min(aligned, room)
            pieces.append((left, left + size - 1))
            left += size
        return pieces

    def closing_at(self, round_number: int) -> list[Interval]:
        """Return the intervals whose last round this is, shortest first."""
        require.integer(round_number=round_number, at_least=1, at_most=self.rounds)
        longest = round_number & -round_number
        return [
            (round_number - (1 << level) + 1, round_number) for level in range(longest.bit_length())
        ]

    def share(self, total: Cost) -> Cost:
        """Return what each interval may cost, so that all of them together cost ``total``."""
        return total.divided(self.levels)
