"""Decision trees are values: equal exactly when they are the same function."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.hypotheses.rules import Rule
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.schema import Schema

SCHEMA = Schema.from_mapping(
    {"a": {"grid": [0, 1, 2]}, "b": {"values": ["x", "y", "z"]}, "c": {"grid": [5]}}
)
CELLS = list(product(range(4), range(3), range(2)))
conditions = st.sampled_from(
    [(0, 1, 3), (0, 2, 3), (0, 3, 3), (0, 0, 1), (1, 0, 0), (1, 1, 1), (1, 2, 2), (2, 1, 1)]
)
nodes: st.SearchStrategy[Node] = st.recursive(
    st.integers(0, 1), lambda below: st.tuples(conditions, below, below), max_leaves=9
)


def plain(node: Node, cells: tuple[int, ...]) -> int:
    while isinstance(node, tuple):
        (number, low, high), holds, fails = node
        node = holds if low <= cells[number] <= high else fails
    return node


@given(node=nodes)
def test_leaving_out_idle_questions_changes_no_label(node: Node) -> None:
    tree = DecisionTree(SCHEMA, node)
    wanted = [plain(node, cells) for cells in CELLS]
    assert [tree(cells) for cells in CELLS] == wanted
    assert tree.many(np.array(CELLS)).tolist() == wanted
    assert hypothesis_from_json(tree.to_json()) == tree


@given(left=nodes, right=nodes)
@settings(max_examples=10 * settings().max_examples)
def test_equal_means_the_same_function(left: Node, right: Node) -> None:
    one, other = DecisionTree(SCHEMA, left), DecisionTree(SCHEMA, right)
    differ = [cells for cells in CELLS if plain(left, cells) != plain(right, cells)]
    assert (one == other) == (not differ)
    point = one.disagreement(other)
    assert (point is None) == (not differ)
    if point is not None:
        assert one(point) != other(point)
    else:
        assert hash(one) == hash(other)


def test_it_is_compared_with_rules_too() -> None:
    rule = Rule(SCHEMA, ((0, 2, 3), (1, 0, 0)))
    same = DecisionTree(SCHEMA, ((1, 0, 0), ((0, 2, 3), 1, 0), 0))
    assert same.disagreement(rule) is None
    other = DecisionTree(SCHEMA, ((1, 0, 0), 1, 0))
    point = other.disagreement(rule)
    assert point is not None and other(point) != rule(point)


@pytest.mark.parametrize(
    "root",
    [
        2,
        ((3, 0, 0), 0, 1),
        ((0, 0, 4), 0, 1),
        ((0, 2, 1), 0, 1),
        ((0, 1, 3), 0),
        ((0, 1, 3), 0, "x"),
    ],
)
def test_a_tree_that_does_not_fit_the_schema_is_refused(root: object) -> None:
    with pytest.raises(ValueError):
        DecisionTree(SCHEMA, root)  # type: ignore[arg-type]
    data = {"kind": "decision_tree", "schema": SCHEMA.to_json(), "root": {"if": [0, 1]}}
    with pytest.raises(ValueError):
        hypothesis_from_json(data)
