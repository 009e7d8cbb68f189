"""A cell is where its value lies among the cuts, exactly, alone and in any column."""

import math
from datetime import date
from decimal import Decimal, FloatOperation, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.records.columns import (
    eager_frame,
    exact_number,
    frame_columns,
    listed,
    typed,
)
from littlestone.concepts.schema import Category, Numeric, Schema

THIRD: Any = Fraction(1, 3)
FIELDS = (
    Numeric("a", (-1.5, 0, 0.1, 15)),
    Numeric("b", (THIRD, 2**53 + 1)),
    Numeric("c", (-(2**63) - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64)),
    Numeric("d", (5e-324, 1.7976931348623157e308)),
)
EDGES = [*(cut + step for part in FIELDS for cut in part.grid for step in (-1, 0, 1)), 0, 1]
WHOLE = st.integers(-(2**70), 2**70) | st.sampled_from([math.floor(edge) for edge in EDGES])
FLOATS = st.floats(allow_nan=False) | st.sampled_from([float(edge) for edge in EDGES])


def below(part: Numeric, value: Any) -> int:
    """By the definition."""
    if value in (math.inf, -math.inf):
        return len(part.grid) if value > 0 else 0
    return sum(Fraction(cut) <= Fraction(value) for cut in part.grid)


@given(
    WHOLE | FLOATS | st.decimals(allow_nan=False, allow_infinity=False, places=30) | st.fractions()
)
def test_a_cell_is_found_by_exact_comparison(value: Any) -> None:
    for part in FIELDS:
        assert part.cell(value) == part.declared_cell(value) == below(part, value)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble])
@given(values=st.lists(FLOATS, max_size=20))
def test_floats_of_numpy_are_cut_as_they_are(kind: Any, values: list[float]) -> None:
    with np.errstate(over="ignore"):
        column = np.array(values, dtype=kind)
    for part in FIELDS:
        expected = [part.cell(value) for value in column]
        assert part.cells_of(column).tolist() == expected
        assert expected == [below(part, _ratio(value)) for value in column]


def _ratio(value: Any) -> Any:
    return Fraction(*map(int, value.as_integer_ratio())) if np.isfinite(value) else float(value)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64", "uint64"])
@given(data=st.data())
def test_whole_numbers_of_numpy_are_cut_as_they_are(kind: str, data: st.DataObject) -> None:
    limits = np.iinfo(kind)
    inside = st.integers(int(limits.min), int(limits.max))
    ends = st.sampled_from([int(limits.min), int(limits.max), 0, 1])
    values = data.draw(st.lists(inside | ends, max_size=20))
    column = np.array(values, dtype=kind)
    for part in FIELDS:
        expected = [below(part, value) for value in values]
        assert part.cells_of(column).tolist() == part.cells_of(values).tolist() == expected
        assert part.cells_of(pd.Series(column)).tolist() == expected
        assert part.cells_of(pl.Series(column)).tolist() == expected
        assert [part.cell(value) for value in column] == expected


def test_decimals_are_compared_whatever_the_callers_context_says() -> None:
    part = Numeric("x", (0.1, THIRD, 10**30))
    values = ["0.1", "0.1000000000000000055511151231257827021181583404541015625", "0.2",
              "0.33333333333333333333", "0.33333333333333333334", "1e999999999", "-1e999999999",
              "999999999999999999999999999999", "Infinity"]  # fmt: skip
    with localcontext() as context:
        context.prec = 2
        context.traps[FloatOperation] = True
        found = part.cells_of(list(map(Decimal, values))).tolist()
    assert found == [0, 1, 1, 1, 2, 3, 0, 2, 3]


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), "1", None, math.nan, np.float32("nan"), Decimal("NaN"), 1j,
              Decimal("sNaN"), np.longdouble("nan"), pd.NA, pd.NaT, np.timedelta64(1), [1], b"1"],
)  # fmt: skip
def test_what_is_no_number_is_refused_or_stands_for_what_is_missing(value: Any) -> None:
    assert exact_number(value) is None
    bare, filled = Numeric("x", (0,)), Numeric("x", (0,), 5)
    with pytest.raises(ValueError, match="field 'x' must be a number"):
        bare.cells_of([1, value])
    assert filled.cells_of([-1, value, -1]).tolist() == [0, 1, 0]
    assert Category("x", ("a", "b"), "b").cells_of(["a", value]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "column", ["abc", b"abc", 3, None, {"a": 1}, np.zeros((2, 2)), np.array(3)]
)
def test_what_is_no_column_is_refused(column: Any) -> None:
    for part in (Numeric("x", (0,), 5), Category("x", ("a",), "a")):
        with pytest.raises(ValueError, match="column must be"):
            Schema((part,)).check_many({"x": column})


def test_the_type_of_a_list_is_none_of_numpys_business() -> None:
    values = [2**53 + 1, 0.5, True, "1"]
    assert listed(tuple(values)) == values and typed(values) is None
    assert [type(value) for value in listed(tuple(values))] == [int, float, bool, str]
    assert typed(np.ma.array([1, 2], mask=[False, True])) is None
    assert Numeric("x", (0,), -1).cells_of(np.ma.array([1, 2], mask=[False, True])).tolist() == [
        1,
        0,
    ]


def pandas_of(array: Any) -> Any:
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


FAR: dict[str, Any] = {
    "days of pandas": lambda days: pandas_of(pa.array(days, pa.int32()).view(pa.date32())),
    "text of pandas": lambda days: pandas_of(
        pa.array([b"1" if day < 99 else b"\xff" for day in days]).view(pa.string())
    ),
    "days of arrow": lambda days: pa.chunked_array([pa.array(days, pa.int32()).view(pa.date32())]),
    "days of polars": lambda days: pl.Series(days, dtype=pl.Int32).cast(pl.Date),
}


@pytest.mark.parametrize("make", FAR)
def test_a_value_that_python_cannot_hold_is_one_rows_affair(make: str) -> None:
    usual, found = listed(FAR[make]([0, 31, 59])), listed(FAR[make]([0, 31, 10**7]))
    assert found[:2] == usual[:2] and repr(found[2]) == "a value that Python cannot hold"
    assert Category("x", ("0", "1"), "0").cells_of(FAR[make]([10**7])).tolist() == [0]


def test_what_stands_beside_an_unreadable_value_keeps_its_form() -> None:
    """Alone, a list of polars comes out as a series."""
    days = pl.Series([[0], [10**7]], dtype=pl.List(pl.Int32)).cast(pl.List(pl.Date))
    found = frame_columns(eager_frame(pl.DataFrame({"d": days})))["d"]
    assert type(found[0]) is list and found[0] == [date(1970, 1, 1)]


class Odd(float):
    def __float__(self) -> float:
        raise RuntimeError


def test_a_number_that_raises_is_none() -> None:
    assert exact_number(Odd(1)) is None


def test_a_column_of_arrow_holds_plain_values() -> None:
    """Its own scalars are neither numbers nor text, so every row would be missing."""
    schema = Schema((Numeric("n", (5,), 0), Category("c", ("a", "b"), "a")))
    table = pa.table({"n": [1, 7, None], "c": ["a", "b", None]})
    columns = {name: table[name] for name in ("n", "c")}
    assert schema.check_many(columns).tolist() == schema.check_many(table).tolist()
    assert schema.check_many(columns).tolist() == [[0, 0], [1, 1], [0, 0]]
