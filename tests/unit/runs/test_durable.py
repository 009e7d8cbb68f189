"""Durable runs: exactly once, rollback refused, fail closed, bad input changes nothing."""

import copy
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from littlestone.choose.request import Request
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError, RollbackError, StoreError
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs import durable
from littlestone.runs.durable import DifferentContentError, DurableRun
from littlestone.runs.intake.event import Event, Receipt
from littlestone.runs.journal.records import Release, chained, check_chain, release_body

RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=50, epsilon=1.0)


@pytest.fixture
def run(folder_in_memory: Path) -> Iterator[DurableRun]:
    started = DurableRun.start(RECIPE, folder_in_memory / "run.db")
    yield started
    started.close()


def events(first: int, last: int) -> list[Event]:
    return [Event(f"e{i}", i % 16, int(i % 16 >= 5)) for i in range(first, last)]


def test_an_event_is_taken_once_and_a_retry_gets_the_same_answer(run: DurableRun) -> None:
    first = run.take(events(0, 3))
    assert [receipt.round for receipt in first] == [1, 2, 3]
    again = run.take(events(1, 5))
    assert [receipt.round for receipt in again] == [2, 3, 4, 5]
    assert [receipt.repeated for receipt in again] == [True, True, False, False]
    assert run.rounds == 5


def test_the_same_id_twice_in_a_group_is_one_event(run: DurableRun) -> None:
    receipts = run.take([*events(0, 2), *events(0, 1)])
    assert receipts[2] == Receipt(1, receipts[0].release, repeated=True)
    assert run.rounds == 2


def test_the_same_id_with_another_example_is_refused_and_nothing_is_taken(run: DurableRun) -> None:
    run.take(events(0, 3))
    with pytest.raises(DifferentContentError, match="'e1' was taken in round 2"):
        run.take([Event("new", 3, 1), Event("e1", 3, 1)])
    assert run.rounds == 3
    assert run.take([Event("new", 3, 1)])[0].round == 4


@pytest.mark.parametrize(
    "bad",
    [
        Event("b", 99, 1),
        Event("b", 3, 2),
        Event("", 3, 1),
        Event("\ud800", 3, 1),
        Event("b", float("nan"), 1),
    ],
)
def test_bad_input_changes_nothing(run: DurableRun, bad: Event) -> None:
    with pytest.raises(ValueError):
        run.take([*events(0, 2), bad])
    assert run.rounds == 0
    assert run.take(events(0, 2))[1].round == 2


@pytest.mark.parametrize(
    "x", [np.int64(3), b"key", Decimal(3), date(2020, 1, 1), frozenset({1}), ("a", np.int64(3))]
)
@pytest.mark.parametrize("count", [1, 3])
def test_a_point_that_cannot_be_stored_changes_nothing(
    folder_in_memory: Path, x: Any, count: int
) -> None:
    """All of these are keys, but not JSON."""
    recipe = PrivateKeys(rounds=50, epsilon=1.0, delta=1e-6)
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    with pytest.raises(ValueError, match="x must be JSON"):
        run.take([Event(f"e{place}", x, 1) for place in range(count)])
    assert run.take([Event("e", ["a", 3], 1)])[0].round == 1
    run.close()


def test_a_record_that_is_nested_too_deeply_to_be_stored_changes_nothing(
    folder_in_memory: Path,
) -> None:
    """What a schema does not declare is stored with the rest of a record."""
    recipe = Request(over={"n": {"grid": [1]}}, rounds=50).recipe()
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    deep: dict[str, Any] = {"text": "]" * 200}
    for depth in range(100_000):
        deep = {"in": deep} if depth % 2 else {"in": [deep]}
        if depth in (70, 200, 600, 900, 950, 980, 99_999):
            for count in (1, 2):
                with pytest.raises(ValueError, match="x must be JSON"):
                    run.take([Event(f"e{at}", {"n": 1, "more": deep}, 1) for at in range(count)])
    wide = {"n": 1, "more": [[]] * 500, "text": '\\"[{' * 500}
    assert run.take([Event("e", wide, 1)])[0].round == 1
    run.close()

    def resumed(frames: int) -> int:
        if frames:
            return resumed(frames - 1)
        again = DurableRun.resume(recipe, folder_in_memory / "run.db")
        again.close()
        return again.rounds

    assert resumed(frames=300) == 1


def test_a_record_that_is_stored_as_another_one_changes_nothing(folder_in_memory: Path) -> None:
    class Two(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return 1

    recipe = Request(over={"n": {"grid": [1]}}, rounds=50).recipe()
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    with pytest.raises(ValueError, match="must be a number"):
        run.take([Event("e", Two(n="one"), 1)])
    assert run.take([Event("e", {"n": 1}, 1)])[0].round == 1
    run.close()


def test_lists_without_end_and_ids_of_other_kinds_change_nothing(run: DurableRun) -> None:
    class Unready:
        def __bool__(self) -> bool:
            raise RuntimeError

    nested = list[Any]()
    nested.append(nested)
    for bad in (Event("e", nested, 1), *(Event(id_, 3, 1) for id_ in (Unready(), 3, None, b"e"))):  # type: ignore[arg-type]
        for group in ([bad], [*events(0, 2), bad]):
            with pytest.raises(ValueError, match=r"(x|id) must"):
                run.take(group)
    assert run.rounds == 0 and run.take(events(0, 2))[1].round == 2


def test_the_horizon_is_refused_before_anything_is_taken(run: DurableRun) -> None:
    run.take(events(0, 48))
    with pytest.raises(HorizonExceededError):
        run.take(events(48, 60))
    assert run.rounds == 48
    assert len(run.take(events(40, 50))) == 10


def test_a_resumed_run_goes_on_as_if_nothing_had_happened(folder_in_memory: Path) -> None:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db")
    run.take(events(0, 20))
    newest, mistakes = run.newest, run.mistakes
    run.close()
    resumed = DurableRun.resume(RECIPE, folder_in_memory / "run.db")
    assert (resumed.newest, resumed.rounds, resumed.mistakes) == (newest, 20, mistakes)
    assert [receipt.round for receipt in resumed.take(events(20, 23))] == [21, 22, 23]
    resumed.close()


def test_a_copy_of_an_old_store_is_refused(folder_in_memory: Path) -> None:
    path = folder_in_memory / "run.db"
    run = DurableRun.start(RECIPE, path)
    run.take(events(0, 5))
    run.close()
    shutil.copy(path, folder_in_memory / "old.db")
    run = DurableRun.resume(RECIPE, path)
    run.take(events(5, 10))
    run.close()
    shutil.copy(folder_in_memory / "old.db", path)
    with pytest.raises(RollbackError, match="rolled back"):
        DurableRun.resume(RECIPE, path)


def test_a_rollback_within_one_opening_is_refused_too(folder_in_memory: Path) -> None:
    path = folder_in_memory / "run.db"
    run = DurableRun.start(RECIPE, path)
    run.take(events(0, 5))
    copies = [name for name in os.listdir(folder_in_memory) if not name.endswith(".mark")]
    for name in copies:
        shutil.copy(folder_in_memory / name, folder_in_memory / f"kept-{name}")
    run.take(events(5, 10))
    run.close()
    for name in os.listdir(folder_in_memory):
        if name in ("run.db", "run.db-wal", "run.db-shm"):
            os.remove(folder_in_memory / name)
    for name in copies:
        shutil.copy(folder_in_memory / f"kept-{name}", folder_in_memory / name)
    with pytest.raises(RollbackError):
        DurableRun.resume(RECIPE, path)


def test_another_recipe_is_refused_and_its_own_is_not_harmed(folder_in_memory: Path) -> None:
    DurableRun.start(RECIPE, folder_in_memory / "run.db").close()
    other = PrivateMajority(concepts=Thresholds(16), rounds=50, epsilon=0.5)
    with pytest.raises(StoreError, match="another recipe"):
        DurableRun.resume(other, folder_in_memory / "run.db")
    run = DurableRun.resume(RECIPE, folder_in_memory / "run.db")
    assert run.take(events(0, 2))[1].round == 2
    run.close()


ALTERED = {
    "release": "UPDATE releases SET body = 'forged' WHERE number = 1",
    "kind of a release": "UPDATE releases SET body = CAST(body AS TEXT) WHERE number = 1",
    "last release": "DELETE FROM releases WHERE number = (SELECT max(number) FROM releases)",
    "label": "UPDATE groups SET body = CAST(replace(body, ',0]', ',1]') AS BLOB) WHERE number = 20",
    "last group": "DELETE FROM groups WHERE number > 16",
    "all groups": "DELETE FROM groups",
    "block": "DELETE FROM blocks WHERE number = 8",
    "all blocks": "DELETE FROM blocks",
    "all events": "DELETE FROM blocks; DELETE FROM groups",
    "key": "UPDATE about SET value = hex(zeroblob(32)) WHERE name = 'key'",
    "no key": "DELETE FROM about WHERE name = 'key'",
    "identity": "UPDATE about SET value = 'other' WHERE name = 'identity'",
    "snapshot": "UPDATE checkpoints SET body = x'00'",
    "round of the checkpoint": "UPDATE checkpoints SET number = 9",
    "checkpoint": "DELETE FROM checkpoints",
    "table": "DROP TABLE checkpoints",
    "trigger": "CREATE TRIGGER more AFTER INSERT ON groups BEGIN DELETE FROM releases; END",
}


@pytest.mark.parametrize("what", ALTERED)
def test_whatever_is_altered_is_noticed(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 8)
    path = folder_in_memory / "run.db"
    run = DurableRun.start(RECIPE, path)
    for first in range(0, 20, 4):
        run.take(events(first, first + 4))
    run.close()
    with sqlite3.connect(path) as connection:
        connection.executescript(ALTERED[what])
    connection.close()
    with pytest.raises(StoreError):
        DurableRun.resume(RECIPE, path)


def test_a_release_that_is_missing_before_the_checkpoint_is_noticed(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain does not know its end, and nothing is replayed that would miss it."""
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 1)
    path, eager = folder_in_memory / "run.db", replace(RECIPE, epsilon=50.0)
    run = DurableRun.start(eager, path)
    run.take(events(0, 40))
    assert run.newest.number > 1
    run.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM releases WHERE number > 1")
    connection.close()
    with pytest.raises(StoreError, match="differs from the log"):
        DurableRun.resume(eager, path)


def test_the_round_of_a_release_is_part_of_what_was_published(run: DurableRun) -> None:
    body = release_body(run.run.hypothesis, run=run.identity, number=1, round_number=5)
    release = Release(1, 5, body, chained(b"", body))
    check_chain([release], of="here")
    for altered in (release._replace(round=4), release._replace(number=2)):
        with pytest.raises(StoreError, match="does not match its hash"):
            check_chain([altered], of="here")


def test_a_file_that_is_no_store_is_refused(folder_in_memory: Path) -> None:
    path = folder_in_memory / "run.db"
    path.write_text("hello, this is not a database, however long it may be")
    with pytest.raises(StoreError, match="not a littlestone store"):
        DurableRun.resume(RECIPE, path)
    with pytest.raises(StoreError, match="exists already"):
        DurableRun.start(RECIPE, path)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_run_cannot_be_copied_and_goes_on(
    folder_in_memory: Path, run: DurableRun, copied: Callable[[object], object]
) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(run)
    run.take(events(1, 4))
    run.close()
    again = DurableRun.resume(RECIPE, folder_in_memory / "run.db")
    assert again.rounds == 3
    again.close()


def test_a_second_process_is_kept_out(folder_in_memory: Path, run: DurableRun) -> None:
    with pytest.raises(StoreError, match="in use"):
        DurableRun.resume(RECIPE, folder_in_memory / "run.db")


def test_who_closes_twice_lets_nobody_into_another_store(folder_in_memory: Path) -> None:
    one = DurableRun.start(RECIPE, folder_in_memory / "one.db")
    one.close()
    other = DurableRun.start(RECIPE, folder_in_memory / "other.db")  # its files have the numbers
    one.close()
    with pytest.raises(StoreError, match="in use"):
        DurableRun.resume(RECIPE, folder_in_memory / "other.db")
    other.close()


@pytest.mark.parametrize("end", ["sys.exit(0)", "run.close(); os._exit(0)"])
def test_a_forked_child_deletes_nothing_of_its_parent(folder_in_memory: Path, end: str) -> None:
    """SQLite would delete the log that the parent writes to, and a kill would lose the rest."""
    path = folder_in_memory / "store"
    script = f"""
import os, signal, sys
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
recipe = PrivateMajority(concepts=Thresholds(16), rounds=200, epsilon=5.0)
run = DurableRun.start(recipe, sys.argv[1])
run.take([Event("a", 3, 1)])
child = os.fork()
if not child:
    {end}
assert os.waitpid(child, 0)[1] == 0
run.take([Event("b", 4, 1)])
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    recipe = PrivateMajority(concepts=Thresholds(16), rounds=200, epsilon=5.0)
    run = DurableRun.resume(recipe, path)
    assert run.rounds == 2
    run.close()


def test_of_two_threads_in_one_run_one_is_refused(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its group would be in the learner and not in the log, and be read again on a retry."""
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db")
    checked, refused = run._intake.checked, list[str]()

    def other() -> None:
        try:
            run.take(events(20, 40))
        except StoreError as refusal:
            refused.append(str(refusal))

    def interrupted(*arguments: Any, **more: Any) -> Any:
        monkeypatch.undo()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return checked(*arguments, **more)

    monkeypatch.setattr(run._intake, "checked", interrupted)
    run.take(events(0, 20))
    assert run.rounds == run.run.rounds_played == 20 and "another call" in refused[0]
    assert len(run.take(events(20, 40))) == 20
    run.close()
    again = DurableRun.resume(RECIPE, folder_in_memory / "run.db")
    assert again.rounds == 40
    again.close()


def test_another_thread_may_continue_a_run_and_close_it(folder_in_memory: Path) -> None:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db")
    run.take(events(0, 3))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run.take, events(3, 5)).result()[-1].round == 5
        assert pool.submit(lambda: list(run.releases())).result() == list(run.releases())
        pool.submit(run.close).result()
        again = pool.submit(DurableRun.resume, RECIPE, folder_in_memory / "run.db").result()
    assert again.take(events(5, 6))[0].round == 6
    again.close()


def test_no_thread_closes_a_run_while_another_takes_events(folder_in_memory: Path) -> None:
    """What it writes next would go into another file of the same number."""
    path = folder_in_memory / "run.db"
    run = DurableRun.start(replace(RECIPE, epsilon=500.0), path)
    refused = list[str]()

    def publish(_: Release) -> None:
        with ThreadPoolExecutor(1) as pool, pytest.raises(StoreError, match="not done") as caught:
            pool.submit(run.close).result()
        refused.append(str(caught.value))

    taken = run.take(events(0, 40), publish)
    assert refused and len(taken) == 40
    assert run.take(events(40, 41))[0].round == 41
    run.close()
    run.close()
    DurableRun.resume(replace(RECIPE, epsilon=500.0), path).close()


def test_no_thread_sees_a_release_before_its_commit(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the commit fails, other events continue with the same noise."""
    run = DurableRun.start(replace(RECIPE, epsilon=500.0), folder_in_memory / "run.db")
    journal: Any = run._log._journal
    db, seen = journal._db, list[int]()

    class Full:
        def execute(self, query: str, *values: Any) -> Any:
            if query == "COMMIT":
                with ThreadPoolExecutor(1) as pool:
                    numbers = pool.submit(lambda: [each.number for each in run.releases()])
                    seen.extend([*numbers.result(), run.newest.number])
                raise OSError("no space")
            return db.execute(query, *values)

    monkeypatch.setattr(journal, "_db", Full())
    with pytest.raises(StoreError, match="no space"):
        run.take(events(0, 40))
    monkeypatch.undo()
    assert seen == [1, 1]
    assert [run.newest] == list(run.releases())
    run.close()


@pytest.mark.parametrize("reopened", [False, True])
def test_rows_in_a_row_are_found_once(
    reopened: bool, folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever blocks of the log end, and whatever the rows after them are."""
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 7)
    path, points = folder_in_memory / "run.db", [0, 1, 2, 3, 0, 1, 4, 5, 5, 5, *range(6, 16), 0, 15]
    events = [Event(f"a{place}", point, 0) for place, point in enumerate(points)]
    run = DurableRun.start(RECIPE, path)
    for first in range(0, len(points), 3):
        run.take(events[first : first + 3])
    if reopened:
        run.close()
        run = DurableRun.resume(RECIPE, path)
    for first in range(len(points)):
        for end in range(first + 1, len(points) + 1):
            wanted = points[first:end]
            places = [
                place
                for place in range(len(points))
                if points[place : place + len(wanted)] == wanted
            ]
            others = [event._replace(id=f"b{event.id}") for event in events[first:end]]
            assert run.taken_as(others) == (f"a{first}" if places == [first] else None)
    assert run.taken_as([Event("x", 3, 0), Event("y", 1, 0)]) is None
    run.close()


def test_no_rule_is_shown_whose_commit_failed(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store continues with other events and the same noise."""
    run = DurableRun.start(replace(RECIPE, epsilon=500.0), folder_in_memory / "run.db")
    journal: Any = run._log._journal
    db, seen = journal._db, list[str]()

    class Full:
        def execute(self, query: str, *values: Any) -> Any:
            if query == "COMMIT":
                with ThreadPoolExecutor(1) as pool, suppress(StoreError):
                    seen.append(pool.submit(lambda: run.run.hypothesis.describe()).result())
                raise OSError("no space")
            return db.execute(query, *values)

    monkeypatch.setattr(journal, "_db", Full())
    with pytest.raises(StoreError, match="no space"):
        run.take(events(0, 40))
    monkeypatch.undo()
    with pytest.raises(StoreError, match="not committed"):
        seen.append(run.run.hypothesis.describe())
    assert not seen
    run.close()


def test_the_key_of_the_noise_is_stored_before_the_first_example(folder_in_memory: Path) -> None:
    path = folder_in_memory / "run.db"
    DurableRun.start(RECIPE, path).close()
    with sqlite3.connect(path) as connection:
        about = dict(connection.execute("SELECT name, value FROM about"))
    connection.close()
    assert len(about["key"]) == 64


def test_an_error_while_logging_closes_the_run(folder_in_memory: Path) -> None:
    """What the log knows in memory may be ahead of the file then."""
    path = folder_in_memory / "run.db"
    run = DurableRun.start(RECIPE, path)
    run.take(events(0, 2))
    journal: Any = run._log._journal
    journal._db.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON groups WHEN new.number = 6 "
        "BEGIN SELECT raise(ABORT, 'disk full'); END"
    )
    with pytest.raises(StoreError, match="disk full"):
        run.take(events(2, 6))
    with pytest.raises(StoreError, match="unknown state"):
        run.take(events(2, 3))
    run.close()
    run = DurableRun.resume(RECIPE, path)
    assert [receipt.round for receipt in run.take(events(0, 6))] == [1, 2, 3, 4, 5, 6]
    run.close()
    DurableRun.resume(RECIPE, path).close()


def test_an_error_while_learning_closes_the_run(
    run: DurableRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, xs: Any, ys: Any) -> None:
        raise RuntimeError("disk full")

    run.take(events(0, 2))
    monkeypatch.setattr(type(run.run), "take", fail)
    with pytest.raises(RuntimeError, match="disk full"):
        run.take(events(2, 6))
    with pytest.raises(StoreError, match="unknown state"):
        run.take(events(2, 6))
