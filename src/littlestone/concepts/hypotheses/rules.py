"""Rules and scorecards over records, which use some of the fields."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.common import Exported, Written, first_seen_difference, shown
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.records.fields import OWN_VALUE
from littlestone.concepts.schema import Category, Cells, Condition, Numeric, Schema

_LARGEST_SCAN = 1 << 22


@require.checked
class OverRecords(Exported):
    """A rule over records with a declared schema."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The declared fields of the records."""

    @property
    def domain(self) -> Schema:
        """The points that have a label."""
        return self.schema

    def disagreement(self, other: Hypothesis, /) -> Cells | None:
        """Return a point on which the two differ; None if they are equal.

        Raises:
            ValueError: If the first four million points show no difference.
        """
        return None if self == other else first_difference(self, other, self.schema)


@require.checked
@dataclass(frozen=True, slots=True)
class Rule(OverRecords, Written):
    """1 where every condition holds; never when ``conditions`` is None, always when it is ().

    Conditions are in the order of the fields, one per field that matters, so two rules over one
    schema are equal exactly if they are the same function.

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
            require.fields_fit(self)  # pools of rules are large, and nearly all rules pass
        fields = self.schema.fields
        previous = -1
        for condition in self.conditions or ():
            if type(condition) is not tuple or len(condition) != 3:
                require.fields_fit(self)
            number, low, high = condition
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
        """Return the rule that is 1 where both are."""
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
        """Return a point on which the two differ; in closed form between rules."""
        if isinstance(other, Rule) and other.schema == self.schema:
            point = self._outside(other)
            return other._outside(self) if point is None else point
        return super(Rule, self).disagreement(other)

    def describe(self) -> str:
        if self.conditions is None:
            return "never"
        fields = self.schema.fields
        words = [fields[number].describe(low, high) for number, low, high in self.conditions]
        return " and ".join(words) or "always"

    def _outside(self, other: "Rule") -> Cells | None:
        """Return a point with label 1 here and 0 there; of each field, the first possible cell."""
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
    """A function of records that depends only on some conditions."""

    @property
    def schema(self) -> Schema:
        """The declared fields of the records."""

    @property
    def conditions(self) -> tuple[Condition, ...] | None:
        """The conditions, each on one field."""


def corners(rules: Sequence[Asks]) -> Iterator[Cells]:
    """Yield points, in order, at least one for each satisfiable combination of the rules.

    Of a field, only the cells at which a rule begins or has just ended are needed.
    """
    fields = rules[0].schema.fields
    starts: list[set[int]] = [{0} for _ in fields]
    for rule in rules:
        for number, low, high in rule.conditions or ():
            starts[number] |= {low, high + 1} - {fields[number].cells}
    return product(*map(sorted, starts))


def first_difference(left: Hypothesis, right: Hypothesis, schema: Schema) -> Cells | None:
    """Return the first cells, in the schema's order, on which the two differ.

    If the conditions of both are known, one point is checked per region where both are constant.
    """
    sides = [left, *getattr(right, "members", (right,))]
    known = all(hasattr(side, "conditions") for side in sides)
    points = corners(sides) if known else None
    first: Cells | None = first_seen_difference(left, right, schema, points, _LARGEST_SCAN)
    return first


def rule_pool(schema: Schema, depth: int) -> dict[Rule, None]:
    """Return never, always, and all rules of at most ``depth`` conditions, in a fixed order."""
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


_MOST_POINTS = 1 << 62


@require.checked
@dataclass(frozen=True, slots=True)
class Scorecard(OverRecords, Written):
    """1 where the points of all fields and the constant sum to more than 0.

    Cells of a number are counted from the middle, in half cells: the middle cell gives no points,
    the last one ``points`` times (cells - 1). A category has points for each of its values.
    Scorecards are equal if their points are; unequal ones may be the same function, which
    ``disagreement`` shows if the schema is small enough to scan.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> card = Scorecard(schema, -5, ((10,), (0, -30)))
    >>> card({"delay": 20, "carrier": "UA"}), card({"delay": 20, "carrier": "AA"})
    (1, 0)
    >>> card.describe()
    "1 where -30·(carrier == 'AA') + 20·delay - 5 > 0, numbers from -1 to 1"
    """

    kind: ClassVar[str] = "scorecard"
    schema: Schema
    constant: int
    points: tuple[tuple[int, ...], ...]
    """For each field: one number for a numeric field, one per value for a category."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        fields = self.schema.fields
        wanted = [1 if isinstance(part, Numeric) else part.cells for part in fields]
        if [len(given) for given in self.points] != wanted:
            raise ValueError(f"points must be {wanted} for the fields, got points={self.points}")
        if abs(self.constant) + sum(self._most()) >= _MOST_POINTS:
            raise ValueError("points must sum to less than 2**62")

    def _most(self) -> list[int]:
        """Return the largest absolute points of each field."""
        return [
            max(map(abs, given)) * (part.cells - 1 if isinstance(part, Numeric) else 1)
            for part, given in zip(self.schema.fields, self.points, strict=True)
        ]

    def __call__(self, x: Any, /) -> Label:
        return int(self.many(np.array([self.schema.check(x)]))[0])

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        return np.asarray(self._sums(self.schema.check_many(xs)) > 0, dtype=np.uint8)

    def _sums(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of points of records, given by their cells."""
        sums = np.full(len(cells), self.constant, dtype=np.int64)
        columns = zip(self.schema.fields, self.points, cells.T, strict=True)
        for part, given, column in columns:
            if isinstance(part, Numeric):
                sums += given[0] * (2 * column - (part.cells - 1))
            else:
                sums += np.array(given, dtype=np.int64)[column]
        return sums

    def describe(self) -> str:
        words = self._words()
        if words is None:
            return f"{int(self.constant > 0)} everywhere"
        return f"1 where {words} > 0, numbers from -1 to 1"

    def _words(self) -> str | None:
        """Return the sum in words, largest weights first; None if it is constant."""
        terms = [
            term
            for part, given in zip(self.schema.fields, self.points, strict=True)
            for term in (
                [(given[0] * (part.cells - 1), part.name)]
                if isinstance(part, Numeric)
                else [(p, f"({part.describe(i, i)})") for i, p in enumerate(given)]
            )
            if term[0]
        ]
        if not terms:
            return None
        terms.sort(key=lambda term: -abs(term[0]))
        words = [f"{_signed(weight)}·{name}" for weight, name in terms]
        words = [*shown(words), _signed(self.constant)]
        first, rest = words[0].removeprefix("+ ").replace("- ", "-"), words[1:]
        return " ".join([first, *rest])

    def text(self) -> str:
        """Return a table of points to add up by hand."""
        return f"Add up the points:\n\n{self.table()}\n\n1 if the sum is above 0, else 0"

    def table(self) -> str:
        """Return the points for each answer, one per line."""
        rows = [("always", self.constant)]
        for part, given in zip(self.schema.fields, self.points, strict=True):
            halves = range(1 - part.cells, part.cells, 2)
            points = [given[0] * half for half in halves] if isinstance(part, Numeric) else given
            rows += [
                (_answer(part, cell), worth) for cell, worth in enumerate(points) if any(given)
            ]
        widest = max(len(f"{worth:+,}") for _, worth in rows)
        return "\n".join(f"{worth:>+{widest},}  {answer}" for answer, worth in rows)


@require.checked
@dataclass(frozen=True, slots=True)
class Scorecards(OverRecords, Written):
    """Choose the label whose scorecard gives the most points; the first on ties.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "label": {"values": ["ok", "late", "cancelled"]}}
    ... )
    >>> cards = Scorecards(schema, (0, 10, -9), (((0,),), ((20,),), ((-5,),)))
    >>> [schema.label_values[cards({"delay": minutes})] for minutes in (-5, 20)]
    ['cancelled', 'late']
    >>> cards.describe()
    "the most points, numbers from -1 to 1: 'ok' 0; 'late' 40·delay + 10; 'cancelled' -10·delay - 9"
    """

    kind: ClassVar[str] = "scorecards"
    schema: Schema
    constants: tuple[int, ...]
    """One for each label."""
    points: tuple[tuple[tuple[int, ...], ...], ...]
    """For each label, the points of a ``Scorecard``."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        count = len(self.schema.label_values)
        if len(self.constants) != count or len(self.points) != count:
            raise ValueError(
                f"constants and points must be one for each of {count} labels, got "
                f"{len(self.constants)} and {len(self.points)}"
            )
        _ = self.cards  # raises if points do not match the fields

    @property
    def cards(self) -> tuple[Scorecard, ...]:
        """One scorecard for each label."""
        given = zip(self.constants, self.points, strict=True)
        return tuple(Scorecard(self.schema, constant, points) for constant, points in given)

    def __call__(self, x: Any, /) -> Label:
        return int(self.many(np.array([self.schema.check(x)]))[0])

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        sums = np.stack([card._sums(cells) for card in self.cards])
        return np.asarray(sums.argmax(axis=0), dtype=np.uint8)

    def describe(self) -> str:
        words = [
            f"{value!r} {card._words() or card.constant}"
            for value, card in zip(self.schema.label_values, self.cards, strict=True)
        ]
        return f"the most points, numbers from -1 to 1: {'; '.join(words)}"

    def text(self) -> str:
        """Return a table of points for each label."""
        values = zip(self.schema.label_values, self.cards, strict=True)
        tables = [f"Points for {value!r}:\n\n{card.table()}" for value, card in values]
        return "\n\n".join([*tables, "The label with the most points"])


def _answer(part: Numeric | Category, cell: int) -> str:
    """Describe the values of a cell, and say if missing values count as one of them."""
    words = part.describe(cell, cell)
    missing = cell == part.stand_in and not words.endswith(("is missing", f"{OWN_VALUE!r}"))
    return f"{words}, or missing" if missing else words


def _signed(value: int) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value)}"
