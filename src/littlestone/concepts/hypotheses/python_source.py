"""Export hypotheses as plain Python source that does not need this library.

There is one writer for each kind of hypothesis. It reads the JSON form and returns the body of a
function of one point. The function raises a ValueError for points outside the domain, but checks
only what the rule uses: other fields may be missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from littlestone.concepts.keys import key_from_json
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Buckets, Category, Numeric, Schema

LAYERS: Final = "layered_tree"  # several functions, like a vote

Body = Iterator[str]
"""The lines of a function, each to be indented once."""

_RECORDS: Final = """
def _number(record, name, *missing):
    value = record.get(name)
    if isinstance(value, Decimal) and not value.is_nan():
        return value
    if isinstance(value, Real) and not isinstance(value, bool) and value == value:
        return value
    if missing:
        return missing[0]
    raise ValueError(f"field {name!r} must be a number, got {value!r}")


def _value(record, name, values, *missing):
    value = record.get(name)
    if value in values:
        return value
    if missing:
        return missing[0]
    raise ValueError(f"field {name!r} must be one of {values}, got {value!r}")
"""
_BUCKETS: Final = """
def _bucket(record, name, buckets, *missing):
    value = record.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (str, Integral)) and not isinstance(value, bool):
        text = value if isinstance(value, str) else str(int(value))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:4], "big") % buckets
    if missing:
        return missing[0]
    raise ValueError(f"field {name!r} must be a text or a whole number, got {value!r}")
"""
_DATES: Final = """
def _dated(record, column, part):
    name, value = f"{column}.{part}", record.get(column)
    if name in record:
        return record
    if isinstance(value, str):
        text, forms = value.strip(), [datetime.date, datetime.datetime]
        for form in [*forms, datetime.time] if ":" in text else forms:
            try:
                value = form.fromisoformat(text)
                break
            except ValueError:
                pass
    timed = isinstance(value, (datetime.datetime, datetime.time))
    if value != value:  # the date of pandas that is none
        return {}
    if timed if part == "hour" else isinstance(value, datetime.date):
        days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
        return {name: days[value.weekday()] if part == "weekday" else getattr(value, part)}
    return {}
"""
_INTEGERS: Final = """
def _integer(x, n):
    if isinstance(x, Integral) and not isinstance(x, bool) and 0 <= x < n:
        return int(x)
    raise ValueError(f"x must be an integer from 0 to {n - 1}, got x={x!r}")
"""
_CUBES: Final = """
def _bits(x, n):
    bits = list(x)
    if len(bits) == n and all(bit in (0, 1) for bit in bits):
        return [int(bit) for bit in bits]
    raise ValueError(f"x must be {n} zeros and ones, got x={x!r}")
"""
_HELPERS: Final = {
    "_number(": _RECORDS,
    "_value(": _RECORDS,
    "_bucket(": _BUCKETS,
    "_dated(": _DATES,
    "_integer(": _INTEGERS,
    "_bits(": _CUBES,
}
_IMPORTS: Final = {
    "bisect_right(": "from bisect import bisect_right",
    "datetime.": "import datetime",
    "Decimal)": "from decimal import Decimal",
    "Fraction(": "from fractions import Fraction",
    "hashlib.": "import hashlib",
    "Integral": "from numbers import Integral",
    "Real)": "from numbers import Real",
    "UUID(": "from uuid import UUID",
}  # fmt: skip


def python_source(hypothesis: Hypothesis, name: str = "rule") -> str:
    """Return a module with a function of this name that maps a point to a label's number.

    A point is as the hypothesis takes it; a record is a mapping from names to values.

    >>> from littlestone.concepts.hypotheses.runs import StepFunction
    >>> print(python_source(StepFunction(n=9, first=0, changes=(2, 5))).split("def rule")[1])
    (x):
        return 0 ^ bisect_right((2, 5), _integer(x, 9)) & 1
    <BLANKLINE>
    """
    functions: list[str] = []
    _write(hypothesis.to_json(), name, functions)
    return with_imports("\n\n\n".join(functions) + "\n")


def with_imports(code: str) -> str:
    """Return the code below the helpers and standard-library imports that it uses."""
    helpers = dict.fromkeys(text for call, text in _HELPERS.items() if call in code)
    code = "\n\n".join([*(text.strip("\n") + "\n" for text in helpers), code])
    imports = [line for word, line in _IMPORTS.items() if word in code]
    return "\n".join(imports) + ("\n\n\n" if imports else "") + code


def literal(value: Any) -> str:
    """Return the source of a key: numbers, text, bytes, dates, tuples, ….

    >>> literal(("user", 0.1, float("inf")))
    "('user', 0.1, float('inf'))"
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        return f"frozenset([{', '.join(sorted(map(literal, value)))}])"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"float({str(value)!r})"
    return repr(value)


def _write(data: Mapping[str, Any], name: str, functions: list[str]) -> None:
    kind = data.get("kind")
    if kind == "majority_vote":
        members = [f"{name}_{number}" for number in range(len(data["members"]))]
        for member, called in zip(data["members"], members, strict=True):
            _write(member, called, functions)
        votes = " + ".join(f"{called}(x)" for called in members)
        body: Body = iter([f"return int(2 * ({votes}) > {len(members)})"])
    elif kind == "weighted_vote":
        members = [f"{name}_{number}" for number in range(len(data["members"]))]
        for one, called in zip(data["members"], members, strict=True):
            _write(one["rule"], called, functions)
        body = _weighted_vote(members, [one["weight"] for one in data["members"]])
    elif kind == LAYERS:
        body = _layers(data, name, functions)
    elif kind in WRITERS:
        body = WRITERS[kind](data)
    else:
        raise ValueError(f"hypotheses of kind {kind!r} have no Python export")
    functions.append("\n".join([f"def {name}(x):", *(f"    {line}" for line in body)]))


def _weighted_vote(members: Sequence[str], weights: Sequence[int]) -> Body:
    yield "votes = {}"
    for called, weight in zip(members, weights, strict=True):
        yield f"label = {called}(x)"
        yield f"votes[label] = votes.get(label, 0) + {weight}"
    yield "return min(votes, key=lambda label: (-votes[label], label))"


def _layers(data: Mapping[str, Any], name: str, functions: list[str]) -> Body:
    """Return a function for each layer.

    The extra label, which the base lacks, means no answer.
    """
    schema = data["base"]["schema"]
    _write(data["base"], f"{name}_0", functions)
    for number, root in enumerate(data["layers"], start=1):
        _write(
            {"kind": "decision_tree", "schema": schema, "root": root}, f"{name}_{number}", functions
        )
    newest = ", ".join(f"{name}_{number}" for number in range(len(data["layers"]), 0, -1))
    before = len(Schema.from_json(schema).label_values)
    yield f"for layer in [{newest}]:"
    yield "    label = layer(x)"
    yield f"    if label != {before}:"
    yield "        return label"
    yield f"return {name}_0(x)"


def _threshold(data: Mapping[str, Any]) -> Body:
    yield f"return int(_integer(x, {data['n']}) >= {data['k']})"


def _steps(data: Mapping[str, Any]) -> Body:
    changes = literal(tuple(data["changes"]))
    yield f"return {data['first']} ^ bisect_right({changes}, _integer(x, {data['n']})) & 1"


def _table(data: Mapping[str, Any], place: str = "") -> Body:
    size = data["size"]
    yield f"at = {place or f'_integer(x, {size})'}"
    yield f"return {bytes.fromhex(data['bits'])!r}[at >> 3] >> (at & 7) & 1"


def _label_table(data: Mapping[str, Any]) -> Body:
    labels = literal(tuple(data["labels"]))
    yield f"return {labels}[_integer(x, {len(data['labels'])})]"


def _cube_table(data: Mapping[str, Any]) -> Body:
    corner = f"int(''.join(map(str, _bits(x, {data['n']}))), 2)"
    return _table(data["labels"], corner)


def _support(data: Mapping[str, Any]) -> Body:
    keys = [literal(key_from_json(key)) for key in data["positives"]]
    if keys:
        yield "return int(x in {"
        yield from (f"    {key}," for key in keys)
        yield "})"
    else:
        yield "return 0"


def _box(data: Mapping[str, Any]) -> Body:
    yield f"parts = [_integer(part, {data['n']}) for part in x]"
    yield f"if len(parts) != {data['k']}:"
    yield f"    raise ValueError(f'x must have {data['k']} coordinates, got {{len(parts)}}')"
    if data["bounds"] is None:
        yield "return 0"
    else:
        pairs = f"zip(parts, {literal(tuple(map(tuple, data['bounds'])))})"
        yield f"return int(all(low <= part <= high for part, (low, high) in {pairs}))"


def _conjunction(data: Mapping[str, Any]) -> Body:
    yield f"bits = _bits(x, {data['n']})"
    if data["term"] is None:
        yield "return 0"
    else:
        term = literal(tuple(map(tuple, data["term"])))
        yield f"return int(all(bits[place] == bit for place, bit in {term}))"


def _weighted(data: Mapping[str, Any]) -> Body:
    weights = literal(tuple(data["weights"]))
    bits = f"_bits(x, {len(data['weights'])})"
    total = f"sum(w for w, bit in zip({weights}, {bits}) if bit)"
    yield f"return int({total} >= {data['threshold']})"


def _halfspace(data: Mapping[str, Any]) -> Body:
    weights = literal(tuple(data["weights"]))
    yield "# exactly: a float is the fraction that it is"
    yield f"return int(sum(w * Fraction(part) for w, part in zip({weights}, x)) > 0)"


def _value_of(part: Numeric | Category) -> str:
    """Return the source that reads a field of a record."""
    missing = "" if part.missing is None else f", {literal(part.missing)}"
    if isinstance(part, Buckets):
        return f"_bucket(x, {part.name!r}, {part.count}{missing})"
    record = "x" if part.date is None else f"_dated(x, {part.column!r}, {part.date!r})"
    if isinstance(part, Numeric):
        return f"_number({record}, {part.name!r}{missing})"
    return f"_value({record}, {part.name!r}, {literal(part.values)}{missing})"


def _cell(part: Numeric | Category) -> str:
    """Return the source of a field's cell number."""
    if isinstance(part, Numeric):
        return f"bisect_right({literal(part.grid)}, {_value_of(part)})"
    return f"{literal(part.values)}.index({_value_of(part)})"


def _holds(part: Numeric | Category, low: int, high: int) -> str:
    """Return the condition that the cell lies from ``low`` to ``high``."""
    if isinstance(part, Category):
        values = part.values[low : high + 1]
        if len(values) == 1:
            return f"{_value_of(part)} == {literal(values[0])}"
        return f"{_value_of(part)} in {literal(values)}"
    below = f" < {literal(part.grid[high])}" if high < len(part.grid) else ""
    if low == 0:
        return f"{_value_of(part)}{below}" if below else f"{_value_of(part)} is not None"
    if not below:
        return f"{_value_of(part)} >= {literal(part.grid[low - 1])}"
    return f"{literal(part.grid[low - 1])} <= {_value_of(part)}{below}"


def _decision_tree(data: Mapping[str, Any]) -> Body:
    return _branches(data["root"], Schema.from_json(data["schema"]))


def _branches(node: Any, schema: Schema) -> Body:
    if not isinstance(node, dict):
        yield f"return {node}"
        return
    number, low, high = node["if"]
    yield f"if {_holds(schema.fields[number], low, high)}:"
    yield from (f"    {line}" for line in _branches(node["then"], schema))
    yield from _branches(node["else"], schema)


def _rule(data: Mapping[str, Any]) -> Body:
    schema = Schema.from_json(data["schema"])
    if data["conditions"] is None:
        yield "return 0"
    for number, low, high in data["conditions"] or ():
        yield f"if not {_holds(schema.fields[number], low, high)}:"
        yield "    return 0"
    if data["conditions"] is not None:
        yield "return 1"


def _record_table(data: Mapping[str, Any]) -> Body:
    place = "0"
    for part in Schema.from_json(data["schema"]).fields:
        place = f"({place}) * {part.cells} + {_cell(part)}" if place != "0" else _cell(part)
    return _table(data["labels"], place)


def _scorecard(data: Mapping[str, Any]) -> Body:
    yield from _score(data["schema"], data["constant"], data["points"])
    yield "return int(score > 0)"


def _scorecards(data: Mapping[str, Any]) -> Body:
    yield "scores = []"
    for constant, points in zip(data["constants"], data["points"], strict=True):
        yield from _score(data["schema"], constant, points)
        yield "scores.append(score)"
    yield "return scores.index(max(scores))"


def _score(schema: Any, constant: int, given: Any) -> Body:
    yield f"score = {constant}"
    for part, points in zip(Schema.from_json(schema).fields, given, strict=True):
        if not any(points):
            continue
        if isinstance(part, Numeric):
            yield f"score += {points[0]} * (2 * {_cell(part)} - {part.cells - 1})"
        else:
            yield f"score += {literal(tuple(points))}[{_cell(part)}]"


WRITERS: Final[dict[str, Callable[[Mapping[str, Any]], Body]]] = {
    "box": _box,
    "conjunction": _conjunction,
    "cube_table": _cube_table,
    "decision_tree": _decision_tree,
    "halfspace": _halfspace,
    "label_table": _label_table,
    "record_table": _record_table,
    "rule": _rule,
    "scorecard": _scorecard,
    "scorecards": _scorecards,
    "steps": _steps,
    "support": _support,
    "table": _table,
    "threshold": _threshold,
    "weighted_features": _weighted,
}
