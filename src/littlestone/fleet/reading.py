"""Rows become numbered events of their keys: all rows of a file, or some lines of one key."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.service.events import Columns, event_reader, events_of, needed_columns
from littlestone.service.log.intake import Event
from littlestone.service.sources import BadRow, Form, Row, json_lines, rows, shown

Part = tuple[list[str], list[int], list[Any], list[int], list[str | None]]
"""Keys, numbers, points, labels and, where they are counted, users."""


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
    part: Part = [], [], [], [], []
    for event in events_of(found, concepts, columns, at_once=source != "-"):
        event = _counted(event, columns, sequence)
        if isinstance(event, BadRow):
            raise LittlestoneError(f"line {event.line}: {event}; nothing of {source} was put")
        assert event.line is not None and event.example is not None  # every reader sets them
        counts[event.id] += 1
        known = counts[event.id] if sequence is None else numbers.pop(event.line)
        keys, seqs, xs, ys, users = part
        keys.append(event.id)
        seqs.append(known)
        xs.append(event.example[0])
        ys.append(event.y)
        users.append(event.user)
        if len(part[0]) == size:
            yield part
            part = [], [], [], [], []
    if part[0]:
        yield part


class Line(NamedTuple):
    """A line of JSON and what is in it: an event and its number, or why there is none."""

    text: str
    number: int
    event: Event | BadRow


def line_reader(
    concepts: ConceptClass, columns: Columns, *, sequence: str
) -> Callable[[Sequence[str]], list[Line]]:
    """Reads lines that come in no order, each as ``numbered`` reads it, and puts them in order.

    Of several with one number the order is that of their letters: the same, however they came.
    """
    needed = [*needed_columns(concepts, columns), sequence]
    read = event_reader(concepts, columns, at_once=True)

    def lines_of(lines: Sequence[str]) -> list[Line]:
        texts = [line for line in lines if line.strip()]
        numbers: dict[int, int] = {}
        events = read(_without(json_lines(texts, needed), numbers, sequence))
        found = [
            Line(text, numbers.get(place, 0), _counted(event, columns, sequence))
            for place, (text, event) in enumerate(zip(texts, events, strict=True), start=1)
        ]
        found.sort(key=lambda line: (line.number, line.text))
        return found

    return lines_of


def _counted(event: Event | BadRow, columns: Columns, sequence: str | None) -> Event | BadRow:
    """The event, or what a row that does not fit counts as; nothing without key and number."""
    if not isinstance(event, BadRow):
        return event
    if event.stand_in is None or event.field in ("", columns.identity, sequence):
        return event
    stand_in: Event = event.stand_in
    return stand_in


def _without(found: Iterator[Row], numbers: dict[int, int], sequence: str) -> Iterator[Row]:
    """The rows without their last column, whose numbers are put aside by line."""
    for line, row in found:
        if isinstance(row, BadRow):
            yield line, row
            continue
        *rest, value = row
        try:
            number = int(str(value))
        except ValueError:
            number = 0
        if number < 1:
            yield line, BadRow(line, "is no whole number from 1 on", sequence, shown(value))
            continue
        numbers[line] = number
        yield line, rest
