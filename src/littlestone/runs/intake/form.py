"""How a source is written, and a row that does not fit."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from littlestone import require, type_checks
from littlestone.concepts.records.dates import require_date_format

UNICODE: Final = ("utf-8", "utf-16", "utf-32")
_THOUSANDS: Final = (",", ".", "'", "’", " ")
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
    return type_checks.shown(value, most=_SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a source is written: public values that its owner declares.

    Args:
        delimiter: The separator of a CSV; by default the one that fits the header.
        encoding: The encoding of the text.
        header: Whether the first line of a CSV has the names of the columns.
        complete: Whether a last line without a line end is a row. It may be half-written.
        decimal: The decimal mark of numbers in text.
        thousands: What may separate groups of digits before it; a space is any space.
        date_format: How dates in text are written, as for ``datetime.strptime``; by default ISO
            8601. ``unix`` and ``unix-ms`` are seconds and milliseconds since 1970, ``excel`` is
            the number of days that spreadsheets store.
        units: What may stand before or after a number, separated by blanks, as in ``€ %``.
        skip: How many lines of a CSV come before its header.
    """

    delimiter: str | None = None
    encoding: str = "utf-8-sig"
    header: bool = True
    complete: bool = True
    decimal: str = "."
    thousands: str | None = None
    date_format: str | None = None
    units: str = ""
    skip: int = 0

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
                f"encoding must be a known text encoding, such as latin-1, got {self.encoding!r}"
            )
        if any(letter.isdigit() or letter in "+-" for letter in self.units):
            raise ValueError(f"units must hold neither digits nor signs, got {self.units!r}")
        require.integer(skip=self.skip, at_least=0)


def _is_text(encoding: str) -> bool:
    """Return whether it can be read line by line: Punycode writes a text as a whole."""
    try:
        ends = "\n".encode(encoding)
        ends.decode(encoding, "replace")
    except (LookupError, ValueError):
        return False
    return len(ends) == 1 or codecs.lookup(encoding).name.startswith(UNICODE)


Row = tuple[int, Sequence[Any] | BadRow]
"""The number of the line, and the values of the requested columns."""
