"""Manage the folder of a fleet on Spark, and process its keys there."""

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from littlestone.errors import StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.runs.files import secret_of
from littlestone.runs.fleet.commits import Height
from littlestone.runs.fleet.keyed import SEAL_BYTES, advance, in_turn, label_of, rounds_of
from littlestone.runs.fleet.rows import Line, line_reader
from littlestone.runs.fleet.terms import Terms, reporting_damage
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.readers import Columns
from littlestone.runs.journal.records import Release
from littlestone.runs.published import release_line

RELEASED: Final = "releases"
NOT_COUNTED: Final = (
    "a fleet on Spark does not count users, so it cannot promise them anything: count them in "
    "PostgreSQL (littlestone fleet init --user), or give --max-contributions and --max-keys here, "
    "for events that were limited before"
)
_COLUMNS: Final = "columns.json"


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """The progress of a fleet after some batches; all of it is public except ``refused``."""

    batches: int = 0
    keys: int = 0
    rounds: int = 0
    releases: int = 0
    refused: int = 0
    chain: str = "00" * 32
    early: int = 0
    """Events that wait behind a gap."""

    @property
    def height(self) -> Height:
        """Return the height that the mark compares."""
        return Height(self.batches, bytes.fromhex(self.chain))

    def after(
        self,
        *,
        keys: int,
        rounds: int,
        releases: int,
        refused: int,
        seals: tuple[int, int],
        early: int = 0,
    ) -> "FleetProgress":
        """Return the progress after one more batch, with the seals of its changed states added."""
        mixed = b"".join(seal.to_bytes(8, signed=True) for seal in seals)
        digest = hashlib.sha256(bytes.fromhex(self.chain) + mixed)
        # A batch without early events has the same digest with and without this field.
        counts = (self.batches, keys, rounds, releases, refused, *([early] if early else []))
        digest.update(repr(counts).encode())
        return FleetProgress(
            self.batches + 1,
            self.keys + keys,
            self.rounds + rounds,
            self.releases + releases,
            self.refused + refused,
            digest.hexdigest(),
            self.early + early,
        )


class SparkFolder:
    """The folder of a fleet, on a file system that the driver and all executors share."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        try:
            with reporting_damage():
                self.terms = Terms.from_json((self.path / "terms.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StoreError(
                f"there is no fleet in {path}; create one with littlestone fleet spark init"
            ) from None

    @classmethod
    def from_terms(cls, path: Path, terms: Terms) -> "SparkFolder":
        """Create the folder of a new fleet."""
        if terms.users is not None:
            raise ValueError(NOT_COUNTED)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            raise StoreError(f"{path} exists: a new fleet needs a new folder") from None
        _write(path / "terms.json", terms.to_json())
        for name in ("progress", RELEASED, REFUSED):
            (path / name).mkdir()
        return cls(path)

    @property
    def checkpoint(self) -> str:
        """Return the path of the checkpoint of Spark."""
        return str(self.path / "checkpoint")

    @property
    def staging(self) -> Path:
        """Return the folder in which a batch is computed before it is visible."""
        return self.path / "staging"

    def progress(self, batches: int | None = None) -> FleetProgress:
        """Return the progress after this number of batches, or the newest."""
        known = [int(path.stem) for path in (self.path / "progress").glob("*.json")]
        wanted = max(known, default=0) if batches is None else batches
        if not wanted:
            return FleetProgress()
        if wanted not in known:
            raise StoreError(
                f"{self.path} has no record of the state after {wanted} batches: folder and "
                f"checkpoint do not belong together. Restore the newest of both"
            )
        path = self.path / "progress" / f"{wanted}.json"
        with reporting_damage(f"{path} is", "the newest of both, the folder and its checkpoint"):
            progress = FleetProgress(**json.loads(path.read_text(encoding="utf-8")))
            if progress.height.commits != wanted:
                raise ValueError(f"it is the record after {progress.batches!r} batches")
            return progress

    def publish(self, progress: FleetProgress) -> None:
        """Make the staged batch visible. Idempotent for the same batch."""
        for kind in (REFUSED, RELEASED):
            staged, shown = self.staging / f"kind={kind}", self._batch(kind, progress.batches)
            if staged.exists() and not shown.exists():
                _only_parts(staged)
                os.rename(staged, shown)
        _write(self.path / "progress" / f"{progress.batches}.json", json.dumps(asdict(progress)))
        # The previous record stays: this batch is computed from it if it has to be repeated.
        (self.path / "progress" / f"{progress.batches - 2}.json").unlink(missing_ok=True)
        shutil.rmtree(self.staging, ignore_errors=True)

    def needs_columns(self, columns: dict[str, str | None], *, begun: bool) -> bool:
        """Return whether the fleet is not bound to columns yet; reject other columns.

        When a fleet has ``begun``, its events were read by its columns, which are permanent.
        """
        path = self.path / _COLUMNS
        with reporting_damage(f"{path} is", "it"):
            known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
            if known is not None and known.keys() != columns.keys():
                raise ValueError("it names other columns than a fleet has")
        if known is None and begun:
            raise StoreError(f"{path} is missing, which says how events are read: restore it")
        if known is not None and begun and known != columns:
            name = next(name for name in columns if columns[name] != known.get(name))
            raise StoreError(
                f"this fleet reads its events with --{name} {known.get(name)}, got --{name} "
                f"{columns[name]}: other columns would make another stream. Nothing was taken; "
                f"rename the column in the files, or start a new fleet"
            )
        return bool(known != columns)

    def bind(self, columns: dict[str, str | None]) -> None:
        """Read all events by these columns."""
        _write(self.path / _COLUMNS, json.dumps(columns))

    def lines(self, kind: str = RELEASED) -> Iterator[bytes]:
        """Yield what was published, batch by batch, in order within a key; or what was rejected."""
        for batch in sorted((self.path / kind).iterdir()):
            for part in sorted(batch.iterdir()):
                with part.open("rb") as lines:
                    yield from (line.rstrip(b"\n") for line in lines)

    def _batch(self, kind: str, number: int) -> Path:
        return self.path / kind / f"batch-{number:012}"


def _only_parts(folder: Path) -> None:
    """Delete the checksums of Spark, and give the parts names that do not depend on the writer."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("part-"):
            name = folder / path.name[: len("part-00000")]
            if name != path and name.exists():
                raise StoreError(f"Spark has written two files for {name}: nothing was published")
            path.rename(name)
        else:
            path.unlink()


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


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
"""The schema of the output rows: lines of both kinds, and one row for each changed key.

``run`` and ``number`` put the releases of a key in order.
"""
_NO_NUMBERS: Final = (None,) * 5
_MOST_EARLY: Final = 1_000
_LONGEST_EARLY: Final = 1 << 14
"""How far ahead of a gap an event may be to wait there, and how long its line."""
_EARLY: Final = struct.Struct("<4sI")
_EARLY_MAGIC: Final = b"LSE1"
_known_secret: Final = lru_cache(maxsize=4)(secret_of)  # read once per process


class Visit(NamedTuple):
    """The result for a key in one batch; ``state`` is None if it did not change."""

    state: bytes | None
    releases: list[Release]
    refused: list[tuple[Line, str]]
    events: int
    early: list[Line]
    """Lines that wait behind a gap, in order."""


def visited(
    recipe: PrivateLearner,
    secret: bytes,
    key: str,
    state: bytes | None,
    lines: Iterable[Line],
    early: Iterable[Line] = (),
) -> Visit:
    """Feed a key the lines that are due; ``lines`` are in order, ``early`` waited before.

    Repeats are dropped as in ``advance``: of two lines with one number the first counts. What
    ``advance`` would raise for is rejected line by line: numbers past the horizon, which are
    public, and lines that are no example of the class; also lines that find no room behind a gap.
    Whether a line finds room depends on the numbers, which are public, and on this line alone: if
    others could use up the room, the length of one example would decide which others are learned
    from.
    """
    refused, waiting = list[tuple[Line, str]](), list[Line]()
    for line in chain(early, lines):
        problem = _problem(line, key, recipe.rounds)
        if problem is None:
            waiting.append(line)
        else:
            refused.append((line, problem))
    before = 0 if state is None else rounds_of(state)
    ready, behind = in_turn([line.number for line in waiting], before)
    xs, ys = list[Any](), list[int]()
    for line in waiting if ready is None else [waiting[place] for place in ready]:
        event = line.event
        assert isinstance(event, Event) and event.example is not None  # every reader sets it
        xs.append(event.example[0])
        ys.append(event.example[1])
    last = before + len(xs)
    behind_gap = list[Line]()
    for line in [waiting[place] for place in behind]:
        problem = _no_room(line, last + 1)
        if problem is None:
            behind_gap.append(line)
        else:
            refused.append((line, problem))
    if not xs:
        return Visit(None, [], refused, 0, behind_gap)
    seqs = range(before + 1, last + 1)
    new, releases = advance(recipe, secret, key, state, seqs, xs, ys)
    return Visit(new, releases, refused, len(xs), behind_gap)


def _problem(line: Line, key: str, horizon: int | None) -> str | None:
    """Return why a line cannot be an event of ``key``, whatever came before."""
    if isinstance(line.event, BadRow):
        return str(line.event)
    if line.event.id != key:
        return f"belongs to another key than {key!r}"
    if horizon is not None and line.number > horizon:
        return f"is past the horizon of {horizon} rounds"
    return None


def _no_room(line: Line, missing: int) -> str | None:
    """Return why a line cannot wait for event ``missing``."""
    if line.number >= missing + _MOST_EARLY:
        return (
            f"event {missing} of this key is missing, and {_MOST_EARLY:,} at most can wait for it"
        )
    if len(line.text) > _LONGEST_EARLY:
        return f"event {missing} of this key is missing, and the line is too long to wait"
    return None


def packed(state: bytes | None, early: Sequence[str]) -> bytes:
    """Pack what Spark stores for a key into one value: a second value would double the time."""
    if state is not None and not early:
        return state
    head = _EARLY.pack(_EARLY_MAGIC, len(state or b""))
    return head + (state or b"") + json.dumps(early).encode()


def unpacked(value: bytes | None) -> tuple[bytes | None, list[str]]:
    """Unpack the state of a key, if it has begun, and the lines that wait behind a gap."""
    if value is None or not value.startswith(_EARLY_MAGIC):
        return value, []
    _, size = _EARLY.unpack_from(value)
    end = _EARLY.size + size
    return value[_EARLY.size : end] or None, json.loads(value[end:])


class KeyVisits:
    """Process keys for ``transformWithState`` of Spark, with tuples in place of its rows.

    It is sent to the executors and holds no secret: they read it from a local file.
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
        """Open the state; Spark calls this for each task, and once where the query starts."""
        self._states = handle.getValueState("state", "state binary")
        self._read = line_reader(self.recipe.concepts, self.columns, sequence=self.sequence)

    def handleInputRows(  # noqa: N802 (Spark's name)
        self,
        key: tuple[str | None],
        rows: Iterable[Mapping[str, str]],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[tuple[Any, ...]]:
        """Process all lines of a key in this batch, in any order; return the output rows."""
        del timerValues
        lines = self._read([row["value"] for row in rows])
        (name,) = key
        if name is None:  # none of these lines has a readable key
            absent = f"{self.columns.identity!r} is missing or cannot be read"
            return iter([_refusal(line, absent) for line in lines])
        try:
            label_of(name)
        except ValueError as problem:
            return iter([_refusal(line, str(problem)) for line in lines])
        # Not lazily: the state of Spark is that of the current key.
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
        """Do nothing: there are no timers."""
        return iter(())

    def handleInitialState(self, *given: Any) -> None:  # noqa: N802 (Spark's name)
        """Do nothing: there is no initial state."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _refusal(line: Line, reason: str) -> tuple[Any, ...]:
    text = json.dumps({"reason": reason, "line": line.text}, ensure_ascii=False)
    return REFUSED, text, None, None, *_NO_NUMBERS


def _halves(state: bytes) -> tuple[int, int]:
    """Return the seal of a state as two numbers that Spark can add up."""
    seal = state[-SEAL_BYTES:]
    return int.from_bytes(seal[:8], signed=True), int.from_bytes(seal[8:], signed=True)
