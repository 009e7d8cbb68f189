"""Rows of data frames on their way into a durable run."""

from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from tests.rows.door import Rounds, Rows, column_of, learner_over, objects, rounds_of
from tests.rows.files import PARQUET, arrow_of, told
from tests.rows.tables import LABEL, Public
from tests.rows.typed import polars_of, series_of

from littlestone import require
from littlestone.runs.frames import _rows
from littlestone.runs.intake.readers import Columns, events_of, needed_columns

_USERS = Columns(label=LABEL, user=LABEL)
_NOT_IN_DUCKDB = ("huge decimal", "half", "seconds")
DUCKDB = {kind: pool for kind, pool in PARQUET.items() if kind not in _NOT_IN_DUCKDB}


def of_frames(frame: Callable[[Public, Rows], Any]) -> Rounds:
    """What ``learn_frame`` takes; each row is its own user, as far as that can be written."""

    def rounds(public: Public, rows: Rows) -> list[str]:
        concepts = learner_over(public.schema).concepts
        found = _rows(frame(public, rows), needed_columns(concepts.domain, _USERS))
        return list(map(told, events_of(iter(found), concepts, _USERS, at_once=True)))

    return rounds


def of_checked(frame: Callable[[Public, Rows], Any]) -> Rounds:
    """What the schema says of a frame."""

    def rounds(public: Public, rows: Rows) -> list[str]:
        cells = public.schema.check_many(frame(public, rows))
        return rounds_of(cells, require.labels(column_of(rows, LABEL)))

    return rounds


def of_objects(public: Public, rows: Rows) -> Any:
    return pd.DataFrame(
        {name: pd.Series(objects(column_of(rows, name)), dtype=object) for name in public.kinds}
    )


def of_pandas(public: Public, rows: Rows) -> Any:
    found = {name: series_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    return pd.DataFrame(found)


def of_polars(public: Public, rows: Rows) -> Any:
    """In two chunks, as two frames that were put together."""
    half = len(rows) // 2
    parts = [
        pl.DataFrame(
            {name: polars_of(kind, column_of(part, name)) for name, kind in public.kinds.items()}
        )
        for part in (rows[:half], rows[half:])
    ]
    return pl.concat(parts, rechunk=False)


def of_arrow_in_pandas(public: Public, rows: Rows) -> Any:
    found = {name: arrow_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    held = {name: pd.arrays.ArrowExtensionArray(column) for name, column in found.items()}
    return pd.DataFrame(held)


def without_labels(public: Public, rows: Rows) -> tuple[Any, Any]:
    """Arrow in pandas as an estimator takes it."""
    frame = of_arrow_in_pandas(public, rows)
    return frame.drop(columns=LABEL), frame[LABEL]


def of_duckdb(public: Public, rows: Rows) -> Any:
    return duckdb.from_arrow(of_tables(public, rows))


def of_tables(public: Public, rows: Rows) -> Any:
    return pa.table(
        {name: arrow_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    )
