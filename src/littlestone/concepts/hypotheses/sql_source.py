"""Export rules over records as one SQL expression, for SQLite, DuckDB and PostgreSQL.

A writer reads the JSON form. Missing and undeclared values count as the field's stand-in, as in
learning and in ``littlestone predict``, so the expression has a label for every row.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.records.dates import WEEKDAYS
from littlestone.concepts.schema import Buckets, Category, Numeric, Schema

Dialect = Literal["postgresql", "duckdb", "sqlite"]

_EXACT: Final = 2**53  # databases compare columns of floats as floats
_INFINITY: Final = "CAST('Infinity' AS DOUBLE PRECISION)"
_NARROW: Final = 2**24
_PARTS: Final = {"hour": "hour", "month": "month", "weekday": "isodow"}
_DAYS: Final = {day: place for place, day in enumerate(WEEKDAYS, start=1)}


def sql_source(hypothesis: Hypothesis, dialect: Dialect = "postgresql") -> str:
    """Write a rule over records as an expression that gives its label for each row of a table.

    Columns have the names of the fields. A column of numbers has a numeric type, a category the
    type of its declared values, a date a date type or, in SQLite, text in ISO 8601. Text is
    compared byte by byte, and dates with a time zone in the zone of the session. A decimal is
    compared with a cut as written, so a decimal 0.1 reaches the cut 0.1; in Python it lies below
    the float.

    Raises:
        ValueError: SQL cannot express this kind of rule, a name or a number exactly.

    >>> from littlestone.concepts.hypotheses.decision_tree import DecisionTree
    >>> schema = Schema.from_mapping({"carrier": {"values": ["UA", "O'Hare"]}})
    >>> print(sql_source(DecisionTree(schema, ((0, 1, 1), 1, 0))))
    CASE WHEN "carrier" IN ('O''Hare') THEN 1 ELSE 0 END
    """
    if dialect not in get_args(Dialect):
        known = ", ".join(get_args(Dialect))
        raise ValueError(f"dialect must be one of {known}, got dialect={dialect!r}")
    return _Writer(dialect).rule(hypothesis.to_json())


def labelled_sql(hypothesis: Hypothesis, labels: Sequence[Any], dialect: Dialect) -> str:
    """Write a rule whose labels 0, 1, … are declared texts, numbers or Booleans.

    >>> from littlestone.concepts.hypotheses.decision_tree import DecisionTree
    >>> schema = Schema.from_mapping({"carrier": {"values": ["UA", "AA"]}})
    >>> print(labelled_sql(DecisionTree(schema, 1), ("on time", "late"), "sqlite"))
    CASE 1 WHEN 0 THEN 'on time' WHEN 1 THEN 'late' END
    """
    writer = _Writer(dialect)
    cases = [f"WHEN {number} THEN {writer.label(said)}" for number, said in enumerate(labels)]
    return f"CASE {sql_source(hypothesis, dialect)} {' '.join(cases)} END"


@dataclass(frozen=True, slots=True)
class _Writer:
    dialect: Dialect

    def rule(self, data: Mapping[str, Any]) -> str:
        kind = data.get("kind")
        writers: dict[Any, Callable[[Mapping[str, Any]], str]] = {
            "decision_tree": self._tree,
            "layered_tree": self._layers,
            "majority_vote": self._majority,
            "record_table": self._table,
            "rule": self._conjunction,
            "scorecard": self._scorecard,
            "scorecards": self._scorecards,
            "weighted_vote": self._weighted,
        }
        if kind not in writers:
            raise ValueError(f"hypotheses of kind {kind!r} have no SQL export; try to_python()")
        return writers[kind](data)

    def _tree(self, data: Mapping[str, Any]) -> str:
        return self._branches(data["root"], Schema.from_json(data["schema"]))

    def _layers(self, data: Mapping[str, Any]) -> str:
        schema = Schema.from_json(data["base"]["schema"])
        said = [self._branches(root, schema) for root in reversed(data["layers"])]
        return f"COALESCE({', '.join([*said, self.rule(data['base'])])})"

    def _branches(self, node: Any, schema: Schema) -> str:
        if not isinstance(node, dict):  # an undeclared label: the answer of the layer before
            return str(int(node)) if node < len(schema.label_values) else "NULL"
        number, low, high = node["if"]
        holds = self._holds(schema.fields[number], low, high)
        then, other = (self._branches(node[key], schema) for key in ("then", "else"))
        return f"CASE WHEN {holds} THEN {then} ELSE {other} END"

    def _conjunction(self, data: Mapping[str, Any]) -> str:
        if data["conditions"] is None:
            return "0"
        fields = Schema.from_json(data["schema"]).fields
        holds = [f"({self._holds(fields[n], low, high)})" for n, low, high in data["conditions"]]
        return f"CASE WHEN {' AND '.join(holds)} THEN 1 ELSE 0 END" if holds else "1"

    def _scorecard(self, data: Mapping[str, Any]) -> str:
        score = self._score(data["schema"], data["constant"], data["points"])
        return f"CASE WHEN {score} > 0 THEN 1 ELSE 0 END"

    def _scorecards(self, data: Mapping[str, Any]) -> str:
        given = zip(data["constants"], data["points"], strict=True)
        scores = " UNION ALL ".join(
            f"SELECT {label} AS label, {self._score(data['schema'], *one)} AS score"
            for label, one in enumerate(given)
        )
        return f"(SELECT label FROM ({scores}) AS scores ORDER BY score DESC, label LIMIT 1)"

    def _score(self, schema: Any, constant: int, points_of_fields: Sequence[Any]) -> str:
        terms, most = [], abs(constant)
        for part, given in zip(Schema.from_json(schema).fields, points_of_fields, strict=True):
            if any(given):
                numbers = range(1 - part.cells, part.cells, 2)
                points = (
                    [given[0] * half for half in numbers] if isinstance(part, Numeric) else given
                )
                terms.append(self._by_cell(part, points))
                most += max(map(abs, points))
        return " + ".join([_summand(constant, most), *terms])

    def _table(self, data: Mapping[str, Any]) -> str:
        place = "0"
        for part in Schema.from_json(data["schema"]).fields:
            place = f"({place}) * {part.cells} + {self._by_cell(part, range(part.cells))}"
        size, bits = data["labels"]["size"], bytes.fromhex(data["labels"]["bits"])
        labels = "".join(str(bits[at >> 3] >> (at & 7) & 1) for at in range(size))
        return f"CAST(substr('{labels}', CAST({place} + 1 AS INTEGER), 1) AS INTEGER)"

    def _majority(self, data: Mapping[str, Any]) -> str:
        return self._vote([(member, 1) for member in data["members"]])

    def _weighted(self, data: Mapping[str, Any]) -> str:
        return self._vote([(one["rule"], one["weight"]) for one in data["members"]])

    def _vote(self, members: Sequence[tuple[Mapping[str, Any], int]]) -> str:
        said = [(self.rule(member), int(weight)) for member, weight in members]
        if set().union(*(_labels(member) for member, _ in members)) <= {0, 1}:
            total = sum(weight for _, weight in said)
            votes = " + ".join(f"{_summand(weight, total)} * {label}" for label, weight in said)
            half = total // 2
            return f"CASE WHEN {votes} > {half} THEN 1 ELSE 0 END"
        ballots = " UNION ALL ".join(
            f"SELECT {label} AS label, {weight} AS weight" for label, weight in said
        )
        return (
            f"(SELECT label FROM ({ballots}) AS ballots GROUP BY label "
            f"ORDER BY SUM(weight) DESC, label LIMIT 1)"
        )

    def _holds(self, part: Numeric | Category, low: int, high: int) -> str:
        """Write the condition that a field's cell lies from ``low`` to ``high``."""
        stands_in = low <= part.stand_in <= high
        if isinstance(part, Category):
            return self._is_one_of(part, set(range(low, high + 1)), stands_in=stands_in)
        value = self._value_of(part)
        parts = [f"{value} >= {self._number(part.grid[low - 1])}"] if low > 0 else []
        parts += [f"{value} < {self._number(part.grid[high])}"] if high < len(part.grid) else []
        if stands_in:
            return " OR ".join([*([" AND ".join(parts)] if parts else []), self._no_number(part)])
        return " AND ".join([*parts, *self._a_number(part, bounded=high < len(part.grid))])

    def _is_one_of(self, part: Category, cells: set[int], *, stands_in: bool) -> str:
        value = self._value_of(part)
        if not stands_in:
            return f"{value} IN ({self._values(part, cells)})"
        others = set(range(part.cells)) - cells
        if not others:
            return "1 = 1"
        return f"{value} IS NULL OR {value} NOT IN ({self._values(part, others)})"

    def _by_cell(self, part: Numeric | Category, given: Iterable[int]) -> str:
        """Write the given number of a field's cell."""
        numbers = list(given)
        instead = numbers[part.stand_in]
        if isinstance(part, Category):
            cases = [
                f"WHEN {self._value_of(part)} IN ({self._values(part, {cell})}) THEN {number}"
                for cell, number in enumerate(numbers)
                if number != instead
            ]
            return f"CASE {' '.join(cases)} ELSE {instead} END" if cases else str(instead)
        cases = [f"WHEN {self._no_number(part)} THEN {instead}"]
        for cut, number in zip(reversed(part.grid), reversed(numbers[1:]), strict=True):
            cases.append(f"WHEN {self._value_of(part)} >= {self._number(cut)} THEN {number}")
        return f"CASE {' '.join(cases)} ELSE {numbers[0]} END"

    def _no_number(self, part: Numeric) -> str:
        """Write the condition that there is no number; these databases sort NaN last."""
        value = self._value_of(part)
        if part.date is not None:
            return f"{value} IS NULL"
        if self.dialect == "sqlite":
            return f"typeof({value}) NOT IN ('integer', 'real')"
        return f"{value} IS NULL OR {value} > {_INFINITY}"

    def _a_number(self, part: Numeric, *, bounded: bool) -> list[str]:
        """Write the condition that a value is a number, unless a comparison implies it."""
        value = self._value_of(part)
        if part.date is not None:
            return []
        if self.dialect == "sqlite":
            return [f"typeof({value}) IN ('integer', 'real')"]
        return [] if bounded else [f"{value} <= {_INFINITY}"]

    def _value_of(self, part: Numeric | Category) -> str:
        """Write the expression that reads a field of a row."""
        name = self._name(part.column)
        if isinstance(part, Buckets):
            bucket = self._bucket(name, part.count)
            return bucket if part.missing is None else f"CAST({bucket} AS TEXT)"
        if part.date is None:
            mixed = isinstance(part, Category) and len(set(map(type, part.values))) > 1
            return f"CAST({name} AS TEXT)" if mixed else name
        if self.dialect != "sqlite":
            return f"EXTRACT({_PARTS[part.date]} FROM {name})"
        day = f"substr(trim({name}), 1, 10)"
        known = f"strftime('%Y-%m-%d', {day}) = {day}"  # SQLite reads February 30 as March 2
        if part.date == "hour":
            known += f" AND length(trim({name})) >= 16"
            read = f"CAST(substr(trim({name}), 12, 2) AS INTEGER)"
        elif part.date == "month":
            read = f"CAST(substr({day}, 6, 2) AS INTEGER)"
        else:
            read = f"(CAST(strftime('%w', {day}) AS INTEGER) + 6) % 7 + 1"
        return f"CASE WHEN {known} THEN {read} END"

    def _bucket(self, name: str, count: int) -> str:
        text = f"CAST({name} AS TEXT)"
        if self.dialect == "sqlite":
            raise ValueError(
                f"SQLite cannot hash {name}: it has no SHA-256; Python, PostgreSQL and DuckDB have"
            )
        if self.dialect == "duckdb":
            return f"CAST('0x' || substr(sha256({text}), 1, 8) AS BIGINT) % {count}"
        digits = f"substr(encode(sha256(convert_to({text}, 'UTF8')), 'hex'), 1, 8)"
        return f"('x' || {digits})::bit(32)::bigint % {count}"

    def _values(self, part: Category, cells: set[int]) -> str:
        values: list[str | int] = [part.values[cell] for cell in sorted(cells)]
        if part.date is not None:
            return ", ".join(str(_DAYS.get(str(value), 0)) for value in values)
        if len(set(map(type, part.values))) > 1:  # compared as texts
            if len(set(map(str, part.values))) < len(part.values):
                raise ValueError(f"values of field {part.name!r} must differ as SQL text")
            values = list(map(str, values))
        return ", ".join(self._text(v) if isinstance(v, str) else str(int(v)) for v in values)

    def _number(self, cut: float) -> str:
        if abs(cut) > _EXACT and int(cut) == cut and float(cut) != cut:
            raise ValueError(f"SQL cannot compare floats with {cut} exactly")
        if int(cut) == cut and abs(cut) <= _EXACT:
            whole = str(int(cut))
            # DuckDB would round this to a narrow column's 32 bits.
            return f"{whole}e0" if self.dialect == "duckdb" and abs(cut) > _NARROW else whole
        text = repr(float(cut))
        return f"{text}e0" if self.dialect == "duckdb" and "e" not in text else text

    def label(self, value: Any) -> str:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool):
            return "NULL" if value is None else str(value).upper()
        if isinstance(value, int | float) and math.isfinite(value):
            return repr(value)
        raise ValueError(f"SQL cannot express the label {value!r}")

    def _name(self, column: str) -> str:
        # SQLite silently reads an unknown column in double quotes as text.
        mark = "`" if self.dialect == "sqlite" else '"'
        return f"{mark}{_sayable(column).replace(mark, 2 * mark)}{mark}"

    def _text(self, value: str) -> str:
        quoted = _sayable(value).replace("'", "''")
        if self.dialect == "postgresql" and "\\" in value:
            # In E'…' a backslash means the same whatever standard_conforming_strings is.
            return "E'" + quoted.replace("\\", "\\\\") + "'"
        return f"'{quoted}'"


def _summand(number: int, most: int) -> str:
    """Write a summand of a sum that is at most ``most``; small sums are computed in 32 bits."""
    return f"CAST({number} AS BIGINT)" if most >> 31 else str(int(number))


def _sayable(text: str) -> str:
    """Reject text that would end a statement early or that no database can store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"SQL cannot express {text!r}, which is not valid Unicode; try to_python()"
        ) from None
    if "\0" in text:
        raise ValueError(f"SQL cannot express {text!r}, which has a zero byte; try to_python()")
    return text


def _labels(data: Mapping[str, Any]) -> set[int]:
    """Return the labels that a rule may give."""
    if data["kind"] == "decision_tree":
        return _leaves(data["root"])
    schema = data.get("base", data).get("schema")
    return {0, 1} if schema is None else set(range(len(Schema.from_json(schema).label_values)))


def _leaves(node: Any) -> set[int]:
    if not isinstance(node, dict):
        return {int(node)}
    return _leaves(node["then"]) | _leaves(node["else"])
