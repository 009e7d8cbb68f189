"""57 real tables that no default was set by: the default learner beside DP-FTRL in hindsight.

Twenty of them were held out until the default was settled. Needs ``pip install
littlestone[tables]``; what was measured is kept in docs/practice.json.
"""

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from benchmarks.practice import kept as keeping
from benchmarks.practice import peers
from benchmarks.practice.comparing import (
    DELTA,
    EPSILONS,
    TOEPLITZ,
    Row,
    compared,
    compared_rows,
    constant,
    default,
    measured,
)
from benchmarks.practice.table_streams import HELD_OUT, LOOKED_AT, Task

RUNS = 20  # of ours, and of each of the peer's 28 settings
GROUPS: Mapping[str, Mapping[str, Task]] = {"looked at": LOOKED_AT, "held out": HELD_OUT}


def measure() -> Iterator[Row]:
    kept = keeping.read() | {"tables": {}}
    for group, tasks in GROUPS.items():
        entries: dict[str, Any] = {}
        for name, task in tasks.items():
            entries[name] = yield from _one(name, task)
        found = {f"{epsilon:g}": compared(list(entries.values()), epsilon) for epsilon in EPSILONS}
        for epsilon in EPSILONS:
            for what, told, target, reached in compared_rows(found[f"{epsilon:g}"], epsilon):
                yield f"{group}, {what}", told, target, reached
        kept["tables"][group] = {"streams": _short(entries), "compared": found}
        keeping.write(kept)


def _one(name: str, task: Task) -> Generator[Row, None, dict[str, Any]]:
    stream = task.stream(name)
    entry: dict[str, Any] = {"rounds": len(stream.labels), "constant": constant(stream)}
    entry["fields"] = len(stream.declared)
    for epsilon in EPSILONS:
        ours = measured(stream, default(stream, epsilon), RUNS)
        peer = peers.private_linear(stream, TOEPLITZ, epsilon=epsilon, delta=DELTA, count=RUNS)
        entry |= {f"ours {epsilon:g}": ours, f"{TOEPLITZ} {epsilon:g}": peer}
        told = f"{ours['error']:.4f}, {TOEPLITZ} {peer['error']:.4f}"
        yield f"{name}, ε = {epsilon:g}", told, "", None
    return entry


def _short(entries: Mapping[str, Any]) -> dict[str, Any]:
    """What the page quotes, without curves and grids."""
    return {
        name: {
            key: value["error"] if isinstance(value, dict) else value
            for key, value in entry.items()
        }
        for name, entry in entries.items()
    }
