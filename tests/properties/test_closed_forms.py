"""The closed forms of the structured classes equal what a table of all labels says."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.schema import Schema

DELAYS: dict[str, dict[str, Any]] = {
    "delay": {"grid": [0, 15]},
    "carrier": {"values": ["UA", "AA", "B6"]},
}
DIMENSIONS = (
    "littlestone_dimension",
    "vc_dimension",
    "dual_littlestone_dimension",
    "dual_vc_dimension",
)
SMALL: list[Any] = [
    *(Thresholds(n) for n in range(1, 18)),
    *(Intervals(n) for n in range(1, 15)),
    *(Boxes(*size) for size in ((1, 1), (1, 5), (2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (4, 2))),
    *(Points(n) for n in range(1, 8)),
    *(SparseSets(k, n) for n in range(1, 6) for k in range(1, 5)),
    *(Conjunctions(n) for n in range(1, 6)),
    *(MonotoneDisjunctions(k, n) for n in range(1, 5) for k in range(1, n + 1)),
    *(Stumps(Schema.from_mapping(DELAYS), depth=depth) for depth in (1, 2)),
]
PLAYED = [c for c in SMALL if c.domain.size <= 16]
MANY = settings(max_examples=16 * settings().max_examples)
WITHOUT_OPTIMUM = (MonotoneDisjunctions, Boxes)
SMALLEST_FIRST = (Thresholds, Intervals, Conjunctions, Stumps)  # hardest mistakes, among equals


@cache
def as_table(concepts: Any) -> FiniteClass:
    return FiniteClass.from_class(concepts)


@cache
def points_of(concepts: Any) -> list[Any]:
    return list(concepts.domain)


def numbered(concepts: Any, hypothesis: Any) -> TableHypothesis:
    """The hypothesis as a table over the numbers of the points."""
    return TableHypothesis.from_labels(hypothesis.many(points_of(concepts)).tolist())


@st.composite
def restricted(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """A class, and its version space after some examples beside that of its table.

    Most examples follow one concept, so that some version spaces are small and not empty.
    """
    concepts = draw(st.sampled_from(PLAYED))
    points = points_of(concepts)
    table = as_table(concepts)
    row = table.matrix[draw(st.integers(0, table.size - 1))].tolist()
    closed, listed = concepts.version_space(), table.version_space()
    examples = draw(st.lists(st.tuples(st.integers(0, len(points) - 1), st.integers(0, 19))))
    for number, noise in examples:
        y = 1 - row[number] if noise == 0 else row[number]
        closed, listed = closed.restrict(points[number], y), listed.restrict(number, y)
    return concepts, closed, listed


def test_sizes_and_dimensions_are_those_of_the_table() -> None:
    for concepts in SMALL:
        table = as_table(concepts)
        assert concepts.size == table.size, concepts
        found = [getattr(concepts, name) for name in DIMENSIONS]
        assert found == [getattr(table, name) for name in DIMENSIONS], concepts


@MANY
@given(restricted())
def test_version_spaces_have_the_size_and_dimension_of_the_table(spaces: Any) -> None:
    _, closed, listed = spaces
    assert (closed.is_empty, closed.size) == (listed.is_empty, listed.size)
    assert closed.dimension == listed.dimension


@MANY
@given(restricted())
def test_the_standard_optimal_prediction_is_that_of_the_table(spaces: Any) -> None:
    concepts, closed, listed = spaces
    if closed.is_empty:
        with pytest.raises(ValueError, match=r"no concept fits|Winnow"):
            closed.standard_optimal()
    elif not isinstance(concepts, WITHOUT_OPTIMUM):
        assert numbered(concepts, closed.standard_optimal()) == listed.standard_optimal()


@MANY
@given(restricted())
def test_the_consistent_concept_is_one_that_is_left(spaces: Any) -> None:
    concepts, closed, listed = spaces
    if closed.is_empty:
        with pytest.raises(ValueError, match="no concept fits"):
            closed.consistent()
    else:
        assert numbered(concepts, closed.consistent()) in set(listed.concepts())


@MANY
@given(restricted(), st.data())
def test_mistakes_are_those_of_the_table(spaces: Any, data: st.DataObject) -> None:
    concepts, closed, listed = spaces
    hypothesis = data.draw(st.sampled_from(list(concepts.concepts())))
    points = points_of(concepts)
    found = list(closed.mistakes_of(hypothesis))
    listed_mistakes = [
        (points[i], y) for i, y in listed.mistakes_of(numbered(concepts, hypothesis))
    ]
    assert len(found) == len({x for x, _ in found})
    assert set(found) == set(listed_mistakes)


@MANY
@given(restricted(), st.data())
def test_the_hardest_mistake_leaves_as_much_as_that_of_the_table(
    spaces: Any, data: st.DataObject
) -> None:
    concepts, closed, listed = spaces
    if isinstance(concepts, WITHOUT_OPTIMUM):
        return
    hypothesis = data.draw(st.sampled_from(list(concepts.concepts())))
    found = closed.hardest_mistake(hypothesis)
    expected = listed.hardest_mistake(numbered(concepts, hypothesis))
    if expected is None or found is None:
        assert found is expected
        return
    left, listed_left = closed.restrict(*found), listed.restrict(*expected)
    assert hypothesis(found[0]) != found[1]
    assert (left.dimension, left.size) == (listed_left.dimension, listed_left.size)
    if isinstance(concepts, SMALLEST_FIRST):
        assert found == (points_of(concepts)[expected[0]], expected[1])


@given(st.sampled_from(PLAYED), st.data())
def test_any_table_is_a_hypothesis_for_the_integer_classes(
    concepts: Any, data: st.DataObject
) -> None:
    if not isinstance(concepts, Thresholds | Intervals | Points | SparseSets):
        return
    size = concepts.domain.size or 0
    labels = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    hypothesis = TableHypothesis.from_labels(labels)
    listed = as_table(concepts).version_space()
    found = list(concepts.version_space().mistakes_of(hypothesis))
    assert sorted(found) == list(listed.mistakes_of(hypothesis))


def after(concepts: Any, examples: list[tuple[int, int]]) -> tuple[Any, Any]:
    closed, listed = concepts.version_space(), as_table(concepts).version_space()
    for number, y in examples:
        closed = closed.restrict(points_of(concepts)[number], y)
        listed = listed.restrict(number, y)
    return closed, listed


def examples_of(concepts: Any) -> st.SearchStrategy[list[tuple[int, int]]]:
    numbers = st.integers(0, concepts.domain.size - 1)
    return st.lists(st.tuples(numbers, st.integers(0, 1)), max_size=8)


@MANY
@given(st.sampled_from(PLAYED), st.data())
def test_restricting_commutes(concepts: Any, data: st.DataObject) -> None:
    examples = data.draw(examples_of(concepts))
    one_way, _ = after(concepts, examples)
    other_way, _ = after(concepts, data.draw(st.permutations(examples)))
    assert one_way == other_way and hash(one_way) == hash(other_way)


@MANY
@given(st.sampled_from(PLAYED), st.data())
def test_version_spaces_with_the_same_concepts_are_equal(
    concepts: Any, data: st.DataObject
) -> None:
    closed, listed = after(concepts, data.draw(examples_of(concepts)))
    other, other_listed = after(concepts, data.draw(examples_of(concepts)))
    if listed != other_listed:
        assert closed != other
    elif not isinstance(concepts, WITHOUT_OPTIMUM):
        assert closed == other and hash(closed) == hash(other)


@given(st.sampled_from(SMALL), st.data())
def test_the_fewest_mistakes_are_those_of_the_best_concept(
    concepts: Any, data: st.DataObject
) -> None:
    counts = st.tuples(st.integers(0, 9), st.integers(0, 9))
    tally: Any = data.draw(st.dictionaries(st.integers(0, concepts.domain.size - 1), counts))
    points = points_of(concepts)
    named = {points[i]: count for i, count in tally.items()}
    assert concepts.fewest_mistakes(named) == as_table(concepts).fewest_mistakes(tally)


@given(st.sampled_from(PLAYED), st.data())
def test_a_disagreement_is_a_point_where_two_concepts_differ(
    concepts: Any, data: st.DataObject
) -> None:
    rows = list(concepts.concepts())
    left, right = data.draw(st.tuples(st.sampled_from(rows), st.sampled_from(rows)))
    point = left.disagreement(right)
    if point is None:
        assert numbered(concepts, left) == numbered(concepts, right)
        assert left == right
    else:
        assert left(point) != right(point)
    assert point == left.disagreement(right)


@given(st.sampled_from(SMALL), st.data())
def test_concepts_and_predictions_survive_json(concepts: Any, data: st.DataObject) -> None:
    hypothesis = data.draw(st.sampled_from(list(concepts.concepts())))
    read = hypothesis_from_json(json.loads(json.dumps(hypothesis.to_json())))
    assert read == hypothesis and hash(read) == hash(hypothesis)
    assert isinstance(read.describe(), str)


@given(st.sampled_from(SMALL), st.data())
def test_many_labels_are_the_single_ones(concepts: Any, data: st.DataObject) -> None:
    hypothesis = data.draw(st.sampled_from(list(concepts.concepts())))
    xs = data.draw(st.lists(st.sampled_from(points_of(concepts))))
    for block in (xs, concepts.domain.check_many(xs)):
        labels = hypothesis.many(block)
        assert labels.dtype == np.uint8
        assert labels.tolist() == [hypothesis(x) for x in xs]


def test_a_wrong_closed_form_would_be_noticed() -> None:
    """The comparison can fail: a threshold table without its last concept is told apart."""
    table = FiniteClass(as_table(Thresholds(7)).matrix[1:])
    assert table.littlestone_dimension != Thresholds(7).littlestone_dimension
