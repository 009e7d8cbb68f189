"""Version spaces of finite classes do what their protocol says, checked by listing concepts."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reference.dimensions import littlestone_dimension_by_definition

from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote

Example = tuple[int, int]


@st.composite
def classes(draw: st.DrawFn) -> FiniteClass:
    points = draw(st.integers(1, 6))
    row = st.tuples(*[st.integers(0, 1)] * points)
    return FiniteClass(draw(st.lists(row, min_size=1, max_size=12)))


@st.composite
def version_spaces(draw: st.DrawFn) -> FiniteVersionSpace:
    space = draw(classes()).version_space()
    for x, y in draw(st.lists(examples_of(space), max_size=2)):
        space = space.restrict(x, y)
    return space


def examples_of(space: FiniteVersionSpace) -> st.SearchStrategy[Example]:
    points = space.concept_class.domain.size
    return st.tuples(st.integers(0, points - 1), st.integers(0, 1))


def hypotheses_of(space: FiniteVersionSpace) -> st.SearchStrategy[TableHypothesis]:
    points = space.concept_class.domain.size
    labels = st.lists(st.integers(0, 1), min_size=points, max_size=points)
    return labels.map(TableHypothesis.from_labels)


def dimension_of(concepts: list[TableHypothesis]) -> int:
    rows = frozenset(tuple(concept.labels) for concept in concepts)
    return littlestone_dimension_by_definition(rows) if rows else -1


@given(version_spaces(), st.data())
def test_restricting_keeps_exactly_the_consistent_concepts(
    space: FiniteVersionSpace, data: st.DataObject
) -> None:
    x, y = data.draw(examples_of(space))
    left = space.restrict(x, y)
    assert list(left.concepts()) == [c for c in space.concepts() if c(x) == y]
    assert left.size == len(list(left.concepts()))
    assert left.is_empty == (left.size == 0)


@given(version_spaces(), st.data())
def test_restricting_commutes(space: FiniteVersionSpace, data: st.DataObject) -> None:
    (x, y), (z, w) = data.draw(st.tuples(examples_of(space), examples_of(space)))
    one_way, other_way = space.restrict(x, y).restrict(z, w), space.restrict(z, w).restrict(x, y)
    assert one_way == other_way and hash(one_way) == hash(other_way)


@given(version_spaces())
def test_the_standard_optimal_label_is_one_exactly_where_it_keeps_the_larger_dimension(
    space: FiniteVersionSpace,
) -> None:
    assume(not space.is_empty)
    concepts = list(space.concepts())
    for x in space.concept_class.domain:
        zero, one = (dimension_of([c for c in concepts if c(x) == y]) for y in (0, 1))
        assert space.standard_optimal()(x) == int(one > zero)


@given(version_spaces())
def test_the_consistent_concept_is_one_of_those_left(space: FiniteVersionSpace) -> None:
    assume(not space.is_empty)
    assert space.consistent() == next(space.concepts())


@given(version_spaces(), st.data())
def test_mistakes_are_the_wrong_labels_that_some_concept_allows(
    space: FiniteVersionSpace, data: st.DataObject
) -> None:
    hypothesis = data.draw(hypotheses_of(space))
    expected = [
        (x, 1 - hypothesis(x))
        for x in space.concept_class.domain
        if any(c(x) != hypothesis(x) for c in space.concepts())
    ]
    assert list(space.mistakes_of(hypothesis)) == expected
    assert (not expected) == all(c == hypothesis for c in space.concepts())


@given(version_spaces(), st.data())
def test_the_hardest_mistake_is_first_by_dimension_then_size_then_point(
    space: FiniteVersionSpace, data: st.DataObject
) -> None:
    hypothesis = data.draw(hypotheses_of(space))

    def hardness(example: Any) -> tuple[int, int, int]:
        left = [c for c in space.concepts() if c(example[0]) == example[1]]
        return dimension_of(left), len(left), -example[0]

    expected = max(space.mistakes_of(hypothesis), key=hardness, default=None)
    assert space.hardest_mistake(hypothesis) == expected


@given(classes(), st.data())
def test_the_fewest_mistakes_are_those_of_the_best_concept(
    concepts: FiniteClass, data: st.DataObject
) -> None:
    counts = st.tuples(st.integers(0, 9), st.integers(0, 9))
    tally: Any = data.draw(st.dictionaries(st.integers(0, concepts.domain.size - 1), counts))
    assert concepts.fewest_mistakes(tally) == min(
        sum(count[1 - concept(x)] for x, count in tally.items()) for concept in concepts.concepts()
    )


@given(classes())
def test_hypotheses_survive_json(concepts: FiniteClass) -> None:
    def through_json(data: dict[str, object]) -> dict[str, object]:
        read: dict[str, object] = json.loads(json.dumps(data))
        return read

    for concept in concepts.concepts():
        assert TableHypothesis.from_json(through_json(concept.to_json())) == concept
    jury = [*concepts.concepts()][: 2 * ((concepts.size - 1) // 2) + 1]
    vote = MajorityVote(jury)
    assert MajorityVote.from_json(through_json(vote.to_json()), TableHypothesis.from_json) == vote


@given(classes(), st.data())
def test_disagreement_is_symmetric_and_none_only_for_equals(
    concepts: FiniteClass, data: st.DataObject
) -> None:
    left, right = data.draw(st.tuples(*[st.sampled_from([*concepts.concepts()])] * 2))
    x = left.disagreement(right)
    assert x == right.disagreement(left)
    assert (x is None) == (left == right)
    assert x is None or left(x) != right(x)
