"""PostgreSQL says of every row what the rule says."""

import numpy as np
import psycopg
import pytest
from tests import rule_rows
from tests.server import Server

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.rules import Rule
from littlestone.concepts.hypotheses.sql_source import sql_source
from littlestone.concepts.schema import Schema

pytestmark = pytest.mark.fleet
ROWS = 100_000


def test_the_database_says_of_every_row_what_the_rule_says(server: Server) -> None:
    table = rule_rows.rows(ROWS, np.random.default_rng(7))
    rules = list(rule_rows.rules(np.random.default_rng(28)))
    with psycopg.connect(server.dsn) as base:
        base.execute(
            'CREATE TEMP TABLE t (n serial, "delay" bigint, "sha""re" float8, "from`" text, '
            '"gate" integer, "left" timestamp)'
        )
        with base.cursor().copy(
            'COPY t (delay, "sha""re", "from`", gate, "left") FROM STDIN'
        ) as out:
            for row in table:
                out.write_row(row)
        for rule in rules:
            found = base.execute(f"SELECT {sql_source(rule)} FROM t ORDER BY n").fetchall()
            assert [label for (label,) in found] == rule_rows.said(rule, table), rule.describe()


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_a_backslash_is_read_in_either_setting(server: Server, conforming: str) -> None:
    schema = Schema.from_mapping({"a": {"values": ["y", "back\\slash'"], "missing": "y"}})
    rule = Rule(schema, ((0, 1, 1),))
    with psycopg.connect(server.dsn) as base:
        base.execute(f"SET standard_conforming_strings = {conforming}")
        base.execute("SET escape_string_warning = off")
        base.execute("CREATE TEMP TABLE t (a text)")
        base.execute("INSERT INTO t VALUES (%s), ('y'), (NULL)", ["back\\slash'"])
        found = base.execute(f"SELECT {sql_source(rule)} FROM t").fetchall()
    assert found == [(1,), (0,), (0,)]


def test_nan_counts_as_missing(server: Server) -> None:
    schema = Schema.from_mapping({"x": {"grid": [0, 1], "missing": -1}})
    rule = DecisionTree(schema, ((0, 1, 2), 1, 0))
    with psycopg.connect(server.dsn) as base:
        text = (
            f"SELECT {sql_source(rule)} FROM (VALUES ('NaN'::float8), ('Infinity'), (0)) AS t (x)"
        )
        assert base.execute(text).fetchall() == [(0,), (1,), (1,)]


@pytest.mark.parametrize("missing", [{}, {"missing": "own value"}])
def test_the_database_hashes_as_the_rule_does(server: Server, missing: dict[str, str]) -> None:
    schema = Schema.from_mapping({"merchant": {"buckets": 32, **missing}})
    rng = np.random.default_rng(28)
    names: list[str | None] = [f"händler {n}" for n in rng.integers(20_000, size=3000)]
    names += ["", "O'Neil", "🦀", *([None] * 50 if missing else [])]
    with psycopg.connect(server.dsn) as base:
        base.execute("CREATE TEMP TABLE t (n serial, merchant text)")
        with base.cursor().copy("COPY t (merchant) FROM STDIN") as out:
            for name in names:
                out.write_row((name,))
        for cell in (0, 7, schema.fields[0].cells - 1):
            rule = DecisionTree(schema, ((0, cell, cell), 1, 0))
            found = base.execute(f"SELECT {sql_source(rule)} FROM t ORDER BY n").fetchall()
            labels = [label for (label,) in found]
            assert labels == [rule({"merchant": name}) for name in names] and set(labels) == {0, 1}
