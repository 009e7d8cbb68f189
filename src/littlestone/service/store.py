"""One SQLite file that holds a durable run: events taken, releases made, and the secrets between.

What is in it is private: the key of the noise, the examples since the last checkpoint, and the
state of the learner. Only the releases are public.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.concepts.protocols import Example
from littlestone.errors import LittlestoneError

FORMAT: Final = "2"

SCHEMA: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    round INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, body TEXT,
    batch INTEGER NOT NULL
);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, body BLOB NOT NULL, chain BLOB NOT NULL
);
CREATE TABLE checkpoint (
    one INTEGER PRIMARY KEY CHECK (one = 1), round INTEGER NOT NULL, mistakes INTEGER NOT NULL,
    snapshot BLOB NOT NULL
);
CREATE TABLE curve (round INTEGER PRIMARY KEY, mistakes INTEGER NOT NULL);
"""

_EVENTS: Final = "SELECT round, id, digest, body, batch FROM events "
# Whoever altered a body may have made it a text; its hash shall tell, not its type.
_RELEASES: Final = "SELECT number, round, CAST(body AS BLOB), chain FROM releases "


class StoreError(LittlestoneError):
    """The store cannot be used as asked; nothing was changed."""


class RollbackError(StoreError):
    """The store is older than what is known of it: continuing would reuse noise."""


class Release(NamedTuple):
    """What was published after ``round`` events, and the hash that chains it to all before."""

    number: int
    round: int
    body: bytes
    chain: bytes


class Taken(NamedTuple):
    """An event as it is stored; its body is dropped at the next checkpoint.

    ``batch`` is the first round of the group it came in: a replay must group events alike,
    because a block and single rounds have the same law but not the same noise. ``example`` is the
    body in canonical form, where that is known; it is not stored.
    """

    round: int
    id: str
    digest: bytes
    body: str | None
    batch: int
    example: Example | None = None


class Checkpoint(NamedTuple):
    """A snapshot of the run after ``round`` events, and the mistakes made by then."""

    round: int
    mistakes: int
    snapshot: bytes


class Store:
    """The file, opened by one process at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._mark = os.open(_mark_path(path), os.O_RDWR | os.O_CREAT, 0o600)
        self._epoch = 0

    @classmethod
    def create(cls, path: str | Path, *, recipe: str, key: bytes) -> "Store":
        """A new store; the key of all noise is on disk before the first example arrives."""
        target = Path(path)
        if target.exists():
            raise StoreError(f"{target} exists already; open it, or choose another name")
        # Made under another name and renamed: whoever sees the store sees a whole one.
        draft = target.with_name(target.name + ".new")
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = _connect(draft)
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO about VALUES (?, ?)",
            [("format", FORMAT), ("recipe", recipe), ("key", key.hex()), ("epoch", "0")],
        )
        connection.close()
        _mark_path(target).unlink(missing_ok=True)
        os.rename(draft, target)
        return cls.open(target, recipe=recipe)

    @classmethod
    def open(cls, path: str | Path, *, recipe: str) -> "Store":
        """The existing store of ``recipe``; a copy that was rolled back is refused."""
        target = Path(path)
        if not target.exists():
            raise StoreError(f"there is no store at {target}")
        connection = _connect(target)
        try:
            about = _about(connection, target)
            if about["recipe"] != recipe:
                raise StoreError(
                    f"{target} belongs to another recipe: {about['recipe']}, not {recipe}. Use "
                    f"the same arguments as at the first start, or another store (and another "
                    f"budget)"
                )
            store = cls(target, connection)
            store._enter_epoch(int(about["epoch"]))
        except BaseException:
            connection.close()
            raise
        return store

    def close(self) -> None:
        self._db.close()
        os.close(self._mark)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and on disk when it ends."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @property
    def key(self) -> bytes:
        """The secret from which all noise of the run is stretched."""
        row = self._db.execute("SELECT value FROM about WHERE name = 'key'").fetchone()
        return bytes.fromhex(row[0])

    @property
    def rounds(self) -> int:
        """How many events were taken."""
        row = self._db.execute("SELECT max(round) FROM events").fetchone()
        return int(row[0] or 0)

    def find(self, event_id: str) -> Taken | None:
        """The event with this id, if it was taken."""
        row = self._db.execute(_EVENTS + "WHERE id = ?", (event_id,)).fetchone()
        return None if row is None else Taken(*row)

    def add_events(self, events: Sequence[Taken]) -> bool:
        """Store events within a transaction; False if one of their ids was taken before."""
        before = self._db.total_changes
        self._db.executemany(
            "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)", [event[:5] for event in events]
        )
        return self._db.total_changes - before == len(events)

    def events_after(self, round_number: int) -> Iterator[Taken]:
        """The events since a checkpoint, in order."""
        rows = self._db.execute(_EVENTS + "WHERE round > ? ORDER BY round", (round_number,))
        return (Taken(*row) for row in rows)

    def add_release(self, release: Release) -> None:
        """Log a release before it is published."""
        self._db.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", release)

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """The releases with larger numbers, in order."""
        rows = self._db.execute(_RELEASES + "WHERE number > ? ORDER BY number", (after,))
        return (Release(*row) for row in rows)

    def release_at(self, round_number: int) -> Release | None:
        """What was published when ``round_number`` events had been taken."""
        newest = "WHERE round <= ? ORDER BY number DESC LIMIT 1"
        row = self._db.execute(_RELEASES + newest, (round_number,)).fetchone()
        return None if row is None else Release(*row)

    def checkpoint(self) -> Checkpoint | None:
        """The newest snapshot, where it was taken."""
        row = self._db.execute("SELECT round, mistakes, snapshot FROM checkpoint").fetchone()
        return None if row is None else Checkpoint(*row)

    def set_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Replace the snapshot and drop the examples that it covers."""
        self._db.execute("INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?)", checkpoint)
        covered = "UPDATE events SET body = NULL WHERE round <= ? AND body IS NOT NULL"
        self._db.execute(covered, (checkpoint.round,))

    def add_to_curve(self, round_number: int, mistakes: int) -> None:
        """Remember the mistakes so far, for the owner's eyes only."""
        self._db.execute("INSERT OR REPLACE INTO curve VALUES (?, ?)", (round_number, mistakes))

    def curve(self) -> list[tuple[int, int]]:
        """Rounds and mistakes so far: private, since it is computed from the labels."""
        return list(self._db.execute("SELECT round, mistakes FROM curve ORDER BY round"))

    def mark(self, round_number: int) -> None:
        """Remember beside the store how far it has come (survives a killed process)."""
        os.pwrite(self._mark, f"{self._epoch:020d} {round_number:020d}\n".encode(), 0)

    def _enter_epoch(self, epoch: int) -> None:
        known_epoch, known_round = _read_mark(self._mark)
        if (epoch, self.rounds) < (known_epoch, known_round):
            raise RollbackError(
                f"{self.path} has been rolled back: it stands at opening {epoch}, round "
                f"{self.rounds}, but {_mark_path(self.path)} knows opening {known_epoch}, round "
                f"{known_round}. Continuing would spend the same noise on other data and void the "
                f"guarantee. Bring the newest file back; or start a new store, whose budget adds "
                f"to what was already published; or, knowing this, delete the mark file"
            )
        with self.transaction():
            self._db.execute("UPDATE about SET value = ? WHERE name = 'epoch'", (str(epoch + 1),))
        self._epoch = epoch + 1
        self.mark(self.rounds)
        os.fsync(self._mark)


def chained(before: bytes, body: bytes) -> bytes:
    """The hash that ties a release to everything published before it."""
    return hashlib.sha256(before + hashlib.sha256(body).digest()).digest()


def _about(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    try:
        about = dict(connection.execute("SELECT name, value FROM about"))
    except sqlite3.DatabaseError as damage:
        raise StoreError(f"{path} is not a littlestone store: {damage}") from damage
    if about.get("format") != FORMAT:
        raise StoreError(f"{path} has format {about.get('format')!r}, expected {FORMAT!r}")
    return about


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0.5)
    try:
        # Exclusive: a second process would continue the same noise.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # dropped examples are overwritten
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as busy:
        connection.close()
        raise StoreError(f"{path} is in use by another process: {busy}") from busy
    except sqlite3.DatabaseError as damage:
        connection.close()
        raise StoreError(f"{path} is not a littlestone store: {damage}") from damage
    return connection


def _mark_path(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def _read_mark(descriptor: int) -> tuple[int, int]:
    content = os.pread(descriptor, 64, 0).split()
    return (int(content[0]), int(content[1])) if len(content) == 2 else (0, 0)
