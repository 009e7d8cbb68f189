"""Store a journal in one SQLite file, with its mark beside it.

Its content is private: the key of the noise, the examples after the last checkpoint, and the state
of the learner. Only the releases are public.
"""

import ctypes
import glob
import os
import secrets
import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

from littlestone.errors import StoreError
from littlestone.runs.files import files_beside, refuse_beside, sync_folder
from littlestone.runs.journal.mark import NOWHERE, RESTORE, Mark, StorePosition
from littlestone.runs.journal.protocol import KINDS, Entry

FORMAT: Final = 1

APPLICATION: Final = 0x4C53544E
"""In the header of the file, to identify it before anything is changed."""

TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
""" + "".join(
    f"CREATE TABLE {kind} (number INTEGER PRIMARY KEY, body BLOB NOT NULL);\n" for kind in KINDS
)
_INSERT: Final = {kind: f"INSERT INTO {kind} VALUES (?, ?)" for kind in KINDS}
_DROP: Final = {kind: f"DELETE FROM {kind} WHERE number <= ?" for kind in KINDS}
_OWN: Final = ("key", "branch")  # values that readers do not get

_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_ATTEMPTS: Final = 20

_LAID_OUT: Final = "SELECT name, sql FROM sqlite_master ORDER BY name"


class SqlitePlace:
    """A file; links are followed, because the mark lies beside the store itself."""

    def __init__(self, path: str | Path) -> None:
        self.path = self.file = Path(os.path.realpath(path))

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        """Return whether the file exists."""
        return self.path.exists()

    def create(self, about: Mapping[str, str], key: bytes, first: Entry) -> "SqliteJournal":
        """Create a store; the key of all noise is on disk before the first example arrives."""
        target = self.path
        with _refusing(target):
            if target.exists():  # before a mark is created beside a foreign file
                raise StoreError(f"{target} exists already; open it, or choose another name")
            refuse_beside(target)
            with Mark.of_new(target) as mark:
                branch = secrets.token_hex(16)
                _place(target, mark, {**about, "key": key.hex(), "branch": branch}, first)
                journal = SqliteJournal(target, mark)
                journal.enter(0, adopt=False)
            return journal

    def open(self, *, adopt: bool = False) -> "SqliteJournal":
        """Open the journal, locked by its mark."""
        with _refusing(self.path):
            _refuse_foreign(self.path)
            mark = Mark(self.path, create=adopt)
            try:
                return SqliteJournal(self.path, mark)
            except BaseException:
                mark.close()
                raise

    def discard(self) -> None:
        """Delete the store, its mark and its temporary files."""
        for path in (self.path, *files_beside(self.path)):
            path.unlink(missing_ok=True)

    @contextmanager
    def look(self) -> Iterator["SqliteReading"]:
        """Yield a copy of the journal for reading."""
        with _refusing(self.path):
            _refuse_foreign(self.path)
            with closing(copied(self.path)) as connection:
                _check_layout(self.path, connection)
                yield SqliteReading(self.path, connection)


class SqliteReading:
    """Read the tables of a file or of a copy of it."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path, self._db = path, db

    def __str__(self) -> str:
        return str(self.path)

    def about(self) -> dict[str, str]:
        """Return what the store was created with."""
        return {name: value for name, value in self._about().items() if name not in _OWN}

    def read(self, kind: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the entries of a kind with larger numbers, in order."""
        with _refusing(self.path):
            query = f"SELECT number, body FROM {kind} WHERE number > ? ORDER BY number"
            for entry in self._db.execute(query, (after,)):  # noqa: UP028 (it would be closed late)
                yield entry

    def get(self, kind: str, number: int) -> bytes | None:
        """Return the entry with this number."""
        with _refusing(self.path):
            query = f"SELECT body FROM {kind} WHERE number = ?"
            row = self._db.execute(query, (number,)).fetchone()
        return None if row is None else row[0]

    def last(self, kind: str) -> tuple[int, bytes] | None:
        """Return the entry with the largest number."""
        with _refusing(self.path):
            query = f"SELECT number, body FROM {kind} ORDER BY number DESC LIMIT 1"
            row: tuple[int, bytes] | None = self._db.execute(query).fetchone()
        return row

    def _about(self) -> dict[str, str]:
        with _refusing(self.path):
            return dict(self._db.execute("SELECT name, value FROM about"))


class SqliteJournal(SqliteReading):
    """The file, opened by the one process that holds its mark."""

    def __init__(self, path: Path, mark: Mark) -> None:
        _beside(path, "-journal").unlink(missing_ok=True)  # a foreign file: a store has none
        super().__init__(path, _connect(path))
        _OPEN.add(self)
        self._mark, self._name = mark, str(path)
        self._position: StorePosition
        try:
            self._check_tables()
        except BaseException:
            self._db.close()
            raise

    @property
    def key(self) -> bytes:
        """Return the secret of the noise."""
        return bytes.fromhex(self._about()["key"])

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        """Begin to write after ``round_number``, in a new branch."""
        with _refusing(self.path):
            about, copy = self._about(), self.path.stat().st_ino
            coming = secrets.token_hex(16)
            here = StorePosition(about["identity"], about["branch"], coming, copy, round_number)
            self._position, adopted = self._mark.enter(here, self._set_branch, adopt=adopt)
        return adopted

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        """Store new entries and drop old ones in one transaction, then move the mark."""
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            row = db.execute("SELECT value FROM about WHERE name = 'branch'").fetchone()
            # If the file was replaced, another process may have continued it.
            if row != (self._position.branch,) or os.stat(self._name).st_ino != self._position.copy:
                raise FileNotFoundError
            for kind, number, body in new:
                db.execute(_INSERT[kind], (number, body))
            for kind, last in drop:
                db.execute(_DROP[kind], (last,))
            db.execute("COMMIT")
        except BaseException as problem:
            with suppress(sqlite3.Error):  # SQLite may have rolled back already
                db.execute("ROLLBACK")
            if isinstance(problem, FileNotFoundError):
                raise StoreError(
                    f"{self.path} was removed or replaced while in use. {RESTORE}"
                ) from None
            if isinstance(problem, sqlite3.Error | OSError):
                raise _refusal(self.path, problem) from problem
            raise
        self._mark.advance(round_number)

    def close(self) -> None:
        """Close the file and release the mark, whichever thread opened them."""
        try:
            self._db.close()
        finally:
            self._mark.close()

    def _set_branch(self, branch: str) -> None:
        self._db.execute("UPDATE about SET value = ? WHERE name = 'branch'", (branch,))

    def _check_tables(self) -> None:
        _check_layout(self.path, self._db)
        for check in ("quick_check(1)", "integrity_check(about)"):
            found = self._db.execute(f"PRAGMA {check}").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{self.path} is damaged: {' '.join(found.split())}. {RESTORE}")


def _check_layout(path: Path, db: sqlite3.Connection) -> None:
    """Reject other tables than those of a store; a view in place of one may have no end."""
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.executescript(TABLES)
        expected = plain.execute(_LAID_OUT).fetchall()
    if db.execute(_LAID_OUT).fetchall() != expected:
        raise StoreError(f"{path} is damaged: its tables are not those of a store. {RESTORE}")


_OPEN: Final[WeakSet[SqliteJournal]] = WeakSet()


def _leave_to_parent() -> None:
    """Never close a connection of the parent process: SQLite would delete the log it writes to."""
    for journal in list(_OPEN):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(journal._db))  # it outlives the interpreter


os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn errors of SQLite or the operating system into errors of the store."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise _refusal(path, problem) from problem


def _refusal(path: Path, problem: sqlite3.Error | OSError) -> StoreError:
    """Return the error of SQLite or the operating system in one sentence."""
    if isinstance(problem, OSError):
        return StoreError(f"{path} cannot be used: {problem}")
    if getattr(problem, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
        return StoreError(f"{path} is in use by another process")
    said = " ".join(str(problem).split())  # it may quote what a damaged file holds
    return StoreError(f"{path} cannot be used, SQLite says: {said}")


def _place(target: Path, mark: Mark, about: dict[str, str], first: Entry) -> None:
    """Create a store under a draft name, complete, and rename it."""
    # The mark is locked, so other drafts are from killed processes.
    for stale in target.parent.glob(f"{glob.escape(target.name)}.{'[0-9a-f]' * 16}.new*"):
        stale.unlink(missing_ok=True)
    draft = target.with_name(f"{target.name}.{secrets.token_hex(8)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = _connect(draft)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        connection.execute(_INSERT[first.kind], (first.number, first.body))
        connection.close()
        inode = draft.stat().st_ino
        mark.write(StorePosition(about["identity"], NOWHERE, about["branch"], inode, 0), sync=True)
        for name in ("-wal", "-shm", "-journal"):  # left by a lost store; SQLite would use them
            _beside(target, name).unlink(missing_ok=True)
        os.rename(draft, target)
    finally:
        for name in ("", "-wal", "-shm", "-journal"):
            _beside(draft, name).unlink(missing_ok=True)
    sync_folder(target.parent)


def _refuse_foreign(path: Path) -> None:
    """Check the header, so that a foreign file is not changed."""
    if not path.exists():
        raise StoreError(f"there is no store at {path}; littlestone learn --store makes one")
    header = b""
    if path.is_file():  # a pipe would wait for a writer
        with path.open("rb") as file:
            header = file.read(100)
    if header[68:72] != APPLICATION.to_bytes(4, "big"):
        raise StoreError(f"{path} is not a littlestone store; give a file of learn --store")
    if (known := int.from_bytes(header[60:64], "big")) != FORMAT:
        raise StoreError(
            f"{path} has format {known}, expected {FORMAT}; use the version that made it"
        )


def _connect(path: Path) -> sqlite3.Connection:
    # Threads may take turns at a run, and any of them may close it; ``take`` lets one in at a time.
    connection = sqlite3.connect(path, isolation_level=None, timeout=0.5, check_same_thread=False)
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
    """Copy a store into memory without writing anything, while another process may use it.

    The lock of that process keeps out the reader of SQLite itself. The file changes only when the
    log beside it is copied into it, and what is copied stays in that log until the log starts
    again: so a file that was read under one start of the log is completed by the log read after it.
    """
    log = _beside(path, "-wal")
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
    pages[18:20] = b"\1\1"  # there is no log in memory
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
    """Apply the pages of all complete transactions of a log, in the WAL format of SQLite."""
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
            return  # an old frame, or one that is being written
        waiting[number] = page
        if total:  # the last of its transaction
            if total * size > 2 * (len(pages) + len(log)):  # before the memory is taken
                raise ValueError(f"the log beside it claims {total:,} pages")
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


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
