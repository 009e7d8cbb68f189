"""Store journals in PostgreSQL: any number of runs, each with a local secret and mark.

The database is as secret as the data: it holds the examples after the last checkpoint and the state
of the learner. It never holds the key of the noise: that is in a file, whose fingerprint names the
run in the database, and beside which the mark lies. The mark rejects a restored backup of the
database; the branch tells two copies of the file apart.
"""

import glob
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg

from littlestone.errors import InUseError, LittlestoneError, StoreError, UnreachableError
from littlestone.runs.files import (
    create_secret,
    fingerprint,
    read_secret,
    refuse_beside,
    sync_folder,
)
from littlestone.runs.journal.mark import NOWHERE, RESTORE, Mark, StorePosition
from littlestone.runs.journal.protocol import BLOCKS, GROUPS, Entry

_TABLES: Final = """
CREATE SCHEMA littlestone_runs;
CREATE TABLE littlestone_runs.runs (
    run bytea PRIMARY KEY, about text NOT NULL, branch text NOT NULL
);
CREATE TABLE littlestone_runs.entries (
    run bytea NOT NULL, kind text COLLATE "C" NOT NULL, number bigint NOT NULL,
    body bytea NOT NULL, PRIMARY KEY (run, kind, number)
);
"""
_ADD: Final = """
WITH mine AS (
    SELECT FROM littlestone_runs.runs WHERE run = %b AND branch = %t FOR UPDATE
)
INSERT INTO littlestone_runs.entries
SELECT %b, new.* FROM mine, unnest(%t::text[], %b::int8[], %b::bytea[]) AS new
"""
_DROP: Final = "DELETE FROM littlestone_runs.entries WHERE run = %b AND kind = %t AND number <= %b"
# The database and its table: a restored dump has other numbers.
_COPY: Final = """
SELECT (SELECT oid::int8 FROM pg_database WHERE datname = current_database()) << 32
    | 'littlestone_runs.entries'::regclass::oid::int8
"""
_PAGE: Final = {BLOCKS: 8}  # entries that are fetched at once; blocks are large
_USUAL_PAGE: Final = 1000
_DRAFT: Final = "[0-9a-f]" * 16
PASSING: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
"""Errors that pass: also of a standby, or of a server whose full disk stops all writes."""


def connect(dsn: str) -> "psycopg.Connection[Any]":
    """Connect; each statement is a transaction unless one was begun."""
    try:
        connection = psycopg.connect(
            dsn,
            autocommit=True,
            application_name="littlestone",
            client_encoding="UTF8",  # in SQL_ASCII, the default of some servers, text is bytes
        )
        # Whatever the server's default: who waited for a lock must see what was committed.
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        (durable,) = one(connection, "SHOW synchronous_commit")
        if durable == "off":  # a mark ahead of the database would reject it forever
            connection.execute("SET synchronous_commit = on")
        return connection
    except psycopg.OperationalError as problem:
        raise UnreachableError(f"the database cannot be reached: {_reason(problem)}") from None
    except psycopg.Error:  # the message may quote the password
        raise StoreError("dsn must be as in postgresql://user@host/name, or key=value") from None


class PostgresPlace:
    """A run in a database, identified by the file with its secret."""

    def __init__(self, dsn: str, secret: Path) -> None:
        self.dsn, self.secret = dsn, Path(os.path.realpath(secret))
        self.file = self.secret
        address = re.sub(r"(://[^/@:]*):.*@", r"\1@", dsn).partition("?")[0]
        self._shown = address if "://" in dsn else "the database"  # a dsn may contain a password

    def __str__(self) -> str:
        return f"{self._shown}#{self.secret}"

    def exists(self) -> bool:
        """Return whether the file of the secret exists."""
        return self.secret.exists()

    def create(self, about: Mapping[str, str], key: bytes, first: Entry) -> "PostgresJournal":
        """Create a run; the secret is on disk before the first example, and nothing on failure."""
        with refusing(self):
            refuse_beside(self.secret)
            with Mark.of_new(self.secret, store=str(self)) as mark:
                self._place(about, key, first, mark)
                journal = PostgresJournal(self, mark)
                journal.enter(0, adopt=False)
            return journal

    def _place(self, about: Mapping[str, str], key: bytes, first: Entry, mark: Mark) -> None:
        """Create a run in the database; its secret gets its name last."""
        self._discard_drafts()
        draft = self.secret.with_name(f"{self.secret.name}.{secrets.token_hex(8)}.new")
        try:
            create_secret(draft, key)
            run, branch = fingerprint(key), secrets.token_hex(16)
            with connect(self.dsn) as connection:
                with connection.transaction():
                    _make_tables(connection)
                    connection.execute(
                        "INSERT INTO littlestone_runs.runs VALUES (%s, %s, %s)",
                        (run, json.dumps(dict(about)), branch),
                    )
                    connection.execute(
                        "INSERT INTO littlestone_runs.entries VALUES (%s, %s, %s, %s)",
                        (run, *first),
                    )
                copy = _copy_of(connection)
            mark.write(StorePosition(about["identity"], NOWHERE, branch, copy, 0), sync=True)
            os.rename(draft, self.secret)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(self.secret.parent)

    def open(self, *, adopt: bool = False) -> "PostgresJournal":
        """Open the journal, locked by its mark."""
        with refusing(self):
            self._require()
            mark = Mark(self.secret, create=adopt, store=str(self))
            try:
                return PostgresJournal(self, mark)
            except BaseException:
                mark.close()
                raise

    def discard(self) -> None:
        """Delete a run from the database, and its local files."""
        run = fingerprint(read_secret(self.secret))
        with refusing(self), connect(self.dsn) as connection, connection.transaction():
            for table in ("runs", "entries"):
                connection.execute(f"DELETE FROM littlestone_runs.{table} WHERE run = %s", (run,))
        for name in ("", ".mark"):
            self.secret.with_name(self.secret.name + name).unlink(missing_ok=True)

    @contextmanager
    def look(self) -> Iterator["PostgresReading"]:
        """Yield the journal for reading, in a transaction that sees one state."""
        with refusing(self):
            self._require()
            with connect(self.dsn) as connection, connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield PostgresReading(self, connection)

    def _discard_drafts(self) -> None:
        """Delete drafts: the mark is locked, so they are from killed processes."""
        for stale in self.secret.parent.glob(f"{glob.escape(self.secret.name)}.{_DRAFT}.new"):
            with suppress(StoreError):  # half of a secret names no run
                PostgresPlace(self.dsn, stale).discard()
            stale.unlink(missing_ok=True)

    def _require(self) -> None:
        if not self.exists():
            raise StoreError(
                f"there is no store at {self}: the file of its secret is missing. {RESTORE}"
            )


class PostgresReading:
    """The entries of one run."""

    def __init__(self, place: PostgresPlace, connection: "psycopg.Connection[Any]") -> None:
        self._place, self._connection = place, connection
        self.key = read_secret(place.secret)
        self._run = fingerprint(self.key)
        self._about, self._branch = self._row()

    def __str__(self) -> str:
        return str(self._place)

    def about(self) -> dict[str, str]:
        """Return what the run was created with."""
        return dict(json.loads(self._about))

    def read(self, kind: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield entries page by page, so that an abandoned reader leaves no transaction open."""
        size = _PAGE.get(kind, _USUAL_PAGE)
        query = "SELECT number, body {} AND number > %s ORDER BY number LIMIT %s"
        page = [(after, b"")]
        while page:
            page = self._rows(query, kind, page[-1][0], size)
            yield from page

    def get(self, kind: str, number: int) -> bytes | None:
        """Return the entry with this number."""
        rows = self._rows("SELECT body {} AND number = %s", kind, number)
        return rows[0][0] if rows else None

    def last(self, kind: str) -> tuple[int, bytes] | None:
        """Return the entry with the largest number."""
        rows = self._rows("SELECT number, body {} ORDER BY number DESC LIMIT 1", kind)
        return rows[0] if rows else None

    def _rows(self, query: str, kind: str, *values: int) -> list[Any]:
        where = query.format("FROM littlestone_runs.entries WHERE run = %s AND kind = %s")
        with refusing(self), self._connection.cursor(binary=True) as cursor:
            return cursor.execute(where, (self._run, kind, *values)).fetchall()

    def _row(self, lock: str = "") -> tuple[str, str]:
        query = "SELECT about, branch FROM littlestone_runs.runs WHERE run = %s" + lock
        try:
            with refusing(self):
                row = self._connection.execute(query, (self._run,)).fetchone()
        except _NoTablesError:
            row = None
        if row is None:
            raise StoreError(
                f"{self} is missing from the database: restore it; a new run would learn from the "
                f"same people again, and its budget adds to what was already published"
            )
        about, branch = row
        return about, branch


class PostgresJournal(PostgresReading):
    """The entries of a run, held by one process: by its mark, a lock and the branch."""

    def __init__(self, place: PostgresPlace, mark: Mark) -> None:
        connection = connect(place.dsn)
        try:
            super().__init__(place, connection)
            with refusing(place):
                self._lock()
                self._about, self._branch = self._row()
        except BaseException:
            connection.close()
            raise
        self._mark = mark
        self._position: StorePosition

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        """Begin to write after ``round_number``, in a new branch."""
        with refusing(self):
            coming, copy = secrets.token_hex(16), _copy_of(self._connection)
            identity = self.about()["identity"]
            here = StorePosition(identity, self._branch, coming, copy, round_number)
            self._position, adopted = self._mark.enter(
                here, lambda branch: self._set_branch(branch, round_number), adopt=adopt
            )
        return adopted

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        """Store new entries and drop old ones in one transaction, then move the mark."""
        with refusing(self):
            if drop:
                with self._connection.transaction():
                    self._add(new)
                    for kind, last in drop:
                        self._connection.execute(_DROP, (self._run, kind, last))
            else:
                self._add(new)
        self._mark.advance(round_number)

    def close(self) -> None:
        """Release the lock and the mark."""
        with suppress(psycopg.Error):  # explicitly: a server is slow to notice a lost connection
            self._connection.execute("SELECT pg_advisory_unlock(%s)", (self._lock_name,))
        self._connection.close()
        self._mark.close()

    @property
    def _lock_name(self) -> int:
        return int.from_bytes(self._run[:8], signed=True)

    def _lock(self) -> None:
        """Lock the run against other machines; wait briefly for a process that was just killed."""
        for pause in (0.01, 0.05, 0.2, 0.5, 0.0):
            if one(self._connection, "SELECT pg_try_advisory_lock(%s)", self._lock_name)[0]:
                return
            time.sleep(pause)
        raise InUseError(f"{self} is in use by another process")

    def _add(self, new: Sequence[Entry]) -> None:
        """Insert entries in one statement, so that a group needs one round trip."""
        kinds, numbers, bodies = map(list, zip(*new, strict=True))
        values = (self._run, self._position.branch, self._run, kinds, numbers, bodies)
        if self._connection.execute(_ADD, values).rowcount != len(new):
            raise StoreError(
                f"{self} was continued by another process. This run cannot be continued"
            )

    def _set_branch(self, branch: str, round_number: int) -> None:
        """Set the branch if the run is unchanged; a lock alone is not enough behind a pooler."""
        with self._connection.transaction():
            _, found = self._row(" FOR UPDATE")
            (last,) = one(
                self._connection,
                "SELECT coalesce(max(number), 0) FROM littlestone_runs.entries "
                "WHERE run = %s AND kind IN (%s, %s)",
                *(self._run, GROUPS, BLOCKS),
            )
            if found != self._branch or last != round_number:
                raise StoreError(f"{self} was continued by another process in the meantime")
            done = self._connection.execute(
                "UPDATE littlestone_runs.runs SET branch = %s WHERE run = %s", (branch, self._run)
            )
            if done.rowcount != 1:  # the mark is about to say so
                raise rows_dropped(done.rowcount, 1, "runs")


class _NoTablesError(StoreError):
    """The database has no runs yet."""


@contextmanager
def refusing(where: object) -> Iterator[None]:
    """Turn errors of the server into errors of the store, in one sentence without data."""
    try:
        yield
    except LittlestoneError:
        raise
    except psycopg.errors.UniqueViolation:
        raise StoreError(f"{where} already has an entry that is to be written") from None
    except psycopg.errors.UndefinedTable as problem:
        raise _NoTablesError(f"{where} cannot be used: {_first_line(problem)}") from None
    except PASSING as problem:
        raise UnreachableError(f"{where} cannot be reached: {_first_line(problem)}") from None
    except (psycopg.Error, OSError) as problem:
        raise StoreError(f"{where} cannot be used: {_first_line(problem)}") from None


def _make_tables(connection: "psycopg.Connection[Any]") -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (0x4C53544E,))
    if one(connection, "SELECT to_regclass('littlestone_runs.entries')")[0] is None:
        connection.execute(_TABLES)


def _copy_of(connection: "psycopg.Connection[Any]") -> int:
    return int(one(connection, _COPY)[0])


def one(connection: "psycopg.Connection[Any]", query: str, *values: Any) -> tuple[Any, ...]:
    """Return the one row of a query."""
    row: tuple[Any, ...] | None = connection.execute(query, values or None).fetchone()
    assert row is not None
    return row


def rows_dropped(count: int, expected: int, table: str) -> StoreError:
    """Return the refusal of a transaction that wrote fewer rows than it should have."""
    return StoreError(
        f"the database wrote {count} of {expected} rows of the table {table}, so nothing was "
        f"changed: a trigger or a rule drops rows. Remove it"
    )


def _first_line(problem: Exception) -> str:
    return str(problem).strip().split("\n")[0].rpartition("FATAL:")[2].strip() or "no answer"


def _reason(problem: Exception) -> str:
    """Return the reason without quotes from the address, which may be the password."""
    said = _first_line(problem)
    _, failed, reason = said.rpartition("failed: ")
    if failed:
        return reason
    return said if "FATAL:" in str(problem) else "no answer, or the address is wrong"
