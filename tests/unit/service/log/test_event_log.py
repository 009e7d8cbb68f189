"""A log is checked by what SQLite strings together, and that is what was taken, byte by byte."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.service import durable
from littlestone.service.durable import DurableRun
from littlestone.service.entries import Taken, body_of
from littlestone.service.log import event_log, known_ids
from littlestone.service.log.event_log import TABLES, EventLog
from littlestone.service.log.intake import Event

KEY = bytes(32)
ODD = ["a", "é\u0301", "x\0y", "12:3", "😀", " ", "1", "10", "\x1f,'\"\n", "a" * 5000]
ALTERED = {
    "an id": "UPDATE events SET id = id || 'x' WHERE round = 3",
    "two ids": "UPDATE events SET id = CASE round WHEN 1 THEN 'é\u0301' ELSE 'a' END "
    "WHERE round IN (1, 2)",
    "the kind of an id": "UPDATE events SET id = CAST(id AS BLOB) WHERE round = 4",
    "the kind of a digest": "UPDATE events SET digest = CAST('1234567890123456' AS TEXT) "
    "WHERE round = 4",
    "a digest": "UPDATE events SET digest = zeroblob(16) WHERE round = 5",
    "a group": "UPDATE events SET batch = 5 WHERE round = 6",
    "a body that was dropped": "UPDATE events SET body = '[1,1]' WHERE round = 2",
    "a seal that was dropped": "UPDATE events SET seal = x'00' WHERE round = 2",
    "a seal": "UPDATE events SET seal = zeroblob(16) WHERE seal IS NOT NULL",
    "somebody": "UPDATE events SET user = x'00' WHERE round = 2",
    "an event": "DELETE FROM events WHERE round = 2",
    "one too many": "INSERT INTO events SELECT 0, 'new', digest, body, batch, seal, user "
    "FROM events WHERE round = 2",
    "a block": "DELETE FROM blocks",
    "hashes of ids": "UPDATE blocks SET ids = zeroblob(length(ids))",
    "fewer hashes": "UPDATE blocks SET ids = substr(ids, 1, 4)",
    "the end of a block": "UPDATE blocks SET last = last - 1",
    "a block without end": "UPDATE blocks SET last = 1 << 62",
}


def group(first: int, ids: list[str], user: bytes | None) -> list[Taken]:
    taken = []
    for place, name in enumerate(ids, start=first):
        body, digest = body_of(place % 7, place % 2)
        taken.append(Taken(place, name, digest, body, first, None, user))
    return taken


@pytest.fixture(params=[False, True], ids=["nobody", "users"])
def users(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def db(users: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Six events in a block, three times strung together, and four after it."""
    monkeypatch.setattr(event_log, "_AT_ONCE", 2)
    monkeypatch.setattr(known_ids, "_MANY", 3)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(TABLES)
        log = EventLog(connection, KEY, users=users)
        user = b"u" * 16 if users else None
        assert log.add(group(1, ODD[:1], user)) and log.add(group(2, ODD[1:6], user))
        log.seal(6)
        assert log.add(group(7, ODD[6:], user))
        yield connection


def opened(db: sqlite3.Connection, users: bool) -> EventLog:
    log = EventLog(db, KEY, users=users)
    log.check(covered=6, of="here")
    return log


def test_what_was_taken_is_known(db: sqlite3.Connection, users: bool) -> None:
    log = opened(db, users)
    found = [log.find(name) for name in ODD]
    assert [event and event.round for event in found] == list(range(1, 11))
    assert log.find("b") is None
    user = b"u" * 16 if users else None
    for again in (["b", "é\u0301"], ["b", "10"], ["b", "b"], ["a"]):
        assert not log.add(group(11, again, user))
    assert log.add(group(11, ["b", "c"], user)) and log.rounds == 12
    log.seal(12)
    fresh = EventLog(db, KEY, users=users)
    fresh.check(covered=12, of="here")
    assert fresh.find("c") == log.find("c") and fresh.find("d") is None


@pytest.mark.parametrize("what", ALTERED)
def test_whatever_is_altered_is_noticed(db: sqlite3.Connection, users: bool, what: str) -> None:
    opened(db, users)
    db.execute(ALTERED[what])
    with pytest.raises(StoreError, match="here"):
        opened(db, users)


def test_a_block_of_many_users_is_strung_together_by_rounds(db: sqlite3.Connection) -> None:
    db.executescript("DELETE FROM events; DELETE FROM blocks;")
    log = EventLog(db, KEY, users=True)
    for place, user in enumerate((b"z" * 16, b"a" * 16, b"m" * 16, b"a" * 16), start=1):
        assert log.add(group(place, [f"e{place}"], user))
    log.seal(4)
    EventLog(db, KEY, users=True).check(covered=4, of="here")
    by_users = EventLog(db, KEY, users=True)
    by_users._strung = by_users._strung.replace(
        "FROM events", "FROM (SELECT * FROM events ORDER BY user) AS events"
    )
    with pytest.raises(StoreError, match="does not match its hash"):  # so their order counts
        by_users.check(covered=4, of="here")


def test_ids_too_long_to_be_strung_together_are_looked_at_in_parts() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.executescript(TABLES)
        log = EventLog(db, KEY, users=False)
        assert log.add(group(1, [str(place) * 3000 for place in range(10)], None))
        log.seal(10)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 8000)  # for a thousand million
        EventLog(db, KEY, users=False).check(covered=10, of="here")
        db.execute("UPDATE events SET seal = x'00' WHERE round = 4")
        with pytest.raises(StoreError, match="here"):
            EventLog(db, KEY, users=False).check(covered=10, of="here")


def test_damage_that_comes_meanwhile_is_not_sealed_in(db: sqlite3.Connection, users: bool) -> None:
    log = opened(db, users)
    db.execute("UPDATE events SET id = 'other' WHERE round = 8")
    log.seal(10)
    with pytest.raises(StoreError, match="events 7 to 10 in here does not match its hash"):
        EventLog(db, KEY, users=users).check(covered=10, of="here")


def test_ids_of_one_hash_are_different_ids(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 10)
    monkeypatch.setattr(
        "littlestone.service.log.known_ids.KnownIds.hashes", lambda self, ids: bytes(4 * len(ids))
    )
    recipe = PrivateMajority(concepts=Thresholds(16), rounds=100, epsilon=1.0)
    stream = [Event(f"e{i}", i % 16, int(i % 16 >= 5)) for i in range(40)]
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    for first in range(0, 40, 4):
        run.take(stream[first : first + 4])
    run.close()
    run = DurableRun.resume(recipe, folder_in_memory / "run.db")
    assert [receipt.round for receipt in run.take(stream)] == list(range(1, 41))
    assert run.take([Event("new", 1, 0)])[0].round == 41
    run.close()
