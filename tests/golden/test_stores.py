"""Stores that older versions wrote are opened, and written anew on the way.

Nothing here writes them: they are what the library of that format left behind, after sixty events
with checkpoints after 25 or so.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.service.durable import DurableRun
from littlestone.service.log import format_5
from littlestone.service.log.intake import Event
from littlestone.service.store import read_about, read_log, read_progress
from littlestone.service.store_file import FORMAT

STORES = Path(__file__).parent / "stores"
RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=1000, epsilon=200.0, max_contributions=3)
USERS = {"format-5-plain": None, "format-5-counted": "who"}
ALTERED = {
    "id": "UPDATE events SET id = 'other' WHERE round = 2",
    "label": "UPDATE events SET body = replace(body, ',1]', ',0]') WHERE round = 55",
    "event": "DELETE FROM events WHERE round = 60",
}


@pytest.fixture(params=USERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(name: str, folder_in_memory: Path) -> Path:
    return Path(shutil.copy(STORES / f"{name}.db", folder_in_memory / "run.db"))


def opened(path: Path, name: str) -> DurableRun:
    return DurableRun.resume(RECIPE, path, users=USERS[name], adopt=True)


def stream(name: str, count: int) -> list[Event]:
    points = [5 * i % 16 for i in range(count)]
    return [
        Event(
            f"é{i}" if i % 7 == 0 else f"e{i}",
            x,
            int(x >= 3),
            user=None if USERS[name] is None else f"u{i % 17}",
        )
        for i, x in enumerate(points)
    ]


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (known,) = connection.execute("PRAGMA user_version").fetchone()
        return int(known)


def free_pages(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def test_an_old_store_opens_with_everything_in_it(path: Path, name: str) -> None:
    releases, about = read_log(path).releases, read_about(path)
    assert format_of(path) == 5 and read_progress(path) == (60, 2)
    for _ in range(2):  # it is written anew the first time
        run = opened(path, name)
        assert (run.rounds, run.mistakes, run.newest.number) == (60, 2, 3)
        receipts = run.take(stream(name, 60))
        assert [receipt.round for receipt in receipts] == list(range(1, 61))
        assert all(receipt.repeated for receipt in receipts)
        assert list(run.releases()) == releases
        run.close()
        assert (format_of(path), free_pages(path)) == (FORMAT, 0)
        assert read_about(path) | {"branch": ""} == about | {"branch": ""}
    run = opened(path, name)
    unread = [receipt.unread for receipt in run.take(stream(name, 70))[60:]]
    assert all(unread) if USERS[name] else not any(unread)
    assert run.rounds == 70
    run.close()


@pytest.mark.parametrize("what", ALTERED)
def test_an_old_store_that_was_altered_is_refused(path: Path, name: str, what: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(ALTERED[what])
    with pytest.raises(StoreError):
        opened(path, name)
    assert format_of(path) == 5


def test_an_old_store_stays_whole_if_it_is_not_written_to_the_end(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> list[Any]:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(format_5, "_groups", broken)
        with pytest.raises(StoreError, match="disk is full"):
            opened(path, name)
    assert format_of(path) == 5
    run = opened(path, name)
    assert run.rounds == 60
    run.close()
