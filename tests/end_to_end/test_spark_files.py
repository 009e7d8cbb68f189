"""Every file of events is taken by a fleet on Spark, or named: whatever its name, age or kind."""

import gzip
import json
import os
import random  # noqa: TID251 (letters of names, no noise)
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.fleet_events import COLUMNS as FLEET_COLUMNS
from tests.fleet_events import RECIPE, SEQUENCE, line_of, some_events, write, write_all
from tests.fleets import littlestone
from tests.spark_fleets import ABSENT, ENVIRONMENT, Fleet, python_workers, spark_marks
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.errors import StoreError
from littlestone.runs.fleet.keyed import MOST_KEY_BYTES
from littlestone.runs.fleet.spark_files import shown
from littlestone.runs.intake.readers import Columns

if not ABSENT:
    from littlestone.runs.fleet.spark_job import SparkFleet

pytestmark = spark_marks
DAY = 86_400
COLUMNS = ("--key", "shop", "--label", "large", "--feature", "size", "--sequence", "number")
WORK = ("spark", "work", "fleet", "--secret", "secret", "--events", "events")


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


@pytest.fixture
def events(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of events of a new fleet, in a folder where its commands are run."""
    monkeypatch.chdir(tmp_path)
    littlestone(
        "spark", "init", "fleet", "--secret", "secret", "--class", "thresholds:64",
        "--rounds", "100", "--setting", "realizable", "--partitions", "2",
    )  # fmt: skip
    Path("events").mkdir()
    return Path("events")


def put(path: Path, key: str, number: int = 1, *, age: float = 0.0) -> None:
    """A file with one event, of that many seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line_of(key, number, 3, 0) + "\n")
    os.utime(path, (time.time() - age,) * 2)


def work(*more: str, expect: int = 0) -> str:
    return littlestone(*WORK, *COLUMNS, "--until-empty", *more, expect=expect)


def published() -> list[dict[str, Any]]:
    return [json.loads(line) for line in littlestone("spark", "releases", "fleet").splitlines()]


def keys() -> set[str]:
    return {release["run"] for release in published()}


def refused() -> list[dict[str, str]]:
    said = littlestone("spark", "releases", "fleet", "--refused")
    return [json.loads(line) for line in said.splitlines()]


def named() -> set[str]:
    return {found["file"] for found in refused() if "file" in found}


def odd_names(count: int) -> list[str]:
    """Names of files that a Linux folder takes: any characters but two."""
    chance = random.Random(os.urandom(8))
    letters = [
        *"ab1 _-.,:;%#?*[]{}()!~@$&='\"\\\n\t\r",
        "é",
        "ß",
        "漢",
        "\u202e",
        "🙂",
        "\x7f",
        "\udcff",
    ]
    made = {"".join(chance.choices(letters, k=chance.randint(1, 12))) for _ in range(count)}
    return sorted(made - {".", ".."})


def test_every_file_is_taken_or_named_whatever_its_name_and_age(events: Path) -> None:
    put(events / "today.jsonl", "today")
    put(events / "eight days.jsonl", "eight days", age=8 * DAY)
    put(events / "thirty years.jsonl", "thirty years", age=30 * 365 * DAY)
    put(events / "tomorrow.jsonl", "tomorrow", age=-DAY)
    put(events / "in forty years.jsonl", "in forty years", age=-40 * 365 * DAY)
    put(events / "sub" / "folder" / "inner.jsonl", "inner")
    put(events / "date=2026-11-16" / "part-00000", "partition")
    put(events / "_x.jsonl", "underscore")
    put(events / ".x.jsonl", "dot")
    put(events / "_temporary" / "0" / "half.jsonl", "temporary")
    (events / "empty.jsonl").touch()
    for name in ("crlf", "mark and crlf"):
        mark = b"\xef\xbb\xbf" * name.startswith("mark")
        (events / name).write_bytes(mark + line_of(name, 1, 3, 0).encode() + b"\r\n\r\n")
    (events / "link.jsonl").symlink_to(Path("linked.jsonl").resolve())
    put(Path("linked.jsonl"), "linked")
    (events / "dangling.jsonl").symlink_to("nowhere")
    (events / "loop").symlink_to("..", target_is_directory=True)
    os.mkfifo(events / "pipe.jsonl")
    odd = odd_names(40)
    for number, name in enumerate(odd):
        put(events / name, f"odd {number}")
    said = work(expect=2)
    taken = {"today", "eight days", "thirty years", "tomorrow", "in forty years", "inner"}
    taken |= {"partition", "linked", "crlf", "mark and crlf"}
    left = {"_x.jsonl", ".x.jsonl", "_temporary", "dangling.jsonl", "loop", "pipe.jsonl"}
    hidden = [name.startswith((".", "_")) for name in odd]
    taken |= {f"odd {number}" for number, hides in enumerate(hidden) if not hides}
    left |= {shown(name) for name, hides in zip(odd, hidden, strict=True) if hides}
    print(f"{len(taken)} files taken, {len(left)} named, 0 skipped without a word")
    assert keys() == taken and named() == left
    assert "pipe.jsonl" in said and "dangling.jsonl" in said and "loop" in said


def test_files_that_come_later_are_taken_whatever_their_age_and_name(events: Path) -> None:
    put(events / "1.jsonl", "a", age=-DAY)
    work()
    put(events / "old.jsonl", "b", age=8 * DAY)
    put(events / "1.jsonl", "c", age=-DAY)  # under a used name, and of one age
    put(events / "sub" / "1.jsonl", "a", 2, age=100 * DAY)
    work()
    assert keys() == {"a", "b", "c"} and refused() == []
    found = json.loads(littlestone("spark", "status", "fleet", "--json"))["status"]
    assert found["rounds"] == 4 and found["behind a gap"] == 0
    work()  # nothing new: nothing happens
    assert json.loads(littlestone("spark", "status", "fleet", "--json"))["status"] == found


def test_a_damaged_file_is_named_and_the_others_go_on(events: Path) -> None:
    whole = gzip.compress((line_of("z", 1, 3, 0) + "\n").encode() * 1000)
    (events / "good.jsonl.gz").write_bytes(whole)
    (events / "half.jsonl.gz").write_bytes(gzip.compress(random.randbytes(100_000))[:-70_000])
    put(events / "no gzip.jsonl.gz", "x")
    put(events / "locked.jsonl", "locked")
    os.chmod(events / "locked.jsonl", 0)
    put(events / "plain.jsonl", "plain")
    said = work(expect=2)
    closed = set() if os.access(events / "locked.jsonl", os.R_OK) else {"locked.jsonl"}  # root
    assert keys() == {"z", "plain"} | ({"locked"} - {name[:-6] for name in closed})
    assert named() == {"half.jsonl.gz", "no gzip.jsonl.gz"} | closed
    assert "half.jsonl.gz" in said and "bug" not in said
    # Mended, both are taken, and nothing was lost.
    (events / "half.jsonl.gz").write_bytes(gzip.compress(line_of("half", 1, 3, 0).encode()))
    (events / "no gzip.jsonl.gz").rename(events / "no gzip.jsonl")
    os.chmod(events / "locked.jsonl", 0o600)
    work()
    assert keys() == {"z", "plain", "half", "x", "locked"} and refused() == []


def test_releases_are_in_order_within_a_key_and_verify_finds_them_whole(
    fleet: Fleet, spark: Any
) -> None:
    stream = some_events(keys=3, each=400)
    write_all(fleet.events, stream, files=2)
    fleet.work(spark)
    folder, by_key = str(fleet.folder.path), dict[str, list[int]]()
    said = littlestone("spark", "releases", folder)
    for release in map(json.loads, said.splitlines()):
        by_key.setdefault(release["run"], []).append(release["release"])
    assert {*by_key} == {*stream} and min(map(len, by_key.values())) >= 11  # 9 comes before 10
    assert all(found == list(range(1, len(found) + 1)) for found in by_key.values())
    (whole := fleet.secret.with_name("all.jsonl")).write_text(said)
    assert "the releases of 3 runs are whole" in verified(whole)
    (one := fleet.secret.with_name("one.jsonl")).write_text(
        littlestone("spark", "releases", folder, "--key", "key 1")
    )
    assert f"releases 1 to {len(by_key['key 1'])} of run key 1 are whole" in verified(one)


def verified(path: Path) -> str:
    checked = CliRunner().invoke(app, ["verify", str(path)])
    assert checked.exit_code == 0, checked.output
    return checked.output


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.files.maxRecordsPerFile", "1"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic"),
        ("spark.hadoop.mapreduce.output.fileoutputformat.compress", "true"),
    ],
)
def test_settings_of_a_cluster_change_nothing_that_is_published(
    events: Path, spark: Any, name: str, value: str
) -> None:
    for key in "abcdef":
        put(events / key, key)
    stale = Path("fleet/staging/kind=refused/part-00009-of-a-batch-that-was-rejected")
    stale.parent.mkdir(parents=True)
    stale.write_text('{"line": "stale"}\n')
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    plain = name.removeprefix("spark.hadoop.")
    try:
        spark.conf.set(name, value) if plain == name else hadoop.set(plain, value)
        work()
    finally:
        spark.conf.unset(name) if plain == name else hadoop.unset(plain)
    assert keys() == set("abcdef") and len(published()) == len(keys()) and refused() == []


def test_a_key_that_postgresql_refuses_is_refused(events: Path) -> None:
    lines = [line_of("k" * size, 1, 3, 0) for size in (1000, MOST_KEY_BYTES, 3000)]
    (events / "1.jsonl").write_text("".join(f"{line}\n" for line in lines))
    work()
    assert keys() == {"k" * 1000}
    assert {found["line"] for found in refused()} == set(lines[1:])
    assert all("at most 2,000 bytes" in found["reason"] for found in refused())


@pytest.mark.parametrize("option", ["--key", "--sequence", "--label", "--feature"])
def test_a_run_with_other_columns_is_refused(events: Path, option: str) -> None:
    put(events / "1.jsonl", "a")
    work()
    place = COLUMNS.index(option) + 1
    columns = (*COLUMNS[:place], "other", *COLUMNS[place + 1 :])
    put(events / "2.jsonl", "a", 2)
    said = littlestone(*WORK, *columns, "--until-empty", expect=2)
    assert option in said and "other" in said and COLUMNS[place] in said
    work()
    assert len(published()) >= 1 and refused() == []
    found = json.loads(littlestone("spark", "status", "fleet", "--json"))["status"]
    assert found["rounds"] == 2


def test_columns_of_which_nothing_came_may_be_corrected(events: Path) -> None:
    put(events / "1.jsonl", "a")
    slip = tuple("shpo" if word == "shop" else word for word in COLUMNS)
    littlestone(*WORK, *slip, "--until-empty")
    assert keys() == set() and len(refused()) == 1
    work()  # and the file is read again
    assert keys() == {"a"}


def test_users_who_would_not_be_counted_are_refused(fleet: Fleet, spark: Any) -> None:
    mine = SparkFleet(fleet.folder, RECIPE, fleet.secret)
    columns = Columns(label="large", feature="size", identity="shop", user="who")
    with pytest.raises(ValueError, match="does not count users"):
        mine.take(spark, fleet.events, columns, sequence=SEQUENCE, until_empty=True)
    mine.close()


def test_everything_that_a_fleet_owns_is_apart_from_its_events(fleet: Fleet, spark: Any) -> None:
    mine = SparkFleet(fleet.folder, RECIPE, fleet.secret)
    (fleet.folder.path / "inside").mkdir()
    for events in (fleet.folder.path, fleet.folder.path / "inside", fleet.secret.parent):
        with pytest.raises(ValueError, match="apart from the fleet's folder and its secret"):
            mine.take(spark, events, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    for events in (fleet.events / "nowhere", fleet.secret):
        with pytest.raises(ValueError, match="events must be a folder"):
            mine.take(spark, events, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    mine.close()


def test_a_stream_of_lines_is_taken_and_not_mixed_with_files(
    fleet: Fleet, spark: Any, tmp_path: Path
) -> None:
    write(fleet.events, "1.jsonl", [line_of("a", 1, 3, 0)])
    lines = spark.readStream.text(str(fleet.events))
    mine = SparkFleet(fleet.folder, RECIPE, fleet.secret)
    mine.run(lines, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    with pytest.raises(StoreError, match="fed from another source"):
        mine.take(spark, fleet.events, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    write(fleet.events, "2.jsonl", [line_of("a", 2, 3, 0)])
    mine.run(lines, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    mine.close()
    assert fleet.folder.progress().rounds == 2
    (tmp_path / "other").mkdir()
    other = Fleet(tmp_path / "other")
    other.work(spark)
    mine = SparkFleet(other.folder, RECIPE, other.secret)
    with pytest.raises(StoreError, match="from a folder"):
        mine.run(lines, FLEET_COLUMNS, sequence=SEQUENCE, until_empty=True)
    mine.close()


def test_a_batch_that_spark_skips_is_noticed(
    fleet: Fleet, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the first batch has the age of today, and the second that of long ago."""
    real, today = os.utime, time.time()
    aged = {1: (today, today)}
    monkeypatch.setattr(os, "utime", lambda path, at: real(path, aged.get(at[0], at)))
    write(fleet.events, "1.jsonl", [line_of("a", 1, 3, 0)])
    fleet.work(spark)
    write(fleet.events, "2.jsonl", [line_of("a", 2, 3, 0)])
    with pytest.raises(StoreError, match="Spark has read 1 of 2 batches"):
        fleet.work(spark)


# The daemon's children are the workers: however late a killer comes, none of them is done.
NEVER_DONE = """
import os, sys, time
if any("pyspark.daemon" in word for word in sys.orig_argv):
    os.register_at_fork(after_in_child=lambda: time.sleep(3600))
"""


def test_a_killed_worker_ends_in_no_stack_trace(events: Path) -> None:
    """As a command of its own, whose Python workers are killed whenever they appear."""
    for number in range(1, 31):
        put(events / f"{number}.jsonl", "a", number)
    command = [sys.executable, "-m", "littlestone", "fleet", *WORK, *COLUMNS, "--until-empty"]
    Path("sitecustomize.py").write_text(NEVER_DONE)
    with Path("errors").open("wb") as errors:
        driver = subprocess.Popen(
            [*command, "--files", "10", "--master", "local[2]"],
            env=os.environ | ENVIRONMENT | {"PYTHONPATH": str(Path.cwd())},
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        killer = threading.Thread(target=_kill_workers, args=(driver,))
        killer.start()
        status = driver.wait()
        killer.join()
    said = Path("errors").read_text()
    assert status == 2 and "this is a bug" not in said and "Traceback" not in said, said[-3000:]
    assert "nothing is lost" in said
    work()
    assert json.loads(littlestone("spark", "status", "fleet", "--json"))["status"]["rounds"] == 30


def _kill_workers(driver: "subprocess.Popen[bytes]") -> None:
    while driver.poll() is None:
        for worker in python_workers(driver.pid):
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        time.sleep(0.1)
