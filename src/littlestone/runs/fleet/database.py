"""Store a fleet in PostgreSQL: queue, states and releases of all keys, split into shards.

The database is as secret as the data: it holds events that wait, and states. It never holds the
secret that the noise is derived from, so a copy of the database alone does not reveal the noise of
what was published. Only the table ``releases`` is for publication.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.protocols import Domain
from littlestone.errors import HorizonExceededError, SnapshotError, StoreError
from littlestone.learners import codec
from littlestone.learners.run import PrivateLearner
from littlestone.runs.fleet.commits import EMPTY_ROOT, UNUSED
from littlestone.runs.fleet.keyed import key_name, label_of, shard_of
from littlestone.runs.fleet.over_limit import Counted, events_over_limit, given_users
from littlestone.runs.fleet.terms import Terms
from littlestone.runs.journal.postgresql import connect as connect
from littlestone.runs.journal.postgresql import one, rows_dropped
from littlestone.runs.journal.records import Release

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
ALTER TABLE littlestone.queue ALTER COLUMN block SET STORAGE EXTERNAL;
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
# The pages of trees: each shard has one tree, and all users share one.
PAGES: Final = """
CREATE TABLE {schema}.pages (
    tree integer NOT NULL, path text COLLATE "C" NOT NULL, page bytea NOT NULL,
    PRIMARY KEY (tree, path)
) WITH (fillfactor = 50, toast_tuple_target = 4096);
ALTER TABLE {schema}.pages ALTER COLUMN page SET STORAGE EXTERNAL;
"""
_STATUS: Final = """
SELECT * FROM (SELECT count(*) AS keys, coalesce(sum(rounds), 0)::bigint AS rounds
               FROM littlestone.states) AS states,
    (SELECT count(*) AS releases FROM littlestone.releases) AS releases,
    (SELECT coalesce(sum(events) FILTER (WHERE NOT held), 0)::bigint AS waiting,
            coalesce(sum(events) FILTER (WHERE held), 0)::bigint AS "behind a gap"
     FROM littlestone.queue) AS queue
"""
_SCHEMA: Final = "littlestone"
_USERS: Final = -1
_LAST: Final = 2**62  # the largest number of an event
_BOOLEANS: Final = {bool, np.bool_}
_TERMS: Final = ", ".join(field.name for field in fields(Terms))
_MOST_REMEMBERED: Final = 16
# What each transaction reads or is given again is checked once.
_require_intact: Final = lru_cache(maxsize=_MOST_REMEMBERED)(Terms.require_intact)
_require_recipe: Final = lru_cache(maxsize=_MOST_REMEMBERED)(Terms.require_recipe)
_label_count: Final[Callable[[PrivateLearner], int]] = lru_cache(maxsize=_MOST_REMEMBERED)(
    attrgetter("label_count")
)


class Block(NamedTuple):
    """Events of several keys: the key, number, point and label of each.

    ``over_limit`` is 1 where the example is not read. In the queue the events of a key are together
    (``by_shard``).
    """

    keys: list[bytes]
    which: NDArray[np.int64]
    seqs: NDArray[np.int64]
    points: Any
    labels: NDArray[np.uint8]
    over_limit: NDArray[np.uint8]

    def packed(self) -> bytes:
        """Pack the block: keys as JSON, integers in the narrowest type that holds them all."""
        columns: list[NDArray[Any]] = [self.which, self.seqs, self.labels, self.over_limit]
        shape, others = None, b""
        if isinstance(self.points, np.ndarray) and np.can_cast(self.points.dtype, np.int64):
            shape = self.points.shape[1:]
            columns.append(self.points)
        else:
            others = codec.dumps(self.points)
        rows: NDArray[np.int64] = np.column_stack(columns)
        lowest = min(int(rows.min(initial=0)), -1 - int(rows.max(initial=0)))
        rows = rows.astype(np.min_scalar_type(lowest).newbyteorder("<"))
        head = [key.hex() for key in self.keys], shape, *rows.shape, rows.itemsize
        return b"".join((json.dumps(head).encode(), b"\n", rows.tobytes(), others))

    @classmethod
    def from_bytes(cls, data: bytes, domain: Domain, label_count: int = 2) -> "Block":
        """Unpack a block; check its examples again, because a database may change them."""
        try:
            head, _, body = data.partition(b"\n")
            keys, shape, count, width, size = json.loads(head)
            end = count * width * size
            rows = np.frombuffer(body[:end], f"<i{size}").reshape(count, width).astype(np.int64)
            which, seqs, ys, over_limit = rows.T[:4]
            xs = codec.loads(body[end:]) if shape is None else rows[:, 4:].reshape(count, *shape)
            points, labels = domain.check_many(xs), require.labels(ys, label_count)
            grouped = (np.diff(which, prepend=0) >= 0).all() and (which[-1:] < len(keys)).all()
            if len(points) != count or not grouped:
                raise ValueError("its columns do not fit together")
            known = list(map(bytes.fromhex, keys))
            return cls(known, which, seqs, points, labels, require.labels(over_limit))
        except Exception as problem:
            raise SnapshotError(f"a block of the queue is damaged: {problem}") from problem

    def by_shard(self, shards: int) -> Iterator[tuple[int, "Block"]]:
        """Yield the events of each shard, key by key; the order within a key stays."""
        home = np.array([shard_of(key, shards) for key in self.keys], dtype=np.int64)[self.which]
        order = np.argsort(home * len(self.keys) + self.which, kind="stable")
        starts = np.flatnonzero(np.diff(home[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            if len(places):
                yield int(home[places[0]]), self._at(places)

    def names(self) -> Iterator[tuple[bytes, int]]:
        """Yield the name of each event within a fleet: its key and its number."""
        keys = map(self.keys.__getitem__, self.which.tolist())
        return zip(keys, self.seqs.tolist(), strict=True)

    def only(self, wanted: dict[bytes, set[int]]) -> "Block":
        """Return the events of these keys that have these numbers."""
        if not wanted:
            return self._at(np.empty(0, dtype=np.int64))
        pairs = zip(self.which.tolist(), self.seqs.tolist(), strict=True)
        none: set[int] = set()
        places = [
            place
            for place, (which, seq) in enumerate(pairs)
            if seq in wanted.get(self.keys[which], none)
        ]
        return self._at(np.array(places, dtype=np.int64))

    def _at(self, places: NDArray[np.int64]) -> "Block":
        used, which = np.unique(self.which[places], return_inverse=True)
        keys = [self.keys[at] for at in used.tolist()]
        array = isinstance(self.points, np.ndarray)
        points = self.points[places] if array else [self.points[at] for at in places.tolist()]
        columns = self.seqs[places], points, self.labels[places], self.over_limit[places]
        return Block(keys, which, *columns)


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
    """Create the tables of a fleet; a database has room for one.

    Args:
        dsn: The database.
        recipe: The learner of each key.
        fingerprint: The fingerprint of the secret.
        shards: How many parts workers can play at the same time.
        max_keys: The most keys under which one person appears.
        users: The column of the user of an event; at most ``max_contributions`` of each user are
            read under all keys together.
        options: The request of the command, stored for the owner.
    """
    terms = Terms.planned(
        recipe,
        fingerprint=fingerprint,
        shards=shards,
        max_keys=max_keys,
        users=users,
        options=options,
    )
    counted = (None, None) if users is None else Counted.without_users()
    with connect(dsn) as connection, connection.transaction():
        try:
            connection.execute(_TABLES + PAGES.format(schema=_SCHEMA))
        except psycopg.errors.DuplicateSchema:
            raise StoreError("this database already has a fleet; use another database") from None
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


def terms_of(connection: "psycopg.Connection[Any]", lock: str = "") -> Terms:
    """Return the terms of the fleet in this database, intact; ``lock`` ends the query."""
    try:
        with connection.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(f"SELECT {_TERMS} FROM littlestone.fleet {lock}").fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    if row is None:
        raise StoreError(
            "there is no fleet in this database; create one with littlestone fleet init"
        )
    terms = Terms(**row)
    _require_intact(terms)
    return terms


def put(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateLearner,
    keys: Sequence[Any],
    seqs: Sequence[int] | NDArray[np.int64],
    xs: Any,
    ys: Any,
    users: Sequence[Any] | None = None,
) -> int:
    """Queue labelled events, all of them or none.

    Each event has its number among the events of its key, from 1. An event may be put again: it is
    dropped in its turn. Where users are counted each event has one, and events of a user who has
    reached ``max_contributions`` are queued as rounds without an example.

    Returns:
        How many events were queued.

    Raises:
        ValueError: An event does not fit; the message names it.
    """
    with connection.transaction():
        # One put at a time: rows become visible in the order of their ids, so of two events with
        # one number the same one is first whenever the batch is computed again.
        terms = terms_of(connection, "FOR UPDATE")
        _require_recipe(terms, recipe)
        block = _block(recipe, keys, seqs, xs, ys)
        counts = terms.users is not None or users is not None
        if counts and (known := given_users(terms.users, users, len(block.seqs))):
            most = recipe.max_contributions
            marked = mark_over_limit(connection, _SCHEMA, "fleet", known, block.names(), most=most)
            block = block._replace(over_limit=marked)
        parts = block.by_shard(terms.shards)
        rows = [(shard, len(part.seqs), part.packed()) for shard, part in parts]
        table, types = "littlestone.queue (shard, events, block)", ["int4", "int8", "bytea"]
        copy_rows(connection, table, types, rows)
    return len(block.seqs)


def put_many(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateLearner,
    parts: Iterable[tuple[Sequence[Any], Sequence[int], Any, Any, Sequence[Any]]],
) -> int:
    """Queue the events of a whole source in one transaction, part by part."""
    with connection.transaction():
        return sum(put(connection, recipe, *part) for part in parts)


def mark_over_limit(
    connection: "psycopg.Connection[Any]",
    schema: str,
    table: str,
    users: Sequence[Any],
    events: Iterable[tuple[bytes, int]],
    *,
    most: int,
) -> NDArray[np.uint8]:
    """Return which events exceed the share of their users, and count them.

    The caller has locked the one row of ``table``, which has the key and the root.
    """
    counted = Counted(*one(connection, f"SELECT user_key, user_root FROM {schema}.{table}"))
    fetch = partial(stored_pages, connection, schema, _USERS)
    marked, root, pages = events_over_limit(counted, fetch, users, events, most=most)
    if pages:
        store_pages(connection, schema, _USERS, pages)
        write(connection, table, f"UPDATE {schema}.{table} SET user_root = %s", (root,))
    return marked


def _block(
    recipe: PrivateLearner,
    keys: Sequence[Any],
    seqs: Sequence[int] | NDArray[np.int64],
    xs: Any,
    ys: Any,
) -> Block:
    points, labels = recipe.concepts.domain.check_many(xs), require.labels(ys, _label_count(recipe))
    numbers = np.asarray(seqs)
    fits = numbers.ndim == 1 and (
        not numbers.size
        or (numbers.dtype.kind in "iu" and numbers.min() >= 1 and numbers.max() <= _LAST)
    )
    # Among numbers, numpy takes a boolean for a number.
    if not fits or (not isinstance(seqs, np.ndarray) and _BOOLEANS & set(map(type, seqs))):
        raise ValueError(f"seqs must be whole numbers from 1, got {seqs!r}"[:200])
    if not len(keys) == len(numbers) == len(points) == len(labels):
        raise ValueError(
            f"keys, seqs, xs and ys must be equally long, got {len(keys)}, {len(numbers)}, "
            f"{len(points)}, {len(labels)}"
        )
    if recipe.rounds is not None and numbers.size and numbers.max() > recipe.rounds:
        raise HorizonExceededError(rounds=recipe.rounds)
    places: dict[Any, int] = {}
    which = np.array(
        [
            # What equals a key is no key for that: 1 + 0j is refused, whatever stands beside it.
            places.setdefault(key if type(key) is str else canonical_key(key), len(places))
            for key in keys
        ],
        dtype=np.int64,
    )
    known: dict[bytes, int] = {}
    merged = [known.setdefault(label_of(key), len(known)) for key in places]
    if len(merged):
        which = np.array(merged, dtype=np.int64)[which]
    all_read = np.zeros_like(labels)
    return Block(list(known), which, numbers.astype(np.int64), points, labels, all_read)


def releases(connection: "psycopg.Connection[Any]", key: Any = None) -> Iterator[Release]:
    """Yield what was published: key by key, or of one key."""
    where, wanted = ("", []) if key is None else ("WHERE key = %s", [key_name(key).label])
    fields = ", ".join(Release._fields)
    query = f"SELECT {fields} FROM littlestone.releases {where} ORDER BY key, number"
    with connection.transaction(), connection.cursor("releases", binary=True) as cursor:
        yield from map(Release._make, cursor.execute(query, wanted))


def releases_of(
    connection: "psycopg.Connection[Any]", terms: Terms, key: Any, *, after: int, most: int
) -> list[Release]:
    """Return what was published of one key after a number, in order."""
    label = key_name(key).label
    rows = connection.execute(
        "SELECT number, round, body, chain FROM littlestone.releases "
        "WHERE shard = %s AND key = %s AND number > %s ORDER BY number LIMIT %s",
        (shard_of(label, terms.shards), label, after, most),
    )
    return [Release(*row) for row in rows]


def newest_of(connection: "psycopg.Connection[Any]", terms: Terms, key: Any) -> Release | None:
    """Return the release in force of one key; None if the key is unknown."""
    label = key_name(key).label
    row = connection.execute(
        "SELECT number, round, body, chain FROM littlestone.releases "
        "WHERE shard = %s AND key = %s ORDER BY number DESC LIMIT 1",
        (shard_of(label, terms.shards), label),
    ).fetchone()
    return None if row is None else Release(*row)


def status(connection: "psycopg.Connection[Any]") -> dict[str, int]:
    """Return the status of the fleet; every number is public, or is the length of a queue."""
    with connection.cursor(row_factory=dict_row) as cursor:
        [found] = cursor.execute(_STATUS)
    return found


def stored_pages(
    connection: "psycopg.Connection[Any]", schema: str, tree: int, paths: list[str]
) -> dict[str, bytes]:
    """Return the pages of a tree at some paths."""
    query = f"SELECT path, page FROM {schema}.pages WHERE tree = %s AND path = ANY(%s)"
    return dict(connection.execute(query, (tree, paths), binary=True).fetchall())


def store_pages(
    connection: "psycopg.Connection[Any]", schema: str, tree: int, pages: Mapping[str, bytes]
) -> None:
    """Write pages of a tree; the caller stores its root in the same transaction."""
    write(
        connection,
        "pages",
        f"INSERT INTO {schema}.pages "
        "SELECT %s, * FROM unnest(%b::text[], %b::bytea[]) "
        "ON CONFLICT (tree, path) DO UPDATE SET page = excluded.page",
        (tree, list(pages), list(pages.values())),
        rows=len(pages),
    )


def write(
    connection: "psycopg.Connection[Any]",
    table: str,
    query: str,
    values: Sequence[Any],
    *,
    rows: int = 1,
) -> None:
    """Change ``rows`` rows of a table, no fewer: a trigger or a rule may drop some."""
    count = connection.execute(query, values).rowcount
    if count != rows:
        raise rows_dropped(count, rows, table)


def copy_rows(
    connection: "psycopg.Connection[Any]",
    table: str,
    types: list[str],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Append rows to a table, whose columns are named with it."""
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)
        if cursor.rowcount != len(rows):
            raise rows_dropped(cursor.rowcount, len(rows), table.split()[0].rpartition(".")[2])


@contextmanager
def shard_lock(connection: "psycopg.Connection[Any]", identity: str, shard: int) -> Iterator[bool]:
    """Lock a shard until the block ends or the process does; yield whether that succeeded."""
    name = int(identity[:7], 16), shard
    [(taken,)] = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", name)
    try:
        yield taken
    finally:
        if taken and not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", name)
