"""Rows in files: CSV, JSON lines, Parquet, and those of a fleet."""

import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from tests.readings import read
from tests.rows.door import Rounds, Rows, column_of, learner_over, rounds_of
from tests.rows.tables import (
    LABEL,
    NANOSECONDS,
    TOO_LARGE,
    Public,
)
from tests.rows.typed import REAL, SMALL, WHOLE

from littlestone import require
from littlestone.choose.catalogue import class_from_spec
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.schema import Schema
from littlestone.runs.feeding import Intake
from littlestone.runs.fleet import database
from littlestone.runs.fleet.rows import line_reader, numbered
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow, Form
from littlestone.runs.intake.readers import Columns, read_blocks
from littlestone.runs.intake.users import user_digests
from littlestone.runs.learning import Waiting


@contextmanager
def _file(name: str) -> Iterator[Path]:
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder) / name


_USUAL: Final = Columns(label=LABEL)
_USERS: Final = Columns(label=LABEL, user=LABEL)
_NESTED: Final = Columns(label=f"of.{LABEL}")


def _events(
    public: Public, path: Path, columns: Columns = _USUAL, form: Form | None = None
) -> list[str]:
    """Of every row its round, and whether it fits, which counts where rows may be rejected."""
    concepts = Stumps(public.schema, 1)
    found = read(str(path), concepts, columns, standard_input=io.BytesIO(), form=form)
    return list(map(told, found))


def told(event: Event | BadRow) -> str:
    if isinstance(event, BadRow):
        known = None if event.stand_in is None else event.stand_in.example
        return repr((known, "does not fit", event.field, event.reason))
    return repr((event.example, event.x, event.user))


def csv_writer(
    text: Callable[[Any], str], encoding: str = "utf-8"
) -> Callable[[Path, list[str], Rows], None]:
    def write(path: Path, names: list[str], rows: Rows) -> None:
        lines = [names, *([text(row[name]) for name in names] for row in rows)]
        content = "".join(",".join(map(_quoted, line)) + "\n" for line in lines)
        odd = "surrogatepass" if encoding == "utf-8" else "replace"
        path.write_bytes(content.encode(encoding, odd))

    return write


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if {*cell} & {",", '"'} else cell


def text_of(value: Any) -> str:
    text = "" if value is None else "9" * 401 if value is TOO_LARGE else str(value)
    return text.replace("\n", " ").replace("\r", " ")


GERMAN: Final = Form(decimal=",", thousands=".", date_format="%d.%m.%Y %H:%M")


def german_of(value: Any) -> str:
    """Numbers and dates as they are written in Germany, and some that are not."""
    if isinstance(value, datetime) and value == value:
        return value.strftime("%d.%m.%Y %H:%M")
    text = text_of(value)
    if type(value) is int and 999 < value < 10**12:
        return f"{value:,}".replace(",", ".")
    return text.replace(".", ",") if isinstance(value, float | Decimal) else text


def skipped_of(write: Callable[[Path, list[str], Rows], None]) -> Callable[..., None]:
    """The same lines behind two that are skipped."""

    def written(path: Path, names: list[str], rows: Rows) -> None:
        write(path, names, rows)
        content = path.read_bytes()
        path.write_bytes(b'two lines "of\nsomething else\n' + content)

    return written


MEASURED: Final = Form(units="€ % km m", date_format="unix", skip=2)


def measured_of(value: Any) -> str:
    """Numbers with units, and moments as seconds, some of which nobody can read."""
    if isinstance(value, datetime) and value == value:
        return str(value.timestamp())
    text = text_of(value)
    if isinstance(value, float | Decimal):
        return f" -€ {text} km " if text.startswith("0") else f"{text}%\t"
    return f"{text} m" if type(value) is int else text


JAPANESE: Final = Form(encoding="iso2022_jp")


def japanese_of(value: Any) -> str:
    """Odd text switches to another alphabet, and not back."""
    text = text_of(value)
    return text if text.isascii() else f"{text}\x1b$B"


def write_nested(path: Path, names: list[str], rows: Rows) -> None:
    """The label inside of an object, or of what is none."""
    first = json.dumps(dict.fromkeys(names, 1) | {"of": {LABEL: 1}})
    lines = [
        json.dumps(
            {name: json_of(row[name]) for name in names if name != LABEL}
            | {"of": {LABEL: json_of(row[LABEL])} if row[LABEL] is not None else None}
        )
        for row in rows
    ]
    path.write_text("\n".join([first, *lines]) + "\n", encoding="utf-8")


def json_of(value: Any) -> Any:
    """What JSON can hold of it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float | bool | list | dict):
        return value
    return float(value) if isinstance(value, Decimal) and not value.is_snan() else str(value)


def _json_lines(names: list[str], rows: Rows) -> list[str]:
    return [json.dumps({name: json_of(row[name]) for name in names}) for row in rows]


def write_json(path: Path, names: list[str], rows: Rows) -> None:
    # A first row that has every name: the one rule of JSON lines that looks at several rows
    # (docs/GUARANTEES.md) asks whether some row has each.
    first = json.dumps(dict.fromkeys(names, 1))
    path.write_text("\n".join([first, *_json_lines(names, rows)]) + "\n", encoding="utf-8")


_ZONED: Final = pa.timestamp("ns", "Europe/Berlin")
PARQUET: Final[dict[str, tuple[Any, ...]]] = {
    "decimal": (Decimal("0"), Decimal("1"), Decimal("1.00"), Decimal("0.10"), Decimal(15), None),
    "wide decimal": (Decimal(0), Decimal(1), Decimal(2**53 + 1), Decimal(NANOSECONDS + 1), None),
    "int64": (*WHOLE, None),
    "uint64": (0, 1, 2**64 - 1, None),
    "int8": SMALL,
    "float64": (*REAL, None),
    "float32": (0.0, 1.0, 0.5, None),
    "bool": (False, True, None),
    "string": (b"A", b"1", "é".encode(), b"1", b"", b"\xff\xfe", b"true", None),
    "date": (19_000, 0, 2**31 - 1, -(2**31), None),
    "nanoseconds": (10**15, 0, NANOSECONDS + 1, NANOSECONDS + 1000, -(2**62), None),
    "microseconds": (10**15, 0, 2**62, -(2**62), None),
    "zone": (10**15, 0, NANOSECONDS + 1, -(2**63) + 1, 2**63 - 1, None),
    "list": ([1], [], None),
    "dictionary": ("A", "1", "é", "", "0", None),
    "codes": (0, 1, 15, 2**53 + 1, None),
    "huge decimal": (Decimal(0), Decimal(1), Decimal(10**60), None),
    "seconds": (10**9, 0, 2**62, -(2**62), None),
    "time": (10**12, 0, 1, None),
    "half": (0.0, 1.0, 0.1, None),
    "nothing": (None,),
}
_ARROW: Final[dict[str, Any]] = {
    "decimal": pa.decimal128(10, 2), "wide decimal": pa.decimal128(38, 0), "int64": pa.int64(),
    "uint64": pa.uint64(), "int8": pa.int8(), "float64": pa.float64(), "float32": pa.float32(),
    "bool": pa.bool_(), "list": pa.list_(pa.int64()), "half": pa.float16(), "nothing": pa.null(),
    "dictionary": pa.dictionary(pa.int8(), pa.string()), "huge decimal": pa.decimal256(70, 0),
    "codes": pa.dictionary(pa.int32(), pa.int64()),
}  # fmt: skip
_STORED: Final[dict[str, tuple[Any, Any]]] = {
    "string": (pa.binary(), pa.string()), "date": (pa.int32(), pa.date32()),
    "nanoseconds": (pa.int64(), pa.timestamp("ns")),
    "microseconds": (pa.int64(), pa.timestamp("us")), "zone": (pa.int64(), _ZONED),
    "seconds": (pa.int64(), pa.duration("s")), "time": (pa.int64(), pa.time64("ns")),
}  # fmt: skip


def arrow_of(kind: str, values: list[Any]) -> Any:
    if kind in _ARROW:
        return pa.array(values, type=_ARROW[kind])
    stored, shown = _STORED[kind]
    return pa.array(values, type=stored).view(shown)


def write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    parquet.write_table(pa.table(dict(columns)), path)


def of_parquet(public: Public, rows: Rows) -> list[str]:
    with _file("rows.parquet") as path:
        write_parquet(
            path,
            {name: arrow_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()},
        )
        return _events(public, path)


def of_nested_parquet(public: Public, rows: Rows) -> list[str]:
    """All columns in one struct, and a few rows in each group of the file."""
    columns = {name: arrow_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    struct = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
    with _file("rows.parquet") as path:
        parquet.write_table(pa.table({"of": struct}), path, row_group_size=3)
        fields = [replace(part, name=f"of.{part.name}") for part in public.schema.fields]
        return _events(public._replace(schema=Schema(tuple(fields))), path, _NESTED)


def of_arrow(public: Public, rows: Rows) -> list[str]:
    columns = {name: arrow_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    labels = [_plain(label) for label in columns.pop(LABEL)]
    cells = public.schema.check_many(pa.table(columns))
    return rounds_of(cells, require.labels(labels))


def _plain(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except OverflowError:  # a time that Python's cannot hold
        return None


def of_files(
    name: str,
    write: Callable[[Path, list[str], Rows], None],
    skipped: int = 0,
    columns: Columns = _USUAL,
    form: Form | None = None,
) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        with _file(name) as path:
            write(path, list(public.kinds), rows)
            return _events(public, path, columns, form)[skipped:]

    return rounds


def packed_of(
    write: Callable[[Path, list[str], Rows], None],
) -> Callable[[Path, list[str], Rows], None]:
    """As Windows writes it, compressed in two members."""

    def written(path: Path, names: list[str], rows: Rows) -> None:
        write(path, names, rows)
        content = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
        middle = len(content) // 2
        path.write_bytes(b"".join(map(gzip.compress, (content[:middle], content[middle:]))))

    return written


def into_a_journal(name: str, write: Callable[[Path, list[str], Rows], None]) -> Rounds:
    """What a durable run writes down of a file, and the block that its learner gets."""

    def rounds(public: Public, rows: Rows) -> list[str]:
        concepts, waiting = Stumps(public.schema, 1), Waiting()
        with _file(name) as path:
            write(path, list(public.kinds), [*rows, rows[0]])
            for item in read_blocks(str(path), concepts, _USERS, standard_input=io.BytesIO()):
                waiting.add(item.stand_in if isinstance(item, BadRow) else item)
        intake = Intake(concepts.domain, user_digests(b"k"))
        group = intake.checked(waiting.together(), first=1)
        told = zip(
            group.bodies,
            group.digests,
            group.users,
            rounds_of(group.points, np.array(group.labels)),
            strict=True,
        )
        return [repr(one) for one in told][-len(rows) - 1 : -1]

    return rounds


# A fleet: rows of one key, numbered.


_KEYED: Final = Columns(label=LABEL, identity="key")


def of_a_fleet(public: Public, rows: Rows) -> list[str]:
    concepts = learner_over(public.schema).concepts
    with _file("rows.jsonl") as path:
        write_json(path, ["key", *public.kinds], [{"key": "7", **row} for row in rows])
        parts = numbered(
            str(path),
            concepts,
            _KEYED,
            sequence=None,
            standard_input=io.BytesIO(),
            form=Form(),
        )
        events = [event for part in parts for event in zip(*part, strict=True)]
    told = [repr((k, number - n, *more)) for n, (k, number, *more) in enumerate(events, start=1)]
    return told[1:]


def put_into_a_fleet(public: Public, rows: Rows) -> list[str]:
    """The block that a fleet in a database queues."""
    xs = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    learner, seqs = learner_over(public.schema), range(1, len(rows) + 1)
    block = database._block(learner, ["7"] * len(rows), list(seqs), xs, column_of(rows, LABEL))
    return rounds_of(block.points, block.labels)


def of_spark(public: Public, rows: Rows) -> list[str]:
    """What a worker of Spark calls for the lines of a key."""
    reader = line_reader(learner_over(public.schema).concepts, _KEYED, sequence="number")
    numbers = [{"key": "7", "number": place, **row} for place, row in enumerate(rows, start=1)]
    return [
        told(line.event) for line in reader(_json_lines(["key", "number", *public.kinds], numbers))
    ]


def of_a_feature(public: Public, rows: Rows) -> list[str]:
    """Points of a class without a schema, from a file."""
    concepts = class_from_spec("thresholds:16" if public.kinds["x"] == "range" else "points")
    with _file("rows.jsonl") as path:
        write_json(path, ["x", LABEL], rows)
        columns = Columns(label=LABEL, feature="x")
        found = read(str(path), concepts, columns, standard_input=io.BytesIO())
        return list(map(told, found))[1:]
