"""Snapshots of runs: bytes that detect damage and can be continued only once.

A snapshot holds the noisy threshold and every other secret of a run. Continuing it twice, or going
back to an older one, would spend the same noise on two streams and void the guarantee. So every
snapshot has a number, and only the newest of its run may be continued, once.
"""

import errno
import hashlib
import os
import re
import secrets
import stat
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, Protocol

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import LittlestoneError, SnapshotError
from littlestone.learners import (
    codec,
    known_types,  # noqa: F401 (importing it registers the classes)
)
from littlestone.learners.engine import Engine
from littlestone.locks import lock, refuse_hard_links
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner
from littlestone.type_checks import fits

MAGIC: Final = b"littlestone-snapshot-1\n"
_DIGEST_BYTES: Final = 32
_SPARE_LINES: Final = 1000
_LONGEST_LINE: Final = 128
_LINE: Final = re.compile(rb"(?:([0-9a-f]{32}) ([0-9]{0,40})|[0-9a-f]{0,32})\n?")
_AGAIN_BITS: Final = 32  # low bits of a number: continuations without a further round

CONTINUED: Final = (
    "was continued elsewhere from its snapshot; continuing both would reuse the same noise on "
    "different data. Continue the restored run"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotContents:
    """What the bytes of a snapshot hold."""

    recipe: str
    """The digest of the recipe's form."""
    identity: str
    """The id of the run and of every continuation."""
    number: int
    """Grows with the rounds; only the newest number of a run may be continued."""
    randomness: dict[str, Any]
    rounds_played: int
    switches: int
    engine: bytes

    def source(self) -> Randomness:
        """Return the randomness in the state it had."""
        with _as_snapshot_errors():
            return Randomness.from_state(self.randomness)

    def fill(self, engine: Engine, shared: Sequence[Any], rng: Randomness) -> None:
        """Load the saved state into ``engine``.

        Args:
            engine: A new engine of the same recipe.
            shared: Objects that both sides have, such as the concept class.
            rng: The randomness that ``source`` returned.
        """
        with _as_snapshot_errors():
            engine.load(codec.loads(self.engine, shared, rng))
            _ = (engine.status, engine.halted, hash(engine.hypothesis))  # every caller reads these
            if not fits(engine.hypothesis, Hypothesis):
                raise SnapshotError("this snapshot holds no hypothesis")
        for name in ("step", "idle", "steps", "follow"):
            setattr(engine, name, _with_snapshot_errors(getattr(engine, name)))


@contextmanager
def _as_snapshot_errors() -> Iterator[None]:
    """Turn any failure on crafted bytes into a ``SnapshotError``."""
    try:
        yield
    except SnapshotError:
        raise
    except Exception as problem:
        raise SnapshotError(
            f"this snapshot holds no state of this recipe: {problem!r}"
        ) from problem


def _with_snapshot_errors(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a step: no step raises because of data, so a failure means an impossible state."""

    def taken(*example: Any) -> Any:
        try:
            count = step(*example)
            if count == 0 and type(count) is int:  # feeding the rest would never end
                raise AssertionError("no round of a non-empty block was taken")
            return count
        except LittlestoneError:
            raise
        except Exception as problem:
            raise SnapshotError(
                f"a step of this restored run failed, so its snapshot was altered on purpose (or "
                f"this is a bug of the library): {problem!r}"
            ) from problem

    return taken


_runs: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
_newest: dict[str, int] = {}
_given: "weakref.WeakSet[Randomness]" = weakref.WeakSet()  # keyed streams that a run owns
_turn: Final = threading.Lock()  # held while ``_newest`` is read and changed


class Register(Protocol):
    """Remember which snapshots were continued."""

    def claim(self, saved: SnapshotContents) -> None:
        """Mark ``saved`` as continued, or raise and change nothing."""
        ...

    def use_up(self, identity: str, number: int) -> None:
        """Record that the run itself continues after its snapshot ``number``.

        Raises:
            SnapshotError: If another run continued that snapshot.
        """
        ...


class ProcessRegister:
    """Remember for the life of this process: the default."""

    def use_up(self, identity: str, number: int) -> None:
        """Record that the run itself continues after its snapshot ``number``."""
        with _turn:
            _refuse_unless_newest(number, _newest.get(identity, 0))
            _newest[identity] = number + 1

    def claim(self, saved: SnapshotContents) -> None:
        """Mark ``saved`` as continued, and retire the live run it was taken from."""
        self.use_up(saved.identity, saved.number)
        _retire_live(saved.identity)


class FileRegister(ProcessRegister):
    """Remember in a file, shared by processes that lock it in turn.

    Lines are appended and synced before the run continues, so a crash can lose a snapshot but never
    lets one be continued twice. The file is rewritten when most of its lines are outdated. It is
    created if missing; a file that cannot be written, or that holds anything else, is rejected at
    once.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        try:
            with self._opened() as file:
                _read(file)
        except OSError as problem:
            raise ValueError(f"path must be a file to write to, got {path}: {problem}") from problem

    def use_up(self, identity: str, number: int) -> None:
        """Record in the file that the run itself continues after its snapshot ``number``."""
        with self._locked() as file:
            newest, count, ended = _read(file)
            _refuse_unless_newest(number, newest.get(identity, 0))
            with _turn:
                _refuse_unless_newest(number, _newest.get(identity, 0))
            newest[identity] = number + 1
            end = "" if ended else "\n"  # completes a line that a crash has cut off
            _append(file.fileno(), f"{end}{identity} {number + 1}\n".encode())
            super().use_up(identity, number)
            if count + 1 > 2 * len(newest) + _SPARE_LINES:
                self._replace(newest, mode=os.fstat(file.fileno()).st_mode)

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """Lock the file that has the name; open it again if it was replaced meanwhile."""
        while True:
            with self._opened() as file:
                lock(file, wait=True)
                if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                    yield file
                    return

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        with self._path.open("a+b") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a device has no end
                raise ValueError(
                    f"path must be a file, got {self._path}, which is a device or pipe"
                )
            refuse_hard_links(self._path)
            yield file

    def _replace(self, newest: dict[str, int], *, mode: int) -> None:
        """Rewrite by renaming, so that readers see all old lines or all new ones."""
        target = self._path.resolve()
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with draft.open("x") as file:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
                file.writelines(f"{name} {number}\n" for name, number in newest.items())
                file.flush()
                os.fsync(file.fileno())
            draft.rename(target)
        except OSError:  # disk full or no permission: the old lines are still valid
            draft.unlink(missing_ok=True)
            return
        # Without this, a power loss may bring back the old file without the lines written later.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@require.checked
class ContinuedOnce(NoiseOwner):
    """A run whose newest snapshot is continued once: by ``restore``, or by the run itself."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._register: Register = ProcessRegister()
        self._open_snapshot: int | None = None  # number of a snapshot that is not continued yet

    @property
    def identity(self) -> str:
        """An id of this run and of every continuation; reveals nothing about its noise."""
        return self._identity

    def retire(self, reason: str = CONTINUED) -> None:
        """Reject all further examples, by default because another run continues this one."""
        self._retire(reason)

    def _refuse(self) -> None:
        if self._barred is CONTINUED:
            raise SnapshotError(f"this run {CONTINUED}")
        super()._refuse()

    def _use_up_snapshot(self) -> None:
        """Claim the open snapshot for this run, inside a step that has changed nothing yet."""
        if self._open_snapshot is None:
            return
        try:
            self._register.use_up(self._identity, self._open_snapshot)
        except SnapshotError:
            self.retire()
            raise
        except (OSError, ValueError):  # the register's file: nothing has been learned yet
            self._end()
            raise
        self._open_snapshot = None


def _append(file: int, line: bytes) -> None:
    """Append a line, all of it or nothing: a run that could not record may try again."""
    size = os.fstat(file).st_size
    try:
        if os.write(file, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


def _read(file: IO[bytes]) -> tuple[dict[str, int], int, bool]:
    """Return the newest number of each run, the number of lines, and whether the last is complete.

    A line cut off by a crash has a smaller number, and its writer did not continue. Any other
    line means that the file is no register.
    """
    file.seek(0)
    newest, count, line = dict[str, int](), 0, b"\n"
    for count, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(
                f"path must be a register of snapshots, got {file.name}, whose line {count} is not "
                f"a run and a number: restore the register, or choose a new file"
            )
        if found[1] and found[2]:
            name = found[1].decode()
            newest[name] = max(int(found[2]), newest.get(name, 0))
    return newest, count, line.endswith(b"\n")


def _refuse_unless_newest(number: int, known: int) -> None:
    if number < known:
        raise SnapshotError(
            f"this snapshot after {number >> _AGAIN_BITS} rounds was already continued, perhaps "
            f"by its own run, or replaced by a newer one (after {known >> _AGAIN_BITS} rounds): "
            f"continuing it would reuse its noise on other data. Continue the newest snapshot, or "
            f"start a new run"
        )


def identity_of(rng: Randomness) -> str:
    """Return the id of a new run: the same for every replay from the same key."""
    if not rng.replayable:
        return secrets.token_hex(16)
    if rng.private:
        _refuse_a_second_run(rng)
    return hashlib.sha256(codec.dumps(rng.state())).hexdigest()[:32]


def _refuse_a_second_run(rng: Randomness) -> None:
    """Reject a keyed stream that another run uses: a snapshot of one reveals it to the other."""
    with _turn:
        if rng in _given:
            raise ValueError(
                "rng must be new: another run draws from this keyed stream, and a snapshot of one "
                "would reveal the other's randomness. Give each run its own stream: rng.spawn"
            )
        _given.add(rng)


def track(identity: str, run: Any) -> None:
    """Remember the live run, to retire it when one of its snapshots is continued."""
    _runs[identity] = run


def take_over(identity: str, run: Any) -> None:
    """Begin ``run``: retire a live run that it replays, and all snapshots of that run."""
    with _turn:
        if identity in _newest:
            _newest[identity] += 1
    _retire_live(identity)
    track(identity, run)


def _retire_live(identity: str) -> None:
    live = _runs.get(identity)
    if live is not None:
        live.retire()


def number_at(rounds: int, identity: str, *, private: bool) -> int:
    """Return the number of a snapshot taken after ``rounds`` rounds; used ones are smaller.

    The number follows from the rounds, so equal runs have equal snapshots, except after a snapshot
    was continued without a further round. One entry for each private run is remembered.
    """
    number = rounds << _AGAIN_BITS
    if not private:
        return number
    with _turn:
        _newest[identity] = max(number, _newest.get(identity, 0))
        return _newest[identity]


def pack(saved: SnapshotContents) -> bytes:
    """Return the bytes of a snapshot, with a digest over them."""
    body = codec.dumps(saved)
    return MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes) -> SnapshotContents:
    """Read a snapshot back.

    Raises:
        SnapshotError: If the bytes are damaged in any way.
    """
    start = len(MAGIC) + _DIGEST_BYTES
    if not data.startswith(MAGIC) or len(data) < start:
        raise SnapshotError(
            f"snapshot must be what snapshot() returned, got {len(data)} other bytes"
        )
    body = data[start:]
    if hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        raise SnapshotError(
            "this snapshot is truncated or altered: its digest does not match. Restore an "
            "unaltered copy"
        )
    saved = codec.loads(body)
    if not isinstance(saved, SnapshotContents):
        raise SnapshotError("these bytes hold no saved run")
    return saved


codec.register(SnapshotContents)
