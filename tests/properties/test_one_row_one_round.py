"""One row, one round: the example of a round follows from its own row and from public values.

Tables are drawn from a hostile generator, one row is replaced, and the rounds of all the others are
compared: through every door by which rows come in (docs/GUARANTEES.md, "One row, one round").
Nothing here is left to chance but which tables are looked at: a single round that moves is a bug.
"""

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pytest
from sklearn.utils.validation import check_array
from tests.rows.door import Door, changed_rounds
from tests.rows.doors import DOORS
from tests.rows.tables import LABEL, NANOSECONDS, WIDE, Coins, Public, Table

from littlestone.adapters import sklearn as adapter
from littlestone.concepts import wide_records
from littlestone.concepts.records.fields import Numeric
from littlestone.concepts.schema import Schema
from littlestone.learners.run import PrivateRun
from littlestone.runs.intake import cells, parquet_rows
from littlestone.runs.intake.cells import Misfit

# Of all doors together; some are slow to open. ``make slow``, in CI too, draws the larger number.
QUICK: Final = 550
TABLES: Final = int(os.environ.get("TABLES", "10500"))


@pytest.fixture
def coins() -> Coins:
    given = os.environ.get("LITTLESTONE_SEED")
    seed = int(given) if given else int.from_bytes(os.urandom(6), "big")
    print(f"\nreplay with LITTLESTONE_SEED={seed}")
    return Coins(np.random.default_rng(seed))


def most_changed(door: Door, coins: Coins, tables: int) -> int:
    """The most rounds of a table that one replaced row has changed."""
    return max(changed_rounds(door, door.draw(coins)) for _ in range(tables))


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_replaced_row_changes_one_round(door: Door, coins: Coins) -> None:
    assert most_changed(door, coins, QUICK // len(DOORS)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_replaced_row_changes_one_round_of_many_tables(door: Door, coins: Coins) -> None:
    tables = -(-TABLES // len(DOORS))
    most = most_changed(door, coins, tables)
    print(f"{door.name}: rows that one replaced row can change: max {most} over {tables:,} tables")
    assert most <= 1


# Each of these is a way to read rows together that looks as if it read each alone.


def labels_by_equality(self: cells.LabelReader, values: Sequence[Any]) -> list[int]:
    """Decimal(1) is found where 1 is looked for, and is no label where it is read alone."""
    known: dict[Any, int] = cells._LABELS | {0: 0, 1: 1}
    return [known[value] for value in values]


def label_without_decimals(self: cells.LabelReader, value: Any) -> int:
    label = cells._LABELS.get(str(value).lower()) if type(value) in (str, int, float) else None
    if label is None:
        raise Misfit(LABEL, "is neither 0 nor 1", value)
    return label


def cells_by_the_columns_type(self: Numeric, values: Any) -> Any:
    """numpy brings the values of a list to one type."""
    column = np.asarray(values)
    if column.dtype.kind not in "iuf":
        return np.array([self.cell(value) for value in values], dtype=np.int64)
    return np.searchsorted(np.array(self.grid), column, side="right").astype(np.int64)


def columns_by_the_tables_type(
    estimator: Any, table: Any, *, reset: bool, names: Any = None
) -> list[Any]:
    """scikit-learn's usual check."""
    array = check_array(table, dtype="numeric")
    if reset:
        estimator.n_features_in_ = array.shape[1]
    return list(array.T)


def pieces_refused_whole(self: PrivateRun, xs: Any, ys: Any) -> int:
    """A bad row takes with it what is looked at together with it."""
    return self.take(*self.validated(xs[:4], ys[:4]))


def marks_by_the_chunk(self: cells.CellReader, column: Sequence[Any]) -> list[int]:
    """A comma in one row makes the points of all others marks of thousands."""
    commas = any("," in value for value in column)
    texts = [value.replace(".", "").replace(",", ".") if commas else value for value in column]
    return [self.one(text) for text in texts]


def whole_numbers_by_the_chunk(self: cells.CellReader, column: Sequence[Any]) -> list[int]:
    """A word in one row makes texts of the whole numbers in all others."""
    whole = all(value.isdigit() for value in column)
    return [self._part.cell(int(value) if whole else value) for value in column]


def values_all_or_none(column: Any) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError) as problem:
        raise ValueError("this file is damaged") from problem
    return values


def masked_is_plain(column: Any) -> bool:
    """What is behind a mask is cut with the rest, unless some row sends all to the slow path."""
    return isinstance(column, np.ndarray) and column.dtype.kind in "iuf"


def schema_of(**declared: Any) -> Schema:
    return Schema.from_mapping(declared)


BY_NAME: Final = {door.name: door for door in DOORS}
OWN: Final = {"grid": [1], "missing": "own value"}
WIDE_ROW: Final = {part.name: 9.0 for part in WIDE.fields}
TIMES: Final = {"grid": [NANOSECONDS + 1]}
YEAR_20000: Final = 6_585_000  # days
Patches = list[tuple[Any, str, Callable[..., Any]]]


@pytest.mark.parametrize(
    ("name", "schema", "kinds", "usual", "other", "broken"),
    [
        ("parquet", schema_of(n=OWN), {"n": "int64", LABEL: "decimal"},
         {"n": 1, LABEL: Decimal(1)}, {"n": 1, LABEL: None},
         [(cells.LabelReader, "many", labels_by_equality),
          (cells.LabelReader, "one", label_without_decimals)]),
        ("parquet", schema_of(d={"date": ["month"]}), {"d": "date", LABEL: "int64"},
         {"d": 19_000, LABEL: 1}, {"d": YEAR_20000, LABEL: 1},
         [(parquet_rows, "listed", values_all_or_none)]),
        ("csv", schema_of(n=OWN), {"n": "", LABEL: ""},
         {"n": "0.5", LABEL: "1"}, {"n": "0,5", LABEL: "1"},
         [(cells.CellReader, "many", marks_by_the_chunk)]),
        ("csv", schema_of(k={"values": [0, 1], "missing": "own value"}), {"k": "", LABEL: ""},
         {"k": "1", LABEL: "1"}, {"k": "one", LABEL: "1"},
         [(cells.CellReader, "many", whole_numbers_by_the_chunk)]),
        ("columns of lists", schema_of(n=OWN), {"n": "", LABEL: ""},
         {"n": True, LABEL: 1}, {"n": 1, LABEL: 1},
         [(Numeric, "cells_of", cells_by_the_columns_type)]),
        ("columns of lists", schema_of(t=TIMES), {"t": "", LABEL: ""},
         {"t": NANOSECONDS, LABEL: 1}, {"t": 0.5, LABEL: 1},
         [(Numeric, "cells_of", cells_by_the_columns_type)]),
        ("scikit-learn, lists", schema_of(n={"grid": [1]}), {"n": "", LABEL: ""},
         {"n": True, LABEL: 1}, {"n": 1, LABEL: 1},
         [(adapter, "columns_of", columns_by_the_tables_type)]),
        ("scikit-learn, lists", schema_of(t=TIMES), {"t": "", LABEL: ""},
         {"t": NANOSECONDS + 1, LABEL: 1}, {"t": 0.5, LABEL: 1},
         [(adapter, "columns_of", columns_by_the_tables_type)]),
        ("numpy, wide", WIDE, dict.fromkeys(WIDE_ROW, "masked float64") | {LABEL: "int64"},
         WIDE_ROW | {"x5": None, LABEL: 1}, WIDE_ROW | {"x6": float("nan"), LABEL: 1},
         [(wide_records, "_is_plain", masked_is_plain)]),
        ("a run", schema_of(n={"grid": [1]}), {"n": "", LABEL: ""},
         {"n": 1, LABEL: 1}, {"n": None, LABEL: 1},
         [(PrivateRun, "observe_many", pieces_refused_whole)]),
    ],
)  # fmt: skip
def test_what_reads_rows_by_each_other_is_caught(
    name: str,
    schema: Schema,
    kinds: dict[str, str],
    usual: dict[str, Any],
    other: dict[str, Any],
    broken: Patches,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(Public(schema, kinds), [usual] * 40, 17, other)
    assert changed_rounds(BY_NAME[name], table) <= 1
    for place, attribute, instead in broken:
        monkeypatch.setattr(place, attribute, instead)
    assert changed_rounds(BY_NAME[name], table) > 1
