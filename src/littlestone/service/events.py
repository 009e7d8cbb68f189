"""Read labelled events from files and pipes; name rows that do not fit, and never guess."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from littlestone import require
from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Numeric
from littlestone.service.durable import Event

TRUE = frozenset({"1", "1.0", "true", "yes"})
FALSE = frozenset({"0", "0.0", "false", "no"})


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was not taken, and why; local information, never published."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns hold what. Without ``identity`` the line number identifies an event."""

    label: str
    feature: str | None = None
    identity: str | None = None


Row = tuple[int, Mapping[str, Any] | BadRow]


def read(
    source: str, concepts: ConceptClass, columns: Columns, *, standard_input: IO[str]
) -> Iterator[Event | BadRow]:
    """The events of a file (``.csv``, ``.jsonl``, ``.parquet``) or of a pipe (``-``).

    A pipe holds JSON lines if its first line begins with a brace, and CSV otherwise. A source that
    cannot be read, or lacks a column, is refused at once; rows are read as they are asked for.
    """
    convert = point_reader(concepts, columns)
    rows = _rows(source, standard_input, needed_columns(concepts, columns))
    return (
        row if isinstance(row, BadRow) else _event(line, row, columns, convert, concepts)
        for line, row in rows
    )


def needed_columns(concepts: ConceptClass, columns: Columns) -> list[str]:
    """The columns without which no row can be taken."""
    domain = concepts.domain
    points = [part.name for part in domain.fields] if isinstance(domain, Records) else []
    named = (*points, columns.feature, columns.label, columns.identity)
    return [name for name in named if name is not None]


def point_reader(concepts: ConceptClass, columns: Columns) -> Callable[[Mapping[str, Any]], Any]:
    """How a row becomes a point of the class: a record, or the one feature column."""
    domain = concepts.domain
    if isinstance(domain, Records):
        numeric = {part.name for part in domain.fields if isinstance(part, Numeric)}
        names = [part.name for part in domain.fields]
        return lambda row: {
            name: _number(row[name]) if name in numeric else row[name]
            for name in names
            if name in row and row[name] is not None
        }
    feature = columns.feature
    if feature is None:
        raise ValueError("feature must name the column of the point for this class (--feature)")
    whole = domain.size is not None

    def point(row: Mapping[str, Any]) -> Any:
        if feature not in row or row[feature] is None or row[feature] == "":
            raise ValueError(f"column {feature!r} is missing")
        return _whole(row[feature]) if whole else row[feature]

    return point


def _event(
    line: int,
    row: Mapping[str, Any],
    columns: Columns,
    convert: Callable[[Mapping[str, Any]], Any],
    concepts: ConceptClass,
) -> Event | BadRow:
    try:
        point = convert(row)
        canonical = concepts.domain.check(tuple(point) if isinstance(point, list) else point)
        label = _label(row.get(columns.label), columns.label)
        identity = f"line {line}" if columns.identity is None else row.get(columns.identity)
        if identity is None or identity == "":
            raise ValueError(f"column {columns.identity!r} is missing")
        return Event(str(identity), point, label, line, (canonical, label))
    except (ValueError, TypeError) as problem:
        return BadRow(line, str(problem))


def _label(value: Any, name: str) -> int:
    if value is None or value == "":
        raise ValueError(f"label {name!r} is missing")
    if isinstance(value, str):
        text = value.strip().lower()
        if text in TRUE or text in FALSE:
            return int(text in TRUE)
        raise ValueError(f"label {name!r} must be 0 or 1, got {value!r}")
    return require.label(value)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value


def _whole(value: Any) -> int:
    number = float(value)
    if not number.is_integer():
        raise ValueError(f"the point must be a whole number, got {value!r}")
    return int(number)


def _rows(source: str, standard_input: IO[str], needed: Sequence[str]) -> Iterator[Row]:
    if source == "-":
        return _piped(standard_input, needed)
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if path.suffix == ".parquet":
        return _parquet(path, needed)
    if path.suffix not in (".csv", ".jsonl", ".ndjson"):
        raise ValueError(f"file must end in .csv, .jsonl or .parquet, got {source!r}")
    with path.open(encoding="utf-8", newline="") as file:
        _text_rows(path, file, needed)  # the header is read at once
    return _from_file(path, needed)


def _from_file(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from _text_rows(path, file, needed)


def _text_rows(path: Path, file: IO[str], needed: Sequence[str]) -> Iterator[Row]:
    return _csv(file, needed) if path.suffix == ".csv" else _json_lines(file)


def _piped(stream: IO[str], needed: Sequence[str]) -> Iterator[Row]:
    first = stream.readline()
    lines = chain([first], stream)
    return _json_lines(lines) if first.lstrip().startswith("{") else _csv(lines, needed)


def _refuse_missing(names: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; there are: {', '.join(names)}")


def _json_lines(lines: Iterable[str]) -> Iterator[Row]:
    for line, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except json.JSONDecodeError as problem:
            yield line, BadRow(line, f"not a whole line of JSON: {problem.msg}")
            continue
        yield line, row if isinstance(row, dict) else BadRow(line, "not a JSON object")


def _csv(lines: Iterable[str], needed: Sequence[str]) -> Iterator[Row]:
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader)
    except (StopIteration, csv.Error):
        raise ValueError("the CSV has no header line") from None
    _refuse_missing(header, needed)
    return _csv_rows(reader, header)


def _csv_rows(reader: Any, header: Sequence[str]) -> Iterator[Row]:
    while True:
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            yield reader.line_num, BadRow(reader.line_num, f"not a CSV row: {problem}")
            continue
        if not values:
            continue
        if len(values) != len(header):
            reason = f"{len(values)} values where the header has {len(header)} columns"
            yield reader.line_num, BadRow(reader.line_num, reason)
            continue
        yield reader.line_num, dict(zip(header, values, strict=True))


def _parquet(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError:
        raise ValueError(
            "reading Parquet needs pyarrow: pip install 'littlestone[parquet]'"
        ) from None
    try:
        _refuse_missing(parquet.read_schema(path).names, needed)
    except ArrowException as problem:
        raise ValueError(f"{path} is not a Parquet file: {problem}") from None
    batches = parquet.ParquetFile(path).iter_batches()
    return enumerate(_parquet_rows(path, batches, ArrowException), start=1)


def _parquet_rows(path: Path, batches: Any, trouble: type[Exception]) -> Iterator[dict[str, Any]]:
    try:
        for batch in batches:
            yield from batch.to_pylist()
    except trouble as problem:
        raise ValueError(f"{path} is damaged: {problem}") from None
