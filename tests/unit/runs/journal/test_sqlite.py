"""A store is copied into memory as SQLite would read it, while somebody else writes it."""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.journal.run_log import read_about
from littlestone.runs.journal.sqlite import _checksum, copied

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


def test_a_log_that_claims_more_pages_than_it_has_is_damage(tmp_path: Path) -> None:
    """Four kilobytes would otherwise take any amount of memory."""
    path = store(tmp_path)
    size, words = 4096, struct.Struct("<II")
    head = struct.pack(">6I", 0x377F0682, 3007000, size, 0, 1, 2)
    sums = _checksum(head, (0, 0), words)
    page, frame = bytes(size), struct.pack(">2I", 1, 1 << 14)
    of_frame = _checksum(page, _checksum(frame, sums, words), words)
    log = head + struct.pack(">2I", *sums) + frame + struct.pack(">4I", 1, 2, *of_frame) + page
    path.with_name("run.db-wal").write_bytes(log)
    with pytest.raises(StoreError, match="claims 16,384 pages"):
        read_about(path)


def test_a_view_in_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    """It may have no end."""
    path = store(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE about; CREATE VIEW about AS SELECT 'seal' AS name, 1 AS value")
    with pytest.raises(StoreError, match="its tables are not those of a store"):
        read_about(path)


def test_a_pipe_is_no_store(tmp_path: Path) -> None:
    """Opening it would wait for a writer."""
    os.mkfifo(tmp_path / "run.db")
    for path in (tmp_path / "run.db", tmp_path):
        with pytest.raises(StoreError, match="is not a littlestone store"):
            read_about(path)


def store(folder: Path) -> Path:
    recipe = PrivateMajority(concepts=Thresholds(16), rounds=1000, epsilon=1.0)
    DurableRun.start(recipe, folder / "run.db").close()
    return folder / "run.db"
