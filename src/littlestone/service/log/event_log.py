"""The log of events in a store: each taken once, all of them covered by one running hash.

The hash runs over the rows in their order. What it is at the end of a group stands in the group's
last row; at a checkpoint it is the seal of a *block*, all groups since the checkpoint before, and
begins anew with that. So whoever opens a store compares blocks, whose rows SQLite strings together,
and looks at single rows only where a replay needs them anyway. The hash is fed by what was taken,
never by what is read back: damage that came meanwhile is not sealed in.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from littlestone.errors import StoreError
from littlestone.service.entries import DIGEST_BYTES, Taken, digest_of
from littlestone.service.log.known_ids import HASH_BYTES, KnownIds

TABLES: Final = """
CREATE TABLE events (
    round INTEGER PRIMARY KEY, id TEXT NOT NULL, digest BLOB NOT NULL, body TEXT,
    batch INTEGER NOT NULL, seal BLOB, user BLOB
);
CREATE TABLE blocks (last INTEGER PRIMARY KEY, ids BLOB NOT NULL, seal BLOB NOT NULL);
"""

_ROWS: Final = "SELECT round, id, digest, body, batch, seal, user FROM events "
_AT_ONCE: Final = 2_000
# As ``_content`` has it, of rows as a block has them. Texts come before all blobs, by their order.
_STRUNG: Final = """
SELECT CAST(group_concat(digest || {user} batch || ':' || id, '') AS BLOB), count(*)
FROM events WHERE round > ? AND round <= ?
    AND id < x'' AND digest >= x'' AND body IS NULL AND seal IS NULL AND {whose}
"""
_USERS: Final = """
SELECT CAST(group_concat(user, '') AS BLOB) FROM events WHERE round > ? AND round <= ?
"""


class EventLog:
    """The events of a store that is open; with ``users`` each has somebody's digest."""

    def __init__(self, db: sqlite3.Connection, key: bytes, *, users: bool) -> None:
        self._db, self._known = db, KnownIds(key)
        whose = {"user": "user ||", "whose": "user >= x''"} if users else {}
        self._strung = _STRUNG.format(**whose or {"user": "", "whose": "user IS NULL"})
        self._sealed = 0
        self._hash = _begun(b"")

    @property
    def rounds(self) -> int:
        """How many events were taken."""
        row = self._db.execute("SELECT max(round) FROM events").fetchone()
        return int(row[0] or 0)

    def after(self, round_number: int) -> Iterator[Taken]:
        """The events since a checkpoint, in order."""
        rows = self._db.execute(_ROWS + "WHERE round > ? ORDER BY round", (round_number,))
        return (Taken(*row) for row in rows)

    def find(self, event_id: str) -> Taken | None:
        """The event with this id, if it was taken."""
        for place in self._known.places(event_id):
            row = self._db.execute(_ROWS + "WHERE round = ?", (place,)).fetchone()
            if row is not None and row[1] == event_id:
                return Taken(*row)
        return None

    def ids_ending(self, text: str) -> list[str]:
        """The ids that end so, in the order in which they were taken."""
        found = "SELECT id FROM events WHERE substr(id, -length(?1)) = ?1 ORDER BY round"
        return [name for (name,) in self._db.execute(found, (text,))]

    def users(self, *, until: int) -> bytes:
        """The digests of the users of the first events, one after the other."""
        found = (
            self._db.execute(_USERS, (start, min(start + _AT_ONCE, until))).fetchone()[0]
            for start in range(0, until, _AT_ONCE)
        )
        return b"".join(found)

    def add(self, events: Sequence[Taken]) -> bool:
        """Take a group within a transaction; False, and nothing done, if an id is not new.

        Should the transaction fail after all, nobody may go on with this log.
        """
        ids = [event.id for event in events]
        hashes = self._known.hashes(ids)
        suspects = self._known.suspects(ids, hashes)
        if any(map(self.find, suspects)) or len(set(ids)) < len(ids):
            return False
        self._known.add(ids, hashes)
        self._hash.update(_content(events))
        rows = [event[:7] for event in events]
        rows[-1] = (*rows[-1][:5], self._hash.digest(), rows[-1][6])
        self._db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        return True

    def seal(self, round_number: int) -> None:
        """End a block with the newest round, and drop the examples in it."""
        ids = self._known.seal()
        self._hash.update(ids)
        seal = self._hash.digest()
        self._db.execute("INSERT INTO blocks VALUES (?, ?, ?)", (round_number, ids, seal))
        covered = "UPDATE events SET body = NULL, seal = NULL WHERE round > ? AND round <= ?"
        self._db.execute(covered, (self._sealed, round_number))
        self._sealed, self._hash = round_number, _begun(seal)

    def check(self, *, covered: int, of: str) -> None:
        """Refuse a log that is not as it was written; ``covered`` is where the checkpoint is."""
        sealed = []
        for last, ids, seal in self._db.execute("SELECT last, ids, seal FROM blocks ORDER BY last"):
            self._check_block(last, ids, seal, of)
            sealed.append(ids)
        self._known.restore(sealed)
        if self._sealed != covered:
            raise StoreError(f"{of} is damaged: its blocks of events are not those it was left by")
        (first,) = self._db.execute("SELECT min(round) FROM events").fetchone()
        if first not in (None, 1):
            raise StoreError(f"{of} is damaged: its first event is {first!r}")
        group: list[Taken] = []
        for place, event in enumerate(self.after(covered), start=covered + 1):
            group.append(event)
            whole = event.round == place and event.batch == group[0].round
            whole = whole and digest_of((event.body or "").encode()) == event.digest
            if event.seal is not None:
                ids = [one.id for one in group]
                self._known.add(ids, self._known.hashes(ids))
                self._hash.update(_content(group))
                whole = whole and event.seal == self._hash.digest()
                group = []
            if not whole:
                raise StoreError(f"event {place} {_altered(of)}")
        if group:
            raise StoreError(f"{of} is damaged: its last events are missing")

    def _check_block(self, last: int, ids: bytes, seal: bytes, of: str) -> None:
        first = self._sealed
        whole = len(ids) == HASH_BYTES * (last - first)
        for start in range(first, last, _AT_ONCE) if whole else ():
            whole = self._feed(start, min(start + _AT_ONCE, last)) and whole
        self._hash.update(ids)
        if not whole or seal != self._hash.digest():
            raise StoreError(f"one of the events {first + 1} to {last} {_altered(of)}")
        self._sealed, self._hash = last, _begun(seal)

    def _feed(self, start: int, end: int) -> bool:
        """Add the rows of a block to the hash; False if not all are as a block has them."""
        try:
            content, count = self._db.execute(self._strung, (start, end)).fetchone()
        except sqlite3.DataError:  # longer together than any text in SQLite
            middle = (start + end) // 2
            if middle == start:
                raise
            first = self._feed(start, middle)
            return self._feed(middle, end) and first
        self._hash.update(content or b"")
        return bool(count == end - start)


def _altered(of: str) -> str:
    return (
        f"in {of} does not match its hash: the log of events was altered or damaged. Refusing to "
        f"go on"
    )


def _begun(before: bytes) -> "hashlib.blake2b":
    return hashlib.blake2b(before, digest_size=DIGEST_BYTES)


def _content(events: Sequence[Taken]) -> bytes:
    """All of the rows but their bodies, which have digests, and seals."""
    if events[0].user is None:  # of all in a store, or of none
        return b"".join([event.digest + f"{event.batch}:{event.id}".encode() for event in events])
    return b"".join(
        [
            event.digest + (event.user or b"") + f"{event.batch}:{event.id}".encode()
            for event in events
        ]
    )
