"""Equal hypotheses are published in one form."""

from typing import Any

import pytest

from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.json_form import canonical


def grown(*keys: Any) -> FiniteSupport:
    positives: frozenset[Any] = frozenset()
    for key in keys:
        positives |= {key}
    return FiniteSupport(positives)


@pytest.mark.parametrize(
    ("one", "other"),
    [(grown(8, 16), grown(16, 8)), (grown(1), grown(True)), (grown(2, 10, 18), grown(18, 10, 2))],
)
def test_how_a_set_grew_does_not_show(one: FiniteSupport, other: FiniteSupport) -> None:
    assert one == other and repr(one) != repr(other)  # else there would be nothing to hide
    assert repr(canonical(one)) == repr(canonical(other))
    assert canonical(one) == one


class Foreign(FiniteSupport):
    """A kind that the library does not know."""

    def to_json(self) -> dict[str, Any]:
        return {"kind": "foreign"}


def test_a_kind_that_nobody_knows_stays_as_it_is() -> None:
    strange = Foreign(frozenset({1}))
    assert canonical(strange) is strange
    assert canonical(ThresholdHypothesis(6, 2)) == ThresholdHypothesis(6, 2)


def test_a_vote_is_made_of_canonical_members() -> None:
    one, other = (MajorityVote([grown(*keys)] * 3) for keys in ((8, 16), (16, 8)))
    assert one == other and repr(one) != repr(other)
    assert repr(canonical(one)) == repr(canonical(other))
