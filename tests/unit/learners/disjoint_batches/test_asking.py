"""Trees that ask what the last rule says: written out, they are the same function."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.asking import (
    LastRule,
    last_rule_question,
    with_last_rule,
)
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y", "z"]}})
TREES = DecisionTrees(SCHEMA, 3)
LAST = DecisionTree(SCHEMA, ((0, 2, 2), ((1, 0, 0), 1, 0), 0))
ASKED = (2, 1, 1)
CELLS = np.array(list(itertools.product(range(3), range(3))))


@pytest.mark.parametrize(
    "root",
    [
        (ASKED, 1, 0),
        (ASKED, 0, 1),
        (ASKED, ((0, 1, 2), 0, 1), ((1, 2, 2), 1, 0)),
        ((1, 1, 1), (ASKED, 1, ((0, 1, 2), 1, 0)), ((0, 2, 2), (ASKED, 0, 1), 0)),
        ((0, 1, 2), 1, 0),
    ],
)
def test_a_tree_that_asks_is_written_out_as_the_same_function(root: Node) -> None:
    tree, asked = DecisionTree(with_last_rule(TREES).schema, root), LastRule(LAST)
    extended = asked.extended(Sample(CELLS, np.ones((2, len(CELLS)))))
    assert extended.cells[:, :2].tolist() == CELLS.tolist()
    assert asked.written_out(tree).many(CELLS).tolist() == tree.many(extended.cells).tolist()


def test_only_a_tree_that_says_something_is_asked() -> None:
    assert last_rule_question(DecisionTree(SCHEMA, 1), 2) is None
    assert last_rule_question(Scorecard(SCHEMA, 1, ((1,), (0, 0, 0))), 2) is None
    wide = Schema.from_mapping({f"f{i}": {"grid": [0]} for i in range(8)})

    def chain(questions: int) -> DecisionTree:
        root: Node = 1
        for number in range(questions):
            root = ((number, 1, 1), root, number % 2)
        return DecisionTree(wide, root)

    assert (
        last_rule_question(chain(7), 2) == LastRule(chain(7))
        and last_rule_question(chain(8), 2) is None
    )


def test_the_name_of_the_question_is_no_field_of_anybody() -> None:
    schema = Schema.from_mapping({"the last rule": {"grid": [0]}, "the last rule ": {"grid": [0]}})
    assert len(with_last_rule(DecisionTrees(schema, 2)).schema.fields) == 3


def test_rules_grow_beyond_their_depth_by_asking() -> None:
    # Whether all of three fields are large takes a tree of depth three.
    schema = Schema.from_mapping({f"f{i}": {"grid": [0]} for i in range(3)})
    trees = DisjointBatches(concepts=DecisionTrees(schema, 2), epsilon=64.0, first=64)
    alone = replace(trees, asking=False)
    cells = np.random.default_rng(1).integers(0, 2, size=(64 * 15, 3))

    def wrong(learner: DisjointBatches) -> int:
        run = learner.start(rng=seeded(2))
        for row in cells.tolist():
            run.observe(tuple(row), int(all(row)))
        assert isinstance(run.hypothesis, DecisionTree)
        return sum(run.hypothesis(x) != int(all(x)) for x in itertools.product((0, 1), repeat=3))

    assert (wrong(alone), wrong(trees)) == (1, 0)
