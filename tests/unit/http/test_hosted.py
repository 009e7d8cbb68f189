"""The folder of all runs: nobody shares it, and nothing in it keeps the others from opening."""

import asyncio
import errno
import json
import os
import shutil
import sqlite3
import stat
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.unit.http.served import BUDGET, serving, with_keys

from littlestone.choose import request
from littlestone.choose.auto import auto
from littlestone.choose.request import Request
from littlestone.errors import StoreError
from littlestone.http import hosted, run_thread
from littlestone.http.app import application
from littlestone.http.client import ServiceError
from littlestone.http.hosted import Runs, RunTerms
from littlestone.http.server import server
from littlestone.http.service import Tokens
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal.run_log import read_log


def test_a_second_service_on_the_same_folder_does_not_start(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with pytest.raises(ValueError, match="another one is using"):
            server(application(tmp_path, Tokens.fresh()[0]), port=0)
        assert served.raw("GET", "/health")[0] == 200
    with serving(tmp_path) as served:
        assert served.raw("GET", "/health")[0] == 200


def test_who_closes_twice_lets_nobody_into_another_folder(tmp_path: Path) -> None:
    runs, other = Runs(tmp_path / "one"), Runs(tmp_path / "other")
    runs.lock()
    asyncio.run(runs.close())
    other.lock()  # its file has the number
    asyncio.run(runs.close())
    with pytest.raises(ValueError, match="another one is using"):
        Runs(tmp_path / "other").lock()
    asyncio.run(other.close())


def test_what_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with serving(tmp_path) as served:
        client = served.client(patience=0.0)
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", full)
            with pytest.raises(ServiceError) as refused:
                client.create("abuse", concepts="keys", **BUDGET)
        assert refused.value.status == 503 and "space" not in str(refused.value)
        assert list(tmp_path.iterdir()) == []
        assert client.create("abuse", concepts="keys", **BUDGET)["name"] == "abuse"


def test_what_readers_and_writers_rely_on_survives_a_power_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was synced is found again only if its folder was synced after it."""
    synced, sync = dict[int, set[str]](), os.fsync

    def noted(file: int) -> None:
        sync(file)
        if stat.S_ISDIR((found := os.fstat(file)).st_mode):
            synced[found.st_ino] = set(os.listdir(file))

    monkeypatch.setattr(os, "fsync", noted)
    with serving(tmp_path) as served:
        client = with_keys(served, publish_every=0.01)
        assert synced[(tmp_path / "abuse").stat().st_ino] >= {"store", "store.mark", "run.json"}
        assert "abuse" in synced[tmp_path.stat().st_ino]
        client.send_many("abuse", [("a", 1)] * 200)
        until(lambda: "shown" in synced[(tmp_path / "abuse").stat().st_ino])


def test_a_full_disk_forgets_no_adoption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the owner has said before stays on the page of the run."""
    hosted._write_lines(tmp_path / "adopted", ["once"])

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            hosted._write_lines(tmp_path / "adopted", ["once", "twice"])
    assert hosted._lines(tmp_path / "adopted") == ["once"]
    assert [path.name for path in tmp_path.iterdir()] == ["adopted"]
    hosted._write_lines(tmp_path / "adopted", [])
    assert hosted._lines(tmp_path / "adopted") == []


def test_a_run_that_cannot_be_read_keeps_no_other_from_opening(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("good", concepts="keys", **BUDGET)
    (tmp_path / ".new-of-a-killed-service").mkdir()
    (tmp_path / "empty").mkdir()
    bad = {"cut": "", "list": "[]", "later": '{"name": "later", "of": 2}', "deep": "[" * 100_000}
    for name, content in bad.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(content)
    bad["copied"] = "whose run.json says that it is good"
    shutil.copytree(tmp_path / "good", tmp_path / "copied")
    with serving(tmp_path) as served:
        client = served.client(patience=0.0)
        states = {run["name"]: run["state"] for run in client._json("GET", "/runs")}
        assert states == {"good": "open"} | dict.fromkeys(bad, "broken")
        assert served.client().send("good", "a", 1)["round"] == 1
        for name in bad:
            assert served.raw("GET", f"/runs/{name}")[0] == 503
        with pytest.raises(ServiceError, match="exists already"):
            client.create("cut", concepts="keys", **BUDGET)
        status, _, told = served.raw("GET", "/health", role=None)
        assert status == 200 and json.loads(told)["broken"] == len(bad)
        assert not any(name.encode() in told for name in bad)  # anyone may ask
        listed = {one["name"]: one["state"] for one in client._json("GET", "/runs")}
        assert {name for name, state in listed.items() if state == "broken"} == {*bad}
        assert served.raw("GET", "/")[2].count(b"cannot be opened") == len(bad)
        assert client.create("empty", concepts="keys", **BUDGET)["name"] == "empty"
    assert not list(tmp_path.glob(".new*"))
    assert json.loads((tmp_path / "empty" / "run.json").read_text())["name"] == "empty"


def test_a_folder_of_another_user_keeps_no_run_from_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may look into every folder, so it is only said that nobody may."""
    with serving(tmp_path) as served:
        for name in ("closed", "open"):
            served.client().create(name, concepts="keys", **BUDGET)
    (tmp_path / "lost+found").mkdir()  # where a disk of its own is mounted
    found = os.stat

    def refusing(path: Any, *arguments: Any, **more: Any) -> Any:
        if Path(path).parent.name in ("closed", "lost+found"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return found(path, *arguments, **more)

    monkeypatch.setattr(os, "stat", refusing)
    with serving(tmp_path) as served:
        states = {run["name"]: run["state"] for run in served.client()._json("GET", "/runs")}
        assert states == {"closed": "broken", "open": "open"}


def test_nobody_waits_while_a_run_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planning, planned, recipe = threading.Event(), threading.Event(), RunTerms.recipe

    def slow(terms: RunTerms) -> Any:
        planning.set()
        assert planned.wait(PATIENCE)
        return recipe(terms)

    with serving(tmp_path) as served:
        monkeypatch.setattr(RunTerms, "recipe", slow)
        made = threading.Thread(
            target=served.client().create, args=("abuse",), kwargs={"concepts": "keys", **BUDGET}
        )
        made.start()
        assert planning.wait(PATIENCE)
        assert served.raw("GET", "/health")[0] == 200
        planned.set()
        made.join(PATIENCE)
        assert served.raw("GET", "/runs/abuse")[0] == 200


def test_a_run_comes_back_when_there_is_a_disk_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.Event()
    take, resume = DurableRun.take, DurableRun.resume

    def taking(run: DurableRun, *arguments: Any) -> Any:
        if full.is_set():
            raise StoreError("the/store cannot be used")
        return take(run, *arguments)

    def opening(*arguments: Any, **more: Any) -> Any:
        if full.is_set():
            raise StoreError("the/store cannot be used") from sqlite3.OperationalError(
                "disk is full"
            )
        return resume(*arguments, **more)

    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.05)
    with serving(tmp_path) as served:
        client = served.client(patience=0.0)
        client.create("abuse", concepts="keys", **BUDGET)
        client.send("abuse", "a", 1)
        monkeypatch.setattr(DurableRun, "take", taking)
        monkeypatch.setattr(DurableRun, "resume", opening)
        full.set()
        with pytest.raises(ServiceError, match="503"):
            client.send("abuse", "b", 1)
        until(lambda: served.raw("GET", "/runs/abuse")[0] == 503)
        full.clear()
        assert served.client(patience=PATIENCE).send("abuse", "b", 1)["round"] == 2
        full.set()
        with pytest.raises(ServiceError, match="503"):
            client.send("abuse", "c", 1)  # and the service can be stopped while it waits


def test_a_run_comes_back_when_a_command_has_read_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.01)
    with serving(tmp_path) as served:
        assert with_keys(served).send("abuse", "a", 1)["round"] == 1
        recipe = served.service.runs.hosted["abuse"].recipe
    reading = DurableRun.resume(recipe, tmp_path / "abuse" / "store")
    with serving(tmp_path) as served:
        until(lambda: served.raw("GET", "/runs/abuse")[0] == 503)
        reading.close()
        until(lambda: served.raw("GET", "/runs/abuse")[0] == 200)
        assert served.client().send("abuse", "b", 1)["round"] == 2


def test_a_store_that_goes_while_it_is_served_is_waited_for_and_not_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_thread, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(run_thread, "LONGEST_PAUSE", 0.05)
    (tmp_path / "away").mkdir()
    with serving(tmp_path / "runs") as served:
        client = served.client(patience=0.0)
        client.create("abuse", concepts="keys", **BUDGET)
        assert client.send("abuse", "a", 1)["round"] == 1
        moved = [path for path in (tmp_path / "runs" / "abuse").iterdir() if path.stem != "run"]
        for path in moved:  # with its mark, so that nothing else would tell
            path.rename(tmp_path / "away" / path.name)
        for _ in range(10):
            with pytest.raises(ServiceError):
                client.send("abuse", "b", 1)
            time.sleep(0.05)
        assert not (tmp_path / "runs" / "abuse" / "store").exists()
        for path in sorted(moved, reverse=True):  # its mark first: one without is not waited for
            (tmp_path / "away" / path.name).rename(path)
        assert served.client(patience=PATIENCE).send("abuse", "b", 1)["round"] == 2


def test_a_large_schema_says_what_it_needs(tmp_path: Path) -> None:
    schema = {name: {"grid": list(range(20))} for name in ("delay", "age")}
    with serving(tmp_path) as served:
        client = served.client()
        with pytest.raises(ServiceError, match="adversary must be 'oblivious'"):
            client.create("rules", schema=schema, adversary="adaptive", **BUDGET)
        assert client.create("rules", schema=schema, **BUDGET)["learner"] == "DisjointBatches"
        small = {"schema": {"delay": {"grid": [0]}}, "adversary": "adaptive"}
        assert client.create("few", **small, **BUDGET)["learner"] == "AgnosticFinite"


def earlier_learner(concepts: Any, **terms: Any) -> Any:
    """What ``auto`` might have been."""
    today: Any = auto(concepts, **terms)
    return replace(today, first=2)


def test_a_run_of_an_earlier_default_goes_on_with_its_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms: Any = {
        "concepts": "thresholds:8",
        "adversary": "oblivious",
        "rounds": 100,
        "epsilon": 9.0,
    }
    events = [(5 * n % 8, int((5 * n % 8 >= 4) != (n >= 14))) for n in range(80)]
    with monkeypatch.context() as then:
        then.setattr(request, "auto", earlier_learner)
        with serving(tmp_path / "here") as served:
            served.client().create("rules", **terms)
            served.client().send_many("rules", events[:20])
        shutil.copytree(tmp_path / "here", tmp_path / "there")
        store = tmp_path / "there" / "rules" / "store"
        recipe = Request(over="thresholds:8", rounds=100, epsilon=9.0).recipe()
        twin = DurableRun.resume(recipe, store, adopt=True)
        twin.take([Event(f"e{n}", *example) for n, example in enumerate(events[20:])])
        expected = [release.body for release in twin.releases()]
        twin.close()
    with serving(tmp_path / "here") as served:
        assert served.client(patience=PATIENCE).send_many("rules", events[20:])["taken"] == 60
    log = read_log(tmp_path / "here" / "rules" / "store")
    assert [release.body for release in log.releases] == expected and len(expected) > 1


def test_a_run_whose_folder_says_something_else_than_its_store_is_not_read(
    folder_in_memory: Path,
) -> None:
    terms: Any = {"concepts": "thresholds:8", "adversary": "oblivious", "rounds": 100}
    changes = {
        "epsilon": ('"epsilon": 1.0', '"epsilon": 2.0'),
        "rounds": ('"rounds": 100', '"rounds": 200'),
        "class": ("thresholds:8", "thresholds:9"),
        "learner": ('"learner": "auto"', '"learner": "private-majority"'),
        "recipe": ('first\\":32', 'first\\":33'),  # another than in the store
        "cost": ('epsilon\\":1.0', 'epsilon\\":9.0'),
    }
    with serving(folder_in_memory) as served:
        for name in changes:
            served.client().create(name, **terms)
    for name, (before, after) in changes.items():
        file = folder_in_memory / name / "run.json"
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after, 1))
    with serving(folder_in_memory) as served:
        for name in changes:
            assert served.raw("GET", f"/runs/{name}")[0] == 503
