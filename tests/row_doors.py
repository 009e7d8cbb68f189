"""Every way in which rows become rounds, as a function from a table to the rounds of its rows."""

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from littlestone.catalogue import class_from_spec
from pyarrow import parquet
from tests.row_tables import (
    KINDS,
    LABEL,
    NANOSECONDS,
    SCHEMAS,
    TOO_LARGE,
    Coins,
    Public,
    Table,
    columns_of,
    drawn,
    table_of,
)

from littlestone import require
from littlestone.client import Client
from littlestone.concepts.ball import RationalBall
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.domain import AnyHashable, BooleanCube, Grid, IntegerRange
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError
from littlestone.fleet import database
from littlestone.fleet.reading import line_reader, numbered
from littlestone.integrations import sklearn as adapter
from littlestone.integrations.river import PrivateClassifier
from littlestone.integrations.sklearn import PrivateOnlineClassifier
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.engine import single_rounds
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import seeded
from littlestone.serve import wire
from littlestone.serve.desk import event_reader
from littlestone.serve.routes.writers import sent_in
from littlestone.service.events import Columns, read
from littlestone.service.log.intake import Event
from littlestone.service.sources import BadRow, Form

Rows = Sequence[Mapping[str, Any]]
Rounds = Callable[[Public, Rows], list[str]]
REFUSALS: Final = (ValueError, LittlestoneError)
"""What a table may be refused with; anything else is a bug."""


@dataclass(frozen=True)
class Door:
    """A name, the tables that are drawn for it, and the rounds that rows of these become.

    A round is written as its ``repr``. Where a row is refused alone that is written, too; where a
    table is refused as a ``whole``, because of a row in it, one of REFUSALS is raised.
    """

    name: str
    draw: Callable[[Coins], Table]
    rounds: Rounds
    whole: bool = True


def changed_rounds(door: Door, table: Table) -> int:
    """How many rounds are others once one row is; more than all if nothing explains a refusal.

    A table may be refused because of a row that is refused alone, too. If one of two tables is
    refused and the other is not, that is the row in which they differ, and no other row is.
    """
    public, place, before, after = table.public, table.place, table.rows, table.replaced
    old, new = _outcome(door, public, before), _outcome(door, public, after)
    if old is not None and new is not None:
        moved = {i for i, (one, other) in enumerate(zip(old, new, strict=True)) if one != other}
        return len(moved | {place}) if moved else 0

    if not door.whole:
        return len(before) + 1

    def refused(row: Mapping[str, Any]) -> bool:
        return _outcome(door, public, [row]) is None

    others = [row for i, row in enumerate(before) if i != place]
    if old is new:
        explained = any(map(refused, others)) or (refused(before[place]) and refused(table.other))
    else:  # of the others a few will do: each has its turn at being the one that differs
        differing = before[place] if old is None else table.other
        explained = refused(differing) and not any(map(refused, others[:3]))
    return 1 if explained else len(before) + 1


def _outcome(door: Door, public: Public, rows: Rows) -> list[str] | None:
    try:
        found = door.rounds(public, rows)
    except REFUSALS:
        return None
    assert len(found) == len(rows), f"{door.name} made {len(found)} rounds of {len(rows)} rows"
    return found


def _rounds(points: Any, labels: Any) -> list[str]:
    return [repr(example) for example in single_rounds(points, labels)]


# Values of Python: records, columns, runs.


def _records(public: Public, rows: Rows) -> list[str]:
    named = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    return _rounds(public.schema.check_many(named), require.labels([row[LABEL] for row in rows]))


def _listed(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows]


def _from_columns(column: Callable[[str, list[Any]], Any]) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        found = {name: column(kind, _listed(rows, name)) for name, kind in public.kinds.items()}
        labels = found.pop(LABEL)
        return _rounds(public.schema.check_many(found), require.labels(labels))

    return rounds


def _objects(values: list[Any]) -> np.ndarray[Any, Any]:
    return np.fromiter(values, dtype=object, count=len(values))


@cache
def learner_over(schema: Schema) -> PrivateLearner:
    return AgnosticFinite(concepts=Stumps(schema, 1), rounds=10_000, epsilon=1.0, delta=1e-6)


class _Recorder:
    """In place of a run's engine: keeps the rounds, and says every few that the rule changed."""

    first_rounds = 4

    def __init__(self, hypothesis: Any) -> None:
        self.hypothesis, self.rounds = hypothesis, list[str]()

    def step(self, x: Any, y: int) -> None:
        self.rounds.append(repr((x, y)))

    def steps(self, xs: Any, ys: Any) -> int:
        self.rounds += _rounds(xs[:7], ys[:7])
        return min(7, len(ys))


def _fed(public: Public, rows: Rows) -> list[str]:
    run = learner_over(public.schema).start(rng=seeded(1))
    recorder: Any = _Recorder(run.hypothesis)
    run._engine = recorder
    xs = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    ys, taken = _listed(rows, LABEL), 0
    while taken < len(xs):
        try:
            taken += run.observe_many(xs[taken:], ys[taken:])
        except ValueError:  # whoever feeds a run drops the row that it begins with and goes on
            recorder.rounds.append("refused")
            taken += 1
    found: list[str] = recorder.rounds
    return found


# Columns whose types are public.


_ORDINARY: Final = 2  # of each pool, so many values come most often


def _typed(kinds: Mapping[str, tuple[Any, ...]]) -> Callable[[Coins], Table]:
    """Tables whose columns have types, mostly such as fit, from pools of values of each."""

    def row(public: Public, coins: Coins, *, odd: float) -> dict[str, Any]:
        return {
            name: coins.one_of(kinds[kind] if coins.uniform() < odd else kinds[kind][:_ORDINARY])
            for name, kind in public.kinds.items()
        }

    def fitting(name: str) -> tuple[str, ...]:
        wanted = {"c": _is_text, "d": _is_date, "w": _is_date, LABEL: _is_bit}.get(name, _is_number)
        return tuple(kind for kind, pool in kinds.items() if any(map(wanted, pool)))

    fit = {name: fitting(name) for name in "ntfckdwr" + LABEL}
    assert all(fit.values())

    def draw(coins: Coins) -> Table:
        schema = coins.one_of(SCHEMAS)
        public = Public(
            schema,
            {
                name: coins.one_of(fit[name] if coins.uniform() < 0.9 else tuple(kinds))
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


_WHOLE: Final = (
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
_REAL: Final = (0.0, -0.0, 0.1, 0.3, 1.0, 15.0, 1.7e18, 2.0**53, float("nan"), float("inf"))
_SMALL: Final = (0, 1, 2, 15, -1)
NUMPY: Final[dict[str, tuple[Any, ...]]] = {
    "int64": _WHOLE,
    "uint64": (0, 1, 15, 2**53 + 1, 2**63, 2**64 - 1),
    "int8": _SMALL,
    "float64": _REAL,
    "float32": (0.0, 0.1, 0.3, 1.0, 1.7e18, float("nan")),
    "float16": (0.0, 1.0, 0.1, 0.3),
    "longdouble": (0.0, 1.0, 0.1, np.longdouble("0.1")),
    "bool": (False, True),
    "U8": ("A", "B", "é", "1", ""),
    "datetime64[ns]": ("2013-01-01T05:15", "NaT"),
    "object": (0, 1, True, Decimal(1), 0.1, 2**53 + 1, None, "A", (1, 2)),
}


def _array(kind: str, values: list[Any]) -> Any:
    return _objects(values) if kind == "object" else np.array(values, dtype=kind)


PANDAS: Final[dict[str, tuple[Any, ...]]] = NUMPY | {
    "Int64": (*_WHOLE, None),
    "Float64": (0.0, 0.1, 1.0, None),
    "boolean": (False, True, None),
    "category": ("A", "B", "é", None),
    "str": ("A", "B", "é", None, "1"),
    "datetime64[ns, UTC]": ("2013-01-01T05:15", None),
}
del PANDAS["U8"], PANDAS["longdouble"], PANDAS["float16"]


def _series(kind: str, values: list[Any]) -> Any:
    return pd.Series(_objects(values) if kind == "object" else values, dtype=kind)


POLARS: Final[dict[str, tuple[Any, ...]]] = {
    "Int64": (*_WHOLE, None),
    "UInt64": (0, 1, 2**53 + 1, 2**64 - 1, None),
    "Float64": (*_REAL, None),
    "Float32": (0.0, 0.5, 1.0, None),
    "Boolean": (False, True, None),
    "String": ("A", "B", "é", "1", "", None),
    "Date": (*filter(lambda day: not isinstance(day, str), KINDS["days"]), None),
    "Int8": _SMALL,
}


def _polars(kind: str, values: list[Any]) -> Any:
    return pl.Series(values, dtype=getattr(pl, kind))


# Files.


@contextmanager
def _file(name: str) -> Iterator[Path]:
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder) / name


def _events(public: Public, path: Path) -> list[str]:
    """Of every row its round, and whether it fits, which counts where rows may be rejected."""
    found = read(
        str(path), Stumps(public.schema, 1), Columns(label=LABEL), standard_input=io.BytesIO()
    )
    return list(map(_told, found))


def _told(event: Event | BadRow) -> str:
    if isinstance(event, BadRow):
        known = None if event.stand_in is None else event.stand_in.example
        return repr((known, "does not fit", event.field, event.reason))
    return repr((event.example, event.x, event.user))


def _csv(text: Callable[[Any], str]) -> Callable[[Path, list[str], Rows], None]:
    def write(path: Path, names: list[str], rows: Rows) -> None:
        lines = [names, *([text(row[name]) for name in names] for row in rows)]
        content = "".join(",".join(map(_quoted, line)) + "\n" for line in lines)
        path.write_bytes(content.encode("utf-8", "surrogatepass"))

    return write


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if {*cell} & {",", '"'} else cell


def _text(value: Any) -> str:
    text = "" if value is None else "9" * 401 if value is TOO_LARGE else str(value)
    return text.replace("\n", " ").replace("\r", " ")


def _number(value: Any) -> Any:
    """What JSON can hold of it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float | bool | list | dict):
        return value
    return float(value) if isinstance(value, Decimal) and not value.is_snan() else str(value)


def _json_lines(names: list[str], rows: Rows) -> list[str]:
    return [json.dumps({name: _number(row[name]) for name in names}) for row in rows]


def _json(path: Path, names: list[str], rows: Rows) -> None:
    # A first row that has every name: the one rule of JSON lines that looks at several rows
    # (docs/GUARANTEES.md) asks whether some row has each.
    first = json.dumps(dict.fromkeys(names, 1))
    path.write_text("\n".join([first, *_json_lines(names, rows)]) + "\n", encoding="utf-8")


_ZONED: Final = pa.timestamp("ns", "Europe/Berlin")
PARQUET: Final[dict[str, tuple[Any, ...]]] = {
    "decimal": (Decimal("0"), Decimal("1"), Decimal("1.00"), Decimal("0.10"), Decimal(15), None),
    "wide decimal": (Decimal(0), Decimal(1), Decimal(2**53 + 1), Decimal(NANOSECONDS + 1), None),
    "int64": (*_WHOLE, None),
    "uint64": (0, 1, 2**64 - 1, None),
    "int8": _SMALL,
    "float64": (*_REAL, None),
    "float32": (0.0, 1.0, 0.5, None),
    "bool": (False, True, None),
    "string": (b"A", b"1", "é".encode(), b"1", b"", b"\xff\xfe", b"true", None),
    "date": (19_000, 0, 2**31 - 1, -(2**31), None),
    "nanoseconds": (10**15, 0, NANOSECONDS + 1, NANOSECONDS + 1000, -(2**62), None),
    "microseconds": (10**15, 0, 2**62, -(2**62), None),
    "zone": (10**15, 0, NANOSECONDS + 1, -(2**63) + 1, 2**63 - 1, None),
    "list": ([1], [], None),
}
_ARROW: Final[dict[str, Any]] = {
    "decimal": pa.decimal128(10, 2), "wide decimal": pa.decimal128(38, 0), "int64": pa.int64(),
    "uint64": pa.uint64(), "int8": pa.int8(), "float64": pa.float64(), "float32": pa.float32(),
    "bool": pa.bool_(), "list": pa.list_(pa.int64()),
}  # fmt: skip
_STORED: Final[dict[str, tuple[Any, Any]]] = {
    "string": (pa.binary(), pa.string()), "date": (pa.int32(), pa.date32()),
    "nanoseconds": (pa.int64(), pa.timestamp("ns")),
    "microseconds": (pa.int64(), pa.timestamp("us")), "zone": (pa.int64(), _ZONED),
}  # fmt: skip


def _arrow(kind: str, values: list[Any]) -> Any:
    if kind in _ARROW:
        return pa.array(values, type=_ARROW[kind])
    stored, shown = _STORED[kind]
    return pa.array(values, type=stored).view(shown)


def write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    parquet.write_table(pa.table(dict(columns)), path)


def _parquet(public: Public, rows: Rows) -> list[str]:
    with _file("rows.parquet") as path:
        write_parquet(
            path, {name: _arrow(kind, _listed(rows, name)) for name, kind in public.kinds.items()}
        )
        return _events(public, path)


def _from_file(
    name: str, write: Callable[[Path, list[str], Rows], None], skipped: int = 0
) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        with _file(name) as path:
            write(path, list(public.kinds), rows)
            return _events(public, path)[skipped:]

    return rounds


# A fleet: rows of one key, numbered.


_KEYED: Final = Columns(label=LABEL, identity="key")


def _fleet(public: Public, rows: Rows) -> list[str]:
    concepts = learner_over(public.schema).concepts
    with _file("rows.jsonl") as path:
        _json(path, ["key", *public.kinds], [{"key": "7", **row} for row in rows])
        parts = numbered(
            str(path),
            concepts,
            _KEYED,
            sequence=None,
            standard_input=io.BytesIO(),
            form=Form(),
        )
        events = [event for part in parts for event in zip(*part, strict=True)]
    return list(map(repr, events))[1:]


def _put(public: Public, rows: Rows) -> list[str]:
    """The block that a fleet in a database queues."""
    xs = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    learner, seqs = learner_over(public.schema), range(1, len(rows) + 1)
    block = database._block(learner, ["7"] * len(rows), list(seqs), xs, _listed(rows, LABEL))
    return _rounds(block.points, block.labels)


def _spark(public: Public, rows: Rows) -> list[str]:
    """What a worker of Spark calls for the lines of a key."""
    reader = line_reader(learner_over(public.schema).concepts, _KEYED, sequence="number")
    numbers = [{"key": "7", "number": place, **row} for place, row in enumerate(rows, start=1)]
    return [
        _told(line.event) for line in reader(_json_lines(["key", "number", *public.kinds], numbers))
    ]


# Scikit-learn, River, HTTP.


@contextmanager
def _learned() -> Iterator[list[str]]:
    """What an estimator hands to its run."""
    kept = list[str]()

    def learn(run: Any, points: Any, numbers: Any) -> None:
        del run
        kept.extend(_rounds(points, numbers))

    with patch.object(adapter, "_learn", learn):
        yield kept


def _fitted(table: Callable[[Public, Rows], tuple[Any, Any]]) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        X, y = table(public, rows)  # noqa: N806
        with _learned() as kept:
            PrivateOnlineClassifier(learner_over(public.schema), random_state=1).fit(X, y)
        return kept

    return rounds


def _lists(public: Public, rows: Rows) -> tuple[Any, Any]:
    names = [name for name in public.kinds if name != LABEL]
    return [[row[name] for name in names] for row in rows], _listed(rows, LABEL)


def _frame(public: Public, rows: Rows) -> tuple[Any, Any]:
    found = {name: _series(kind, _listed(rows, name)) for name, kind in public.kinds.items()}
    labels = found.pop(LABEL)
    return pd.DataFrame(found), labels


def _matrix(public: Public, rows: Rows) -> tuple[Any, Any]:
    """An array has one type for all of its columns: that of the first."""
    names = [name for name in public.kinds if name != LABEL]
    kind = public.kinds[names[0]]
    cells = _array(kind, [row[name] for row in rows for name in names])
    return cells.reshape(len(rows), len(names)), _array(public.kinds[LABEL], _listed(rows, LABEL))


def _of_one_type(coins: Coins) -> Table:
    """Without dates: an estimator's columns are its fields."""
    table = _without_dates(_typed(NUMPY))(coins)
    names = [name for name in table.public.kinds if name != LABEL]
    kind = table.public.kinds[names[0]]
    pool = NUMPY[kind]

    def same(row: dict[str, Any]) -> dict[str, Any]:
        return {name: coins.one_of(pool) if name in names else row[name] for name in row}

    kinds = dict.fromkeys(names, kind) | {LABEL: table.public.kinds[LABEL]}
    public = Public(table.public.schema, kinds)
    return Table(public, list(map(same, table.rows)), table.place, same(table.other))


def _without_dates(draw: Callable[[Coins], Table]) -> Callable[[Coins], Table]:
    def drawn_without(coins: Coins) -> Table:
        while True:
            table = draw(coins)
            if all(part.date is None for part in table.public.schema.fields):
                return table

    return drawn_without


@cache
def _river_model(schema: Schema) -> PrivateClassifier:
    return PrivateClassifier(learner_over(schema), labels=(0, 1))


def _river(public: Public, rows: Rows) -> list[str]:
    model, found = _river_model(public.schema), list[str]()
    for row in rows:
        record = {name: row[name] for name in public.kinds if name != LABEL}
        with patch.object(model, "_run", _Told(found)):
            try:
                model.learn_one(record, row[LABEL])
            except ValueError:
                found.append("refused")
    return found


class _Told:
    """In place of a run: keeps what it is told."""

    def __init__(self, kept: list[str]) -> None:
        self._kept = kept

    rounds_played = 1

    def observe_canonical(self, x: Any, y: int) -> None:
        self._kept.append(repr((x, y)))


class _Sent(Client):
    """A client that keeps the body of its request."""

    body = b""

    def _once(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        self.body = content or b""
        return 200, b"{}"


@cache
def _reader(schema: Schema) -> Any:
    return event_reader(learner_over(schema))


def _client(public: Public, rows: Rows) -> list[str]:
    client = _Sent("http://localhost")
    names = [name for name in public.kinds if name != LABEL]
    client.send_many(
        "run", [({name: _number(row[name]) for name in names}, _number(row[LABEL])) for row in rows]
    )
    sent, _ = sent_in(client.body)
    return [_received(_reader(public.schema), one) for one in sent]


def _received(reader: Any, sent: wire.EventIn | str) -> str:
    if isinstance(sent, str):
        return "refused"
    try:
        event = reader("id", sent)
    except ValueError:
        return "refused"
    return repr((event.example, event.x))


# Points of other domains.


DOMAINS: Final = {
    "keys": AnyHashable(),
    "range": IntegerRange(16),
    "cube": BooleanCube(2),
    "grid": Grid(2, 16),
    "ball": RationalBall(2),
}
_PAIRS: Final = ("cube", "grid", "ball")


def _points_drawn(coins: Coins) -> Table:
    domain = coins.one_of(tuple(DOMAINS))
    kinds = [kind for kind in KINDS if kind not in ("no cells", "missing")]
    usual = coins.one_of((*kinds, "small", "bits", "bits", "booleans"))

    def cell(odd: float) -> Any:
        return coins.one_of(KINDS[coins.one_of(tuple(KINDS)) if coins.uniform() < odd else usual])

    def row(public: Public, coins: Coins, *, odd: float) -> dict[str, Any]:
        del public
        pair = domain in _PAIRS or coins.uniform() < odd / 4
        x = (cell(odd), cell(odd)) if pair else cell(odd)
        label = coins.one_of(KINDS["missing" if coins.uniform() < odd / 4 else "bits"])
        return {"x": x, LABEL: label}

    return table_of(Public(SCHEMAS[0], {"x": domain, LABEL: usual}), coins, row)


def _points(public: Public, rows: Rows) -> list[str]:
    domain: Any = DOMAINS[public.kinds["x"]]
    return _rounds(domain.check_many(_listed(rows, "x")), require.labels(_listed(rows, LABEL)))


def _feature(public: Public, rows: Rows) -> list[str]:
    """Points of a class without a schema, from a file."""
    concepts = class_from_spec("thresholds:16" if public.kinds["x"] == "range" else "points")
    with _file("rows.jsonl") as path:
        _json(path, ["x", LABEL], rows)
        columns = Columns(label=LABEL, feature="x")
        found = read(str(path), concepts, columns, standard_input=io.BytesIO())
        return list(map(_told, found))[1:]


DOORS: Final = (
    Door("records", drawn, _records),
    Door("a run", drawn, _fed, whole=False),
    Door("columns of lists", drawn, _from_columns(lambda _, values: values)),
    Door("columns of tuples", drawn, _from_columns(lambda _, values: tuple(values))),
    Door("columns of objects", drawn, _from_columns(lambda _, values: _objects(values))),
    Door("numpy", _typed(NUMPY), _from_columns(_array)),
    Door("pandas", _typed(PANDAS), _from_columns(_series)),
    Door("polars", _typed(POLARS), _from_columns(_polars)),
    Door("csv", drawn, _from_file("rows.csv", _csv(_text)), whole=False),
    Door("json lines", drawn, _from_file("rows.jsonl", _json, skipped=1), whole=False),
    Door("parquet", _typed(PARQUET), _parquet, whole=False),
    Door("scikit-learn, lists", _without_dates(drawn), _fitted(_lists)),
    Door("scikit-learn, arrays", _of_one_type, _fitted(_matrix)),
    Door("scikit-learn, frames", _without_dates(_typed(PANDAS)), _fitted(_frame)),
    Door("river", drawn, _river, whole=False),
    Door("client", drawn, _client),
    Door("fleet, files", drawn, _fleet),
    Door("fleet, put", drawn, _put),
    Door("spark", drawn, _spark, whole=False),
    Door("points", _points_drawn, _points),
    Door("points of a file", _points_drawn, _feature, whole=False),
)
