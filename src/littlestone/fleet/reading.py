"""Rows of a file become numbered events of their keys."""

from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.service.events import Columns, events_of, needed_columns
from littlestone.service.sources import BadRow, Form, Row, rows

Part = tuple[list[str], list[int], list[Any], list[int]]
"""Keys, numbers, points and labels."""


def numbered(
    source: str,
    concepts: ConceptClass,
    columns: Columns,
    *,
    sequence: str | None,
    standard_input: IO[bytes],
    form: Form,
    size: int = 100_000,
) -> Iterator[Part]:
    """The events of a source, some at a time; ``columns.identity`` has the key.

    Without a column ``sequence`` the events of a key are numbered as they come, from 1 on: the
    same file put again is the same events. Over a schema a row that does not fit counts as its
    stand-in; every other row that has no key, number or example is refused, and the file with it.
    """
    needed = needed_columns(concepts, columns)
    numbers: dict[int, int] = {}
    if sequence is not None:
        found = _without(rows(source, [*needed, sequence], form, standard_input), numbers, sequence)
    else:
        found = rows(source, needed, form, standard_input)
    counts: Counter[str] = Counter()
    part: Part = [], [], [], []
    for event in events_of(found, concepts, columns, at_once=source != "-"):
        if isinstance(event, BadRow):
            if event.stand_in is None or event.field in ("", columns.identity):
                raise LittlestoneError(f"line {event.line}: {event}; nothing of {source} was put")
            event = event.stand_in
        assert event.line is not None and event.example is not None  # every reader sets them
        counts[event.id] += 1
        known = counts[event.id] if sequence is None else numbers.pop(event.line)
        keys, seqs, xs, ys = part
        keys.append(event.id)
        seqs.append(known)
        xs.append(event.example[0])
        ys.append(event.y)
        if len(part[0]) == size:
            yield part
            part = [], [], [], []
    if part[0]:
        yield part


def _without(found: Iterator[Row], numbers: dict[int, int], sequence: str) -> Iterator[Row]:
    """The rows without their last column, whose numbers are put aside by line."""
    for line, row in found:
        if isinstance(row, BadRow):
            yield line, row
            continue
        *rest, number = row
        try:
            numbers[line] = int(str(number))
        except ValueError:
            yield line, BadRow(line, "is no whole number", sequence, str(number)[:40])
            continue
        yield line, rest
