"""Number the rows of each key, from a file or from lines."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow, Form, Row, shown
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.readers import Columns, event_reader, events_of, needed_columns
from littlestone.runs.intake.sources import json_lines, rows

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
    position: Position | None = None,
    size: int = 100_000,
) -> Iterator[Part]:
    """Yield the events of a source, ``size`` at a time; ``columns.identity`` is the key.

    Without a column ``sequence`` the events of a key are numbered in their order, from 1: the same
    file put again gives the same events. Over a schema a row that does not fit counts as its
    stand-in; any other row without a key, number or example rejects the whole file.
    """
    needed = needed_columns(concepts.domain, columns)
    numbers: dict[int, int] = {}
    if sequence is not None:
        with_numbers = rows(source, [*needed, sequence], form, standard_input, position)
        found = _without(with_numbers, numbers, sequence)
    else:
        found = rows(source, needed, form, standard_input, position)
    counts: Counter[str] = Counter()
    part: Part = [], [], [], [], []
    for event in events_of(found, concepts, columns, at_once=source != "-", form=form):
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
    """A line of JSON and its content: an event and its number, or why there is none."""

    text: str
    number: int
    event: Event | BadRow


def line_reader(
    concepts: ConceptClass, columns: Columns, *, sequence: str
) -> Callable[[Sequence[str]], list[Line]]:
    """Return a function that reads lines as ``numbered`` does, and puts them in order.

    Lines with the same number are ordered by their text, so the result does not depend on their
    order.
    """
    needed = [*needed_columns(concepts.domain, columns), sequence]
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
    """Return the event, or what a bad row counts as; it needs a key and a number."""
    if not isinstance(event, BadRow):
        return event
    if event.stand_in is None or event.field in ("", columns.identity, sequence):
        return event
    stand_in: Event = event.stand_in
    return stand_in


def _without(found: Iterator[Row], numbers: dict[int, int], sequence: str) -> Iterator[Row]:
    """Yield the rows without their last column, whose numbers are stored by line."""
    for line, row in found:
        if isinstance(row, BadRow):
            yield line, row
            continue
        *rest, value = row
        try:
            number = int(str(value))
        except (ValueError, RecursionError):
            number = 0
        if number < 1:
            yield line, BadRow(line, "is not a whole number from 1", sequence, shown(value))
            continue
        numbers[line] = number
        yield line, rest
