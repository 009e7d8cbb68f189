"""Shattered trees are as deep as the dimension, and a wrong tree is noticed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.finite_dimensions import Leaf, Vertex, shattered_tree
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.protocols import ConceptClass

THRESHOLDS = FiniteClass([[int(x >= k) for x in range(7)] for k in range(8)])


@st.composite
def classes(draw: st.DrawFn) -> FiniteClass:
    points = draw(st.integers(1, 6))
    row = st.tuples(*[st.integers(0, 1)] * points)
    return FiniteClass(draw(st.lists(row, min_size=1, max_size=16)))


@given(classes())
def test_the_tree_is_shattered_and_as_deep_as_the_dimension(concepts: FiniteClass) -> None:
    tree = shattered_tree(concepts)
    assert tree.depth == concepts.littlestone_dimension
    assert tree.is_shattered_by(concepts)


@pytest.mark.parametrize(
    "concepts",
    [Thresholds(2**10), Intervals(20), Conjunctions(3), Points(), SparseSets(3)],
    ids=repr,
)
def test_structured_classes_have_trees_too_on_unbounded_domains_as_well(
    concepts: ConceptClass,
) -> None:
    tree = shattered_tree(concepts)
    assert tree.depth == concepts.littlestone_dimension
    assert tree.is_shattered_by(concepts)


def test_a_path_that_no_concept_takes_is_noticed() -> None:
    tree = shattered_tree(THRESHOLDS)
    assert isinstance(tree, Vertex)
    assert not Vertex(tree.point, tree.one, tree.zero).is_shattered_by(THRESHOLDS)
    fewer = FiniteClass(THRESHOLDS.matrix[1:])
    assert tree.depth == 3 and not tree.is_shattered_by(fewer)


def test_an_incomplete_tree_is_noticed() -> None:
    tree = shattered_tree(THRESHOLDS)
    assert isinstance(tree, Vertex) and isinstance(tree.zero, Vertex)
    assert not Vertex(tree.point, tree.zero.zero, tree.one).is_shattered_by(THRESHOLDS)


def test_a_false_witness_at_the_end_of_a_path_is_noticed() -> None:
    honest, liar = TableHypothesis(bytes([1, 1])), TableHypothesis(bytes([0, 1]))
    concepts = FiniteClass([[0, 0], [1, 1]])
    zero = Leaf(TableHypothesis(bytes(2)))
    assert Vertex(0, zero, Leaf(honest)).is_shattered_by(concepts)
    assert not Vertex(0, zero, Leaf(liar)).is_shattered_by(concepts)


def test_a_single_concept_is_a_leaf() -> None:
    alone = FiniteClass([[0, 1]])
    tree = shattered_tree(alone)
    assert tree.depth == 0 and tree.is_shattered_by(alone)
    assert tree.text() == "1 on 1 out of 0-1"


def test_the_text_has_a_line_for_each_vertex_and_leaf() -> None:
    lines = shattered_tree(THRESHOLDS).text().splitlines()
    assert len(lines) == 7 + 8 and lines[0] == "3"


def test_a_tree_too_large_to_build_is_refused() -> None:
    class Deep:
        dimension = 40

    class Huge(Thresholds):
        def version_space(self) -> Any:
            return Deep()

    with pytest.raises(ValueError, match="a tree of depth 40 is too large"):
        shattered_tree(Huge(3))
