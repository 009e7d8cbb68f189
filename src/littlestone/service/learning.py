"""Feed a stream of events to a durable run and publish what it releases, line by line."""

import fcntl
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal

from littlestone.errors import HorizonExceededError, LittlestoneError, StoreError
from littlestone.service.durable import DifferentContentError, DurableRun
from littlestone.service.entries import Release
from littlestone.service.log.intake import Event
from littlestone.service.pace import Tick
from littlestone.service.published import (
    Published,
    continued,
    heartbeat_line,
    last_line,
    release_line,
    tail_of,
)
from littlestone.service.sources import BadRow, shown

_COMPARED: Final = 50  # rows, by which a file is known again
_TWICE: Final = "under another name a row is read a second time, beyond --max-contributions"

Policy = Literal["stand-in", "reject", "stop"]
"""What becomes of a row that does not fit: a round with stand-ins, no round, the end of the run."""


class BadRowError(LittlestoneError):
    """A row did not fit and the policy is to stop; what was taken before it stays taken."""


@dataclass(slots=True)
class Tally:
    """What happened locally; none of it is published.

    ``misfits`` counts rows that did not fit by field and reason, ``first`` has the first of each;
    those of them that were taken with stand-ins are ``stood_in``, the others ``rejected``.
    """

    taken: int = 0
    repeated: int = 0
    rejected: int = 0
    stood_in: int = 0
    unread: int = 0
    """Of those taken: rounds without an example, since their users had had their share."""
    misfits: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], BadRow] = field(default_factory=dict)
    horizon_reached: bool = False
    fitting_labels: set[int] = field(default_factory=set)

    def note(self, row: BadRow) -> None:
        kind = row.field, row.reason
        self.misfits[kind] += 1
        self.first.setdefault(kind, row)

    def lines(self) -> list[str]:
        """One for each field and reason, the most frequent first."""
        return [
            f"{count:,} {'row' if count == 1 else 'rows'}, first on line {self.first[kind].line}: "
            f"{self.first[kind]}"
            for kind, count in self.misfits.most_common()
        ]

    def complaint(self, label: str) -> str | None:
        """Why nobody should take this for done, if so."""
        misfits = self.misfits.total()
        if self.horizon_reached:
            return "all rounds are played: the rows after them were not taken (see --rounds)"
        if misfits and not self.taken + self.repeated:
            return f"none of the {misfits:,} rows fits; nothing was taken"
        if 2 * misfits > self._rows():
            return f"most rows do not fit: {misfits:,} of {self._rows():,}{self._way_out()}"
        if len(self.fitting_labels) == 1 and any(name == label for name, _ in self.misfits):
            (only,) = self.fitting_labels
            return f"every label that could be read is {only}; say --positive, what counts as 1"
        return None

    def _way_out(self) -> str:
        """For the most frequent misfit, if it is what a schema may declare."""
        ((field, reason), count), *_ = self.misfits.most_common()
        if reason != "is missing" or not self.stood_in:
            return ""
        return (
            f" ({field!r} is missing in {count:,}, which were taken with stand-ins; missing = "
            f'"own value" in its table declares that this is a value, too)'
        )

    def _rows(self) -> int:
        return self.taken + self.repeated + self.rejected


class Publisher:
    """Writes each release once, as one line; heartbeats between them.

    A file is continued where it stops, if this run has written it: a half-written last line is
    removed, and releases that the log has and the file lacks are written again, the same bytes. A
    file of somebody else is refused, and nothing is done to it.
    """

    def __init__(self, target: Path | IO[bytes]) -> None:
        self._path = target if isinstance(target, Path) else None
        self._stream = None if isinstance(target, Path) else target
        self._newest: Release
        self._run = ""
        self._beat = time.monotonic()
        if self._path is not None and self._path.is_file():
            with self._path.open("rb") as file:
                last_line(tail_of(file), self._path)

    def refuse_known(self) -> None:
        """For a run that is about to start: refuse a file that holds anything already."""
        if self._path is not None and self._path.is_file() and self._path.stat().st_size:
            raise StoreError(
                f"{self._path} was published by a run whose store is not there: bring the store "
                f"back; or publish to another file, where the budget adds to what was published"
            )

    def testify(self, store: Published) -> None:
        """For a run that is about to be continued: refuse one that was put back."""
        if self._path is not None and self._path.is_file():
            with self._path.open("rb") as file:
                continued(tail_of(file), self._path, store)

    def catch_up(self, run: DurableRun) -> None:
        """Publish what the log has beyond the file; on a pipe, the release in force."""
        self._run, self._newest = run.identity, run.newest
        if self._path is None:
            after = 0 if self._writing().seekable() else run.newest.number - 1
        elif self._path.is_file() or not self._path.exists():
            self._stream, after = _continued(self._path, run)
        else:  # a pipe with a name, or a device
            self._stream, after = self._path.open("wb"), run.newest.number - 1
        for release in run.releases(after=after):
            self(release)

    def publish_news(self, run: DurableRun) -> None:
        """Publish what was logged and is not published yet."""
        for release in run.releases(after=self._newest.number):
            self(release)

    def __call__(self, release: Release) -> None:
        self._write(release_line(release))
        self._newest = release

    def heartbeat(self, every_seconds: float) -> None:
        """Say that the run is alive, and no number: how many rows were rounds may be a secret."""
        if time.monotonic() - self._beat >= every_seconds:
            self._write(heartbeat_line(run=self._run, after=self._newest))

    def close(self) -> None:
        """Close the file; a stream that was handed in stays open."""
        if self._path is not None and self._stream is not None:
            with suppress(OSError):  # every line was flushed, or its failure was told
                self._stream.close()

    def _write(self, line: bytes) -> None:
        stream = self._writing()
        stream.write(line + b"\n")
        stream.flush()
        self._beat = time.monotonic()

    def _writing(self) -> IO[bytes]:
        assert self._stream is not None
        return self._stream


def learn(
    run: DurableRun,
    events: Iterable[Event | BadRow | Tick],
    publisher: Publisher,
    *,
    group: int = 1000,
    policy: Policy = "reject",
    named_by_line: bool = False,
    name_said: bool = False,
    at_ticks: bool = False,
    heartbeat_seconds: float = 60.0,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """Take all events in groups; each group is on disk before its releases are published.

    Events that are ``named_by_line`` and were taken with another example are of an altered file, or
    of another one: the run stops, since every line that follows would be lost or read twice. A file
    that was read under another name is refused, unless its name was said.

    With ``at_ticks`` nothing is published but at a tick, and then only what was ready before it:
    how long it took to learn is not seen.
    """
    tally = Tally()
    publisher.catch_up(run)
    publish = None if at_ticks else publisher
    waiting: list[Event] = []
    unknown = named_by_line and not name_said

    def take() -> None:
        nonlocal unknown, waiting
        if unknown and waiting:
            _refuse_read_before(run, waiting[:_COMPARED])
            unknown = False
        _take(run, waiting, publish, tally, policy, named_by_line)
        waiting = []

    for item in events:
        if isinstance(item, Tick):
            publisher.publish_news(run)
        elif isinstance(item, BadRow):
            if policy != "stand-in" or item.stand_in is None:
                _reject(tally, item, policy)
                continue
            tally.note(item)
            tally.stood_in += 1
            waiting.append(item.stand_in)
        else:
            tally.fitting_labels.add(item.y)
            waiting.append(item)
        if len(waiting) >= group or isinstance(item, Tick):
            if isinstance(item, Tick) or not at_ticks:
                publisher.heartbeat(heartbeat_seconds)
            take()
            if progress is not None:
                progress(tally)
            if tally.horizon_reached:
                break
    take()
    publisher.publish_news(run)
    if progress is not None:
        progress(tally)
    return tally


def _refuse_read_before(run: DurableRun, events: Sequence[Event]) -> None:
    """A file is known by its rows: refuse one that was renamed or copied after it was read."""
    ending = f"line {events[0].line}"
    if run.alike(events[:1]) != [None]:
        return  # it goes on under its own name
    for known in run.ids_ending(ending):
        name = known.removesuffix(ending)
        if False not in run.alike([each._replace(id=f"{name}line {each.line}") for each in events]):
            raise StoreError(
                f"these rows begin like those of {name.rstrip()!r}, which was read before. To go "
                f"on with it, say --source {shlex.quote(name.rstrip())}; only if they are other "
                f"rows, say --source and a name of their own ({_TWICE}). Nothing was taken"
            )


def _take(
    run: DurableRun,
    waiting: list[Event],
    publish: Publisher | None,
    tally: Tally,
    policy: Policy,
    named_by_line: bool,
) -> None:
    if not waiting:
        return
    try:
        receipts = run.take(waiting, publish)
    except (DifferentContentError, HorizonExceededError) as refusal:
        if len(waiting) == 1:
            if isinstance(refusal, HorizonExceededError):
                tally.horizon_reached = True
            else:
                if named_by_line:
                    raise DifferentContentError(
                        f"line {waiting[0].line} was taken before with another example. Nothing "
                        f"was taken from here on. If the file was altered, bring it back as it was "
                        f"({_TWICE}); if it is another file or another day's pipe, give it a name "
                        f"of its own (--source), or say where ids are (--id)"
                    ) from None
                reason = "an id that was taken before, with another example"
                _reject(
                    tally, BadRow(waiting[0].line or 0, reason, got=shown(waiting[0].id)), policy
                )
            return
        # One of them does not fit: find it by halving, so that all others are taken.
        middle = len(waiting) // 2
        _take(run, waiting[:middle], publish, tally, policy, named_by_line)
        if not tally.horizon_reached:
            _take(run, waiting[middle:], publish, tally, policy, named_by_line)
        return
    repeated = sum(receipt.repeated for receipt in receipts)
    tally.repeated += repeated
    tally.taken += len(receipts) - repeated
    tally.unread += sum(receipt.unread for receipt in receipts if not receipt.repeated)


def _reject(tally: Tally, row: BadRow, policy: Policy) -> None:
    if policy == "stop":
        raise BadRowError(f"line {row.line}: {row} (policy: stop)")
    tally.note(row)
    tally.rejected += 1


def _continued(path: Path, run: DurableRun) -> tuple[IO[bytes], int]:
    """The file, locked and without a half-written last line, and the last release in it."""
    file = path.open("a+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        tail = tail_of(file)
        last = continued(tail, path, run)
        if tail.torn:
            file.truncate(tail.size)
    except BlockingIOError:
        file.close()
        raise StoreError(f"{path} is being written by another process") from None
    except BaseException:
        file.close()
        raise
    return file, last
