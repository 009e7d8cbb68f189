"""What Spark does for each key of a batch: its new lines and its state in, state and releases out.

A task may run twice, on two machines, and after either was killed: whatever it computes follows
from the key's state and lines alone. Nothing that a line says can make a task fail, since a task
that fails is tried again and then ends the fleet; what cannot be taken is handed back, to the
caller's eyes only.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from littlestone.fleet.keyed import advance, rounds_of
from littlestone.fleet.reading import Line, line_reader
from littlestone.fleet.secret_file import secret_of
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import Release
from littlestone.service.events import Columns
from littlestone.service.published import release_line
from littlestone.service.sources import BadRow

RELEASED: Final = "releases"
REFUSED: Final = "refused"
SCHEMA: Final = {
    "kind": "string",
    "line": "string",
    "low": "long",
    "high": "long",
    "events": "long",
    "created": "long",
}
"""Of the rows that come out: lines of both kinds, and one row for each key that went on."""
_SEAL_BYTES: Final = 16
_known_secret: Final = lru_cache(maxsize=4)(secret_of)  # read once in each process


class Visit(NamedTuple):
    """What became of a key in one batch; ``state`` is None if it did not go on."""

    state: bytes | None
    releases: list[Release]
    refused: list[tuple[Line, str]]
    events: int


def visited(
    recipe: PrivateLearner, secret: bytes, key: str, state: bytes | None, lines: Iterable[Line]
) -> Visit:
    """Feed a key the lines whose turn it is; ``lines`` are in order.

    Repeats are dropped, as ``advance`` does, and what it would raise for is refused line by line:
    gaps and numbers past the horizon, which are public, and what is no example of the class.
    """
    before = last = 0 if state is None else rounds_of(state)
    xs, ys, refused = list[Any](), list[int](), list[tuple[Line, str]]()
    for line in lines:
        event = line.event
        if isinstance(event, BadRow):
            refused.append((line, str(event)))
        elif event.id != key:
            refused.append((line, f"belongs to another key than {key!r}"))
        elif recipe.rounds is not None and line.number > recipe.rounds:
            refused.append((line, f"is past the horizon of {recipe.rounds} rounds"))
        elif line.number > last + 1:
            refused.append((line, f"event {last + 1} of this key is missing"))
        elif line.number == last + 1:
            assert event.example is not None  # every reader sets it
            xs.append(event.example[0])
            ys.append(event.example[1])
            last += 1
    if not xs:
        return Visit(None, [], refused, 0)
    seqs = range(before + 1, last + 1)
    new, releases = advance(recipe, secret, key, state, seqs, xs, ys)
    return Visit(new, releases, refused, len(xs))


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
        # At once, and not when the rows are asked for: Spark's state is that of the key in hand.
        return iter(self._visit(name, lines))

    def _visit(self, key: str, lines: list[Line]) -> list[tuple[Any, ...]]:
        held = self._states.get()
        state = None if held is None else bytes(held[0])
        secret = _known_secret(self.secret, self.fingerprint)
        visit = visited(self.recipe, secret, key, state, lines)
        out: list[tuple[Any, ...]] = [
            (RELEASED, release_line(release).decode(), None, None, None, None)
            for release in visit.releases
        ]
        out += [_refusal(line, reason) for line, reason in visit.refused]
        if visit.state is not None:
            self._states.update((visit.state,))
            out.append((None, None, *_halves(visit.state), visit.events, int(state is None)))
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
    return REFUSED, told, None, None, None, None


def _halves(state: bytes) -> tuple[int, int]:
    """The seal of a state as two numbers that Spark can add up."""
    seal = state[-_SEAL_BYTES:]
    return int.from_bytes(seal[:8], signed=True), int.from_bytes(seal[8:], signed=True)
