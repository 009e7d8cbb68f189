"""Read files of events on Spark: no file is skipped silently, and batches never change."""

import bz2
import gzip
import io
import lzma
import os
import secrets
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from littlestone.errors import StoreError

_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_HIDDEN: Final = (".", "_")
_BY_NAME: Final = (
    "is not read: names that begin with . or _ mark half-written files. Rename it if it is complete"
)


class _Streams(io.RawIOBase):
    """The content of a file of compressed streams, padded with zeros or not.

    The readers of Python end at a damaged stream behind a whole one, as if nothing followed.
    """

    def __init__(self, raw: IO[bytes], stream: Callable[[], Any]) -> None:
        self._raw, self._new, self._stream = raw, stream, stream()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed and (more := self._raw.read(_BLOCK)):
                    packed = more.lstrip(b"\0")
                if not packed:
                    return 0
                self._stream = self._new()
            elif self._stream.needs_input and not (packed := self._raw.read(_BLOCK)):
                raise EOFError("it ends before its last stream does")
            if block := self._stream.decompress(packed, len(buffer)):
                buffer[: len(block)] = block
                return len(block)


_XZ: Final = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)  # zeros would be an older format
_OPENERS: Final[dict[str, Callable[[IO[bytes]], Any]]] = {
    ".gz": gzip.open,
    ".bz2": lambda raw: io.BufferedReader(_Streams(raw, bz2.BZ2Decompressor)),
    ".xz": lambda raw: io.BufferedReader(_Streams(raw, _XZ)),
}


class EventFile(NamedTuple):
    """A file whose lines are events: its name below the folder, its path, and its times."""

    name: str
    path: str
    times: str
    """Equal as long as the file was neither written to nor replaced."""
    modified: int
    changed: float


class Left(NamedTuple):
    """A file or folder that is not read, and why; for the operator of the fleet only."""

    name: str
    reason: str
    by_name: bool = False
    """Whether it is hidden, as half-written files are: nothing is wrong with it."""

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


class Unreadable(Exception):  # noqa: N818 (it never leaves the inbox)
    """A file cannot be read to its end: why, and whether that is permanent."""

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__(reason)
        self.damaged = damaged


def listing(folder: Path) -> tuple[list[EventFile], list[Left]]:
    """List a folder with its subfolders: files, oldest first, and what is not read.

    What vanishes during the call is in neither list.
    """
    files, left = list[EventFile](), list[Left]()
    below = [""]
    while below:
        inner = below.pop()
        try:
            with os.scandir(os.path.join(folder, inner)) as entries:
                found = list(entries)
        except FileNotFoundError:
            continue
        except OSError as problem:
            left.append(Left(shown(inner), f"cannot be listed: {problem.strerror}"))
            continue
        for entry in found:
            name = os.path.join(inner, entry.name)
            kind = _kind(entry)
            if isinstance(kind, str):
                left.append(Left(shown(name), kind, entry.name.startswith(_HIDDEN)))
            elif kind is not None and stat.S_ISDIR(kind.st_mode):
                below.append(name)
            elif kind is not None:
                files.append(_file(name, entry.path, kind))
    files.sort(key=lambda file: (file.modified, os.fsencode(file.name)))
    return files, sorted(left)


def _kind(entry: "os.DirEntry[str]") -> os.stat_result | str | None:
    """Return what a file or folder is, or why it is not read; None if it is gone."""
    if entry.name.startswith(_HIDDEN):
        return _BY_NAME
    try:
        found = entry.stat()
    except FileNotFoundError:
        return "is a link to nothing" if entry.is_symlink() else None
    except OSError as problem:
        return f"cannot be looked at: {problem.strerror}"
    if stat.S_ISDIR(found.st_mode) and entry.is_symlink():
        return "is a link to a folder: move the folder itself here"
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        return "is neither a file nor a folder"
    return found


def _file(name: str, path: str, found: os.stat_result) -> EventFile:
    # The size is data, and the times are enough: every change of a file changes one of them.
    times = f"{found.st_ino}.{found.st_mtime_ns}.{found.st_ctime_ns}"
    return EventFile(name, path, times, found.st_mtime_ns, found.st_ctime_ns / 1e9)


def blocks(file: EventFile) -> Iterator[bytes]:
    """Yield the content of a file: decompressed, without a byte order mark, its last line ended.

    Raises:
        Unreadable: The file cannot be opened, is damaged, or is not the one that was listed;
            discard what was yielded.
    """
    last = b""
    for number, block in enumerate(_unpacked(file)):
        last = block if number else block.removeprefix(_BOM)
        yield last
    if not last.endswith(b"\n"):
        yield b"\n"


def _unpacked(file: EventFile) -> Iterator[bytes]:
    try:
        # Opening a pipe that replaced a file would wait for a writer.
        handle = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as raw:
            _require_unchanged(file, raw)
            opener = _OPENERS.get(os.path.splitext(file.name)[1].lower())
            content = raw if opener is None else opener(raw)
            while block := content.read(_BLOCK):
                yield block
            _require_unchanged(file, raw)
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise Unreadable(f"is damaged: {problem}", damaged=True) from None
    except OSError as problem:
        if problem.errno is None:  # bz2 raises this for damaged files
            raise Unreadable(f"is damaged: {problem}", damaged=True) from None
        raise Unreadable(f"cannot be read: {problem.strerror}") from None


def _require_unchanged(file: EventFile, raw: IO[bytes]) -> None:
    found = os.fstat(raw.fileno())
    if not stat.S_ISREG(found.st_mode) or _file(file.name, "", found).times != file.times:
        raise Unreadable(
            "changed while it was read: it is read again when it stops changing. Move files here "
            "when they are complete"
        )


def shown(name: str) -> str:
    """Return a name as printable text: bytes that are not text are escaped."""
    return os.fsencode(name).decode(errors="backslashreplace")


_DATABASE: Final = "inbox.db"
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS taken (name BLOB PRIMARY KEY, times TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS skipped (name TEXT NOT NULL, reason TEXT NOT NULL, by_name INTEGER);
CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY AUTOINCREMENT, draft TEXT NOT NULL);
"""
_DRAFT: Final = "_"  # Spark ignores such names
_SETTLED: Final = 0.1
"""Seconds after which a change of a file is certain to change its times."""


class Inbox:
    """What was taken from a folder of events, and what Spark still has to compute.

    The process that holds the mark of the fleet owns it; ``done`` is the number of published
    batches.
    """

    def __init__(self, fleet: Path, *, done: int) -> None:
        if done and not is_fed_by_files(fleet):
            raise StoreError(
                f"this fleet is fed from another source, or {fleet / _DATABASE} is missing: "
                f"restore the newest copy of the whole fleet, or start a new fleet for these files"
            )
        self.folder = fleet / "inbox"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._damaged = dict[EventFile, Left]()  # known without decompressing it again
        self._db = sqlite3.connect(fleet / _DATABASE, isolation_level=None)
        try:
            with _readable():
                self._db.executescript(_TABLES)
                self.left = _not_read(self._db)
            if self.made < done:
                raise StoreError(
                    f"{fleet / _DATABASE} has {self.made} batches, but {done} were published: it "
                    f"was rolled back. Restore the newest copy of the whole fleet"
                )
            self._finish()
        except BaseException:
            self._db.close()
            raise

    @property
    def made(self) -> int:
        """Return the number of batches so far."""
        with _readable():
            row = self._db.execute("SELECT seq FROM sqlite_sequence").fetchone()
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def take(self, events: Path, *, most: int | None = None) -> bool:
        """Make a batch of at most ``most`` new files; return False if there are none.

        A file is new if its name or its times were not there at the last look. The oldest files
        come first. A file that cannot be read is in ``left`` until it can.
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

        Each batch of Spark has at least one of these, and the newest may be computed again.
        """
        with _readable():
            self._db.execute("DELETE FROM batches WHERE number < ?", (done,))
        self._finish()

    def forget(self) -> None:
        """Treat every file as new again."""
        with _readable():
            self._db.execute("DELETE FROM taken")

    def _copied(
        self, new: list[EventFile], most: int | None, left: list[Left]
    ) -> tuple[list[EventFile], str]:
        """Return the files that could be copied, and the name of the draft that holds them."""
        # Any later write to a file changes its times.
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
        db.execute("DELETE FROM skipped")
        db.executemany("INSERT INTO skipped VALUES (?, ?, ?)", left)
        if taken:
            db.execute("INSERT INTO batches (draft) VALUES (?)", (draft,))

    def _finish(self) -> None:
        """Make the folder match the database, wherever an earlier call was interrupted."""
        with _readable():
            wanted = dict(self._db.execute("SELECT draft, number FROM batches"))
        names = {f"{number:012}-{draft}": number for draft, number in wanted.items()}
        for path in list(self.folder.iterdir()):
            draft = path.name.removeprefix(_DRAFT) if path.name.startswith(_DRAFT) else None
            name = f"{wanted[draft]:012}-{draft}" if draft in wanted else path.name
            if name not in names:
                path.unlink()
                continue
            # Spark orders files by age: make each batch younger than the one before, whatever the
            # clock.
            os.utime(path, (names[name], names[name]))
            path.rename(self.folder / name)
        missing = sorted(names.keys() - {path.name for path in self.folder.iterdir()})
        if missing:
            raise StoreError(
                f"{self.folder / missing[0]} is missing, which may hold events that were not "
                f"learned from: restore it, or the newest copy of the whole fleet"
            )


def census(fleet: Path) -> tuple[int, list[Left]]:
    """Return how many files of the folder of events were taken, and which were not."""
    if not is_fed_by_files(fleet):
        return 0, []
    path = f"{(fleet / _DATABASE).as_uri()}?mode=ro"
    with _readable(), closing(sqlite3.connect(path, uri=True)) as db:
        (taken,) = db.execute("SELECT count(*) FROM taken").fetchone()
        return taken, _not_read(db)


def is_fed_by_files(fleet: Path) -> bool:
    """Return whether the fleet has an inbox."""
    return (fleet / _DATABASE).exists()


def _not_read(db: sqlite3.Connection) -> list[Left]:
    rows = db.execute("SELECT name, reason, by_name FROM skipped ORDER BY rowid").fetchall()
    return [Left(name, reason, bool(by_name)) for name, reason, by_name in rows]


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is on disk when everything is written, or deleted."""
    try:
        with path.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
    except BaseException:  # for example a full disk
        path.unlink(missing_ok=True)
        raise


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        raise StoreError(
            f"the list of files that this fleet has taken ({_DATABASE}) cannot be used: {problem}. "
            f"Nothing new was published; restore the newest copy of the whole fleet "
            f"if it is damaged"
        ) from problem
