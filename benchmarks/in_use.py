"""What a user waits for: ``learn`` on tables of usual sizes, the import, ``--help``, the install.

Times are of the processor, with those on the clock beside them: on a busy machine the clock says
how busy it is.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import distribution, requires
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement

Row = tuple[str, str, str, bool | None]

SCHEMA = """
amount = { range = [0.1, 1000], scale = "log" }
hour.range = [0, 24]
age.range = [18, 90]
risk.range = [0, 1]
country.values = ["DE", "FR", "GB", "US"]
channel.values = ["app", "pos", "web"]
"""
USERS = ("--user", "user", "--max-contributions", "5")


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schema.toml").write_text(SCHEMA)
        for rows, words, seconds in ((300_000, (), 8), (40_000, USERS, 2)):
            _write(folder / "rows.csv", rows)
            learn = ["learn", "rows.csv", "--schema", "schema.toml", "--label", "fraud", "--quiet"]
            learn += ["--store", f"{rows}.db", "--out", f"{rows}.jsonl", *words]
            wall, cpu, _ = seconds_of([sys.executable, "-m", "littlestone", *learn], folder)
            what = f"learn {rows:,} rows of six fields{' with users' if words else ''}"
            yield what, f"{cpu:.1f} s of CPU ({wall:.1f} s)", f"<= {seconds} s", cpu <= seconds
        bare = _quickest([sys.executable, "-c", "pass"], folder)
        with_ours = _quickest([sys.executable, "-c", "import littlestone"], folder)
        wall, cpu = with_ours[0] - bare[0], with_ours[1] - bare[1]
        told = f"{1000 * cpu:.0f} ms of CPU ({1000 * wall:.0f} ms)"
        yield "import littlestone", told, "<= 40 ms", cpu <= 0.04
        help_words = [sys.executable, "-m", "littlestone", "--help"]
        wall, cpu = _quickest(help_words, folder)
        yield "littlestone --help", f"{cpu:.2f} s of CPU ({wall:.2f} s)", "<= 0.25 s", cpu <= 0.25
    size = sum(map(_megabytes, _needed()))
    yield "installed without extras", f"{size:.0f} MB", "<= 180 MB", size <= 180


def _quickest(words: list[str], folder: Path) -> tuple[float, float]:
    walls, cpus, _ = zip(*(seconds_of(words, folder) for _ in range(5)), strict=True)
    return min(walls), min(cpus)


def seconds_of(words: list[str], folder: Path) -> tuple[float, float, float]:
    """On the clock, of the processor, and megabytes; modules are compiled, as once installed."""
    kept = {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "littlestone-compiled")}
    outside = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        words, cwd=folder, env=outside | kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    wall, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
    return wall, cpu, used.ru_maxrss / 1024


def _needed(name: str = "littlestone", seen: set[str] | None = None) -> set[str]:
    """The distributions that an installation without extras brings."""
    seen = set() if seen is None else seen
    if name.lower() not in seen:
        seen.add(name.lower())
        for line in requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                _needed(needed.name, seen)
    return seen


def _megabytes(name: str) -> float:
    if name == "littlestone":  # where it is edited, its files are not those of the distribution
        files = list((Path(__file__).parents[1] / "src").rglob("*"))
        return sum(file.stat().st_size for file in files if file.is_file()) / 2**20
    listed = distribution(name).files or ()
    paths = [Path(str(file.locate())) for file in listed]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 2**20


def _write(path: Path, rows: int) -> None:
    generator = np.random.default_rng(28)
    amounts, hours = generator.lognormal(3, 1, rows).round(2), generator.integers(24, size=rows)
    fraud = ((amounts > 60) & (hours < 6)) ^ (generator.random(rows) < 0.03)
    columns = {
        "amount": amounts,
        "hour": hours,
        "age": generator.integers(18, 90, rows),
        "risk": generator.random(rows).round(3),
        "country": generator.choice(["DE", "FR", "GB", "US"], rows),
        "channel": generator.choice(["app", "pos", "web"], rows),
        "user": generator.integers(0, 8000, rows),
        "fraud": fraud.astype(int),
    }
    lines = zip(*(column.tolist() for column in columns.values()), strict=True)
    with path.open("w") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(map(str, line)) + "\n" for line in lines)
