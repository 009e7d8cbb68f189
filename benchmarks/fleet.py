"""A fleet in PostgreSQL, queue to release: events a second on two cores, and bytes for each key.

A server of its own, which syncs as in earnest, and two workers. Rates are per second of two busy
cores: events divided by half of the processor time of workers and server together, which a busy
machine does not change much; the rate by the clock stands beside it. Events of all keys come mixed
at random, in batches of 100,000. ``FLEET_KEYS=10⁶`` in the environment measures that size alone.
"""

import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import numpy as np
from tests.server import MISSING, Server, binaries, running

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.worker import Worker

Row = tuple[str, str, str, bool | None]

RECIPE = PrivateMajority(concepts=Thresholds(1024), rounds=10_000, epsilon=1.0)
SECRET = bytes(range(32))
BATCH = 100_000
WORKERS = 2
_VISITED = 100_000
KEPT = Path(__file__).parents[1] / "docs" / "fleet.json"
"""What the page's plan is computed from (python -m docs.tools.fleet_plan)."""
SIZES = {
    "1,000": (1_000, 1_000, 300_000),
    "100,000": (100_000, 10, 40_000),
    "10⁶": (10**6, 2, 5_000),
}
"""Keys, events of each, and the events a second that were asked for."""


def measure() -> Iterator[Row]:
    if binaries() is None:
        yield "PostgreSQL", MISSING, "", None
        return
    for name in os.environ.get("FLEET_KEYS", " ".join(SIZES)).split():
        keys, each, wanted = SIZES[name]
        numbers: dict[str, float] = {}
        with TemporaryDirectory(prefix="fleet") as folder:
            os.chmod(folder, 0o755)
            with running(Path(folder)) as server:
                yield from _one(name, server, keys, each, wanted, numbers)
        kept = json.loads(KEPT.read_text(encoding="utf-8")) | {name: numbers}
        text = json.dumps(
            {name: kept[name] for name in SIZES if name in kept}, indent=1, ensure_ascii=False
        )
        KEPT.write_text(text + "\n", encoding="utf-8")


def _one(
    name: str, server: Server, keys: int, each: int, wanted: int, kept: dict[str, float]
) -> Iterator[Row]:
    terms = database.create(server.dsn, RECIPE, fingerprint=b"", shards=64)
    mark = server.folder / "mark"
    HighWater(mark, terms.identity, create=True).close()
    events = keys * each
    with _Watch(server) as putting:
        _put(server, keys, each)
    with _Watch(server) as working:
        _work(server, mark)
    with database.connect(server.dsn) as connection:
        assert database.status(connection)["rounds"] == events
        (size,) = connection.execute(
            "SELECT pg_total_relation_size('littlestone.states')"
            " + pg_total_relation_size('littlestone.releases')"
            " + pg_total_relation_size('littlestone.pages')"
        ).fetchone() or (0,)
    rate = 2 * events / working.processor
    yield (
        f"{name} keys, {each} events each: learned",
        f"{rate:,.0f}/s ({events / working.clock:,.0f} by the clock)",
        f">= {wanted:,}/s",
        rate >= wanted,
    )
    yield (
        f"{name} keys: put",
        f"{2 * events / putting.processor:,.0f}/s ({events / putting.clock:,.0f} by the clock)",
        "",
        None,
    )
    yield f"{name} keys: bytes on disk for each key", f"{size / keys:,.0f}", "", None
    kept |= {
        "keys": keys,
        "events of each": each,
        "learning, µs an event": round(1e6 * working.processor / events, 2),
        "putting, µs an event": round(1e6 * putting.processor / events, 2),
        "bytes of a key": round(size / keys),
    }
    if keys == _VISITED:
        with _Watch(server) as again:
            _put(server, keys, 1, after=each)
            _work(server, mark)
        kept["one more event, µs"] = round(1e6 * again.processor / keys, 2)
        yield (
            f"{name} keys: one more event of each, put and learned",
            f"{2 * keys / again.processor:,.0f}/s ({keys / again.clock:,.0f} by the clock)",
            "",
            None,
        )


class _Watch:
    """Seconds by the clock, and of the processor: this process, its children, the server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> "_Watch":
        self._begun, self._used = time.monotonic(), self._processor()
        return self

    def __exit__(self, *problem: object) -> None:
        self.clock = time.monotonic() - self._begun
        self.processor = self._processor() - self._used

    def _processor(self) -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(r.ru_utime + r.ru_stime for r in used) + self._server.cpu_seconds()


def _put(server: Server, keys: int, each: int, *, after: int = 0) -> None:
    generator = np.random.default_rng(1)
    who = generator.permutation(np.repeat(np.arange(keys), each))
    seqs = np.empty(len(who), dtype=np.int64)
    seqs[np.argsort(who, kind="stable")] = np.tile(np.arange(after + 1, after + each + 1), keys)
    xs = generator.integers(1024, size=len(who))
    ys = (xs >= 300).astype(np.uint8)
    names = [f"key {key}" for key in range(keys)]
    with database.connect(server.dsn) as connection:
        for start in range(0, len(who), BATCH):
            part = slice(start, start + BATCH)
            named = [names[key] for key in who[part].tolist()]
            database.put(connection, RECIPE, named, seqs[part], xs[part], ys[part])


def _work(server: Server, mark: Path, recipe: PrivateMajority = RECIPE) -> None:
    for child in [os.fork() or _worker(server, mark, recipe) for _ in range(WORKERS)]:
        assert os.waitpid(child, 0)[1] == 0


def _worker(server: Server, mark: Path, recipe: PrivateMajority) -> NoReturn:
    try:
        with database.connect(server.dsn) as connection:
            terms = database.terms_of(connection)
            height = HighWater(mark, terms.identity, create=False)
            worker = Worker(connection, terms, recipe, SECRET, height)
            while worker.work() or database.status(connection)["waiting"]:
                pass
            height.close()
        os._exit(0)
    finally:
        os._exit(1)
