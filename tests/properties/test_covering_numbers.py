"""Growth function and 0-covering number: by definition on small sizes, and their bounds."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.finite_dimensions import covering_number, growth_function
from littlestone.theory.dimension_bounds import sauer_closed_form_upper_bound, sauer_upper_bound

Path = tuple[int, ...]
Tree = dict[Path, int]


@st.composite
def classes(draw: st.DrawFn, most_points: int = 6, most_concepts: int = 12) -> FiniteClass:
    points = draw(st.integers(1, most_points))
    row = st.tuples(*[st.integers(0, 1)] * points)
    return FiniteClass(draw(st.lists(row, min_size=1, max_size=most_concepts)))


def vertices(depth: int) -> list[Path]:
    return [path for t in range(depth) for path in product((0, 1), repeat=t)]


def trees(depth: int, values: int) -> list[Tree]:
    where = vertices(depth)
    return [
        dict(zip(where, chosen, strict=True))
        for chosen in product(range(values), repeat=len(where))
    ]


def smallest_cover(concepts: FiniteClass, tree: Tree, depth: int) -> int:
    """The definition, as an integer programme over all 0/1 trees."""
    paths = [[path[:t] for t in range(depth)] for path in product((0, 1), repeat=depth)]
    covered_by = [
        [all(concept(tree[v]) == candidate[v] for v in path) for candidate in trees(depth, 2)]
        for concept in concepts.concepts()
        for path in paths
    ]
    rows = np.unique(np.array(covered_by, dtype=float), axis=0)
    count = rows.shape[1]
    solved = milp(
        np.ones(count),
        constraints=LinearConstraint(rows, lb=1),
        integrality=np.ones(count, dtype=int),
    )
    assert solved.fun is not None
    return round(solved.fun)


@given(classes())
def test_the_growth_function_is_the_most_labellings_of_a_set(concepts: FiniteClass) -> None:
    every_point = range(concepts.domain.size)
    for count in range(concepts.domain.size + 2):
        expected = max(
            len(np.unique(concepts.matrix[:, list(chosen)], axis=0))
            for chosen in combinations(every_point, min(count, concepts.domain.size))
        )
        assert growth_function(concepts, count) == expected


@given(classes(most_points=3, most_concepts=8))
def test_the_covering_number_is_that_of_the_worst_tree_of_depth_two(concepts: FiniteClass) -> None:
    worst = max(smallest_cover(concepts, tree, 2) for tree in trees(2, concepts.domain.size))
    assert covering_number(concepts, 2) == worst


@settings(max_examples=10)
@given(classes(most_points=4, most_concepts=10), st.data())
def test_no_tree_of_depth_three_needs_a_larger_cover(
    concepts: FiniteClass, data: st.DataObject
) -> None:
    chosen = st.integers(0, concepts.domain.size - 1)
    tree = {path: data.draw(chosen) for path in vertices(3)}
    assert smallest_cover(concepts, tree, 3) <= covering_number(concepts, 3)


@given(classes())
def test_sauer_bounds_both_counts(concepts: FiniteClass) -> None:
    for n in range(8):
        trees_bound = sauer_upper_bound(n, concepts.littlestone_dimension)
        assert growth_function(concepts, n) <= sauer_upper_bound(n, concepts.vc_dimension)
        assert growth_function(concepts, n) <= covering_number(concepts, n) <= trees_bound


@given(classes())
def test_a_class_has_all_behaviours_on_a_tree_as_deep_as_its_dimension_and_no_deeper(
    concepts: FiniteClass,
) -> None:
    dimension = concepts.littlestone_dimension
    assert covering_number(concepts, dimension) == 2**dimension
    assert covering_number(concepts, dimension + 1) < 2 ** (dimension + 1)


@pytest.mark.parametrize("dimension", [1, 2, 5, 9])
def test_the_closed_form_is_above_the_sum(dimension: int) -> None:
    for n in range(dimension, 60):
        assert sauer_upper_bound(n, dimension) <= sauer_closed_form_upper_bound(n, dimension)


def test_sauer_is_two_to_the_points_up_to_the_dimension() -> None:
    assert [sauer_upper_bound(n, 3) for n in range(5)] == [1, 2, 4, 8, 15]


def test_bad_sizes_are_refused_by_name() -> None:
    concepts = FiniteClass([[0, 1]])
    with pytest.raises(ValueError, match="points must be at least 0, got points=-1"):
        growth_function(concepts, -1)
    with pytest.raises(ValueError, match=r"depth must be a whole number, got depth=1\.5"):
        covering_number(concepts, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="points must be at least 3, got points=2"):
        sauer_closed_form_upper_bound(2, 3)
    with pytest.raises(ValueError, match="dimension must be at least 1, got dimension=0"):
        sauer_closed_form_upper_bound(2, 0)
