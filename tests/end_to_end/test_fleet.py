"""A fleet on a server of its own: exactly once, in order, no way back."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fleet_events import RECIPE, some_events
from tests.fleets import EACH, KEYS, NEEDS_A_SERVER, Fleet, batches, uninterrupted
from tests.patience import PATIENCE
from tests.server import Server

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError, RollbackError, StoreError
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.fleet import database, worker
from littlestone.runs.fleet.worker import Turn, Worker

pytestmark = NEEDS_A_SERVER


def test_batches_give_the_bytes_of_one_call_for_each_key(fleet: Fleet) -> None:
    events = some_events(KEYS, EACH)
    fleet.put_all(events, size=700)
    assert fleet.work() == KEYS * EACH
    assert fleet.content() == uninterrupted(fleet, events)
    assert fleet.status() == {
        "keys": KEYS,
        "rounds": KEYS * EACH,
        "releases": len(uninterrupted(fleet, events)[1]),
        "waiting": 0,
        "behind a gap": 0,
    }
    with database.connect(fleet.server.dsn) as connection:
        of_one = list(database.releases(connection, "key 3"))
        everything = list(database.releases(connection))
    assert set(of_one) < set(everything) and all(b'"run": "key 3"' in one.body for one in of_one)


def test_events_behind_a_gap_wait_and_repeats_change_nothing(fleet: Fleet) -> None:
    fleet.put(["a", "a", "b"], [3, 4, 1], [1, 2, 3], [0, 0, 1])
    assert fleet.work() == 1 and fleet.status()["behind a gap"] == 2
    assert fleet.work() == 0  # what waits alone is not looked at again
    fleet.put(["a", "b", "a"], [2, 1, 4], [5, 9, 60], [0, 0, 1])
    assert fleet.work() == 0 and fleet.status()["behind a gap"] == 4
    fleet.put(["a", "a"], [1, 1], [7, 8], [1, 0])
    assert fleet.work() == 4 and fleet.status()["behind a gap"] == 0
    expected = uninterrupted(fleet, {"a": [(7, 1), (5, 0), (1, 0), (2, 0)], "b": [(3, 1)]})
    assert fleet.content() == expected


def test_of_two_events_with_one_number_the_first_that_was_put_counts(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever turns were taken in between: a retry must not learn from the other."""
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)
    fleet.put(["a", "a"], [3, 4], [1, 2], [0, 0])
    fleet.put(["a", "a"], [3, 4], [60, 61], [1, 1])
    assert fleet.work() == 0 and fleet.work() == 0
    assert fleet.status()["behind a gap"] == 4
    fleet.put(["a", "a"], [1, 2], [7, 8], [1, 0])
    assert fleet.work() == 4
    assert fleet.content() == uninterrupted(fleet, {"a": [(7, 1), (8, 0), (1, 0), (2, 0)]})
    assert fleet.status()["behind a gap"] == fleet.status()["waiting"] == 0


def test_a_run_that_stays_in_memory_is_used_only_where_its_state_was_committed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns that fail, and turns of somebody else, leave nothing awake that would go on."""
    recipe = PrivateMajority(concepts=Thresholds(64), rounds=10_000, epsilon=8.0)
    fleet, points = Fleet(server, tmp_path, recipe), [37 * n % 64 for n in range(EACH)]
    events = {f"key {k}": [(x, int(x >= 9 * k)) for x in points] for k in range(6)}
    read, others = list[Worker](), list[int]()
    found = Worker._run

    def noted(by: Worker, *of: Any) -> Any:
        read.append(by)
        return found(by, *of)

    def failing(turn: Turn) -> None:
        if turn.events and next(failures, False):
            raise OSError("the connection is gone")

    monkeypatch.setattr(Worker, "_run", noted)
    failures = iter(([False] * 9 + [True]) * 40)
    parts = batches(events, 12)
    with database.connect(fleet.server.dsn) as connection:
        mine = fleet.worker(connection, before_commit=failing)
        for place, part in enumerate(parts):
            fleet.put(*part)
            if place % 5 == 4:
                others.append(fleet.work())
                keys, seqs, xs, ys = part
                fleet.put(keys, seqs, xs, [1 - y for y in ys])  # only a stale run would take them
                continue
            while True:
                try:
                    if not mine.work():
                        break
                except OSError:
                    continue
        mine.mark.close()
    assert fleet.content() == uninterrupted(fleet, events)
    assert others == [12] * 10
    by_mine = sum(one is mine for one in read)
    assert by_mine < 0.5 * 6 * 40, by_mine  # of 40 turns of six keys: most were in memory


def test_any_keys_and_points_go_through(server: Server, tmp_path: Path) -> None:
    recipe = LazyForest.calibrated(concepts=Points(), rounds=50, epsilon=1.0, delta=1e-6)
    fleet = Fleet(server, tmp_path, recipe)
    fleet.put([1, "1", True, ("é", 2)], [1, 1, 2, 1], ["x", 2.5, ("y", 3), b"z"], [1, 1, 0, 1])
    assert fleet.work() == 4
    expected: Any = {1: [("x", 1), (("y", 3), 0)], "1": [(2.5, 1)], ("é", 2): [(b"z", 1)]}
    assert fleet.content() == uninterrupted(fleet, expected)


def test_bad_events_are_refused_before_they_wait(fleet: Fleet) -> None:
    for bad in (
        (["a"], [1], [64], [0]),
        (["a"], [0], [1], [0]),
        (["a"], [1], [1], [2]),
        (["a", "b"], [1], [1], [0]),
        ([1j], [1], [1], [0]),
        (["b", os.urandom(2000)], [1, 1], [1, 1], [0, 0]),  # no index has room for it
    ):
        with pytest.raises(ValueError):
            fleet.put(*bad)
    with pytest.raises(HorizonExceededError):
        fleet.put(["a"], [501], [1], [0])
    assert fleet.status()["waiting"] == 0
    fleet.put([os.urandom(1990)], [1], [1], [0])
    assert fleet.work() == 1


def test_an_address_that_cannot_be_read_is_not_repeated() -> None:
    for dsn in ("postgres:/me:hunter2@host/name", "password='hunter2", "a://u:hunter2@h/n"):
        with pytest.raises(StoreError) as told:
            database.connect(dsn)
        assert "hunter2" not in str(told.value)


def test_a_server_that_does_not_sync_is_made_to(fleet: Fleet) -> None:
    """A mark ahead of what survived a crash would reject the fleet forever."""
    dsn = f"{fleet.server.dsn} options='-c synchronous_commit=off'"
    with database.connect(dsn) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_role_without_an_encoding_is_like_any_other(server: Server, tmp_path: Path) -> None:
    fleet = Fleet(server, tmp_path, users="Käufer")
    dsn = f"{server.dsn} options='-c client_encoding=SQL_ASCII'"
    with database.connect(dsn) as connection:
        assert database.terms_of(connection) == fleet.terms


def test_two_workers_with_one_session_lose_nothing(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a pooler they may have it, and then the lock of one is the lock of the other."""
    compute, slow, computed, done = Worker._computed, [True], threading.Event(), threading.Event()

    @contextmanager
    def shared(*_: Any) -> Iterator[bool]:
        yield True

    def slowly(*arguments: Any) -> Turn:
        turn = compute(*arguments)
        if slow and slow.pop():
            computed.set()
            done.wait(0.5)
        return turn

    monkeypatch.setattr(database, "shard_lock", shared)
    fleet.put(["a"], [1], [1], [0])
    assert fleet.work() == 1
    monkeypatch.setattr(Worker, "_computed", slowly)
    fleet.put(["a"], [2], [2], [0])
    first = threading.Thread(target=fleet.work)
    first.start()
    computed.wait(PATIENCE)
    fleet.put(["a"], [3], [3], [0])
    fleet.work()
    done.set()
    first.join(PATIENCE)
    assert fleet.content() == uninterrupted(fleet, {"a": [(1, 0), (2, 0), (3, 0)]})


def test_the_secret_is_nowhere_in_the_database(fleet: Fleet) -> None:
    fleet.put_all(some_events(KEYS, EACH), size=4000)
    fleet.work()
    with database.connect(fleet.server.dsn) as connection:
        for table in ("fleet", "queue", "states", "releases", "shards"):
            for row in connection.execute(f"SELECT * FROM littlestone.{table}"):
                text = repr(row)
                assert fleet.secret.hex() not in text and repr(fleet.secret)[2:-1] not in text
    assert fleet.secret.hex() not in repr(fleet.worker(None))
    assert str(fleet.secret) not in repr(fleet.worker(None))


def test_a_database_that_was_put_back_is_refused(
    server: Server, fleet: Fleet, tmp_path: Path
) -> None:
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    copy = tmp_path / "copy"
    server.stop()
    shutil.copytree(server.data, copy)
    server.start()
    fleet.put(["a"], [2], [4], [0])
    fleet.work()
    server.stop()
    shutil.copytree(copy, server.data, dirs_exist_ok=True)
    for place in copy.rglob("*"):  # what came later must go, too
        (server.data / place.relative_to(copy)).touch()
    subprocess.run(["chown", "-R", "--reference", str(server.folder), str(server.data)], check=True)
    server.start()
    fleet.put(["a"], [2], [60], [1])  # the source went on otherwise
    with pytest.raises(RollbackError, match="of the database was rolled back"):
        fleet.work()
    assert fleet.status()["rounds"] == 1
    fleet.mark.unlink()
    with pytest.raises(StoreError, match="--adopt"):
        fleet.work()


def test_one_fleet_for_a_database_and_one_recipe_for_a_fleet(fleet: Fleet) -> None:
    with pytest.raises(StoreError, match="this database already has a fleet"):
        database.create(fleet.server.dsn, RECIPE, fingerprint=b"")
    with pytest.raises(StoreError, match="another recipe"):
        fleet.terms.require_recipe(RECIPE.for_rounds(7))
    # A service goes on while its database gets another fleet.
    with (
        database.connect(fleet.server.dsn) as connection,
        pytest.raises(StoreError, match="another recipe"),
    ):
        database.put(connection, RECIPE.for_rounds(7), ["a"], [1], [3], [0])
    with pytest.raises(StoreError, match="cannot be reached"):
        database.connect("host=/nowhere user=postgres password=hidden")
    with pytest.raises(ValueError, match="shards"):
        database.create(fleet.server.dsn, RECIPE, fingerprint=b"", shards=5000)
