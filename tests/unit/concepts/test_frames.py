"""Data frames of every make give the cells that their rows give one by one."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from littlestone.adapters.sklearn import PrivateClassifier
from littlestone.concepts.schema import Schema

COLUMNS: dict[str, list[Any]] = {
    "note": ["x", None, "y", "x"],
    "town": ["Ulm", None, "Bonn", "Ulm"],
    "large": [2**53 + 1, 2**53, None, 0],
    "share": [0.5, None, 0.25, 1.0],
    "age": [3, 70, 18, 18],
}
SCHEMA = Schema.from_mapping(
    {
        "age": {"grid": [18, 65]},
        "share": {"grid": [0.5], "missing": "own value"},
        "large": {"grid": [2**53 + 1], "missing": "own value"},
        "town": {"values": ["Ulm", "Bonn"], "missing": "own value"},
    }
)
MAKES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "polars, lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("make", MAKES)
def test_a_frame_has_the_cells_of_its_records(make: str) -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    alone = [SCHEMA.check(row) for row in rows]
    assert SCHEMA.check_many(MAKES[make](COLUMNS)).tolist() == list(map(list, alone))


def test_decimals_of_arrow_are_compared_exactly() -> None:
    schema = Schema.from_mapping({"x": {"grid": [0.1]}})
    column = pa.array([Decimal("0.1"), Decimal("0.2")], pa.decimal128(5, 1))
    assert schema.check_many(pa.table({"x": column})).tolist() == [[0], [1]]


@pytest.mark.parametrize("make", MAKES)
def test_scikit_learn_matches_columns_by_name(make: str) -> None:
    generator = np.random.default_rng(5)
    columns = {
        "id": list(range(600)),
        "b": generator.random(600).tolist(),
        "a": generator.integers(0, 100, 600).tolist(),
    }
    late = [int(age >= 50) for age in columns["a"]]
    schema = Schema.from_mapping({"a": {"grid": [25, 50, 75]}, "b": {"grid": [0.5]}})
    model = PrivateClassifier(concepts=schema, epsilon=20.0, random_state=1)
    model.fit(MAKES[make](columns), late)
    assert model.hypothesis.describe() == "1 if a >= 50 else 0"
    turned = dict(reversed(columns.items()))
    assert model.predict(MAKES[make](turned)).tolist() == late


def test_what_is_missing_points_to_the_schema_and_not_to_another_learner() -> None:
    table = np.array([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="'missing': 'own value'") as told:
        PrivateClassifier().fit(table, [0, 1])
    assert "HistGradient" not in str(told.value)


def test_labels_in_words_are_named_with_the_line_to_add() -> None:
    with pytest.raises(ValueError, match=r"classes=\('ja', 'nein'\)"):
        PrivateClassifier().fit([[1.0], [2.0]], ["nein", "ja"])
