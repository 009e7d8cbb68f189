"""Read text lines from files and pipes, and rows from lines of CSV.

A row must not depend on any other row: a stray quote that swallowed the lines after it would let
one record change many rounds. So a line is a row, and the dialect of a CSV depends on its header
and the declarations, never on its rows.
"""

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice, starmap
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Final

from littlestone.runs.intake.form import UNICODE, BadRow, Form, Row, shown

DELIMITERS: Final = (",", ";", "\t", "|")
NOT_CSV: Final = "not a line of CSV (a row is one line)"
_LOOKED_AT: Final = 20
_AT_ONCE: Final = 256  # lines of a file that are split together


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


def lines_of(
    path: Path, form: Form, position: Position | None = None
) -> Generator[str, None, None]:
    """Yield the lines of a file that have a line end."""
    file = path.open("rb")
    if position is not None and path.is_file():
        position.follow(file)
    opened: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
    with file, opened, closing(decoded(opened, form)) as lines, _undamaged(path):
        yield from ended(lines, form, position)


def require_whole(path: Path) -> None:
    """Reject a compressed file that is cut off or damaged, by reading it to its end."""
    if path.suffix == ".gz":
        with _undamaged(path), gzip.open(path) as file:
            while file.read(1 << 20):
                pass


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise ValueError(f"{path} is damaged: {problem}; copy it again") from None


def ended(lines: Iterable[str], form: Form, position: Position | None) -> Iterator[str]:
    """Yield lines that have a line end: ``1,4`` may be the beginning of ``1,42``."""
    if form.complete:
        yield from lines
        return
    for number, line in enumerate(lines, start=1):
        if line.endswith("\n"):
            yield line
        elif position is not None:
            position.unfinished = number


def decoded(stream: IO[bytes], form: Form) -> IO[str] | Generator[str, None, None]:
    """Return lines, which end in a line feed only; undecodable bytes stay in their value.

    Some encodings have states (ISO-2022-JP, UTF-7, HZ): one row could change how the rows after it
    are read, or swallow its line end. So each line is decoded by itself, unless the encoding writes
    every character on its own.
    """
    name = codecs.lookup(form.encoding).name
    errors = "surrogateescape" if name.startswith("utf-8") else "replace"
    if name.startswith(UNICODE) or "\n".encode(name) != b"\n":
        return io.TextIOWrapper(stream, encoding=name, errors=errors, newline="\n")
    return (
        line.removesuffix(b"\n").decode(name, errors) + "\n" * line.endswith(b"\n")
        for line in stream
    )


def csv_rows(
    lines: Iterable[str], needed: Sequence[str], form: Form, *, ahead: bool = False
) -> Iterator[Row]:
    """Yield the needed values of each line; reject a header without their names at once.

    If the lines are all there, a better header is looked for ``ahead``.
    """
    stream = islice(enumerate(lines, start=1), form.skip, None)
    if not form.header:
        wrong = [name for name in needed if not name.isdecimal() or not int(name)]
        if wrong:
            raise ValueError(f"without a header columns are named 1, 2, …, got {wrong[0]!r}")
        places = [int(name) - 1 for name in needed]
        return _rows(stream, form.delimiter or ",", None, places, ahead)
    delimiter, names = header_of(stream, needed, form, ahead=ahead)
    places = [names.index(name) for name in needed]
    return _rows(stream, delimiter, len(names), places, ahead)


def header_of(
    stream: Iterator[tuple[int, str]], needed: Sequence[str], form: Form, *, ahead: bool
) -> tuple[str, list[str]]:
    """Read the header and return its delimiter and names; say which line has them instead."""
    header = next(stream, (1, ""))[1]
    if not header.strip():
        hint = "(--no-header if its first line is a row)"
        if not form.complete and not header:
            hint = "that ends (--complete if nothing follows it)"
        raise ValueError(f"the CSV has no header line {hint}")
    try:
        return dialect(header, needed, form)
    except ValueError as problem:
        below = _header_below(islice(stream, _LOOKED_AT if ahead else 0), needed, form)
        if below is None:
            raise
        raise ValueError(f"{problem}. Add --skip {below - 1}: line {below} has the names") from None


def _header_below(
    stream: Iterable[tuple[int, str]], needed: Sequence[str], form: Form
) -> int | None:
    """Return the first line that would be a header with the needed names."""
    for line, text in stream:
        with suppress(ValueError):
            dialect(text, needed, form)
            return line
    return None


def dialect(header: str, needed: Sequence[str], form: Form) -> tuple[str, list[str]]:
    """Return the delimiter and the names of the columns; each needed one must occur once."""
    _refuse_letters(header)
    found, problems = {}, []
    for delimiter in (form.delimiter,) if form.delimiter else DELIMITERS:
        try:
            found[delimiter] = [name.strip() for name in _split(header, delimiter)]
        except csv.Error as problem:  # a quoted name is followed by another delimiter
            problems.append(str(problem))
    if not any(len(names) > 1 for names in found.values()) and problems:
        raise ValueError(f"the header is not a line of CSV: {problems[0]}")
    delimiter = max(found, key=lambda each: (len({*needed} & {*found[each]}), len(found[each])))
    names = found[delimiter]
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(
            f"there is no column {missing[0]!r}; there are: {', '.join(map(shown, names[:50]))} "
            f"({_other_marks(header, missing[0])})"
        )
    refuse_twice(names, needed)
    return delimiter, names


def _other_marks(header: str, name: str) -> str:
    """Return what to do about a header whose names are not separated or quoted as usual."""
    if re.search(rf"'\s*{re.escape(name)}\s*'", header):
        return 'drop the single quotes, as in tr -d "\'" < old.csv > new.csv'
    if name in header.split() == header.strip().split(" "):
        return '--delimiter " " if one blank separates the names'
    if name in header.split():
        return "blanks separate the names: sed 's/^ *//; s/ *$//; s/  */,/g' old.txt > new.csv"
    return "--no-header if these are values, --delimiter if another character separates the names"


def _refuse_letters(header: str) -> None:
    """Reject a header in another encoding, or with carriage returns as line ends."""
    if "\x00" in header:
        mark = header.startswith(("\udcff\udcfe", "\udcfe\udcff"))
        raise ValueError(f"the text is not UTF-8: add --encoding utf-16{'' if mark else '-le'}")
    if any("\ud800" <= letter <= "\udfff" for letter in header):
        raise ValueError(
            "the header is not UTF-8: add --encoding cp1252 (Windows, Western Europe) or what the "
            "file was written in, such as cp1250, cp1251 or mac-roman"
        )
    if "\r" in header.rstrip("\r\n"):
        raise ValueError(
            "the lines end in carriage returns, without line feeds: write them with line feeds, "
            "as in tr '\\r' '\\n' < old.csv > new.csv"
        )


def refuse_twice(names: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a needed column whose name occurs twice."""
    twice = [name for name in needed if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"column {twice[0]!r} must occur once, got {names.count(twice[0])}: rename the others"
        )


def _split(text: str, delimiter: str) -> list[str]:
    text = text.rstrip("\r\n")
    if '"' not in text:
        return text.split(delimiter)
    return next(csv.reader([text], delimiter=delimiter, strict=True))


def _rows(
    stream: Iterator[tuple[int, str]],
    delimiter: str,
    width: int | None,
    places: Sequence[int],
    ahead: bool,
) -> Iterator[Row]:
    """Yield rows; without a header a row needs only the requested values.

    Where the lines are all there (``ahead``), many are split together if all are plain rows of the
    usual width.
    """
    least = max(places) + 1
    chosen = itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)

    def row(line: int, text: str) -> Row | None:
        bare = text.rstrip("\r\n")
        try:
            values = _split(bare, delimiter)
        except csv.Error as problem:
            return line, BadRow(line, NOT_CSV, got=str(problem))
        if len(values) == width or (width is None and len(values) >= least and bare):
            return line, chosen(values)
        if not bare:
            return None
        return line, BadRow(line, f"not {width or least} values", got=str(len(values)))

    while ahead and (some := list(islice(stream, _AT_ONCE))):
        lines, texts = zip(*some, strict=True)
        found = [text.rstrip("\r\n").split(delimiter) for text in texts]
        if '"' not in "".join(texts) and set(map(len, found)) == {width}:
            yield from zip(lines, map(chosen, found), strict=True)
        else:
            yield from filter(None, starmap(row, some))
    yield from filter(None, starmap(row, stream))
