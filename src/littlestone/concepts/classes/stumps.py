"""A pool of named rules over records: comparisons, equalities and their conjunctions."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.version_spaces import BitSetSpace
from littlestone.concepts.dimensions import BitSetDimension, bit_set, bit_set_vc_dimension
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.rules import Rule, rule_pool
from littlestone.concepts.hypotheses.tables import RecordTable, TableHypothesis
from littlestone.concepts.losses.answers import FieldRanges, OnLines
from littlestone.concepts.losses.label_counts import fewest_by_table
from littlestone.concepts.protocols import Hypothesis, Label, Tally
from littlestone.concepts.schema import Cells, Schema

_MOST_CELLS = 1 << 17
_LARGEST_TABLE = 1 << 29  # bits: rules × cells
_MOST_CELLS_FOR_VC = 64
_LARGEST_DUAL = 1 << 15  # rules × cells


@require.checked
class Stumps:
    """All rules of one condition on a record (at depth 2, up to two), and the two constants.

    A condition is ``field >= value`` or ``field < value`` for a value of the field's grid, or
    ``field == value`` for a category. Rules that are the same function are one rule.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> pool = Stumps(schema, depth=1)
    >>> pool.size, pool.littlestone_dimension
    (8, 3)
    >>> [rule.describe() for rule in pool.rules[:4]]
    ['never', 'always', 'delay >= 0', 'delay < 0']
    """

    def __init__(self, schema: Schema, depth: int) -> None:
        if depth not in (1, 2):
            raise ValueError(f"depth must be 1 or 2, got depth={depth!r}")
        self.schema = schema
        self.depth = depth
        self.domain = schema
        self.rules: tuple[Rule, ...] = tuple(rule_pool(schema, depth))
        self.size = len(self.rules)
        self._sides = _sides(self.rules)
        self._ones = tuple(tuple(bit_set(side) for side in sides) for sides in self._sides)
        self._everything = (1 << self.size) - 1

    def constant(self, label: Label) -> Rule:
        """Return the concept with this label everywhere."""
        return Rule(self.schema, () if label else None)

    @property
    def littlestone_dimension_upper_bound(self) -> int:
        """The mistake bound of halving, log₂ of the size."""
        return self.size.bit_length() - 1

    @cached_property
    def littlestone_dimension(self) -> int:
        """The Littlestone dimension."""
        return self._dimensions.dimension(self._everything)

    @cached_property
    def vc_dimension(self) -> int:
        """The dimension, exact for small pools; ValueError beyond.

        k points use at most k cells of each field. So k points are shattered if and only if they
        are shattered with that many cells per field.
        """
        points = 0
        while True:
            coarse = Stumps(self.schema.coarsened(points + 1), self.depth)
            if coarse.size < 2 << points:
                return points
            if coarse.schema.size > _MOST_CELLS_FOR_VC:
                raise ValueError(
                    f"the VC dimension of {self!r} is too hard to compute; it is at least {points} "
                    f"and at most littlestone_dimension_upper_bound = "
                    f"{self.littlestone_dimension_upper_bound}"
                )
            if bit_set_vc_dimension(coarse._columns, coarse._everything) <= points:
                return points
            points += 1

    @cached_property
    def dual_littlestone_dimension(self) -> int:
        """The dimension, exact for small pools; ValueError beyond."""
        return self._as_finite().dual_littlestone_dimension

    @cached_property
    def dual_vc_dimension(self) -> int:
        """The dimension, exact for small pools; ValueError beyond."""
        return self._as_finite().dual_vc_dimension

    def concept(self, position: int, /) -> Rule:
        """Return the concept at a position of ``concepts()``."""
        require.integer(position=position, at_least=0, at_most=self.size - 1)
        return self.rules[position]

    def labels_at(self, points: Any, /) -> NDArray[np.uint8]:
        """Return the label of every record (columns) under every rule (rows)."""
        cells = self.schema.check_many(points)
        found = np.ones((len(cells), self.size), dtype=np.uint8)
        for sides, column in zip(self._sides, cells.T, strict=True):
            found &= sides[column]
        return found.T

    def ones_at(self, x: Any) -> int:
        """Return the rules with label 1 on a record, as the bits of one integer."""
        found = self._everything
        for ones, cell in zip(self._ones, self.schema.check(x), strict=True):
            found &= ones[cell]
        return found

    def version_space(self) -> "StumpVersionSpace":
        """Return all concepts, before any example."""
        return StumpVersionSpace(self, self._everything)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept in hindsight."""
        return fewest_by_table(self.domain, self.labels_at, tally)

    def concepts(self) -> Iterator[Rule]:
        """Yield the concepts in a fixed order."""
        return iter(self.rules)

    def on_lines(self) -> OnLines | None:
        """Return the rules as stretches: one condition is a stretch of its field's cells."""
        if self.depth > 1:
            return None
        widths = tuple(part.cells for part in self.schema.fields)
        ends = [(0, 0, widths[0])] * self.size
        for i, rule in enumerate(self.rules):
            if rule.conditions is None:
                ends[i] = 0, 0, 0
            for number, first, last in rule.conditions or ():
                ends[i] = number, first, last + 1
        return OnLines(widths, *np.array(ends, dtype=np.int64).T)

    def answers(self) -> FieldRanges:
        """Return the labels under all concepts, or None if they need too much memory."""
        return self._answers

    @cached_property
    def _answers(self) -> FieldRanges:
        widths = [part.cells for part in self.schema.fields]
        return FieldRanges(widths, [rule.conditions for rule in self.rules])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Stumps) and self.schema == other.schema and self.depth == other.depth
        )

    def __hash__(self) -> int:
        return hash((self.schema, self.depth))

    def __reduce__(self) -> tuple[type[Self], tuple[Schema, int]]:
        return type(self), (self.schema, self.depth)

    def __repr__(self) -> str:
        names = ", ".join(part.name for part in self.schema.fields)
        return f"Stumps({self.size} rules over {names}, depth={self.depth})"

    @property
    def can_be_tabulated(self) -> bool:
        """Whether all cells fit into a table, which exact dimensions need."""
        return self.schema.size <= _MOST_CELLS and self.schema.size * self.size <= _LARGEST_TABLE

    @cached_property
    def _columns(self) -> list[int]:
        """Return, for each point in the schema's order, the rules with label 1 there."""
        if not self.can_be_tabulated:
            raise ValueError(
                f"{self!r} has {self.schema.size} cells, too many for exact dimensions (at most "
                f"{_MOST_CELLS}, and {_LARGEST_TABLE} with rules counted); use "
                f"littlestone_dimension_upper_bound = {self.littlestone_dimension_upper_bound}, or "
                f"a coarser schema"
            )
        columns = [self._everything]
        for ones in self._ones:
            columns = [column & part for column in columns for part in ones]
        return columns

    def _as_finite(self) -> FiniteClass:
        if self.schema.size * self.size > _LARGEST_DUAL:
            raise ValueError(
                f"the dual dimensions of {self!r} are too hard to compute with {self.schema.size} "
                f"cells; both are at most {self.schema.size.bit_length() - 1}"
            )
        return FiniteClass.from_class(self)

    @cached_property
    def _dimensions(self) -> BitSetDimension:
        return BitSetDimension(self._columns)


@dataclass(frozen=True, slots=True, repr=False)
class StumpVersionSpace(BitSetSpace):
    """The rules that fit the examples."""

    concept_class: Stumps

    def restrict(self, x: Any, y: Label, /) -> "StumpVersionSpace":
        ones = self.concept_class.ones_at(x)
        members = self.members & (ones if require.label(y) else ~ones)
        return self if members == self.members else StumpVersionSpace(self.concept_class, members)

    def standard_optimal(self) -> RecordTable:
        """Return a table of all cells; raise a ValueError if there are too many."""
        self._refuse_empty()
        labels = self.concept_class._dimensions.optimal_labels(self.members)
        return RecordTable(self.concept_class.schema, TableHypothesis(labels))

    def consistent(self) -> Rule:
        """Return the first rule left, in the order of ``rules``."""
        return self.concept_class.rules[self._first()]

    @property
    def _has_dimension(self) -> bool:
        return self.concept_class.can_be_tabulated

    def _mistakes(self, hypothesis: Hypothesis) -> Iterator[tuple[Cells, Label, int]]:
        if self.concept_class.can_be_tabulated:
            cells = list(self.concept_class.schema)
            labels = hypothesis.many(np.array(cells, dtype=np.int64)).tolist()
            columns = self.concept_class._columns
        else:
            cells = list(self._where_rules_differ(hypothesis))
            labels = [hypothesis(x) for x in cells]
            columns = [self.concept_class.ones_at(x) for x in cells]
        for x, label, column in zip(cells, labels, columns, strict=True):
            left = self.members & (~column if label else column)
            if left:
                yield x, 1 - label, left

    def _where_rules_differ(self, hypothesis: Hypothesis) -> Iterator[Cells]:
        met: set[Cells] = set()
        for number, rule in enumerate(self.concept_class.rules):
            if self.members >> number & 1:
                point = rule.disagreement(hypothesis)
                if point is not None and point not in met:
                    met.add(point)
                    yield point


def _sides(rules: tuple[Rule, ...]) -> list[NDArray[np.uint8]]:
    """Return, for each field, whether each cell (rows) meets each rule's condition (columns)."""
    fields = rules[0].schema.fields
    tables = [np.ones((part.cells, len(rules)), dtype=np.uint8) for part in fields]
    for i, rule in enumerate(rules):
        if rule.conditions is None:
            tables[0][:, i] = 0
        for number, low, high in rule.conditions or ():
            tables[number][:low, i] = 0
            tables[number][high + 1 :, i] = 0
    return tables


def _from_file(path: str, depth: int = 1) -> Stumps:
    return Stumps(Schema.from_toml(Path(path)), depth=depth)


CLASSES = (
    ClassEntry(
        name="stumps",
        build=_from_file,
        example="stumps:schema.toml,2",
        summary="a pool of named rules over records with a declared schema; depth 1 or 2",
        arguments=(str, int),
    ),
)
