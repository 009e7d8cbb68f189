"""The multiclass Littlestone dimension beside the game that it solves, and its learner."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.multiclass import MulticlassState, MulticlassTable

LABELS, POINTS = 3, 3
Rows = frozenset[tuple[int, ...]]
tables = st.lists(
    st.tuples(*[st.integers(0, LABELS - 1)] * POINTS), min_size=1, max_size=9, unique=True
)


@cache
def forced(rows: Rows) -> int:
    """The mistakes that an adversary forces on the best learner: the game, not the tree.

    It may repeat what is known, so only points on which the rows differ are worth asking.
    """
    asked = [x for x in range(POINTS) if len({row[x] for row in rows}) > 1]
    return max((min(map(answered, *_predictions(rows, x))) for x in asked), default=0)


def answered(rows: Rows, x: int, predicted: int) -> int:
    labels = {row[x] for row in rows}
    return max((label != predicted) + forced(left(rows, x, label)) for label in labels)


def left(rows: Rows, x: int, label: int) -> Rows:
    return frozenset(row for row in rows if row[x] == label)


def _predictions(rows: Rows, x: int) -> tuple[list[Rows], list[int], list[int]]:
    return [rows] * LABELS, [x] * LABELS, list(range(LABELS))


@given(rows=tables)
def test_the_dimension_is_what_an_adversary_can_force(rows: list[tuple[int, ...]]) -> None:
    assert MulticlassTable(rows).littlestone_dimension == forced(frozenset(rows))


def most_mistakes(state: MulticlassState) -> int:
    """Of the learner, over all realizable streams."""
    worst = 0
    for x, y in product(range(POINTS), range(LABELS)):
        after = state.after(x, y)
        if not after.failed and after.concepts != state.concepts:
            worst = max(worst, (state.labels[x] != y) + most_mistakes(after))
    return worst


@given(rows=tables)
def test_the_standard_optimal_algorithm_errs_exactly_that_often(
    rows: list[tuple[int, ...]],
) -> None:
    table = MulticlassTable(rows)
    assert most_mistakes(table.start()) == table.littlestone_dimension


@given(
    rows=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=1, max_size=20),
    x=st.integers(0, 4),
)
def test_two_labels_are_the_finite_class(rows: list[list[int]], x: int) -> None:
    table, concepts = MulticlassTable(rows), FiniteClass(rows)
    assert table.littlestone_dimension == concepts.littlestone_dimension
    state, space = table.start(), concepts.version_space()
    assert state.labels == tuple(space.standard_optimal().many(range(5)))
    assert state.after(x, 1).failed == space.restrict(x, 1).is_empty


def test_many_labels_at_one_point_are_one_mistake() -> None:
    assert MulticlassTable(np.arange(200)[:, None]).littlestone_dimension == 1


def test_many_concepts_need_no_deep_recursion() -> None:
    assert MulticlassTable(2 * np.eye(1500, dtype=int)).littlestone_dimension == 1


def test_what_is_left_bounds_the_mistakes_to_come() -> None:
    state = MulticlassTable([[0, 0], [1, 2], [2, 2], [1, 1]]).start()
    assert [state.dimension, state.after(0, 1).dimension] == [1, 1]
    assert state.after(0, 1).after(1, 0).dimension == -1


@pytest.mark.parametrize("matrix", [[], [1, 2], [[]], [[0], [1, 2]], [["a"]], [[0.5]], [[256]]])
def test_a_matrix_that_holds_no_labels_is_refused(matrix: object) -> None:
    with pytest.raises(ValueError, match="matrix must"):
        MulticlassTable(matrix)
