"""Declared schemas, named rules and pools of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes import stumps as module
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.hypotheses.rules import Rule
from littlestone.concepts.hypotheses.tables import RecordTable, TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema

DECLARED: dict[str, dict[str, Any]] = {
    "dep_delay": {"grid": [0, 15, 30.5]},
    "hour": {"grid": [12]},
    "carrier": {"values": ["UA", "AA", "B6"]},
}
SCHEMA = Schema.from_mapping(DECLARED)
RECORD = {"dep_delay": 20, "hour": 8, "carrier": "AA", "tail": "not declared"}
POOL = Stumps(SCHEMA, depth=2)


def by_name(name: str, pool: Stumps = POOL) -> Rule:
    return next(rule for rule in pool.rules if rule.describe() == name)


def test_equal_cells_are_equal_points() -> None:
    assert SCHEMA.check(RECORD) == (2, 0, 1)
    assert SCHEMA.check({**RECORD, "dep_delay": 15.0}) == (2, 0, 1)
    assert SCHEMA.check({**RECORD, "dep_delay": np.float32(-1e9)}) == (0, 0, 1)
    assert SCHEMA.check({**RECORD, "dep_delay": float("inf")}) == (3, 0, 1)
    assert SCHEMA.check((2, 0, 1)) == SCHEMA.check(np.array([2, 0, 1])) == (2, 0, 1)
    assert SCHEMA.size == len(list(SCHEMA)) == len(set(SCHEMA)) == 24


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dep_delay": float("nan")}, "field 'dep_delay' must be a number, got nan"),
        ({"dep_delay": None}, "field 'dep_delay' must be a number, got None"),
        ({"dep_delay": "20"}, "field 'dep_delay' must be a number, got '20'"),
        ({"dep_delay": True}, "field 'dep_delay' must be a number, got True"),
        ({"carrier": "ZZ"}, "field 'carrier' must be one of the declared values .*, got 'ZZ'"),
        ({"carrier": None}, "field 'carrier' must be one of the declared values .*, got None"),
        ({"carrier": []}, "field 'carrier' must be one of the declared values"),
    ],
)
def test_bad_values_are_refused_by_field_and_value(change: dict[str, Any], message: str) -> None:
    record = {**RECORD, **change}
    with pytest.raises(ValueError, match=message):
        SCHEMA.check(record)
    with pytest.raises(ValueError, match=message):
        SCHEMA.check_many([RECORD, record])
    columns = {name: np.array([RECORD[name], record[name]], dtype=object) for name in DECLARED}
    with pytest.raises(ValueError, match=message):
        SCHEMA.check_many(columns)
    with pytest.raises(ValueError, match=message):
        POOL.version_space().restrict(record, 1)


def test_missing_fields_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="field 'hour' is missing"):
        SCHEMA.check({"dep_delay": 3, "carrier": "UA"})
    with pytest.raises(ValueError, match="field 'hour' is missing"):
        SCHEMA.check_many({"dep_delay": [3], "carrier": ["UA"]})
    with pytest.raises(ValueError, match="columns must be equally long"):
        SCHEMA.check_many({"dep_delay": [3], "hour": [1, 2], "carrier": ["UA"]})
    with pytest.raises(ValueError, match="got nan"):
        SCHEMA.check_many({"dep_delay": [float("nan")], "hour": [1.0], "carrier": ["UA"]})
    for bad in [(1, 0), (4, 0, 0), (-1, 0, 0), (0.5, 0, 0), 7, None, "abc"]:
        with pytest.raises(ValueError, match=r"x must be a record|the cell of field 'dep_delay'"):
            SCHEMA.check(bad)
    with pytest.raises(ValueError, match="the cell of field 'hour'"):
        SCHEMA.check_many(np.array([[0, 2, 0]]))


def test_columns_records_and_cells_are_the_same_blocks() -> None:
    records = [RECORD, {"dep_delay": -5.5, "hour": 23, "carrier": "UA"}]
    columns = {name: np.array([record[name] for record in records]) for name in DECLARED}
    cells = SCHEMA.check_many(records)
    assert cells.tolist() == [[2, 0, 1], [0, 1, 0]]
    assert (
        SCHEMA.check_many(columns).tolist() == SCHEMA.check_many(cells).tolist() == cells.tolist()
    )
    assert SCHEMA.check_many([]).shape == (0, 3)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"a": {}},
        {"a": {"grid": []}},
        {"a": {"grid": [2, 1]}},
        {"a": {"grid": [1, 1]}},
        {"a": {"grid": [float("nan")]}},
        {"a": {"grid": ["x"]}},
        {"a": {"grid": [0], "values": ["x"]}},
        {"a": {"gird": [0]}},
        {"a": {"values": []}},
        {"a": {"values": ["x", "x"]}},
        {"a": {"values": [1.5]}},
        {"a": [1, 2]},
        {"": {"grid": [0]}},
        [],
    ],
)
def test_bad_declarations_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        Schema.from_mapping(bad)


def test_a_schema_is_read_from_toml_and_json(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(
        "[dep_delay]\ngrid = [0, 15, 30.5]\n"
        '[hour]\ngrid = [12]\n[carrier]\nvalues = ["UA", "AA", "B6"]\n'
    )
    assert Schema.from_toml(path) == Schema.from_toml(str(path)) == SCHEMA
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA
    deep = f"a = {'[' * 5000}{']' * 5000}"
    for text, told in (
        ("[dep_delay", "is not valid TOML"),
        (f"[delay]\ngrid = [{'9' * 5000}]", "is not valid TOML"),
        (deep, "is nested too deeply"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"schema.toml {told}"):
            Schema.from_toml(path)
    with pytest.raises(ValueError, match="a schema must be a list"):
        Schema.from_json({"a": 1})


def test_the_pool_holds_each_rule_once() -> None:
    shallow = Stumps(SCHEMA, depth=1)
    assert [rule.describe() for rule in shallow.rules] == [
        "never",
        "always",
        "dep_delay >= 0",
        "dep_delay < 0",
        "dep_delay >= 15",
        "dep_delay < 15",
        "dep_delay >= 30.5",
        "dep_delay < 30.5",
        "hour >= 12",
        "hour < 12",
        "carrier == 'UA'",
        "carrier == 'AA'",
        "carrier == 'B6'",
    ]
    names = {rule.describe() for rule in POOL.rules}
    assert {"dep_delay >= 15 and carrier == 'UA'", "dep_delay >= 0 and dep_delay < 15"} <= names
    tables = {tuple(rule.many(np.array(list(SCHEMA))).tolist()) for rule in POOL.rules}
    assert len(tables) == len(names) == POOL.size
    single = Stumps(Schema.from_mapping({"only": {"values": ["x"]}}), depth=2)
    assert [rule.describe() for rule in single.rules] == ["never", "always"]


def test_all_rules_answer_one_record_or_many_at_once() -> None:
    points = np.array(list(SCHEMA))
    table = POOL.labels_at(points)
    assert table.shape == (POOL.size, 24) and table.dtype == np.uint8
    for number, rule in enumerate(POOL.rules):
        assert table[number].tolist() == rule.many(points).tolist()
    for column, x in enumerate(SCHEMA):
        assert POOL.labels_at([x])[:, 0].tolist() == table[:, column].tolist()
        ones = [i for i in range(POOL.size) if POOL.ones_at(x) >> i & 1]
        assert ones == np.flatnonzero(table[:, column]).tolist()
    assert POOL.labels_at([RECORD]).tolist() == POOL.labels_at([(2, 0, 1)]).tolist()


def test_rules_disagree_where_they_say() -> None:
    jury = MajorityVote([by_name("hour >= 12"), by_name("carrier == 'UA'"), by_name("always")])
    table = RecordTable(SCHEMA, TableHypothesis.from_labels(jury.many(list(SCHEMA))))
    assert table.disagreement(jury) is None
    for left in POOL.rules[:20]:
        others: list[Hypothesis] = [*POOL.rules[::7], jury, table]
        for right in others:
            point = left.disagreement(right)
            same = left.many(list(SCHEMA)).tolist() == right.many(list(SCHEMA)).tolist()
            assert (point is None) == same
            assert point is None or left(point) != right(point)


def test_a_pool_with_too_many_cells_names_the_way_out() -> None:
    fields = {f"field{i}": {"grid": list(range(10))} for i in range(8)}
    pool = Stumps(Schema.from_mapping(fields), depth=1)
    with pytest.raises(ValueError, match="littlestone_dimension_upper_bound = 7"):
        _ = pool.littlestone_dimension
    with pytest.raises(ValueError, match="coarser schema"):
        pool.version_space().standard_optimal()
    assert pool.littlestone_dimension_upper_bound == 7
    space = pool.version_space().restrict((0,) * 8, 0)
    hypothesis = space.consistent()
    hardest = space.hardest_mistake(hypothesis)
    assert hardest is not None
    x, y = hardest
    assert hypothesis(x) != y and not space.restrict(x, y).is_empty
    deep = Stumps(Schema.from_mapping(fields), depth=2)
    with pytest.raises(ValueError, match=r"VC dimension .* at least"):
        _ = deep.vc_dimension
    with pytest.raises(ValueError, match="dual dimensions"):
        _ = deep.dual_vc_dimension


def test_without_a_table_mistakes_are_still_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    space = POOL.version_space().restrict(RECORD, 1).restrict((0, 0, 0), 0)
    jury = MajorityVote([POOL.rules[5], POOL.rules[9], POOL.rules[11]])
    expected = set(space.mistakes_of(jury))
    monkeypatch.setattr(module, "_MOST_CELLS", 0)
    found = list(space.mistakes_of(jury))
    assert found and set(found) <= expected and len(found) == len({x for x, _ in found})
    assert list(POOL.version_space().restrict((0, 0, 0), 1).mistakes_of(POOL.rules[1])) != []


@pytest.mark.parametrize(
    ("grid", "size", "dimension"),
    [(5, 517, 7), pytest.param(8, 1147, 9, marks=pytest.mark.slow)],
)
def test_a_thousand_rules_have_an_exact_dimension(grid: int, size: int, dimension: int) -> None:
    fields: dict[str, dict[str, list[Any]]] = {
        f"field{i}": {"grid": list(range(grid))} for i in range(3)
    }
    fields["carrier"] = {"values": list("ABCDE")}
    pool = Stumps(Schema.from_mapping(fields), depth=2)
    assert pool.size == size
    assert pool.littlestone_dimension == dimension


@pytest.mark.parametrize("depth", [0, 3, "1", None])
def test_bad_depths_are_refused(depth: Any) -> None:
    with pytest.raises(ValueError, match="depth must be"):
        Stumps(SCHEMA, depth=depth)


@pytest.mark.parametrize(
    "conditions",
    [
        ((0, 0, 3),),
        ((0, 2, 1),),
        ((0, 0, 9),),
        ((3, 0, 0),),
        ((1, 0, 0), (0, 1, 1)),
        ((0, 1.0, 2),),
    ],
)
def test_bad_conditions_are_refused(conditions: Any) -> None:
    with pytest.raises(ValueError, match=r"condition|must be"):
        Rule(SCHEMA, conditions)
