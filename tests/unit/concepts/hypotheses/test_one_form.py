"""Votes that are the same function have the same form, and the form is that function."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.hypotheses.cube import CubeTable, WeightedFeatures
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.json_form import hypothesis_from_json, one_form
from littlestone.concepts.schema import Schema
from littlestone.learners.online.linear import simplified

SCHEMA = Schema.from_mapping({"a": {"grid": [0]}, "b": {"values": ["x", "y"]}})
CLASSES: list[Any] = [
    Intervals(5),
    Points(6),
    SparseSets(2, 4),
    Conjunctions(2),
    MonotoneDisjunctions(2, 3),
    Stumps(SCHEMA, depth=2),
]


@pytest.mark.parametrize("concepts", CLASSES, ids=lambda concepts: type(concepts).__name__)
def test_forms_are_equal_exactly_for_equal_functions(concepts: Any) -> None:
    points = list(concepts.domain)
    block = concepts.domain.check_many(points)
    forms: dict[bytes, set[Any]] = {}
    votes = 0
    for jury in combinations(list(concepts.concepts())[:12], 3):
        vote = MajorityVote(jury)
        form, votes = one_form(vote), votes + 1
        assert form.many(block).tobytes() == vote.many(block).tobytes()
        assert [form(x) for x in points] == vote.many(block).tolist()
        assert form.disagreement(vote) is None
        assert hypothesis_from_json(form.to_json()) == form
        forms.setdefault(vote.many(block).tobytes(), set()).add(form)
    assert all(len(same) == 1 for same in forms.values())
    assert len(forms) < votes, "no two juries are the same function: nothing was tested"


def test_other_kinds_and_votes_over_large_cubes_stay_as_they_are() -> None:
    table = TableHypothesis.from_labels([0, 1])
    assert one_form(table) is table
    large = MajorityVote([WeightedFeatures((1,) * 17, 1)])
    assert one_form(large) is large


def test_a_cube_table_says_what_its_labels_say() -> None:
    labels = [0, 0, 1, 0, 1, 1, 0, 1]
    table = CubeTable(3, TableHypothesis.from_labels(labels))
    corners = list(product((0, 1), repeat=3))
    assert [table(corner) for corner in corners] == labels == table.many(corners).tolist()
    assert table.many(np.array(corners)[::-1]).tolist() == labels[::-1]
    flipped = CubeTable(3, TableHypothesis.from_labels([0, 0, 1, 0, 1, 1, 1, 1]))
    assert table.disagreement(flipped) == (1, 1, 0)
    assert table.disagreement(table) is None


@pytest.mark.parametrize(("n", "size"), [(2, 3), (2, 8), (3, 4), (10**9, 4), (0, 1)])
def test_a_cube_table_needs_one_label_for_each_corner(n: int, size: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        CubeTable(n, TableHypothesis(bytes(size)))


@pytest.mark.parametrize("threshold", [1, 2, 4, 8])
def test_idle_weights_are_exactly_those_that_change_nothing(threshold: int) -> None:
    powers = [0, *(1 << j for j in range(threshold.bit_length()))]
    corners = list(product((0, 1), repeat=4))
    for weights in product(powers, repeat=4):
        kept = simplified(weights, threshold)
        labels = dict(zip(corners, kept.many(corners).tolist(), strict=True))
        assert list(labels.values()) == WeightedFeatures(weights, threshold).many(corners).tolist()
        for i, weight in enumerate(kept.weights):
            flipped = [(*x[:i], 1 - x[i], *x[i + 1 :]) for x in corners]
            matters = any(labels[x] != labels[y] for x, y in zip(corners, flipped, strict=True))
            assert matters == (weight > 0)


def test_up_to_threshold_two_weights_have_one_form() -> None:
    corners = list(product((0, 1), repeat=4))
    forms: dict[bytes, set[WeightedFeatures]] = {}
    for weights in product((0, 1, 2), repeat=4):
        form = simplified(weights, 2)
        forms.setdefault(form.many(corners).tobytes(), set()).add(form)
    assert all(len(same) == 1 for same in forms.values())
