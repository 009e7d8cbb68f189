"""Rules in SQL say what the rules say, in SQLite and DuckDB; for PostgreSQL see end_to_end."""

import datetime
import sqlite3
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests import rule_rows

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.rules import Rule, Scorecard
from littlestone.concepts.hypotheses.sql_source import sql_source
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.weighted_vote import WeightedVote
from littlestone.concepts.schema import Schema

ROWS = 3_000
MANY_ROWS = 100_000
RNG = np.random.default_rng(28)
RULES = list(rule_rows.rules(RNG))


def _in_sqlite(table: list[tuple[Any, ...]], columns: list[str], texts: list[str]) -> Any:
    names = ", ".join(f'"{name.replace(chr(34), 2 * chr(34))}"' for name in columns)
    with sqlite3.connect(":memory:") as base:
        base.execute(f"CREATE TABLE t ({names})")
        plain = [
            tuple(str(v) if isinstance(v, datetime.datetime) else v for v in row) for row in table
        ]
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", plain)
        return [
            [label for (label,) in base.execute(f"SELECT {text} FROM t ORDER BY rowid")]
            for text in texts
        ]


def _in_duckdb(table: list[tuple[Any, ...]], columns: list[str], texts: list[str]) -> Any:
    arrow = pa.table(dict(zip(columns, zip(*table, strict=True), strict=True)))
    with duckdb.connect(":memory:") as base:
        base.register("t", arrow)
        return [[one for (one,) in base.execute(f"SELECT {x} FROM t").fetchall()] for x in texts]


DATABASES = {"sqlite": _in_sqlite, "duckdb": _in_duckdb}


@pytest.mark.parametrize("rows", [ROWS, pytest.param(MANY_ROWS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dialect", DATABASES)
def test_the_database_says_of_every_row_what_the_rule_says(dialect: Any, rows: int) -> None:
    table = rule_rows.rows(rows, np.random.default_rng(7))
    texts = [sql_source(rule, dialect) for rule in RULES]
    found = DATABASES[dialect](table, list(rule_rows.COLUMNS), texts)
    for rule, labels in zip(RULES, found, strict=True):
        assert labels == rule_rows.said(rule, table), rule.describe()
        assert len(set(labels)) > 1  # else the rows would tell nothing


def test_what_is_no_number_in_sqlite_counts_as_missing() -> None:
    schema = Schema.from_mapping({"x": {"grid": [0, 1], "missing": -1}})
    rule = DecisionTree(schema, ((0, 1, 2), 1, 0))
    values = ["abc", "5", b"\xff", 0, 0.5, None, -1]
    found = _in_sqlite([(value,) for value in values], ["x"], [sql_source(rule, "sqlite")])
    assert found == [[rule({"x": value}) for value in values]]


@pytest.mark.parametrize("inside", [True, False])
def test_nan_counts_as_missing_in_duckdb(inside: bool) -> None:
    schema = Schema.from_mapping({"x": {"grid": [0, 1], "missing": 0.5 if inside else -1}})
    rules = [DecisionTree(schema, ((0, low, high), 1, 0)) for low, high in ((1, 1), (1, 2), (0, 1))]
    values = [float("nan"), float("inf"), 0.0, -3.0, 1.0, None]
    found = _in_duckdb(
        [(value,) for value in values], ["x"], [sql_source(rule, "duckdb") for rule in rules]
    )
    assert found == [[rule({"x": value}) for value in values] for rule in rules]


@pytest.mark.parametrize("dialect", DATABASES)
def test_a_vote_for_any_labels(dialect: Any) -> None:
    schema = Schema.from_mapping({"x": {"grid": [0, 1, 2]}})

    class Cells:
        """A rule of three labels."""

        def __init__(self, root: Any) -> None:
            self.root = root

        def to_json(self) -> dict[str, Any]:
            return {"kind": "decision_tree", "schema": schema.to_json(), "root": self.root}

    def node(cell: int, holds: int, fails: int) -> dict[str, Any]:
        return {"if": [0, cell, cell], "then": holds, "else": fails}

    members = [
        {"weight": weight, "rule": Cells(root).to_json()}
        for weight, root in ((2, node(1, 2, 0)), (2, node(2, 1, 0)), (3, node(3, 2, 1)))
    ]

    class Vote:
        def to_json(self) -> dict[str, Any]:
            return {"kind": "weighted_vote", "members": members}

    vote: Any = Vote()
    found = DATABASES[dialect]([(-1,), (0,), (1,), (2,)], ["x"], [sql_source(vote, dialect)])
    assert found == [[0, 1, 1, 0]]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_large_points_and_weights_are_summed_in_64_bits(dialect: Any) -> None:
    """Databases add small numbers in 32 bits, and fail."""
    schema = Schema.from_mapping({"a": {"grid": [0]}, "b": {"values": ["x", "y"]}})
    card = Scorecard(schema, 2**31 - 1, ((2**31 - 1,), (2**31 - 1, -(2**33))))
    trees = [DecisionTree(schema, ((0, 1, 1), 1, 0)), DecisionTree(schema, ((1, 0, 0), 1, 0))]
    vote = WeightedVote([(trees[0], 2**31 - 1), (trees[1], 2**31 - 2), (card, 1)])
    table = [(a, b) for a in (-1, 1) for b in ("x", "y")]
    rules: list[Any] = [card, vote]
    found = DATABASES[dialect](table, ["a", "b"], [sql_source(rule, dialect) for rule in rules])
    assert found == [[rule({"a": a, "b": b}) for a, b in table] for rule in rules]


@pytest.mark.parametrize("dialect", ["postgresql", "duckdb", "sqlite"])
def test_names_and_values_are_quoted(dialect: Any) -> None:
    name, value = 'a" = 1; DROP TABLE t; --`', "x'; DROP TABLE t; --"
    schema = Schema.from_mapping({name: {"values": ["y", value]}})
    text = sql_source(Rule(schema, ((0, 1, 1),)), dialect)
    assert "'x''; DROP TABLE t; --'" in text
    quoted = (
        '`a" = 1; DROP TABLE t; --```' if dialect == "sqlite" else '"a"" = 1; DROP TABLE t; --`"'
    )
    assert quoted in text


def test_postgresql_reads_backslashes_whatever_its_setting() -> None:
    schema = Schema.from_mapping({"a": {"values": ["y", "\\'; DROP"]}})
    assert "E'\\\\''; DROP'" in sql_source(Rule(schema, ((0, 1, 1),)))


def test_a_missing_column_is_an_error_in_sqlite_not_a_text() -> None:
    rule = Rule(Schema.from_mapping({"gone": {"values": ["y", "gone"]}}), ((0, 1, 1),))
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        _in_sqlite([("gone",)], ["there"], [sql_source(rule, "sqlite")])


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (FiniteSupport.on("a"), "'support'"),
        (Rule(Schema.from_mapping({"a\0": {"values": ["x", "y"]}}), ((0, 1, 1),)), "zero byte"),
        (
            Rule(Schema.from_mapping({"a": {"values": ["x", "\ud800"]}}), ((0, 1, 1),)),
            "not valid Unicode",
        ),
        (Rule(Schema.from_mapping({"a": {"grid": [2**53 + 1]}}), ((0, 1, 1),)), "exactly"),
        (
            Rule(Schema.from_mapping({"a": {"values": [1, "1", 2]}}), ((0, 1, 1),)),
            "must differ as SQL text",
        ),
    ],
    ids=["kind", "zero", "surrogate", "number", "mixed"],
)
def test_what_sql_cannot_say_exactly_is_refused(rule: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rule.to_sql()


def test_an_unknown_dialect_is_refused() -> None:
    vote = WeightedVote([(RULES[0], 1)])
    with pytest.raises(ValueError, match=r"dialect .*'oracle'"):
        vote.to_sql("oracle")  # type: ignore[arg-type]
