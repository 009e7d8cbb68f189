"""Rows become labelled events; a row that does not fit is named, with what it would stand for.

Each row becomes its event by a rule that looks at this row and at what was declared, and at no
other row. Over a schema every row has an event: a value that is missing or unknown counts as the
field's stand-in, a label that cannot be read as 0. So files that differ in one row give streams
that differ in one round, and a promise about streams is one about files.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import chain, islice, repeat
from typing import IO, Any, Final

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass, Domain, Point
from littlestone.concepts.records.columns import EXACT, exact_number
from littlestone.concepts.schema import Cells
from littlestone.service.cells import WHOLE, CellReader, Misfit
from littlestone.service.log.intake import Event
from littlestone.service.promises.users import NAMELESS, canonical_user
from littlestone.service.sources import BadRow, Form, Position, Row, is_live, rows

TRUE: Final = ("1", "1.0", "true", "yes")
FALSE: Final = ("0", "0.0", "false", "no")
_LABELS: Final = dict.fromkeys(TRUE, 1) | dict.fromkeys(FALSE, 0)
_BITS: Final = {0: 0, 1: 1}
_AT_ONCE: Final = 512
_FEW: Final = 16
_MOST_DIGITS: Final = 4000  # 1e999999999 is short to write and fills the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns hold what. Without ``identity`` an event is a line of the ``origin``, a name.

    ``positive`` is the label that counts as 1, and every other as 0; without it labels are 0 or 1.
    ``user`` says whose a row is, where the rows of each are counted.
    """

    label: str
    feature: str | None = None
    identity: str | None = None
    positive: str | None = None
    user: str | None = None
    origin: str = ""

    def line_name(self, line: int) -> str:
        return f"{self.origin} line {line}" if self.origin else f"line {line}"


PointReader = Callable[[Sequence[Any]], tuple[Any, Any, Misfit | None]]
"""The point as it is stored, its canonical form, and what a stand-in was needed for."""


def read(
    source: str,
    concepts: ConceptClass,
    columns: Columns,
    *,
    standard_input: IO[bytes],
    form: Form | None = None,
    position: Position | None = None,
) -> Iterator[Event | BadRow]:
    """The events of a file (``.csv``, ``.tsv``, ``.jsonl``, ``.gz``, ``.parquet``) or pipe (``-``).

    A pipe, with a name or not, holds JSON lines if its first line begins with a brace, and CSV
    otherwise. A source that cannot be read, or lacks a column, is refused at once; rows are read as
    they are asked for.
    """
    needed = needed_columns(concepts, columns)
    found = rows(source, needed, form or Form(), standard_input, position)
    return events_of(found, concepts, columns, at_once=not is_live(source))


def events_of(
    found: Iterator[Row], concepts: ConceptClass, columns: Columns, *, at_once: bool
) -> Iterator[Event | BadRow]:
    """The events of rows that have the needed columns, in their order."""
    return event_reader(concepts, columns, at_once=at_once)(found)


def event_reader(
    concepts: ConceptClass, columns: Columns, *, at_once: bool
) -> Callable[[Iterator[Row]], Iterator[Event | BadRow]]:
    """How rows become events, for whoever has many small sources.

    ``at_once`` reads many records at a time; rows of a pipe would wait for the rest of a chunk.
    """
    points = point_reader(concepts.domain, columns.feature)
    singly = partial(_events, points=points, columns=columns, instead=_stand_in(concepts.domain))
    if not at_once or not isinstance(concepts.domain, Records):
        return singly
    reader = _columns_reader(concepts.domain, columns)

    def many(found: Iterator[Row]) -> Iterator[Event | BadRow]:
        chunks = iter(lambda: list(islice(found, _AT_ONCE)), [])
        return chain.from_iterable(_bulk(chunk, reader, singly) for chunk in chunks)

    return many


def read_points(
    source: str,
    domain: Domain,
    *,
    feature: str | None = None,
    kept: str | None = None,
    standard_input: IO[bytes],
    form: Form | None = None,
) -> Iterator[tuple[int, Any, Point | None, Misfit | None]]:
    """Rows without labels: the line, the value of the column ``kept``, the point, what is odd.

    Over a schema every row has a point, with stand-ins where an event has them.
    """
    columns = Columns(label="", feature=feature)
    points, instead = point_reader(domain, feature), _stand_in(domain)
    needed = [*([] if kept is None else [kept]), *_point_columns(domain, columns)]
    for line, row in rows(source, needed, form or Form(), standard_input):
        if isinstance(row, BadRow):
            yield line, None, instead, Misfit("", str(row))
            continue
        name = None if kept is None else row[0]
        try:
            _, canonical, misfit = points(row[kept is not None :])
        except Misfit as problem:
            canonical, misfit = None, problem
        yield line, name, canonical, misfit


def needed_columns(concepts: ConceptClass, columns: Columns) -> list[str]:
    """The columns without which no row can be taken: the label, the id, those of the point."""
    named = (columns.label, columns.identity, columns.user)
    points = _point_columns(concepts.domain, columns)
    return [*(name for name in named if name is not None), *points]


def _point_columns(domain: Domain, columns: Columns) -> list[str]:
    points = [part.column for part in domain.fields] if isinstance(domain, Records) else []
    return points if columns.feature is None else [*points, columns.feature]


def _events(
    found: Iterable[Row], points: PointReader, columns: Columns, instead: Cells | None
) -> Iterator[Event | BadRow]:
    named, owned = columns.identity is not None, columns.user is not None
    first = 1 + named + owned
    nobody = NAMELESS if owned else None
    for line, row in found:
        if isinstance(row, BadRow):
            if instead is not None:
                identity = columns.line_name(line)
                row = replace(row, stand_in=Event(identity, instead, 0, line, (instead, 0), nobody))
            yield row
            continue
        try:
            point, canonical, misfit = points(row[first:])
        except Misfit as problem:  # and there is nothing to put in its place
            yield BadRow(line, problem.reason, problem.field, problem.got)
            continue
        identity = columns.line_name(line)
        try:
            label = _label(row[0], columns)
        except Misfit as problem:
            label, misfit = 0, misfit or problem
        if named:
            try:
                identity = _identity(row[1], columns)
            except Misfit as problem:
                misfit = problem  # whatever else is wrong: its name is not one that it was given
        user = nobody
        if owned:
            try:
                user = _user(row[first - 1], columns)
            except Misfit as problem:
                misfit = misfit or problem
        event = Event(identity, point, label, line, (canonical, label), user)
        if misfit is None:
            yield event
        else:
            stand_in = None if instead is None else event
            yield BadRow(line, misfit.reason, misfit.field, misfit.got, stand_in)


AtOnce = Callable[[Sequence[Row]], list[Event]]
"""The events of rows that all fit; a ValueError, TypeError or KeyError if one may not."""


def _bulk(
    chunk: list[Row], at_once: AtOnce, singly: Callable[[Iterable[Row]], Iterator[Event | BadRow]]
) -> Iterable[Event | BadRow]:
    """Rows that may not fit are found by halving, and read one by one."""
    if len(chunk) < _FEW:
        return singly(chunk)
    try:
        return at_once(chunk)
    except (ValueError, TypeError, KeyError, OverflowError):
        middle = len(chunk) // 2
        return chain(*(_bulk(half, at_once, singly) for half in (chunk[:middle], chunk[middle:])))


def _columns_reader(domain: Records, columns: Columns) -> AtOnce:
    readers = [CellReader(part) for part in domain.fields]

    def at_once(chunk: Sequence[Row]) -> list[Event]:
        lines = [line for line, _ in chunk]
        labels, *values = zip(*(row for _, row in chunk), strict=True)
        if columns.identity is None:
            ids = [columns.line_name(line) for line in lines]
        else:
            ids = [_identity(value, columns) for value in values.pop(0)]
        users: Iterable[str | None] = repeat(None, len(lines))
        if columns.user is not None:
            users = [_user(value, columns) for value in values.pop(0)]
        known = _labels(labels, columns)
        cells = [reader.many(column) for reader, column in zip(readers, values, strict=True)]
        points = list(zip(*cells, strict=True))
        examples = zip(points, known, strict=True)
        fields = zip(ids, points, known, lines, examples, users, strict=True)
        return list(map(Event._make, fields))

    return at_once


def _labels(values: Sequence[Any], columns: Columns) -> list[int]:
    """What ``_label`` says of each; a KeyError where it has to be asked."""
    if columns.positive is None and len(kinds := set(map(type, values))) == 1:
        # Only where all are text, or all numbers of one type, equal values are labels alike.
        if kinds == {str}:
            return list(map(_LABELS.__getitem__, values))
        if kinds <= {int, bool, float}:
            return list(map(_BITS.__getitem__, values))
    return [_label(value, columns) for value in values]


def _label(value: Any, columns: Columns) -> int:
    if value is None or value == "":
        raise Misfit(columns.label, "is missing")
    if columns.positive is not None:
        return int(_words(value).strip() == columns.positive)
    if isinstance(value, str):
        label = _LABELS.get(value)
        label = _LABELS.get(value.strip().lower()) if label is None else label
    else:
        number = int(value) if isinstance(value, bool) else exact_number(value)
        label = None if number is None else _BITS.get(number)
    if label is None:
        raise Misfit(columns.label, "is neither 0 nor 1 (--positive says what is 1)", value)
    return label


def _words(value: Any) -> str:
    """A value as text, as it would stand in a CSV; nothing for what is no single value."""
    return str(value) if isinstance(value, str | int | float | Decimal) else ""


def _identity(value: Any, columns: Columns) -> str:
    name = columns.identity or ""
    if value is None or value == "":
        raise Misfit(name, "is missing")
    try:
        text = str(value)
        text.encode()
    except (ValueError, RecursionError):
        raise Misfit(name, "cannot be written down", value) from None
    return text


def _user(value: Any, columns: Columns) -> str:
    try:
        user = canonical_user(value)
    except ValueError:
        raise Misfit(columns.user or "", "cannot be a user", value) from None
    if user == NAMELESS:
        raise Misfit(columns.user or "", "is missing")
    return user


def _stand_in(domain: Domain) -> Cells | None:
    """What a row counts as that cannot be read at all."""
    return tuple(part.stand_in for part in domain.fields) if isinstance(domain, Records) else None


def point_reader(domain: Domain, feature: str | None) -> PointReader:
    """How a row becomes a point of the class: a record, or the one feature column."""
    if isinstance(domain, Records):
        return _records([CellReader(part) for part in domain.fields])
    if feature is None:
        raise ValueError("feature must name the column of the point for this class (--feature)")
    whole = domain.size is not None

    def point(values: Sequence[Any]) -> tuple[Any, Any, None]:
        (value,) = values
        if value is None or value == "":
            raise Misfit(feature, "is missing")
        try:
            plain = _whole(value) if whole else _storable(value)
            return plain, domain.check(tuple(plain) if isinstance(plain, list) else plain), None
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            raise Misfit(feature, "is no point of the class", value) from None

    return point


def _records(readers: Sequence[CellReader]) -> PointReader:
    """Cells are what is stored, too: the store has no use for the values in them."""
    cells_of_texts = [reader.known for reader in readers]

    def point(values: Sequence[Any]) -> tuple[Cells, Cells, Misfit | None]:
        try:  # most texts have come before
            record = tuple(
                [known[text] for text, known in zip(values, cells_of_texts, strict=True)]
            )
            return record, record, None
        except (KeyError, TypeError):
            return unknown(values)

    def unknown(values: Sequence[Any]) -> tuple[Cells, Cells, Misfit | None]:
        cells, misfit = [], None
        for value, reader in zip(values, readers, strict=True):
            try:
                cell = reader.one(value)
            except Misfit as problem:
                cell, misfit = reader.stand_in, misfit or problem
            cells.append(cell)
        record = tuple(cells)
        return record, record, misfit

    return point


def _whole(value: Any) -> int:
    """The whole number that was written, all of its digits."""
    if isinstance(value, str) and WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, float) and not abs(value) < EXACT:
        raise ValueError("a float of this size may stand for several whole numbers")
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number != int(number):
        raise ValueError("a point of this class is a whole number")
    return int(number)


def _storable(value: Any) -> Any:
    """A point that can be written down, and published: half of a surrogate pair cannot."""
    json.dumps(value, ensure_ascii=False).encode()
    return value
