"""Run benchmarks of an older commit beside those of this tree, in turns, and print the ratios.

    make bench-beside OLD=69d9ecd NAMES="service serve" TIMES=3

The old commit is checked out below ``out/beside`` and imported from there, with the packages of
this environment. Rows of the same name are compared, or of the same name but for its numbers: by
the first number that they print, and by the processor seconds of the process and its children until
the row is ready. Of several turns the best one counts. A ratio above 1 means that this tree is
faster (or errs less); a row whose work has changed is to be read by its number only.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).parent.parent
RUN: Final = """
import importlib, json, resource, sys
def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)
rows = importlib.import_module(f"benchmarks.{sys.argv[1]}").measure()
before = used()
for what, measured, *_ in rows:
    print("ROW", json.dumps([what, measured, used() - before]), flush=True)
    before = used()
"""
NUMBER: Final = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


class Measured(NamedTuple):
    """What a row prints, and the processor seconds that it took."""

    what: str
    text: str
    seconds: float

    @property
    def number(self) -> float | None:
        """The first number of the row."""
        found = NUMBER.search(self.text)
        return float(found[0].replace(",", "")) if found else None

    @property
    def is_rate(self) -> bool:
        """Whether more is better."""
        return "/s" in self.what + self.text


def main() -> None:
    """Print a table for each benchmark."""
    parser = argparse.ArgumentParser(description="Compare benchmarks with an older commit.")
    parser.add_argument("old", help="the older commit")
    parser.add_argument("names", nargs="+", help="the benchmarks")
    parser.add_argument("--times", type=int, default=3, help="how often each is run")
    asked = parser.parse_args()
    old = _checked_out(asked.old)
    for name in asked.names:
        turns: dict[Path, list[dict[str, Measured]]] = {old: [], ROOT: []}
        for _ in range(asked.times):
            for tree, found in turns.items():
                found.append(_run(tree, name))
        _print(name, *turns.values())


def _checked_out(commit: str) -> Path:
    tree = ROOT / "out" / "beside" / commit
    if not tree.exists():
        made = ["git", "worktree", "add", "--quiet", "--detach", str(tree), commit]
        subprocess.run(made, cwd=ROOT, check=True)
    return tree


def _run(tree: Path, name: str) -> dict[str, Measured]:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    made = [sys.executable, "-c", RUN, name]
    told = subprocess.run(made, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line[4:]) for line in told.stdout.splitlines() if line.startswith("ROW ")]
    if told.returncode:
        print(f"{name} of {tree} ended with status {told.returncode} after {len(rows)} rows")
    return {what: Measured(what, text, seconds) for what, text, seconds in rows}


def _print(name: str, old: list[dict[str, Measured]], new: list[dict[str, Measured]]) -> None:
    table = Table("what", "old", "new", "ratio", "of processor time", title=name)
    for what in {what: None for turn in new for what in turn}:
        mine, theirs = _named(what, new), _named(what, old) or _named_alike(what, old)
        if not theirs:
            table.add_row(what, "", mine[0].text, "", "")
            continue
        before, after = _best(theirs), _best(mine)
        ratio = ""
        if before.number and after.number:
            faster = after.number / before.number
            ratio = f"{faster if after.is_rate else 1 / faster:.2f}"
        spent = [min(row.seconds for row in rows) for rows in (theirs, mine)]
        used = f"{spent[0] / spent[1]:.2f}" if min(spent) >= 0.05 else ""
        table.add_row(what, before.text, after.text, ratio, used)
    Console(width=150).print(table)


def _named(what: str, turns: list[dict[str, Measured]]) -> list[Measured]:
    return [turn[what] for turn in turns if what in turn]


def _named_alike(what: str, turns: list[dict[str, Measured]]) -> list[Measured]:
    """Return rows whose names differ from this one in their numbers only."""
    words = NUMBER.split(what)
    return [row for turn in turns for row in turn.values() if NUMBER.split(row.what) == words]


def _best(rows: list[Measured]) -> Measured:
    best = max if rows[0].is_rate else min
    return best(rows, key=lambda row: row.number or 0.0)


if __name__ == "__main__":
    main()
