"""``learn`` and ``serve`` over a database, and every command that looks at such a store."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest
from tests.fleets import NEEDS_A_SERVER, without_writes
from tests.patience import until
from tests.server import Server
from tests.unit.http.served import serving

from littlestone.http import run_thread
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.run_log import read_progress

pytestmark = NEEDS_A_SERVER
Command = Callable[..., tuple[int, str, str]]
LEARN = ("learn", "events.csv", "--label", "y", "--feature", "x", "--quiet", "--out", "rules.jsonl")
ROWS = 20_000  # with a sync for each, half a minute's work: whoever is to be killed is not done
TERMS = ("--class", "thresholds:64", "--rounds", "1000", "--epsilon", "8")


def address(server: Server, file: str = "run.secret") -> str:
    return f"postgresql:///postgres?host={server.folder}&user=postgres&password=s3cret#{file}"


@pytest.fixture(autouse=True)
def folder(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(200)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS littlestone_runs CASCADE")


def written(rows: int) -> None:
    lines = [f"{37 * n % 64},{int(37 * n % 64 >= 23)}" for n in range(rows)]
    Path("events.csv").write_text("\n".join(["x,y", *lines]) + "\n")


def test_learn_is_continued_and_looked_at(server: Server, command: Command) -> None:
    store = ("--store", address(server))
    status, _, said = command(*LEARN, *TERMS, *store)
    assert status == 0, said
    written(300)
    status, _, said = command(*LEARN, *store)
    assert status == 0, said
    assert read_progress(place_of(address(server)))[0] == 300
    status, printed, said = command("status", address(server))
    assert status == 0 and "300 of at most 1,000" in printed, said
    assert "s3cret" not in printed + said and "ε = 8" in printed
    status, printed, _ = command("verify", "rules.jsonl", *store)
    assert status == 0 and "has logged the same, and 0 more" in printed
    assert "s3cret" not in printed
    status, _, said = command("report", address(server), "--out", "page.html")
    assert status == 0 and "s3cret" not in Path("page.html").read_text(), said
    status, printed, said = command("predict", address(server), "events.csv", "--feature", "x")
    assert status == 0 and printed.count("\n") == 301, said
    with psycopg.connect(server.dsn) as connection:
        (about,) = connection.execute("SELECT about FROM littlestone_runs.runs").fetchone() or ("",)
    assert "s3cret" not in about  # its options are kept there


def test_the_book_counts_it_once(server: Server, command: Command) -> None:
    assert command("budget", "init", "book.json", "--epsilon", "8")[0] == 0
    words = (*LEARN, "--store", address(server), "--book", "book.json")
    assert command(*words, *TERMS)[0] == 0
    written(220)
    assert command(*words)[0] == 0
    other = (*LEARN[:-1], "other.jsonl", *TERMS, "--store", address(server, "other.secret"))
    status, _, said = command(*other, "--book", "book.json")
    assert status == 2 and "8" in said
    assert not Path("other.secret").exists() and not Path("other.secret.mark").exists()
    status, printed, _ = command("budget", "show", "book.json")
    assert status == 0 and "#" in printed and "s3cret" not in printed


def test_adoption_and_rollback(server: Server, command: Command) -> None:
    words = (*LEARN, "--store", address(server))
    assert command(*words, *TERMS)[0] == 0
    mark = Path("run.secret.mark").read_bytes()
    Path("run.secret.mark").unlink()
    status, _, said = command(*words)
    assert status == 2 and "--adopt" in said
    status, _, said = command(*words, "--adopt")
    assert status == 0 and "adopted: " in said
    Path("run.secret.mark").write_bytes(mark)  # of before: the database is ahead of it
    status, _, said = command(*words, "--adopt")
    assert status == 2 and "rolled back" in said


def test_an_output_never_overwrites_the_secret(server: Server, command: Command) -> None:
    words = (*LEARN[:-1], "run.secret", *TERMS, "--store", address(server))
    status, _, said = command(*words)
    assert status == 2 and "must not overwrite" in said


def test_a_killed_learn_goes_on(server: Server, tmp_path: Path) -> None:
    """Killed by signal 9 while it commits row by row; then every row is there, once."""
    written(ROWS)
    words = (*LEARN, *TERMS[:2], "--rounds", str(ROWS), "--epsilon", "8", "--group", "1")
    store = ("--store", address(server))
    place = place_of(address(server))

    def reached(rows: int) -> bool:
        return place.exists() and read_progress(place)[0] >= rows

    for wanted in (1, 60, 150):
        child = subprocess.Popen([sys.executable, "-m", "littlestone", *words, *store])
        try:
            until(partial(reached, wanted))
        finally:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
    assert read_progress(place)[0] < ROWS
    done = subprocess.run([sys.executable, "-m", "littlestone", *words[:-1], "500", *store])
    assert done.returncode == 0 and read_progress(place)[0] == ROWS
    checked = subprocess.run(
        [sys.executable, "-m", "littlestone", "verify", "rules.jsonl", *store],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0 and "and 0 more" in checked.stdout


def test_a_service_over_a_database(server: Server, tmp_path: Path) -> None:
    store = address(server, "served")
    made = {"class": "thresholds:64", "rounds": 1000, "epsilon": 8.0}
    with serving(store) as served:
        client = served.client()
        for name in ("one", "two", "gone"):
            client._json("POST", "/runs", {"name": name, **made})
        served.raw("POST", "/runs/one/events", b'{"id": "a", "x": 5, "y": 1}')
        assert served.raw("DELETE", "/runs/gone")[0] in (200, 204)
        before = served.raw("GET", "/runs/one/releases")[2]
    assert {path.name for path in Path("served/one").iterdir()} >= {"run.json", "secret"}
    with psycopg.connect(server.dsn) as connection:
        row = connection.execute("SELECT count(*) FROM littlestone_runs.runs").fetchone()
    assert row == (2,)
    with serving(store) as served:
        again = served.raw("POST", "/runs/one/events", b'{"id": "a", "x": 5, "y": 1}')
        assert b'"repeated": true' in again[2] or b'"repeated":true' in again[2]
        assert served.raw("GET", "/runs/one/releases")[2] == before


def test_a_service_waits_for_its_database(server: Server) -> None:
    made = {"class": "thresholds:64", "rounds": 1000, "epsilon": 8.0}
    with serving(address(server, "served")) as served:
        served.client()._json("POST", "/runs", {"name": "one", **made})

        def sent(name: bytes) -> int:
            return served.raw("POST", "/runs/one/events", b'{"id": "%s", "x": 5, "y": 1}' % name)[0]

        assert sent(b"a") == 200
        server.stop("immediate")
        assert sent(b"b") == 503
        server.start()
        until(lambda: sent(b"b") == 200)
        rounds = read_progress(place_of(address(server, "served/one/secret")))[0]
        assert rounds == 2  # each once


def test_a_service_waits_for_a_database_that_only_reads(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.05)
    made = {"class": "thresholds:64", "rounds": 1000, "epsilon": 8.0}
    with serving(address(server, "served")) as served:
        served.client()._json("POST", "/runs", {"name": "one", **made})

        def sent(name: bytes) -> int:
            return served.raw("POST", "/runs/one/events", b'{"id": "%s", "x": 5, "y": 1}' % name)[0]

        assert sent(b"a") == 200
        with without_writes(server):
            assert sent(b"b") == 503
            until(lambda: served.raw("GET", "/runs/one")[0] == 503)
        until(lambda: sent(b"b") == 200)
