"""Schemas: stand-ins are declared, and many records are checked as one is."""

import math
from collections import UserDict
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.schema import LabelledSchema, Schema
from littlestone.learners import known_types as known_types
from littlestone.learners.forms import canonical_form, from_form


def test_a_stand_in_is_declared_with_the_field_and_travels_with_it() -> None:
    declared: dict[str, dict[str, Any]] = {
        "delay": {"grid": [0, 15], "missing": 99},
        "carrier": {"values": ["UA", "AA"], "missing": "AA"},
    }
    schema = Schema.from_mapping(declared)
    for strange in ({}, {"delay": None, "carrier": "XX"}, {"delay": math.nan, "carrier": []}):
        assert schema.check(strange) == (2, 1)
        assert schema.check(UserDict(strange)) == (2, 1)  # a mapping that is no plain dictionary
    columns = {"delay": np.array([3.0, math.nan]), "carrier": ["UA", None]}
    assert schema.check_many(columns).tolist() == [[1, 0], [2, 1]]
    assert (
        Schema.from_json(schema.to_json())
        == schema
        != Schema.from_mapping(
            {
                name: {key: field[key] for key in field if key != "missing"}
                for name, field in declared.items()
            }
        )
    )
    with pytest.raises(ValueError, match="carrier"):
        schema.check_many({"delay": [3]})
    for wrong in ({"grid": [0], "missing": "x"}, {"values": ["a"], "missing": "b"}):
        with pytest.raises(ValueError, match="'f' must be"):
            Schema.from_mapping({"f": wrong})


@pytest.mark.parametrize(
    "rows", [[(1, 0)], [(1, True)], [(1.0, 0)], [(1, 2)], [(1, -1)], [(1,)], [(1, 0), (1,)],
             [(10**30, 0)], [("1", 0)], [(None, 0)], [()]],
)  # fmt: skip
def test_many_tuples_are_checked_as_one_is(rows: list[tuple[Any, ...]]) -> None:
    schema = Schema.from_mapping({"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}})
    try:
        each = [schema.check(row) for row in rows]
    except ValueError:
        with pytest.raises(ValueError):
            schema.check_many(rows)
    else:
        assert schema.check_many(rows).tolist() == [list(row) for row in each]


DELAY = {"delay": {"grid": [0, 15]}}


def test_declared_labels_travel_with_the_schema() -> None:
    schema = Schema.from_mapping({**DELAY, "label": {"values": ["ok", "late", 7]}})
    assert isinstance(schema, LabelledSchema) and schema.label_values == ("ok", "late", 7)
    assert [part.name for part in schema.fields] == ["delay"]
    assert Schema.from_json(schema.to_json()) == schema != Schema.from_mapping(DELAY)
    finer = schema.refined()
    assert finer.label_values == schema.label_values and finer.refines(schema)
    assert not finer.refines(Schema.from_mapping(DELAY))
    assert not Schema.from_mapping(DELAY).refined().refines(schema)
    assert from_form(canonical_form(schema), object) == schema


def test_without_them_a_schema_has_the_form_it_had() -> None:
    plain = Schema.from_mapping(DELAY)
    assert type(plain) is Schema and plain.label_values == (0, 1)
    assert plain.to_json() == [{"name": "delay", "grid": [0, 15]}]
    assert '"labels"' not in canonical_form(plain)


@pytest.mark.parametrize("value", ["late", " late ", "7", 7, 7.0, " 7"])
def test_a_label_is_known_as_text_and_as_a_number(value: Any) -> None:
    schema = Schema.from_mapping({**DELAY, "label": {"values": ["ok", "late", 7]}})
    assert isinstance(schema, LabelledSchema)
    assert schema.label_number(value) == (1 if "late" in str(value) else 2)


@pytest.mark.parametrize("value", ["lost", "", None, 0, 1, True, float("nan"), [], {}])
def test_other_labels_are_refused(value: Any) -> None:
    schema = LabelledSchema(Schema.from_mapping(DELAY).fields, ("ok", "late", 7))
    with pytest.raises(
        ValueError, match="label must be one of the declared values 'ok', 'late', 7"
    ):
        schema.label_number(value)


@pytest.mark.parametrize(
    "declared",
    [["ok"], ["ok", "ok"], [1, "1"], [1, True], [0.5, 1], list(range(257)), "ok, late", None],
)
def test_bad_labels_are_refused(declared: Any) -> None:
    with pytest.raises(ValueError, match="label"):
        Schema.from_mapping({**DELAY, "label": {"values": declared}})
    with pytest.raises(ValueError, match="a column of this name cannot be a field"):
        Schema.from_mapping({**DELAY, "label": {"grid": [1, 2]}})


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "uint64", ">i8"])
@pytest.mark.parametrize("bad", [-1, 2, 2**31 - 1])
def test_a_bad_cell_is_named_whatever_integers_the_block_has(kind: str, bad: int) -> None:
    schema = Schema.from_mapping({"a": {"grid": [0]}, "b": {"values": ["x", "y"]}})
    rows = np.zeros((3, 2), dtype=kind)
    assert schema.check_many(rows).tolist() == [[0, 0]] * 3
    rows[1, 1] = np.array(bad).astype(kind)
    with pytest.raises(ValueError, match="'b' must be from 0 to 1"):
        schema.check_many(rows)
