"""Rows become labelled events; a row that does not fit is named, with what it would stand for.

Each row becomes its event by a rule that looks at this row and at what was declared, and at no
other row. Over a schema every row has an event: a value that is missing or unknown counts as the
field's stand-in, a label that cannot be read as 0. So files that differ in one row give streams
that differ in one round, and a promise about streams is one about files.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import IO, Any, Final

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass, Domain
from littlestone.concepts.schema import Category, Cells, Numeric
from littlestone.service.durable import Event
from littlestone.service.sources import BadRow, Form, Row, rows, shown

TRUE: Final = ("1", "1.0", "true", "yes")
FALSE: Final = ("0", "0.0", "false", "no")
_LABELS: Final = dict.fromkeys(TRUE, 1) | dict.fromkeys(FALSE, 0)
_EXACT: Final = 2**53  # a float of this size or more may stand for several whole numbers
_MOST_DIGITS: Final = 4000  # 1e999999999 is short to write and fills the memory
_REMEMBERED: Final = 10_000
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns hold what. Without ``identity`` an event is a line of the ``origin``, a name.

    ``positive`` is the label that counts as 1, and every other as 0; without it labels are 0 or 1.
    """

    label: str
    feature: str | None = None
    identity: str | None = None
    positive: str | None = None
    origin: str = ""

    def line_name(self, line: int) -> str:
        return f"{self.origin} line {line}" if self.origin else f"line {line}"


class _MisfitError(ValueError):
    """A value does not fit its column."""

    def __init__(self, field: str, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.field, self.reason = field, reason
        self.got = "" if value is None else shown(value)


PointReader = Callable[[Sequence[Any]], tuple[Any, Any, _MisfitError | None]]
"""The point as it is stored, its canonical form, and what a stand-in was needed for."""


def read(
    source: str,
    concepts: ConceptClass,
    columns: Columns,
    *,
    standard_input: IO[bytes],
    form: Form | None = None,
) -> Iterator[Event | BadRow]:
    """The events of a file (``.csv``, ``.tsv``, ``.jsonl``, ``.gz``, ``.parquet``) or pipe (``-``).

    A pipe holds JSON lines if its first line begins with a brace, and CSV otherwise. A source that
    cannot be read, or lacks a column, is refused at once; rows are read as they are asked for.
    """
    points = _points(concepts.domain, columns)
    needed = needed_columns(concepts, columns)
    found = rows(source, needed, form or Form(), standard_input)
    return _events(found, points, columns, _stand_in(concepts.domain))


def needed_columns(concepts: ConceptClass, columns: Columns) -> list[str]:
    """The columns without which no row can be taken: the label, the id, those of the point."""
    domain = concepts.domain
    points = [part.name for part in domain.fields] if isinstance(domain, Records) else []
    named = (columns.label, columns.identity, *points, columns.feature)
    return [name for name in named if name is not None]


def _events(
    found: Iterator[Row], points: PointReader, columns: Columns, instead: Cells | None
) -> Iterator[Event | BadRow]:
    first = 1 if columns.identity is None else 2
    for line, row in found:
        if isinstance(row, BadRow):
            if instead is not None:
                identity = columns.line_name(line)
                row = replace(row, stand_in=Event(identity, instead, 0, line, (instead, 0)))
            yield row
            continue
        try:
            point, canonical, misfit = points(row[first:])
        except _MisfitError as problem:  # and there is nothing to put in its place
            yield BadRow(line, problem.reason, problem.field, problem.got)
            continue
        identity = columns.line_name(line)
        try:
            label = _label(row[0], columns)
        except _MisfitError as problem:
            label, misfit = 0, misfit or problem
        if first == 2:
            try:
                identity = _identity(row[1], columns)
            except _MisfitError as problem:
                misfit = misfit or problem
        event = Event(identity, point, label, line, (canonical, label))
        if misfit is None:
            yield event
        else:
            stand_in = None if instead is None else event
            yield BadRow(line, misfit.reason, misfit.field, misfit.got, stand_in)


def _label(value: Any, columns: Columns) -> int:
    if value is None or value == "":
        raise _MisfitError(columns.label, "is missing")
    if columns.positive is not None:
        return int(_words(value).strip() == columns.positive)
    label = _LABELS.get(value) if type(value) is str else None
    if label is None:
        label = _LABELS.get(_words(value).strip().lower())
    if label is None:
        raise _MisfitError(columns.label, "is neither 0 nor 1 (--positive says what is 1)", value)
    return label


def _words(value: Any) -> str:
    """A value as text, as it would stand in a CSV; nothing for what is no single value."""
    return str(value) if isinstance(value, str | int | float) else ""


def _identity(value: Any, columns: Columns) -> str:
    name = columns.identity or ""
    if value is None or value == "":
        raise _MisfitError(name, "is missing")
    try:
        text = str(value)
        text.encode()
    except (ValueError, RecursionError):
        raise _MisfitError(name, "cannot be written down", value) from None
    return text


def _stand_in(domain: Domain) -> Cells | None:
    """What a row counts as that cannot be read at all."""
    return tuple(part.stand_in for part in domain.fields) if isinstance(domain, Records) else None


def _points(domain: Domain, columns: Columns) -> PointReader:
    """How a row becomes a point of the class: a record, or the one feature column."""
    if isinstance(domain, Records):
        return _records([_cell_reader(part) for part in domain.fields])
    feature = columns.feature
    if feature is None:
        raise ValueError("feature must name the column of the point for this class (--feature)")
    whole = domain.size is not None

    def point(values: Sequence[Any]) -> tuple[Any, Any, None]:
        (value,) = values
        if value is None or value == "":
            raise _MisfitError(feature, "is missing")
        try:
            plain = _whole(value) if whole else _storable(value)
            return plain, domain.check(tuple(plain) if isinstance(plain, list) else plain), None
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            raise _MisfitError(feature, "is no point of the class", value) from None

    return point


CellReader = Callable[[Any], int]


def _records(readers: Sequence[tuple[CellReader, dict[str, int], int]]) -> PointReader:
    """Cells are what is stored, too: the store has no use for the values in them."""

    cells_of_texts = [known for _, known, _ in readers]

    def point(values: Sequence[Any]) -> tuple[Cells, Cells, _MisfitError | None]:
        try:  # most texts have come before
            record = tuple(
                [known[text] for text, known in zip(values, cells_of_texts, strict=True)]
            )
            return record, record, None
        except (KeyError, TypeError):
            return unknown(values)

    def unknown(values: Sequence[Any]) -> tuple[Cells, Cells, _MisfitError | None]:
        cells, misfit = [], None
        for value, (read_cell, known, instead) in zip(values, readers, strict=True):
            try:
                cell = read_cell(value)
                if type(value) is str and len(known) < _REMEMBERED:
                    known[value] = cell
            except _MisfitError as problem:
                cell, misfit = instead, misfit or problem
            cells.append(cell)
        record = tuple(cells)
        return record, record, misfit

    return point


def _cell_reader(part: Numeric | Category) -> tuple[CellReader, dict[str, int], int]:
    """How a value becomes a cell, the texts whose cell is known, and the cell of a stand-in."""
    numeric = isinstance(part, Numeric)

    def cell(value: Any) -> int:
        if value is None or value == "":
            raise _MisfitError(part.name, "is missing")
        try:
            return part.declared_cell(_number(value) if numeric else value)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            reason = "is not a number" if numeric else "is not one of the declared values"
            raise _MisfitError(part.name, reason, value) from None

    return cell, {}, part.stand_in


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    number = float(value)
    exact = -_EXACT < number < _EXACT or _WHOLE.fullmatch(value) is None
    return number if exact else int(value)


def _whole(value: Any) -> int:
    """The whole number that was written, all of its digits."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, float) and not abs(value) < _EXACT:
        raise ValueError("a float of this size may stand for several whole numbers")
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number != int(number):
        raise ValueError("a point of this class is a whole number")
    return int(number)


def _storable(value: Any) -> Any:
    """A point that can be written down, and published: half of a surrogate pair cannot."""
    json.dumps(value, ensure_ascii=False).encode()
    return value
