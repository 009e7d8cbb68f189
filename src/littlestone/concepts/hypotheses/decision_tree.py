"""A decision tree over records: questions about single fields, a label at every leaf."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.pictures import tree_svg
from littlestone.concepts.hypotheses.rules import OverRecords
from littlestone.concepts.protocols import Label
from littlestone.concepts.schema import Condition, Schema
from littlestone.type_checks import is_a

Node = Label | tuple[Condition, "Node", "Node"]
"""A label, or a condition with the node where it holds and the node where it does not."""

_DEEPEST = 16


@require.checked
@dataclass(frozen=True, slots=True, eq=False)
class DecisionTree(OverRecords):
    """Label a record by the leaf that it reaches.

    Unreachable branches and questions without effect are removed. Two trees over one schema are
    equal exactly if they are the same function.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> late = DecisionTree(schema, ((0, 2, 2), ((1, 0, 0), 1, 0), 0))
    >>> late({"delay": 20, "carrier": "UA"}), late({"delay": 20, "carrier": "AA"})
    (1, 0)
    >>> print(late.text())
    if delay >= 15:
        if carrier == 'UA':
            1
        else:
            0
    else:
        0
    >>> late == DecisionTree(schema, ((1, 0, 0), ((0, 2, 2), 1, 0), 0))
    True
    """

    schema: Schema
    root: Node
    _normal: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        _check(self.schema, self.root, _DEEPEST)
        everything = tuple((0, part.cells - 1) for part in self.schema.fields)
        root, form = _simplified(_pruned(self.root, everything), everything)
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "_normal", form)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DecisionTree):
            return NotImplemented
        return self._normal == other._normal and self.schema == other.schema

    def __hash__(self) -> int:
        return hash((self.schema, self._normal))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Every question of the tree."""
        return tuple(_questions(self.root))

    def __call__(self, x: Any, /) -> Label:
        cells, node = self.schema.check(x), self.root
        while isinstance(node, tuple):
            (number, low, high), holds, fails = node
            node = holds if low <= cells[number] <= high else fails
        return node

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        labels = np.empty(len(cells), dtype=np.uint8)
        _write(self.root, cells, np.arange(len(cells)), labels)
        return labels

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "decision_tree",
            "schema": self.schema.to_json(),
            "root": node_json(self.root),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read the JSON form; raise a ValueError if it is not one."""
        schema = Schema.from_json(data.get("schema"))
        return cls(schema, node_from_json(data.get("root"), schema))

    def describe(self) -> str:
        return _words(self.root, self.schema)

    def text(self) -> str:
        """Return the tree as nested questions, one per line."""
        return "\n".join(_lines(self.root, self.schema, ""))

    def svg(self) -> str:
        """Return the tree as a standalone SVG picture."""
        return tree_svg(self.root, self.schema)

    def _repr_html_(self) -> str:
        return self.svg()


def _check(schema: Schema, node: Node, depth: int) -> None:
    if not isinstance(node, tuple):
        require.label(node, count=len(schema.label_values))
        return
    if depth == 0 or len(node) != 3:
        raise ValueError(f"root must be labels and questions at most {_DEEPEST} deep")
    (number, low, high), holds, fails = node
    require.integer(field=number, low=low, high=high, at_least=0)
    if number >= len(schema.fields) or not low <= high < schema.fields[number].cells:
        raise ValueError(f"no field of the schema has the cells of the condition {node[0]}")
    _check(schema, holds, depth - 1)
    _check(schema, fails, depth - 1)


Ranges = tuple[tuple[int, int], ...]
"""For each field, the first and the last possible cell of a record."""


def _pruned(node: Node, within: Ranges) -> Node:
    """Return the same function within these ranges, without questions that have no effect."""
    if not isinstance(node, tuple):
        return int(node)
    (number, low, high), holds, fails = node
    first, last = within[number]
    if low <= first and last <= high:
        return _pruned(holds, within)
    if last < low or high < first:
        return _pruned(fails, within)
    inside = _narrowed(within, number, max(low, first), min(high, last))
    yes = _pruned(holds, inside)
    # The complement of a middle range is not a range, so it does not narrow the known range.
    outside = within
    if low <= first:
        outside = _narrowed(within, number, high + 1, last)
    elif last <= high:
        outside = _narrowed(within, number, first, low - 1)
    no = _pruned(fails, outside)
    return yes if yes == no else ((number, low, high), yes, no)


def _simplified(node: Node, within: Ranges) -> tuple[Node, Any]:
    """Drop a question if one of its branches suits both answers; add the normal form."""
    if not isinstance(node, tuple):
        return node, node
    condition, *branches = node
    holds, fails = (_simplified(branch, within) for branch in branches)
    node = condition, holds[0], fails[0]
    form = _normal_form(node, within)
    return next((part for part in (holds, fails) if part[1] == form), (node, form))


def _narrowed(within: Ranges, number: int, first: int, last: int) -> Ranges:
    return (*within[:number], (first, last), *within[number + 1 :])


def _normal_form(node: Node, within: Ranges) -> Any:
    """Return the function field by field in schema order, as runs of cells with equal results.

    As with ordered decision diagrams, two functions have the same form only if they are equal.
    """
    node = _pruned(node, within)
    if not isinstance(node, tuple):
        return node
    number = min(condition[0] for condition in _questions(node))
    first, last = within[number]
    starts = {first}
    for about, low, high in _questions(node):
        if about == number:
            starts |= {cell for cell in (low, high + 1) if first < cell <= last}
    edges = [*sorted(starts), last + 1]
    runs: list[tuple[int, Any]] = []
    for start, end in pairwise(edges):
        form = _normal_form(node, _narrowed(within, number, start, end - 1))
        if not runs or runs[-1][1] != form:
            runs.append((start, form))
    return runs[0][1] if len(runs) == 1 else (number, tuple(runs))


def _questions(node: Node) -> Iterator[Condition]:
    if isinstance(node, tuple):
        yield node[0]
        yield from _questions(node[1])
        yield from _questions(node[2])


def _write(
    node: Node, cells: NDArray[np.int64], rows: NDArray[np.int64], labels: NDArray[np.uint8]
) -> None:
    if not isinstance(node, tuple):
        labels[rows] = node
        return
    (number, low, high), holds, fails = node
    column = cells[rows, number]
    inside = (low <= column) & (column <= high)
    _write(holds, cells, rows[inside], labels)
    _write(fails, cells, rows[~inside], labels)


def node_json(node: Node) -> Any:
    """Return a node as plain JSON values; ``node_from_json`` reads it back."""
    if not isinstance(node, tuple):
        return node
    condition, holds, fails = node
    return {"if": list(condition), "then": node_json(holds), "else": node_json(fails)}


def node_from_json(data: Any, schema: Schema, depth: int = _DEEPEST) -> Node:
    """Read back what ``node_json`` wrote; ValueError for anything else."""
    if not is_a(data, dict):
        return require.label(data, count=len(schema.label_values))
    condition = data.get("if")
    if depth == 0 or not isinstance(condition, list) or len(condition) != 3:
        raise ValueError(f"root must be labels and questions, got {require.shown(data)}")
    number, low, high = condition
    return (
        (number, low, high),
        node_from_json(data.get("then"), schema, depth - 1),
        node_from_json(data.get("else"), schema, depth - 1),
    )


def _words(node: Node, schema: Schema) -> str:
    if not isinstance(node, tuple):
        return repr(schema.label_values[node])
    (number, low, high), holds, fails = node
    question = schema.fields[number].describe(low, high)
    return f"{_part(holds, schema)} if {question} else {_part(fails, schema)}"


def _part(node: Node, schema: Schema) -> str:
    words = _words(node, schema)
    return f"({words})" if isinstance(node, tuple) else words


def _lines(node: Node, schema: Schema, indent: str) -> Iterator[str]:
    if not isinstance(node, tuple):
        yield f"{indent}{schema.label_values[node]!r}"
        return
    (number, low, high), holds, fails = node
    yield f"{indent}if {schema.fields[number].describe(low, high)}:"
    yield from _lines(holds, schema, indent + "    ")
    yield f"{indent}else:"
    yield from _lines(fails, schema, indent + "    ")
