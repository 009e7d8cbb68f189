"""Runs in PostgreSQL stand what all journals do, a server that crashes, and two machines."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.fleets import NEEDS_A_SERVER, dropping
from tests.journal_battery import CHECKS, EVENTS, RECIPE, frequent_checkpoints, taken
from tests.patience import until
from tests.postgresql_bench import PostgresBench
from tests.server import Server

from littlestone.errors import RollbackError, StoreError
from littlestone.runs.durable import DurableRun
from littlestone.runs.journal.postgresql import PostgresPlace
from littlestone.runs.journal.protocol import Entry
from littlestone.runs.journal.run_log import read_log, read_progress

__all__ = ["frequent_checkpoints"]
pytestmark = NEEDS_A_SERVER


@pytest.fixture
def bench(server: Server, tmp_path: Path) -> PostgresBench:
    return PostgresBench(server, tmp_path)


@pytest.mark.parametrize("check", CHECKS)
def test_the_battery_of_all_journals(check: str, bench: PostgresBench) -> None:
    check_journal = CHECKS[check]
    check_journal(bench)


def on_another_machine(place: PostgresPlace, folder: Path) -> PostgresPlace:
    """The secret and its mark were copied there; nothing but the database is shared."""
    folder.mkdir()
    for name in ("", ".mark"):
        shutil.copy2(f"{place.secret}{name}", folder / f"{place.secret.name}{name}")
    return PostgresPlace(place.dsn, folder / place.secret.name)


def test_of_two_machines_one_goes_on(bench: PostgresBench, tmp_path: Path) -> None:
    place = bench.place()
    taken(place, EVENTS[:8])
    there = on_another_machine(place, tmp_path / "there")
    run = DurableRun.resume(RECIPE, place)
    with pytest.raises(StoreError, match="in use"):
        DurableRun.resume(RECIPE, there)
    run.take(EVENTS[8:12])
    run.close()
    with pytest.raises(RollbackError):  # its mark is the old one
        DurableRun.resume(RECIPE, there)


def test_who_lost_the_lock_is_told_apart_by_the_branch(
    bench: PostgresBench, tmp_path: Path
) -> None:
    """Behind a pooler a lock may be anybody's: the branch is compared in every write."""
    place = bench.place()
    taken(place, EVENTS[:8])
    there = on_another_machine(place, tmp_path / "there")
    old = DurableRun.resume(RECIPE, place)
    journal: Any = old._log._journal
    journal._connection.execute("SELECT pg_advisory_unlock_all()")
    new: Any = there.open()
    new._branch = journal._position.branch  # as if it had come a moment later
    new._mark.write(journal._position, sync=True)
    new.enter(8, adopt=False)
    with pytest.raises(StoreError, match="continued by another process"):
        old.take(EVENTS[8:12])
    new.write([Entry("groups", 9, b"mine")], round_number=9)
    old.close()
    new.close()


def test_who_read_before_another_wrote_is_refused(bench: PostgresBench, tmp_path: Path) -> None:
    place = bench.place()
    taken(place, EVENTS[:8])
    run = DurableRun.resume(RECIPE, place)
    journal: Any = run._log._journal
    journal._connection.execute("SELECT pg_advisory_unlock_all()")
    there = on_another_machine(place, tmp_path / "there")
    late: Any = there.open()  # it has read eight rounds, and enters after the ninth
    run.take(EVENTS[8:9])
    with pytest.raises(StoreError, match="continued by another process in the meantime"):
        late.enter(8, adopt=False)
    run.take(EVENTS[9:12])
    run.close()
    late.close()


def test_who_enters_while_another_commits_is_refused(bench: PostgresBench, tmp_path: Path) -> None:
    """Also where the server's transactions see the state at their beginning by default."""
    place = bench.place()
    place.dsn += " options='-c default_transaction_isolation=repeatable\\\\ read'"
    taken(place, EVENTS[:8])
    run = DurableRun.resume(RECIPE, place)
    journal: Any = run._log._journal
    journal._connection.execute("SELECT pg_advisory_unlock_all()")
    late: Any = on_another_machine(place, tmp_path / "there").open()
    refusals = list[StoreError]()

    def enter() -> None:
        try:
            late.enter(8, adopt=False)
        except StoreError as refusal:
            refusals.append(refusal)

    entering = threading.Thread(target=enter)
    with journal._connection.transaction():
        journal._add([Entry("groups", 9, b"mine")])
        entering.start()
        with psycopg.connect(bench.server.dsn, autocommit=True) as looking:
            until(lambda: looking.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall())
    entering.join()
    run.close()
    late.close()
    assert "continued by another process in the meantime" in str(refusals)


def test_a_server_that_crashes_loses_nothing_acknowledged(
    bench: PostgresBench, server: Server
) -> None:
    place = bench.place()
    run = DurableRun.start(RECIPE, place)
    run.take(EVENTS[:30])
    known = list(run.releases())
    server.stop("immediate")
    with pytest.raises(StoreError):
        run.take(EVENTS[30:34])
    with pytest.raises(StoreError, match="unknown state"):
        run.take(EVENTS[30:34])
    run.close()
    with pytest.raises(StoreError, match="cannot be reached"):
        DurableRun.resume(RECIPE, place)
    server.start()
    run = DurableRun.resume(RECIPE, place)
    assert run.rounds == 30 and list(run.releases()) == known
    run.take(EVENTS)
    assert run.rounds == len(EVENTS)
    run.close()


def test_a_server_that_does_not_sync_is_made_to(bench: PostgresBench) -> None:
    place = bench.place()
    place.dsn += " options='-c synchronous_commit=off'"
    run = DurableRun.start(RECIPE, place)
    journal: Any = run._log._journal
    assert journal._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    run.close()


def test_the_database_does_not_have_the_key(bench: PostgresBench) -> None:
    place = bench.place()
    run = DurableRun.start(RECIPE, place)
    run.take(EVENTS)
    key = run._log.key
    run.close()
    with psycopg.connect(bench.server.dsn) as connection:
        for table in ("runs", "entries"):
            rows = connection.execute(f"SELECT t::text FROM littlestone_runs.{table} AS t")
            content = "".join(text for (text,) in rows)
            assert content and key.hex() not in content
    assert place.secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:s3cr:e/t@db.example/x",
        "postgresql://ann@db.example/x?password=s3cr:e/t",
        "host=db.example password=s3cr:e/t",
        "postgresql://:s3cr:e/t@db.example/x",
    ],
)
def test_no_password_is_shown(dsn: str, tmp_path: Path) -> None:
    place = PostgresPlace(dsn, tmp_path / "run.secret")
    assert "s3cr" not in str(place) and str(place).endswith("#" + str(tmp_path / "run.secret"))
    with pytest.raises(StoreError) as refusal:
        DurableRun.start(RECIPE, place)
    assert "s3cr" not in str(refusal.value)


def dropped(bench: PostgresBench, place: PostgresPlace) -> None:
    with psycopg.connect(bench.server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA littlestone_runs CASCADE")


def emptied(bench: PostgresBench, place: PostgresPlace) -> None:
    bench.put_back(place, None)


@pytest.mark.parametrize("lost", [dropped, emptied])
def test_a_run_that_is_gone_is_not_begun_anew(
    bench: PostgresBench, lost: Callable[[PostgresBench, PostgresPlace], None]
) -> None:
    place = bench.place()
    taken(place, EVENTS[:8])
    lost(bench, place)
    with pytest.raises(StoreError, match="missing from the database"):
        DurableRun.resume(RECIPE, place)
    place.secret.unlink()
    with pytest.raises(StoreError, match="is gone"):
        DurableRun.start(RECIPE, place)


def test_a_dump_that_was_read_in_is_a_copy(bench: PostgresBench) -> None:
    """Its tables have other numbers, though every row is the same."""
    place = bench.place()
    taken(place, EVENTS[:8])
    copy = bench.copied(place)
    dropped(bench, place)
    taken(bench.place(), [])  # makes the tables anew
    bench.put_back(place, copy)
    with pytest.raises(StoreError, match="is a copy"):
        DurableRun.resume(RECIPE, place)
    run = DurableRun.resume(RECIPE, place, adopt=True)
    assert run.adopted and run.rounds == 8
    run.close()


def test_a_refused_start_leaves_nothing_behind(bench: PostgresBench, tmp_path: Path) -> None:
    place = PostgresPlace("host=/nowhere dbname=none", tmp_path / "run.secret")
    with pytest.raises(StoreError, match="cannot be reached"):
        DurableRun.start(RECIPE, place)
    assert list(tmp_path.glob("*secret*")) == []


def test_a_branch_that_a_trigger_drops_is_missed_before_the_mark_has_it(
    bench: PostgresBench,
) -> None:
    place = bench.place()
    taken(place, EVENTS[:8])
    with (
        dropping(bench.server, "littlestone_runs.runs"),
        pytest.raises(StoreError, match="0 of 1 rows of the table runs"),
    ):
        DurableRun.resume(RECIPE, place)
    taken(place, EVENTS[:12])
    assert read_progress(place)[0] == 12


def test_a_database_without_an_encoding_is_like_any_other(
    bench: PostgresBench, tmp_path: Path
) -> None:
    """It is what initdb makes without a locale; there text was bytes, and no branch was known."""
    with psycopg.connect(bench.server.dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS plain")
        connection.execute("CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0")
    dsn = bench.server.dsn.replace("dbname=postgres", "dbname=plain")
    place = PostgresPlace(dsn, tmp_path / "run.secret")
    taken(place, EVENTS[:8])
    taken(place, EVENTS[:12])
    assert read_progress(place)[0] == 12


def test_many_runs_share_a_database(bench: PostgresBench) -> None:
    places = [bench.place() for _ in range(3)]
    for round_number in (0, 1):
        for number, place in enumerate(places):
            first = 10 * (number + round_number)
            taken(place, EVENTS[first : first + 10])
    logs = [read_log(place) for place in places]
    assert len({log.identity for log in logs}) == 3
