"""Run a private blocklist in PostgreSQL: workers play its parts, and one list is published.

``put`` takes the rounds of one stream in order, so the queue is always complete up to a tick.
Workers play parts up to it. When all parts have passed some rounds, these are merged and published
under a separate lock. How many events a part has depends on the keys, which are private here: only
the table ``releases`` is for publication.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import psycopg

from littlestone import require
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Point
from littlestone.errors import HorizonExceededError, RollbackError, SequenceGapError, StoreError
from littlestone.learners import codec
from littlestone.learners.forms import canonical_form
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import UNUSED, Height, HighWater, sealed
from littlestone.runs.fleet.keyed import SEAL_BYTES
from littlestone.runs.fleet.over_limit import Counted, given_users, require_users
from littlestone.runs.fleet.split_keys import Change, advance_part, merged, part_of
from littlestone.runs.fleet.terms import reporting_damage, require_shards, terms_seal
from littlestone.runs.journal.records import Release, chained, release_body

_SCHEMA: Final = "littlestone_blocklist"
_SEAL: Final = "seal"
_TABLES: Final = """
CREATE SCHEMA littlestone_blocklist;
CREATE TABLE littlestone_blocklist.list (
    identity text NOT NULL, recipe text NOT NULL, options text NOT NULL, fingerprint bytea NOT NULL,
    parts integer NOT NULL, tick bigint NOT NULL DEFAULT 0, published bigint NOT NULL DEFAULT 0,
    users text, user_key bytea, user_root bytea,
    one boolean PRIMARY KEY DEFAULT true CHECK (one)
);
CREATE TABLE littlestone_blocklist.queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part integer NOT NULL,
    until bigint NOT NULL, block bytea NOT NULL
);
CREATE INDEX queue_of_part ON littlestone_blocklist.queue (part, id);
CREATE TABLE littlestone_blocklist.parts (
    part integer PRIMARY KEY, until bigint NOT NULL, state bytea,
    commits bigint NOT NULL, chain bytea NOT NULL
);
CREATE TABLE littlestone_blocklist.changes (
    part integer NOT NULL, round bigint NOT NULL, keys bytea NOT NULL, PRIMARY KEY (part, round)
);
CREATE TABLE littlestone_blocklist.releases (
    number bigint PRIMARY KEY, round bigint NOT NULL, body bytea NOT NULL, chain bytea NOT NULL
);
"""


def create(
    dsn: str,
    recipe: PrivateKeys,
    *,
    fingerprint: bytes,
    parts: int = 16,
    users: str | None = None,
) -> str:
    """Create the tables of a list and its first release, the empty list.

    Args:
        dsn: The database.
        recipe: The learner.
        fingerprint: The fingerprint of the secret.
        parts: How many parts workers can play at the same time.
        users: The column of the user of a row; at most ``max_contributions`` of each user are read.

    Returns:
        The public name of the list.
    """
    require_shards(parts=parts)
    require_users(users, recipe.max_contributions)
    counted = (None, None) if users is None else Counted.without_users()
    identity = secrets.token_hex(16)
    with database.connect(dsn) as connection, connection.transaction():
        try:
            connection.execute(_TABLES + database.PAGES.format(schema=_SCHEMA))
        except psycopg.errors.DuplicateSchema:
            raise StoreError(
                "this database already has a blocklist; use another database"
            ) from None
        connection.execute(
            "INSERT INTO littlestone_blocklist.list (identity, recipe, options, fingerprint, parts,"
            " users, user_key, user_root) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                identity,
                canonical_form(recipe),
                _options(recipe, parts, users),
                fingerprint,
                parts,
                users,
                *counted,
            ),
        )
        connection.execute(
            "INSERT INTO littlestone_blocklist.parts "
            "SELECT n, 0, NULL, %s, %s FROM generate_series(0, %s) AS n",
            (*UNUSED, parts - 1),
        )
        _release(connection, identity, 1, 0, FiniteSupport(frozenset()), b"")
    return identity


class ListTerms(NamedTuple):
    """The terms of a list: public and permanent."""

    identity: str
    recipe: PrivateKeys
    fingerprint: bytes
    parts: int
    users: str | None


def terms_of(connection: "psycopg.Connection[Any]", lock: str = "") -> ListTerms:
    """Return the terms of the list in this database, intact; ``lock`` ends the query."""
    identity, form, options, fingerprint, parts, users = _one(
        connection,
        "SELECT identity, recipe, options, fingerprint, parts, users "
        f"FROM littlestone_blocklist.list {lock}",
    )
    with reporting_damage("the terms of this blocklist are"):
        numbers = json.loads(options)
        seal = numbers.pop(_SEAL)
        recipe = PrivateKeys(**numbers)
    if canonical_form(recipe) != form:
        raise StoreError(f"this blocklist belongs to another recipe than {recipe!r}: {form}")
    if seal != terms_seal(form, None, users, parts):
        raise StoreError(
            f"the terms of this blocklist do not match their hash: they were altered or damaged. "
            f"Restore those that it was created with; found parts={parts} and users={users!r}"
        )
    return ListTerms(identity, recipe, fingerprint, parts, users)


def _require_recipe(terms: ListTerms, recipe: PrivateKeys) -> None:
    if canonical_form(recipe) != canonical_form(terms.recipe):
        raise StoreError(f"this blocklist belongs to another recipe: {terms.recipe}")


def _options(recipe: PrivateKeys, parts: int, users: str | None) -> str:
    names = ("rounds", "epsilon", "delta", "max_contributions")
    numbers = {name: getattr(recipe, name) for name in names}
    return json.dumps({**numbers, _SEAL: terms_seal(canonical_form(recipe), None, users, parts)})


def put(
    connection: "psycopg.Connection[Any]",
    recipe: PrivateKeys,
    first: int | None,
    xs: Any,
    ys: Any,
    users: Sequence[Any] | None = None,
) -> int:
    """Queue the rounds from ``first`` on, or the next rounds.

    Rounds that were put before are dropped, whatever they contain; a gap is an error. Where users
    are counted each round has one. A round of a user who has reached ``max_contributions`` has no
    example: it belongs to no part, and all parts pass it.

    Returns:
        How many of the rounds are new.
    """
    points, labels = recipe.concepts.domain.check_many(xs), require.labels(ys)
    if first is not None:
        require.integer(first=first, at_least=1)
    if len(points) != len(labels):
        raise ValueError(f"xs and ys must be equally long, got {len(points)}, {len(labels)}")
    with connection.transaction():
        terms = terms_of(connection, "FOR UPDATE")
        _require_recipe(terms, recipe)
        (tick,) = _one(connection, "SELECT tick FROM littlestone_blocklist.list")
        given = given_users(terms.users, users, len(points))
        first = tick + 1 if first is None else first
        last = first + len(points) - 1
        if first > tick + 1:
            raise SequenceGapError(expected=tick + 1, got=first)
        if last > recipe.rounds:
            raise HorizonExceededError(rounds=recipe.rounds)
        skipped = tick + 1 - first
        passed = np.zeros(len(points), dtype=np.uint8)
        if given[skipped:]:
            names = ((b"", number) for number in range(tick + 1, last + 1))
            most = recipe.max_contributions
            passed[skipped:] = database.mark_over_limit(
                connection, _SCHEMA, "list", given[skipped:], names, most=most
            )
        by_part: dict[int, list[int]] = {}
        for place in range(skipped, len(points)):
            if passed[place]:
                continue
            by_part.setdefault(part_of(_plain(points[place]), terms.parts), []).append(place)
        for part, places in by_part.items():
            block = (
                np.array(places, dtype=np.int64) + first,
                [_plain(points[place]) for place in places],
                labels[places],
            )
            database.write(
                connection,
                "queue",
                "INSERT INTO littlestone_blocklist.queue (part, until, block) VALUES (%s, %s, %s)",
                (part, last, codec.dumps(block)),
            )
        if last > tick:  # if this were dropped, the next rounds would have the same numbers
            database.write(
                connection, "list", "UPDATE littlestone_blocklist.list SET tick = %s", (last,)
            )
    return max(0, last - int(tick))


@dataclass(slots=True)
class PartWorker:
    """Play the parts that are behind, and publish what all parts have passed."""

    connection: "psycopg.Connection[Any]"
    recipe: PrivateKeys
    secret: bytes = field(repr=False)
    mark: HighWater
    before_commit: Callable[[list[Change]], None] = field(default=lambda new: None, repr=False)

    def work(self) -> bool:
        """Take a turn at each part; return whether there was anything to do."""
        terms = terms_of(self.connection)
        _require_recipe(terms, self.recipe)
        identity, parts = terms.identity, terms.parts
        done = False
        for part in range(parts):
            with database.shard_lock(self.connection, identity, part) as mine:
                done |= mine and self._turn(part, parts)
        with database.shard_lock(self.connection, identity, parts) as mine:
            return (mine and self._publish(identity)) or done

    def _turn(self, part: int, parts: int) -> bool:
        with self.connection.transaction():
            until, state, *height = _one(
                self.connection,
                "SELECT until, state, commits, chain FROM littlestone_blocklist.parts "
                "WHERE part = %s FOR UPDATE",
                (part,),
            )
            before = Height(*height)
            self.mark.check(part, before)
            if before != self._sealed(part, before.commits, until, state):
                raise _rolled_back(f"part {part} of the blocklist", "parts")
            (tick,) = _one(self.connection, "SELECT tick FROM littlestone_blocklist.list")
            if tick == until:
                return False
            ids, events = self._events(part, tick)
            # A tick that was put back would take the rounds after it once more.
            if tick < until or min(events[0], default=tick) <= until:
                raise _rolled_back("the number of rounds in the blocklist", "list")
            new, changes = advance_part(
                self.recipe, self.secret, part, parts, state, *events, until=tick
            )
            after = self._sealed(part, before.commits + 1, tick, new)
            database.write(
                self.connection,
                "parts",
                "UPDATE littlestone_blocklist.parts SET until = %s, state = %s, commits = %s, "
                "chain = %s WHERE part = %s",
                (tick, new, *after, part),
            )
            rows = [(part, number, codec.dumps(keys)) for number, keys in changes]
            if rows:
                table = "littlestone_blocklist.changes (part, round, keys)"
                database.copy_rows(self.connection, table, ["int4", "int8", "bytea"], rows)
            self.connection.execute(
                "DELETE FROM littlestone_blocklist.queue WHERE id = ANY(%s)", (ids,)
            )
            self.before_commit(changes)
        self.mark.raise_to(part, after)
        return True

    def _sealed(self, part: int, commits: int, until: int, state: bytes | None) -> Height:
        """Return the height of a part that is at ``until`` with this state."""
        if state is None and not until:
            return UNUSED
        [key] = labelled_keys(self.secret, b"parts of a blocklist")
        return sealed(key, part, commits, b"%d " % until + (state or b"")[-SEAL_BYTES:])

    def _events(self, part: int, tick: int) -> tuple[list[int], tuple[list[int], Any, Any]]:
        """Return the events of the part up to the tick, and their rows in the queue."""
        rows = self.connection.execute(
            "SELECT id, block FROM littlestone_blocklist.queue "
            "WHERE part = %s AND until <= %s ORDER BY id",
            (part, tick),
        ).fetchall()
        rounds, xs, ys = list[int](), list[Point](), list[int]()
        for _, block in rows:
            with reporting_damage("a row of the blocklist's queue is", "it"):
                numbers, points, labels = codec.loads(block)
                rounds += numbers.tolist()
                xs += points
                ys += labels.tolist()
        return [number for number, _ in rows], (rounds, xs, ys)

    def _publish(self, identity: str) -> bool:
        """Merge what all parts have passed after the last release."""
        with self.connection.transaction():
            (published,) = _one(self.connection, "SELECT published FROM littlestone_blocklist.list")
            (common,) = _one(self.connection, "SELECT min(until) FROM littlestone_blocklist.parts")
            if common == published:
                return False
            rows = self.connection.execute(
                "DELETE FROM littlestone_blocklist.changes WHERE round <= %s RETURNING round, keys",
                (common,),
            ).fetchall()
            number, body, chain = _one(
                self.connection,
                "SELECT number, body, chain FROM littlestone_blocklist.releases "
                "ORDER BY number DESC LIMIT 1",
            )
            listed = FiniteSupport.from_json(json.loads(body)["hypothesis"]).positives
            changes = [(place, codec.loads(keys)) for place, keys in rows]
            for place, rule in merged(listed, [changes]):
                number += 1
                chain = _release(self.connection, identity, number, place, rule, chain)
            query = "UPDATE littlestone_blocklist.list SET published = %s"
            database.write(self.connection, "list", query, (common,))
        return True


def status(connection: "psycopg.Connection[Any]") -> dict[str, int]:
    """Return the progress of the list in rounds; that of its parts depends on the keys."""
    tick, published = _one(connection, "SELECT tick, published FROM littlestone_blocklist.list")
    (count,) = _one(connection, "SELECT count(*) FROM littlestone_blocklist.releases")
    return {"rounds": published, "waiting": tick - published, "releases": count}


def releases(connection: "psycopg.Connection[Any]") -> Iterator[Release]:
    """Yield what was published, in order."""
    fields = ", ".join(Release._fields)
    query = f"SELECT {fields} FROM littlestone_blocklist.releases ORDER BY number"
    with connection.transaction(), connection.cursor("releases", binary=True) as cursor:
        yield from map(Release._make, cursor.execute(query))


def _release(
    connection: "psycopg.Connection[Any]",
    identity: str,
    number: int,
    round_number: int,
    rule: FiniteSupport,
    before: bytes,
) -> bytes:
    body = release_body(rule, run=identity, number=number, round_number=round_number)
    chain = chained(before, body)
    query = "INSERT INTO littlestone_blocklist.releases VALUES (%s, %s, %s, %s)"
    database.write(connection, "releases", query, (number, round_number, body, chain))
    return chain


def _rolled_back(what: str, table: str) -> RollbackError:
    return RollbackError(
        f"{what} was rolled back or altered: it is not as its last commit left it. Continuing "
        f"would spend the same noise on other events; restore the newest row of the table {table}"
    )


def _one(
    connection: "psycopg.Connection[Any]", query: Any, values: tuple[Any, ...] = ()
) -> tuple[Any, ...]:
    try:
        row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    if row is None:
        raise StoreError(
            "there is no blocklist in this database; run littlestone fleet blocklist init"
        )
    return row


def _plain(point: Any) -> Point:
    """Return a point as ``check`` of the domain does: a block of integers is an array."""
    plain: Point = point.item() if isinstance(point, np.generic) else point
    return plain
