"""Feed a stream of events to a durable run and publish what it releases, line by line."""

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from littlestone.errors import HorizonExceededError, LittlestoneError
from littlestone.service.durable import DifferentContentError, DurableRun, Event
from littlestone.service.events import BadRow
from littlestone.service.store import Release

Policy = Literal["reject", "stop"]


class BadRowError(LittlestoneError):
    """A row did not fit and the policy is to stop; what was taken before it stays taken."""


@dataclass(slots=True)
class Tally:
    """What happened locally; none of it is published."""

    taken: int = 0
    repeated: int = 0
    rejected: list[BadRow] = field(default_factory=list)
    rejected_count: int = 0
    horizon_reached: bool = False


class Publisher:
    """Writes each release once, as one line; heartbeats between them.

    A file is continued where it stops: a half-written last line is removed, and releases that the
    log has and the file lacks are written again, the same bytes.
    """

    def __init__(self, target: Path | IO[bytes]) -> None:
        self._last = 0
        self._own = isinstance(target, Path)
        if isinstance(target, Path):
            self._last = _mend(target)
            self._stream: IO[bytes] = target.open("ab")
        else:
            self._stream = target
        self._beat = time.monotonic()

    def catch_up(self, run: DurableRun) -> None:
        """Publish what the log has beyond the file; on a pipe, the release in force."""
        if self._last == 0 and not self._stream.seekable():
            self(run.newest)
            return
        for release in run.releases(after=self._last):
            self(release)

    def __call__(self, release: Release) -> None:
        self._write(release.body)
        self._last = release.number

    def heartbeat(self, rounds: int, every_seconds: float) -> None:
        """Say that the run is alive and how many rounds it has played; both are public."""
        if time.monotonic() - self._beat >= every_seconds:
            self._write(json.dumps({"heartbeat": rounds}).encode())

    def close(self) -> None:
        """Close the file; a stream that was handed in stays open."""
        if self._own:
            self._stream.close()

    def _write(self, line: bytes) -> None:
        self._stream.write(line + b"\n")
        self._stream.flush()
        self._beat = time.monotonic()


def learn(
    run: DurableRun,
    events: Iterable[Event | BadRow],
    publisher: Publisher,
    *,
    group: int = 1000,
    policy: Policy = "reject",
    heartbeat_seconds: float = 60.0,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """Take all events in groups; each group is on disk before its releases are published."""
    tally = Tally()
    publisher.catch_up(run)
    waiting: list[Event] = []
    for item in events:
        if isinstance(item, BadRow):
            _reject(tally, item, policy)
            continue
        waiting.append(item)
        if len(waiting) >= group:
            _take(run, waiting, publisher, tally, policy)
            waiting = []
            publisher.heartbeat(run.rounds, heartbeat_seconds)
            if progress is not None:
                progress(tally)
            if tally.horizon_reached:
                return tally
    _take(run, waiting, publisher, tally, policy)
    if progress is not None:
        progress(tally)
    return tally


def _take(
    run: DurableRun,
    waiting: list[Event],
    publisher: Publisher,
    tally: Tally,
    policy: Policy,
) -> None:
    if not waiting:
        return
    try:
        receipts = run.take(waiting, publisher)
    except (DifferentContentError, HorizonExceededError) as refusal:
        if len(waiting) == 1:
            if isinstance(refusal, HorizonExceededError):
                tally.horizon_reached = True
            else:
                _reject(tally, BadRow(waiting[0].line or 0, str(refusal)), policy)
            return
        # One of them does not fit: find it by halving, so that all others are taken.
        middle = len(waiting) // 2
        _take(run, waiting[:middle], publisher, tally, policy)
        if not tally.horizon_reached:
            _take(run, waiting[middle:], publisher, tally, policy)
        return
    repeated = sum(receipt.repeated for receipt in receipts)
    tally.repeated += repeated
    tally.taken += len(receipts) - repeated


def _reject(tally: Tally, row: BadRow, policy: Policy) -> None:
    if policy == "stop":
        raise BadRowError(f"line {row.line}: {row.reason} (policy: stop)")
    tally.rejected_count += 1
    if len(tally.rejected) < 100:
        tally.rejected.append(row)


def _mend(path: Path) -> int:
    """Remove a half-written last line; returns the number of the last release in the file."""
    if not path.exists():
        return 0
    last, end = 0, 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            end += len(line)
            record = json.loads(line)
            last = record.get("release", last)
    os.truncate(path, end)
    return last
