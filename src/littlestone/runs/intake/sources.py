"""Read rows from files and pipes: one row per line, whatever a line holds.

A row must not depend on any other row: a stray quote that swallowed the lines after it would let
one record change many rounds. So a line is a row, and the dialect of a CSV depends on its header
and the declarations, never on its rows.
"""

import codecs
import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Final

from littlestone.concepts.records.dates import require_date_format

DELIMITERS: Final = (",", ";", "\t", "|")
_THOUSANDS: Final = (",", ".", "'", "’", " ")
_UNICODE: Final = ("utf-8", "utf-16", "utf-32")
_LOOKED_AT: Final = 1000
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that does not fit, and why; local information that is never published.

    ``stand_in`` is the event that the row counts as where every row is a round.
    """

    line: int
    reason: str
    field: str = ""
    got: str = ""
    stand_in: Any = None

    def __str__(self) -> str:
        field = f"{self.field!r} " if self.field else ""
        return f"{field}{self.reason}{f', got {self.got}' if self.got else ''}"


def shown(value: Any) -> str:
    """Return as much of a value as fits into a message, without control characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with too many digits, or deeply nested lists
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a source is written: public values that its owner declares.

    Args:
        delimiter: The separator of a CSV; by default the one that fits the header.
        encoding: The encoding of the text.
        header: Whether the first line of a CSV has the names of the columns.
        complete: Whether a last line without a line end is a row. It may be half-written.
        decimal: The decimal mark of numbers in text.
        thousands: What may separate groups of three digits before it; a space is any space.
        date_format: How dates in text are written, as for ``datetime.strptime``; by default ISO
            8601.
    """

    delimiter: str | None = None
    encoding: str = "utf-8-sig"
    header: bool = True
    complete: bool = True
    decimal: str = "."
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.thousands is not None and (
            self.thousands not in _THOUSANDS or self.thousands == self.decimal
        ):
            raise ValueError(
                f"thousands must be one of {', '.join(map(repr, _THOUSANDS))} and not the decimal "
                f"mark, got {self.thousands!r}"
            )
        if self.date_format is not None:
            require_date_format(self.date_format)
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, got {self.delimiter!r}")
        if not _is_text(self.encoding):
            raise ValueError(
                f"encoding must be a known one of text, such as latin-1, got {self.encoding!r}"
            )


class Position:
    """How far a file has been read, for its owner only."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = 0
        self.unfinished: int | None = None
        """The last line, if it is not a row because it has no line end."""

    def follow(self, file: IO[bytes]) -> None:
        """Measure the progress of an open file."""
        self._file, self._size = file, os.fstat(file.fileno()).st_size

    @property
    def fraction(self) -> float | None:
        """Return the fraction of bytes that were read; None if it is unknown."""
        if self._file is None or not self._size:
            return None
        return 1.0 if self._file.closed else self._file.tell() / self._size


Row = tuple[int, Sequence[Any] | BadRow]
"""The number of the line, and the values of the requested columns."""


def rows(
    source: str,
    needed: Sequence[str],
    form: Form,
    standard_input: IO[bytes],
    position: Position | None = None,
    always: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield the rows of a file or a pipe (``-``); reject a source without rows at once.

    Args:
        source: The file, or ``-``.
        needed: The columns whose values are read.
        form: How the source is written.
        standard_input: What ``-`` reads.
        position: Updated with the progress.
        always: Names that the first line of JSON lines from a pipe must have.
    """
    if source == "-":
        lines = _ended(_text(standard_input, form), form, position)
        return _piped(lines, needed, form, always)
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if is_live(source):
        return _piped(_lines(path, form, position), needed, form, always)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.suffix == ".parquet":
        return _parquet(path, needed)
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise ValueError(
            f"file must end in .csv, .tsv, .jsonl (.gz, too) or .parquet, got {source!r}"
        )
    if kind == ".tsv" and form.delimiter is None:
        form = replace(form, delimiter="\t")
    if kind in (".csv", ".tsv"):  # the header is read at once
        return _csv(_lines(path, form, position), needed, form)
    with closing(_lines(path, form)) as lines:  # checked before anything is created
        _refuse_absent(lines, needed)
    return json_lines(_lines(path, form, position), needed)


def is_live(source: str) -> bool:
    """Return whether rows arrive live and once: from standard input or a named pipe."""
    return source == "-" or Path(source).is_fifo()


def header(source: str, form: Form) -> list[str]:
    """Return the names of the columns of a file; of JSON lines, those in its first rows."""
    return dialect_of(source, [], form)[1]


def dialect_of(source: str, needed: Sequence[str], form: Form) -> tuple[str | None, list[str]]:
    """Return the delimiter of a CSV, by its header, and the names of the columns."""
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if path.suffix == ".parquet":
        return None, _parquet_names(path)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise ValueError(
            f"file must end in .csv, .tsv, .jsonl (.gz, too) or .parquet, got {source!r}"
        )
    if kind == ".tsv" and form.delimiter is None:
        form = replace(form, delimiter="\t")
    with closing(_lines(path, form)) as lines:
        if kind in (".csv", ".tsv"):
            return _dialect(next(lines, ""), needed, form)
        names = _nested_names(islice(lines, _LOOKED_AT))
    if not names:
        raise ValueError(f"the first rows of {source!r} have no names")
    return None, names


def has_header(source: str) -> bool:
    """Return whether the names of the columns are written once, not in each row."""
    return not source.removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def column_kinds(source: str) -> dict[str, str]:
    """Return what the columns of a Parquet file hold by declaration: numbers, dates or text."""
    if not source.endswith(".parquet"):
        return {}
    _parquet_names(Path(source))
    from pyarrow import parquet, types  # noqa: PLC0415

    found, numbers = {}, (types.is_integer, types.is_floating, types.is_decimal)
    for column in parquet.read_schema(source):
        if types.is_temporal(column.type):
            found[column.name] = "date"
        elif any(fits(column.type) for fits in numbers):
            found[column.name] = "number"
        else:
            found[column.name] = "text"
    return found


def _nested_names(lines: Iterable[str]) -> list[str]:
    """Return the names in lines of JSON, dotted where objects are nested, in order."""
    found: dict[str, None] = {}

    def walk(row: dict[str, Any], before: str) -> None:
        for key, value in row.items():
            if isinstance(value, dict) and value:
                walk(value, f"{before}{key}.")
            else:
                found[f"{before}{key}"] = None

    for line in lines:
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
            if isinstance(row, dict):
                walk(row, "")
    return list(found)


def _lines(path: Path, form: Form, position: Position | None = None) -> Generator[str, None, None]:
    file = path.open("rb")
    if position is not None and path.is_file():
        position.follow(file)
    opened: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
    with file, opened, closing(_text(opened, form)) as lines:
        try:
            yield from _ended(lines, form, position)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise ValueError(f"{path} is damaged: {problem}") from None


def _ended(lines: Iterable[str], form: Form, position: Position | None) -> Iterator[str]:
    """Yield lines that have a line end: ``1,4`` may be the beginning of ``1,42``."""
    if form.complete:
        yield from lines
        return
    for number, line in enumerate(lines, start=1):
        if line.endswith("\n"):
            yield line
        elif position is not None:
            position.unfinished = number


def _text(stream: IO[bytes], form: Form) -> IO[str] | Generator[str, None, None]:
    """Return lines, which end in a line feed only; undecodable bytes stay in their value.

    Some encodings have states (ISO-2022-JP, UTF-7, HZ): one row could change how the rows after it
    are read, or swallow its line end. So each line is decoded by itself, unless the encoding writes
    every character on its own.
    """
    name = codecs.lookup(form.encoding).name
    errors = "surrogateescape" if name.startswith("utf-8") else "replace"
    if name.startswith(_UNICODE) or "\n".encode(name) != b"\n":
        return io.TextIOWrapper(stream, encoding=name, errors=errors, newline="\n")
    return (
        line.removesuffix(b"\n").decode(name, errors) + "\n" * line.endswith(b"\n")
        for line in stream
    )


def _is_text(encoding: str) -> bool:
    """Return whether it can be read line by line: Punycode writes a text as a whole."""
    try:
        ends = "\n".encode(encoding)
        ends.decode(encoding, "replace")
    except (LookupError, ValueError):
        return False
    return len(ends) == 1 or codecs.lookup(encoding).name.startswith(_UNICODE)


def _piped(
    lines: Iterable[str], needed: Sequence[str], form: Form, named: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield rows of JSON lines if the first line begins with a brace, and of CSV otherwise."""
    stream = iter(lines)
    first = next(stream, "")
    whole = chain([first], stream)
    if first.lstrip().startswith("{"):
        _refuse_absent([first], named)
        return json_lines(whole, needed)
    return _csv(whole, needed, form)


def json_lines(lines: Iterable[str], needed: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of lines that hold a JSON object each; skip blank lines.

    A name with dots is a key with that spelling, or leads into nested objects.
    """
    plain = {name for name in needed if "." not in name}
    for line, text in enumerate(lines, start=1):
        if text.isspace():
            continue
        try:
            row = json.loads(text)
        except json.JSONDecodeError as problem:
            yield line, BadRow(line, "not a whole line of JSON", got=problem.msg)
        except (ValueError, RecursionError):
            yield line, BadRow(line, "JSON with too long a number or too many brackets")
        else:
            if isinstance(row, dict):
                yield (
                    line,
                    [row.get(name) if name in plain else _inside(row, name) for name in needed],
                )
            else:
                yield line, BadRow(line, "not a JSON object")


def _inside(row: Any, path: str) -> Any:
    """Return the value at a dotted path; None if there is none."""
    if path in row:
        return row[path]
    for key in path.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _refuse_absent(lines: Iterable[str], needed: Sequence[str]) -> None:
    """Reject a name that none of the first rows has: JSON lines have no header."""
    seen = list(islice(lines, _LOOKED_AT))
    names = _nested_names(seen)
    there = {name.rsplit(".", cut)[0] for name in names for cut in range(name.count(".") + 1)}
    absent = [name for name in needed if name not in there]
    if names and absent:
        last, first = absent[0].rpartition(".")[2], absent[0].partition(".")[0]
        near = [name for name in names if name.rpartition(".")[2] == last]
        near = near or [name for name in names if name.partition(".")[0] == first] or names
        raise ValueError(
            f"there is no {absent[0]!r} in the first {len(seen)} rows; there are: "
            f"{', '.join(map(shown, near[:50]))}"
        )


def _csv(lines: Iterable[str], needed: Sequence[str], form: Form) -> Iterator[Row]:
    stream = enumerate(lines, start=1)
    if not form.header:
        wrong = [name for name in needed if not name.isdecimal() or not int(name)]
        if wrong:
            raise ValueError(f"without a header columns are named 1, 2, …, got {wrong[0]!r}")
        return _csv_rows(stream, form.delimiter or ",", None, [int(name) - 1 for name in needed])
    header = next(stream, (1, ""))[1]
    if not header.strip():
        whole = "" if form.complete else " that ends (--complete if nothing follows it)"
        raise ValueError(
            f"the CSV has no header line{whole} (--no-header if its first line is a row)"
        )
    delimiter, names = _dialect(header, needed, form)
    return _csv_rows(stream, delimiter, len(names), [names.index(name) for name in needed])


def _dialect(header: str, needed: Sequence[str], form: Form) -> tuple[str, list[str]]:
    """Return the delimiter and the names of the columns; each needed one must occur once."""
    found = {}
    for delimiter in (form.delimiter,) if form.delimiter else DELIMITERS:
        try:
            found[delimiter] = [name.strip() for name in _split(header, delimiter)]
        except csv.Error as problem:
            raise ValueError(f"the header is not a line of CSV: {problem}") from None
    delimiter = max(found, key=lambda each: (len({*needed} & {*found[each]}), len(found[each])))
    names = found[delimiter]
    if any("\ud800" <= letter <= "\udfff" for letter in header):
        raise ValueError("the header is not UTF-8: give --encoding, for instance latin-1")
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(
            f"there is no column {missing[0]!r}; there are: {', '.join(map(shown, names[:50]))} "
            f"(--no-header if these are values, --delimiter if they are in one)"
        )
    _refuse_twice(names, needed)
    return delimiter, names


def _refuse_twice(names: Sequence[str], needed: Sequence[str]) -> None:
    twice = [name for name in needed if names.count(name) > 1]
    if twice:
        raise ValueError(f"column {twice[0]!r} must occur once, got {names.count(twice[0])}")


def _split(text: str, delimiter: str) -> list[str]:
    text = text.rstrip("\r\n")
    if '"' not in text:
        return text.split(delimiter)
    return next(csv.reader([text], delimiter=delimiter, strict=True))


def _csv_rows(
    stream: Iterable[tuple[int, str]], delimiter: str, width: int | None, places: Sequence[int]
) -> Iterator[Row]:
    """Yield rows; without a header a row needs only the requested values."""
    least = max(places) + 1
    chosen = itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)
    for line, text in stream:
        bare = text.rstrip("\r\n")
        if '"' not in bare:
            values = bare.split(delimiter)
        else:
            try:
                values = _split(bare, delimiter)
            except csv.Error as problem:
                yield line, BadRow(line, "not a line of CSV (a row is one line)", got=str(problem))
                continue
        if len(values) == width or (width is None and len(values) >= least and bare):
            yield line, chosen(values)
        elif bare:
            yield line, BadRow(line, f"not {width or least} values", got=str(len(values)))


def _parquet_names(path: Path) -> list[str]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError:
        raise ValueError(
            "reading Parquet needs pyarrow: pip install 'littlestone[parquet]'"
        ) from None
    try:
        return list(parquet.read_schema(path).names)
    except ArrowException as problem:
        raise ValueError(f"{path} is not a Parquet file: {problem}") from None


def _parquet(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    names = _parquet_names(path)
    from pyarrow import ArrowException, parquet  # noqa: PLC0415

    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; there are: {', '.join(names)}")
    _refuse_twice(names, needed)
    batches = parquet.ParquetFile(path).iter_batches(columns=list(dict.fromkeys(needed)))
    return enumerate(_parquet_rows(path, batches, needed, ArrowException), start=1)


def _parquet_rows(
    path: Path, batches: Any, needed: Sequence[str], trouble: type[Exception]
) -> Iterator[Sequence[Any]]:
    try:
        for batch in batches:
            columns = [_values(batch.column(name)) for name in needed]
            yield from zip(*columns, strict=True)
    except trouble as problem:
        raise ValueError(f"{path} is damaged: {problem}") from None


class Unreadable:
    """Stands for a value that Python cannot hold: a date past the year 9999, bytes in a text."""

    def __repr__(self) -> str:
        return "a value that Python cannot hold"

    def __str__(self) -> str:
        raise ValueError("this value cannot be written down")  # for example as an id


def _values(column: Any) -> list[Any]:
    """Return the values of a column; one that Python cannot hold does not affect the others."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        return [_value(scalar) for scalar in column]
    return values


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return Unreadable()
