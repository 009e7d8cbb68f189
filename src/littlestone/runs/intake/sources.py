"""Read rows from files and pipes: one row per line, whatever a line holds."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final

from littlestone.runs.intake.form import BadRow, Form, Row, shown
from littlestone.runs.intake.lines import Position, csv_rows, decoded, ended, header_of, lines_of
from littlestone.runs.intake.parquet_rows import parquet_names, parquet_rows

_CSV: Final = (".csv", ".tsv", ".txt")
_JSON: Final = (".jsonl", ".ndjson")
_SHEET: Final = "save the sheet as CSV (UTF-8)"
_ARROW: Final = (
    "write it as Parquet: python3 -c 'import sys; from pyarrow import feather, parquet; "
    "parquet.write_table(feather.read_table(sys.argv[1]), sys.argv[2])' {path} {stem}.parquet"
)
_INSTEAD: Final = {
    ".json": "write one object per line: python3 -c 'import json, sys; "
    "[print(json.dumps(row)) for row in json.load(sys.stdin){key}]' < {path} > {stem}.jsonl",
    **dict.fromkeys((".zip", ".bz2", ".xz", ".zst", ".7z"), "unpack it first"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _SHEET),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), _ARROW),
}
_MAGIC: Final = {
    b"\x1f\x8b": "is compressed by gzip: add .gz to its name",
    b"PAR1": "is a Parquet file: its name must end in .parquet",
    b"PK\x03\x04": f"is a spreadsheet or an archive: {_SHEET}, or unpack it",
    b"ARROW1": "is an Arrow file: rename it to .arrow",
}
_LOOKED_AT: Final = 1000
_BEGINNING: Final = 1 << 20


def rows(
    source: str,
    needed: Sequence[str],
    form: Form,
    standard_input: IO[bytes],
    position: Position | None = None,
    always: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield the rows of a file or a pipe (``-``); reject a source without rows at once.

    The values are those of the ``needed`` columns. The first line of JSON lines from a pipe must
    have the names ``always``.
    """
    if source == "-":
        lines = ended(decoded(standard_input, form), form, position)
        return _piped(lines, needed, form, always)
    path = _existing(source)
    if is_live(source):
        return _piped(lines_of(path, form, position), needed, form, always)
    if path.suffix == ".parquet":
        return parquet_rows(path, needed)
    kind, form = _kind(path, form)
    if kind in _CSV:  # the header is read at once
        return csv_rows(lines_of(path, form, position), needed, form, ahead=True)
    with closing(lines_of(path, form)) as lines:  # checked before anything is created
        _refuse_absent(lines, needed)
    return json_lines(lines_of(path, form, position), needed)


def is_live(source: str) -> bool:
    """Return whether rows arrive live and once: from standard input or a named pipe."""
    return source == "-" or Path(source).is_fifo()


def header(source: str, form: Form) -> list[str]:
    """Return the names of the columns of a file; of JSON lines, those in its first rows."""
    return dialect_of(source, [], form)[1]


def dialect_of(source: str, needed: Sequence[str], form: Form) -> tuple[str | None, list[str]]:
    """Return the delimiter of a CSV, by its header, and the names of the columns."""
    path = _existing(source)
    if path.suffix == ".parquet":
        return None, parquet_names(path)
    kind, form = _kind(path, form)
    with closing(lines_of(path, form)) as lines:
        if kind in _CSV:
            numbered = islice(enumerate(lines, start=1), form.skip, None)
            return header_of(numbered, needed, form, ahead=True)
        names = _nested_names(islice(lines, _LOOKED_AT))
    if not names:
        raise ValueError(f"the first rows of {source!r} have no names")
    return None, names


def _existing(source: str) -> Path:
    path = Path(source)
    if not path.exists():
        raise ValueError(f"there is no file {source!r}")
    if path.is_dir():
        raise ValueError(f"{source!r} is a folder; give one of its files")
    return path


def _kind(path: Path, form: Form) -> tuple[str, Form]:
    """Return the kind of a text file by its name, and its form; refuse another kind of file."""
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in (*_CSV, *_JSON):
        names = {"path": shlex.quote(str(path)), "stem": shlex.quote(str(path.with_suffix("")))}
        instead = _INSTEAD.get(path.suffix.lower(), "rename it if it is one of these").format(
            **names, key=_key_of_rows(path)
        )
        raise ValueError(
            f"file must end in .csv, .tsv, .txt, .jsonl (.gz, too) or .parquet, got {str(path)!r}: "
            f"{instead}"
        )
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise ValueError(f"{path} is empty")
    is_packed = path.suffix == ".gz"
    for magic, instead in _MAGIC.items():
        if start.startswith(magic) and not is_packed:
            raise ValueError(f"{path} {instead}")
    if is_packed and not start.startswith(b"\x1f\x8b"):
        raise ValueError(f"{path} is not compressed by gzip: drop .gz from its name")
    if kind == ".tsv" and form.delimiter is None:
        form = replace(form, delimiter="\t")
    return kind, form


def _key_of_rows(path: Path) -> str:
    """Return the index of the first list in a file of JSON that is an object, else nothing."""
    with path.open("rb") as file:
        start = file.read(_BEGINNING).decode("utf-8", "replace")
    key = re.search(r'"(\w+)"\s*:\s*\[', start) if start.lstrip().startswith("{") else None
    return "" if key is None else f'["{key[1]}"]'


def has_header(source: str) -> bool:
    """Return whether the names of the columns are written once, not in each row."""
    return not source.removesuffix(".gz").endswith(_JSON)


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
    return csv_rows(whole, needed, form)


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
