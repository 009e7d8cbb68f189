"""What it costs to count users in a fleet: processor time beside that without, and memory.

The same events are put and learned twice, by a fleet that counts nobody and by one that counts
users over all keys, each on a server of its own, in turns; the least of each counts. Every user has
five events on average, nearly all of which are read. ``FLEET_USERS=100,000`` takes more keys.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.fleet import BATCH, RECIPE, Row, _Watch, _work
from tests.server import MISSING, Server, binaries, running

from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.per_key import PerKey

COUNTING = replace(RECIPE, max_contributions=10)
EACH = 10
TIMES = 2


def measure() -> Iterator[Row]:
    yield from _in_memory()
    if binaries() is None:
        yield "PostgreSQL", MISSING, "", None
        return
    keys = int(os.environ.get("FLEET_USERS", "20,000").replace(",", ""))
    for batch in (BATCH, BATCH // 10):
        seconds: dict[str | None, list[float]] = {None: [], "user": []}
        for _ in range(TIMES):
            for users, found in seconds.items():
                with TemporaryDirectory(prefix="fleet") as folder:
                    os.chmod(folder, 0o755)
                    with running(Path(folder)) as server:
                        spent, size = _one(server, keys, users, batch)
                found.append(spent)
        plain, counted = (1e6 * min(found) / (keys * EACH) for found in seconds.values())
        what = f"{keys:,} keys × {EACH} in batches of {batch:,}"
        yield f"{what}: put and learned, nobody counted", f"{plain:.1f} µs", "", None
        yield (
            f"{what}: {keys * 2:,} users counted",
            f"{counted:.1f} µs, {counted / plain:.2f} ×",
            "<= 1.3 ×",
            counted <= 1.3 * plain,
        )
    yield "of each user in the database", f"{size / (keys * 2):.0f} bytes of pages", "", None


def _one(server: Server, keys: int, users: str | None, batch: int) -> tuple[float, int]:
    """Seconds of the processor for all events, and the size of the users' pages."""
    recipe = RECIPE if users is None else COUNTING
    terms = database.create(server.dsn, recipe, fingerprint=b"", shards=64, users=users)
    mark = server.folder / "mark"
    HighWater(mark, terms.identity, create=True).close()
    generator = np.random.default_rng(1)
    who = generator.permutation(np.repeat(np.arange(keys), EACH))
    seqs = np.empty(len(who), dtype=np.int64)
    seqs[np.argsort(who, kind="stable")] = np.tile(np.arange(1, EACH + 1), keys)
    xs = generator.integers(1024, size=len(who))
    ys = (xs >= 300).astype(np.uint8)
    names = [f"key {key}" for key in who.tolist()]
    whose = [f"user {user}" for user in generator.integers(2 * keys, size=len(who)).tolist()]
    with _Watch(server) as watch:
        with database.connect(server.dsn) as connection:
            for start in range(0, len(who), batch):
                part = slice(start, start + batch)
                given = None if users is None else whose[part]
                database.put(connection, recipe, names[part], seqs[part], xs[part], ys[part], given)
        _work(server, mark, recipe)
    with database.connect(server.dsn) as connection:
        assert database.status(connection)["rounds"] == len(who)
        (size,) = connection.execute(
            "SELECT coalesce(sum(length(page) + length(path) + 32), 0) FROM littlestone.pages "
            "WHERE tree = -1"
        ).fetchone() or (0,)
    return watch.processor, int(size)


def _in_memory() -> Iterator[Row]:
    """``PerKey``: rounds of a thousand keys; ``benchmarks serve`` prints the memory of a user."""
    plain, counted = PerKey(learner=RECIPE), PerKey(learner=COUNTING, users="user")
    rounds = [(n % 1000, n % 1024, int(n % 1024 >= 300)) for n in range(30_000)]
    users = [f"user {n // 5}" for n in range(len(rounds))]
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(15):
        for count, found in times.items():
            run = (counted if count else plain).start()
            begun = time.process_time()
            for (key, x, y), user in zip(rounds, users, strict=True):
                if count:
                    run.observe(key, x, y, user)
                else:
                    run.observe(key, x, y)
            found.append((time.process_time() - begun) / len(rounds))
    without, with_users = (1e6 * min(found) for found in times.values())
    yield "PerKey, a round, nobody counted", f"{without:.1f} µs", "", None
    yield (
        "PerKey, a round, users counted",
        f"{with_users:.1f} µs, {with_users / without:.2f} ×",
        "<= 1.3 ×",
        with_users <= 1.3 * without,
    )
