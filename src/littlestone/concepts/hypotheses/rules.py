"""A named rule over records: some fields lie in some range of cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import NoneType
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.scan import first_seen_difference
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.schema import Cells, Condition, Schema
from littlestone.concepts.written import Written

_LARGEST_SCAN = 1 << 22


@require.checked
@dataclass(frozen=True, slots=True)
class Rule(Written):
    """1 where every condition holds; never when ``conditions`` is None, always when it is ().

    Conditions come in the order of the fields, one for each field that matters, so two rules over
    one schema are equal exactly when they are the same function.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> rule = Rule(schema, ((0, 2, 2), (1, 0, 0)))
    >>> rule.describe(), rule({"delay": 20, "carrier": "UA"}), rule({"delay": 5, "carrier": "UA"})
    ("delay >= 15 and carrier == 'UA'", 1, 0)
    >>> rule.many({"delay": [20, 20], "carrier": ["UA", "AA"]}).tolist()
    [1, 0]
    """

    kind: ClassVar[str] = "rule"
    schema: Schema
    conditions: tuple[Condition, ...] | None

    def __post_init__(self) -> None:
        if type(self.schema) is not Schema or type(self.conditions) not in (tuple, NoneType):
            require.fields_fit(self)  # pools of rules are large, and nearly all of them pass
        fields = self.schema.fields
        previous = -1
        for number, low, high in self.conditions or ():
            require.integer(field=number, low=low, high=high)
            if not previous < number < len(fields):
                raise ValueError(f"conditions must follow the fields, got {self.conditions}")
            last = fields[number].cells - 1
            if not 0 <= low <= high <= last or (low, high) == (0, last):
                raise ValueError(
                    f"a condition on {fields[number].name!r} must leave out some of the cells "
                    f"0 to {last} and not all, got {low} to {high}"
                )
            previous = number

    @property
    def domain(self) -> Schema:
        return self.schema

    def __call__(self, x: Any, /) -> Label:
        cells = self.schema.check(x)
        if self.conditions is None:
            return 0
        for number, low, high in self.conditions:
            if not low <= cells[number] <= high:
                return 0
        return 1

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        holds = np.full(len(cells), self.conditions is not None)
        for number, low, high in self.conditions or ():
            column = cells[:, number]
            holds &= (low <= column) & (column <= high)
        return holds.view(np.uint8)

    def intersection(self, other: "Rule") -> "Rule":
        """1 where both are."""
        if self.conditions is None or other.conditions is None:
            return Rule(self.schema, None)
        ranges = {number: (low, high) for number, low, high in self.conditions}
        for number, low, high in other.conditions:
            mine_low, mine_high = ranges.get(number, (low, high))
            ranges[number] = max(low, mine_low), min(high, mine_high)
        if any(low > high for low, high in ranges.values()):
            return Rule(self.schema, None)
        return Rule(self.schema, tuple((number, *ranges[number]) for number in sorted(ranges)))

    def disagreement(self, other: Hypothesis, /) -> Cells | None:
        """Between rules in closed form; else the first point among those that may differ."""
        if isinstance(other, Rule) and other.schema == self.schema:
            point = self._outside(other)
            return other._outside(self) if point is None else point
        return first_difference(self, other, self.schema)

    def describe(self) -> str:
        if self.conditions is None:
            return "never"
        fields = self.schema.fields
        words = [fields[number].describe(low, high) for number, low, high in self.conditions]
        return " and ".join(words) or "always"

    def _outside(self, other: "Rule") -> Cells | None:
        """A point with label 1 here and 0 there: the first cell of each field where it can be."""
        if self.conditions is None:
            return None
        mine = {number: (low, high) for number, low, high in self.conditions}
        point = [mine.get(number, (0, 0))[0] for number in range(len(self.schema.fields))]
        if other.conditions is None:
            return tuple(point)
        for number, low, high in other.conditions:
            first, last = mine.get(number, (0, self.schema.fields[number].cells - 1))
            if first < low or last > high:
                point[number] = first if first < low else max(first, high + 1)
                return tuple(point)
        return None


class Asks(Protocol):
    """A function of records that depends on nothing but the answers to some conditions."""

    @property
    def schema(self) -> Schema: ...

    @property
    def conditions(self) -> tuple[Condition, ...] | None: ...


def corners(rules: Sequence[Asks]) -> Iterator[Cells]:
    """Points, in order, one of which lies wherever some combination of the rules does.

    A field matters only through the cells at which a rule begins or has just ended.
    """
    fields = rules[0].schema.fields
    starts: list[set[int]] = [{0} for _ in fields]
    for rule in rules:
        for number, low, high in rule.conditions or ():
            starts[number] |= {low, high + 1} - {fields[number].cells}
    return product(*map(sorted, starts))


def first_difference(left: Hypothesis, right: Hypothesis, schema: Schema) -> Cells | None:
    """The first cells, in the schema's order, on which the two differ.

    Where it is known what both ask, only one point is looked at wherever both are constant.
    """
    sides = [left, *getattr(right, "members", (right,))]
    known = all(hasattr(side, "conditions") for side in sides)
    points = corners(sides) if known else None
    first: Cells | None = first_seen_difference(left, right, schema, points, _LARGEST_SCAN)
    return first


def rule_pool(schema: Schema, depth: int) -> dict[Rule, None]:
    """Never, always, and all rules of at most ``depth`` conditions; each once, in a fixed order."""
    singles = [
        Rule(schema, ((number, low, high),))
        for number, part in enumerate(schema.fields)
        for low, high in part.conditions()
        if (low, high) != (0, part.cells - 1)  # the only value of a category: always
    ]
    rules = dict.fromkeys([Rule(schema, None), Rule(schema, ()), *singles])
    if depth == 2:
        rules.update(
            dict.fromkeys(left.intersection(right) for left, right in combinations(singles, 2))
        )
    return rules
