"""The majority vote of an odd number of hypotheses."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point

_LARGEST_SCAN = 1 << 24
_BLOCK = 1 << 16
_MEMBERS_SHOWN = 3


@dataclass(frozen=True, slots=True, init=False)
class MajorityVote:
    """Label 1 where more than half of the members do.

    Equal to another vote with the same members, in any order. Two different juries may still
    agree everywhere: ``disagreement`` tells, on a finite domain.

    >>> from littlestone.concepts.table import TableHypothesis
    >>> rows = ([0, 0, 1], [0, 1, 1], [1, 1, 0])
    >>> vote = MajorityVote(TableHypothesis.from_labels(row) for row in rows)
    >>> vote.many([0, 1, 2]).tolist()
    [0, 1, 1]
    >>> MajorityVote.from_json(vote.to_json(), TableHypothesis.from_json) == vote
    True
    """

    members: tuple[Hypothesis, ...]

    def __init__(self, members: Iterable[Hypothesis]) -> None:
        jury = tuple(sorted(members, key=_sort_key))
        if len(jury) % 2 == 0:
            raise ValueError(f"members must be odd in number, got {len(jury)} members")
        object.__setattr__(self, "members", jury)

    def __call__(self, x: Any, /) -> Label:
        return int(2 * sum(member(x) for member in self.members) > len(self.members))

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        votes = np.array([member.many(xs) for member in self.members], dtype=np.int64)
        return np.asarray(2 * votes.sum(axis=0) > len(self.members), dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """The first point of the finite domain on which the two differ.

        The domain is that of the first member that tells its own; ValueError if there is none
        or it is too large to scan.
        """
        if self == other:
            return None
        points = iter(self._domain())
        while block := list(islice(points, _BLOCK)):
            differs = np.flatnonzero(self.many(block) != other.many(block))
            if differs.size:
                return block[int(differs[0])]
        return None

    def to_json(self) -> dict[str, Any]:
        return {"kind": "majority_vote", "members": [member.to_json() for member in self.members]}

    @classmethod
    def from_json(
        cls, data: dict[str, Any], member_from_json: Callable[[dict[str, Any]], Hypothesis]
    ) -> Self:
        """Read a vote back; ``member_from_json`` reads one member."""
        members = data.get("members")
        if not isinstance(members, list):
            raise ValueError(f"members must be a list, got members={members!r}")
        return cls(member_from_json(member) for member in members)

    def describe(self) -> str:
        shown = [member.describe() for member in self.members[:_MEMBERS_SHOWN]]
        if len(self.members) > _MEMBERS_SHOWN:
            shown.append("…")
        return f"majority of {len(self.members)}: {'; '.join(shown)}"

    def _domain(self) -> Domain:
        for member in self.members:
            domain: Domain | None = getattr(member, "domain", None)
            if domain is not None and domain.size is not None and domain.size <= _LARGEST_SCAN:
                return domain
        raise ValueError(f"no member of {self.describe()} tells a domain small enough to scan")


def _sort_key(member: Hypothesis) -> str:
    # JSON is the one order that hypotheses of different kinds share.
    return json.dumps(member.to_json(), sort_keys=True)
