"""Of all copies of a store only the successor of its mark is continued, by one process."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import RollbackError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import BESIDE
from littlestone.runs.intake.event import Event
from littlestone.runs.journal.mark import Mark, StorePosition

RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=1000, epsilon=1.0)


def events(first: int, last: int) -> list[Event]:
    return [Event(f"e{i}", i % 16, int(i % 16 >= 5)) for i in range(first, last)]


def mark_of(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def opened(path: Path, first: int, last: int, *, adopt: bool = False) -> DurableRun:
    """Open the store or create it, and take some events."""
    run = (
        DurableRun.resume(RECIPE, path, adopt=adopt)
        if path.exists()
        else DurableRun.start(RECIPE, path)
    )
    run.take(events(first, last))
    return run


@pytest.fixture
def path(folder_in_memory: Path) -> Path:
    """A store with five events, closed."""
    opened(folder_in_memory / "run.db", 0, 5).close()
    return folder_in_memory / "run.db"


def test_a_copy_that_was_opened_more_often_is_refused(path: Path) -> None:
    """Counting openings and rounds does not help: the copy wins whoever counts."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(mark_of(path), mark_of(copy))
    for _ in range(3):
        opened(copy, 5, 30, adopt=True).close()
    opened(path, 5, 8).close()
    shutil.copyfile(copy, path)
    with pytest.raises(RollbackError, match="rolled back"):
        DurableRun.resume(RECIPE, path)
    with pytest.raises(RollbackError, match="rolled back"):  # not even on somebody's word
        DurableRun.resume(RECIPE, path, adopt=True)


def no_mark(path: Path) -> Path:
    mark_of(path).unlink()
    return path


def another_name(path: Path) -> Path:
    return Path(shutil.copy(path, path.with_name("copy.db")))


def another_name_with_its_mark(path: Path) -> Path:
    copy = another_name(path)
    shutil.copy(mark_of(path), mark_of(copy))
    return copy


def emptied_mark(path: Path) -> Path:
    mark_of(path).write_bytes(b"")
    return path


def one_word_mark(path: Path) -> Path:
    mark_of(path).write_bytes(b"7\n")
    return path


def flipped_mark(path: Path) -> Path:
    content = bytearray(mark_of(path).read_bytes())
    content[150] ^= 1
    mark_of(path).write_bytes(content)
    return path


def hard_link(path: Path) -> Path:
    other = path.with_name("link.db")
    os.link(path, other)
    return other


UNKNOWN = [
    no_mark,
    another_name,
    another_name_with_its_mark,
    emptied_mark,
    one_word_mark,
    flipped_mark,
    hard_link,
]


@pytest.mark.parametrize("change", UNKNOWN)
def test_what_no_mark_speaks_for_is_opened_only_to_adopt_it(
    path: Path, change: Callable[[Path], Path]
) -> None:
    other = change(path)
    with pytest.raises(StoreError, match=r"void the guarantee of both.*--adopt"):
        DurableRun.resume(RECIPE, other)
    adopted = DurableRun.resume(RECIPE, other, adopt=True)
    assert adopted.adopted and adopted.rounds == 5
    adopted.close()
    again = DurableRun.resume(RECIPE, other)
    assert not again.adopted
    again.close()


def test_a_link_is_the_store_itself(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    opened(link, 5, 8).close()
    assert not mark_of(link).exists()
    run = DurableRun.resume(RECIPE, path)
    assert run.rounds == 8
    run.close()


def test_the_mark_of_another_store_does_not_speak_for_this(path: Path) -> None:
    other = path.with_name("other.db")
    opened(other, 0, 9).close()
    shutil.copyfile(mark_of(other), mark_of(path))
    with pytest.raises(StoreError, match="belongs to another store"):
        DurableRun.resume(RECIPE, path, adopt=True)


@pytest.mark.parametrize("place", [1, 2])
def test_a_kill_between_mark_and_store_harms_nothing(
    path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark names the branch that is being entered before the store does, and knows both."""
    write, calls = Mark.write, list[int]()

    def killed(self: Mark, position: StorePosition, *, sync: bool) -> None:
        calls.append(1)
        if len(calls) == place:
            raise KeyboardInterrupt
        write(self, position, sync=sync)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Mark, "write", killed)
        DurableRun.resume(RECIPE, path)
    opened(path, 0, 9).close()


def test_a_vanished_store_is_not_silently_begun_anew(path: Path) -> None:
    path.unlink()
    with pytest.raises(StoreError, match=r"is gone.*budget adds"):
        DurableRun.start(RECIPE, path)
    mark_of(path).unlink()
    DurableRun.start(RECIPE, path).close()


def test_side_files_of_a_store_that_is_gone_do_not_come_back(folder_in_memory: Path) -> None:
    """SQLite would put the pages of the old log, the old key among them, into the new file."""
    old = folder_in_memory / "old.db"
    run = opened(old, 0, 5)
    wal = (folder_in_memory / "old.db-wal").read_bytes()
    key = run._log.key
    run.close()
    path = folder_in_memory / "run.db"
    (folder_in_memory / "run.db-wal").write_bytes(wal)
    run = DurableRun.start(RECIPE, path)
    assert run.rounds == 0 and run._log.key != key
    run.take(events(0, 2))
    run.close()
    with sqlite3.connect(path) as connection:
        about = dict(connection.execute("SELECT name, value FROM about"))
    connection.close()
    assert about["key"] != key.hex()


def test_a_journal_of_somebody_else_is_not_played_back(path: Path, folder_in_memory: Path) -> None:
    """SQLite would take it for an unfinished change of this file, and undo it."""
    other = folder_in_memory / "other"
    shutil.copy(path, other)
    connection = sqlite3.connect(other, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("PRAGMA cache_size = 1")
    for table in ("groups", "about", "releases"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute(
        "CREATE TABLE more AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
        "SELECT x + 1 FROM c LIMIT 9999) SELECT x FROM c"
    )
    journal = (folder_in_memory / "other-journal").read_bytes()
    connection.close()
    opened(path, 5, 20).close()
    path.with_name("run.db-journal").write_bytes(journal)
    run = DurableRun.resume(RECIPE, path)
    assert run.rounds == 20
    run.close()


@pytest.mark.parametrize("ending", BESIDE)
def test_no_store_has_the_name_of_a_file_beside_another(
    folder_in_memory: Path, ending: str
) -> None:
    """Creating or opening the other one would delete it."""
    with pytest.raises(StoreError, match="lies beside a store"):
        DurableRun.start(RECIPE, folder_in_memory / f"run.db{ending}")
    assert list(folder_in_memory.iterdir()) == []


def test_a_start_does_not_write_its_mark_over_a_foreign_file(folder_in_memory: Path) -> None:
    foreign = folder_in_memory / "run.db.mark"
    foreign.write_bytes(b"late,hour\n" * 100)
    with pytest.raises(StoreError, match="is not a mark"):
        DurableRun.start(RECIPE, folder_in_memory / "run.db")
    assert [*folder_in_memory.iterdir()] == [foreign]
    assert foreign.read_bytes() == b"late,hour\n" * 100


def test_a_mark_that_was_cut_off_lets_a_store_begin(path: Path) -> None:
    content = mark_of(path).read_bytes()
    for size in (0, 7, 60):
        path.unlink()
        mark_of(path).write_bytes(content[:size])
        run = DurableRun.start(RECIPE, path)
        assert run.rounds == 0
        run.close()


def test_a_refused_start_leaves_nothing_behind(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("littlestone.runs.journal.sqlite.os.rename", full)
    with pytest.raises(StoreError, match="No space left"):
        DurableRun.start(RECIPE, folder_in_memory / "run.db")
    assert list(folder_in_memory.iterdir()) == []


def test_drafts_of_killed_processes_are_removed(folder_in_memory: Path) -> None:
    (folder_in_memory / "run.db.0123456789abcdef.new").write_bytes(b"a draft")
    (folder_in_memory / "run.db.mine.new").write_bytes(b"somebody's")
    DurableRun.start(RECIPE, folder_in_memory / "run.db").close()
    assert {path.name for path in folder_in_memory.iterdir()} == {
        "run.db",
        "run.db.mark",
        "run.db.mine.new",
    }


def replaced_store(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)


def removed_store(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [replaced_store, removed_store])
def test_a_running_process_notices_that_it_was_replaced(
    path: Path, change: Callable[[Path], None]
) -> None:
    run = opened(path, 5, 6)
    change(path)
    with pytest.raises(StoreError, match="removed or replaced while in use"):
        run.take(events(6, 7))
    run.close()


def test_a_mark_removed_meanwhile_does_not_let_a_second_one_in(path: Path) -> None:
    run = opened(path, 5, 6)
    mark_of(path).unlink()
    with pytest.raises(StoreError, match="in use by another process"):
        DurableRun.resume(RECIPE, path, adopt=True)
    assert not mark_of(path).exists()
    run.take(events(6, 7))
    run.close()
    with pytest.raises(StoreError, match="--adopt"):
        DurableRun.resume(RECIPE, path)


def test_the_branch_is_rechecked_in_every_commit(path: Path) -> None:
    run = opened(path, 5, 6)
    journal: Any = run._log._journal
    journal._db.execute("UPDATE about SET value = 'another' WHERE name = 'branch'")
    with pytest.raises(StoreError, match="replaced"):
        run.take(events(6, 7))
    run.close()


def test_store_mark_and_side_files_are_for_the_owner_only(folder_in_memory: Path) -> None:
    run = opened(folder_in_memory / "run.db", 0, 3)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder_in_memory.iterdir()}
    run.close()
    assert set(modes) >= {"run.db", "run.db.mark", "run.db-wal"}
    assert set(modes.values()) == {0o600}


def test_a_database_of_somebody_else_is_left_alone(folder_in_memory: Path) -> None:
    path = folder_in_memory / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (value)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a littlestone store"):
        DurableRun.resume(RECIPE, path, adopt=True)
    assert path.read_bytes() == before and list(folder_in_memory.iterdir()) == [path]


def test_a_second_one_in_the_same_moment_is_kept_out(path: Path) -> None:
    run = DurableRun.resume(RECIPE, path)
    with pytest.raises(StoreError, match="in use by another process"):
        DurableRun.resume(RECIPE, path)
    run.close()
    DurableRun.resume(RECIPE, path).close()
