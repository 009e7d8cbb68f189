"""Compute the tables of docs/fleet.md from what was measured: docs/fleet.json.

    python -m docs.tools.fleet_plan

``python -m benchmarks fleet`` measures and writes that file. Prices are inputs of the plan, stated
on the page; what is simulated is drawn from a fixed seed, so that a test can compare the page.
"""

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
from docs.tools.written import markdown_table, with_tables

DOCS = Path(__file__).parents[1]
KEPT = DOCS / "fleet.json"
PAGE = DOCS / "fleet.md"

CORE_HOUR: Final = 0.04
TERABYTE_MONTH: Final = 80.0
"""In dollars; round list prices of rented machines and disks, to be replaced by one's own."""
BUSY: Final = 0.5
"""Of the cores, so that a failed machine's share can be caught up with."""
COPIES: Final = 2
"""Of the data: a standby holds another one."""
SLACK: Final = 2.0
"""Room for the log, dead rows and the queue."""
HOURS: Final = 730

PLANS: Final = ((10**6, 10**3), (10**8, 10**5), (10**9, 10**6))
"""Keys, and events a second."""
SHARDS: Final = (64, 1024, 4096)
SKEWS: Final = (0.0, 0.8, 1.1)
SIMULATED_KEYS: Final = 10**6


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Each table by the name of its place in the page."""
    return {
        "fleet-measured": _measured(kept),
        "fleet-plan": _plan(kept),
        "fleet-skew": _skew(kept),
        "fleet-failure": _failure(),
    }


def _measured(kept: dict[str, Any]) -> str:
    rows = []
    for name, numbers in kept.items():
        rows.append(
            (
                f"{name} × {numbers['events of each']:,}",
                f"{2e6 / numbers['learning, µs an event']:,.0f}",
                f"{numbers['learning, µs an event']:,.1f}",
                f"{numbers['putting, µs an event']:,.1f}",
                f"{numbers['bytes of a key']:,}",
            )
        )
    head = ("keys × events", "events/s, two cores", "µs an event", "to put it, µs", "bytes a key")
    return markdown_table(head, rows)


def _one_visit(kept: dict[str, Any]) -> float:
    """Seconds of a core for an event whose key is on disk: put, read, learn, write."""
    seen: float = kept["100,000"]["one more event, µs"]
    return seen * 1e-6


def _plan(kept: dict[str, Any]) -> str:
    rows = []
    for keys, rate in PLANS:
        cores = math.ceil(rate * _one_visit(kept) / BUSY)
        disk = keys * kept["100,000"]["bytes of a key"] * COPIES * SLACK / 1e12
        cost = cores * CORE_HOUR * HOURS + disk * TERABYTE_MONTH
        rows.append(
            (f"{keys:,}", f"{rate:,}", f"{cores:,}", f"{disk:,.3g} TB", f"{cost:,.0f} $ a month")
        )
    return markdown_table(("keys", "events/s", "cores", "disk", "cost"), rows)


def _skew(kept: dict[str, Any]) -> str:
    """How uneven shards are when a few keys have most of the events."""
    step = kept["1,000"]["learning, µs an event"] * 1e-6
    rows = []
    for skew in SKEWS:
        weights = np.arange(1, SIMULATED_KEYS + 1, dtype=np.float64) ** -skew
        weights /= weights.sum()
        worst = [f"{_largest_share(weights, shards) * shards:.2f}" for shards in SHARDS]
        hottest = float(weights[0])
        rows.append((f"{skew:g}", f"{hottest:.2g}", *worst, f"{1 / (step * hottest):,.0f}"))
    shards = (f"{shards:,} shards" for shards in SHARDS)
    return markdown_table(("Zipf", "hottest key", *shards, "events/s at most"), rows)


def _largest_share(weights: Any, shards: int) -> float:
    """Of the events, in the busiest shard: keys fall into shards at random, the mean of 20."""
    generator = np.random.default_rng(14)
    return float(
        np.mean(
            [
                np.bincount(generator.integers(shards, size=len(weights)), weights, shards).max()
                for _ in range(20)
            ]
        )
    )


def _failure() -> str:
    """A machine with one share in so many dies: how late the events of its shards become."""
    rows = []
    for machines in (4, 16, 64):
        for noticed in (1, 60):
            late, caught_up = _after_a_death(machines, noticed)
            rows.append((str(machines), f"{noticed} s", f"{late:,.0f} s", f"{caught_up:,.0f} s"))
    head = ("machines", "until the locks are free", "latest event", "caught up after")
    return markdown_table(head, rows)


def _after_a_death(machines: int, noticed: int) -> tuple[float, float]:
    """Second by second: the dead one's shards wait, then the others share them."""
    arriving = BUSY * machines  # in units of what one machine can do in a second
    waiting, late, second = 0.0, 0.0, 0
    while True:
        second += 1
        share = arriving / machines
        if second <= noticed:
            waiting += share
        else:
            waiting += share - ((machines - 1) - (arriving - share))
        late = max(late, waiting / share)
        if waiting <= 0:
            return late, second


def main() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_tables(text, tables(kept)), encoding="utf-8")


if __name__ == "__main__":
    main()
