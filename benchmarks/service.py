"""Durable and in-memory rounds a second on a one-feature stream, beside River and plain fsync."""

import os
import tempfile
import time
from collections.abc import Hashable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from river import linear_model
from tests.server import binaries, running

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import secure
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event

Row = tuple[str, str, str, bool | None]

RECIPE = PrivateMajority(concepts=Thresholds(1000), rounds=10_000_000, epsilon=1.0)


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield _syncs(Path(folder))
        yield _durable(Path(folder) / "one.db", group=1, events=8_000, target=5_000)
        yield _durable(Path(folder) / "many.db", group=2_000, events=200_000, target=80_000)
        yield _opening(Path(folder) / "large.db", rounds=1_000_000, group=70)
    if find_spec("psycopg") is not None and binaries() is not None:
        with tempfile.TemporaryDirectory(prefix="runs") as home:
            os.chmod(home, 0o755)  # a server refuses to run as root
            with running(Path(home)) as server:
                yield _on_a_server(server.dsn, Path(home), group=1, events=2_000)
                yield _on_a_server(server.dsn, Path(home), group=2_000, events=100_000)
    river = _river()
    yield "River LogisticRegression, in memory", f"{river:,.0f} /s", "", None
    yield _in_memory()


def _stream(count: int) -> list[Event]:
    points = np.random.default_rng(1).integers(1000, size=count).tolist()
    return [Event(f"{n}", x, int(x >= 337)) for n, x in enumerate(points)]


def _syncs(folder: Path) -> Row:
    file = os.open(folder / "sync", os.O_CREAT | os.O_RDWR)
    started = time.perf_counter()
    for n in range(200):
        os.pwrite(file, b"x" * 4096, 4096 * n)
        os.fdatasync(file)
    rate = 200 / (time.perf_counter() - started)
    os.close(file)
    return "bare fdatasync of this disk, for comparison", f"{rate:,.0f} /s", "", None


def _rate(store: Any, *, group: int, events: int) -> float:
    stream = _stream(events)
    run = DurableRun.start(RECIPE, store)
    started = time.perf_counter()
    for first in range(0, events, group):
        run.take(stream[first : first + group])
    rate = events / (time.perf_counter() - started)
    run.close()
    return rate


def _on_a_server(dsn: str, folder: Path, *, group: int, events: int) -> Row:
    from littlestone.runs.journal.postgresql import PostgresPlace  # noqa: PLC0415 (optional)

    rate = _rate(PostgresPlace(dsn, folder / f"{group}.secret"), group=group, events=events)
    return f"the same in PostgreSQL, in groups of {group}", f"{rate:,.0f} /s", "", None


def _durable(path: Path, *, group: int, events: int, target: int) -> Row:
    rate = _rate(path, group=group, events=events)
    return (
        f"durable rounds in groups of {group}",
        f"{rate:,.0f} /s",
        f">= {target:,} /s",
        rate >= target,
    )


def _opening(path: Path, *, rounds: int, group: int) -> Row:
    """Open a store whose process went away, with as much to replay as there may be."""
    if (child := os.fork()) == 0:
        run = DurableRun.start(RECIPE, path)
        for first in range(0, rounds, group):
            points = range(first, min(first + group, rounds))
            run.take([Event(f"{n}", n % 1000, int(n % 1000 >= 337)) for n in points])
        os._exit(0)  # nothing is closed
    os.waitpid(child, 0)
    started, computed = time.perf_counter(), time.process_time()
    run = DurableRun.resume(RECIPE, path)
    seconds, computed = time.perf_counter() - started, time.process_time() - computed
    assert run.rounds == rounds
    run.close()
    what = f"opening a store of {rounds:,} rounds after a kill"
    return what, f"{seconds:.2f} s, {computed:.2f} of it computing", "<= 1 s", seconds <= 1.0


def _in_memory() -> Row:
    stream = [(event.x, event.y) for event in _stream(300_000)]
    run = RECIPE.start(rng=secure())
    started = time.perf_counter()
    for x, y in stream:
        run.hypothesis(x)
        run.observe(x, y)
    rate = len(stream) / (time.perf_counter() - started)
    return (
        "PrivateMajority in memory, predict and learn",
        f"{rate:,.0f} /s",
        ">= 300,000 /s",
        (rate >= 300_000),
    )


def _river() -> float:
    stream: list[tuple[dict[Hashable, Any], bool]]
    stream = [({"x": event.x / 1000}, bool(event.y)) for event in _stream(30_000)]
    model = linear_model.LogisticRegression()
    started = time.perf_counter()
    for x, y in stream:
        model.predict_one(x)
        model.learn_one(x, y)
    return len(stream) / (time.perf_counter() - started)
