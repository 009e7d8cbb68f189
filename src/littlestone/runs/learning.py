"""Feed a stream of events to a durable run and publish what it releases, line by line."""

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Final, Literal

from littlestone.errors import HorizonExceededError, LittlestoneError, StoreError
from littlestone.locks import lock
from littlestone.runs.durable import REFUSALS, DifferentContentError, DurableRun
from littlestone.runs.intake.event import Event, EventBlock, Receipt, by_halving
from littlestone.runs.intake.form import BadRow, shown
from littlestone.runs.intake.pace import Tick
from littlestone.runs.journal.records import Release
from littlestone.runs.published import (
    Published,
    continued,
    heartbeat_line,
    last_line,
    release_line,
    tail_of,
)

_COMPARED: Final = 50  # rows by which a file is recognized
_HEARTBEAT_SECONDS: Final = 60.0
_FEW: Final = 16  # below this, columns do not pay off
_TWICE: Final = "under another name a row is read a second time, beyond --max-contributions"

_LINE: Final = re.compile(r"(.*?) ?line [0-9]+", re.DOTALL)

Advice = Callable[[str | None, bool], str]
"""Says how to continue a source by its name, or by ids if it has none; and if rows have ids now."""

Policy = Literal["stand-in", "reject", "stop"]
"""What happens to a row that does not fit: a round with stand-ins, no round, or a stop."""


Item = Event | EventBlock | BadRow | Tick
"""What a source yields: events, one by one or in blocks, rows that do not fit, and ticks."""


class BadRowError(LittlestoneError):
    """A row did not fit and the policy is to stop; the rows before it stay taken."""


@dataclass(slots=True)
class Tally:
    """Count what happened locally; none of it is published.

    ``misfits`` counts rows that did not fit by field and reason, and ``first`` has the first of
    each. Those that were taken with stand-ins are ``stood_in``, the others ``rejected``.
    """

    taken: int = 0
    repeated: int = 0
    rejected: int = 0
    stood_in: int = 0
    over_limit: int = 0
    """Of those taken: rounds without an example, whose users have reached ``max_contributions``."""
    misfits: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], BadRow] = field(default_factory=dict)
    horizon_reached: bool = False
    fitting_labels: set[int] = field(default_factory=set)
    beside: list[str] = field(default_factory=list)
    """Other files whose lines were read before, where rows have no ids."""

    def note(self, row: BadRow) -> None:
        """Count a row that does not fit."""
        kind = row.field, row.reason
        self.misfits[kind] += 1
        self.first.setdefault(kind, row)

    def lines(self) -> list[str]:
        """Return one line for each field and reason, the most frequent first."""
        return [
            f"{count:,} {'row' if count == 1 else 'rows'}, first on line {self.first[kind].line}: "
            f"{self.first[kind]}"
            for kind, count in self.misfits.most_common()
        ]

    def complaint(self, label: str) -> str | None:
        """Return why the result needs attention, or None."""
        misfits = self.misfits.total()
        if self.horizon_reached:
            return "all rounds are played: the rows after them were not taken (see --rounds)"
        if misfits and not self.taken + self.repeated:
            return f"none of the {misfits:,} rows fits; nothing was taken"
        if 2 * misfits > self._rows():
            return f"most rows do not fit: {misfits:,} of {self._rows():,}{self._way_out()}"
        unreadable = any(name == label and "--positive" in why for name, why in self.misfits)
        if len(self.fitting_labels) == 1 and unreadable:
            (only,) = self.fitting_labels
            return f"every label that could be read is {only}; give the value of 1 with --positive"
        return None

    def _way_out(self) -> str:
        """Suggest a declaration for the most frequent misfit, if the schema allows one."""
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
    """Write each release once, as one line, with heartbeats in between.

    A file that this run has written is continued at its end: a partial last line is removed, and
    releases of the log that the file lacks are written again, with the same bytes. A file of
    another run is rejected and not changed.
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
        """Reject a file that is not empty, for a run that is about to start."""
        if self._path is not None and self._path.is_file() and self._path.stat().st_size:
            raise StoreError(
                f"{self._path} was published by a run whose store is missing: restore the store; "
                f"or publish to another file, where the budget adds to what was published"
            )

    def refuse_old_store(self, store: Published) -> None:
        """Reject a store restored from an old copy, for a run that is about to continue."""
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
        else:  # a named pipe or a device
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
        """Write that the run is alive, without a number: the count of rounds may be secret."""
        if time.monotonic() - self._beat >= every_seconds:
            self._write(heartbeat_line(run=self._run, after=self._newest))

    def close(self) -> None:
        """Close the file; a stream that was passed in stays open."""
        if self._path is not None and self._stream is not None:
            with suppress(OSError):  # every line was flushed, or its failure was reported
                self._stream.close()

    def _write(self, line: bytes) -> None:
        stream = self._writing()
        stream.write(line + b"\n")
        stream.flush()
        self._beat = time.monotonic()

    def _writing(self) -> IO[bytes]:
        assert self._stream is not None
        return self._stream


class Waiting:
    """Events of one source that are taken together, one by one or in blocks."""

    def __init__(self) -> None:
        self._parts: list[EventBlock | list[Event]] = []
        self.size = 0
        """How many events wait."""

    def add(self, item: Event | EventBlock) -> None:
        """Add one event, or a block of them."""
        if isinstance(item, EventBlock):
            self._parts.append(item)
            self.size += len(item)
            return
        if not self._parts or isinstance(self._parts[-1], EventBlock):
            self._parts.append([])
        self._parts[-1].append(item)  # type: ignore[union-attr]
        self.size += 1

    def together(self) -> Sequence[Event]:
        """Return the events in order, as one block if there is any; then forget them."""
        parts, self._parts, self.size = self._parts, [], 0
        if not any(isinstance(part, EventBlock) for part in parts):
            return list(chain.from_iterable(parts))
        return EventBlock.joined(
            [part if isinstance(part, EventBlock) else EventBlock.of(part) for part in parts]
        )


def _cut(items: Iterable[Item], waiting: Waiting, most: int) -> Iterator[Item]:
    """Yield items, with blocks cut so that no more than ``most`` events wait."""
    for item in items:
        if not isinstance(item, EventBlock):
            yield item
            continue
        if most < _FEW:
            yield from item
            continue
        start = 0
        while start < len(item):
            end = start + most - waiting.size
            yield item[start:end]
            start = end


def learn(
    run: DurableRun,
    events: Iterable[Item],
    publisher: Publisher,
    *,
    group: int = 1000,
    policy: Policy = "reject",
    named_by_line: bool = False,
    renamed: bool = False,
    source: str | None = None,
    to_continue: Advice | None = None,
    at_ticks: bool = False,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """Take all events in groups; each group is on disk before its releases are published.

    Args:
        run: The durable run, whose ``events`` come from one source.
        publisher: Where releases are written.
        group: The most events of one commit.
        policy: What happens to a row that does not fit.
        named_by_line: Event ids are line numbers. An event that was taken with another example then
            means an altered or another file: the run stops, because each following line would be
            lost or read twice.
        renamed: Earlier event ids are line numbers, or from another column. If the events have ids
            of their own now, a file that was read under others is rejected.
        source: The name that the user gave the source; otherwise a file that was read under another
            name is rejected.
        to_continue: Says how to continue a source of this name, or one whose rows had ids, and
            whether its rows have ids now; by default in the words of the command.
        at_ticks: Publish at ticks only, and only what was ready before, so that the time to learn
            stays hidden.
        progress: Called with the counts after each group.
    """
    tally = Tally()
    publisher.catch_up(run)
    publish = None if at_ticks else publisher
    waiting = Waiting()
    advice = to_continue or _in_the_command
    unknown = source is None if named_by_line else renamed
    # Rows with ids are compared together: a few may be like others by chance.
    enough = group if named_by_line or not unknown else max(group, _FEW)

    def take() -> None:
        nonlocal unknown
        together = waiting.together()
        if unknown and together:
            begin = list(together[:_COMPARED])
            if named_by_line:
                tally.beside = _refuse_read_before(run, begin, advice)
            else:
                _refuse_read_before(run, begin, advice, named=True, source=source)
            unknown = False
        _take(run, together, publish, tally, policy, named_by_line)

    for item in _cut(events, waiting, group):
        if isinstance(item, EventBlock):
            tally.fitting_labels.update(item.labels.tolist())
            waiting.add(item)
        elif isinstance(item, Event):
            tally.fitting_labels.add(item.y)
            waiting.add(item)
        elif isinstance(item, Tick):
            publisher.publish_news(run)
        elif isinstance(item, BadRow):
            if policy != "stand-in" or item.stand_in is None:
                _reject(tally, item, policy)
                continue
            tally.note(item)
            tally.stood_in += 1
            waiting.add(item.stand_in)
        few = unknown and not named_by_line and waiting.size < _FEW
        if waiting.size >= (enough if unknown else group) or isinstance(item, Tick):
            if isinstance(item, Tick) or not at_ticks:
                publisher.heartbeat(_HEARTBEAT_SECONDS)
            if not few:
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


def _in_the_command(name: str | None, named: bool) -> str:
    way = "--id with the column of those ids"
    if name is not None:
        way = f"--source {shlex.quote(name)}{' and no --id' * named}"
    return (
        f"To continue it, give {way}; only if they are other rows, give --source with a new name "
        f"({_TWICE})"
    )


def _refuse_read_before(
    run: DurableRun,
    events: Sequence[Event],
    advice: Advice,
    *,
    named: bool = False,
    source: str | None = None,
) -> list[str]:
    """Reject a file that was renamed, copied or converted after it was read, by its first rows.

    ``named``: the rows have ids, so that they do not continue what was read by lines. ``source``:
    they may be like those that were read under another name.

    Returns:
        The names of other files whose lines the run has read.
    """
    begin, names = events[0].line or 0, list[str]()
    least = _FEW if named else 1  # fewer rows may be like others by chance
    # A row without an id has the name of its line.
    own = [each for each in events if not (named and each.id.endswith(f"line {each.line}"))]
    if run.same_content((own or events)[:1]) != [None]:
        return names  # it continues under its own name
    for line in sorted({begin, 1, 2}):  # with or without a header
        ending = f"line {line}"
        for known in run.ids_ending(ending):
            before = known.removesuffix(ending)
            name = before.rstrip()
            if source is not None and name != source.rstrip():
                continue
            lines = (f"{before}line {(each.line or 0) + line - begin}" for each in events)
            same = [each._replace(id=id_) for each, id_ in zip(events, lines, strict=True)]
            alike = run.same_content(same)
            if False not in alike and alike.count(True) >= least:
                raise StoreError(
                    f"these rows begin like those of {name!r}, which was read before. "
                    f"{advice(name, named)}. Nothing was taken"
                )
            names.append(name)
    first = run.taken_as(events) if len(events) >= _FEW else None
    if first is not None and (source is None or first.startswith(f"{source} line ")):
        by_lines = _LINE.fullmatch(first)
        raise StoreError(
            f"these rows begin like those from {first!r} on, which were read before. "
            f"{advice(by_lines and by_lines[1], named)}. Nothing was taken"
        )
    return sorted({*names})


def _take(
    run: DurableRun,
    waiting: Sequence[Event],
    publish: Publisher | None,
    tally: Tally,
    policy: Policy,
    named_by_line: bool,
) -> None:
    """Take all events that can be taken; find one that cannot by halving."""
    if not waiting:
        return

    def taken(events: Sequence[Event]) -> list[Receipt]:
        return [] if tally.horizon_reached else run.take(events, publish)

    def refused(events: Sequence[Event], refusal: Exception) -> list[Receipt]:
        (event,) = events
        if isinstance(refusal, HorizonExceededError):
            tally.horizon_reached = True
        elif named_by_line:
            raise DifferentContentError(
                f"line {event.line} was taken before with another example. Nothing was taken from "
                f"here on. If the file was altered, restore it ({_TWICE}); if it is "
                f"another file or another day's pipe, give it its own name (--source), or name "
                f"the column of ids (--id)"
            ) from None
        else:
            reason = "an id that was taken before, with another example"
            _reject(tally, BadRow(event.line or 0, reason, got=shown(event.id)), policy)
        return []

    receipts: Iterable[Receipt]
    try:
        receipts = run.take(waiting, publish)
    except REFUSALS as refusal:
        if named_by_line and isinstance(refusal, DifferentContentError):
            # Rows before that line may have been read as other lines: take none of the group.
            others = zip(waiting, run.same_content(waiting), strict=True)
            waiting = [event for event, same in others if same is False][:1] or waiting
        receipts = by_halving(waiting, taken, refused, refusals=REFUSALS)
    for receipt in receipts:
        if receipt.repeated:
            tally.repeated += 1
        else:
            tally.taken += 1
            tally.over_limit += receipt.over_limit


def _reject(tally: Tally, row: BadRow, policy: Policy) -> None:
    if policy == "stop":
        raise BadRowError(f"line {row.line}: {row} (policy: stop)")
    tally.note(row)
    tally.rejected += 1


def _continued(path: Path, run: DurableRun) -> tuple[IO[bytes], int]:
    """Open the file, locked and without a partial last line; return it with its last release."""
    file = path.open("a+b")
    try:
        lock(file)
        tail = tail_of(file)
        last = continued(tail, path, run)
        if tail.torn:
            file.truncate(tail.size)
    except BlockingIOError:
        file.close()
        raise StoreError(
            f"{path} is being written by another process; choose another --out"
        ) from None
    except BaseException:
        file.close()
        raise
    return file, last
