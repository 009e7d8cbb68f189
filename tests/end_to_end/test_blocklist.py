"""A blocklist in parts: the bytes of one machine, whoever is killed, and its commands."""

import json
import os
import random  # noqa: TID251 (when to kill is no noise)
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fleets import NEEDS_A_SERVER, dropping, emptied, littlestone
from tests.server import Server

from littlestone.errors import RollbackError, SequenceGapError, StoreError
from littlestone.learners import codec
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book
from littlestone.runs.files import create_secret, fingerprint, read_secret
from littlestone.runs.fleet import blocklist, database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.split_keys import LabelledKeysEngine
from littlestone.runs.journal.records import chained, release_body
from littlestone.runs.published import parsed

pytestmark = NEEDS_A_SERVER

KEYS_RECIPE = PrivateKeys(rounds=2000, epsilon=2.0, delta=1e-2)


def one_machine(
    identity: str, secret: bytes, events: list[tuple[Any, int]], recipe: PrivateKeys = KEYS_RECIPE
) -> list[Any]:
    """What one run publishes that has the table to itself, round by round."""
    engine = LabelledKeysEngine(recipe, secret)
    engine.begin()
    published, chain, seen = list[Any](), b"", None
    for t in range(len(events) + 1):
        if t:
            engine.step(*events[t - 1])
        if engine.hypothesis != seen:
            seen = engine.hypothesis
            body = release_body(seen, run=identity, number=len(published) + 1, round_number=t)
            published.append((body, chain := chained(chain, body)))
    return published


def test_a_blocklist_in_parts_is_that_of_one_machine_whoever_is_killed(
    server: Server, tmp_path: Path
) -> None:
    emptied(server)
    secret, chance = os.urandom(32), random.Random(4)
    identity = blocklist.create(server.dsn, KEYS_RECIPE, fingerprint=fingerprint(secret), parts=4)
    HighWater(tmp_path / "mark", identity, create=True).close()
    keys = [*(f"sender {n}" for n in range(11)), 7, ("a", 1)]
    events = [(keys[k := chance.randrange(13)], int((k + t // 600) % 2 == 0)) for t in range(2000)]

    def work(dies: float) -> NoReturn:
        toss = random.Random(os.urandom(8))
        with suppress(BaseException), database.connect(server.dsn) as connection:
            mark = HighWater(tmp_path / "mark", identity, create=False)
            hook = lambda new: os.kill(os.getpid(), 9) if toss.random() < dies else None  # noqa: E731
            mine = blocklist.PartWorker(connection, KEYS_RECIPE, secret, mark, hook)
            while mine.work():
                pass
            os._exit(0)
        os._exit(1)

    with database.connect(server.dsn) as connection:
        with pytest.raises(SequenceGapError):
            blocklist.put(connection, KEYS_RECIPE, 2, ["x"], [1])
        start = 0
        while start < 2000:
            part = events[start : start + chance.randrange(1, 150)]
            xs, ys = map(list, zip(*part, strict=True))
            assert blocklist.put(connection, KEYS_RECIPE, start + 1, xs, ys) == len(part)
            assert blocklist.put(connection, KEYS_RECIPE, start + 1, xs[:1], [0]) == 0
            start += len(part)
            for process in [os.fork() or work(0.2) for _ in range(2)]:
                os.waitpid(process, 0)
        for _ in range(2):  # one may have been behind a lock of the other
            os.waitpid(os.fork() or work(0.0), 0)
        published = [(one.body, one.chain) for one in blocklist.releases(connection)]
        (waiting,) = connection.execute(
            "SELECT count(*) FROM littlestone_blocklist.queue"
        ).fetchone() or (1,)
    expected = one_machine(identity, secret, events)
    assert len(expected) > 10 and published == expected and waiting == 0


def test_the_commands_of_a_blocklist(server: Server, tmp_path: Path) -> None:
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    refusal = littlestone("blocklist", "status", *where, expect=2)
    assert "fleet blocklist init" in refusal
    budget = ("--rounds", "2000", "--epsilon", "1", "--delta", "1e-2", "--max-contributions", "2")
    made = littlestone("blocklist", "init", *where, *secret, *budget, "--parts", "3")
    assert "ε = 2" in made and "at most 2 events" in made
    assert "exists" in littlestone("blocklist", "init", *where, *secret, *budget, expect=2)
    other = ("--secret", str(tmp_path / "other"))
    assert "already" in littlestone("blocklist", "init", *where, *other, *budget, expect=2)
    assert not (tmp_path / "other").exists()
    events = [(f"sender {n % 4}", int(n % 4 < 2)) for n in range(300)]
    rows = "".join(f"{sender},{label}\n" for sender, label in events)
    (tmp_path / "reports.csv").write_text("sender,abusive\n" + rows)
    columns = (str(tmp_path / "reports.csv"), *where, "--feature", "sender", "--label", "abusive")
    assert littlestone("blocklist", "put", *columns) == "300 rounds put\n"
    assert littlestone("blocklist", "put", *columns, "--first", "1") == "0 rounds put\n"
    refusal = littlestone("blocklist", "put", *columns, "--first", "302", expect=2)
    assert "301" in refusal
    (tmp_path / "bad.csv").write_text("sender,abusive\na,1\n,1\n")
    refusal = littlestone("blocklist", "put", str(tmp_path / "bad.csv"), *columns[1:], expect=2)
    assert "line 3" in refusal and "nothing" in refusal
    said = littlestone("blocklist", "work", *where, *secret, "--until-empty")
    assert said == "300 rounds published\n"
    told = littlestone("blocklist", "status", *where)
    assert "300" in told and "ε = 2" in told
    ledger = json.loads(littlestone("blocklist", "status", *where, "--json"))["ledger"]
    assert ledger["entries"][0]["rounds played"] == 300 and ledger["promise"] in told
    lines = littlestone("blocklist", "releases", *where).splitlines()
    recipe = PrivateKeys(rounds=2000, epsilon=1.0, delta=1e-2, max_contributions=2)
    with database.connect(server.dsn) as connection:
        identity = blocklist.terms_of(connection).identity
    expected = one_machine(identity, read_secret(tmp_path / "secret"), events, recipe)
    published = [parsed(line.encode()) for line in lines]
    assert [(line.body, line.chain) for line in published if line] == expected
    assert len(expected) > 2
    (tmp_path / "secret").unlink()
    create_secret(tmp_path / "secret")
    assert "not the secret" in littlestone("blocklist", "work", *where, *secret, expect=2)


@pytest.mark.parametrize("more", [0, 3])
def test_rounds_that_were_put_back_are_refused(server: Server, tmp_path: Path, more: int) -> None:
    """Alone, or with other events under the numbers of those that were taken."""
    emptied(server)
    secret = os.urandom(32)
    identity = blocklist.create(server.dsn, KEYS_RECIPE, fingerprint=fingerprint(secret), parts=1)
    mark = HighWater(tmp_path / "mark", identity, create=True)
    with database.connect(server.dsn) as connection:
        worker = blocklist.PartWorker(connection, KEYS_RECIPE, secret, mark)
        blocklist.put(connection, KEYS_RECIPE, 1, ["ann"] * 3, [1] * 3)
        while worker.work():
            pass
        connection.execute("UPDATE littlestone_blocklist.list SET tick = 1")
        if more:
            blocklist.put(connection, KEYS_RECIPE, 2, ["bob"] * more, [1] * more)
        with pytest.raises(RollbackError, match=r"number of rounds .* was rolled back or altered"):
            worker.work()


def test_a_damaged_row_of_the_queue_is_one_readable_error(server: Server, tmp_path: Path) -> None:
    emptied(server)
    secret = os.urandom(32)
    identity = blocklist.create(server.dsn, KEYS_RECIPE, fingerprint=fingerprint(secret), parts=1)
    mark = HighWater(tmp_path / "mark", identity, create=True)
    with database.connect(server.dsn) as connection:
        worker = blocklist.PartWorker(connection, KEYS_RECIPE, secret, mark)
        blocklist.put(connection, KEYS_RECIPE, 1, ["ann"], [1])
        for damage in ((), (1, 2, 3), ([1], ["ann"], [1])):
            block = codec.dumps(damage)
            connection.execute("UPDATE littlestone_blocklist.queue SET block = %s", (block,))
            with pytest.raises(StoreError, match="queue is damaged"):
                worker.work()


def test_a_part_that_was_put_back_is_refused(server: Server, tmp_path: Path) -> None:
    """Its state alone, or all that is in its row but the commits."""
    emptied(server)
    secret = os.urandom(32)
    identity = blocklist.create(server.dsn, KEYS_RECIPE, fingerprint=fingerprint(secret), parts=1)
    mark = HighWater(tmp_path / "mark", identity, create=True)
    with database.connect(server.dsn) as connection:
        worker = blocklist.PartWorker(connection, KEYS_RECIPE, secret, mark)
        seen = list[Any]()
        for number in range(1, 4):
            blocklist.put(connection, KEYS_RECIPE, number, ["ann"], [1])
            while worker.work():
                pass
            query = "SELECT state, until FROM littlestone_blocklist.parts"
            seen.append(connection.execute(query).fetchone())
        blocklist.put(connection, KEYS_RECIPE, 4, ["bob"], [1])
        for attack in ("state = %s", "state = %s, until = %s", "until = %s"):
            connection.execute(
                f"UPDATE littlestone_blocklist.parts SET {attack}",
                {"state = %s": seen[0][:1], "until = %s": seen[0][1:]}.get(attack, seen[0]),
            )
            with pytest.raises(RollbackError, match=r"part 0 .* was rolled back or altered"):
                worker.work()
            connection.execute(
                "UPDATE littlestone_blocklist.parts SET state = %s, until = %s", seen[2]
            )
        assert worker.work()


def test_more_parts_than_a_mark_has_lines_are_refused_before_the_book(
    server: Server, tmp_path: Path
) -> None:
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    book = tmp_path / "book"
    Book.create(book, allowance=PrivacyGuarantee(epsilon=5.0, delta=1e-3))
    before = book.read_bytes()
    for command in (
        ("blocklist", "init", "--rounds", "100", "--parts", "5000"),
        ("init", "--class", "thresholds:64", "--rounds", "100", "--shards", "5000"),
    ):
        refusal = littlestone(*command, *where, *secret, "--book", str(book), expect=2)
        assert "at most 4096" in refusal and "5000" in refusal
        assert book.read_bytes() == before and not (tmp_path / "secret").exists()
    with pytest.raises(ValueError, match="parts must be at most 4096"):
        blocklist.create(server.dsn, KEYS_RECIPE, fingerprint=b"", parts=4097)


@pytest.mark.parametrize("table", ["queue", "list", "parts", "changes", "releases"])
def test_rows_that_a_trigger_drops_are_missed_before_the_commit(
    server: Server, tmp_path: Path, table: str
) -> None:
    """Otherwise events are lost, or the next ones are put as the same rounds."""
    emptied(server)
    recipe, secret = replace(KEYS_RECIPE, epsilon=50.0), os.urandom(32)
    identity = blocklist.create(server.dsn, recipe, fingerprint=fingerprint(secret), parts=2)
    events = [("a", 1), ("b", 1), ("a", 1), ("c", 0)] * 40
    xs, ys = map(list, zip(*events, strict=True))
    with (
        database.connect(server.dsn) as connection,
        closing(HighWater(tmp_path / "mark", identity, create=True)) as mark,
    ):
        worker = blocklist.PartWorker(connection, recipe, secret, mark)

        def play() -> None:
            blocklist.put(connection, recipe, 1, xs, ys)
            while worker.work():
                pass

        with (
            dropping(server, f"littlestone_blocklist.{table}"),
            pytest.raises(StoreError, match=f"rows of the table {table}, so nothing was changed"),
        ):
            play()
        play()
        published = [(one.body, one.chain) for one in blocklist.releases(connection)]
    assert published == one_machine(identity, secret, events, recipe) and len(published) > 1
