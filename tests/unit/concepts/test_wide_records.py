"""Wide records: what is cut at once is what each field says, and the odd record is left alone."""

import math
import re
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.concepts.schema import Category, Numeric, Schema
from littlestone.concepts.wide_records import Cutter

FIELDS: list[Numeric | Category] = [
    Numeric(f"n{i}", tuple(range(-2, -1 + i % 5)) if i % 2 else (0.1, 0.3, math.pi))
    for i in range(40)
]
FIELDS[3] = Category("c3", ("a", "b"))
FIELDS[39] = Category("c39", (1, 2, 3), missing=2)
SCHEMA = Schema(tuple(FIELDS))
PLAIN = st.floats(allow_nan=False) | st.integers(-(2**60), 2**60) | st.integers(-3, 3)
ODD = PLAIN | st.sampled_from([None, "3", True, math.nan, Fraction(1, 3), 10**400, np.float32(0.3)])


def record(values: list[Any]) -> dict[str, Any]:
    named = dict(zip((part.name for part in FIELDS), values, strict=True))
    return named | {"c3": "b", "c39": 3, "another": None}


def one_by_one(values: dict[str, Any]) -> Any:
    try:
        return tuple(part.cell(values[part.name]) for part in FIELDS)
    except ValueError:
        return ValueError


def at_once(values: dict[str, Any]) -> Any:
    try:
        return SCHEMA.check(values)
    except ValueError:
        return ValueError


@given(st.lists(PLAIN, min_size=40, max_size=40), st.integers(0, 39), ODD)
@settings(max_examples=2 * settings().max_examples)
def test_a_wide_record_has_the_cells_that_each_field_says(
    values: list[Any], place: int, odd: Any
) -> None:
    for case in (values, [*values[:place], odd, *values[place + 1 :]]):
        named = record(case)
        assert at_once(named) == one_by_one(named)


@given(st.lists(PLAIN, min_size=20, max_size=20), st.integers(0, 19), ODD, st.booleans())
@settings(max_examples=2 * settings().max_examples)
def test_a_block_of_records_has_the_cells_of_each(
    values: list[Any], place: int, odd: Any, gap: bool
) -> None:
    schema = Schema((FIELDS[1], FIELDS[2], FIELDS[39]))
    block: list[Any] = [{"n1": value, "n2": 0.2, "c39": i % 5} for i, value in enumerate(values)]
    assert schema.check_many(block).tolist() == [list(schema.check(x)) for x in block]
    block[place] = {"n1": odd, "n2": 0.3} | ({} if gap else {"c39": 1})
    try:
        singly = [list(schema.check(x)) for x in block]
    except ValueError as refusal:
        with pytest.raises(ValueError, match=f"^{re.escape(str(refusal))}$"):
            schema.check_many(block)
    else:
        assert schema.check_many(block).tolist() == singly


def test_records_that_make_up_their_values_are_asked_one_by_one() -> None:
    schema = Schema((FIELDS[1],))
    block = [defaultdict(float), *({"n1": 1} for _ in range(30))]
    with pytest.raises(ValueError, match="field 'n1' is missing"):
        schema.check_many(block)
    assert not block[0]


def test_plain_records_are_cut_at_once_and_odd_ones_are_not() -> None:
    cutter = Cutter.of(FIELDS)
    assert cutter is not None
    assert cutter.cells(record([0.5] * 40)) == one_by_one(record([0.5] * 40))
    for odd in ("3", None, True, math.nan, 2**53, 10**400):
        assert cutter.cells(record([0.5] * 9 + [odd] + [0.5] * 30)) is None
    assert cutter.cells({}) is None


@given(st.lists(st.lists(PLAIN, min_size=40, max_size=40), min_size=1, max_size=3))
def test_columns_are_cut_as_records_are(rows: list[list[Any]]) -> None:
    floats = [[float(value) for value in row] for row in rows]
    table: dict[str, Any] = {
        part.name: np.array([row[i] for row in floats]) for i, part in enumerate(FIELDS)
    }
    table |= {"c3": ["b"] * len(rows), "c39": [3] * len(rows)}
    assert SCHEMA.check_many(table).tolist() == [list(one_by_one(record(row))) for row in floats]


def test_a_table_longer_than_a_block_and_whole_numbers() -> None:
    count = 1000
    table: dict[str, Any] = {part.name: np.arange(count) % 7 - 3 for part in FIELDS}
    table |= {"c3": ["a"] * count, "c39": [1] * count}
    cells = SCHEMA.check_many(table)
    assert cells.shape == (count, 40) and cells.dtype == np.int64
    assert [tuple(row) for row in cells[[0, 255, 256, 999]].tolist()] == [
        one_by_one({name: column[i] for name, column in table.items()}) for i in (0, 255, 256, 999)
    ]


@pytest.mark.parametrize("bad", [np.array([math.nan, 1.0]), np.array([1.0]), ["x", "y"]])
def test_a_bad_column_is_refused_by_name(bad: Any) -> None:
    table: dict[str, Any] = {part.name: np.zeros(2) for part in FIELDS}
    table |= {"c3": ["a"] * 2, "c39": [1] * 2, "n7": bad}
    with pytest.raises(ValueError, match="n7"):
        SCHEMA.check_many(table)


@pytest.mark.parametrize(
    ("change", "fits"),
    [({}, True), ({0: True}, True), ({0: np.int64(1)}, True), ({0: 4}, False), ({0: -1}, False),
     ({0: 1.0}, False), ({0: "1"}, False), ({39: 3}, False)],
)  # fmt: skip
def test_cells_that_are_cells_already(change: dict[int, Any], fits: bool) -> None:
    cells = tuple(change.get(place, 0) for place in range(40))
    if not fits:
        with pytest.raises(ValueError, match="cell of field"):
            SCHEMA.check(cells)
        return
    checked = SCHEMA.check(cells)
    assert checked == tuple(map(int, cells)) and set(map(type, checked)) == {int}


def test_narrow_records_and_grids_that_floats_do_not_hold_go_the_other_way() -> None:
    assert Cutter.of(FIELDS[:20]) is None
    assert Cutter.of([Numeric(f"n{i}", (2**53 + 1,)) for i in range(40)]) is None
    assert Cutter.of([Numeric(f"n{i}", (Fraction(1, 3),)) for i in range(40)]) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [3.0, math.nan])
def test_another_row_does_not_lift_a_mask(other: float) -> None:
    schema = Schema(tuple(Numeric(f"n{i}", (0, 5), 1) for i in range(40)))
    table: dict[str, Any] = {part.name: np.zeros(2) for part in schema.fields}
    table |= {"n0": np.ma.array([7.0, 0.0], mask=[True, False]), "n1": np.array([0.0, other])}
    assert schema.check_many(table)[0].tolist() == [1] * 40
