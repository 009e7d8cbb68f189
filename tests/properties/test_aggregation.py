"""Boolean combinations are what they say, and the closure bounds hold for them."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import (
    FiniteClass,
    aggregate,
    complement,
    labelled,
    majority,
    union,
    xor,
)
from littlestone.concepts.finite_dimensions import (
    dual,
    dual_littlestone_dimension,
    dual_vc_dimension,
)
from littlestone.theory.dimension_bounds import (
    aggregation_closed_form_upper_bound,
    aggregation_upper_bound,
    dual_littlestone_upper_bound,
    dual_vc_upper_bound,
    majority_upper_bound,
    majority_xor_upper_bound,
    union_upper_bound,
)

DIMENSIONS = (
    "littlestone_dimension",
    "vc_dimension",
    "dual_littlestone_dimension",
    "dual_vc_dimension",
)
POINTS = 5


def rows(count: int = POINTS) -> Any:
    row = st.tuples(*[st.integers(0, 1)] * count)
    return st.lists(row, min_size=1, max_size=8)


classes = rows().map(FiniteClass)


def labels(concepts: FiniteClass) -> set[tuple[int, ...]]:
    return {tuple(row) for row in concepts.matrix.tolist()}


@given(classes, classes)
def test_combinations_hold_exactly_the_combined_concepts(
    left: FiniteClass, right: FiniteClass
) -> None:
    pairs = list(product(labels(left), labels(right)))
    assert labels(union(left, right)) == labels(left) | labels(right)
    assert labels(complement(left)) == {tuple(1 - y for y in row) for row in labels(left)}
    assert labels(xor(left, right)) == {
        tuple(a ^ b for a, b in zip(f, g, strict=True)) for f, g in pairs
    }
    assert labels(aggregate(lambda a, b: a and not b, left, right)) == {
        tuple(a & (1 - b) for a, b in zip(f, g, strict=True)) for f, g in pairs
    }


@given(rows(4).map(FiniteClass), st.integers(1, 3), st.sampled_from(["0", "1/3", "1/2", "1"]))
def test_majorities_hold_exactly_the_votes(concepts: FiniteClass, members: int, share: str) -> None:
    threshold = Fraction(share)
    expected = {
        tuple(int(Fraction(sum(votes), members) >= threshold) for votes in zip(*jury, strict=True))
        for jury in product(labels(concepts), repeat=members)
    }
    assert labels(majority(concepts, members, threshold=threshold)) == expected


@given(classes)
def test_labelled_concepts_say_where_they_err(concepts: FiniteClass) -> None:
    errors = labelled(concepts)
    expected = {
        tuple(int(row[x] != y) for x in range(POINTS) for y in (0, 1)) for row in labels(concepts)
    }
    assert labels(errors) == expected
    assert errors.littlestone_dimension == concepts.littlestone_dimension
    assert errors.vc_dimension == concepts.vc_dimension
    assert errors.dual_littlestone_dimension <= union_upper_bound(
        *[concepts.dual_littlestone_dimension] * 2
    )


def test_a_labelled_point_stands_for_an_example() -> None:
    concepts = FiniteClass([[0, 1, 1]])
    (error,) = labelled(concepts).concepts()
    (rule,) = concepts.concepts()
    for x, y in product(range(3), (0, 1)):
        assert error(2 * x + y) == int(rule(x) != y)


@given(classes)
def test_a_complement_changes_no_dimension(concepts: FiniteClass) -> None:
    other = complement(concepts)
    assert all(getattr(other, name) == getattr(concepts, name) for name in DIMENSIONS)


@given(classes, classes)
def test_a_union_stays_within_its_bound(left: FiniteClass, right: FiniteClass) -> None:
    both = union(left, right)
    for name in DIMENSIONS[:2]:
        assert getattr(both, name) <= union_upper_bound(getattr(left, name), getattr(right, name))


@given(classes)
def test_adding_the_complements_leaves_the_dual_dimensions(concepts: FiniteClass) -> None:
    # [P, proof of Theorem sanitizer]: a tree of concepts may replace each 1 - h by h.
    symmetric = union(concepts, complement(concepts))
    assert dual_littlestone_dimension(symmetric) == dual_littlestone_dimension(concepts)
    assert dual_vc_dimension(symmetric) == dual_vc_dimension(concepts)


@given(st.lists(classes, min_size=1, max_size=3), st.lists(st.booleans(), min_size=8, max_size=8))
def test_every_boolean_combination_stays_within_the_aggregation_bound(
    parts: list[FiniteClass], truth_table: list[bool]
) -> None:
    combined = aggregate(
        lambda *bits: truth_table[sum(bit << i for i, bit in enumerate(bits))], *parts
    )
    for name in DIMENSIONS:
        dimensions = [getattr(part, name) for part in parts]
        assert getattr(combined, name) <= aggregation_upper_bound(dimensions)


@given(rows(4).map(FiniteClass), st.sampled_from([1, 3]))
def test_majorities_and_their_errors_stay_within_their_bounds(
    concepts: FiniteClass, members: int
) -> None:
    votes = majority(concepts, members)
    errors = xor(votes, concepts)
    for name in DIMENSIONS:
        dimension = getattr(concepts, name)
        assert getattr(votes, name) <= majority_upper_bound(dimension, members)
        assert getattr(errors, name) <= majority_xor_upper_bound(dimension, members)


@given(rows(4).map(FiniteClass), st.sampled_from([1, 2, 3]))
def test_thresholds_of_points_stay_within_the_bound_by_the_dual_dimension(
    concepts: FiniteClass, members: int
) -> None:
    tested = majority(dual(concepts), members, threshold=Fraction(1, 4))
    bound = majority_upper_bound(concepts.dual_littlestone_dimension, members)
    assert tested.littlestone_dimension <= bound


@given(classes)
def test_duals_stay_within_their_bounds(concepts: FiniteClass) -> None:
    littlestone, vc = concepts.littlestone_dimension, concepts.vc_dimension
    assert concepts.dual_littlestone_dimension <= dual_littlestone_upper_bound(littlestone)
    assert concepts.dual_vc_dimension <= dual_vc_upper_bound(vc)


def test_the_dual_vc_bound_is_reached() -> None:
    # Three concepts label eight points in all eight ways.
    shattering = FiniteClass(list(zip(*product((0, 1), repeat=3), strict=True)))
    assert (shattering.vc_dimension, shattering.dual_vc_dimension) == (1, 3)
    assert dual_vc_upper_bound(1) == 3


@given(st.integers(1, 12), st.integers(0, 6))
def test_the_exact_bound_is_at_most_the_closed_form(arity: int, dimension: int) -> None:
    exact = aggregation_upper_bound([dimension] * arity)
    assert dimension <= exact <= aggregation_closed_form_upper_bound(arity, dimension)


def test_one_class_alone_keeps_its_dimension() -> None:
    # The paper's O(k d log k) would say 0.
    assert [aggregation_upper_bound([d]) for d in range(5)] == list(range(5))


def test_combinations_that_make_no_sense_are_refused() -> None:
    two, three = FiniteClass([[0, 1]]), FiniteClass([[0, 1, 1]])
    with pytest.raises(ValueError, match=r"over the same points, got \[2, 3\] points"):
        xor(two, three)
    with pytest.raises(ValueError, match=r"over the same points, got \[2, 3\] points"):
        union(two, three)
    with pytest.raises(ValueError, match="classes must not be empty"):
        aggregate(lambda: 0)
    with pytest.raises(ValueError, match="label must be 0 or 1, got label=2"):
        aggregate(lambda a: a + 2, FiniteClass([[0]]))
    with pytest.raises(ValueError, match="members must be at least 1, got members=0"):
        majority(two, 0)
    with pytest.raises(ValueError, match="threshold must lie in"):
        majority(two, 3, threshold=Fraction(3, 2))
    many = FiniteClass(list(product((0, 1), repeat=10)))
    with pytest.raises(ValueError, match="are too many"):
        aggregate(lambda *bits: bits[0], many, many, many)
    with pytest.raises(ValueError, match="dimensions must not be empty"):
        aggregation_upper_bound([])
    with pytest.raises(ValueError, match="dimension must be at least 0, got dimension=-1"):
        aggregation_upper_bound([2, -1])
