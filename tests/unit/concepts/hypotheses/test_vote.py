"""A majority vote is decided by more than half, whatever the order of its members."""

from typing import Any

import pytest

from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.runs import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Hypothesis


def table(*labels: int) -> TableHypothesis:
    return TableHypothesis.from_labels(labels)


VOTE = MajorityVote([table(0, 0, 1, 1), table(0, 1, 0, 1), table(0, 1, 1, 0)])


class Unbounded:
    """A hypothesis over every key that is 1 nobody knows where."""

    def __call__(self, x: Any, /) -> int:
        return 0

    def to_json(self) -> dict[str, Any]:
        return {"kind": "nothing"}

    def many(self, xs: Any, /) -> Any:
        return [0] * len(xs)

    def disagreement(self, other: Any, /) -> Any:
        raise AssertionError("nobody asks")

    def describe(self) -> str:
        return "never"


class Parity:
    """A hypothesis over a cube, of which a vote knows nothing but the domain."""

    def __init__(self, n: int, flip: int = 0) -> None:
        self.domain = BooleanCube(n)
        self._flip = flip

    def many(self, xs: Any, /) -> Any:
        return (self.domain.check_many(xs).sum(axis=1) + self._flip) % 2

    def to_json(self) -> dict[str, Any]:
        return {"kind": "parity", "n": self.domain.n, "flip": self._flip}

    def disagreement(self, other: Any, /) -> Any:
        raise AssertionError("nobody asks")

    def describe(self) -> str:
        return "parity"


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


def test_disagreement_is_the_smallest_point() -> None:
    assert VOTE.disagreement(VOTE) is None
    assert VOTE.disagreement(table(0, 1, 1, 1)) is None
    assert VOTE.disagreement(table(0, 1, 0, 0)) == 2
    assert MajorityVote([table(0, 1)] * 3).disagreement(MajorityVote([table(0, 1)])) is None


def test_disagreement_on_a_long_range_goes_run_by_run() -> None:
    n = 2**40
    steps = [StepFunction(n=n, first=0, changes=(cut,)) for cut in (5, 2**20, 2**39)]
    median = MajorityVote(steps)
    assert median.disagreement(steps[1]) is None
    assert median.disagreement(steps[0]) == 5
    assert median.disagreement(MajorityVote([steps[2]])) == 2**20
    assert median.disagreement(FiniteSupport.on(7)) == 7


def test_disagreement_of_finite_supports_needs_no_domain() -> None:
    jury = MajorityVote([FiniteSupport.on("a"), FiniteSupport.on("a", "b"), FiniteSupport.on()])
    assert jury.disagreement(FiniteSupport.on("a")) is None
    assert jury.disagreement(FiniteSupport.on("c")) == "a"
    assert FiniteSupport.on("a", "z").disagreement(jury) == "z"
    nothing: Hypothesis = Unbounded()
    with pytest.raises(ValueError, match="must be 1 on finitely many known keys"):
        jury.disagreement(nothing)


def test_disagreement_scans_other_domains_while_they_are_small() -> None:
    even: Hypothesis = Parity(3)  # type: ignore[assignment]
    odd: Hypothesis = Parity(3, flip=1)  # type: ignore[assignment]
    assert MajorityVote([even]).disagreement(odd) == (0, 0, 0)
    assert MajorityVote([even]).disagreement(even) is None
    huge: Hypothesis = Parity(60)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="too large to scan"):
        MajorityVote([huge]).disagreement(huge)


def test_json_and_words() -> None:
    assert MajorityVote.from_json(VOTE.to_json(), TableHypothesis.from_json) == VOTE
    assert VOTE.describe().startswith("majority of 3: ")
    assert MajorityVote([table(0, 1)] * 5).describe().endswith("; …")
    with pytest.raises(ValueError, match="members must be a list"):
        MajorityVote.from_json({"kind": "majority_vote"}, TableHypothesis.from_json)
