"""What Spark does for each key of a batch: its new lines and its state in, state and releases out.

A task may run twice, on two machines, and after either was killed: whatever it computes follows
from the key's state and lines alone. Nothing that a line says can make a task fail, since a task
that fails is tried again and then ends the fleet; what cannot be taken is handed back, to the
caller's eyes only. An event that comes before its predecessor waits in the key's state.
"""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from littlestone.fleet.keyed import advance, label_of, rounds_of
from littlestone.fleet.reading import Line, line_reader
from littlestone.fleet.secret_file import secret_of
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import Release
from littlestone.service.events import Columns
from littlestone.service.log.intake import Event
from littlestone.service.published import release_line
from littlestone.service.sources import BadRow

RELEASED: Final = "releases"
REFUSED: Final = "refused"
SCHEMA: Final = {
    "kind": "string",
    "line": "string",
    "run": "string",
    "number": "long",
    "low": "long",
    "high": "long",
    "events": "long",
    "created": "long",
    "early": "long",
}
"""Of the rows that come out: lines of both kinds, and one row for each key that changed.

``run`` and ``number`` put the releases of a key in order.
"""
_NO_NUMBERS: Final = (None,) * 5
_MOST_EARLY: Final = 1_000
_LONGEST_EARLY: Final = 1 << 14
"""How far ahead of a gap an event may be to wait there, and how long its line."""
_EARLY: Final = struct.Struct("<4sI")
_EARLY_MAGIC: Final = b"LSE1"
_SEAL_BYTES: Final = 16
_known_secret: Final = lru_cache(maxsize=4)(secret_of)  # read once in each process


class Visit(NamedTuple):
    """What became of a key in one batch; ``state`` is None if it did not go on."""

    state: bytes | None
    releases: list[Release]
    refused: list[tuple[Line, str]]
    events: int
    early: list[Line]
    """What waits behind a gap, in order."""


def visited(
    recipe: PrivateLearner,
    secret: bytes,
    key: str,
    state: bytes | None,
    lines: Iterable[Line],
    early: Iterable[Line] = (),
) -> Visit:
    """Feed a key the lines whose turn it is; ``lines`` are in order, ``early`` waited before.

    Repeats are dropped, as ``advance`` does: of two with one number the first that came counts.
    What it would raise for is refused line by line, numbers past the horizon, which are public, and
    what is no example of the class; so is what finds no room behind a gap. Whether a line does
    follows from the numbers, which are public, and from this line alone: room that others could
    use up would let the length of one example decide which others are learned from.
    """
    refused = list[tuple[Line, str]]()
    waiting = dict[int, Line]()
    for line in chain(early, lines):
        problem = _problem(line, key, recipe.rounds)
        if problem is None:
            waiting.setdefault(line.number, line)
        else:
            refused.append((line, problem))
    before = last = 0 if state is None else rounds_of(state)
    xs, ys = list[Any](), list[int]()
    while last + 1 in waiting:
        event = waiting[last + 1].event
        assert isinstance(event, Event) and event.example is not None  # every reader sets it
        xs.append(event.example[0])
        ys.append(event.example[1])
        last += 1
    kept = list[Line]()
    for line in [waiting[number] for number in sorted(waiting) if number > last]:
        problem = _no_room(line, last + 1)
        if problem is None:
            kept.append(line)
        else:
            refused.append((line, problem))
    if not xs:
        return Visit(None, [], refused, 0, kept)
    seqs = range(before + 1, last + 1)
    new, releases = advance(recipe, secret, key, state, seqs, xs, ys)
    return Visit(new, releases, refused, len(xs), kept)


def _problem(line: Line, key: str, horizon: int | None) -> str | None:
    """Why it can be no event of ``key``, whatever has come before."""
    if isinstance(line.event, BadRow):
        return str(line.event)
    if line.event.id != key:
        return f"belongs to another key than {key!r}"
    if horizon is not None and line.number > horizon:
        return f"is past the horizon of {horizon} rounds"
    return None


def _no_room(line: Line, missing: int) -> str | None:
    """Why it cannot wait for event ``missing``."""
    if line.number >= missing + _MOST_EARLY:
        return f"event {missing} of this key is missing, and {_MOST_EARLY:,} from it on have room"
    if len(line.text) > _LONGEST_EARLY:
        return f"event {missing} of this key is missing, and so long a line may not wait"
    return None


def packed(state: bytes | None, early: Sequence[str]) -> bytes:
    """What Spark keeps for a key, in one value: to ask it for another would take as long again."""
    if state is not None and not early:
        return state
    head = _EARLY.pack(_EARLY_MAGIC, len(state or b""))
    return head + (state or b"") + json.dumps(early).encode()


def unpacked(value: bytes | None) -> tuple[bytes | None, list[str]]:
    """The state of a key, if it has begun, and the lines that wait behind a gap."""
    if value is None or not value.startswith(_EARLY_MAGIC):
        return value, []
    _, size = _EARLY.unpack_from(value)
    end = _EARLY.size + size
    return value[_EARLY.size : end] or None, json.loads(value[end:])


class KeyVisits:
    """A stateful processor in the sense of Spark's ``transformWithState``, but for its rows.

    It travels to the executors and holds no secret: they read it from a file of their own.
    """

    def __init__(
        self,
        recipe: PrivateLearner,
        *,
        secret: Path,
        fingerprint: bytes,
        columns: Columns,
        sequence: str,
    ) -> None:
        self.recipe, self.columns, self.sequence = recipe, columns, sequence
        self.secret, self.fingerprint = secret, fingerprint

    def init(self, handle: Any) -> None:
        """Called by Spark for each task, and once where the query starts."""
        self._states = handle.getValueState("state", "state binary")
        self._read = line_reader(self.recipe.concepts, self.columns, sequence=self.sequence)

    def handleInputRows(  # noqa: N802 (Spark's name)
        self,
        key: tuple[str | None],
        rows: Iterable[Mapping[str, str]],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[tuple[Any, ...]]:
        """All lines of a key in this batch, in no order; the rows that come out."""
        del timerValues
        lines = self._read([row["value"] for row in rows])
        (name,) = key
        if name is None:  # no line of these has a key that can be read
            absent = f"{self.columns.identity!r} is missing or cannot be read"
            return iter([_refusal(line, absent) for line in lines])
        try:
            label_of(name)
        except ValueError as problem:
            return iter([_refusal(line, str(problem)) for line in lines])
        # At once, and not when the rows are asked for: Spark's state is that of the key in hand.
        return iter(self._visit(name, lines))

    def _visit(self, key: str, lines: list[Line]) -> list[tuple[Any, ...]]:
        held = self._states.get()
        state, texts = unpacked(None if held is None else bytes(held[0]))
        secret = _known_secret(self.secret, self.fingerprint)
        visit = visited(self.recipe, secret, key, state, lines, self._read(texts) if texts else ())
        out: list[tuple[Any, ...]] = [
            (RELEASED, release_line(release).decode(), key, release.number, *_NO_NUMBERS)
            for release in visit.releases
        ]
        out += [_refusal(line, reason) for line, reason in visit.refused]
        early = [line.text for line in visit.early]
        if visit.state is not None or early != texts:
            self._states.update((packed(visit.state or state, early),))
            went_on = (None, None) if visit.state is None else _halves(visit.state)
            created = int(state is None and visit.state is not None)
            out.append(
                (None, None, None, None, *went_on, visit.events, created, len(early) - len(texts))
            )
        return out

    def handleExpiredTimer(self, *given: Any) -> Iterator[Any]:  # noqa: N802 (Spark's name)
        """There are no timers."""
        return iter(())

    def handleInitialState(self, *given: Any) -> None:  # noqa: N802 (Spark's name)
        """There is none."""

    def close(self) -> None:
        """Nothing is held."""


def _refusal(line: Line, reason: str) -> tuple[Any, ...]:
    told = json.dumps({"reason": reason, "line": line.text}, ensure_ascii=False)
    return REFUSED, told, None, None, *_NO_NUMBERS


def _halves(state: bytes) -> tuple[int, int]:
    """The seal of a state as two numbers that Spark can add up."""
    seal = state[-_SEAL_BYTES:]
    return int.from_bytes(seal[:8], signed=True), int.from_bytes(seal[8:], signed=True)
