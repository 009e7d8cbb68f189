"""Snapshots of runs: bytes that detect damage and can be continued only once.

A snapshot holds the noisy threshold and every other secret of a run. Continuing it twice, or going
back to an older one, would spend the same noise on two streams and void the guarantee; so every
snapshot has a number, and only the newest of its run may be continued, once.
"""

import fcntl
import hashlib
import io
import os
import pickle
import secrets
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

from littlestone.errors import SnapshotError

_MAGIC: Final = b"littlestone-snapshot-1\n"
_DIGEST_BYTES: Final = 32
_PLAIN: Final = {
    "builtins": {"bytearray", "complex", "frozenset", "set"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a snapshot holds."""

    recipe: str
    identity: str
    number: int
    randomness: dict[str, Any]
    rounds_played: int
    switches: int
    engine: dict[str, Any]


class Retirable(Protocol):
    def retire(self) -> None: ...


_runs: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
_newest: dict[str, int] = {}


class Register(Protocol):
    """Remembers which snapshots were continued."""

    def claim(self, saved: Saved) -> None:
        """Mark ``saved`` as continued, or refuse it and change nothing."""
        ...


class ProcessRegister:
    """Remembers as long as the process lives: the default."""

    def claim(self, saved: Saved) -> None:
        _refuse_unless_newest(saved, _newest.get(saved.identity, 0))
        _newest[saved.identity] = saved.number + 1
        live = _runs.get(saved.identity)
        if live is not None:
            live.retire()


class FileRegister:
    """Remembers in a file, across processes, which take turns at it.

    Lines are appended and synced before the run continues, so a crash can only lose a snapshot,
    never let one be continued twice.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def claim(self, saved: Saved) -> None:
        with self._path.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
            _refuse_unless_newest(saved, _newest_in(file, saved.identity))
            ProcessRegister().claim(saved)
            file.write(f"{saved.identity} {saved.number + 1}\n")
            file.flush()
            os.fsync(file.fileno())


def _newest_in(file: TextIO, identity: str) -> int:
    file.seek(0)
    lines = (line.split() for line in file)
    return max((int(number) for name, number in lines if name == identity), default=0)


def _refuse_unless_newest(saved: Saved, known: int) -> None:
    if saved.number < known:
        raise SnapshotError(
            f"snapshot {saved.number} of this run was already continued, perhaps by its own run, "
            f"or replaced by a newer one (number {known}): going back would reuse its noise on "
            f"other data. Go on with the newest, or start a new run and pay for it"
        )


def new_identity() -> str:
    return secrets.token_hex(16)


def track(identity: str, run: Retirable) -> None:
    """Remember the live run, to retire it when one of its snapshots is continued."""
    _runs[identity] = run


def next_number(identity: str) -> int:
    _newest[identity] = _newest.get(identity, 0) + 1
    return _newest[identity]


def pack(saved: Saved) -> bytes:
    """The bytes of a snapshot, with a digest over them."""
    fields = {name: getattr(saved, name) for name in Saved.__slots__}
    body = pickle.dumps(fields, protocol=5)
    packed = _MAGIC + hashlib.sha256(body).digest() + body
    unpack(packed)  # a key of a foreign type is refused now, not when the run is gone
    return packed


def unpack(data: bytes) -> Saved:
    """Read a snapshot back; damage of any kind is a ``SnapshotError``."""
    start = len(_MAGIC) + _DIGEST_BYTES
    if not data.startswith(_MAGIC) or len(data) < start:
        raise SnapshotError(f"these {len(data)} bytes are not a littlestone snapshot")
    body = data[start:]
    if hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        raise SnapshotError("this snapshot is truncated or altered: its digest does not match")
    return Saved(**_PlainUnpickler(io.BytesIO(body)).load())


class _PlainUnpickler(pickle.Unpickler):
    """Builds plain values and the library's own, and nothing that could run foreign code."""

    def find_class(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if module.startswith("littlestone.") and "." not in name:
            found = super().find_class(module, name)
            # Only classes defined there: a module's own imports would be a way out.
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise SnapshotError(
            f"a snapshot cannot hold {module}.{name}: points must be strings, numbers, bytes, "
            f"or tuples and frozensets of these"
        )
