"""Work on the shards of a fleet that no other worker has, one transaction per turn.

Events leave the queue, states change and releases appear together or not at all. A killed worker or
server leaves nothing half done. The worker that computes the batch again computes the same bytes,
so even results that never became visible equal those that did.

A state is used only if the newest commit of its shard left it: the height of the shard seals the
root of a tree (``commits.py``) that holds the seals of all its states. A key whose row was
restored, deleted, inserted or altered is rejected, and its events wait; the others continue.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import psycopg

from littlestone.concepts.domain import points_of
from littlestone.concepts.protocols import Example
from littlestone.errors import (
    HorizonExceededError,
    LittlestoneError,
    RollbackError,
    SnapshotError,
    StoreError,
)
from littlestone.learners.run import PrivateLearner
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import EMPTY_ROOT, UNUSED, Height, HighWater, PageTree, sealed
from littlestone.runs.fleet.database import Block
from littlestone.runs.fleet.keyed import SEAL_BYTES, KeyedRun, KeyName, in_turn, shard_of
from littlestone.runs.fleet.terms import Terms
from littlestone.runs.journal.records import Release

_MOST_BLOCKS: Final = 256  # of one turn
_MOST_EVENTS: Final = 200_000
_MOST_AWAKE: Final = 1_000  # runs that stay in memory between turns
# Turns with more keys keep no run in memory: others would replace it before its key comes again.
_MOST_KEPT: Final = 256

Waiting = dict[bytes, tuple[list[int], list[Example | None]]]
"""The numbers of events and their examples in canonical form, by the label of the key.

None is an example that is not read: its user has reached ``max_contributions``.
"""
State = tuple[bytes, int, bytes]
"""The key, its rounds, the state."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one transaction will write."""

    states: list[State]
    created: list[State]
    releases: list[tuple[bytes, Release]]
    left: list[tuple[int, Block]]
    """The part of a row of the queue that has to wait behind a gap."""
    events: int
    seals: dict[bytes, bytes]
    """The new seal of each state, by its place in the tree of the shard."""
    runs: dict[bytes, KeyedRun]
    """The runs after the commit, of the keys that may stay in memory."""


@dataclass(slots=True)
class Worker:
    """Take turns at the shards that have something to do."""

    connection: "psycopg.Connection[Any]"
    terms: Terms
    recipe: PrivateLearner
    secret: bytes = field(repr=False)
    mark: HighWater
    before_commit: Callable[[Turn], None] = field(default=lambda turn: None, repr=False)
    """Called when everything is written and nothing committed; for tests."""
    refused: dict[str, str] = field(default_factory=dict, init=False)
    """Why the state of a key was not used, by the public name of the key."""
    _awake: dict[bytes, KeyedRun] = field(default_factory=dict, init=False, repr=False)
    """Runs as the last commits left them, the newest last: their states are not read again."""
    _height_key: bytes = field(init=False, repr=False)
    _page_key: bytes = field(init=False, repr=False)
    _label_count: int = field(init=False)
    _looked_behind_gaps: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        label = b"shards of a fleet" + self.terms.identity.encode()
        self._height_key, self._page_key = labelled_keys(self.secret, label, count=2)
        self._label_count = self.recipe.label_count

    def work(self) -> int:
        """Take one turn at each shard; return the number of events, 0 if there is nothing to do.

        What is damaged in one shard is raised when the others have nothing left to do.
        """
        # A rejected key may have been repaired: a new worker looks at held events, too.
        query = "SELECT DISTINCT shard FROM littlestone.queue WHERE NOT held OR %s"
        found = self.connection.execute(query, (not self._looked_behind_gaps,))
        self._looked_behind_gaps, shards = True, [shard for (shard,) in found]
        # Each worker begins elsewhere, so that they rarely compete for a shard.
        start = self.connection.info.backend_pid * 7 % (len(shards) or 1)
        taken, damage = 0, list[LittlestoneError]()
        for shard in shards[start:] + shards[:start]:
            if shard not in range(self.terms.shards):
                words = f"the table queue was altered: it has rows of shard {shard}; restore them"
                damage.append(StoreError(words))
                continue
            with database.shard_lock(self.connection, self.terms.identity, shard) as mine:
                if not mine:
                    continue
                try:
                    taken += self._turn(shard)
                except psycopg.errors.IntegrityError:  # its message contains the bytes of a key
                    words = (
                        f"shard {shard} of the database holds a row that no worker wrote: a row "
                        f"to be written there exists already. Nothing was learned; restore the "
                        f"newest tables states and releases"
                    )
                    damage.append(StoreError(words))
                except RollbackError:  # the others may have been put back, too
                    raise
                except LittlestoneError as problem:
                    damage.append(problem)
        if damage and not taken:
            raise damage[0]
        return taken

    def raise_refused(self) -> None:
        """Raise if keys were rejected; all others have continued."""
        if not self.refused:
            return
        first, *others = sorted(self.refused)
        more = f", and so are {len(others):,} more keys" if others else ""
        raise RollbackError(
            f"{self.refused[first]}{more}. Their events wait in the queue, and the other keys "
            f"continued. Restore the newest rows and start a worker again; if they are lost, these "
            f"keys have ended"
        )

    def _turn(self, shard: int) -> int:
        with self.connection.transaction():
            height, root = self._height(shard)
            blocks = self._blocks(shard)
            fetch = partial(database.stored_pages, self.connection, "littlestone", shard)
            tree = PageTree(root, fetch, key=self._page_key)
            turn = self._computed(shard, {number: block for number, block, _ in blocks}, tree)
            if not turn.events and all(held for _, _, held in blocks):
                return 0
            self._write(shard, turn, [number for number, _, _ in blocks])
            root, pages = tree.sealed(turn.seals)
            if pages:
                database.store_pages(self.connection, "littlestone", shard, pages)
            height = sealed(self._height_key, shard, height.commits + 1, root)
            database.write(
                self.connection,
                "shards",
                "UPDATE littlestone.shards SET commits = %s, chain = %s, root = %s "
                "WHERE shard = %s",
                (*height, root, shard),
            )
            self.before_commit(turn)
        # After the commit and under the lock: a mark above the database would reject it forever.
        self.mark.raise_to(shard, height)
        self._awake |= turn.runs
        while len(self._awake) > _MOST_AWAKE:
            del self._awake[next(iter(self._awake))]
        return turn.events

    def _height(self, shard: int) -> tuple[Height, bytes]:
        """Return the newest commit of a shard and the root of its states; reject a damaged one."""
        # The row is locked, too: behind a pooler several workers may share one session lock.
        query = "SELECT commits, chain, root FROM littlestone.shards WHERE shard = %s FOR UPDATE"
        row = self.connection.execute(query, (shard,), binary=True).fetchone()
        if row is None:
            raise _altered(shard, "deleted")
        commits, chain, root = row
        height = Height(commits, chain)
        self.mark.check(shard, height)
        whole = sealed(self._height_key, shard, commits, root) if commits else UNUSED
        if height != whole or (not commits and root != EMPTY_ROOT):
            raise _altered(shard, "altered")
        return height, root

    def _blocks(self, shard: int) -> list[tuple[int, Block, bool]]:
        """Return what waits behind gaps, and as much else as one turn takes, in order."""
        rows = self.connection.execute(
            "(SELECT id, block, 0::int8 FROM littlestone.queue WHERE shard = %s AND held) "
            "UNION ALL (SELECT id, block, events FROM littlestone.queue "
            "WHERE shard = %s AND NOT held ORDER BY id LIMIT %s) ORDER BY id",
            (shard, shard, _MOST_BLOCKS),
            binary=True,
        )
        blocks, events = list[tuple[int, Block, bool]](), 0
        for number, block, count in rows:
            if count and events and events + count > _MOST_EVENTS:
                break  # and never past it: the order decides between repeats
            found = Block.from_bytes(block, self.recipe.concepts.domain, self._label_count)
            if any(shard_of(key, self.terms.shards) != shard for key in found.keys):
                raise StoreError(
                    f"row {number} of the table queue was altered: its keys do not belong to shard "
                    f"{shard}, where they would begin again with the same noise. Nothing of this "
                    f"shard was learned; restore the row"
                )
            blocks.append((number, found, not count))
            events += count
        return blocks

    def _computed(self, shard: int, blocks: dict[int, Block], tree: PageTree) -> Turn:
        waiting = by_key(blocks.values())
        query = "SELECT key, state FROM littlestone.states WHERE shard = %s AND key = ANY(%b)"
        found = self.connection.execute(query, (shard, list(waiting)), binary=True)
        known: dict[bytes, bytes] = dict(found.fetchall())
        places = {label: tree.digest(label) for label in waiting}
        known_seals = tree.load(places.values())
        states, created = list[State](), list[State]()
        releases, early = list[tuple[bytes, Release]](), dict[bytes, set[int]]()
        seals, runs = dict[bytes, bytes](), dict[bytes, KeyedRun]()
        events, horizon = 0, self.recipe.rounds
        for label, (seqs, examples) in waiting.items():
            before, place = known.get(label), places[label]
            expected = known_seals[place]
            # It is also the newest in memory: a failed turn keeps no run.
            run = self._awake.pop(label, None)
            if run is None or before != run.last_state or before[-SEAL_BYTES:] != expected:
                run = self._run(KeyName.from_label(label), before, expected)
            if run is None:
                early[label] = set(seqs)
                continue
            ready, behind = in_turn(seqs, run.rounds)
            if behind:
                early[label] = {seqs[at] for at in behind}
            fresh = examples if ready is None else [examples[at] for at in ready]
            if not fresh:
                continue
            if horizon is not None and run.rounds + len(fresh) > horizon:
                raise HorizonExceededError(rounds=horizon)
            releases.extend((label, release) for release in run.take(fresh))
            state = run.state()
            if run.is_lean and len(waiting) <= _MOST_KEPT:
                runs[label] = run
            (created if before is None else states).append((label, run.rounds, state))
            seals[place] = state[-SEAL_BYTES:]
            events += len(fresh)
        left = [
            (number, rest)
            for number, block in (blocks.items() if early else ())
            if len((rest := block.only(early)).seqs)
        ]
        return Turn(states, created, releases, left, events, seals, runs)

    def _run(self, name: KeyName, state: bytes | None, expected: bytes | None) -> KeyedRun | None:
        """Return the run of a key; None, with the reason in ``refused``, if it must not continue.

        ``expected`` is the seal of the state after the newest commit of the shard: empty if the key
        had none, None if it cannot be determined.
        """
        self.refused.pop(name.text, None)
        if expected == (b"" if state is None else state[-SEAL_BYTES:]):
            try:
                return KeyedRun.at(self.recipe, self.secret, name, state)
            except SnapshotError as problem:
                self.refused[name.text] = str(problem)
                return None
        if expected is None:
            found = "the pages that its shard sealed were rolled back, deleted or altered"
        elif state is None:
            found = "its row was deleted"
        elif not expected:
            found = "its row was not inserted by a worker"
        else:
            found = "its row was rolled back or altered"
        self.refused[name.text] = (
            f"the state of key {name.text!r} is not the one that the last commit left: {found}. "
            f"Continuing would spend the same noise on other events"
        )
        return None

    def _write(self, shard: int, turn: Turn, done: list[int]) -> None:
        connection = self.connection
        if turn.states:
            keys, rounds, states = map(list, zip(*turn.states, strict=True))
            database.write(
                connection,
                "states",
                "UPDATE littlestone.states AS old SET rounds = new.rounds, state = new.state "
                "FROM unnest(%b::bytea[], %b::int8[], %b::bytea[]) AS new (key, rounds, state) "
                "WHERE old.shard = %s AND old.key = new.key",
                (keys, rounds, states, shard),
                rows=len(keys),
            )
        if turn.created:
            database.copy_rows(
                connection,
                "littlestone.states (shard, key, rounds, state)",
                ["int4", "bytea", "int8", "bytea"],
                [(shard, *row) for row in turn.created],
            )
        if turn.releases:
            database.copy_rows(
                connection,
                "littlestone.releases (shard, key, number, round, body, chain)",
                ["int4", "bytea", "int8", "int8", "bytea", "bytea"],
                [(shard, key, *release) for key, release in turn.releases],
            )
        waits = {number for number, _ in turn.left}
        connection.execute(
            "DELETE FROM littlestone.queue WHERE id = ANY(%s)",
            ([number for number in done if number not in waits],),
        )
        # In its place: of two events with one number the first counts.
        for number, block in turn.left:
            connection.execute(
                "UPDATE littlestone.queue SET held = true, events = %s, block = %s WHERE id = %s",
                (len(block.seqs), block.packed(), number),
            )


def by_key(blocks: Iterable[Block]) -> Waiting:
    """Return the events of blocks of the queue by the label of their key."""
    waiting: Waiting = {}
    for block in blocks:
        both = zip(points_of(block.points), block.labels.tolist(), strict=True)
        examples: list[Example | None] = list(both)
        for place in np.flatnonzero(block.over_limit):
            examples[place] = None
        seqs, start = block.seqs.tolist(), 0
        counts = np.bincount(block.which, minlength=len(block.keys)).tolist()
        for key, count in zip(block.keys, counts, strict=True):
            numbers, known = waiting.setdefault(key, ([], []))
            numbers += seqs[start : start + count]
            known += examples[start : start + count]
            start += count
    return waiting


def _altered(shard: int, how: str) -> RollbackError:
    return RollbackError(
        f"shard {shard} of the database is not as its last commit left it: its row in the table "
        f"shards was {how}. Nothing was learned; restore the newest database"
    )
