"""Trees that may ask what the last rule says: a question that costs no privacy.

The last rule is published, so what it says of a record is one more field of it. A tree that asks
is written out as a tree over the schema, the last rule standing where it was asked.
"""

from dataclasses import dataclass
from typing import Final, TypeGuard

import numpy as np

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Category, Schema
from littlestone.mechanisms.tree_weights import Sample

# No more than a tree that asks nobody has: a longer rule would make trees that nobody reads.
_MOST_QUESTIONS: Final = (1 << DEEPEST) - 1


@dataclass(frozen=True, slots=True)
class LastRule:
    """As one more field of records: what it says of them."""

    last: DecisionTree

    def extended(self, sample: Sample) -> Sample:
        said = self.last.many(sample.cells).astype(np.int64)
        return Sample(np.column_stack([sample.cells, said]), sample.counts)

    def written_out(self, tree: DecisionTree) -> DecisionTree:
        return DecisionTree(self.last.schema, self._without(tree.root))

    def _without(self, node: Node) -> Node:
        if not isinstance(node, tuple):
            return node
        condition, holds, fails = node
        holds, fails = self._without(holds), self._without(fails)
        if condition[0] < len(self.last.schema.fields):
            return condition, holds, fails
        return _instead_of_labels(self.last.root, fails, holds)


def with_last_rule(trees: Branching) -> DecisionTrees:
    """Trees over the schema and one more field, whatever the last rule is."""
    fields = trees.schema.fields
    name = "the last rule" + " " * max(len(part.name) for part in fields)  # no field's name
    return DecisionTrees(Schema((*fields, Category(name, (0, 1)))), trees.depth)


def can_be_asked(last: Hypothesis) -> TypeGuard[DecisionTree]:
    """Whether the last rule is a tree, no constant, and not too long to be asked."""
    return isinstance(last, DecisionTree) and 0 < len(last.conditions) <= _MOST_QUESTIONS


def _instead_of_labels(node: Node, zero: Node, one: Node) -> Node:
    if not isinstance(node, tuple):
        return one if node else zero
    condition, holds, fails = node
    return (
        condition,
        _instead_of_labels(holds, zero, one),
        _instead_of_labels(fails, zero, one),
    )
