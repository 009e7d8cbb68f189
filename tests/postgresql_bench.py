"""A bench for journals in PostgreSQL, on the tests' own server."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from littlestone.runs.files import fingerprint, read_secret
from littlestone.runs.journal.postgresql import PostgresJournal, PostgresPlace
from tests.server import Server


class PostgresBench:
    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self._numbers = server, folder, count()
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS littlestone_runs CASCADE")

    def place(self) -> PostgresPlace:
        return PostgresPlace(self.server.dsn, self.folder / f"run-{next(self._numbers)}.secret")

    def copied(self, place: PostgresPlace) -> Any:
        if not place.exists():
            return None
        return [self._sql(place, f"SELECT * FROM {table} WHERE run = %s") for table in TABLES]

    def put_back(self, place: PostgresPlace, copied: Any) -> None:
        for table, rows in zip(TABLES, copied or [[], []], strict=True):
            self._sql(place, f"DELETE FROM {table} WHERE run = %s")
            for _, *row in rows:
                values = ", ".join(["%s"] * len(row))
                self._sql(place, f"INSERT INTO {table} VALUES (%s, {values})", *row)

    def lose_mark(self, place: PostgresPlace) -> None:
        Path(f"{place.secret}.mark").unlink()

    def alter(
        self, place: PostgresPlace, kind: str, number: int, change: Callable[[bytes], bytes | None]
    ) -> None:
        where = "FROM littlestone_runs.entries WHERE run = %s AND kind = %s AND number = %s"
        found = self._sql(place, f"SELECT body {where}", kind, number)
        self._sql(place, f"DELETE {where}", kind, number)
        changed = change(found[0][0] if found else b"")
        if changed is not None:
            insert = "INSERT INTO littlestone_runs.entries VALUES (%s, %s, %s, %s)"
            self._sql(place, insert, kind, number, changed)

    def alter_about(self, place: PostgresPlace, name: str, value: str) -> None:
        self._sql(
            place,
            "UPDATE littlestone_runs.runs SET about = "
            "(about::jsonb || jsonb_build_object(%s::text, %s::text))::text WHERE run = %s",
            name,
            value,
            last=True,
        )

    def abandon(self, journal: PostgresJournal) -> None:
        PostgresJournal.close(journal)

    def _sql(self, place: PostgresPlace, query: str, *values: Any, last: bool = False) -> list[Any]:
        run = fingerprint(read_secret(place.secret))
        with psycopg.connect(self.server.dsn, autocommit=True) as connection:
            cursor = connection.execute(query, (*values, run) if last else (run, *values))
            return cursor.fetchall() if cursor.description else []


TABLES = ("littlestone_runs.runs", "littlestone_runs.entries")
