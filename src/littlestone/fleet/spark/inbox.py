"""The inbox of a fleet on Spark: new files of a folder become batches that Spark reads.

Spark's own source of files skips some in silence: old ones, hidden ones, those under a used name.
So the driver lists the folder itself, copies every file that is new into a batch, and Spark reads
batches only. A batch never changes: what is computed again is computed from the same lines, even if
the files are gone. It is deleted when nothing can ask for it any more.
"""

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Final

from littlestone.errors import StoreError
from littlestone.fleet.spark.event_files import (
    EventFile,
    Left,
    Unreadable,
    blocks,
    listing,
    shown,
)

_DATABASE: Final = "inbox.db"
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS taken (name BLOB PRIMARY KEY, times TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unread (name TEXT NOT NULL, reason TEXT NOT NULL, by_name INTEGER);
CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY AUTOINCREMENT, draft TEXT NOT NULL);
"""
_DRAFT: Final = "_"  # which Spark leaves alone
_SETTLED: Final = 0.1
"""Seconds after which a change of a file is certain to give it other times."""


class Inbox:
    """What was taken of a folder of events, and what Spark has yet to compute.

    Whoever holds the fleet's mark has it; ``done`` is the number of batches that were published.
    """

    def __init__(self, fleet: Path, *, done: int) -> None:
        if done and not is_fed_by_files(fleet):
            raise StoreError(
                f"this fleet is fed from elsewhere, or {fleet / _DATABASE} is missing: bring the "
                f"newest copy of the whole fleet back, or start a new fleet for these files"
            )
        self.folder = fleet / "inbox"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._damaged = dict[EventFile, Left]()  # what need not be unpacked again to know it
        self._db = sqlite3.connect(fleet / _DATABASE, isolation_level=None)
        try:
            with _readable():
                self._db.executescript(_TABLES)
                self.left = _unread(self._db)
            if self.made < done:
                raise StoreError(
                    f"{fleet / _DATABASE} knows {self.made} batches, but {done} were published: it "
                    f"was put back. Bring the newest copy of the whole fleet back"
                )
            self._finish()
        except BaseException:
            self._db.close()
            raise

    @property
    def made(self) -> int:
        """The number of batches so far."""
        with _readable():
            row = self._db.execute("SELECT seq FROM sqlite_sequence").fetchone()
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        self._db.close()

    def take(self, events: Path, *, most: int | None = None) -> bool:
        """Make a batch of the files that are new, at most so many; False if there are none.

        A file is new if its name or its times were not there at the last look. The oldest come
        first. One that cannot be read is in ``left`` until it can.
        """
        files, left = listing(events)
        with _readable():
            known = dict(self._db.execute("SELECT name, times FROM taken"))
        new = [file for file in files if known.get(os.fsencode(file.name)) != file.times]
        self._damaged = {file: self._damaged[file] for file in new if file in self._damaged}
        left += self._damaged.values()
        new = [file for file in new if file not in self._damaged]
        gone = known.keys() - {os.fsencode(file.name) for file in files}
        taken, draft = self._copied(new, most, left) if new else ([], "")
        if taken or gone or left != self.left:
            with _readable(), self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._remember(taken, gone, left, draft)
        self.left = left
        self._finish()
        return bool(taken)

    def discard(self, done: int) -> None:
        """Delete the batches that Spark has committed when ``done`` of its own are published.

        Each of Spark's batches has at least one of these, and the newest may be computed again.
        """
        with _readable():
            self._db.execute("DELETE FROM batches WHERE number < ?", (done,))
        self._finish()

    def forget(self) -> None:
        """Let every file be new again."""
        with _readable():
            self._db.execute("DELETE FROM taken")

    def _copied(
        self, new: list[EventFile], most: int | None, left: list[Left]
    ) -> tuple[list[EventFile], str]:
        """The files that could be copied, and the name of the draft that has them all."""
        # Whatever is written to a file from here on gives it other times.
        newest = max(file.changed for file in new)
        time.sleep(min(max(newest + _SETTLED - time.time(), 0.0), _SETTLED))
        taken, draft = list[EventFile](), secrets.token_hex(8)
        with _whole(self.folder / f"{_DRAFT}{draft}") as out:
            for file in new:
                if most is not None and len(taken) >= most:
                    break
                start = out.tell()
                try:
                    for block in blocks(file):
                        out.write(block)
                except Unreadable as problem:
                    out.seek(start)
                    out.truncate()
                    found = Left(shown(file.name), str(problem))
                    left.append(found)
                    if problem.damaged:
                        self._damaged[file] = found
                else:
                    taken.append(file)
        return taken, draft

    def _remember(
        self, taken: list[EventFile], gone: set[bytes], left: list[Left], draft: str
    ) -> None:
        db = self._db
        db.executemany("DELETE FROM taken WHERE name = ?", [(name,) for name in gone])
        db.executemany(
            "INSERT OR REPLACE INTO taken VALUES (?, ?)",
            [(os.fsencode(file.name), file.times) for file in taken],
        )
        db.execute("DELETE FROM unread")
        db.executemany("INSERT INTO unread VALUES (?, ?, ?)", left)
        if taken:
            db.execute("INSERT INTO batches (draft) VALUES (?)", (draft,))

    def _finish(self) -> None:
        """Make the folder what the database says, wherever this was interrupted before."""
        with _readable():
            wanted = dict(self._db.execute("SELECT draft, number FROM batches"))
        names = {f"{number:012}-{draft}": number for draft, number in wanted.items()}
        for path in list(self.folder.iterdir()):
            draft = path.name.removeprefix(_DRAFT) if path.name.startswith(_DRAFT) else None
            name = f"{wanted[draft]:012}-{draft}" if draft in wanted else path.name
            if name not in names:
                path.unlink()
                continue
            # Spark goes by ages: each batch is younger than those before, whatever the clock says.
            os.utime(path, (names[name], names[name]))
            path.rename(self.folder / name)
        missing = sorted(names.keys() - {path.name for path in self.folder.iterdir()})
        if missing:
            raise StoreError(
                f"{self.folder / missing[0]} is missing, which may hold events that were not "
                f"learned from: bring it back, or the newest copy of the whole fleet"
            )


def census(fleet: Path) -> tuple[int, list[Left]]:
    """How many files of the folder of events were taken, and which were not, at the last look."""
    if not is_fed_by_files(fleet):
        return 0, []
    path = f"{(fleet / _DATABASE).as_uri()}?mode=ro"
    with _readable(), closing(sqlite3.connect(path, uri=True)) as db:
        (taken,) = db.execute("SELECT count(*) FROM taken").fetchone()
        return taken, _unread(db)


def is_fed_by_files(fleet: Path) -> bool:
    """Whether the fleet has an inbox."""
    return (fleet / _DATABASE).exists()


def _unread(db: sqlite3.Connection) -> list[Left]:
    rows = db.execute("SELECT name, reason, by_name FROM unread ORDER BY rowid").fetchall()
    return [Left(name, reason, bool(by_name)) for name, reason, by_name in rows]


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that is on disk when all is written, or gone."""
    try:
        with path.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
    except BaseException:  # a full disk, for instance
        path.unlink(missing_ok=True)
        raise


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        raise StoreError(
            f"the list of files that this fleet has taken ({_DATABASE}) cannot be used: {problem}. "
            f"Nothing was published of what is new; bring the newest copy of the whole fleet back "
            f"if it is damaged"
        ) from problem
