"""Table hypotheses are values: labels, equality, disagreement, JSON, words."""

from typing import Any

import numpy as np
import pytest

from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote

RULE = TableHypothesis.from_labels([0, 1, 1, 0, 1])


@pytest.mark.parametrize("bad", [-1, 5, 0.0, float("nan"), "1", None])
def test_points_outside_the_table_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"x must be an integer from 0 to 4, got x="):
        RULE(bad)
    with pytest.raises(ValueError, match=r"x must be an integer from 0 to 4, got x="):
        RULE.many([bad])


@pytest.mark.parametrize("bad", [b"", b"\2", b"01", [0, 1], None, "01"])
def test_labels_other_than_zero_and_one_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^labels must .* got labels="):
        TableHypothesis(bad)


@pytest.mark.parametrize("bad", [2, -1, 0.5, float("nan"), None])
def test_label_lists_name_the_bad_label(bad: Any) -> None:
    with pytest.raises(ValueError, match="label must be 0 or 1"):
        TableHypothesis.from_labels([0, bad])


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"size": 5},
        {"size": 5, "bits": "zz"},
        {"size": 5, "bits": "0000"},
        {"size": 5, "bits": "ff"},  # bits beyond the fifth point
        {"size": 9, "bits": "16"},
        {"size": -5, "bits": "16"},
        {"size": 5.0, "bits": "16"},
        {"size": True, "bits": "01"},
    ],
)
def test_broken_json_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        TableHypothesis.from_json(data)


def test_json_is_compact() -> None:
    assert RULE.to_json() == {"kind": "table", "size": 5, "bits": "16"}


def test_equal_tables_are_one_key() -> None:
    twin = TableHypothesis(bytes([0, 1, 1, 0, 1]))
    assert twin == RULE and hash(twin) == hash(RULE) and len({twin, RULE}) == 1
    assert TableHypothesis.from_labels([0, 1, 1, 0]) != RULE


def test_disagreement_is_the_smallest_point_for_any_kind_of_hypothesis() -> None:
    other = TableHypothesis.from_labels([0, 1, 0, 1, 1])
    assert RULE.disagreement(other) == 2
    assert RULE.disagreement(MajorityVote([other])) == 2
    assert RULE.disagreement(MajorityVote([RULE])) is None
    with pytest.raises(ValueError, match="other must be over 5 points, got 2"):
        RULE.disagreement(TableHypothesis.from_labels([0, 1]))


def test_the_table_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        RULE.as_array()[0] = 1


def test_many_takes_arrays_lists_and_nothing() -> None:
    assert RULE.many(np.array([4, 0])).tolist() == [1, 0]
    assert RULE.many([]).tolist() == []
    assert RULE.many([1]).dtype == np.uint8


def test_words() -> None:
    assert RULE.describe() == "1 on 1-2, 4 out of 0-4"
    assert TableHypothesis(bytes(3)).describe() == "0 on all of 0-2"
    assert TableHypothesis(bytes([1, 1])).describe() == "1 on all of 0-1"
    assert TableHypothesis(bytes([0, 1] * 10)).describe().endswith("11, … out of 0-19")
