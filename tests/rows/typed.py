"""Columns with types, which are public: what each may hold, and what holds it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
from tests.rows.door import objects
from tests.rows.tables import (
    KINDS,
    LABEL,
    NANOSECONDS,
    SCHEMAS,
    WIDE,
    Coins,
    Public,
    Table,
    columns_of,
    table_of,
)

from littlestone.concepts.schema import Schema

_ORDINARY: Final = 2  # of each pool, so many values come most often


def typed_tables(
    kinds: Mapping[str, tuple[Any, ...]], schemas: Sequence[Schema] = SCHEMAS
) -> Callable[[Coins], Table]:
    """Tables whose columns have types, mostly such as fit, from pools of values of each."""

    def row(public: Public, coins: Coins, *, odd: float) -> dict[str, Any]:
        return {
            name: coins.one_of(kinds[kind] if coins.uniform() < odd else kinds[kind][:_ORDINARY])
            for name, kind in public.kinds.items()
        }

    def fitting(name: str) -> tuple[str, ...]:
        wanted = {"c": _is_text, "b": _is_text, "d": _is_date, "w": _is_date, LABEL: _is_bit}.get(
            name, _is_number
        )
        return tuple(kind for kind, pool in kinds.items() if any(map(wanted, pool)))

    fit = {name: fitting(name) for name in "ntfalckdwrb" + LABEL}
    assert all(fit.values())

    def draw(coins: Coins) -> Table:
        schema = coins.one_of(schemas)
        few = [coins.one_of(fit["n"]) for _ in range(2)]  # of a wide table, whose columns are cut
        often = 1.0 if schema is WIDE else 0.9  # at once if all of them are plain numbers
        public = Public(
            schema,
            {
                name: coins.one_of(fit.get(name, few) if coins.uniform() < often else tuple(kinds))
                for name in columns_of(schema)
            },
        )
        return table_of(public, coins, row)

    return draw


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal)


def _is_text(value: Any) -> bool:
    return value in ("A", b"A")


def _is_date(value: Any) -> bool:
    return isinstance(value, date) or value == "2013-01-01T05:15" or value in (19_000, 10**15)


def _is_bit(value: Any) -> bool:
    return _is_number(value) and value == 1


WHOLE: Final = (
    0,
    1,
    NANOSECONDS + 2,
    2,
    3,
    15,
    2**53 + 1,
    NANOSECONDS + 1,
    NANOSECONDS + 2,
    -(2**62),
)
REAL: Final = (0.0, -0.0, 0.1, 0.3, 1.0, 15.0, 1.7e18, 2.0**53, float("nan"), float("inf"))
SMALL: Final = (0, 1, 2, 15, -1)
NUMPY: Final[dict[str, tuple[Any, ...]]] = {
    "int64": WHOLE,
    "uint64": (0, 1, 15, 2**53 + 1, 2**63, 2**64 - 1),
    "int8": SMALL,
    "float64": REAL,
    "float32": (0.0, 0.1, 0.3, 1.0, 1.7e18, float("nan")),
    "float16": (0.0, 1.0, 0.1, 0.3),
    "longdouble": (0.0, 1.0, 0.1, np.longdouble("0.1")),
    "bool": (False, True),
    "U8": ("A", "B", "é", "1", ""),
    "datetime64[ns]": ("2013-01-01T05:15", "NaT"),
    "object": (0, 1, True, Decimal(1), 0.1, 2**53 + 1, None, "A", (1, 2)),
    "masked int64": (*WHOLE, None),
    "masked float64": (*REAL, None),
}
_MASKED: Final = "masked "


def array_of(kind: str, values: list[Any]) -> Any:
    if kind.startswith(_MASKED):
        hidden = [99 if value is None else value for value in values]
        found = np.array(hidden, dtype=kind.removeprefix(_MASKED))
        return np.ma.array(found, mask=[value is None for value in values])
    return objects(values) if kind == "object" else np.array(values, dtype=kind)


PANDAS: Final[dict[str, tuple[Any, ...]]] = NUMPY | {
    "Int64": (*WHOLE, None),
    "Float64": (0.0, 0.1, 1.0, None),
    "boolean": (False, True, None),
    "category": ("A", "B", "é", None),
    "str": ("A", "B", "é", None, "1"),
    "datetime64[ns, UTC]": ("2013-01-01T05:15", None),
    "datetime64[s]": ("2013-01-01T05:15", "20000-02-03T01:00", None),
    "datetime64[us, Asia/Tokyo]": ("2013-01-01T05:15", "9999-12-31T23:00", None),
    "timedelta64[s]": ("1s", None),
    "period[M]": ("2013-01", None),
    "Sparse[float64]": REAL,
    "whole categories": (1, 0, 2, 15, 2**53 + 1, None),
}
for absent in ("U8", "longdouble", "float16", "masked int64", "masked float64"):
    del PANDAS[absent]


def series_of(kind: str, values: list[Any]) -> Any:
    if kind == "whole categories":
        return pd.Series(objects(values), dtype="category")
    if kind == "datetime64[s]":  # pandas parses no year above 9999
        return pd.Series(np.array(values, dtype=kind))
    return pd.Series(objects(values) if kind == "object" else values, dtype=kind)


POLARS: Final[dict[str, tuple[Any, ...]]] = {
    "Int64": (*WHOLE, None),
    "UInt64": (0, 1, 2**53 + 1, 2**64 - 1, None),
    "Float64": (*REAL, None),
    "Float32": (0.0, 0.5, 1.0, None),
    "Boolean": (False, True, None),
    "String": ("A", "B", "é", "1", "", None),
    "Date": (*filter(lambda day: not isinstance(day, str), KINDS["days"]), None),
    "Int8": SMALL,
    "Int128": (0, 1, 15, 2**64, -(2**100), None),
    "Decimal": (Decimal("0.00"), Decimal("1.00"), Decimal("0.10"), Decimal(10**20), None),
    "Categorical": ("A", "B", "é", "1", None),
    "Datetime": (datetime(2013, 1, 1, 5), datetime(1, 1, 1), datetime(9999, 12, 31, 23), None),
    "Time": (time(5, 15), time(0), None),
    "Duration": (timedelta(1), timedelta(0), None),
    "Binary": (b"A", b"1", b"\xff", None),
    "Object": (0, 1, True, Decimal(1), 0.1, 2**53 + 1, None, "A", (1, 2)),
    "List": ([1], [], None),
    "Null": (None,),
}
_POLARS: Final[dict[str, Any]] = {"Decimal": pl.Decimal(38, 2), "List": pl.List(pl.Int64)}


def polars_of(kind: str, values: list[Any]) -> Any:
    return pl.Series(values, dtype=_POLARS.get(kind) or getattr(pl, kind))
