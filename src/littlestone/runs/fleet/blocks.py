"""Number the rows of each key, and pack events into blocks for a queue."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Domain, Example
from littlestone.errors import LittlestoneError, SnapshotError
from littlestone.learners import codec
from littlestone.learners.engine import single_rounds
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow, Form, Row, shown
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.readers import Columns, event_reader, events_of, needed_columns
from littlestone.runs.intake.sources import json_lines, rows

Waiting = dict[bytes, tuple[list[int], list[Example | None]]]
"""The numbers of events and their examples in canonical form, by the label of the key.

None is an example that is not read: its user has reached ``max_contributions``.
"""


class Block(NamedTuple):
    """Events of several keys: the key, number, point and label of each.

    ``over_limit`` is 1 where the example is not read. In the queue the events of a key are together
    (``by_shard``).
    """

    keys: list[bytes]
    which: NDArray[np.int64]
    seqs: NDArray[np.int64]
    points: Any
    labels: NDArray[np.uint8]
    over_limit: NDArray[np.uint8]

    def packed(self) -> bytes:
        """Pack the block: keys as JSON, integers in the narrowest type that holds them all."""
        columns: list[NDArray[Any]] = [self.which, self.seqs, self.labels, self.over_limit]
        shape, others = None, b""
        if isinstance(self.points, np.ndarray) and np.can_cast(self.points.dtype, np.int64):
            shape = self.points.shape[1:]
            columns.append(self.points)
        else:
            others = codec.dumps(self.points)
        rows: NDArray[np.int64] = np.column_stack(columns)
        lowest = min(int(rows.min(initial=0)), -1 - int(rows.max(initial=0)))
        rows = rows.astype(np.min_scalar_type(lowest).newbyteorder("<"))
        head = [key.hex() for key in self.keys], shape, *rows.shape, rows.itemsize
        return b"".join((json.dumps(head).encode(), b"\n", rows.tobytes(), others))

    @classmethod
    def from_bytes(cls, data: bytes, domain: Domain, label_count: int = 2) -> "Block":
        """Unpack a block; check its examples again, because a database may change them."""
        try:
            head, _, body = data.partition(b"\n")
            keys, shape, count, width, size = json.loads(head)
            end = count * width * size
            rows = np.frombuffer(body[:end], f"<i{size}").reshape(count, width).astype(np.int64)
            which, seqs, ys, over_limit = rows.T[:4]
            xs = codec.loads(body[end:]) if shape is None else rows[:, 4:].reshape(count, *shape)
            points, labels = domain.check_many(xs), require.labels(ys, label_count)
            grouped = (np.diff(which, prepend=0) >= 0).all() and (which[-1:] < len(keys)).all()
            if len(points) != count or not grouped:
                raise ValueError("its columns do not fit together")
            known = list(map(bytes.fromhex, keys))
            return cls(known, which, seqs, points, labels, require.labels(over_limit))
        except Exception as problem:
            raise SnapshotError(f"a block of the queue is damaged: {problem}") from problem

    def by_shard(self, shards: int) -> Iterator[tuple[int, "Block"]]:
        """Yield the events of each shard, key by key; the order within a key stays."""
        home = np.array([shard_of(key, shards) for key in self.keys], dtype=np.int64)[self.which]
        order = np.argsort(home * len(self.keys) + self.which, kind="stable")
        starts = np.flatnonzero(np.diff(home[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            if len(places):
                yield int(home[places[0]]), self._at(places)

    def names(self) -> Iterator[tuple[bytes, int]]:
        """Yield the name of each event within a fleet: its key and its number."""
        keys = map(self.keys.__getitem__, self.which.tolist())
        return zip(keys, self.seqs.tolist(), strict=True)

    def only(self, wanted: dict[bytes, set[int]]) -> "Block":
        """Return the events of these keys that have these numbers."""
        if not wanted:
            return self._at(np.empty(0, dtype=np.int64))
        pairs = zip(self.which.tolist(), self.seqs.tolist(), strict=True)
        none: set[int] = set()
        places = [
            place
            for place, (which, seq) in enumerate(pairs)
            if seq in wanted.get(self.keys[which], none)
        ]
        return self._at(np.array(places, dtype=np.int64))

    def _at(self, places: NDArray[np.int64]) -> "Block":
        used, which = np.unique(self.which[places], return_inverse=True)
        keys = [self.keys[at] for at in used.tolist()]
        array = isinstance(self.points, np.ndarray)
        points = self.points[places] if array else [self.points[at] for at in places.tolist()]
        columns = self.seqs[places], points, self.labels[places], self.over_limit[places]
        return Block(keys, which, *columns)

    def add_to(self, waiting: Waiting) -> None:
        """Append the events of a block of the queue to those that wait for their key."""
        examples: list[Example | None] = list(single_rounds(self.points, self.labels))
        for place in np.flatnonzero(self.over_limit):
            examples[place] = None
        seqs, start = self.seqs.tolist(), 0
        counts = np.bincount(self.which, minlength=len(self.keys)).tolist()
        for key, count in zip(self.keys, counts, strict=True):
            numbers, known = waiting.setdefault(key, ([], []))
            numbers += seqs[start : start + count]
            known += examples[start : start + count]
            start += count


def shard_of(label: bytes, shards: int) -> int:
    """Return the shard of a key; it never changes."""
    return zlib.crc32(label) % shards


class Turn(NamedTuple):
    """Places of events: those to take, in order (None: all, in this order), and the early ones."""

    ready: list[int] | None
    early: list[int]


def in_turn(numbers: Sequence[int], before: int) -> Turn:
    """Sort numbered events, of which ``before`` were already taken.

    Of several with one number the first counts, whatever the others contain; events that were taken
    before are in neither list. Events after a gap are early.

    >>> in_turn([4, 5, 6], before=3)
    Turn(ready=None, early=[])
    >>> in_turn([6, 3, 4, 9, 4, 5, 9], before=3)
    Turn(ready=[2, 5, 0], early=[3])
    """
    last = before + len(numbers)
    if list(numbers) == list(range(before + 1, last + 1)):
        return Turn(None, [])
    ready, early, last = list[int](), list[int](), before
    newest = last
    for place in sorted(range(len(numbers)), key=numbers.__getitem__):
        number = numbers[place]
        if number == last + 1:
            ready.append(place)
            last = newest = number
        elif number > newest:
            early.append(place)
            newest = number
    return Turn(ready, early)


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
