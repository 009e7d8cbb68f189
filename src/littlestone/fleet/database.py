"""A fleet in PostgreSQL: the queue, the states and the releases of all keys, split into shards.

The database is as secret as the data: it holds events that wait, and states. It never holds the
secret that the noise is stretched from; whoever has a copy of the database alone cannot compute
the noise of what was published. Only the table ``releases`` is for publication.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from littlestone import require
from littlestone.errors import HorizonExceededError, StoreError
from littlestone.fleet.blocks import Block, shard_of
from littlestone.fleet.high_water import UNUSED
from littlestone.fleet.keyed import key_name, label_of
from littlestone.fleet.page_tree import EMPTY_ROOT, Fetch
from littlestone.fleet.terms import Terms
from littlestone.fleet.user_shares import Counted, given_users, unread
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import Release

_TABLES: Final = """
CREATE SCHEMA littlestone;
CREATE TABLE littlestone.fleet (
    identity text NOT NULL, recipe text NOT NULL, options text NOT NULL, fingerprint bytea NOT NULL,
    shards integer NOT NULL, max_keys integer NOT NULL, users text,
    user_key bytea, user_root bytea,
    one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
CREATE TABLE littlestone.queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, shard integer NOT NULL,
    held boolean NOT NULL DEFAULT false, events bigint NOT NULL, block bytea NOT NULL
);
CREATE INDEX queue_of_shard ON littlestone.queue (shard, id);
CREATE TABLE littlestone.states (
    shard integer NOT NULL, key bytea NOT NULL, rounds bigint NOT NULL, state bytea NOT NULL,
    PRIMARY KEY (shard, key)
) WITH (fillfactor = 50);
ALTER TABLE littlestone.states ALTER COLUMN state SET STORAGE EXTERNAL;
CREATE TABLE littlestone.releases (
    shard integer NOT NULL, key bytea NOT NULL, number bigint NOT NULL, round bigint NOT NULL,
    body bytea NOT NULL, chain bytea NOT NULL, PRIMARY KEY (shard, key, number)
);
CREATE TABLE littlestone.shards (
    shard integer PRIMARY KEY, commits bigint NOT NULL, chain bytea NOT NULL, root bytea NOT NULL
);
"""
# Of trees: each shard has one, and all users have one together.
PAGES: Final = """
CREATE TABLE {schema}.pages (
    tree integer NOT NULL, path text COLLATE "C" NOT NULL, page bytea NOT NULL,
    PRIMARY KEY (tree, path)
) WITH (fillfactor = 50, toast_tuple_target = 4096);
ALTER TABLE {schema}.pages ALTER COLUMN page SET STORAGE EXTERNAL;
"""
_SCHEMA: Final = "littlestone"
_USERS: Final = -1
_TERMS: Final = ", ".join(field.name for field in fields(Terms))


def connect(dsn: str) -> "psycopg.Connection[Any]":
    """A connection on which each statement is a transaction unless one was begun."""
    try:
        connection = psycopg.connect(dsn, autocommit=True, application_name="littlestone fleet")
    except psycopg.OperationalError as problem:
        raise StoreError(f"the database cannot be reached: {_first_line(problem)}") from None
    except psycopg.Error:  # it quotes what it could not read, which may be the password
        raise StoreError("dsn must be as in postgresql://user@host/name, or key=value") from None
    return connection


def create(
    dsn: str,
    recipe: PrivateLearner,
    *,
    fingerprint: bytes,
    shards: int = 64,
    max_keys: int = 1,
    users: str | None = None,
    options: dict[str, Any] | None = None,
) -> Terms:
    """Make the tables of a new fleet; a database has room for one.

    With ``users``, the column that says whose an event is, ``max_contributions`` of each user are
    read under all keys together.
    """
    terms = Terms.planned(
        recipe,
        fingerprint=fingerprint,
        shards=shards,
        max_keys=max_keys,
        users=users,
        options=options,
    )
    counted = (None, None) if users is None else Counted.nobody()
    with connect(dsn) as connection, connection.transaction():
        try:
            connection.execute(_TABLES + PAGES.format(schema=_SCHEMA))
        except psycopg.errors.DuplicateSchema:
            raise StoreError(
                "there is a fleet in this database already; a database has room for one"
            ) from None
        connection.execute(
            f"INSERT INTO littlestone.fleet ({_TERMS}, user_key, user_root) "
            f"VALUES ({', '.join(['%s'] * (2 + len(fields(Terms))))})",
            (*(getattr(terms, field.name) for field in fields(Terms)), *counted),
        )
        connection.execute(
            "INSERT INTO littlestone.shards SELECT n, %s, %s, %s FROM generate_series(0, %s) AS n",
            (*UNUSED, EMPTY_ROOT, shards - 1),
        )
    return terms


def terms_of(connection: "psycopg.Connection[Any]") -> Terms:
    """What the fleet in this database was made with."""
    try:
        with connection.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(f"SELECT {_TERMS} FROM littlestone.fleet").fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    if row is None:
        raise StoreError("there is no fleet in this database; littlestone fleet init makes one")
    return Terms(**row)


def put(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateLearner,
    keys: Sequence[Any],
    seqs: Sequence[int] | NDArray[np.int64],
    xs: Any,
    ys: Any,
    users: Sequence[Any] | None = None,
) -> int:
    """Queue labelled events, all of them or none; how many.

    Each has the number that it has among the events of its key, from 1 on. One that was put before
    may be put again: it is dropped when its turn comes. Bad ones are refused by name. Where users
    are counted each has one, and whose share is used up has its further events queued unread.
    """
    with connection.transaction():
        return _queued(connection, recipe, keys, seqs, xs, ys, users)


def put_many(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateLearner,
    parts: Iterable[tuple[Sequence[Any], Sequence[int], Any, Any, Sequence[Any]]],
) -> int:
    """Queue the events of a whole source in one transaction, part by part."""
    with connection.transaction():
        return sum(_queued(connection, recipe, *part) for part in parts)


def _queued(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateLearner,
    keys: Sequence[Any],
    seqs: Sequence[int] | NDArray[np.int64],
    xs: Any,
    ys: Any,
    users: Sequence[Any] | None,
) -> int:
    # One put at a time: rows become visible in the order of their ids, so that of two events with
    # one number the same one is first for whoever computes the batch again.
    connection.execute("SELECT FROM littlestone.fleet FOR UPDATE")
    terms = terms_of(connection)
    block = _block(recipe, keys, seqs, xs, ys)
    known = given_users(terms.users, users, len(block.seqs))
    if known:
        most = recipe.max_contributions
        marked = unread_in(connection, _SCHEMA, "fleet", known, block.names(), most=most)
        block = block._replace(unread=marked)
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY littlestone.queue (shard, events, block) FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int4", "int8", "bytea"])
        for shard, part in block.by_shard(terms.shards):
            copy.write_row((shard, len(part.seqs), part.packed()))
    return len(seqs)


def unread_in(
    connection: "psycopg.Connection[Any]",
    schema: str,
    table: str,
    users: Sequence[Any],
    events: Iterable[tuple[bytes, int]],
    *,
    most: int,
) -> NDArray[np.uint8]:
    """Which events are beyond the share of their users, who are counted by it.

    Whoever calls has locked the one row of ``table``, which has the key and the root.
    """
    counted = Counted(*_one(connection, f"SELECT user_key, user_root FROM {schema}.{table}"))
    fetch = stored_pages(connection, schema, _USERS)
    marked, root, pages = unread(counted, fetch, users, events, most=most)
    if pages:
        store_pages(connection, schema, _USERS, pages)
        connection.execute(f"UPDATE {schema}.{table} SET user_root = %s", (root,))
    return marked


def _block(
    recipe: PrivateLearner,
    keys: Sequence[Any],
    seqs: Sequence[int] | NDArray[np.int64],
    xs: Any,
    ys: Any,
) -> Block:
    points, labels = recipe.concepts.domain.check_many(xs), require.labels(ys)
    numbers = np.asarray(seqs)
    if not len(keys) == len(numbers) == len(points) == len(labels):
        raise ValueError(
            f"keys, seqs, xs and ys must be equally long, got {len(keys)}, {len(numbers)}, "
            f"{len(points)}, {len(labels)}"
        )
    if numbers.size and (numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.min() < 1):
        raise ValueError(f"seqs must be whole numbers from 1 on, got {seqs!r}"[:200])
    if recipe.rounds is not None and numbers.size and numbers.max() > recipe.rounds:
        raise HorizonExceededError(rounds=recipe.rounds)
    places: dict[Any, int] = {}
    which = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    known: dict[bytes, int] = {}
    merged = [known.setdefault(label_of(key), len(known)) for key in places]
    if len(merged):
        which = np.array(merged, dtype=np.int64)[which]
    return Block(list(known), which, numbers.astype(np.int64), points, labels)


def releases(connection: "psycopg.Connection[Any]", key: Any = None) -> Iterator[Release]:
    """What was published: of all keys, key by key, or of one."""
    where, wanted = ("", []) if key is None else ("WHERE key = %s", [key_name(key).label])
    fields = ", ".join(Release._fields)
    query = f"SELECT {fields} FROM littlestone.releases {where} ORDER BY key, number"
    with connection.transaction(), connection.cursor("releases", binary=True) as cursor:
        yield from map(Release._make, cursor.execute(query, wanted))


def releases_of(
    connection: "psycopg.Connection[Any]", terms: Terms, key: Any, *, after: int, most: int
) -> list[Release]:
    """What was published of one key after a number, in order."""
    label = key_name(key).label
    rows = connection.execute(
        "SELECT number, round, body, chain FROM littlestone.releases "
        "WHERE shard = %s AND key = %s AND number > %s ORDER BY number LIMIT %s",
        (shard_of(label, terms.shards), label, after, most),
    )
    return [Release(*row) for row in rows]


def newest_of(connection: "psycopg.Connection[Any]", terms: Terms, key: Any) -> Release | None:
    """The release of one key that is in force; None if nobody has heard of the key."""
    label = key_name(key).label
    row = connection.execute(
        "SELECT number, round, body, chain FROM littlestone.releases "
        "WHERE shard = %s AND key = %s ORDER BY number DESC LIMIT 1",
        (shard_of(label, terms.shards), label),
    ).fetchone()
    return None if row is None else Release(*row)


def status(connection: "psycopg.Connection[Any]") -> dict[str, int]:
    """Where the fleet stands; every number is public, or says how far behind it is."""
    (keys, rounds) = _one(
        connection, "SELECT count(*), coalesce(sum(rounds), 0)::bigint FROM littlestone.states"
    )
    (published,) = _one(connection, "SELECT count(*) FROM littlestone.releases")
    (waiting, held) = _one(
        connection,
        "SELECT coalesce(sum(events) FILTER (WHERE NOT held), 0)::bigint, "
        "coalesce(sum(events) FILTER (WHERE held), 0)::bigint FROM littlestone.queue",
    )
    return {
        "keys": keys,
        "rounds": rounds,
        "releases": published,
        "waiting": waiting,
        "behind a gap": held,
    }


def _one(connection: "psycopg.Connection[Any]", query: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query).fetchone()
    assert row is not None
    return row


def stored_pages(connection: "psycopg.Connection[Any]", schema: str, tree: int) -> Fetch:
    """How the pages of a tree are read."""
    query = f"SELECT path, page FROM {schema}.pages WHERE tree = %s AND path = ANY(%s)"

    def fetch(paths: list[str]) -> dict[str, bytes]:
        with connection.cursor(binary=True) as cursor:
            return dict(cursor.execute(query, (tree, paths)).fetchall())

    return fetch


def store_pages(
    connection: "psycopg.Connection[Any]", schema: str, tree: int, pages: Mapping[str, bytes]
) -> None:
    """Write pages of a tree; whoever calls stores its root in the same transaction."""
    connection.execute(
        f"INSERT INTO {schema}.pages "
        "SELECT %s, * FROM unnest(%b::text[], %b::bytea[]) "
        "ON CONFLICT (tree, path) DO UPDATE SET page = excluded.page",
        (tree, list(pages), list(pages.values())),
    )


@contextmanager
def shard_lock(connection: "psycopg.Connection[Any]", identity: str, shard: int) -> Iterator[bool]:
    """Whether nobody else has the shard; who has it keeps it until it is done, or gone."""
    name = int(identity[:7], 16), shard
    (taken,) = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", name).fetchone() or (
        False,
    )
    try:
        yield bool(taken)
    finally:
        if taken and not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", name)


def _first_line(problem: Exception) -> str:
    """Without the address and its password."""
    return str(problem).strip().split("\n")[0].rpartition("FATAL:")[2].strip() or "no answer"
