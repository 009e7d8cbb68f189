"""Columns with too many values to declare: a fixed public hash of the value, of nothing else."""

import hashlib
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.python_source import python_source
from littlestone.concepts.hypotheses.sql_source import sql_source
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.records.buckets import bucket_of
from littlestone.concepts.schema import Buckets, Schema

NAMES = ["", "Müller & Co", "17", "NULL", "a" * 300, "🦀", "\udcff", " 17", "017", "O'Neil"]
NUMBERS = [0, 17, -3, 2**70]
OWN = {"merchant": {"buckets": 32, "missing": "own value"}}
BARE = {"merchant": {"buckets": 5}}


def by_hand(text: str, buckets: int) -> int:
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return int(digits, 16) % buckets


@pytest.mark.parametrize("value", [*NAMES, *NUMBERS])
def test_a_bucket_is_the_documented_function_of_the_text(value: Any) -> None:
    for buckets in (2, 32, 4096):
        assert bucket_of(value, buckets) == by_hand(str(value), buckets)


def test_it_never_changes() -> None:
    """Published rules are applied by others: another hash would turn them into other rules."""
    assert [bucket_of(name, 32) for name in ("Müller & Co", "17", "spam@example.org")] == [
        26,
        15,
        30,
    ]


@pytest.mark.parametrize("declared", [OWN, BARE])
def test_a_column_is_read_as_its_values_are(declared: dict[str, Any]) -> None:
    schema = Schema.from_mapping(declared)
    values = [*NAMES, *NUMBERS, 17.0, np.int64(17), np.str_("17")] * 3
    records = [{"merchant": value} for value in values]
    singly = [schema.check(record) for record in records]
    assert schema.check_many(records).tolist() == list(map(list, singly))
    assert schema.check_many({"merchant": values}).tolist() == list(map(list, singly))
    assert len({cell for value, (cell,) in zip(values, singly, strict=True) if value == 17}) == 1


class Twin(str):
    """A text that says it is another one, and that it is its own plain form."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("Aachen")

    def __str__(self) -> str:
        return self


def test_a_text_that_says_it_is_another_has_its_own_bucket_and_changes_no_other() -> None:
    schema = Schema.from_mapping({"merchant": {"buckets": 4096}})
    found = [schema.check({"merchant": name})[0] for name in (Twin("Zülpich"), "Aachen")]
    assert found == [by_hand(name, 4096) for name in ("Zülpich", "Aachen")]


@pytest.mark.parametrize("value", [None, float("nan"), 0.5, True, ("a",), b"17", object()])
def test_what_is_no_text_counts_as_missing_or_is_refused(value: Any) -> None:
    assert Schema.from_mapping(OWN).check({"merchant": value}) == (32,)
    with pytest.raises(ValueError, match="'merchant' must be a text or a whole number"):
        Schema.from_mapping(BARE).check({"merchant": value})


@pytest.mark.parametrize(
    "entry",
    [
        {"buckets": 1},
        {"buckets": 5000},
        {"buckets": "32"},
        {"buckets": True},
        {"buckets": [1, 2]},
        {"buckets": 32, "missing": "other"},
        {"buckets": 32, "missing": 3},
        {"buckets": 32, "values": ["a"]},
        {"buckets": 32, "date": "hour"},
    ],
)
def test_other_declarations_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"buckets|missing"):
        Schema.from_mapping({"merchant": entry})


def rules(schema: Schema) -> list[DecisionTree]:
    cells = range(schema.fields[0].cells)
    return [DecisionTree(schema, ((0, cell, cell), 1, 0)) for cell in cells]


@pytest.mark.parametrize("declared", [OWN, BARE])
def test_rules_leave_the_house(declared: dict[str, Any]) -> None:
    schema = Schema.from_mapping(declared)
    assert Schema.from_json(schema.to_json()) == schema
    values = [*NAMES, *NUMBERS, 17.0, *map(str, range(200))]
    for rule in rules(schema)[:3] + rules(schema)[-1:]:
        assert hypothesis_from_json(rule.to_json()) == rule
        names: dict[str, Any] = {}
        exec(python_source(rule), names)
        records = [{"merchant": value} for value in values]
        records += [{"merchant": None}, {}] if declared is OWN else []
        assert list(map(names["rule"], records)) == list(map(rule, records))


@pytest.mark.parametrize("declared", [OWN, BARE])
def test_duckdb_says_of_every_row_what_the_rule_says(declared: dict[str, Any]) -> None:
    rng = np.random.default_rng(28)
    schema = Schema.from_mapping(declared)
    names: list[Any] = [f"händler {n}" for n in rng.integers(20_000, size=3000)]
    names += ["", "O'Neil", "🦀", *([None] * 50 if declared is OWN else [])]
    with duckdb.connect(":memory:") as base:
        base.register("t", pa.table({"merchant": names}))
        for rule in rules(schema)[::3]:
            found = base.execute(f"SELECT {sql_source(rule, 'duckdb')} FROM t").fetchall()
            assert [label for (label,) in found] == [rule({"merchant": name}) for name in names]


def test_sqlite_has_no_such_function_and_that_is_said() -> None:
    with pytest.raises(ValueError, match="SQLite cannot hash"):
        sql_source(rules(Schema.from_mapping(BARE))[0], "sqlite")


@pytest.mark.parametrize("kind", ["int8", "uint64", "float16", "float32", "float64", "longdouble"])
def test_a_number_of_numpy_has_one_bucket_alone_and_in_its_column(kind: str) -> None:
    column, merchant = np.array([3, 0, 17], dtype=kind), Buckets("merchant", tuple(range(8)))
    assert merchant.cells_of(column).tolist() == list(map(merchant.cell, column))
    assert merchant.cell(column[2]) == merchant.cell("17")
