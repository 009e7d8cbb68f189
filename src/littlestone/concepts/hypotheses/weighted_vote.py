"""A vote of hypotheses with weights, and the steady rule of a run, which is one."""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.common import Exported, shown
from littlestone.concepts.hypotheses.vote import domain_of, first_vote_difference, sort_key
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.concepts.schema import Schema

_MOST_WEIGHT: Final = 1 << 62
_MEMBERS_SHOWN: Final = 3

MOST: Final = 256
"""The largest number of releases that the steady rule depends on."""

# docs/theory/practice-log.md explains how these numbers were chosen.
_PART: Final = 2  # the second half of the known rounds counts as recent
_POWER: Final = 3  # of a round's distance from its beginning: the sum of squares


@require.checked
@dataclass(frozen=True, slots=True, init=False)
class WeightedVote(Exported):
    """Label by the largest total weight of members; the smallest label on ties.

    Weights are positive integers. Equal members are merged and a common divisor of the weights is
    removed, so a vote is equal to another one with the same members in any order. Votes of
    different members may still be the same function, which ``disagreement`` shows.

    >>> from littlestone.concepts.hypotheses.tables import TableHypothesis
    >>> rows = ([0, 0, 1], [0, 1, 1], [1, 1, 0])
    >>> vote = WeightedVote(zip(map(TableHypothesis.from_labels, rows), (6, 2, 2), strict=True))
    >>> vote.many([0, 1, 2]).tolist(), sorted(vote.weights)
    ([0, 0, 1], [1, 1, 3])
    """

    members: tuple[Hypothesis, ...]
    weights: tuple[int, ...]

    def __init__(self, weighted: Iterable[tuple[Hypothesis, int]]) -> None:
        total: dict[Hypothesis, int] = {}
        for member, weight in require.listed(weighted=weighted):
            if not isinstance(member, Hypothesis):
                raise ValueError(f"a member must be a hypothesis, got {require.shown(member)}")
            require.integer(weight=weight, at_least=1, at_most=_MOST_WEIGHT)
            total[member] = total.get(member, 0) + int(weight)
        if not 0 < sum(total.values()) <= _MOST_WEIGHT:
            raise ValueError(
                "members must not be empty, and their weights must sum to at most 2**62"
            )
        members = tuple(sorted(total, key=sort_key))
        shared = math.gcd(*total.values())
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "weights", tuple(total[member] // shared for member in members))

    @property
    def domain(self) -> Domain:
        """The points that have a label."""
        return domain_of(*self.members)

    def __call__(self, x: Any, /) -> Label:
        votes: dict[Label, int] = {}
        for member, weight in zip(self.members, self.weights, strict=True):
            label = member(x)
            votes[label] = votes.get(label, 0) + weight
        return min(votes, key=lambda label: (-votes[label], label))

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs)
        said = np.stack([member.many(points) for member in self.members])
        labels = np.unique(said)
        if not labels.size:
            return np.zeros(0, dtype=np.uint8)
        weights = np.array(self.weights, dtype=np.int64)
        votes = np.stack([weights @ (said == label) for label in labels])
        return np.asarray(labels[votes.argmax(axis=0)], dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Return the first point on which the two differ, found as for a majority vote."""
        return None if self == other else first_vote_difference(self, other)

    def to_json(self) -> dict[str, Any]:
        pairs = zip(self.members, self.weights, strict=True)
        members = [{"weight": weight, "rule": member.to_json()} for member, weight in pairs]
        return {"kind": "weighted_vote", "members": members}

    @classmethod
    def from_json(
        cls, data: dict[str, Any], member_from_json: Callable[[dict[str, Any]], Hypothesis]
    ) -> Self:
        """Read a vote back; ``member_from_json`` reads one member."""
        members = data.get("members")
        if not isinstance(members, list) or not all(isinstance(one, dict) for one in members):
            raise ValueError(f"members must be a list of objects, got {require.shown(members)}")
        return cls([(member_from_json(one.get("rule")), one.get("weight")) for one in members])

    def describe(self) -> str:
        """Return the members by weight, with their shares of the vote."""
        order = sorted(range(len(self.members)), key=lambda place: -self.weights[place])
        total = sum(self.weights)
        words = [
            f"{100 * self.weights[place] / total:.0f} % ({self.members[place].describe()})"
            for place in order
        ]
        if len(words) == 1:
            return self.members[0].describe()
        return f"vote of {len(words)} rules: {', '.join(shown(words, _MEMBERS_SHOWN))}"

    def text(self) -> str:
        """Return each rule under its share of the vote."""
        total = sum(self.weights)
        parts = []
        for place in sorted(range(len(self.members)), key=lambda at: -self.weights[at]):
            member = self.members[place]
            rule_text = member.text() if isinstance(member, Exported) else member.describe()
            parts.append(f"{100 * self.weights[place] / total:.0f} % of the vote:\n{rule_text}")
        return "\n\n".join(parts)


class Releases:
    """The recent releases of a run that the steady rule depends on.

    A learner that adapts to changes sometimes publishes a rule and soon replaces it. The steady
    rule is a vote of the recently published rules, weighted by how long and how recently each was
    in force. It depends only on public releases, so it costs no privacy.

    >>> from littlestone.concepts.hypotheses.decision_tree import DecisionTree
    >>> schema = Schema.from_mapping({"delay": {"grid": [0, 15]}})
    >>> never, late = DecisionTree(schema, 0), DecisionTree(schema, ((0, 2, 2), 1, 0))
    >>> rounds = ((0, never), (64, late), (9_000, never), (9_010, late), (9_500, never))
    >>> Releases(rounds).steady() == late
    True
    >>> Releases(rounds[:3]).steady() == never  # not among the recent rules
    True
    """

    def __init__(self, known: Iterable[tuple[int, Hypothesis]] = ()) -> None:
        self._known: list[tuple[int, Hypothesis]] = []
        for after_round, rule in known:
            self.add(after_round, rule)

    def add(self, after_round: int, rule: Hypothesis) -> bool:
        """Record the rule in force after a round; return whether it differs from the last."""
        if self._known and (self._known[-1][1] is rule or self._known[-1][1] == rule):
            return False
        self._known.append((after_round, rule))
        del self._known[:-MOST]
        return True

    def steady(self) -> Hypothesis:
        """Return the vote of the rules in force in the second half of the known rounds.

        A rule's weight is the sum over the rounds in which it was in force, each counted by the
        square of its distance from the beginning of that half: a late round counts more. The last
        rule is counted for its average stay more, since it is still in force. If it was first
        published in that half, only rounds since then count: before, it could not be chosen. The
        result is the last rule itself if it was not published before (it is new), if most recent
        rules are new (the law drifts), or if the rules are not over records (a key that was listed
        last is listed). A rule with more than half of the weight is returned instead of the vote.
        """
        newest, last = self._known[-1]
        begin = newest - (newest - self._known[0][0]) // _PART
        if not isinstance(domain_of(last), Schema) or self._drifts(begin):
            return last
        begin = max(begin, next(start for start, rule in self._known if rule == last))
        stays = [
            (max(start, begin), until, rule)
            for (start, rule), (until, _) in itertools.pairwise(self._known)
            if until > begin
        ]
        own = [until - start for start, until, rule in stays if rule == last]
        if not own:
            return last
        weights: dict[Hypothesis, int] = {}
        for start, until, rule in [*stays, (newest, newest + sum(own) // len(own), last)]:
            votes = (until - begin) ** _POWER - (start - begin) ** _POWER
            weights[rule] = weights.get(rule, 0) + votes
        total = sum(weights.values())
        first = max(weights, key=lambda rule: weights[rule])
        if 2 * weights[first] > total:
            return first
        shift = max(0, total.bit_length() - _MOST_WEIGHT.bit_length() + 1)
        pairs = ((rule, votes >> shift) for rule, votes in weights.items())
        return WeightedVote((rule, weight) for rule, weight in pairs if weight)

    def _drifts(self, begin: int) -> bool:
        """Return whether most rules published since ``begin`` are new."""
        before = {rule for start, rule in self._known if start < begin}
        recent = [rule for start, rule in self._known if start >= begin]
        return 2 * sum(rule not in before for rule in recent) > len(recent)

    def to_json(self) -> list[list[Any]]:
        """Return the JSON form."""
        return [[after_round, rule.to_json()] for after_round, rule in self._known]
