"""A fleet on Spark for tests, and Spark itself; without it they skip."""

import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from littlestone.runs.files import create_secret, fingerprint
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.spark_folder import SparkFolder
from littlestone.runs.fleet.terms import Terms
from tests.fleet_events import COLUMNS, RECIPE, SEQUENCE

MISSING = {
    "pyspark": "pyspark is not installed here: make test-spark brings it (pip install "
    "'littlestone[spark]')",
    "java": "Java is not installed here, which Spark needs: apt-get install "
    "openjdk-17-jre-headless (as root)",
}
ABSENT = [
    reason
    for name, reason in MISSING.items()
    if (importlib.util.find_spec(name) if name == "pyspark" else shutil.which(name)) is None
]
if not ABSENT:
    from littlestone.runs.fleet.spark_job import SparkFleet

spark_marks = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(ABSENT), reason="; ".join(ABSENT)),
    pytest.mark.filterwarnings("default"),  # Spark's own
]

ROOT = Path(__file__).parents[1]
DRIVER = ROOT / "tests" / "spark_driver.py"
# Java that lives for seconds gains nothing by compiling well.
ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class Fleet:
    """A fresh fleet in a folder of its own."""

    def __init__(self, path: Path) -> None:
        self.secret = path / "secret"
        self.events = path / "events"
        self.log, self.errors = path / "computed", path / "errors"
        self.events.mkdir()
        terms = Terms.planned(RECIPE, fingerprint=fingerprint(create_secret(self.secret)), shards=2)
        self.folder = SparkFolder.from_terms(path / "fleet", terms)
        HighWater(path / "secret.mark", terms.identity, create=True).close()

    def work(self, spark: Any, *, files: int | None = 1) -> None:
        """In this process, until nothing waits."""
        fleet = SparkFleet(self.folder, RECIPE, self.secret)
        try:
            given = spark, self.events, COLUMNS
            fleet.take(*given, sequence=SEQUENCE, files=files, until_empty=True)
        finally:
            fleet.close()

    def driver(self, dies: float, *more: str) -> "subprocess.Popen[bytes]":
        """In a process of its own, which takes whatever it has started with it."""
        given = (self.folder.path, self.secret, self.events, self.log, dies, *more)
        with self.errors.open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, str(DRIVER), *map(str, given)],
                cwd=ROOT,
                env=os.environ | ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def published(self) -> list[bytes]:
        return sorted(self.folder.lines())

    def computed(self) -> list[bytes]:
        return self.log.read_bytes().splitlines() if self.log.exists() else []


def python_workers(driver: int) -> list[int]:
    """The processes below a driver that learn: children of Spark's Python daemon."""
    found, below = [], [driver]
    while below:
        parent = below.pop()
        with suppress(OSError):  # it has ended meanwhile
            for path in Path("/proc").glob(f"{parent}/task/*/children"):
                children = [int(child) for child in path.read_text().split()]
                below += children
                if b"pyspark.daemon" in Path(f"/proc/{parent}/cmdline").read_bytes():
                    found += children
    return found
