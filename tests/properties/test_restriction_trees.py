"""Restriction trees are valid, and Lemmas D and S of irreducible.md hold for every small class."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.batch.proper_step import (
    Node,
    dimension_of,
    keeping_labels,
    leaves_bound,
    restriction_tree,
    shrinking_points,
    top_functions,
)

classes = st.integers(1, 5).flatmap(
    lambda points: st.lists(
        st.lists(st.integers(0, 1), min_size=points, max_size=points), min_size=1, max_size=9
    )
)


def restricted(concepts: FiniteClass, members: int, points: tuple[int, ...], labels: bytes) -> int:
    for x in points:
        members &= concepts.sides[x][labels[x]]
    return members


def is_irreducible(concepts: FiniteClass, members: int, length: int) -> bool:
    """The definition: no points at all, with the labels of the subclass, lower the dimension."""
    labels = keeping_labels(concepts, members)
    whole, points = dimension_of(concepts, members), range(len(concepts.sides))
    return all(
        dimension_of(concepts, restricted(concepts, members, chosen, labels)) == whole
        for count in range(min(length, len(concepts.sides)) + 1)
        for chosen in combinations(points, count)
    )


def nodes(tree: Node) -> list[Node]:
    return [tree, *(node for child in tree.children for node in nodes(child))]


@given(matrix=classes, reach=st.integers(1, 3))
def test_trees_are_valid(matrix: list[list[int]], reach: int) -> None:
    concepts = FiniteClass(matrix)
    d = concepts.littlestone_dimension
    everything = concepts.version_space().members
    tree = restriction_tree(concepts, everything, reach=reach)
    for node in nodes(tree):
        spare = d - node.dimension
        if node.point is None:
            assert node.depth <= reach * (2**spare - 1)
            assert is_irreducible(concepts, node.members, reach * 2**spare)
        else:
            assert node.depth <= reach * (2 ** (spare + 1) - 1)
            parts = {node.members & side for side in concepts.sides[node.point]} - {0}
            assert {child.members for child in node.children} == parts
    leaves = list(tree.leaves())
    assert sum(leaf.members for leaf in leaves) == everything  # disjoint, and nobody is lost
    assert len(leaves) <= leaves_bound(dimension=d, reach=reach)


@given(matrix=classes, longest=st.integers(1, 5))
def test_a_shrinking_list_exists_exactly_for_reducible_classes(
    matrix: list[list[int]], longest: int
) -> None:
    concepts = FiniteClass(matrix)
    everything = concepts.version_space().members
    points = shrinking_points(concepts, everything, longest)
    assert (points is None) == is_irreducible(concepts, everything, longest)
    if points is not None:
        labels = keeping_labels(concepts, everything)
        whole = concepts.littlestone_dimension
        left = restricted(concepts, everything, tuple(points), labels)
        assert dimension_of(concepts, left) < whole
        assert is_irreducible(concepts, everything, len(points) - 1)  # it is a shortest one


@given(matrix=classes, keep=st.integers(1, 2**9 - 1), reach=st.integers(1, 2))
def test_lemma_d_degrees_interleave_and_equal_degrees_share_functions(
    matrix: list[list[int]], keep: int, reach: int
) -> None:
    concepts = FiniteClass(matrix)
    everything = concepts.version_space().members
    smaller = (keep & everything) or everything
    large = list(restriction_tree(concepts, everything, reach=reach).leaves())
    small = list(restriction_tree(concepts, smaller, reach=2 * reach).leaves())
    degree = max(leaf.dimension for leaf in large)
    top = {keeping_labels(concepts, leaf.members) for leaf in large if leaf.dimension == degree}
    for leaf in small:
        assert leaf.dimension <= degree
        if leaf.dimension == degree:
            assert keeping_labels(concepts, leaf.members) in top


def degree_and_functions(concepts: FiniteClass, members: int, reach: int) -> tuple[int, set[bytes]]:
    leaves = list(restriction_tree(concepts, members, reach=reach).leaves())
    functions = top_functions(concepts, members, reach=reach)
    return max(leaf.dimension for leaf in leaves), set(functions)


def test_lemma_d_needs_the_factor_two() -> None:
    """Its conclusion fails for a class and a part of it when both trees have the same reach."""
    concepts = FiniteClass([[0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    everything, without_the_last = 0b11111, 0b01111
    degree, functions = degree_and_functions(concepts, everything, reach=1)
    lower, others = degree_and_functions(concepts, without_the_last, reach=1)
    assert lower > degree or (lower == degree and not others <= functions)
    lower, others = degree_and_functions(concepts, without_the_last, reach=2)
    assert lower < degree or (lower == degree and others <= functions)


@given(matrix=classes)
def test_lemma_s_functions_of_irreducible_parts_have_no_larger_dimension(
    matrix: list[list[int]],
) -> None:
    concepts = FiniteClass(matrix[:6])
    d = concepts.littlestone_dimension
    functions = [
        list(keeping_labels(concepts, members))
        for members in range(1, 1 << concepts.size)
        if is_irreducible(concepts, members, d + 1)
    ]
    assert FiniteClass(functions).littlestone_dimension <= d


@given(matrix=classes, reach=st.integers(1, 6))
def test_a_long_reach_cuts_down_to_single_concepts(matrix: list[list[int]], reach: int) -> None:
    concepts = FiniteClass(matrix)
    everything = concepts.version_space().members
    leaves = list(restriction_tree(concepts, everything, reach=reach).leaves())
    degree = max(leaf.dimension for leaf in leaves)
    listed = {keeping_labels(concepts, x.members) for x in leaves if x.dimension == degree}
    assert top_functions(concepts, everything, reach=reach) == listed
    if reach >= len(concepts.sides):
        assert {row.tobytes() for row in concepts.matrix} == listed


def test_points_are_irreducible_for_as_long_as_points_are_left() -> None:
    concepts = FiniteClass.from_class(Points(9))
    everything = concepts.version_space().members & ~1  # without "0 everywhere"
    assert shrinking_points(concepts, everything, 6) is None
    assert shrinking_points(concepts, everything, 8) is not None


def test_thresholds_are_cut_where_the_dimension_falls() -> None:
    concepts = FiniteClass.from_class(Thresholds(7))
    assert shrinking_points(concepts, 0b11111111, 1) == [0]  # less than eight have dimension 2
    assert shrinking_points(concepts, 0b01111111, 1) is None  # four of seven are left at least
