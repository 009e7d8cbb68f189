"""The fast dimensions equal their definitions, and obey the inequalities between them."""

import math
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.dimensions import (
    Labelling,
    littlestone_dimension_by_definition,
    splits,
    vc_dimension_by_definition,
)

from littlestone.concepts import dimensions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.finite_dimensions import dual, randomized_littlestone_dimension

Labellings = frozenset[Labelling]


def every_class(points: int) -> list[Labellings]:
    functions = list(product((0, 1), repeat=points))
    sizes = range(1, len(functions) + 1)
    chosen = chain.from_iterable(combinations(functions, size) for size in sizes)
    return [frozenset(rows) for rows in chosen]


@st.composite
def classes(draw: st.DrawFn) -> Labellings:
    points = draw(st.integers(1, 6))
    row = st.tuples(*[st.integers(0, 1)] * points)
    return draw(st.frozensets(row, min_size=1, max_size=12))


def check_against_the_definitions(labellings: Labellings) -> None:
    concepts = FiniteClass(sorted(labellings))
    columns = frozenset(zip(*sorted(labellings), strict=True))
    assert concepts.littlestone_dimension == littlestone_dimension_by_definition(labellings)
    assert concepts.vc_dimension == vc_dimension_by_definition(labellings)
    assert concepts.dual_littlestone_dimension == littlestone_dimension_by_definition(columns)
    assert concepts.dual_vc_dimension == vc_dimension_by_definition(columns)


def best_expected_mistakes(labellings: Labellings) -> Fraction:
    """The value of the game itself: the learner picks a probability, the adversary a label."""

    def worth(zero: Fraction, one: Fraction) -> Fraction:
        probability = min(max((1 + one - zero) / 2, Fraction(0)), Fraction(1))
        return max(probability + zero, 1 - probability + one)

    values = (map(best_expected_mistakes, sides) for sides in splits(labellings))
    return max((worth(zero, one) for zero, one in values), default=Fraction(0))


@pytest.mark.parametrize("points", [1, 2, 3])
def test_every_small_class_has_the_dimensions_of_the_definitions(points: int) -> None:
    for labellings in every_class(points):
        check_against_the_definitions(labellings)


@given(classes())
def test_random_classes_have_the_dimensions_of_the_definitions(labellings: Labellings) -> None:
    check_against_the_definitions(labellings)


@pytest.mark.parametrize("setting", ["_MEMO_ENTRIES", "_RECENT_SPLITS", "_BATCH"])
@given(labellings=classes())
def test_the_limits_of_the_search_do_not_change_its_answers(
    setting: str, labellings: Labellings
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dimensions, setting, 1)
        check_against_the_definitions(labellings)
        small = FiniteClass(sorted(labellings)).version_space().standard_optimal()
    assert small == FiniteClass(sorted(labellings)).version_space().standard_optimal()


@given(classes())
def test_subclasses_met_in_any_order_have_the_dimension_of_the_definition(
    labellings: Labellings,
) -> None:
    # The memo is shared by all subclasses of one class: what it kept must not mislead.
    space = FiniteClass(sorted(labellings)).version_space()
    for x in range(len(next(iter(labellings)))):
        for y in (0, 1):
            left = frozenset(row for row in labellings if row[x] == y)
            expected = littlestone_dimension_by_definition(left) if left else -1
            assert space.restrict(x, y).dimension == expected


@given(classes())
def test_the_dimensions_are_in_order(labellings: Labellings) -> None:
    concepts = FiniteClass(sorted(labellings))
    assert concepts.vc_dimension <= concepts.littlestone_dimension <= math.log2(concepts.size)


@given(classes())
def test_the_randomized_dimension_lies_between_half_and_all_of_the_dimension(
    labellings: Labellings,
) -> None:
    concepts = FiniteClass(sorted(labellings))
    dimension = concepts.littlestone_dimension
    assert Fraction(dimension, 2) <= randomized_littlestone_dimension(concepts) <= dimension


@pytest.mark.parametrize("points", [1, 2, 3])
def test_the_randomized_dimension_is_the_value_of_the_game(points: int) -> None:
    for labellings in every_class(points):
        concepts = FiniteClass(sorted(labellings))
        assert randomized_littlestone_dimension(concepts) == best_expected_mistakes(labellings)


@given(classes())
def test_the_dual_of_the_dual_is_the_class_without_its_repeated_points(
    labellings: Labellings,
) -> None:
    concepts = FiniteClass(sorted(labellings))
    twice = dual(dual(concepts))
    assert twice.size == concepts.size
    assert twice.littlestone_dimension == concepts.littlestone_dimension


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_counting_all_pairs_of_points_at_once_changes_no_dimension(
    share: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = np.random.default_rng(seed).random((60, 9)) < share
    rows = frozenset(map(tuple, labels.astype(int).tolist()))
    monkeypatch.setattr(dimensions, "_MANY", 1)
    monkeypatch.setattr(dimensions, "_DEEP", 3)
    counted = FiniteClass(sorted(rows)).littlestone_dimension
    assert counted == littlestone_dimension_by_definition(rows)
    monkeypatch.setattr(dimensions, "_LARGEST_MATRIX", 0)
    assert FiniteClass(sorted(rows)).littlestone_dimension == counted


def test_an_unbalanced_class_has_the_same_dimension_either_way() -> None:
    labels = np.random.default_rng(1).random((600, 60)) < 0.3
    matrix = np.unique(labels.astype(np.uint8), axis=0)
    counted = FiniteClass(matrix).littlestone_dimension
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dimensions, "_LARGEST_MATRIX", 0)
        assert FiniteClass(matrix).littlestone_dimension == counted >= 6
