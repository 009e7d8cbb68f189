"""Snapshots of runs: bytes that detect damage and can be continued only once.

A snapshot holds the noisy threshold and every other secret of a run. Continuing it twice, or going
back to an older one, would spend the same noise on two streams and void the guarantee; so every
snapshot has a number, and only the newest of its run may be continued, once.
"""

import fcntl
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
    known_types,  # noqa: F401 (makes them known)
)
from littlestone.learners.engine import Engine
from littlestone.noise_owner import NoiseOwner
from littlestone.randomness import Randomness
from littlestone.type_checks import fits

MAGIC: Final = b"littlestone-snapshot-1\n"
_DIGEST_BYTES: Final = 32
_SPARE_LINES: Final = 1000
_LONGEST_LINE: Final = 128
_LINE: Final = re.compile(rb"(?:([0-9a-f]{32}) ([0-9]{0,40})|[0-9a-f]{0,32})\n?")
_AGAIN_BITS: Final = 32  # of a number: how often it was continued without any further round

CONTINUED: Final = (
    "was continued elsewhere from its snapshot; going on with both would reuse the same noise on "
    "different data. Go on with the restored run"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a snapshot holds."""

    recipe: str
    """The digest of its form."""
    identity: str
    number: int
    randomness: dict[str, Any]
    rounds_played: int
    switches: int
    engine: bytes

    def source(self) -> Randomness:
        """The randomness, where it was."""
        with _refusing():
            return Randomness.from_state(self.randomness)

    def fill(self, engine: Engine, shared: Sequence[Any], rng: Randomness) -> None:
        """Let ``engine`` go on where it was."""
        with _refusing():
            engine.load(codec.loads(self.engine, shared, rng))
            _ = (engine.status, engine.halted, hash(engine.hypothesis))  # what all will ask for
            if not fits(engine.hypothesis, Hypothesis):
                raise SnapshotError("this snapshot holds no hypothesis")
        for name in ("step", "idle", "steps", "follow"):
            setattr(engine, name, _blaming_the_snapshot(getattr(engine, name)))


@contextmanager
def _refusing() -> Iterator[None]:
    """Whatever goes wrong with crafted bytes is an error of the snapshot."""
    try:
        yield
    except SnapshotError:
        raise
    except Exception as problem:
        raise SnapshotError(
            f"this snapshot holds no state of this recipe: {problem!r}"
        ) from problem


def _blaming_the_snapshot(step: Callable[..., Any]) -> Callable[..., Any]:
    """No step raises because of the data, so one that does was given a state that cannot be."""

    def taken(*example: Any) -> Any:
        try:
            count = step(*example)
            if count == 0 and type(count) is int:  # whoever asks for the rest would ask for ever
                raise AssertionError("a block was handed in and no round of it was taken")
            return count
        except LittlestoneError:
            raise
        except Exception as problem:
            raise SnapshotError(
                f"a step of this restored run broke off, so its snapshot was altered by somebody "
                f"who knew how (or this is a defect of the library): {problem!r}"
            ) from problem

    return taken


_runs: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
_newest: dict[str, int] = {}
_given: "weakref.WeakSet[Randomness]" = weakref.WeakSet()  # keyed streams, to one run each
_turn: Final = threading.Lock()  # to look at what is newest and to change it are one step


class Register(Protocol):
    """Remembers which snapshots were continued."""

    def claim(self, saved: Saved) -> None:
        """Mark ``saved`` as continued, or refuse it and change nothing."""
        ...

    def went_on(self, identity: str, number: int) -> None:
        """The run itself goes on after its snapshot ``number``, which is thereby used up.

        It is refused if that was continued by somebody else meanwhile.
        """
        ...


class ProcessRegister:
    """Remembers as long as the process lives: the default."""

    def went_on(self, identity: str, number: int) -> None:
        with _turn:
            _refuse_unless_newest(number, _newest.get(identity, 0))
            _newest[identity] = number + 1

    def claim(self, saved: Saved) -> None:
        self.went_on(saved.identity, saved.number)
        _retire_live(saved.identity)


class FileRegister(ProcessRegister):
    """Remembers in a file, across processes, which take turns at it.

    Lines are appended and synced before the run continues, so a crash can only lose a snapshot,
    never let one be continued twice. When most lines are outdated the file is written anew. The
    file is created; one that cannot be written, or holds anything else, is refused at once.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        try:
            with self._opened() as file:
                _read(file)
        except OSError as problem:
            raise ValueError(f"path must be a file to write to, got {path}: {problem}") from problem

    def went_on(self, identity: str, number: int) -> None:
        with self._locked() as file:
            newest, count, ended = _read(file)
            _refuse_unless_newest(number, newest.get(identity, 0))
            super().went_on(identity, number)
            newest[identity] = number + 1
            end = "" if ended else "\n"  # of a line that a crash has torn
            file.write(f"{end}{identity} {number + 1}\n".encode())
            file.flush()
            os.fsync(file.fileno())
            if count + 1 > 2 * len(newest) + _SPARE_LINES:
                self._replace(newest, mode=os.fstat(file.fileno()).st_mode)

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The file, held until it is closed: the one that has the name, not one it has replaced."""
        while True:
            with self._opened() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
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
            yield file

    def _replace(self, newest: dict[str, int], *, mode: int) -> None:
        """By a renaming: whoever looks finds all of the old lines or all of the new ones."""
        target = self._path.resolve()
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with draft.open("x") as file:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
                file.writelines(f"{name} {number}\n" for name, number in newest.items())
                file.flush()
                os.fsync(file.fileno())
            draft.rename(target)
        except OSError:  # no room, or no right to: the old lines say the same
            draft.unlink(missing_ok=True)
            return
        # Else a machine that loses its power may find the old lines, and none that follow now.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@require.checked
class ContinuedOnce(NoiseOwner):
    """A run whose newest snapshot is continued once: by ``restore``, or by going on with it."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._register: Register = ProcessRegister()
        self._saved: int | None = None  # the number of a snapshot that nobody continued yet

    @property
    def identity(self) -> str:
        """Names this run and whatever continues it from a snapshot; tells nothing of its noise."""
        return self._identity

    def retire(self, reason: str = CONTINUED) -> None:
        """Refuse all further examples: by default because another run continues this one."""
        self._retire(reason)

    def _refuse(self) -> None:
        if self._barred is CONTINUED:
            raise SnapshotError(f"this run {CONTINUED}")
        super()._refuse()

    def _use_up_snapshot(self) -> None:
        """Within a step that has changed nothing yet: it goes on, so nobody else may."""
        if self._saved is None:
            return
        try:
            self._register.went_on(self._identity, self._saved)
        except SnapshotError:
            self.retire()
            raise
        except (OSError, ValueError):  # the file of a register: nothing was learned yet
            self._end()
            raise
        self._saved = None


def _read(file: IO[bytes]) -> tuple[dict[str, int], int, bool]:
    """The newest number of each run, how many lines there are, and whether the last one ends.

    A line that a crash has torn is the beginning of one, and what is left of its number is smaller;
    whoever wrote it did not go on. Any other line means that this is no register.
    """
    file.seek(0)
    newest, count, line = dict[str, int](), 0, b"\n"
    for count, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(
                f"path must be a register of snapshots, got {file.name}, whose line {count} is not "
                f"a run and a number: bring back the register as it was, or choose a new file"
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
            f"going back would reuse its noise on other data. Go on with the newest, or start a "
            f"new run and pay for it"
        )


def identity_of(rng: Randomness) -> str:
    """Of the run that begins now: the same for whoever replays it from the same key."""
    if not rng.replayable:
        return secrets.token_hex(16)
    if rng.private:
        _refuse_a_second_run(rng)
    return hashlib.sha256(codec.dumps(rng.state())).hexdigest()[:32]


def _refuse_a_second_run(rng: Randomness) -> None:
    """A snapshot says where its stream stands, so nobody but its run may draw from that."""
    with _turn:
        if rng in _given:
            raise ValueError(
                "rng must be new: another run draws from this keyed stream, and a snapshot of one "
                "would give the other's words away. Give each run a stream of its own: rng.spawn"
            )
        _given.add(rng)


def track(identity: str, run: Any) -> None:
    """Remember the live run, to retire it when one of its snapshots is continued."""
    _runs[identity] = run


def take_over(identity: str, run: Any) -> None:
    """``run`` begins: a live run that it replays is retired, and so are all of its snapshots."""
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
    """The number of a snapshot after so many rounds; what was used up has a smaller one.

    It follows from the rounds, so that equal runs have equal snapshots, unless one without any
    further round was continued before. One entry for each private run is all that is remembered.
    """
    number = rounds << _AGAIN_BITS
    if not private:
        return number
    with _turn:
        _newest[identity] = max(number, _newest.get(identity, 0))
        return _newest[identity]


def pack(saved: Saved) -> bytes:
    """The bytes of a snapshot, with a digest over them."""
    body = codec.dumps(saved)
    return MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes) -> Saved:
    """Read a snapshot back; damage of any kind is a ``SnapshotError``."""
    start = len(MAGIC) + _DIGEST_BYTES
    if not data.startswith(MAGIC) or len(data) < start:
        raise SnapshotError(f"these {len(data)} bytes are not a littlestone snapshot")
    body = data[start:]
    if hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        raise SnapshotError("this snapshot is truncated or altered: its digest does not match")
    saved = codec.loads(body)
    if not isinstance(saved, Saved):
        raise SnapshotError("these bytes hold no saved run")
    return saved


codec.register(Saved)
