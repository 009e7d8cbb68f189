"""``littlestone learn`` on a CSV of a million rows and six fields, in groups: time and memory."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks._river import logistic_rate
from benchmarks.in_use import seconds_of

Row = tuple[str, str, str, bool | None]

ROWS, BLOCK = 1_000_000, 10_000
SCHEMA = """
delay.grid = [-10, 0, 5, 10, 15, 20, 30, 45, 60]
hour.grid = [6, 9, 12, 15, 18, 21]
carrier.values = ["AA", "B6", "DL", "UA"]
distance.grid = [200, 500, 1000, 2000]
origin.values = ["EWR", "JFK", "LGA"]
"""
MEGABYTES = 200
# 10 seconds where River's logistic regression takes 228 k rounds a second.
ROUNDS_OF_RIVER = 2_280_000


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "rows.csv")
        (folder / "schema.toml").write_text(SCHEMA)
        command = ["learn", "rows.csv", "--schema", "schema.toml", "--label", "late"]
        command += ["--store", "run.db", "--out", "rules.jsonl", "--quiet"]
        program = [sys.executable, "-m", "littlestone"]
        seconds_of([*program, "learn", "--help"], folder)  # compiles what is not compiled yet
        river = logistic_rate()
        wall, cpu, megabytes = seconds_of([*program, *command], folder)
        river = max(river, logistic_rate())
    rounds, target = cpu * river, ROUNDS_OF_RIVER
    told = f"{cpu:.1f} s of CPU ({wall:.1f} s), {rounds / 1e6:.2f} M rounds of River"
    yield "a million rows", told, f"<= {target / 1e6:.2f} M rounds of River", rounds <= target
    most = megabytes <= MEGABYTES
    yield "memory, at most", f"{megabytes:.0f} MB", f"<= {MEGABYTES} MB", most


def _write(path: Path) -> None:
    """Late is who leaves twenty minutes late, and one in twenty of the others.

    In small blocks: what this process holds would count as memory of the one that it starts.
    """
    generator = np.random.default_rng(2013)
    with path.open("w") as file:
        file.write("delay,hour,carrier,distance,origin,late\n")
        for _ in range(ROWS // BLOCK):
            delays = generator.normal(8, 20, BLOCK).round(1)
            late = (delays >= 20) ^ (generator.random(BLOCK) < 0.05)
            columns = [
                delays,
                generator.integers(24, size=BLOCK),
                generator.choice(["AA", "B6", "DL", "UA"], BLOCK),
                generator.integers(50, 3000, size=BLOCK),
                generator.choice(["EWR", "JFK", "LGA"], BLOCK),
                late.astype(int),
            ]
            lines = zip(*(column.tolist() for column in columns), strict=True)
            file.writelines(",".join(map(str, line)) + "\n" for line in lines)
