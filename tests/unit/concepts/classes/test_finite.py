"""Finite classes: what they refuse, what they keep, and the dimensions of known classes."""

import math
import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.dimensions import _intersections, littlestone_dimension, vc_dimension
from littlestone.concepts.finite_dimensions import randomized_littlestone_dimension
from littlestone.concepts.hypotheses.tables import TableHypothesis

THRESHOLDS = FiniteClass([[int(x >= k) for x in range(7)] for k in range(8)])


@pytest.mark.parametrize(
    "bad",
    [
        [],
        [[]],
        [[], []],
        [0, 1],
        3,
        None,
        "01",
        [["0", "1"]],
        [[0, 1], [0]],
        [[0, 2]],
        [[0, -1]],
        [[0.5, 1]],
        [[float("nan"), 1]],
        [[None, 1]],
        np.zeros((2, 2, 2)),
    ],
    ids=repr,
)
def test_matrices_that_are_not_concepts_by_points_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^matrix must .* got matrix"):
        FiniteClass(bad)


def test_the_refusal_says_where_the_bad_entry_is() -> None:
    with pytest.raises(ValueError, match=r"got matrix\[1, 0\]=nan"):
        FiniteClass([[0.0, 1.0], [float("nan"), 1.0]])


def test_a_class_is_a_set_of_concepts() -> None:
    concepts = FiniteClass([[1, 0], [0, 1], [1, 0]])
    twin = FiniteClass(np.array([[False, True], [True, False]]))
    assert concepts.size == 2 and concepts == twin and hash(concepts) == hash(twin)
    assert concepts != FiniteClass([[0, 1]])
    with pytest.raises(ValueError, match="read-only"):
        concepts.matrix[0, 0] = 1


def test_the_callers_matrix_is_not_kept() -> None:
    matrix = np.array([[0, 1], [1, 0]], dtype=np.uint8)
    concepts = FiniteClass(matrix)
    matrix[:] = 1
    assert concepts.size == 2 and concepts.matrix.sum() == 2


def test_classes_and_version_spaces_survive_pickling() -> None:
    space = THRESHOLDS.version_space().restrict(3, 1)
    assert pickle.loads(pickle.dumps(THRESHOLDS)) == THRESHOLDS
    assert pickle.loads(pickle.dumps(space)) == space


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 30])
def test_thresholds_have_the_known_dimensions(n: int) -> None:
    concepts = FiniteClass([[int(x >= k) for x in range(n)] for k in range(n + 1)])
    assert littlestone_dimension(concepts) == int(math.log2(n + 1))
    assert vc_dimension(concepts) == 1
    assert concepts.dual_vc_dimension == min(1, n - 1)


def test_all_functions_have_full_dimension() -> None:
    cube = FiniteClass(list(product((0, 1), repeat=4)))
    assert cube.littlestone_dimension == cube.vc_dimension == 4
    assert randomized_littlestone_dimension(cube) == 2


def test_warmuths_class_has_randomized_dimension_thirteen_eighths() -> None:
    # [FHMM23]: C5 is the rotations of 11000 and of 11010.
    rotations = [
        [int(c) for c in (row + row)[i : i + 5]] for row in ("11000", "11010") for i in range(5)
    ]
    warmuth = FiniteClass(rotations)
    assert warmuth.size == 10 and warmuth.vc_dimension == 2
    assert randomized_littlestone_dimension(warmuth) == Fraction(13, 8)


def test_intervals_and_conjunctions_of_the_benchmark_are_exact() -> None:
    n = 64
    intervals = FiniteClass(
        [[int(a <= x < b) for x in range(n)] for a in range(n + 1) for b in range(a, n + 1)]
    )
    assert (intervals.size, intervals.littlestone_dimension) == (2081, 10)
    corners = list(product((0, 1), repeat=5))
    terms = product((0, 1, None), repeat=5)
    rows = [
        [int(all(want in (None, bit) for want, bit in zip(term, x, strict=True))) for x in corners]
        for term in terms
    ]
    conjunctions = FiniteClass([*rows, [0] * 32])
    assert (conjunctions.size, conjunctions.littlestone_dimension) == (244, 6)


def test_a_class_on_chosen_points_of_another() -> None:
    chosen = FiniteClass.from_class(THRESHOLDS, points=[5, 1])
    assert chosen == FiniteClass([[1, 1], [1, 0], [0, 0]])
    assert FiniteClass.from_class(THRESHOLDS) == THRESHOLDS


@pytest.mark.parametrize("x", [-1, 7, 1.5, float("nan"), "a", None])
def test_restricting_refuses_points_outside(x: Any) -> None:
    space = THRESHOLDS.version_space()
    with pytest.raises(ValueError, match=r"x must be an integer from 0 to 6, got x="):
        space.restrict(x, 0)


@pytest.mark.parametrize("y", [2, -1, 0.5, float("nan"), None, "1"])
def test_restricting_refuses_other_labels(y: Any) -> None:
    space = THRESHOLDS.version_space()
    with pytest.raises(ValueError, match="label must be 0 or 1, got label="):
        space.restrict(0, y)
    assert space == THRESHOLDS.version_space()


def test_restricting_by_what_is_known_gives_the_same_object() -> None:
    space = THRESHOLDS.version_space().restrict(3, 1)
    assert space.restrict(4, 1) is space


def test_an_empty_version_space_has_no_hypothesis() -> None:
    empty = THRESHOLDS.version_space().restrict(3, 1).restrict(4, 0)
    assert empty.is_empty and empty.dimension == -1 and empty.size == 0
    for ask in (empty.standard_optimal, empty.consistent):
        with pytest.raises(ValueError, match="the version space is empty"):
            ask()
    assert list(empty.mistakes_of(TableHypothesis(bytes(7)))) == []
    assert empty.hardest_mistake(TableHypothesis(bytes(7))) is None


def test_the_hardest_mistake_keeps_the_dimension_then_the_size_then_takes_the_smallest_point() -> (
    None
):
    space = THRESHOLDS.version_space()
    # Saying 0 everywhere errs at x on the x + 1 concepts with k <= x: all but one at x = 6.
    assert space.hardest_mistake(TableHypothesis(bytes(7))) == (6, 1)
    # The two constant functions: both points are equally hard.
    assert FiniteClass([[0, 0], [1, 1]]).version_space().hardest_mistake(
        TableHypothesis(bytes(2))
    ) == (0, 1)


def test_fewest_mistakes() -> None:
    assert THRESHOLDS.fewest_mistakes({}) == 0
    assert THRESHOLDS.fewest_mistakes({0: (3, 1), 6: (2, 5)}) == 3
    with pytest.raises(ValueError, match="got x=7"):
        THRESHOLDS.fewest_mistakes({7: (1, 0)})


@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (130, 70), (205, 300)])
def test_intersections_are_the_product_of_the_matrix_with_itself(shape: tuple[int, int]) -> None:
    sets = np.random.default_rng(1).integers(2, size=shape).astype(np.uint8)
    expected = sets.astype(np.int64) @ sets.T.astype(np.int64)
    assert (_intersections(sets) == expected).all()
    assert (_intersections(np.asfortranarray(sets)) == expected).all()
