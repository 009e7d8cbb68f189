"""Write and check the published file: one line per release, with a hash over all before it.

Every reader of the file can check it: each line names its run, its number and the hash of
everything up to it. The file is also a witness: a store that knows less was restored from an old
copy.
"""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

from littlestone.concepts.hypotheses.vote import domain_of
from littlestone.concepts.hypotheses.weighted_vote import MOST, Releases
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError, RollbackError, StoreError
from littlestone.runs.journal.places import is_address
from littlestone.runs.journal.protocol import Place
from littlestone.runs.journal.records import Log, Release, chained
from littlestone.runs.journal.run_log import read_log

_END: Final = re.compile(rb', "chain": "([0-9a-f]{64})"\}$')
_HEARTBEAT: Final = b'{"heartbeat": '
_BLOCK: Final = 1 << 16


class AlteredError(LittlestoneError):
    """A published file is not what its run has published."""


class _OtherFileError(StoreError, ValueError):
    """The file to publish to is not one of this run; neither it nor the store was changed."""


class Line(NamedTuple):
    """A line of some run: a release with its ``body``, or a heartbeat after release ``number``."""

    run: str
    number: int
    chain: bytes
    body: bytes | None


def release_line(release: Release) -> bytes:
    """Return the published line: the logged body, with the hash up to it at the end."""
    return release.body[:-1] + f', "chain": "{release.chain.hex()}"}}'.encode()


def heartbeat_line(*, run: str, after: Release) -> bytes:
    """Return a heartbeat line; it names the release in force and counts nothing."""
    record = {"heartbeat": True, "run": run, "after": after.number, "chain": after.chain.hex()}
    return json.dumps(record).encode()


def parsed(line: bytes) -> Line | None:
    """Parse a line; None if no run has written it."""
    end = _END.search(line)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if end is None or not isinstance(record, dict):
        return None
    number, run = record.get("release", record.get("after")), record.get("run")
    if not isinstance(number, int) or not isinstance(run, str):
        return None
    body = line[: end.start()] + b"}" if "release" in record else None
    return Line(run, number, bytes.fromhex(end[1].decode()), body)


class Tail(NamedTuple):
    """The end of a file: the size of its whole lines, the last of them, and what follows it."""

    size: int
    last: bytes | None
    torn: bytes


def tail_of(file: IO[bytes]) -> Tail:
    """Read the end of a file, backwards as far as needed."""
    size, block = file.seek(0, 2), _BLOCK
    while True:
        start = max(0, size - block)
        file.seek(start)
        content = file.read(size - start)
        end = content.rfind(b"\n")
        begin = content.rfind(b"\n", 0, max(end, 0))
        if start == 0 or begin >= 0:
            break
        block *= 4
    last = content[begin + 1 : end] if end >= 0 else None
    return Tail(start + end + 1, last, content[end + 1 :])


def last_line(tail: Tail, path: Path) -> Line | None:
    """Parse the last whole line; reject a file that no run has published."""
    if tail.last is None:
        return None
    line = parsed(tail.last)
    if line is None:
        raise _OtherFileError(
            f"out must be a new file or one that a run has published, got {path}, whose last line "
            f"is neither a release nor a heartbeat; nothing was written"
        )
    return line


class Published(Protocol):
    """A run, or a store that is not opened yet: its identity and its releases."""

    @property
    def identity(self) -> str:
        """Return the public name of the run."""
        ...

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """Yield the releases after a number."""
        ...


def continued(tail: Tail, path: Path, run: Published) -> int:
    """Return the last release in the file, if ``run`` wrote it and knows at least as much.

    What follows the last whole line must be the beginning of what the run would write there.
    """
    line = last_line(tail, path)
    number = 0
    if line is not None:
        number = line.number
        if line.run != run.identity:
            raise _OtherFileError(
                f"out must not mix runs, got {path}, which was published by run {line.run}, not by "
                f"{run.identity}; choose another file"
            )
        known = next(run.releases(after=number - 1), None)
        if known is None or known.chain != line.chain:
            raise RollbackError(
                f"{path} has release {number} of this run; the store has "
                f"{'no such release' if known is None else 'a different one'}: the store was "
                f"rolled back, perhaps with its mark. Continuing would spend the same noise on "
                f"other data and void the guarantee. Restore the newest store and mark; or start "
                f"a new store, with another file, whose budget adds to what was already published"
            )
    following = next(run.releases(after=number), None)
    expected = b"" if following is None else release_line(following)
    heartbeat = _HEARTBEAT.startswith(tail.torn) or tail.torn.startswith(_HEARTBEAT)
    if not expected.startswith(tail.torn) and not (number and heartbeat):
        raise _OtherFileError(
            f"out must be a new file or one that this run has published, got {path}, which does "
            f"not end like one; nothing was written"
        )
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What a published file holds, after every line was checked."""

    run: str
    first: int
    last: int
    chain: bytes
    newest: bytes | None
    """The body of the last release; None if there are heartbeats only."""
    torn: bool
    missing: int
    """Releases of the store that the file does not have yet; 0 without a store."""
    runs: int = 1


def examine(
    path: Path, store: str | Path | Place | None = None, *, fleet: bool = False
) -> Examined:
    """Check every line of a published file, and that the store has logged the same bytes.

    The file of a ``fleet`` may hold several runs, each from its first release on. Their lines may
    be mixed; ``first``, ``last`` and ``chain`` are those of the run of the last line.
    """
    log = None if store is None else read_log(store)
    first, previous, newest, torn = None, None, None, False
    runs: dict[str, tuple[Line, Line]] = {}
    with path.open("rb") as file:
        for place, content in enumerate(file, start=1):
            torn = not content.endswith(b"\n")
            line = parsed(content[:-1])
            # Only the last line can be partial; continuing the run repairs it.
            if torn and line is None:
                break
            if line is None or torn:
                raise AlteredError(f"line {place} of {path} is neither a release nor a heartbeat")
            begins = line.number == 1 and line.body is not None
            if fleet and (line.run in runs or (runs and begins)):
                first, previous = runs.get(line.run, (None, None))
            fault = _fault(line, previous, log)
            if fault is not None:
                raise AlteredError(f"line {place} of {path} {fault}")
            bare = line._replace(body=None)  # rules of a million keys are long
            first, previous = runs[line.run] = first or bare, bare
            newest = line.body or newest
    if first is None or previous is None:
        raise ValueError(f"{path} holds no published line; give a file of learn --out")
    missing = 0 if log is None else len(log.releases) - previous.number
    return Examined(
        run=previous.run,
        first=first.number,
        last=previous.number,
        chain=previous.chain,
        newest=newest,
        torn=torn,
        missing=missing,
        runs=len(runs),
    )


def recent_rules(published: str | Path) -> list[dict[str, Any]]:
    """Return the last releases in a published file or a store, after checking the hashes.

    Of rules that are not over records, which are not voted on, it is only the last.
    """
    if is_store(published):
        bodies = [release.body for release in read_log(published).releases[-MOST:]]
    else:
        newest = examine(Path(published)).newest
        if newest is None:
            raise ValueError(f"{published} holds no published rule; give a file of learn --out")
        bodies = [newest]
        if _over_records(json.loads(newest)):  # lists of a million keys are long
            with Path(published).open("rb") as file:
                lines = (parsed(content[:-1]) for content in file)
                found = (line.body for line in lines if line is not None and line.body is not None)
                bodies = list(deque(found, maxlen=MOST))
    releases: list[dict[str, Any]] = list(map(json.loads, bodies))
    return releases if _over_records(releases[-1]) else releases[-1:]


def steady_rule(releases: Iterable[Mapping[str, Any]]) -> Hypothesis:
    """Return the vote of published rules, by how long each was in force, for predictions.

    It is a function of what is public, so it costs no privacy.
    """
    known = Releases()
    for release in releases:
        known.add(release["round"], hypothesis_from_json(release["hypothesis"]))
    return known.steady()


def is_store(published: str | Path) -> bool:
    """Return whether this is a store and not a published file."""
    if is_address(published):
        return True
    with Path(published).open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"


def _over_records(release: Mapping[str, Any]) -> bool:
    return isinstance(domain_of(hypothesis_from_json(release["hypothesis"])), Schema)


def _fault(line: Line, previous: Line | None, log: Log | None) -> str | None:
    """Return what is wrong with a line, given the line before it and the log of the store."""
    if previous is not None and line.run != previous.run:
        return f"is of run {line.run}, the line before it of {previous.run}"
    if previous is not None and line.number != previous.number + (line.body is not None):
        return f"has number {line.number} after number {previous.number}"
    before = None if previous is None else previous.chain
    if line.number == 1 and line.body is not None:
        before = b""
    if before is not None and line.chain != _chain_after(before, line):
        return "does not match its hash: it, or a line before it, was altered"
    if log is None:
        return None
    if line.run != log.identity:
        return f"is of run {line.run}, but the store is of {log.identity}"
    if line.number > len(log.releases):
        return (
            f"has release {line.number}, but the store only {len(log.releases)}: the store was "
            f"rolled back, and must not be continued"
        )
    logged = log.releases[line.number - 1]
    if line.chain != logged.chain or line.body not in (None, logged.body):
        return f"is not what the store has logged as release {line.number}"
    return None


def _chain_after(before: bytes, line: Line) -> bytes:
    return before if line.body is None else chained(before, line.body)
