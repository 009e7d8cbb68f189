"""A rule with corrections: small trees, of which the newest that gives an answer decides."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.common import shown
from littlestone.concepts.hypotheses.decision_tree import (
    DecisionTree,
    Node,
    node_from_json,
    node_json,
)
from littlestone.concepts.hypotheses.rules import OverRecords, Scorecards
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.schema import LabelledSchema, Schema

MOST_LAYERS: Final = 64
Base = DecisionTree | Scorecards


@require.checked
@dataclass(frozen=True, slots=True)
class LayeredTree(OverRecords):
    """Label a record by the newest layer that gives an answer, else by the base.

    A layer is a tree with one extra label, which means "ask the layer before". Hypotheses are equal
    if their layers are; unequal ones may be the same function, which ``disagreement`` shows if the
    schema is small enough to scan.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "label": {"values": ["ok", "late", "cancelled"]}}
    ... )
    >>> late = DecisionTree(schema, ((0, 2, 2), 1, 0))
    >>> rule = LayeredTree(late, (DecisionTree(with_label_before(schema), ((0, 0, 0), 2, 3)),))
    >>> rule.many({"delay": [-5, 5, 20]}).tolist()
    [2, 0, 1]
    >>> rule.describe()
    "'cancelled' if delay < 0 else as before; before: 'late' if delay >= 15 else 'ok'"
    """

    kind: ClassVar[str] = "layered_tree"
    base: Base
    layers: tuple[DecisionTree, ...]
    """The oldest first."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        if not 1 <= len(self.layers) <= MOST_LAYERS:
            raise ValueError(
                f"layers must have from 1 to {MOST_LAYERS} entries, got {len(self.layers)}"
            )
        wanted = with_label_before(self.schema)
        if any(layer.schema != wanted for layer in self.layers):
            raise ValueError("layers must have the fields of the base and one more label")

    @property
    def schema(self) -> Schema:
        return self.base.schema

    def __call__(self, x: Any, /) -> Label:
        cells, before = self.schema.check(x), len(self.schema.label_values)
        for layer in reversed(self.layers):
            label = layer(cells)
            if label != before:
                return label
        return self.base(cells)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells, before = self.schema.check_many(xs), len(self.schema.label_values)
        labels = np.full(len(cells), before, dtype=np.uint8)
        for rule in (*reversed(self.layers), self.base):
            open_rows = np.flatnonzero(labels == before)
            labels[open_rows] = rule.many(cells[open_rows])
        return labels

    def to_json(self) -> dict[str, Any]:
        layers = [node_json(layer.root) for layer in self.layers]
        return {"kind": self.kind, "base": self.base.to_json(), "layers": layers}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read the JSON form; raise a ValueError if it is not one."""
        base, layers = data.get("base"), data.get("layers")
        readers: dict[str, Any] = {
            "decision_tree": DecisionTree.from_json,
            Scorecards.kind: Scorecards.from_json,
        }
        kind = base.get("kind") if isinstance(base, dict) else None
        if not isinstance(kind, str) or kind not in readers or not isinstance(layers, list):
            raise ValueError(
                f"base must be one of {', '.join(readers)}, and layers a list, got "
                f"{require.shown(data)}"
            )
        read: Base = readers[kind](base)
        schema = with_label_before(read.schema)
        roots = (node_from_json(layer, schema) for layer in layers)
        return cls(read, tuple(DecisionTree(schema, root) for root in roots))

    def text(self) -> str:
        """Return each layer as nested questions, the newest first."""
        rules = (*reversed(self.layers), self.base)
        return "\nbefore:\n".join(_words(rule, self.schema, rule.text()) for rule in rules)

    def describe(self) -> str:
        rules = (*reversed(self.layers), self.base)
        return "; before: ".join(
            shown([_words(rule, self.schema, rule.describe()) for rule in rules])
        )


def with_label_before(schema: Schema) -> LabelledSchema:
    """Return the schema with an extra label that means the answer of the rule before."""
    values = schema.label_values
    name = "before" + " " * max(len(str(value)) for value in values)  # none of the labels
    return LabelledSchema(schema.fields, (*values, name))


def corrected(last: Base | LayeredTree, correction: DecisionTree) -> Hypothesis:
    """Return the rule that is ``correction`` where it gives an answer, and ``last`` elsewhere.

    ``correction`` has the schema ``with_label_before``.
    """
    before = len(last.schema.label_values)
    if correction.root == before:
        return last
    if not _has_leaf(correction.root, before):
        return DecisionTree(last.schema, correction.root)
    if isinstance(last, LayeredTree):
        return LayeredTree(last.base, (*last.layers, correction))
    return LayeredTree(last, (correction,))


def _has_leaf(node: Node, label: Label) -> bool:
    if not isinstance(node, tuple):
        return node == label
    return _has_leaf(node[1], label) or _has_leaf(node[2], label)


def _words(rule: Base, schema: Schema, words: str) -> str:
    """Describe a rule without the internal name of the extra label."""
    if rule.schema == schema:
        return words
    return words.replace(repr(rule.schema.label_values[-1]), "as before")
