"""Let trees ask what the last rule predicts: a question that costs no privacy.

The last rule is published, so its prediction for a record is one more field of the record. A tree
that asks is written out as a tree over the schema, with the last rule in place of the question.
With more than two labels the prediction is not a field but one more answer of a leaf: where a leaf
gives another answer, the tree corrects the last rule.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.hypotheses.layered_tree import (
    MOST_LAYERS,
    Base,
    LayeredTree,
    corrected,
    with_label_before,
)
from littlestone.concepts.hypotheses.rules import Scorecards
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Category, Schema
from littlestone.privacy.mechanisms.tree_weights import Sample

# The limit of trees that do not ask: a longer rule would give unreadable trees.
_MOST_QUESTIONS: Final = (1 << DEEPEST) - 1


@dataclass(frozen=True, slots=True)
class LastRule:
    """Use the predictions of the last rule as one more field of records."""

    last: DecisionTree

    def extended(self, sample: Sample) -> Sample:
        """Add the field to a sample."""
        said = self.last.many(sample.cells).astype(np.int64)
        return Sample(np.column_stack([sample.cells, said]), sample.counts)

    def written_out(self, tree: DecisionTree) -> DecisionTree:
        """Replace each question about the field by the last rule."""
        return DecisionTree(self.last.schema, self._without(tree.root))

    def _without(self, node: Node) -> Node:
        if not isinstance(node, tuple):
            return node
        condition, holds, fails = node
        holds, fails = self._without(holds), self._without(fails)
        if condition[0] < len(self.last.schema.fields):
            return condition, holds, fails
        return _instead_of_labels(self.last.root, fails, holds)


@dataclass(frozen=True, slots=True)
class Corrected:
    """Use the prediction of the last rule as one more answer of leaves."""

    last: Base | LayeredTree

    def extended(self, sample: Sample) -> Sample:
        """Add the answer to a sample."""
        labels, records = sample.counts.shape
        right = sample.counts[self.last.many(sample.cells), np.arange(records)]
        return Sample(sample.cells, np.vstack([sample.counts, right]), labels)

    def written_out(self, tree: DecisionTree) -> Hypothesis:
        """Replace the answer by the last rule."""
        return corrected(self.last, tree)


def with_last_rule(trees: Branching) -> DecisionTrees:
    """Return trees that may ask any last rule: by one more field, or by one more label."""
    if len(trees.schema.label_values) > 2:
        return DecisionTrees(with_label_before(trees.schema), trees.depth)
    fields = trees.schema.fields
    # Differs from the name of each field.
    name = "the last rule" + " " * max(len(part.name) for part in fields)
    return DecisionTrees(Schema((*fields, Category(name, (0, 1)))), trees.depth)


def last_rule_question(last: Hypothesis, labels: int) -> LastRule | Corrected | None:
    """Return how to ask the last rule; None if it is constant or too long."""
    if labels > 2:
        return _corrected(last)
    if isinstance(last, DecisionTree) and 0 < len(last.conditions) <= _MOST_QUESTIONS:
        return LastRule(last)
    return None


def _corrected(last: Hypothesis) -> Corrected | None:
    """Return how to correct the last rule; a rule with the most layers loses its oldest one."""
    if isinstance(last, LayeredTree) and len(last.layers) == MOST_LAYERS:
        return Corrected(LayeredTree(last.base, last.layers[1:]))
    constant = isinstance(last, DecisionTree) and not last.conditions
    return (
        Corrected(last)
        if isinstance(last, DecisionTree | Scorecards | LayeredTree) and not constant
        else None
    )


def _instead_of_labels(node: Node, zero: Node, one: Node) -> Node:
    if not isinstance(node, tuple):
        return one if node else zero
    condition, holds, fails = node
    return (
        condition,
        _instead_of_labels(holds, zero, one),
        _instead_of_labels(fails, zero, one),
    )
