"""A fleet on a server of its own: exactly once, the same bytes after any kill, no way back."""

import json
import os
import random  # noqa: TID251 (when to kill is no noise)
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import psycopg
import pytest
from tests.server import MISSING, Server, binaries, running, until
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import (
    HorizonExceededError,
    LittlestoneError,
    RollbackError,
    SequenceGapError,
    StoreError,
)
from littlestone.fleet import blocklist, database, keyed, worker
from littlestone.fleet.high_water import HighWater
from littlestone.fleet.keyed import advance, key_name
from littlestone.fleet.secret_file import create_secret, fingerprint, read_secret
from littlestone.fleet.split_keys import LabelledKeysEngine
from littlestone.fleet.worker import Turn, Worker
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.service.entries import chained, release_body
from littlestone.service.published import parsed

pytestmark = [pytest.mark.fleet, pytest.mark.skipif(binaries() is None, reason=MISSING)]

RECIPE = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=2.0)
KEYS, EACH, SHARDS = 40, 100, 8
KILLS = int(os.environ.get("KILLS", "100"))

Events = dict[str, list[tuple[int, int]]]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with TemporaryDirectory(prefix="fleet") as folder:  # not below pytest's: another user's reach
        os.chmod(folder, 0o755)
        with running(Path(folder)) as server:
            yield server


class Fleet:
    """A fresh fleet in the server's database."""

    def __init__(self, server: Server, folder: Path, recipe: Any = RECIPE) -> None:
        self.server, self.recipe = server, recipe
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS littlestone CASCADE")
        self.secret = create_secret(folder / "secret")
        self.mark = folder / "secret.mark"
        self.terms = database.create(
            server.dsn, recipe, fingerprint=fingerprint(self.secret), shards=SHARDS
        )
        HighWater(self.mark, self.terms.identity, create=True).close()

    def put(self, keys: list[Any], seqs: list[int], xs: list[Any], ys: list[int]) -> None:
        with database.connect(self.server.dsn) as connection:
            database.put(connection, self.recipe, keys, seqs, xs, ys)

    def put_all(self, events: Events, *, size: int) -> None:
        for batch in batches(events, size):
            self.put(*batch)

    def worker(self, connection: Any, **hooks: Any) -> Worker:
        mark = HighWater(self.mark, self.terms.identity, create=False)
        return Worker(connection, self.terms, self.recipe, self.secret, mark, **hooks)

    def work(self, **hooks: Any) -> int:
        """Until every shard is done."""
        taken = 0
        with database.connect(self.server.dsn) as connection:
            mine = self.worker(connection, **hooks)
            while some := mine.work():
                taken += some
            mine.mark.close()
        return taken

    def status(self) -> dict[str, int]:
        with database.connect(self.server.dsn) as connection:
            return database.status(connection)

    def content(self) -> tuple[dict[bytes, bytes], dict[tuple[bytes, int], tuple[bytes, bytes]]]:
        """All states, and all releases."""
        with database.connect(self.server.dsn) as connection:
            states = connection.execute("SELECT key, state FROM littlestone.states").fetchall()
            rows = connection.execute(
                "SELECT key, number, body, chain FROM littlestone.releases"
            ).fetchall()
        return dict(states), {(key, number): (body, chain) for key, number, body, chain in rows}


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Fleet:
    return Fleet(server, tmp_path)


def some_events(seed: int = 1) -> Events:
    """Labels that change their mind, so that much is released."""
    chance = random.Random(seed)
    return {
        f"key {n}": [
            (x := chance.randrange(64), int((x >= 20) != (chance.random() < 0.4)))
            for _ in range(EACH)
        ]
        for n in range(KEYS)
    }


def batches(events: Events, size: int) -> list[Any]:
    """Round by round through all keys, ``size`` events at a time."""
    rows = [(key, at + 1, *events[key][at]) for at in range(EACH) for key in events]
    return [
        [list(column) for column in zip(*rows[start : start + size], strict=True)]
        for start in range(0, len(rows), size)
    ]


def uninterrupted(fleet: Fleet, events: Events) -> tuple[Any, Any]:
    """What one process computes from all events of each key at once."""
    states, published = dict[bytes, bytes](), dict[Any, Any]()
    for key, examples in events.items():
        xs, ys = map(list, zip(*examples, strict=True))
        label = key_name(key).label
        states[label], releases = advance(
            fleet.recipe, fleet.secret, key, None, range(1, len(xs) + 1), xs, ys
        )
        published |= {(label, r.number): (r.body, r.chain) for r in releases}
    return states, published


def test_batches_give_the_bytes_of_one_call_for_each_key(fleet: Fleet) -> None:
    events = some_events()
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

    monkeypatch.setattr(worker, "shard_lock", shared)
    fleet.put(["a"], [1], [1], [0])
    assert fleet.work() == 1
    monkeypatch.setattr(Worker, "_computed", slowly)
    fleet.put(["a"], [2], [2], [0])
    first = threading.Thread(target=fleet.work)
    first.start()
    computed.wait(10)
    fleet.put(["a"], [3], [3], [0])
    fleet.work()
    done.set()
    first.join(10)
    assert fleet.content() == uninterrupted(fleet, {"a": [(1, 0), (2, 0), (3, 0)]})


def test_the_secret_is_nowhere_in_the_database(fleet: Fleet) -> None:
    fleet.put_all(some_events(), size=4000)
    fleet.work()
    with database.connect(fleet.server.dsn) as connection:
        for table in ("fleet", "queue", "states", "releases", "shards"):
            for row in connection.execute(f"SELECT * FROM littlestone.{table}"):
                text = repr(row)
                assert fleet.secret.hex() not in text and repr(fleet.secret)[2:-1] not in text
    assert fleet.secret.hex() not in repr(fleet.worker(None))
    assert str(fleet.secret) not in repr(fleet.worker(None))


def child(fleet: Fleet, log: Path, dies: float) -> NoReturn:
    """A worker in a process of its own, which may die when all is written and not committed."""
    chance = random.Random(os.urandom(8))

    def written(turn: Turn) -> None:
        lines = "".join(
            json.dumps([key.hex(), release.number, release.body.decode()]) + "\n"
            for key, release in turn.releases
        )
        with log.open("a") as file:
            file.write(lines or "\n")
        if chance.random() < dies:
            os.kill(os.getpid(), signal.SIGKILL)

    with suppress(BaseException):
        fleet.work(before_commit=written)
        os._exit(0)
    os._exit(1)


def started(fleet: Fleet, log: Path, *, dies: float = 0.0) -> int:
    return os.fork() or child(fleet, log, dies)


def reachable(fleet: Fleet) -> bool:
    with suppress(LittlestoneError, psycopg.Error):
        return bool(fleet.status())
    return False


def size_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def killed_again_and_again(fleet: Fleet, log: Path, events: Events, kills: int) -> None:
    """Two workers at a time; one kill in ten is the server's. In the end all is done."""
    chance, parts = random.Random(os.urandom(8)), batches(events, 20)
    for kill in range(kills):
        for batch in parts[kill * len(parts) // kills : (kill + 1) * len(parts) // kills]:
            fleet.put(*batch)
        workers = [started(fleet, log, dies=0.15), started(fleet, log)]
        enough = size_of(log) + chance.randrange(1, 1500)  # they are at it, somewhere
        with suppress(AssertionError):
            until(lambda enough=enough: size_of(log) > enough, seconds=chance.uniform(0.05, 1.0))
        if kill % 20 == 9:
            fleet.server.kill_a_backend()
        elif kill % 20 == 19:
            fleet.server.stop("immediate")
            fleet.server.start()
        else:
            os.kill(chance.choice(workers), signal.SIGKILL)
        for process in workers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        until(lambda: reachable(fleet))
    while fleet.status()["waiting"]:
        os.waitpid(started(fleet, log), 0)


def orphans(fleet: Fleet, log: Path) -> tuple[int, int]:
    """Of all releases that were ever computed: how many, and how many are not as published."""
    public = {place: body for place, (body, _) in fleet.content()[1].items()}
    lines = [json.loads(line) for line in log.read_text().splitlines() if line]
    differ = sum(
        public.get((bytes.fromhex(key), number)) != body.encode() for key, number, body in lines
    )
    return len(lines), differ


def test_kills_change_nothing(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)  # many small turns, to be killed in
    events, log = some_events(), tmp_path / "computed"
    killed_again_and_again(fleet, log, events, KILLS)
    assert fleet.content() == uninterrupted(fleet, events)
    computed, differ = orphans(fleet, log)
    published = len(fleet.content()[1])
    print(f"{KILLS} kills: {computed} releases computed, {published} published, {differ} differ")
    assert computed > published and differ == 0


def test_fresh_noise_would_be_noticed(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: noise of the operating system is a second draw on the same data."""
    keys = keyed._keys
    monkeypatch.setattr(keyed, "_keys", lambda *given: [os.urandom(32), keys(*given)[1]])
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)
    events, log = some_events(), tmp_path / "computed"
    fleet.put_all(events, size=200)
    while fleet.status()["waiting"]:
        os.waitpid(started(fleet, log, dies=0.2), 0)
    monkeypatch.undo()
    computed, differ = orphans(fleet, log)
    print(f"fresh noise: {differ} of {computed} computed releases differ from the published ones")
    assert differ > 0
    assert fleet.content()[1] != uninterrupted(fleet, events)[1]


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
    with pytest.raises(RollbackError, match="of the database was put back"):
        fleet.work()
    assert fleet.status()["rounds"] == 1
    fleet.mark.unlink()
    with pytest.raises(StoreError, match="--adopt"):
        fleet.work()


def littlestone(*arguments: str, expect: int = 0) -> str:
    """What a command prints, or how it refuses."""
    result = CliRunner().invoke(app, ["fleet", *arguments])
    refused = isinstance(result.exception, ValueError | LittlestoneError)
    assert (2 if refused else result.exit_code) == expect, result.output + repr(result.exception)
    return str(result.exception) if refused else result.output


def test_the_commands(server: Server, tmp_path: Path) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone CASCADE")
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    made = littlestone(
        "init", *where, *secret, "--class", "thresholds:64", "--rounds", "100",
        "--setting", "realizable", "--max-keys", "3",
    )  # fmt: skip
    assert "ε = 3" in made and "at most 3 keys" in made and "is public" in made
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    refusal = littlestone("init", *where, *secret, "--class", "thresholds:64", expect=2)
    assert "exists" in refusal
    rows = "".join(f"{n // 2 + 1},shop {n % 2},{n},{int(n > 9)}\n" for n in range(20))
    (tmp_path / "events.csv").write_text("number,shop,size,large\n" + rows)
    columns = ("--key", "shop", "--label", "large", "--feature", "size")
    for more in ((), ("--sequence", "number")):  # the second time they are repeats
        said = littlestone("put", str(tmp_path / "events.csv"), *where, *columns, *more)
        assert said == "20 events put\n"
    assert littlestone("work", *where, *secret, "--until-empty") == "20 events taken\n"
    found = json.loads(littlestone("status", *where, "--json"))
    assert found["status"]["keys"] == 2 and found["status"]["rounds"] == 20
    assert found["ledger"]["person"]["cost"] == {"epsilon": 3.0, "delta": 0.0}
    assert "waiting" in littlestone("status", *where)
    [line, *_] = littlestone("releases", *where, "--key", "shop 1").splitlines()
    assert json.loads(line)["run"] == "shop 1" and json.loads(line)["release"] == 1
    (tmp_path / "bad.csv").write_text("shop,size,large\na,3,1\na,99,1\n")
    refusal = littlestone("put", str(tmp_path / "bad.csv"), *where, *columns, expect=2)
    assert "line 3" in refusal and "nothing" in refusal
    os.chmod(tmp_path / "secret", 0o640)
    assert "chmod 600" in littlestone("work", *where, *secret, expect=2)
    (tmp_path / "secret").unlink()
    create_secret(tmp_path / "secret")
    assert "not the secret" in littlestone("work", *where, *secret, expect=2)
    assert read_secret(tmp_path / "secret").hex() not in repr(found)


def test_the_page_can_be_followed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone CASCADE")
    (tmp_path / "events.csv").write_text("shop,size,large\nHaifa,3,0\nJaffa,70,1\n")
    page = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ littlestone fleet (?!spark|blocklist)(.*)$", page, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["init", "put", "work", "status", "releases"]
    for line in lines:
        words = [server.dsn if word.startswith("postgresql:") else word for word in line.split()]
        said = littlestone(*words)
    assert "Haifa" in said and "Jaffa" not in said
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone_blocklist CASCADE")
    (tmp_path / "reports.csv").write_text("sender,abusive\n" + "ann,1\n" * 99)
    for line in re.findall(r"^\$ littlestone fleet (blocklist .*)$", page, re.MULTILINE):
        words = [server.dsn if word.startswith("postgresql:") else word for word in line.split()]
        said = littlestone(*words)
    assert said.count('"run"') == 2 and "ann" in said


def test_one_fleet_for_a_database_and_one_recipe_for_a_fleet(fleet: Fleet) -> None:
    with pytest.raises(StoreError, match="a fleet in this database already"):
        database.create(fleet.server.dsn, RECIPE, fingerprint=b"")
    with pytest.raises(StoreError, match="another recipe"):
        fleet.terms.require_recipe(RECIPE.for_rounds(7))
    with pytest.raises(StoreError, match="cannot be reached"):
        database.connect("host=/nowhere user=postgres password=hidden")
    with pytest.raises(ValueError, match="shards"):
        database.create(fleet.server.dsn, RECIPE, fingerprint=b"", shards=5000)


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
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone_blocklist CASCADE")
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
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone_blocklist CASCADE")
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
