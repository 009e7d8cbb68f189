"""Users who are counted over a whole fleet: the first events of each are read, and no others."""

import json
import os
import random  # noqa: TID251 (who puts what again is no noise)
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.test_blocklist import KEYS_RECIPE
from tests.fleet_events import RECIPE, some_events
from tests.fleets import (
    EACH,
    KEYS,
    NEEDS_A_SERVER,
    Fleet,
    batches,
    beyond_their_share,
    emptied,
    littlestone,
    uninterrupted,
    with_users,
)
from tests.server import Server

from littlestone.errors import StoreError
from littlestone.runs.files import fingerprint
from littlestone.runs.fleet import blocklist, database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.split_keys import LabelledKeysEngine
from littlestone.runs.journal.records import chained, release_body

pytestmark = NEEDS_A_SERVER

MOST = 3


@pytest.fixture
def counting(server: Server, tmp_path: Path) -> Fleet:
    return Fleet(server, tmp_path, replace(RECIPE, max_contributions=MOST), users="customer")


@pytest.mark.parametrize("size", [1, 700])
def test_the_first_events_of_each_user_are_read_and_others_are_rounds_all_the_same(
    counting: Fleet, size: int
) -> None:
    """However they are cut into batches, and whatever is put again."""
    events = some_events(KEYS if size > 1 else 4, EACH)
    parts = [with_users(batch) for batch in batches(events, size)]
    chance = random.Random(size)
    with database.connect(counting.server.dsn) as connection:
        for place, part in enumerate(parts):
            database.put(connection, counting.recipe, *part)
            if chance.random() < 0.3:  # a retry, or somebody who says something else
                keys, seqs, xs, ys, users = parts[chance.randrange(place + 1)]
                database.put(connection, counting.recipe, keys, seqs, xs, [0] * len(ys), users)
    assert counting.work() == len(events) * EACH
    over_limit = beyond_their_share(parts, MOST)
    assert 20 < len(over_limit) < len(events) * EACH - 200
    assert counting.content() == uninterrupted(counting, events, over_limit)
    assert counting.content() != uninterrupted(counting, events)


def test_the_limit_is_for_all_keys_together_and_names_that_look_alike_are_one(
    counting: Fleet,
) -> None:
    keys = ["a", "b", "c", "d", "a"]
    names = ["Ann", "ANN ", "ann", "Ann", "Bob"]
    counting.put(keys, [1, 1, 1, 1, 2], [60] * 5, [1] * 5, names)
    counting.work()
    alone: Any = {"a": [(60, 1)] * 2, "b": [(60, 1)], "c": [(60, 1)], "d": [(60, 1)]}
    assert counting.content() == uninterrupted(counting, alone, {("d", 1)})


def test_what_a_user_says_changes_as_many_rounds_as_are_read(counting: Fleet) -> None:
    """All examples of one user are replaced: nobody else's are read otherwise."""
    events = some_events(12, EACH)
    parts = [with_users(batch) for batch in batches(events, 300)]
    over_limit = beyond_their_share(parts, MOST)
    flat = [row for part in parts for row in zip(*part, strict=True)]
    busiest = max({row[4] for row in flat}, key=[row[4] for row in flat].count)
    theirs = {(key, seq) for key, seq, _, _, user in flat if user == busiest}
    assert len(theirs) > MOST == len(theirs - over_limit)
    other = {
        key: [
            (63 - x, 1 - y) if (key, at) in theirs else (x, y)
            for at, (x, y) in enumerate(examples, start=1)
        ]
        for key, examples in events.items()
    }
    for batch in batches(other, 300):
        counting.put(*with_users(batch))
    counting.work()
    assert counting.content() == uninterrupted(counting, other, over_limit)
    untouched = {
        key: [
            other[key][at - 1] if (key, at) in theirs - over_limit else example
            for at, example in enumerate(examples, start=1)
        ]
        for key, examples in events.items()
    }
    assert counting.content() == uninterrupted(counting, untouched, over_limit)


def test_users_are_given_where_they_are_counted_and_nowhere_else(
    counting: Fleet, server: Server, tmp_path: Path
) -> None:
    for users in (None, [None], [], ["ann", "bob"], [b"ann"], [["ann"]]):
        with pytest.raises(ValueError, match="user"):
            counting.put(["a"], [1], [3], [0], users)
    assert counting.status()["waiting"] == 0
    (tmp_path / "other").mkdir()
    plain = Fleet(server, tmp_path / "other")
    with pytest.raises(ValueError, match="users must be None"):
        plain.put(["a"], [1], [3], [0], ["ann"])
    with pytest.raises(ValueError, match="max_keys must be 1"):
        database.create(server.dsn, RECIPE, fingerprint=b"", max_keys=2, users="customer")
    with pytest.raises(ValueError, match="at most 1000"):
        most = replace(RECIPE, max_contributions=1001)
        database.create(server.dsn, most, fingerprint=b"", users="customer")


def test_a_page_of_users_that_was_put_back_is_refused(counting: Fleet) -> None:
    """With it a user would have more events read than was promised."""
    query = "SELECT page FROM littlestone.pages WHERE tree = -1"
    with database.connect(counting.server.dsn) as connection:
        root_query = "SELECT user_root FROM littlestone.fleet"
        (first,) = connection.execute(root_query).fetchone() or (b"",)
        counting.put(["a"], [1], [3], [0], ["ann"])
        (root,) = connection.execute(root_query).fetchone() or (b"",)
        connection.execute("UPDATE littlestone.fleet SET user_root = %s", (first,))
        with pytest.raises(StoreError, match=r"count of users .* was rolled back or altered"):
            counting.put(["a"], [2], [3], [0], ["ann"])
        connection.execute("UPDATE littlestone.fleet SET user_root = %s", (root,))
        (old,) = connection.execute(query).fetchone() or (b"",)
        counting.put(["a"], [2], [3], [0], ["ann"])
        (new,) = connection.execute(query).fetchone() or (b"",)
        for page in (old, b"\0", None):
            if page is None:
                connection.execute("DELETE FROM littlestone.pages WHERE tree = -1")
            else:
                connection.execute("UPDATE littlestone.pages SET page = %s", (page,))
            with pytest.raises(StoreError, match=r"count of users .* was rolled back or altered"):
                counting.put(["a"], [3], [3], [0], ["ann"])
        connection.execute("INSERT INTO littlestone.pages VALUES (-1, '', %s)", (new,))
    counting.put(["a"], [3], [3], [0], ["ann"])
    assert counting.work() == 3


def test_terms_that_were_altered_are_refused(counting: Fleet) -> None:
    """Without its column of users a fleet would read every event of each."""
    with database.connect(counting.server.dsn) as connection:
        for change in ("users = NULL", "shards = 4"):
            with connection.transaction(force_rollback=True):
                connection.execute(f"UPDATE littlestone.fleet SET {change}")
                with pytest.raises(StoreError, match="does not match its hash"):
                    database.put(connection, counting.recipe, ["a"], [1], [3], [0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("users = NULL", "do not match their hash"),
        ("parts = 2", "do not match their hash"),
        ("options = '[]'", "terms of this blocklist are damaged"),
        ("options = '{'", "terms of this blocklist are damaged"),
    ],
)
def test_terms_of_a_blocklist_that_were_altered_are_refused(
    server: Server, tmp_path: Path, change: str, said: str
) -> None:
    emptied(server)
    create: dict[str, Any] = {
        "fingerprint": fingerprint(bytes(32)),
        "parts": 4,
        "users": "reporter",
    }
    identity = blocklist.create(server.dsn, KEYS_RECIPE, **create)
    mark = HighWater(tmp_path / "mark", identity, create=True)
    with database.connect(server.dsn) as connection:
        connection.execute(f"UPDATE littlestone_blocklist.list SET {change}")
        with pytest.raises(StoreError, match=said):
            blocklist.put(connection, KEYS_RECIPE, None, ["ann"], [1])
        with pytest.raises(StoreError, match=said):
            blocklist.PartWorker(connection, KEYS_RECIPE, bytes(32), mark).work()


def test_a_blocklist_counts_the_users_of_all_its_parts(server: Server, tmp_path: Path) -> None:
    emptied(server)
    secret, chance = os.urandom(32), random.Random(7)
    recipe = replace(KEYS_RECIPE, max_contributions=40)
    identity = blocklist.create(
        server.dsn, recipe, fingerprint=fingerprint(secret), parts=4, users="reporter"
    )
    mark = HighWater(tmp_path / "mark", identity, create=True)
    events = [
        (f"sender {(k := chance.randrange(5))}", int((k + t // 300) % 2 == 0)) for t in range(1200)
    ]
    users = [f"user {chance.randrange(1 + t % 20)}" for t in range(1200)]
    engine, had = LabelledKeysEngine(recipe, secret), dict[str, int]()
    engine.begin()
    expected, seen, chain = list[Any](), None, b""
    for t in range(1201):
        if t:
            user, example = users[t - 1], events[t - 1]
            had[user] = had.get(user, 0) + 1
            if had[user] > 40:
                engine.idle("anything")
            else:
                engine.step(*example)
        if engine.hypothesis != seen:
            seen = engine.hypothesis
            body = release_body(seen, run=identity, number=len(expected) + 1, round_number=t)
            expected.append((body, chain := chained(chain, body)))
    with database.connect(server.dsn) as connection:
        worker, start = blocklist.PartWorker(connection, recipe, secret, mark), 0
        while start < 1200:
            count = chance.randrange(1, 150)
            first = max(0, start - chance.randrange(50))  # some come again
            part = slice(first, start + count)
            xs, ys = map(list, zip(*events[part], strict=True))
            blocklist.put(connection, recipe, first + 1, xs, ys, users[part])
            start = min(1200, start + count)
            while worker.work():
                pass
        published = [(one.body, one.chain) for one in blocklist.releases(connection)]
        with pytest.raises(ValueError, match="users must name the user"):
            blocklist.put(connection, recipe, 1201, ["ann"], [1])
    assert sum(count > 40 for count in had.values()) > 5 and len(expected) > 5
    assert published == expected


def test_the_commands_count_users(server: Server, tmp_path: Path) -> None:
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    space = ("--class", "thresholds:64", "--rounds", "100", "--setting", "realizable")
    refusal = littlestone(
        "init", *where, *secret, *space, "--user", "customer", "--max-keys", "3", expect=2
    )
    assert "max_keys must be 1" in refusal and not (tmp_path / "secret").exists()
    made = littlestone(
        "init", *where, *secret, *space, "--user", "customer", "--max-contributions", "2"
    )
    assert "ε = 2 to each 'customer', of whose events at most 2 are read" in made
    rows = "".join(f"shop {n % 4},{n},{int(n > 9)},ann\n" for n in range(8))
    (tmp_path / "events.csv").write_text("shop,size,large,customer\n" + rows)
    columns = ("--key", "shop", "--label", "large", "--feature", "size")
    littlestone("put", str(tmp_path / "events.csv"), *where, *columns)
    assert littlestone("work", *where, *secret, "--until-empty") == "8 events taken\n"
    found = json.loads(littlestone("status", *where, "--json"))["ledger"]
    assert found["person"]["counted by"] == "customer"
    assert found["person"]["examples under all keys"] == 2
    (tmp_path / "bare.csv").write_text("shop,size,large\na,3,0\n")
    refusal = littlestone("put", str(tmp_path / "bare.csv"), *where, *columns, expect=2)
    assert "customer" in refusal
    with database.connect(server.dsn) as connection:
        connection.execute("UPDATE littlestone.fleet SET users = NULL")
    assert "does not match its hash" in littlestone("work", *where, *secret, expect=2)
    listed, other = ("blocklist", "init", *where), ("--secret", str(tmp_path / "other"))
    told = littlestone(*listed, *other, "--rounds", "100", "--user", "reporter")
    assert "to each 'reporter'" in told and "keys are protected" in told
    (tmp_path / "reports.csv").write_text("sender,abusive,reporter\n" + "mallory,1,ann\n" * 99)
    names = ("--feature", "sender", "--label", "abusive")
    littlestone("blocklist", "put", str(tmp_path / "reports.csv"), *where, *names)
    littlestone("blocklist", "work", *where, *other, "--until-empty")
    # One person reports 99 times, and is heard once.
    assert "mallory" not in littlestone("blocklist", "releases", *where)
    assert "to each 'reporter'" in littlestone("blocklist", "status", *where)
