"""A single row of a fleet that was rolled back, deleted or exchanged: refused before it is used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.fleets import (
    NEEDS_A_SERVER,
    SHARDS,
    Fleet,
    dropping,
    emptied,
    littlestone,
    uninterrupted,
)
from tests.server import Server

from littlestone.errors import RollbackError, SnapshotError, StoreError
from littlestone.runs.fleet import database
from littlestone.runs.fleet.keyed import key_name, shard_of

pytestmark = NEEDS_A_SERVER

Kept = dict[str, list[Any]]
Attack = Callable[["psycopg.Connection[Any]", Kept, list[str]], None]
TABLES = ("states", "releases", "pages", "shards")
OTHERS = [f"other {n}" for n in range(30)]


def kept(fleet: Fleet) -> Kept:
    """All rows of the tables, as a backup has them."""
    with database.connect(fleet.server.dsn) as connection:
        return {
            name: connection.execute(f"SELECT * FROM littlestone.{name}").fetchall()
            for name in TABLES
        }


def labels(keys: list[str]) -> list[bytes]:
    return [key_name(key).label for key in keys]


def rolled_back(db: Any, old: Kept, keys: list[str]) -> None:
    for shard, key, rounds, state in old["states"]:
        if key in labels(keys):
            db.execute(
                "UPDATE littlestone.states SET rounds = %s, state = %s "
                "WHERE shard = %s AND key = %s",
                (rounds, state, shard, key),
            )


def rolled_back_with_releases(db: Any, old: Kept, keys: list[str]) -> None:
    rolled_back(db, old, keys)
    numbers = {(row[1], row[2]) for row in old["releases"]}
    for key, number in db.execute("SELECT key, number FROM littlestone.releases").fetchall():
        if key in labels(keys) and (key, number) not in numbers:
            db.execute(
                "DELETE FROM littlestone.releases WHERE key = %s AND number = %s", (key, number)
            )


def rolled_back_with_pages(db: Any, old: Kept, keys: list[str]) -> None:
    """The pages of all, too, but not the height of the shard."""
    rolled_back(db, old, keys)
    db.execute("DELETE FROM littlestone.pages")
    for row in old["pages"]:
        db.execute("INSERT INTO littlestone.pages VALUES (%s, %s, %s)", row)


def deleted(db: Any, old: Kept, keys: list[str]) -> None:
    db.execute("DELETE FROM littlestone.states WHERE key = ANY(%b)", (labels(keys),))


def forgotten(db: Any, old: Kept, keys: list[str]) -> None:
    """As if the key had never been there."""
    deleted(db, old, keys)
    db.execute("DELETE FROM littlestone.releases WHERE key = ANY(%b)", (labels(keys),))


def exchanged(db: Any, old: Kept, keys: list[str]) -> None:
    """Each has the state of another key."""
    states = dict(db.execute("SELECT key, state FROM littlestone.states").fetchall())
    for key, other in zip(labels(keys), labels(OTHERS), strict=False):
        db.execute("UPDATE littlestone.states SET state = %s WHERE key = %s", (states[other], key))


def damaged(db: Any, old: Kept, keys: list[str]) -> None:
    """In the middle: its seal stays."""
    db.execute(
        "UPDATE littlestone.states SET state = set_byte(state, 60, 255 - get_byte(state, 60)) "
        "WHERE key = ANY(%b)",
        (labels(keys),),
    )


@pytest.mark.parametrize(
    "attack", [rolled_back, rolled_back_with_releases, deleted, forgotten, exchanged, damaged]
)
@pytest.mark.parametrize("keys", [["victim"], ["victim", "second", "third"]], ids=len)
def test_a_row_that_was_changed_is_refused_and_the_other_keys_go_on(
    fleet: Fleet, attack: Attack, keys: list[str]
) -> None:
    everybody = [*keys, *OTHERS]
    fleet.put(everybody, [1] * len(everybody), [3] * len(everybody), [1] * len(everybody))
    fleet.work()
    old = kept(fleet)
    fleet.put(everybody, [2] * len(everybody), [5] * len(everybody), [0] * len(everybody))
    fleet.work()
    before = fleet.content()
    with database.connect(fleet.server.dsn) as connection:
        attack(connection, old, keys)
    altered = fleet.content()
    # The source went on otherwise: where an old state is taken, its noise meets other events.
    for number in (1, 2, 3):
        fleet.put(everybody, [number] * len(everybody), [60] * len(everybody), [1] * len(everybody))
    assert fleet.work() == len(OTHERS)
    assert set(fleet.refused) == set(keys)
    for name, reason in fleet.refused.items():
        assert name in reason and "\\x" not in reason
    after = fleet.content()
    mine = set(labels(keys))
    assert {key: state for key, state in after[0].items() if key in mine} == {
        key: state for key, state in altered[0].items() if key in mine
    }
    expected = uninterrupted(fleet, {key: [(3, 1), (5, 0), (60, 1)] for key in OTHERS})
    assert {key: state for key, state in after[0].items() if key not in mine} == expected[0]
    assert fleet.status()["waiting"] == 0 and fleet.status()["behind a gap"] == 3 * len(keys)
    # Mended, a new worker goes on where they were.
    with database.connect(fleet.server.dsn) as connection:
        for key, state in before[0].items():
            if key in mine:
                shard = shard_of(key, fleet.terms.shards)
                connection.execute(
                    "INSERT INTO littlestone.states VALUES (%s, %s, 2, %s) "
                    "ON CONFLICT (shard, key) DO UPDATE SET state = excluded.state",
                    (shard, key, state),
                )
    assert fleet.work() == len(keys) and not fleet.refused
    everything = uninterrupted(fleet, {key: [(3, 1), (5, 0), (60, 1)] for key in everybody})
    assert fleet.content()[0] == everything[0]


def test_a_row_that_was_inserted_is_refused(fleet: Fleet) -> None:
    """The state of a key of before it was deleted; the tree has never heard of it."""
    fleet.put(["a", "b"], [1, 1], [3, 3], [0, 0])
    fleet.work()
    foreign = uninterrupted(fleet, {"c": [(3, 0)]})[0]
    with database.connect(fleet.server.dsn) as connection:
        for label, state in foreign.items():
            connection.execute(
                "INSERT INTO littlestone.states VALUES (%s, %s, 1, %s)",
                (shard_of(label, fleet.terms.shards), label, state),
            )
    fleet.put(["a", "c"], [2, 2], [60, 60], [1, 1])
    assert fleet.work() == 1
    assert "inserted" in fleet.refused["c"]


def test_pages_that_were_put_back_refuse_their_keys_and_nobody_else(fleet: Fleet) -> None:
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    old = kept(fleet)
    fleet.put(["a", *OTHERS], [2, *[1] * 30], [3] * 31, [0] * 31)
    fleet.work()
    with database.connect(fleet.server.dsn) as connection:
        rolled_back_with_pages(connection, old, ["a"])
    fleet.put(["a", *OTHERS], [2, *[2] * 30], [60] * 31, [1] * 31)
    assert fleet.work() == 0
    assert set(fleet.refused) == {"a", *OTHERS}
    assert "pages" in fleet.refused["a"]


def test_rows_pages_and_the_height_of_one_moment_are_refused_by_the_mark(fleet: Fleet) -> None:
    """All that the database has of a shard: what is left to tell is outside of it."""
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    old = kept(fleet)
    fleet.put(["a"], [2], [3], [0])
    fleet.work()
    with database.connect(fleet.server.dsn) as connection:
        rolled_back_with_pages(connection, old, ["a"])
        for shard, commits, chain, root in old["shards"]:
            connection.execute(
                "UPDATE littlestone.shards SET commits = %s, chain = %s, root = %s "
                "WHERE shard = %s",
                (commits, chain, root, shard),
            )
    fleet.put(["a"], [2], [60], [1])
    with pytest.raises(RollbackError, match="was rolled back"):
        fleet.work()


def test_a_row_of_the_shards_that_was_altered_is_refused(fleet: Fleet) -> None:
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    with database.connect(fleet.server.dsn) as connection:
        connection.execute("UPDATE littlestone.shards SET root = %s", (bytes(16),))
        fleet.put(["a"], [2], [3], [0])
        with pytest.raises(RollbackError, match="is not as its last commit left it"):
            fleet.work()
        connection.execute("DELETE FROM littlestone.shards")
    with pytest.raises(RollbackError, match="table shards was deleted"):
        fleet.work()


def test_events_in_the_queue_of_another_shard_are_refused(fleet: Fleet) -> None:
    """A key would begin again there, with the noise of its first run."""
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    fleet.put(["a", "a"], [1, 2], [60, 61], [1, 1])
    with database.connect(fleet.server.dsn) as connection:
        connection.execute("UPDATE littlestone.queue SET shard = (shard + 1) %% %s", (SHARDS,))
        with pytest.raises(StoreError, match="table queue was altered"):
            fleet.work()
        connection.execute(
            "UPDATE littlestone.queue SET shard = (shard + %s) %% %s", (SHARDS - 1, SHARDS)
        )
    assert fleet.work() == 1 and fleet.status()["keys"] == 1


@pytest.mark.parametrize(
    ("damage", "stopped"),
    [
        ("block = '\\x00'", {0, 4}),
        ("shard = (shard + 1) %% 8", {0, 1, 4, 5}),
        ("shard = 8", {0, 4}),
        ("shard = -1", {0, 4}),
    ],
    ids=["damaged", "moved", "beyond", "before"],
)
def test_damaged_rows_of_the_queue_stop_no_other_shard(
    fleet: Fleet, damage: str, stopped: set[int]
) -> None:
    put_everywhere(fleet, 1)
    fleet.work()
    put_everywhere(fleet, 2)
    with database.connect(fleet.server.dsn) as connection:
        connection.execute(
            f"UPDATE littlestone.queue SET {damage} WHERE shard = ANY(%s)", ([0, 4],)
        )
        with pytest.raises((StoreError, SnapshotError), match=r"damaged|altered"):
            fleet.work()
        rows = connection.execute("SELECT shard, rounds FROM littlestone.states").fetchall()
    assert {shard for shard, _ in rows} == set(range(SHARDS))
    assert all(rounds == (1 if shard in stopped else 2) for shard, rounds in rows)


@pytest.mark.parametrize("table", ["states", "releases", "pages", "shards"])
def test_rows_that_a_trigger_drops_are_missed_before_the_commit(fleet: Fleet, table: str) -> None:
    """Otherwise releases were lost, and states or the whole shard rejected ever after."""
    events = {"a": [(3, 0), (60, 1)], "b": [(5, 0)]}
    fleet.put(["a"], [1], [3], [0])
    fleet.work()
    fleet.put(["a", "b"], [2, 1], [60, 5], [1, 0])
    with (
        dropping(fleet.server, f"littlestone.{table}"),
        pytest.raises(StoreError, match=f"rows of the table {table}, so nothing was changed"),
    ):
        fleet.work()
    fleet.work()
    assert fleet.content() == uninterrupted(fleet, events) and not fleet.refused


def test_no_event_is_acknowledged_that_a_trigger_drops(fleet: Fleet) -> None:
    with (
        dropping(fleet.server, "littlestone.queue"),
        pytest.raises(StoreError, match="0 of 1 rows of the table queue"),
    ):
        fleet.put(["a"], [1], [3], [0])
    fleet.put([], [], [], [])
    fleet.put(["a"], [1], [3], [0])
    assert fleet.work() == 1


def put_everywhere(fleet: Fleet, number: int) -> None:
    count = len(OTHERS)
    fleet.put(OTHERS, [number] * count, [3] * count, [0] * count)


def test_a_release_that_nobody_published_is_no_traceback(fleet: Fleet) -> None:
    label = key_name("secretive").label
    with database.connect(fleet.server.dsn) as connection:
        connection.execute(
            "INSERT INTO littlestone.releases VALUES (%s, %s, 1, 0, '', '')",
            (shard_of(label, fleet.terms.shards), label),
        )
    fleet.put(["secretive"], [1], [3], [0])
    with pytest.raises(StoreError, match="no worker wrote") as told:
        fleet.work()
    assert "secretive" not in str(told.value) and label.hex() not in str(told.value)


def test_the_command_says_which_key_and_goes_on_with_the_others(
    server: Server, tmp_path: Path
) -> None:
    fleet_of_commands(server, tmp_path)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    put(tmp_path, where, "Haifa,3,0\nJaffa,3,0\n")
    littlestone("work", *where, *secret, "--until-empty")
    with database.connect(server.dsn) as connection:
        connection.execute(
            "DELETE FROM littlestone.states WHERE key = %s", (key_name("Haifa").label,)
        )
    put(tmp_path, where, "Haifa,3,0\nJaffa,3,0\nHaifa,60,1\nJaffa,60,1\n")
    refusal = littlestone("work", *where, *secret, "--until-empty", expect=2)
    assert "'Haifa'" in refusal and "row was deleted" in refusal and "keys continued" in refusal
    with database.connect(server.dsn) as connection:
        rows = connection.execute("SELECT key, rounds FROM littlestone.states").fetchall()
    assert rows == [(key_name("Jaffa").label, 2)]


def fleet_of_commands(server: Server, folder: Path) -> None:
    emptied(server)
    littlestone(
        "init", "--dsn", server.dsn, "--secret", str(folder / "secret"),
        "--class", "thresholds:64", "--rounds", "100", "--setting", "realizable",
    )  # fmt: skip


def put(folder: Path, where: tuple[str, str], rows: str) -> None:
    (folder / "events.csv").write_text("shop,size,large\n" + rows)
    littlestone(
        "put", str(folder / "events.csv"), *where, "--key", "shop", "--label", "large",
        "--feature", "size",
    )  # fmt: skip
