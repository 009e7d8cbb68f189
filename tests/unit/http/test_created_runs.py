"""Runs come into being whole or not at all, and go again as long as they have read nothing."""

import asyncio
import errno
import json
import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.unit.http.served import BUDGET, body, serving, with_keys

from littlestone.errors import StoreError, UnreachableError
from littlestone.http import run_thread
from littlestone.http.client import ServiceError
from littlestone.http.service import Role
from littlestone.locks import lock
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book
from littlestone.runs.durable import DurableRun

ORDINARY = {"schema": {"a": {"grid": [1, 2]}}, "rounds": 1000}
TOO_LARGE = ORDINARY | {"learner": "agnostic-finite"}  # found out by listing all trees only
KEYS = {"class": "keys", "rounds": 100, "epsilon": 1.0, "delta": 1e-6}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.create(tmp_path / "book", allowance=PrivacyGuarantee(epsilon=1.5, delta=1e-6))


def health(served: Any) -> tuple[int, int]:
    status, _, content = served.raw("GET", "/health", role=None)
    return status, json.loads(content)["broken"]


def test_an_ordinary_schema_with_all_defaults_makes_a_run(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        status, _, content = served.raw("POST", "/runs", body(name="a", **ORDINARY))
        assert status == 201, content
        assert served.client().send("a", {"a": 1.5}, 1)["round"] == 1
        assert health(served) == (200, 0)


def test_what_cannot_begin_leaves_nothing_behind(tmp_path: Path, book: Book) -> None:
    with serving(tmp_path / "runs", book=book) as served:
        status, _, content = served.raw("POST", "/runs", body(name="a", **TOO_LARGE))
        assert status == 422 and b"at most" in content
        assert health(served)[0] == 200
        assert list((tmp_path / "runs").iterdir()) == [] and book.entries() == []
        assert served.raw("POST", "/runs", body(name="a", **ORDINARY))[0] == 201


@pytest.mark.parametrize("step", ["start", "resume"])
def test_what_fails_on_the_way_is_undone(
    tmp_path: Path, book: Book, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise StoreError("the/store is damaged")

    with serving(tmp_path / "runs", book=book) as served:
        with monkeypatch.context() as once:
            once.setattr(DurableRun, step, broken)
            status, _, content = served.raw("POST", "/runs", body(name="a", **KEYS))
        assert status == 503 and b"the/store" not in content
        assert list((tmp_path / "runs").iterdir()) == [] and book.entries() == []
        assert health(served) == (200, 0) and served.raw("GET", "/runs/a")[0] == 404
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201


def test_a_run_that_read_nothing_is_removed_and_its_reservation_given_back(
    tmp_path: Path, book: Book
) -> None:
    with serving(tmp_path / "runs", book=book) as served:
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
        assert served.raw("POST", "/runs", body(name="b", **KEYS))[0] == 409  # no room
        for role, status in ((None, 401), (Role.READER, 403), (Role.WRITER, 403)):
            assert served.raw("DELETE", "/runs/a", role=role)[0] == status
        assert served.raw("DELETE", "/runs/none")[0] == 404
        assert served.client().remove("a") == {"removed": "a"}
        assert book.entries() == [] and list((tmp_path / "runs").iterdir()) == []
        assert served.raw("GET", "/runs/a")[0] == 404 and health(served) == (200, 0)
        # The name is free, for a run with other points, too.
        assert served.raw("POST", "/runs", body(name="a", **ORDINARY))[0] == 201
        assert served.client().send("a", {"a": 1.5}, 1)["round"] == 1
        with pytest.raises(ServiceError, match="has read events"):
            served.client().remove("a")
        assert served.client().send("a", {"a": 1.5}, 1)["round"] == 2
    [entry] = book.entries()
    assert entry.opened


def test_a_run_that_cannot_be_removed_goes_on(
    tmp_path: Path, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    with serving(tmp_path / "runs", book=book) as served:
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
        with monkeypatch.context() as once:
            once.setattr(Path, "rename", read_only)
            assert served.raw("DELETE", "/runs/a")[0] == 503
        until(lambda: served.raw("GET", "/runs/a")[0] == 200)
        assert [entry.opened for entry in book.entries()] == [False]
        assert served.client().remove("a") == {"removed": "a"}
        assert book.entries() == [] and list((tmp_path / "runs").iterdir()) == []


def test_a_run_waits_for_its_book(
    tmp_path: Path, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs of a service lock it at the start, and a thousand take longer than its patience."""
    monkeypatch.setattr("littlestone.runs.book._PATIENCE", 0.0)
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.01)
    with serving(tmp_path / "runs", book=book) as served:
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
        assert served.client().send("a", "x", 1)["round"] == 1
    with ExitStack() as held:
        lock(held.enter_context(book.path.open("r+b")))
        with serving(tmp_path / "runs", book=book) as served:
            until(lambda: health(served) == (200, 1))
            held.close()
            until(lambda: health(served) == (200, 0))
            assert served.client().send("a", "y", 1)["round"] == 2


def test_a_copy_of_a_removed_run_reads_nothing(tmp_path: Path, book: Book) -> None:
    """Its identity was given back, and whoever has the same name has another one."""
    runs, away = tmp_path / "runs", tmp_path / "away"
    with serving(runs, book=book) as served:
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
    shutil.copytree(runs / "a", away)
    with serving(runs, book=book) as served:
        served.client().remove("a")
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
        served.client().send("a", "x", 1)
    shutil.rmtree(runs / "a")
    shutil.move(away, runs / "a")
    with serving(runs, book=book, adopt=["a"]) as served, pytest.raises(ServiceError, match="503"):
        served.client(patience=0.0).send("a", "x", 1)


def test_events_that_came_first_keep_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take, taking, go = DurableRun.take, threading.Event(), threading.Event()

    def slow(run: DurableRun, *arguments: Any) -> Any:
        taking.set()
        assert go.wait(PATIENCE)
        return take(run, *arguments)

    with serving(tmp_path) as served:
        with_keys(served)
        monkeypatch.setattr(DurableRun, "take", slow)
        sent = threading.Thread(target=served.client().send, args=("abuse", "a", 1))
        sent.start()
        assert taking.wait(PATIENCE)
        runs, loop = served.service.runs, served.service.loop
        removal = asyncio.run_coroutine_threadsafe(runs.remove("abuse"), loop)
        go.set()
        sent.join(PATIENCE)
        assert removal.result(PATIENCE) is False
        assert served.client().send("abuse", "b", 1)["round"] == 2


def test_a_stream_ends_with_its_run(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        following = served.client(Role.READER).follow("abuse")
        assert next(following)["release"] == 1
        served.client().remove("abuse")
        with pytest.raises(ServiceError, match="404"):
            next(following)


@pytest.mark.parametrize("left", [(), ("store.mark",)], ids=["all", "but the mark"])
def test_a_run_whose_store_is_gone_is_not_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...]
) -> None:
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.05)
    with serving(tmp_path / "runs") as served:
        with_keys(served).send("abuse", "a", 1)
        served.client().create("other", concepts="keys", **BUDGET)
    away = tmp_path / "away"
    shutil.copytree(tmp_path / "runs" / "abuse", away)
    for path in (tmp_path / "runs" / "abuse").iterdir():
        if path.name not in ("run.json", *left):
            path.unlink()
    with serving(tmp_path / "runs") as served:
        assert health(served) == (200, 1)
        assert served.raw("GET", "/runs/abuse")[0] == 503
        assert served.client().send("other", "a", 1)["round"] == 1
        assert not (tmp_path / "runs" / "abuse" / "store").exists()
        metrics = served.raw("GET", "/metrics")[2]
        assert b"littlestone_broken_runs 1" in metrics


def test_a_restored_run_goes_on_when_its_owner_says_so(tmp_path: Path, book: Book) -> None:
    runs, backup = tmp_path / "runs", tmp_path / "backup"
    with serving(runs, book=book) as served:
        assert served.raw("POST", "/runs", body(name="abuse", **KEYS))[0] == 201
        served.client().send("abuse", "a", 1)
    shutil.copytree(runs, backup)
    runs.rename(tmp_path / "lost")  # deleted, its files could get their old numbers back
    shutil.copytree(backup, runs)
    with serving(runs, book=book) as served:
        assert health(served) == (200, 1)
    with pytest.raises(ValueError, match="adopt must name a run"), serving(runs, adopt=["abus"]):
        pass
    assert len(book.entries()) == 1
    for adopt in (["abuse"], []):  # for one start: it stands from then on
        with serving(runs, book=book, adopt=adopt) as served:
            assert health(served) == (200, 0)
            [said] = served.client()._json("GET", "/runs/abuse")["adopted"]
            assert f"On {said} the owner adopted" in served.raw("GET", "/view/abuse")[2].decode()
    with serving(runs, book=book) as served:
        assert served.client().send("abuse", "b", 1)["round"] == 2
    assert "is promised to 1 store (" in book.explain()
    store, statement = book.entries()
    assert statement.store == store.store and statement.promised.epsilon == 0
    assert (
        statement.promise
        == f"adopted on {said}: its owner says that no other copy of it was continued"
    )


def test_a_run_that_was_put_back_cannot_be_adopted(tmp_path: Path) -> None:
    with serving(tmp_path / "runs") as served:
        with_keys(served).send("abuse", "a", 1)
    store, backup = tmp_path / "runs" / "abuse" / "store", tmp_path / "backup"
    shutil.copy(store, backup)
    with serving(tmp_path / "runs") as served:
        served.client().send("abuse", "b", 1)
    shutil.copy(backup, store)  # beside a mark that knows better
    with serving(tmp_path / "runs", adopt=["abuse"]) as served:
        assert health(served) == (200, 1)
    assert not (store.parent / "adopted").exists()


def test_a_run_waits_for_a_server_that_is_gone_before_its_releases_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.01)
    with serving(tmp_path) as served:
        assert served.raw("POST", "/runs", body(name="a", **KEYS))[0] == 201
        assert served.client().send("a", "x", 1)["round"] == 1
    releases, left = DurableRun.releases, [None] * 2

    def gone(run: DurableRun, *, after: int = 0) -> Any:
        if left:
            left.pop()
            raise UnreachableError("the database cannot be reached")
        return releases(run, after=after)

    monkeypatch.setattr(DurableRun, "releases", gone)
    with serving(tmp_path) as served:
        until(lambda: not left and health(served) == (200, 0))
        assert served.client().send("a", "y", 1)["round"] == 2
