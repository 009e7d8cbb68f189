"""Convert rows to labelled events; name a row that does not fit, with its stand-in.

Each row becomes an event by a rule that depends on this row and the declarations, and on no other
row. Over a schema every row is an event: a missing or unknown value counts as the stand-in of the
field, an unreadable label as the first label. So files that differ in one row give streams that
differ in one round, and a promise about streams holds for files.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import chain, islice
from typing import IO, Any, Final

import numpy as np

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass, Domain, Point
from littlestone.concepts.records.columns import EXACT, exact_number
from littlestone.concepts.schema import Cells
from littlestone.runs.intake.cells import WHOLE, CellReader, LabelReader, Misfit, is_empty
from littlestone.runs.intake.event import Event, EventBlock, by_halving
from littlestone.runs.intake.form import BadRow, Form, Row
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.sources import is_live, rows
from littlestone.runs.intake.users import NAMELESS, canonical_user

_AT_ONCE: Final = 1000
_FEW: Final = 16
_MOST_REMEMBERED: Final = 1 << 12
_TEXTS: Final = {str}
_NESTED: Final = (list, tuple, dict, set, frozenset, np.ndarray)
_MOST_DIGITS: Final = 4000  # 1e999999999 is short and would fill the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns hold what. Without ``identity`` an event is a line of the ``origin``, a name.

    ``positive`` is the label that counts as 1, and every other as 0; with ``at_least`` labels are
    numbers, and those from it on count as 1; without both, labels are 0 or 1, or words for them, or
    what the schema declares. ``user`` is the column of the user of a row, where users are counted.
    In JSON lines a name with dots leads into nested objects.
    """

    label: str
    feature: str | None = None
    identity: str | None = None
    positive: str | None = None
    at_least: float | None = None
    user: str | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        if self.positive is not None and self.at_least is not None:
            raise ValueError(
                "positive and at-least must not be given together: one says which labels count as 1"
            )

    def line_name(self, line: int | str) -> str:
        """Return the name of an event that is a line of the origin."""
        return f"{self.origin} line {line}" if self.origin else f"line {line}"


Item = Event | EventBlock | BadRow
"""What rows become: events, many of them together, or what does not fit."""

PointReader = Callable[[Sequence[Any]], tuple[Any, Any, Misfit | None]]
"""The point as it is stored, its canonical form, and what a stand-in was needed for."""


def read_blocks(
    source: str,
    concepts: ConceptClass,
    columns: Columns,
    *,
    standard_input: IO[bytes],
    form: Form | None = None,
    position: Position | None = None,
) -> Iterator[Item]:
    """Yield the events of a file (.csv, .tsv, .jsonl, .gz, .parquet) or a pipe (``-``).

    They come in blocks where many rows of a file fit. A pipe, named or not, holds JSON lines if its
    first line begins with a brace, and CSV otherwise.
    A source that cannot be read, or lacks a column, is rejected at once; rows are read lazily.
    """
    needed = needed_columns(concepts.domain, columns)
    whose = [] if columns.user is None else [columns.user]
    found = rows(source, needed, form or Form(), standard_input, position, whose)
    return blocks_of(found, concepts, columns, at_once=not is_live(source), form=form)


def events_of(
    found: Iterator[Row],
    concepts: ConceptClass,
    columns: Columns,
    *,
    at_once: bool,
    form: Form | None = None,
) -> Iterator[Event | BadRow]:
    """Yield the events of rows that have the needed columns, in their order."""
    return singly(blocks_of(found, concepts, columns, at_once=at_once, form=form))


def singly(items: Iterable[Item]) -> Iterator[Event | BadRow]:
    """Yield the events of blocks one by one."""
    return chain.from_iterable(item if isinstance(item, EventBlock) else (item,) for item in items)


def event_reader(
    concepts: ConceptClass, columns: Columns, *, at_once: bool
) -> Callable[[Iterator[Row]], Iterator[Event | BadRow]]:
    """Return a function that converts rows to events, for many small sources."""
    reader = _block_reader(concepts, columns, at_once=at_once, form=None)
    return lambda found: singly(reader(found))


def blocks_of(
    found: Iterator[Row],
    concepts: ConceptClass,
    columns: Columns,
    *,
    at_once: bool,
    form: Form | None = None,
) -> Iterator[Item]:
    """Yield the same as ``events_of``, in blocks where many rows fit.

    ``at_once`` reads many records at a time; rows of a pipe would wait for the rest of a chunk.
    """
    return _block_reader(concepts, columns, at_once=at_once, form=form)(found)


def _block_reader(
    concepts: ConceptClass, columns: Columns, *, at_once: bool, form: Form | None
) -> Callable[[Iterator[Row]], Iterator[Item]]:
    points = point_reader(concepts.domain, columns.feature, form)
    labels = label_reader(concepts.domain, columns, form)
    instead = _stand_in(concepts.domain)
    few = partial(_events, points=points, labels=labels, columns=columns, instead=instead)
    if not at_once or not isinstance(concepts.domain, Records):
        return few
    reader = _columns_reader(concepts.domain, labels, columns, form)

    def many(found: Iterator[Row]) -> Iterator[Item]:
        chunks = iter(lambda: list(islice(found, _AT_ONCE)), [])
        return chain.from_iterable(bulk(chunk) for chunk in chunks)

    def bulk(chunk: list[Row]) -> Iterable[Item]:
        """Read rows in bulk; find those that may not fit by halving, and read them one by one."""
        if len(chunk) < _FEW:
            return few(chunk)
        return by_halving(
            chunk, reader, lambda rows, _: few(rows), refusals=(Exception,), least=_FEW - 1
        )

    return many


def read_points(
    source: str,
    domain: Domain,
    *,
    feature: str | None = None,
    name_column: str | None = None,
    standard_input: IO[bytes],
    form: Form | None = None,
) -> Iterator[tuple[int, Any, Point | None, Misfit | None]]:
    """Yield rows without labels: line, value of the column ``kept``, point, and what is odd.

    Over a schema every row has a point, with stand-ins as for events.
    """
    columns = Columns(label="", feature=feature)
    points, instead = point_reader(domain, feature, form), _stand_in(domain)
    needed = [*([] if name_column is None else [name_column]), *_point_columns(domain, columns)]
    for line, row in rows(source, needed, form or Form(), standard_input):
        if isinstance(row, BadRow):
            yield line, None, instead, Misfit("", str(row))
            continue
        name = None if name_column is None else row[0]
        try:
            _, canonical, misfit = points(row[name_column is not None :])
        except Misfit as problem:
            canonical, misfit = None, problem
        yield line, name, canonical, misfit


def needed_columns(domain: Domain, columns: Columns) -> list[str]:
    """Return the columns that every row needs: the label, the id, those of the point."""
    named = (columns.label, columns.identity, columns.user)
    return [*filter(None, named), *_point_columns(domain, columns)]


def _point_columns(domain: Domain, columns: Columns) -> list[str]:
    points = [part.column for part in domain.fields] if isinstance(domain, Records) else []
    return points if columns.feature is None else [*points, columns.feature]


def _events(
    found: Iterable[Row],
    points: PointReader,
    labels: LabelReader,
    columns: Columns,
    instead: Cells | None,
) -> Iterator[Event | BadRow]:
    named, owned = columns.identity is not None, columns.user is not None
    first = 1 + named + owned
    no_user = NAMELESS if owned else None
    for line, row in found:
        if isinstance(row, BadRow):
            if instead is not None:
                identity = columns.line_name(line)
                row = replace(
                    row, stand_in=Event(identity, instead, 0, line, (instead, 0), no_user)
                )
            yield row
            continue
        try:
            point, canonical, misfit = points(row[first:])
        except Misfit as problem:  # and it has no stand-in
            yield BadRow(line, problem.reason, problem.field, problem.got)
            continue
        label = labels.known.get(row[0]) if type(row[0]) is str else None
        if label is None:
            try:
                label = labels.one(row[0])
            except Misfit as problem:
                label, misfit = 0, misfit or problem
        try:
            identity = _identity(row[1], columns) if named else columns.line_name(line)
        except Misfit as problem:
            identity = columns.line_name(line)
            misfit = problem  # it takes precedence: an event without its id cannot be named
        user = no_user
        if owned:
            try:
                user = user_of(row[first - 1], columns)
            except Misfit as problem:
                misfit = misfit or problem
        event = Event(identity, point, label, line, (canonical, label), user)
        if misfit is None:
            yield event
        else:
            stand_in = None if instead is None else event
            yield BadRow(line, misfit.reason, misfit.field, misfit.got, stand_in)


AtOnce = Callable[[Sequence[Row]], Sequence[Item]]
"""Returns the events of rows that all fit; an exception if one may not."""


def _columns_reader(
    domain: Records, labels_of: LabelReader, columns: Columns, form: Form | None
) -> AtOnce:
    readers = [CellReader(part, form) for part in domain.fields]

    def at_once(chunk: Sequence[Row]) -> list[EventBlock]:
        lines, found = map(list, zip(*chunk, strict=True))
        labels, *values = zip(*found, strict=True)
        if columns.identity is None:
            before = columns.line_name("")
            ids = [f"{before}{line}" for line in lines]
        else:
            ids = [_identity(value, columns) for value in values.pop(0)]
        users = None
        if columns.user is not None:
            users = [user_of(value, columns) for value in values.pop(0)]
        known = np.array(labels_of.many(labels), dtype=np.uint8)
        points = np.empty((len(lines), len(readers)), dtype=np.int64)
        for place, (reader, column) in enumerate(zip(readers, values, strict=True)):
            points[:, place] = reader.many(column)
        return [EventBlock(ids, points, known, lines, users)]

    return at_once


def label_reader(domain: Domain | None, columns: Columns, form: Form | None) -> LabelReader:
    """Return a reader of the column with the label."""
    return LabelReader(
        columns.label,
        positive=columns.positive,
        at_least=columns.at_least,
        domain=domain,
        form=form,
    )


def _identity(value: Any, columns: Columns) -> str:
    name = columns.identity or ""
    if isinstance(value, _NESTED):  # how deep one may be to be written depends on the stack
        raise Misfit(name, "is a list or an object", value)
    try:
        text = "" if value is None else str(value)
        text.encode()
    except Exception:  # of the value itself, or half of a surrogate pair
        raise Misfit(name, "cannot be written down", value) from None
    if not text:
        raise Misfit(name, "is missing")
    return text


def user_of(value: Any, columns: Columns) -> str:
    """Return the user of a row in canonical form; raise a misfit if there is none."""
    try:
        user = canonical_user(value)
    except ValueError:
        raise Misfit(columns.user or "", "cannot be a user", value) from None
    if user == NAMELESS:
        raise Misfit(columns.user or "", "is missing")
    return user


def _stand_in(domain: Domain) -> Cells | None:
    """Return what an unreadable row counts as, if the domain is a schema."""
    return tuple(part.stand_in for part in domain.fields) if isinstance(domain, Records) else None


def point_reader(domain: Domain, feature: str | None, form: Form | None = None) -> PointReader:
    """Return a function that converts a row to a point: a record, or the feature column."""
    if isinstance(domain, Records):
        return _records([CellReader(part, form) for part in domain.fields])
    if feature is None:
        raise ValueError("feature must name the column of the point for this class (--feature)")
    whole, check = domain.size is not None, domain.check
    numbered: Callable[[Any], tuple[int, Point, None]] = partial(_numbered, check)
    remembered = numbered
    if domain.size is not None and domain.size <= _MOST_REMEMBERED:  # most texts come again
        remembered = lru_cache(maxsize=_MOST_REMEMBERED)(numbered)

    def point(values: Sequence[Any]) -> tuple[Any, Any, None]:
        (value,) = values
        try:
            if type(value) is int and whole:
                return value, check(value), None
            if whole:  # texts alone: other values may say that they are equal
                return remembered(value) if type(value) is str else numbered(value)
            return _stored(check, value)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            if is_empty(value):
                raise Misfit(feature, "is missing") from None
            raise Misfit(feature, "is not a point of the class", value) from None

    return point


def _records(readers: Sequence[CellReader]) -> PointReader:
    """Return a reader of records; the cells are stored, not their values."""
    cells_of_texts = [reader.known for reader in readers]

    def point(values: Sequence[Any]) -> tuple[Cells, Cells, Misfit | None]:
        if set(map(type, values)) != _TEXTS:  # others may say that they equal a text
            return unknown(values)
        try:  # most texts are in the cache
            record = tuple(
                [known[text] for text, known in zip(values, cells_of_texts, strict=True)]
            )
            return record, record, None
        except KeyError:
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


def _numbered(check: Callable[[Any], Point], value: Any) -> tuple[int, Point, None]:
    """Return an integer as it was written, with all of its digits, and the point that it is."""
    if isinstance(value, str) and WHOLE.fullmatch(value):
        number = int(value)
    else:
        known = Decimal(value) if isinstance(value, str) else exact_number(value)
        if known is None or (isinstance(known, float) and not abs(known) < EXACT):
            raise ValueError("not a number, or a float that may stand for several whole numbers")
        exact = Decimal(known)
        if not exact.is_finite() or exact.adjusted() > _MOST_DIGITS or exact != int(exact):
            raise ValueError("a point of this class is a whole number")
        number = int(exact)
    return number, check(number), None


def _stored(check: Callable[[Any], Point], value: Any) -> tuple[Any, Point, None]:
    """Return a value that can be written and published, and the point that it is."""
    if is_empty(value):
        raise ValueError("there is no point")
    json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair cannot be
    return value, check(tuple(value) if isinstance(value, list) else value), None
