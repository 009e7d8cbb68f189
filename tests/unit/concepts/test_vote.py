"""A majority vote is decided by more than half, whatever the order of its members."""

from typing import Any

import pytest

from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.table import TableHypothesis
from littlestone.concepts.vote import MajorityVote


def table(*labels: int) -> TableHypothesis:
    return TableHypothesis.from_labels(labels)


VOTE = MajorityVote([table(0, 0, 1, 1), table(0, 1, 0, 1), table(0, 1, 1, 0)])


class Unbounded:
    """A hypothesis over every key, which therefore tells no finite domain."""

    def __call__(self, x: Any, /) -> int:
        return 0

    def to_json(self) -> dict[str, Any]:
        return {"kind": "nothing"}

    def describe(self) -> str:
        return "never"


def test_more_than_half_decide() -> None:
    assert [VOTE(x) for x in range(4)] == [0, 1, 1, 1]
    assert VOTE.many([3, 0]).tolist() == [1, 0]
    assert VOTE.many([]).tolist() == []


@pytest.mark.parametrize("count", [0, 2, 4])
def test_even_juries_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"members must be odd in number, got {count}"):
        MajorityVote([table(0, 1)] * count)


def test_the_order_of_the_members_does_not_matter() -> None:
    turned = MajorityVote(reversed(VOTE.members))
    assert turned == VOTE and hash(turned) == hash(VOTE)
    assert MajorityVote([table(0, 1)] * 3) != MajorityVote([table(0, 1)])


def test_disagreement_scans_the_finite_domain_in_order() -> None:
    assert VOTE.disagreement(VOTE) is None
    assert VOTE.disagreement(table(0, 1, 1, 1)) is None
    assert VOTE.disagreement(table(0, 1, 0, 0)) == 2
    assert MajorityVote([table(0, 1)] * 3).disagreement(MajorityVote([table(0, 1)])) is None


def test_disagreement_never_scans_an_unbounded_domain() -> None:
    nothing: Hypothesis = Unbounded()  # type: ignore[assignment]
    with pytest.raises(ValueError, match="domain small enough to scan"):
        MajorityVote([nothing]).disagreement(VOTE)


def test_json_and_words() -> None:
    assert MajorityVote.from_json(VOTE.to_json(), TableHypothesis.from_json) == VOTE
    assert VOTE.describe().startswith("majority of 3: ")
    assert MajorityVote([table(0, 1)] * 5).describe().endswith("; …")
    with pytest.raises(ValueError, match="members must be a list"):
        MajorityVote.from_json({"kind": "majority_vote"}, TableHypothesis.from_json)
