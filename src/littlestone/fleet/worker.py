"""A worker of a fleet: takes shards that nobody else has, one transaction for each turn.

Events leave the queue, states change and releases appear together or not at all. A worker that is
killed, or whose server is, leaves nothing half done; whoever computes the batch again computes the
same bytes, so even what never became visible differs in nothing from what did.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

from littlestone.errors import HorizonExceededError
from littlestone.fleet.blocks import Block, Waiting
from littlestone.fleet.database import shard_lock
from littlestone.fleet.high_water import Height, HighWater
from littlestone.fleet.keyed import KeyedRun, KeyName
from littlestone.fleet.terms import Terms
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import Release

_MOST_BLOCKS: Final = 256  # of one turn, and
_MOST_EVENTS: Final = 200_000

Row = tuple[Any, ...]
"""Of a table; of a state: the key, its rounds, the state."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one transaction will write."""

    states: list[Row]
    created: list[Row]
    releases: list[tuple[bytes, Release]]
    left: list[tuple[int, Block]]
    """What of a row of the queue has to wait behind a gap."""
    events: int


@dataclass(slots=True)
class Worker:
    """``work`` takes one turn at each shard that has something to do."""

    connection: "psycopg.Connection[Any]"
    terms: Terms
    recipe: PrivateLearner
    secret: bytes = field(repr=False)
    mark: HighWater
    before_commit: Callable[[Turn], None] = field(default=lambda turn: None, repr=False)
    """Called when all is written and nothing committed; for tests."""

    def work(self) -> int:
        """How many events were taken; 0 if every shard is done, or in other hands."""
        query = "SELECT DISTINCT shard FROM littlestone.queue WHERE NOT held"
        shards = [shard for (shard,) in self.connection.execute(query)]
        # Each worker begins elsewhere, so that they seldom ask for the same shard.
        start = self.connection.info.backend_pid * 7 % (len(shards) or 1)
        taken = 0
        for shard in shards[start:] + shards[:start]:
            with shard_lock(self.connection, self.terms.identity, shard) as mine:
                if mine:
                    taken += self._turn(shard)
        return taken

    def _turn(self, shard: int) -> int:
        with self.connection.transaction():
            height = self._height(shard)
            self.mark.check(shard, height)
            blocks = self._blocks(shard)
            if not blocks:
                return 0
            turn = self._computed(shard, blocks)
            self._write(shard, turn, [number for number, _ in blocks])
            height = Height(height.commits + 1, _chained(height.chain, turn))
            self.connection.execute(
                "UPDATE littlestone.shards SET commits = %s, chain = %s WHERE shard = %s",
                (*height, shard),
            )
            self.before_commit(turn)
        # Only now, and still under the lock: a mark above the database would refuse it for ever.
        self.mark.raise_to(shard, height)
        return turn.events

    def _height(self, shard: int) -> Height:
        # The row is locked, too: behind a pooler several workers may share the session of a lock.
        row = self._all(
            "SELECT commits, chain FROM littlestone.shards WHERE shard = %s FOR UPDATE", (shard,)
        )
        return Height(*row[0])

    def _blocks(self, shard: int) -> list[tuple[int, Block]]:
        """What waits behind gaps, and as much else as one turn takes, in the order it was put."""
        rows = self._all(
            "(SELECT id, block, 0::int8 FROM littlestone.queue WHERE shard = %s AND held) "
            "UNION ALL (SELECT id, block, events FROM littlestone.queue "
            "WHERE shard = %s AND NOT held ORDER BY id LIMIT %s) ORDER BY id",
            (shard, shard, _MOST_BLOCKS),
        )
        blocks, events = list[tuple[int, Block]](), 0
        for number, block, count in rows:
            if count and events and events + count > _MOST_EVENTS:
                break  # and never past it: the order decides between repeats
            blocks.append((number, Block.from_bytes(block, self.recipe.concepts.domain)))
            events += count
        return blocks

    def _computed(self, shard: int, blocks: list[tuple[int, Block]]) -> Turn:
        waiting: Waiting = {}
        for _, block in blocks:
            block.add_to(waiting)
        known: dict[bytes, bytes] = dict(
            self._all(
                "SELECT key, state FROM littlestone.states WHERE shard = %s AND key = ANY(%b)",
                (shard, list(waiting)),
            )
        )
        states, created = list[Row](), list[Row]()
        releases, early = list[tuple[bytes, Release]](), dict[bytes, set[int]]()
        events, horizon = 0, self.recipe.rounds
        for label, (seqs, examples) in waiting.items():
            before = known.get(label)
            run = KeyedRun.at(self.recipe, self.secret, KeyName.from_label(label), before)
            ready, behind = _sorted(seqs, run.rounds)
            if behind:
                early[label] = {seqs[place] for place in behind}
            fresh = examples if ready is None else [examples[place] for place in ready]
            if not fresh:
                continue
            if horizon is not None and run.rounds + len(fresh) > horizon:
                raise HorizonExceededError(rounds=horizon)
            releases.extend((label, release) for release in run.take(fresh))
            (created if before is None else states).append((label, run.rounds, run.state()))
            events += len(fresh)
        left = [(number, rest) for number, block in blocks if len((rest := block.only(early)).seqs)]
        return Turn(states, created, releases, left, events)

    def _write(self, shard: int, turn: Turn, done: list[int]) -> None:
        connection = self.connection
        if turn.states:
            keys, rounds, states = map(list, zip(*turn.states, strict=True))
            connection.execute(
                "UPDATE littlestone.states AS old SET rounds = new.rounds, state = new.state "
                "FROM unnest(%b::bytea[], %b::int8[], %b::bytea[]) AS new (key, rounds, state) "
                "WHERE old.shard = %s AND old.key = new.key",
                (keys, rounds, states, shard),
            )
        self._copy(
            "littlestone.states (shard, key, rounds, state)",
            ["int4", "bytea", "int8", "bytea"],
            [(shard, *row) for row in turn.created],
        )
        self._copy(
            "littlestone.releases (shard, key, number, round, body, chain)",
            ["int4", "bytea", "int8", "int8", "bytea", "bytea"],
            [(shard, key, *release) for key, release in turn.releases],
        )
        waits = {number for number, _ in turn.left}
        connection.execute(
            "DELETE FROM littlestone.queue WHERE id = ANY(%s)",
            ([number for number in done if number not in waits],),
        )
        for number, block in turn.left:  # in its place: of two with one number the first counts
            connection.execute(
                "UPDATE littlestone.queue SET held = true, events = %s, block = %s WHERE id = %s",
                (len(block.seqs), block.packed(), number),
            )

    def _copy(self, table: str, types: list[str], rows: list[Row]) -> None:
        if not rows:
            return
        with (
            self.connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _all(self, query: str, values: Row) -> list[Row]:
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(query, values).fetchall()


def _sorted(seqs: list[int], before: int) -> tuple[list[int] | None, list[int]]:
    """The places of the events whose turn it is, None if of all; and of those behind a gap.

    Of several with one number the first that was put counts, whatever the others say.
    """
    last = before + len(seqs)
    if seqs[0] == before + 1 and seqs[-1] == last and seqs == list(range(before + 1, last + 1)):
        return None, []
    ready, early, last = [], [], before
    for place in sorted(range(len(seqs)), key=seqs.__getitem__):
        if seqs[place] == last + 1:
            ready.append(place)
            last += 1
        elif seqs[place] > last + 1:
            early.append(place)
    return ready, early


def _chained(before: bytes, turn: Turn) -> bytes:
    """A digest of all commits of a shard: two that differ in anything differ here."""
    digest = hashlib.sha256(before)
    for _, _, state in (*turn.states, *turn.created):
        digest.update(state[-16:])  # the seal
    digest.update(repr([(number, block.seqs.tolist()) for number, block in turn.left]).encode())
    return digest.digest()
