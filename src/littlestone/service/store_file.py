"""A store as a file: its layout, made whole, opened by one process, known and refused."""

import glob
import json
import os
import secrets
import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from littlestone.errors import LittlestoneError, StoreError
from littlestone.service.entries import Release, digest_of
from littlestone.service.log import event_log
from littlestone.service.mark import NOWHERE, Mark, Standing

FORMAT: Final = 1

APPLICATION: Final = 0x4C53544E
"""In the header of the file, by which it is known before anything is done to it."""

TABLES: Final = (
    event_log.TABLES
    + """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE releases (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, body BLOB NOT NULL, chain BLOB NOT NULL
);
CREATE TABLE checkpoint (
    one INTEGER PRIMARY KEY CHECK (one = 1), round INTEGER NOT NULL, mistakes INTEGER NOT NULL,
    snapshot BLOB NOT NULL, baselines BLOB NOT NULL, seal BLOB NOT NULL
);
CREATE TABLE curve (
    round INTEGER PRIMARY KEY, mistakes INTEGER NOT NULL, seal BLOB NOT NULL
);
"""
)

_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_ATTEMPTS: Final = 20

LAID_OUT: Final = "SELECT name, sql FROM sqlite_master ORDER BY name"


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """What SQLite or the operating system cannot do is an error of the store, in one sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise refusal(path, problem) from problem


def refusal(path: Path, problem: sqlite3.Error | OSError) -> StoreError:
    """What SQLite or the operating system says, in one sentence."""
    if isinstance(problem, OSError):
        return StoreError(f"{path} cannot be used: {problem}")
    if getattr(problem, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
        return StoreError(f"{path} is in use by another process")
    said = " ".join(str(problem).split())  # it may quote what a damaged file holds
    return StoreError(f"{path} cannot be used, SQLite says: {said}")


@contextmanager
def finding_damage(path: Path) -> Iterator[None]:
    """Whatever else goes wrong while a store is read is damage that no hash has noticed."""
    try:
        with refusing(path):
            yield
    except LittlestoneError:
        raise
    except Exception as problem:
        raise StoreError(f"{path} is damaged: {problem!r}. Refusing to go on") from problem


def place(target: Path, mark: Mark, about: dict[str, str], first: Release) -> None:
    """Put a new store where it belongs, whole: it is made under another name and renamed."""
    # Nobody else is creating this store, so other drafts are of killed processes.
    for stale in target.parent.glob(f"{glob.escape(target.name)}.{'[0-9a-f]' * 16}.new*"):
        stale.unlink(missing_ok=True)
    draft = target.with_name(f"{target.name}.{secrets.token_hex(8)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = connect(draft)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        connection.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", first)
        connection.close()
        inode = draft.stat().st_ino
        mark.write(Standing(about["identity"], NOWHERE, about["branch"], inode, 0), sync=True)
        for name in ("-wal", "-shm", "-journal"):  # of a store that is gone: SQLite would use them
            beside(target, name).unlink(missing_ok=True)
        os.rename(draft, target)
    finally:
        for name in ("", "-wal", "-shm", "-journal"):
            beside(draft, name).unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(path: Path) -> None:
    """What was renamed in it stays so if the machine loses its power."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def refuse_foreign(path: Path) -> None:
    """Look at the header, so that nothing is done to a file of somebody else."""
    if not path.exists():
        raise StoreError(f"there is no store at {path}")
    with path.open("rb") as file:
        header = file.read(100)
    if header[68:72] != APPLICATION.to_bytes(4, "big"):
        raise StoreError(f"{path} is not a littlestone store")
    if (known := int.from_bytes(header[60:64], "big")) != FORMAT:
        raise StoreError(f"{path} has format {known}, expected {FORMAT}")


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0.5)
    try:
        # Exclusive: a second process would continue the same noise.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # dropped examples are overwritten
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def copied(path: Path) -> sqlite3.Connection:
    """A store as it stands, in memory: nothing is written, and whoever uses it goes on meanwhile.

    SQLite's own reader is kept out by the lock of whoever uses the store. The file changes only
    when the log beside it is copied into it, and what is copied stays in that log until the log
    begins anew: so a file that was read under one beginning is completed by the log read after it.
    """
    log = beside(path, "-wal")
    for _ in range(_ATTEMPTS):
        begun = _start_of(log)
        pages = bytearray(path.read_bytes())
        entries = log.read_bytes() if log.exists() else b""
        if entries[:_LOG_HEADER] == begun == _start_of(log):
            break
        time.sleep(0.05)
    else:
        raise StoreError(f"{path} changes too fast to be looked at; try again")
    _complete(pages, entries)
    pages[18:20] = b"\1\1"  # in memory there is no log
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(pages))
    return connection


def _start_of(log: Path) -> bytes:
    try:
        with log.open("rb") as file:
            return file.read(_LOG_HEADER)
    except FileNotFoundError:
        return b""


def _complete(pages: bytearray, log: bytes) -> None:
    """Put the pages of all whole transactions of a log into place: SQLite's format of its WAL."""
    if len(log) < _LOG_HEADER:
        return
    magic, _, size, _, *salts, first, second = struct.unpack(">8I", log[:_LOG_HEADER])
    words = struct.Struct("<II" if magic & 1 == 0 else ">II")
    sums, waiting = _checksum(log[: _LOG_HEADER - 8], (0, 0), words), dict[int, bytes]()
    if sums != (first, second):
        return
    for start in range(_LOG_HEADER, len(log) - size - _FRAME_HEADER + 1, _FRAME_HEADER + size):
        frame = log[start : start + _FRAME_HEADER]
        page = log[start + _FRAME_HEADER : start + _FRAME_HEADER + size]
        number, total, *own_salts, first, second = struct.unpack(">6I", frame)
        sums = _checksum(page, _checksum(frame[:8], sums, words), words)
        if own_salts != salts or sums != (first, second):
            return  # left over from before, or being written now
        waiting[number] = page
        if total:  # the last of its transaction
            pages.extend(bytes(max(0, total * size - len(pages))))
            for number, page in waiting.items():
                pages[(number - 1) * size : number * size] = page
            del pages[total * size :]
            waiting.clear()


def _checksum(content: bytes, before: tuple[int, int], words: struct.Struct) -> tuple[int, int]:
    first, second = before
    for one, other in words.iter_unpack(content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def real_path(path: str | Path) -> Path:
    """Links are followed: the mark lies beside the store itself."""
    return Path(os.path.realpath(path))


def about_seal(about: Mapping[str, str]) -> str:
    fixed = {name: value for name, value in about.items() if name not in ("branch", "seal")}
    return digest_of(json.dumps(fixed, sort_keys=True).encode()).hex()
