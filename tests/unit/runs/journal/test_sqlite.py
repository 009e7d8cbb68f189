"""A store is copied into memory as SQLite would read it, while somebody else writes it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from littlestone.runs.journal.sqlite import copied

GROUPS = 6


@pytest.fixture
def files(tmp_path: Path) -> tuple[bytes, bytes]:
    """A database and its log, with rows in the one, more in the other, and pages given back."""
    path = tmp_path / "writing.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;")
        db.executescript("CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB); VACUUM;")
        db.execute("INSERT INTO t VALUES (0, zeroblob(40000))")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(1, GROUPS):
            db.execute("INSERT INTO t VALUES (?, zeroblob(9000))", (number,))
        db.execute("DELETE FROM t WHERE n = 0")
        return path.read_bytes(), (path.parent / "writing.db-wal").read_bytes()


def rows(tmp_path: Path, pages: bytes, log: bytes) -> list[int]:
    path = tmp_path / "looked.db"
    path.write_bytes(pages)
    path.with_name("looked.db-wal").write_bytes(log)
    with closing(copied(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = [number for (number,) in db.execute("SELECT n FROM t ORDER BY n")]
    with closing(sqlite3.connect(path)) as reader:  # the definition
        assert found == [number for (number,) in reader.execute("SELECT n FROM t ORDER BY n")]
    return found


def test_file_and_log_together(tmp_path: Path, files: tuple[bytes, bytes]) -> None:
    pages, log = files
    assert rows(tmp_path, pages, b"") == [0]
    assert rows(tmp_path, pages, log) == list(range(1, GROUPS))


def test_a_transaction_that_is_being_written_is_not_seen(
    tmp_path: Path, files: tuple[bytes, bytes]
) -> None:
    pages, log = files
    seen = {tuple(rows(tmp_path, pages, log[:size])) for size in range(0, len(log), 4001)}
    assert {(0,), (0, 1), (0, 1, 2)} <= seen
    for place in (len(log) - 100, len(log) - 4096 - 20, 40, 9):  # a page, a frame, the beginning
        torn = bytearray(log)
        torn[place] ^= 255
        assert rows(tmp_path, pages, bytes(torn)) != list(range(1, GROUPS))


def test_frames_from_before_the_log_began_anew_are_not_seen(
    tmp_path: Path, files: tuple[bytes, bytes]
) -> None:
    pages, log = files
    assert rows(tmp_path, pages, log[:16] + b"otherone" + log[24:]) == [0]
