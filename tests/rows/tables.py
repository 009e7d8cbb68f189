"""Hostile tables: whatever may stand in a cell, and one row that is replaced.

What is public is drawn first: the schema, and what each column mostly holds. Then each row is drawn
by itself, so that a row which is replaced has nothing to do with the others.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from littlestone.concepts.schema import LabelledSchema, Numeric, Schema

Item = TypeVar("Item")
TOO_LARGE: Final = 10**400  # which no float holds
NANOSECONDS: Final = 1_700_000_000_000_000_000
LABEL: Final = "y"


class Coins:
    """Cheap draws: numpy takes longer to draw one number than a hundred."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._drawn: list[float] = []

    def uniform(self) -> float:
        if not self._drawn:
            self._drawn = self._generator.random(4096).tolist()
        return self._drawn.pop()

    def below(self, count: int) -> int:
        return int(self.uniform() * count)

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


class Public(NamedTuple):
    """What is fixed before any row is: the schema, and what the cells of a column mostly are."""

    schema: Schema
    kinds: dict[str, str]


class Table(NamedTuple):
    """Rows, and another one in place of one of them."""

    public: Public
    rows: list[dict[str, Any]]
    place: int
    other: dict[str, Any]

    @property
    def replaced(self) -> list[dict[str, Any]]:
        return [*self.rows[: self.place], self.other, *self.rows[self.place + 1 :]]


_BERLIN: Final = timezone(timedelta(hours=1))
KINDS: Final[dict[str, tuple[Any, ...]]] = {
    "small": (-1, 0, 1, 2, 3, 14, 15, 16),
    "bits": (0, 1),
    "booleans": (False, True),
    "floats": (-0.0, 0.0, 0.1, 0.3, 1 / 3, 1.0, 2.0, 15.0, 14.999999999999998),
    "zeros and ones": (0.0, 1.0, -0.0),
    "large": (2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63, 2**64, TOO_LARGE),
    "nanoseconds": tuple(NANOSECONDS + step for step in range(-2, 6)),
    "large floats": (2.0**53, 1.7e18, 1e308, -1e308, math.inf, -math.inf),
    "decimals": tuple(map(Decimal, ("0", "1", "1.00", "0.1", "0.3", "15", "14.99999999999999999"))),
    "odd decimals": tuple(map(Decimal, ("1e400", "-1e-400", "9007199254740993", "Infinity", "-0"))),
    "decimal bits": (Decimal(0), Decimal(1)),
    "bits in words": ("0", "1", "1.0", "yes", " 1", "False"),
    "no decimals": (Decimal("NaN"), Decimal("sNaN")),
    "fractions": (Fraction(1), Fraction(1, 3), Fraction(1, 10), Fraction(3002399751580331, 10**16)),
    "numpy": (
        np.int64(1), np.int8(15), np.uint64(2**64 - 1), np.int64(NANOSECONDS + 1), np.float64(0.1),
        np.float32(0.1), np.float16(0.3), np.longdouble("0.1"), np.bool_(True), np.str_("A"),
    ),
    "numbers in words": ("0", "1", "15", " 1", "0.1", "1e0", "-0", "9007199254740993", "1_0", "１"),
    "words": ("A", "B", "é", "e\u0301", "a", "A ", "A\0", "\ud800", "\u202eA", "🎈", "true", "no"),
    "days": (date(2024, 2, 29), date(2013, 1, 1), "2013-01-01", "20240229"),
    "moments": (
        datetime(2024, 2, 29, 13), datetime(2013, 1, 1, 23, tzinfo=UTC),
        datetime(2013, 1, 1, 0, tzinfo=_BERLIN), "2013-01-01 05:15", "2013-12-29T23:59:59+02:00",
        "2013-12-29T23:59:59Z", pd.Timestamp(NANOSECONDS + 1), pd.Timestamp(0, tz="UTC"),
    ),
    "times": (time(5, 15), "05:15", "24:00"),
    "missing": (None, "", math.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.float64("nan")),
    "words for nothing": ("NULL", "NA", "-", "nan", "None", np.str_("NULL"), np.str_("")),
    "no cells": ([1], (1, 2), (), {}, b"x", 1j, np.array([1, 2]), frozenset({1}), timedelta(1)),
}  # fmt: skip
"""What a column may hold; none of them depends on any data."""

_NUMBERS: Final = (
    "small", "bits", "booleans", "floats", "large", "nanoseconds", "large floats", "decimals",
    "fractions", "numbers in words",
)  # fmt: skip
_USUAL: Final[dict[str, tuple[str, ...]]] = {
    "n": (*_NUMBERS, "booleans", "bits"),
    "t": ("nanoseconds", "nanoseconds", *_NUMBERS),
    "f": ("floats", "decimals", *_NUMBERS),
    "r": ("fractions", *_NUMBERS),
    "c": ("words", "words", "small"),
    "k": ("bits", "small", "floats", "decimals", "booleans", "zeros and ones", "numbers in words"),
    "d": ("days", "moments", "moments", "times"),
    "w": ("days", "moments"),
    "b": ("words", "small", "floats", "large", "numbers in words"),
    LABEL: ("bits", "bits", "booleans", "zeros and ones", "decimal bits", "bits in words"),
}


_DECLARED: Final[dict[str, Any]] = {
    "n": {"grid": [0, 1, 15]},
    "t": {"grid": [NANOSECONDS + 1, NANOSECONDS + 3]},
    "f": {"grid": [0.1, 0.3, 1.0]},
    "a": {"range": [0, 15]},
    "l": {"range": [0.1, 2**53 + 2], "scale": "log"},
    "c": {"values": ["A", "B", "é"]},
    "k": {"values": [1, 2, 3]},
    "d": {"date": ["hour", "weekday"]},
    "w": {"date": ["month"]},
    "b": {"buckets": 4},
}
_EXACT: Final = Numeric("r", (Fraction(1, 3), 2**53 + 1), 0)  # type: ignore[arg-type]


def _schemas(names: str, **missing: Any) -> Schema:
    declared = {name: dict(_DECLARED[name]) for name in names}
    for name, instead in missing.items():
        declared[name]["missing"] = instead
    return Schema.from_mapping(declared)


_MISSING: Final = {"n": 1, "t": NANOSECONDS + 2, "f": 0.2, "a": 1.5, "l": 0, "c": "B", "k": 2}
SCHEMAS: Final = (
    *(_schemas(name, **{name: "own value"}) for name in _DECLARED),
    *(_schemas(name, **{name: instead}) for name, instead in _MISSING.items()),
    *(_schemas(name) for name in "ntalckb"),
    _schemas("ntf", n="own value", t=NANOSECONDS + 2).refined(),
    _schemas("ntfckd", **dict.fromkeys("ntfckd", "own value")),
    _schemas("tc", t=NANOSECONDS + 2, c="B"),
    Schema((_EXACT, *_schemas("n", n=0).fields)),
)
WIDE: Final = Schema(tuple(Numeric(f"x{i}", (i - 8, i), 0) for i in range(36)))
"""So many numbers are cut at once, record by record."""


def row_of(public: Public, coins: Coins, *, odd: float) -> dict[str, Any]:
    """Each cell as its column has it mostly, or, by this chance, anything at all."""
    return {
        name: coins.one_of(KINDS[_odd(coins) if coins.uniform() < odd else kind])
        for name, kind in public.kinds.items()
    }


def _odd(coins: Coins) -> str:
    """Numbers of another type are what most easily changes how their column is read."""
    return coins.one_of(_NUMBERS if coins.uniform() < 0.6 else tuple(KINDS))


def columns_of(schema: Schema) -> list[str]:
    return [*dict.fromkeys(part.column for part in schema.fields), LABEL]


def drawn(coins: Coins, schemas: Sequence[Schema] = (*SCHEMAS, WIDE)) -> Table:
    """A table whose cells are values of Python."""
    schema = coins.one_of(schemas)
    kinds = {name: coins.one_of(_USUAL.get(name, _NUMBERS)) for name in columns_of(schema)}
    return table_of(Public(schema, kinds), coins, row_of)


MANY_LABELS: Final = ("A", 1, "é", "2")


def with_many_labels(draw: Callable[[Coins], Table]) -> Callable[[Coins], Table]:
    """The same tables over schemas that declare labels, which cells are, or look like."""

    def drawn_with_labels(coins: Coins) -> Table:
        table = draw(coins)
        schema = LabelledSchema(table.public.schema.fields, MANY_LABELS)
        kind = table.public.kinds[LABEL]
        if kind in _USUAL[LABEL]:
            kind = coins.one_of(("words", "bits", "numbers in words", "decimals", "booleans"))
            for row in (*table.rows, table.other):
                if coins.uniform() < 0.9:
                    row[LABEL] = coins.one_of(KINDS[kind])
        return table._replace(public=Public(schema, {**table.public.kinds, LABEL: kind}))

    return drawn_with_labels


def table_of(public: Public, coins: Coins, row: Callable[..., dict[str, Any]]) -> Table:
    """Up to forty rows and another one.

    Most cells are of their column's kind: whatever reads many rows at once gives up where every row
    is odd, and a table that is refused as a whole tells little.
    """
    count, odd = 1 + coins.below(40), coins.one_of((0.0, 0.0, 0.0, 0.02, 0.1))
    rows = [row(public, coins, odd=odd) for _ in range(count)]
    another = row(public, coins, odd=coins.one_of((0.0, 0.3, 0.7)))
    if coins.uniform() < 0.7:
        another[LABEL] = rows[0][LABEL]
    return Table(public, rows, coins.below(count), another)
