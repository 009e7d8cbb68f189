"""A fleet on Spark, lines to releases: events a second on two cores.

Spark on this machine with two threads, its state in RocksDB, files of JSON lines in which events of
all keys come mixed at random. Rates are per second of two busy cores: events divided by half of the
processor time of everything that runs (driver, Java, Python workers), which a busy machine does not
change much; the rate by the clock stands beside it. A small fleet goes first, so that Java is warm.
"""

import importlib.util
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.files import create_secret, fingerprint
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.spark_folder import SparkFolder
from littlestone.runs.fleet.terms import Terms
from littlestone.runs.intake.readers import Columns

Row = tuple[str, str, str, bool | None]

RECIPE = PrivateMajority(concepts=Thresholds(1024), rounds=10_000, epsilon=1.0)
COLUMNS = Columns(label="y", feature="x", identity="key")
FILE = 100_000
SIZES = {"1,000": (1_000, 1_000, 20_000), "100,000": (100_000, 10, 10_000)}
"""Keys, events of each, and the events a second that were asked for."""


def measure() -> Iterator[Row]:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        yield "Spark", "pyspark or Java is missing: make test-spark brings the first", "", None
        return
    from littlestone.runs.fleet.spark_job import session  # noqa: PLC0415

    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false "
        "--driver-memory 4g pyspark-shell"
    )
    spark = session("local[2]")
    spark.sparkContext.setLogLevel("OFF")
    _learn(spark, 100, 100)
    for name, (keys, each, wanted) in SIZES.items():
        clock, processor = _learn(spark, keys, each)
        rate = 2 * keys * each / processor
        yield (
            f"{name} keys, {each} events each: learned",
            f"{rate:,.0f}/s ({keys * each / clock:,.0f} by the clock)",
            f">= {wanted:,}/s",
            rate >= wanted,
        )
    spark.stop()


def _learn(spark: Any, keys: int, each: int) -> tuple[float, float]:
    """Seconds by the clock and of the processor for a fresh fleet, in one batch."""
    from littlestone.runs.fleet.spark_job import SparkFleet  # noqa: PLC0415

    with TemporaryDirectory(prefix="spark") as place:
        path = Path(place)
        secret = create_secret(path / "secret")
        terms = Terms.planned(RECIPE, fingerprint=fingerprint(secret), shards=2)
        folder = SparkFolder.from_terms(path / "fleet", terms)
        HighWater(path / "secret.mark", terms.identity, create=True).close()
        (path / "events").mkdir()
        _write(path / "events", keys, each)
        fleet = SparkFleet(folder, RECIPE, path / "secret")
        begun, used = time.monotonic(), _processor(os.getpid())
        fleet.take(spark, path / "events", COLUMNS, sequence="n", until_empty=True)
        clock, processor = time.monotonic() - begun, _processor(os.getpid()) - used
        fleet.close()
        assert folder.progress().rounds == keys * each
    return clock, processor


def _write(folder: Path, keys: int, each: int) -> None:
    generator = np.random.default_rng(1)
    who = generator.permutation(np.repeat(np.arange(keys), each))
    seqs = np.empty(len(who), dtype=np.int64)
    seqs[np.argsort(who, kind="stable")] = np.tile(np.arange(1, each + 1), keys)
    xs = generator.integers(1024, size=len(who))
    columns = zip(who.tolist(), seqs.tolist(), xs.tolist(), strict=True)
    lines = [
        json.dumps({"key": f"key {key}", "n": n, "x": x, "y": int(x >= 300)}) + "\n"
        for key, n, x in columns
    ]
    for start in range(0, len(lines), FILE):
        (folder / f"{start:012}.jsonl").write_text("".join(lines[start : start + FILE]))


def _processor(process: int) -> float:
    """Seconds of a process, of all that it has started, and of those that have ended."""
    ticks, below = 0, [process]
    while below:
        one = below.pop()
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(") ")[2].split()
            ticks += sum(map(int, fields[11:15]))
            for path in Path(f"/proc/{one}/task").glob("*/children"):
                below += map(int, path.read_text().split())
    return ticks / os.sysconf("SC_CLK_TCK")
