"""Fleets on the tests' server, their events, and what one process makes of the same."""

import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.errors import LittlestoneError
from littlestone.runs.files import create_secret, fingerprint
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.keyed import advance, key_name
from littlestone.runs.fleet.worker import Worker
from tests.fleet_events import RECIPE, Events
from tests.server import MISSING, Server, binaries

NEEDS_A_SERVER = [pytest.mark.fleet, pytest.mark.skipif(binaries() is None, reason=MISSING)]
KEYS, EACH, SHARDS = 40, 100, 8


def emptied(server: Server) -> None:
    """Without any fleet or blocklist."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone, littlestone_blocklist CASCADE")


@contextmanager
def without_writes(server: Server) -> Iterator[None]:
    """New sessions only read, as on a standby or where a full disk stopped all writes."""
    database = "ALTER DATABASE postgres"
    others = "FROM pg_stat_activity WHERE datname = 'postgres' AND pid <> pg_backend_pid()"
    writing = f"{server.dsn} options='-c default_transaction_read_only=off'"
    with psycopg.connect(writing, autocommit=True) as connection:
        connection.execute(f"{database} SET default_transaction_read_only = on")
        connection.execute(f"SELECT pg_terminate_backend(pid) {others}")
        try:
            yield
        finally:
            connection.execute(f"{database} RESET default_transaction_read_only")


@contextmanager
def dropping(server: Server, table: str) -> Iterator[None]:
    """A trigger on the table drops each row that is written, and says nothing."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION public.dropping() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN NULL; END $$"
        )
        connection.execute(
            f"CREATE TRIGGER dropping BEFORE INSERT OR UPDATE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION public.dropping()"
        )
        try:
            yield
        finally:
            connection.execute(f"DROP TRIGGER dropping ON {table}")


class Fleet:
    """A fresh fleet in the server's database."""

    def __init__(
        self, server: Server, folder: Path, recipe: Any = RECIPE, users: str | None = None
    ) -> None:
        self.server, self.recipe = server, recipe
        emptied(server)
        self.secret = create_secret(folder / "secret")
        self.mark = folder / "secret.mark"
        self.terms = database.create(
            server.dsn, recipe, fingerprint=fingerprint(self.secret), shards=SHARDS, users=users
        )
        HighWater(self.mark, self.terms.identity, create=True).close()
        self.refused: dict[str, str] = {}
        """By the last worker."""

    def put(
        self,
        keys: list[Any],
        seqs: list[int],
        xs: list[Any],
        ys: list[int],
        users: list[Any] | None = None,
    ) -> None:
        with database.connect(self.server.dsn) as connection:
            database.put(connection, self.recipe, keys, seqs, xs, ys, users)

    def put_all(self, events: Events, *, size: int) -> None:
        for batch in batches(events, size):
            self.put(*batch)

    def worker(self, connection: Any, **hooks: Any) -> Worker:
        mark = HighWater(self.mark, self.terms.identity, create=False)
        return Worker(connection, self.terms, self.recipe, self.secret, mark, **hooks)

    def work(self, **hooks: Any) -> int:
        """Until every shard is done."""
        taken = 0
        with database.connect(self.server.dsn) as connection:
            mine = self.worker(connection, **hooks)
            while some := mine.work():
                taken += some
            self.refused = mine.refused
            mine.mark.close()
        return taken

    def status(self) -> dict[str, int]:
        with database.connect(self.server.dsn) as connection:
            return database.status(connection)

    def content(self) -> tuple[dict[bytes, bytes], dict[tuple[bytes, int], tuple[bytes, bytes]]]:
        """All states, and all releases."""
        with database.connect(self.server.dsn) as connection:
            states = connection.execute("SELECT key, state FROM littlestone.states").fetchall()
            rows = connection.execute(
                "SELECT key, number, body, chain FROM littlestone.releases"
            ).fetchall()
        return dict(states), {(key, number): (body, chain) for key, number, body, chain in rows}


def batches(events: Events, size: int) -> list[Any]:
    """Round by round through all keys, ``size`` events at a time."""
    rows = [(key, at + 1, *events[key][at]) for at in range(EACH) for key in events]
    return [
        [list(column) for column in zip(*rows[start : start + size], strict=True)]
        for start in range(0, len(rows), size)
    ]


def uninterrupted(
    fleet: Fleet, events: Events, over_limit: Collection[tuple[str, int]] = ()
) -> tuple[Any, Any]:
    """What one process computes from all events of each key at once."""
    states, published = dict[bytes, bytes](), dict[Any, Any]()
    for key, examples in events.items():
        xs, ys = map(list, zip(*examples, strict=True))
        label = key_name(key).label
        states[label], releases = advance(
            fleet.recipe,
            fleet.secret,
            key,
            None,
            range(1, len(xs) + 1),
            xs,
            ys,
            over_limit={number for name, number in over_limit if name == key},
        )
        published |= {(label, r.number): (r.body, r.chain) for r in releases}
    return states, published


def with_users(batch: list[Any]) -> list[Any]:
    """The same events, each of somebody: heavy users have events under most keys."""
    keys, seqs, *_ = batch
    return [*batch, [user_of(key, seq) for key, seq in zip(keys, seqs, strict=True)]]


def user_of(key: str, number: int) -> str:
    return f"user {(zlib.crc32(f'{key} {number}'.encode()) % 1000) ** 2 // 2000}"


def beyond_their_share(parts: list[Any], most: int) -> set[tuple[str, int]]:
    """The events that are not read, by the rule itself: the first ``most`` of each user are."""
    had, seen, over_limit = Counter[str](), set[tuple[str, int]](), set[tuple[str, int]]()
    for keys, seqs, _, _, users in parts:
        for key, seq, user in zip(keys, seqs, users, strict=True):
            if (key, seq) in seen:
                continue
            seen.add((key, seq))
            if had[user] >= most:
                over_limit.add((key, seq))
            had[user] += 1
    return over_limit


def littlestone(*arguments: str, expect: int = 0) -> str:
    """What a command prints, or how it refuses."""
    result = CliRunner().invoke(app, ["fleet", *arguments])
    refused = isinstance(result.exception, ValueError | LittlestoneError)
    assert (2 if refused else result.exit_code) == expect, result.output + repr(result.exception)
    return str(result.exception) if refused else result.output
