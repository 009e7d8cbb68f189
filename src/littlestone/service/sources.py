"""Rows out of files and pipes: one row for each line, whatever a line holds.

What a row is must not depend on any other row: a stray quote that swallowed the lines after it
would let one record change many rounds. So a line is a row, and the dialect of a CSV is a function
of its header and of what is declared, never of its rows.
"""

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Final

DELIMITERS: Final = (",", ";", "\t", "|")
_LOOKED_AT: Final = 1000
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that does not fit, and why; local information, never published.

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
    """As much of a value as fits into a message, without anything that a terminal obeys."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with too many digits, a list in a list in …
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a source is written. Without ``delimiter`` the one that the header's names fit.

    Unless it is ``complete``, a last line without a line end is no row: it may be half-written.
    """

    delimiter: str | None = None
    encoding: str = "utf-8-sig"
    header: bool = True
    complete: bool = True

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, got {self.delimiter!r}")
        try:
            "".encode(self.encoding)
        except LookupError:
            raise ValueError(f"there is no encoding {self.encoding!r}") from None


class Position:
    """How far a file has been read; for the owner's eyes."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = 0
        self.unfinished: int | None = None
        """The last line, if that is no row because it has no line end."""

    def follow(self, file: IO[bytes]) -> None:
        self._file, self._size = file, os.fstat(file.fileno()).st_size

    @property
    def fraction(self) -> float | None:
        """The part of its bytes that was read; None where that is not known."""
        if self._file is None or not self._size:
            return None
        return 1.0 if self._file.closed else self._file.tell() / self._size


Row = tuple[int, Sequence[Any] | BadRow]
"""The number of the line, and the values of the columns that were asked for."""


def rows(
    source: str,
    needed: Sequence[str],
    form: Form,
    standard_input: IO[bytes],
    position: Position | None = None,
) -> Iterator[Row]:
    """The rows of a file, or of a pipe (``-``); what has no rows is refused at once."""
    if source == "-":
        return _piped(_ended(_text(standard_input, form), form, position), needed, form)
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if is_live(source):
        return _piped(_lines(path, form, position), needed, form)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.suffix == ".parquet":
        return _parquet(path, needed)
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise ValueError(
            f"file must end in .csv, .tsv, .jsonl (.gz, too) or .parquet, got {source!r}"
        )
    if kind == ".tsv" and form.delimiter is None:
        form = replace(form, delimiter="\t")
    if kind in (".csv", ".tsv"):  # whose header is read at once
        return _csv(_lines(path, form, position), needed, form)
    with closing(_lines(path, form)) as lines:  # looked at before anything is created
        _refuse_absent(lines, needed)
    return json_lines(_lines(path, form, position), needed)


def is_live(source: str) -> bool:
    """Whether rows come as they are made, and once: from standard input or a pipe with a name."""
    return source == "-" or Path(source).is_fifo()


def header(source: str, form: Form) -> list[str]:
    """The names of the columns of a file, and nothing else of it."""
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if path.suffix == ".parquet":
        return _parquet_names(path)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in (".csv", ".tsv"):
        raise ValueError(
            f"file must have a header: .csv, .tsv (.gz, too) or .parquet, got {source!r}"
        )
    if kind == ".tsv" and form.delimiter is None:
        form = replace(form, delimiter="\t")
    with closing(_lines(path, form)) as lines:
        return _dialect(next(lines, ""), [], form)[1]


def _lines(path: Path, form: Form, position: Position | None = None) -> Generator[str, None, None]:
    file = path.open("rb")
    if position is not None and path.is_file():
        position.follow(file)
    opened: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
    with file, opened, _text(opened, form) as lines:
        try:
            yield from _ended(lines, form, position)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise ValueError(f"{path} is damaged: {problem}") from None


def _ended(lines: IO[str], form: Form, position: Position | None) -> Iterator[str]:
    """A line counts when its end is there: of ``1,42`` somebody may have written ``1,4`` so far."""
    if form.complete:
        yield from lines
        return
    for number, line in enumerate(lines, start=1):
        if line.endswith("\n"):
            yield line
        elif position is not None:
            position.unfinished = number


def _text(stream: IO[bytes], form: Form) -> IO[str]:
    """Lines end in a line feed only; bytes that are no text stay in the value they are in."""
    errors = "surrogateescape" if form.encoding.lower().startswith("utf-8") else "replace"
    return io.TextIOWrapper(stream, encoding=form.encoding, errors=errors, newline="\n")


def _piped(lines: Iterable[str], needed: Sequence[str], form: Form) -> Iterator[Row]:
    """JSON lines if the first line begins with a brace, and CSV otherwise."""
    stream = iter(lines)
    first = next(stream, "")
    whole = chain([first], stream)
    if first.lstrip().startswith("{"):
        return json_lines(whole, needed)
    return _csv(whole, needed, form)


def json_lines(lines: Iterable[str], needed: Sequence[str]) -> Iterator[Row]:
    """The rows of lines that hold a JSON object each; lines of blanks are none."""
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
                yield line, [row.get(name) for name in needed]
            else:
                yield line, BadRow(line, "not a JSON object")


def _refuse_absent(lines: Iterable[str], needed: Sequence[str]) -> None:
    """JSON lines have no header: a name that none of the first rows has is taken for mistyped."""
    found, looked = set[str](), 0
    for looked, (_, row) in enumerate(json_lines(lines, needed), start=1):
        if not isinstance(row, BadRow):
            found |= {name for name, value in zip(needed, row, strict=True) if value is not None}
        if looked >= _LOOKED_AT or len(found) == len(set(needed)):
            return
    absent = [name for name in needed if name not in found]
    if looked and found and absent:
        raise ValueError(f"there is no {absent[0]!r} in the first {looked} rows")


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
        raise ValueError(f"the CSV has no header line{whole} (--no-header if it has rows at once)")
    delimiter, names = _dialect(header, needed, form)
    return _csv_rows(stream, delimiter, len(names), [names.index(name) for name in needed])


def _dialect(header: str, needed: Sequence[str], form: Form) -> tuple[str, list[str]]:
    """The delimiter, and the names of the columns, which must be there, once."""
    found = {}
    for delimiter in (form.delimiter,) if form.delimiter else DELIMITERS:
        try:
            found[delimiter] = [name.strip() for name in _split(header, delimiter)]
        except csv.Error as problem:
            raise ValueError(f"the header is not a line of CSV: {problem}") from None
    delimiter = max(found, key=lambda each: (len({*needed} & {*found[each]}), len(found[each])))
    names = found[delimiter]
    if any("\ud800" <= letter <= "\udfff" for letter in header):
        raise ValueError("the header is not UTF-8: say --encoding, for instance latin-1")
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(
            f"there is no column {missing[0]!r}; there are: {', '.join(map(shown, names[:50]))} "
            f"(--no-header if these are values, --delimiter if they are in one)"
        )
    twice = [name for name in needed if names.count(name) > 1]
    if twice:
        raise ValueError(f"column {twice[0]!r} must be there once, got {names.count(twice[0])}")
    return delimiter, names


def _split(text: str, delimiter: str) -> list[str]:
    text = text.rstrip("\r\n")
    if '"' not in text:
        return text.split(delimiter)
    return next(csv.reader([text], delimiter=delimiter, strict=True))


def _csv_rows(
    stream: Iterable[tuple[int, str]], delimiter: str, width: int | None, places: Sequence[int]
) -> Iterator[Row]:
    """Without a header no row says how many values there are: those asked for are enough."""
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
    """In place of a value that Python cannot hold: a date past the year 9999, bytes in a text."""

    def __repr__(self) -> str:
        return "a value that Python cannot hold"

    def __str__(self) -> str:
        raise ValueError("this value cannot be written down")  # as an id, for one


def _values(column: Any) -> list[Any]:
    """The values of a column; one that Python cannot hold takes no other with it."""
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
