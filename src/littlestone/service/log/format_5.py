"""Stores of format 5, whose ids were in an index and whose groups were sealed one by one.

They are checked as they were written, and then written anew, in one transaction.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from typing import Final

from littlestone.errors import StoreError
from littlestone.service.entries import Taken, digest_of
from littlestone.service.log.event_log import TABLES, EventLog

FORMAT_5: Final = 5

TABLES_5: Final = """
CREATE TABLE events (
    round INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, body TEXT,
    batch INTEGER NOT NULL, seal BLOB, user BLOB
);
CREATE INDEX by_user ON events (user, round) WHERE user IS NOT NULL;
"""

_BLOCK: Final = 50_000
_MOST_PAGES: Final = 1 << 15  # of 4 KB


def check(log: EventLog, *, covered: int, of: str) -> None:
    """Whether each event has its round and its seal, and its digest unless it is ``covered``."""
    before, group, place = b"", list[Taken](), 0
    for place, event in enumerate(log.after(0), start=1):
        group.append(event)
        whole = event.round == place and event.batch == group[0].round
        if place > covered:
            whole = whole and digest_of((event.body or "").encode()) == event.digest
        if event.seal is not None:
            whole = whole and event.seal == _sealed_by(before, group)
            before, group = event.seal, []
        if not whole:
            raise StoreError(
                f"event {place} in {of} does not match its hash: the log of events was altered or "
                f"damaged. Refusing to go on"
            )
    if group or place < covered:
        raise StoreError(f"{of} is damaged: its last events are missing")


def upgrade(db: sqlite3.Connection, log: EventLog, *, covered: int, to: int) -> None:
    """Write a log that was checked anew, as this version of the library does."""
    db.execute("BEGIN IMMEDIATE")
    db.execute("ALTER TABLE events RENAME TO former")
    db.execute("DROP INDEX by_user")
    for statement in TABLES.split(";"):
        db.execute(statement)
    sealed = 0
    for group in _groups(db):
        last = group[-1].round
        if not log.add(group):
            raise StoreError(f"an id of the events up to {last} was taken twice. Refusing to go on")
        if last == covered or (last < covered and last - sealed >= _BLOCK):
            log.seal(last)
            sealed = last
    db.execute("DROP TABLE former")
    db.execute(f"PRAGMA user_version = {to}")
    db.execute("COMMIT")
    _shrink(db)


def _shrink(db: sqlite3.Connection) -> None:
    """Give back to the disk what the old log took; else later events get it.

    By way of memory, as long as that is little: a file elsewhere would hold what is secret here.
    """
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    if pages <= _MOST_PAGES:
        db.execute("PRAGMA temp_store = MEMORY")
        with suppress(sqlite3.OperationalError):  # a disk that is full
            db.execute("VACUUM")
        db.execute("PRAGMA temp_store = DEFAULT")


def _groups(db: sqlite3.Connection) -> Iterator[list[Taken]]:
    former = "SELECT round, id, digest, body, batch, NULL, user FROM former ORDER BY round"
    taken = (Taken(*row) for row in db.execute(former))
    return (list(group) for _, group in groupby(taken, key=attrgetter("batch")))


def _sealed_by(before: bytes, group: Sequence[Taken]) -> bytes:
    """The hash that tied a group of events, all but their bodies, to all events before it."""
    names = "".join([f" {len(event.id)}:{event.id}" for event in group])
    digests = b"".join([event.digest for event in group])
    if group[0].user is not None:  # of all in a store, or of none
        digests += b"".join([event.user or b"" for event in group])
    return digest_of(before + digests + f"{group[0].batch}{names}".encode())
