"""Schemas: stand-ins are declared, and many records are checked as one is."""

import math
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.schema import Schema


def test_a_stand_in_is_declared_with_the_field_and_travels_with_it() -> None:
    declared: dict[str, dict[str, Any]] = {
        "delay": {"grid": [0, 15], "missing": 99},
        "carrier": {"values": ["UA", "AA"], "missing": "AA"},
    }
    schema = Schema.from_mapping(declared)
    for strange in ({}, {"delay": None, "carrier": "XX"}, {"delay": math.nan, "carrier": []}):
        assert schema.check(strange) == (2, 1)
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
