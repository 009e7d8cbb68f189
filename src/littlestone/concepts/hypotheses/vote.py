"""The majority vote of an odd number of hypotheses."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import AnyHashable, IntegerRange
from littlestone.concepts.hypotheses.common import Exported, first_seen_difference, shown
from littlestone.concepts.hypotheses.runs import first_difference
from littlestone.concepts.hypotheses.support import support_of
from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.concepts.schema import label_values

_LARGEST_SCAN = 1 << 24
_MEMBERS_SHOWN = 3


@require.checked
@dataclass(frozen=True, slots=True, init=False)
class MajorityVote(Exported):
    """Label 1 where more than half of the members have label 1.

    Equal to another vote with the same members, in any order. Votes of different members may still
    be the same function, which ``disagreement`` shows.

    >>> from littlestone.concepts.hypotheses.tables import TableHypothesis
    >>> rows = ([0, 0, 1], [0, 1, 1], [1, 1, 0])
    >>> vote = MajorityVote(TableHypothesis.from_labels(row) for row in rows)
    >>> vote.many([0, 1, 2]).tolist()
    [0, 1, 1]
    """

    members: tuple[Hypothesis, ...]

    def __init__(self, members: Iterable[Hypothesis]) -> None:
        jury = tuple(sorted(require.listed(Hypothesis, members=members), key=sort_key))
        if len(jury) % 2 == 0:
            raise ValueError(f"members must be odd in number, got {len(jury)} members")
        count = len(label_values(domain_of(*jury)))
        if count > 2:
            raise ValueError(f"members must have two labels, got {count}; use WeightedVote")
        object.__setattr__(self, "members", jury)

    def __call__(self, x: Any, /) -> Label:
        return int(2 * sum(member(x) for member in self.members) > len(self.members))

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        votes = np.array([member.many(xs) for member in self.members], dtype=np.int64)
        return np.asarray(2 * votes.sum(axis=0) > len(self.members), dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Return the first point on which the two differ, in the order of their domain.

        Integers are compared run by run, finite supports by their keys, other domains point by
        point if they are small; ValueError otherwise.
        """
        return None if self == other else first_vote_difference(self, other)

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
        return cls([member_from_json(member) for member in members])

    def describe(self) -> str:
        if len(self.members) == 1:
            return self.members[0].describe()
        words = [member.describe() for member in self.members]
        return f"majority of {len(words)}: {'; '.join(shown(words, _MEMBERS_SHOWN))}"


def first_vote_difference(vote: Hypothesis, other: Hypothesis) -> Point | None:
    """Return the first point of their domain on which a vote and a hypothesis differ."""
    domain = domain_of(vote, other)
    if isinstance(domain, IntegerRange):
        return first_difference(vote, other, domain.n)
    if domain.size is None:
        differs = support_of(vote, domain) ^ support_of(other, domain)
        return min(differs, key=key_order, default=None)
    if domain.size > _LARGEST_SCAN:
        raise ValueError(f"{domain} is too large to scan for a point on which two votes differ")
    first: Point | None = first_seen_difference(vote, other, domain)
    return first


def domain_of(*hypotheses: Hypothesis) -> Domain:
    """Return the first domain among the hypotheses and their members; any keys by default."""
    for hypothesis in hypotheses:
        for part in (hypothesis, *getattr(hypothesis, "members", ())):
            domain: Domain | None = getattr(part, "domain", None)
            if domain is not None:
                return domain
    return AnyHashable()


def sort_key(member: Hypothesis) -> str:
    """Return the JSON text, by which hypotheses of different kinds are ordered."""
    return json.dumps(member.to_json(), sort_keys=True)
