"""The source of every kind of hypothesis, executed, says what the hypothesis says."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pandas
import pytest
from tests.unit.concepts.test_json_form import HYPOTHESES

from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.linear import LinearHypothesis
from littlestone.concepts.hypotheses.python_source import LAYERS, WRITERS, literal, python_source
from littlestone.concepts.hypotheses.rules import Rule, Scorecard
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import RecordTable, TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote, domain_of
from littlestone.concepts.json_form import READERS
from littlestone.concepts.schema import Schema

SCHEMA = Schema.from_mapping(
    {
        "delay": {"grid": [0, 15, 30.5]},
        "from": {"values": ["UA", "AA", "it's"]},
        "gate": {"values": [1, 2, 3], "missing": 3},
        "age": {"grid": [18], "missing": 20},
    }
)
KEYS = [
    None, 3, 0.1, float("inf"), Fraction(1, 3), "it's", b"\0'", ("user", 7), frozenset({1, "a"}),
    datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC),
    datetime.time(12, 30), UUID(int=7),
]  # fmt: skip
TREE = DecisionTree(SCHEMA, ((0, 1, 2), ((1, 0, 1), 1, 0), ((2, 2, 2), 1, ((3, 1, 1), 0, 1))))
OF_RECORDS: list[Any] = [
    TREE,
    Rule(SCHEMA, ((0, 0, 1), (1, 2, 2), (3, 1, 1))),
    Rule(SCHEMA, None),
    Rule(SCHEMA, ()),
    RecordTable(SCHEMA, TableHypothesis.from_labels([i * i % 7 < 3 for i in range(4 * 3 * 3 * 2)])),
    Scorecard(SCHEMA, -5, ((10,), (0, -30, 7), (0, 0, 0), (3,))),
    MajorityVote([TREE, Rule(SCHEMA, ((0, 2, 3),)), Rule(SCHEMA, ())]),
]
OTHERS: list[Any] = [
    FiniteSupport.on(*KEYS),
    FiniteSupport.on(),
    LinearHypothesis.towards([3, -2]),
    *MonotoneDisjunctions(2, 4).concepts(),
]
RECORDS = [
    {"delay": delay, "from": place, "gate": gate, "age": age}
    for delay in (-1, 0, 14.9, 15, 30.5, 99)
    for place in ("UA", "AA", "it's")
    for gate in (1, 2, 3, "none", None)
    for age in (17, 18, "old", float("nan"))
]


def executed(hypothesis: Any) -> Any:
    names: dict[str, Any] = {}
    exec(python_source(hypothesis), names)
    return names["rule"]


def points_for(hypothesis: Any) -> list[Any]:
    domain = domain_of(hypothesis)
    if isinstance(domain, Schema):
        return [
            {part.name: value for part, value in zip(domain.fields, row, strict=True)}
            for row in [(-1,), (0,), (14,), (15,), (99.5,), (Decimal("14.99"),), (Decimal(15),)]
        ]
    if domain.size is None and not isinstance(hypothesis, LinearHypothesis):
        return [*KEYS, *range(40), "other"]
    if domain.size is not None and domain.size > 1000:
        return [0, 1, 2, 3, 77, domain.size // 3, domain.size - 2, domain.size - 1]
    if domain.size is None:
        return [(0.5, 0.25), (0.5, 0.75), (Fraction(1, 3), Fraction(1, 2)), (0, 0), (2, -1, 4)]
    return list(domain)


@pytest.mark.parametrize("hypothesis", [*HYPOTHESES, *OTHERS], ids=lambda h: h.describe())
def test_the_source_says_what_the_hypothesis_says(hypothesis: Any) -> None:
    rule, points = executed(hypothesis), points_for(hypothesis)
    assert [rule(x) for x in points] == [hypothesis(x) for x in points]
    assert all(type(rule(x)) is int for x in points)


@pytest.mark.parametrize("hypothesis", OF_RECORDS, ids=lambda h: h.describe())
def test_records_are_read_as_their_schema_says(hypothesis: Any) -> None:
    rule = executed(hypothesis)
    assert [rule(row) for row in RECORDS] == [hypothesis(row) for row in RECORDS]


def test_every_kind_has_a_writer() -> None:
    assert {*WRITERS, LAYERS} == set(READERS)
    with pytest.raises(ValueError, match="have no Python export"):
        python_source(type("Other", (), {"to_json": lambda self: {"kind": "oracle"}})())


@pytest.mark.parametrize(
    ("hypothesis", "point"),
    [(TREE, {"delay": "late"}), (TREE, {"delay": True}), (TREE, {"delay": 3, "from": "XX"}),
     (TREE, {}), *((h, bad) for h in HYPOTHESES[:1] for bad in (-1, 2**41, 3.5, True, "3"))],
)  # fmt: skip
def test_what_is_no_point_is_refused(hypothesis: Any, point: Any) -> None:
    for rule in (hypothesis, executed(hypothesis)):
        with pytest.raises(ValueError):
            rule(point)


@pytest.mark.parametrize("key", KEYS, ids=[str(place) for place in range(len(KEYS))])
def test_a_literal_is_the_key(key: Any) -> None:
    names = {"Fraction": Fraction, "UUID": UUID, "datetime": datetime}
    assert eval(literal(key), names) == key


@pytest.mark.parametrize("missing", [{}, {"missing": "own value"}])
@pytest.mark.parametrize("part", ["hour", "weekday", "month"])
def test_parts_of_dates_are_read_as_the_schema_reads_them(part: str, missing: Any) -> None:
    schema = Schema.from_mapping({"left": {"date": [part], **missing}})
    values: list[Any] = ["2013-12-29 05:15", " 2013-01-02T23:00+02:00 ", "2024-02-29", "05:15", "x"]
    values += ["20240229", datetime.date(2024, 2, 29), datetime.time(3), None, 7, "", pandas.NaT]
    for cell in range(schema.fields[0].cells):
        rule = DecisionTree(schema, ((0, cell, cell), 1, 0))
        names: dict[str, Any] = {}
        exec(python_source(rule), names)
        for record in [{}, *({"left": value} for value in values)]:
            try:
                expected = rule(record)
            except ValueError:
                with pytest.raises(ValueError, match="left"):
                    names["rule"](record)
            else:
                assert names["rule"](record) == expected
