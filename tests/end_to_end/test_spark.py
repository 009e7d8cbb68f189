"""A fleet on Spark: the bytes of PostgreSQL after any kill, no way back, bad lines handed back."""

import json
import os
import random  # noqa: TID251 (when to kill is no noise)
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.fleet_events import (
    COLUMNS,
    RECIPE,
    SEQUENCE,
    Events,
    expected,
    line_of,
    some_events,
    write,
    write_all,
)
from tests.fleets import littlestone
from tests.server import binaries, running
from tests.spark_fleets import ABSENT, ENVIRONMENT, ROOT, Fleet, python_workers, spark_marks

from littlestone.errors import LittlestoneError, RollbackError, StoreError
from littlestone.runs.files import fingerprint, read_secret
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.spark_folder import REFUSED
from littlestone.runs.fleet.worker import Worker
from littlestone.runs.published import release_line

if not ABSENT:
    from littlestone.runs.fleet.spark_job import SparkFleet

pytestmark = spark_marks
KILLS = int(os.environ.get("KILLS", "2"))


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def end(driver: "subprocess.Popen[bytes]") -> None:
    """With its Java and its workers: all of its session."""
    with suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def until(condition: Callable[[], object], driver: "subprocess.Popen[bytes]") -> bool:
    """Wait until it holds; False if the driver is gone before."""
    while driver.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False


def killed_again_and_again(fleet: Fleet, kills: int) -> dict[str, int]:
    """Workers and drivers, at random moments of random batches; how many of each were killed."""
    chance, killed = random.Random(os.urandom(8)), {"by own hand": 0, "workers": 0, "drivers": 0}
    dies = 1.0  # the first, when its first batch is computed and nobody knows it
    while True:
        driver = fleet.driver(dies)
        enough = dies == 1.0 or killed["workers"] + killed["drivers"] >= kills
        for whom in () if enough else ("workers", "drivers"):
            soon = fleet.folder.progress().batches + chance.randrange(3)
            if until(
                lambda: python_workers(driver.pid) and fleet.folder.progress().batches >= soon,  # noqa: B023
                driver,
            ):
                time.sleep(chance.uniform(0.0, 2.0))
                for victim in python_workers(driver.pid) if whom == "workers" else [driver.pid]:
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
                killed[whom] += 1
        driver.wait()
        end(driver)  # what it left behind
        if driver.returncode == 0:
            return killed
        assert driver.returncode == -signal.SIGKILL, fleet.errors.read_text()[-3000:]
        killed["by own hand"] += 1
        dies = 0.05


def on_postgresql(secret: bytes, events: Events, path: Path) -> list[bytes]:
    """The lines of all releases of the fleet in a database, with the same secret; sorted."""
    with TemporaryDirectory(prefix="fleet") as folder:
        os.chmod(folder, 0o755)
        with running(Path(folder)) as server:
            terms = database.create(server.dsn, RECIPE, fingerprint=fingerprint(secret), shards=4)
            mark = HighWater(path / "other.mark", terms.identity, create=True)
            with database.connect(server.dsn) as connection:
                for key, examples in events.items():
                    xs, ys = map(list, zip(*examples, strict=True))
                    numbers = list(range(1, len(xs) + 1))
                    database.put(connection, RECIPE, [key] * len(xs), numbers, xs, ys)
                worker = Worker(connection, terms, RECIPE, secret, mark)
                while worker.work():
                    pass
                published = sorted(map(release_line, database.releases(connection)))
            mark.close()
    return published


def test_kills_change_nothing(fleet: Fleet, tmp_path: Path) -> None:
    events = some_events(keys=30, each=60)
    write_all(fleet.events, events, files=12)
    killed = killed_again_and_again(fleet, KILLS)
    killed["by own hand"] -= killed["drivers"]
    secret = read_secret(fleet.secret)
    published, computed = fleet.published(), fleet.computed()
    assert published == expected(secret, events)
    if binaries() is not None:
        assert published == on_postgresql(secret, events, tmp_path)
    differ = len(set(computed) - set(published))
    print(
        f"killed: {killed}; {len(computed)} releases computed, {len(published)} published, "
        f"{differ} differ"
    )
    assert len(computed) > len(published) and not differ
    assert fleet.folder.progress().rounds == 30 * 60
    assert list(fleet.folder.lines(REFUSED)) == []


def test_fresh_noise_would_be_noticed(fleet: Fleet, spark: Any) -> None:
    """The control: noise of the operating system is a second draw on the same data."""
    from tests.spark_driver import FreshFleet  # noqa: PLC0415

    events = some_events(keys=30, each=60)
    write_all(fleet.events, events, files=1)
    for dies in (1.0, 0.0):
        mine = FreshFleet(fleet.folder, RECIPE, fleet.secret)
        mine.log, mine.dies = fleet.log, dies
        with suppress(LittlestoneError):
            mine.take(spark, fleet.events, COLUMNS, sequence=SEQUENCE, until_empty=True)
        mine.close()
    published, computed = fleet.published(), fleet.computed()
    differ = len(set(computed) - set(published))
    print(f"fresh noise: {differ} of {len(computed)} computed releases differ from the published")
    assert published and differ > 0
    assert published != expected(read_secret(fleet.secret), events)


def test_lines_that_cannot_be_taken_are_handed_back_and_end_nothing(
    fleet: Fleet, spark: Any
) -> None:
    write(
        fleet.events,
        "1.jsonl",
        [
            line_of("a", 2, 5, 0),
            line_of("a", 1, 7, 1),
            line_of("a", 4, 1, 0),  # waits behind a gap
            line_of("b", 1, 64, 0),  # no point of the class, so that
            line_of("b", 2, 3, 0),  # this one waits
            line_of("c", 1, 3, 2),  # no label
            line_of("c", 0, 3, 1),  # no number
            line_of("c", 501, 3, 1),  # past the horizon
            line_of(None, 1, 3, 1),  # no key
            "{",
            "",
        ],
    )
    with (fleet.events / "1.jsonl").open("ab") as file:
        file.write(b'{"shop": "\xff", "number": 1, "size": 3, "large": 1}\n')
    fleet.work(spark)
    refused = [json.loads(line) for line in fleet.folder.lines(REFUSED)]
    reasons = sorted(line["reason"] for line in refused)
    assert len(reasons) == 7 and fleet.folder.progress().early == 2
    assert "past the horizon" in reasons[-1]
    assert {line["line"] for line in refused} >= {"{", line_of("b", 1, 64, 0)}
    assert sum("missing or cannot be read" in reason for reason in reasons) == 3
    # What was missing comes; repeats change nothing, whatever they say.
    write(
        fleet.events,
        "2.jsonl",
        [line_of("a", 3, 9, 1), line_of("a", 4, 60, 1), line_of("a", 1, 60, 0)],
    )
    fleet.work(spark)
    write(fleet.events, "3.jsonl", [line_of("a", 2, 60, 0)])
    fleet.work(spark)
    events = {"a": [(7, 1), (5, 0), (9, 1), (1, 0)]}
    assert fleet.published() == expected(read_secret(fleet.secret), events)
    progress = fleet.folder.progress()
    assert (progress.keys, progress.rounds, progress.refused) == (1, 4, 7)
    assert (progress.batches, progress.early) == (3, 1)


def test_a_checkpoint_that_was_put_back_is_refused(
    fleet: Fleet, spark: Any, tmp_path: Path
) -> None:
    def put_back() -> None:
        shutil.rmtree(fleet.folder.path)
        shutil.copytree(tmp_path / "copy", fleet.folder.path)

    write(fleet.events, "1.jsonl", [line_of("a", 1, 3, 0)])
    fleet.work(spark)
    shutil.copytree(fleet.folder.path, tmp_path / "copy")
    write(fleet.events, "2.jsonl", [line_of("a", 2, 4, 0)])
    fleet.work(spark)
    put_back()
    fleet.work(spark)  # the same events: the same bytes, and nothing is lost
    now = fleet.published()
    put_back()
    write(fleet.events, "2.jsonl", [line_of("a", 2, 60, 1)])  # the source goes on otherwise
    with pytest.raises(RollbackError, match="checkpoint of Spark was rolled back"):
        fleet.work(spark)
    assert fleet.folder.progress().rounds == 1 and set(fleet.published()) <= set(now)
    # Further behind than one batch nothing is computed at all.
    put_back()
    write(fleet.events, "2.jsonl", [line_of("a", 2, 4, 0)])
    write(fleet.events, "3.jsonl", [line_of("a", 3, 4, 0)])
    fleet.work(spark)
    put_back()
    with pytest.raises(RollbackError, match="it has 2 commits, but"):
        fleet.work(spark)
    (tmp_path / "secret.mark").unlink()
    with pytest.raises(StoreError, match="--adopt"):
        fleet.work(spark)


def test_the_secret_stays_in_its_file(fleet: Fleet, spark: Any, tmp_path: Path) -> None:
    write_all(fleet.events, some_events(keys=5, each=10), files=1)
    fleet.work(spark)
    secret = read_secret(fleet.secret)
    looks = (secret, secret.hex().encode(), repr(secret).encode()[2:-1])
    for path in (*fleet.folder.path.rglob("*"), tmp_path / "secret.mark"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(look in content for look in looks), path
    settings = repr([*spark.sparkContext.getConf().getAll()])
    assert secret.hex() not in settings
    open_fleet = SparkFleet(fleet.folder, RECIPE, fleet.secret)
    from pyspark import cloudpickle  # noqa: PLC0415

    travels = cloudpickle.dumps(open_fleet.processor(COLUMNS, SEQUENCE))
    assert not any(look in travels for look in looks)
    with pytest.raises(StoreError, match="is in use"):
        SparkFleet(fleet.folder, RECIPE, fleet.secret)
    open_fleet.close()
    os.chmod(fleet.secret, 0o640)
    with pytest.raises(StoreError, match="chmod 600"):
        SparkFleet(fleet.folder, RECIPE, fleet.secret)


def test_the_commands(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = littlestone(
        "spark", "init", "fleet", "--secret", "secret", "--class", "thresholds:64",
        "--rounds", "100", "--setting", "realizable", "--max-keys", "3", "--partitions", "2",
    )  # fmt: skip
    assert "ε = 3" in made and "at most 3 keys" in made and "is public" in made
    Path("events").mkdir()
    write(
        tmp_path / "events",
        "1.jsonl",
        [line_of("é", 1, 3, 0), line_of("é", 3, 3, 0), line_of("é", 2, 64, 0)],
    )
    columns = ("--key", "shop", "--label", "large", "--feature", "size", "--sequence", "number")
    work = ("spark", "work", "fleet", "--secret", "secret", "--events", "events", *columns)
    assert littlestone(*work, "--until-empty").endswith("1 events taken\n")
    found = json.loads(littlestone("spark", "status", "fleet", "--json"))
    assert found["status"] == {
        "batches": 1, "keys": 1, "rounds": 1, "releases": 1, "refused": 1, "behind a gap": 1,
        "files": 1, "files not taken": 0,
    }  # fmt: skip
    assert found["ledger"]["person"]["cost"] == {"epsilon": 3.0, "delta": 0.0}
    [line] = littlestone("spark", "releases", "fleet").splitlines()
    assert json.loads(line)["run"] == "é" and json.loads(line)["release"] == 1
    [line] = littlestone("spark", "releases", "fleet", "--refused").splitlines()
    assert json.loads(line)["line"] == line_of("é", 2, 64, 0)
    again = ("spark", "init", "fleet", "--secret", "other", "--class", "points", "--rounds", "10")
    assert "exists" in littlestone(*again, expect=2)
    assert not Path("other").exists()
    assert "no fleet in" in littlestone("spark", "status", "nowhere", expect=2)


def test_a_job_that_spark_submit_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two lines of the page, and its commands."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    [job] = re.findall(r'```python title="fleet_job.py"\n(.*?)```', page, re.DOTALL)
    Path("fleet_job.py").write_text(job)
    [init] = re.findall(r"^\$ littlestone fleet (spark init .*)$", page, re.MULTILINE)
    littlestone(*init.split())
    Path("events").mkdir()
    write(tmp_path / "events", "1.jsonl", [line_of("Haifa", 1, 3, 0)])
    [submit] = re.findall(r"^\$ spark-submit (.*)$", page, re.MULTILINE)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("spark-submit")), *submit.split()],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | ENVIRONMENT,
    )
    assert done.returncode == 0 and "1 events taken" in done.stdout, done.stderr[-3000:]
    [line] = littlestone("spark", "releases", "spark-fleet").splitlines()
    assert json.loads(line)["run"] == "Haifa"
