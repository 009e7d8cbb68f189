"""Durable runs are killed (signal 9) at random moments, and nothing is lost or told twice."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.golowich_livni.eager_forest import EagerForest
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness
from littlestone.service import durable
from littlestone.service.durable import DurableRun, Event
from littlestone.service.learning import Publisher, learn
from littlestone.service.store import chained

EVENTS = 400
BUDGET: dict[str, Any] = {"rounds": 10_000, "epsilon": 1.0, "delta": 1e-6}
LEARNERS: dict[str, PrivateLearner] = {
    "lazy-forest": LazyForest.calibrated(concepts=Points(), **BUDGET),
    "private-majority": PrivateMajority(concepts=Thresholds(64), **BUDGET),
    "eager-forest": EagerForest(concepts=Thresholds(2), **BUDGET),
}
STREAMS: dict[str, list[Event]] = {
    "lazy-forest": [Event(f"e{i}", "abc"[i % 3], int(i % 3 == 0)) for i in range(EVENTS)],
    "private-majority": [Event(f"e{i}", i % 64, int(i % 64 >= 23)) for i in range(EVENTS)],
    "eager-forest": [Event(f"e{i}", i % 2, 1) for i in range(EVENTS)],
}


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 90)


def open_run(name: str, folder: Path) -> DurableRun:
    store = folder / "run.db"
    recipe = LEARNERS[name]
    return DurableRun.resume(recipe, store) if store.exists() else DurableRun.start(recipe, store)


def work(name: str, folder: Path, group: int) -> None:
    """Take whatever is still missing, and a few events again, as a retrying client would."""
    run = open_run(name, folder)
    start = max(0, run.rounds - 20)
    publisher = Publisher(folder / "published.jsonl")
    learn(run, STREAMS[name][start:], publisher, group=group)
    publisher.close()
    run.close()


def child_at_work(name: str, folder: Path, group: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(name, folder, group)
        finally:
            os._exit(0)
    return child


def killed_after(seconds: float, name: str, folder: Path, group: int) -> None:
    child = child_at_work(name, folder, group)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def whole_lines(path: Path) -> bytes:
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def kill_and_check(name: str, group: int, kills: int, folder: Path, rng: Randomness) -> None:
    published = folder / "published.jsonl"
    for _ in range(kills):
        before = whole_lines(published)
        killed_after(rng.below(1000) / 1000 * 0.03, name, folder, group)
        assert whole_lines(published).startswith(before)
    work(name, folder, group)
    run = open_run(name, folder)
    assert run.rounds == EVENTS  # every event once
    receipts = run.take(STREAMS[name])
    assert [receipt.round for receipt in receipts] == list(range(1, EVENTS + 1))
    assert all(receipt.repeated for receipt in receipts)
    before = b""
    log = list(run.releases())
    for release in log:
        before = chained(before, release.body)
        assert release.chain == before
    lines = [json.loads(line) for line in published.read_bytes().splitlines()]
    assert [line for line in lines if "release" in line] == [json.loads(r.body) for r in log]
    run.close()


@pytest.mark.parametrize("group", [1, 50])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_few_kills(name: str, group: int, tmp_path: Path, rng: Randomness) -> None:
    kill_and_check(name, group, 5, tmp_path, rng)


@pytest.mark.slow
@pytest.mark.parametrize("group", [1, 50])
@pytest.mark.parametrize("name", LEARNERS)
def test_forty_kills_each(name: str, group: int, tmp_path: Path, rng: Randomness) -> None:
    """Together 240 kills across three learners."""
    kill_and_check(name, group, 40, tmp_path, rng)


def test_one_by_one_a_killed_run_publishes_what_an_unkilled_one_does(
    tmp_path: Path, rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "littlestone.service.durable.secrets.token_bytes", lambda count: bytes(count)
    )
    for folder in ("killed", "whole"):
        (tmp_path / folder).mkdir()
    for _ in range(4):
        killed_after(rng.below(30) / 1000, "private-majority", tmp_path / "killed", 1)
    for folder in ("killed", "whole"):  # one process would not use the same key twice
        os.waitpid(child_at_work("private-majority", tmp_path / folder, 1), 0)
    one, other = (
        (tmp_path / folder / "published.jsonl").read_bytes() for folder in ("killed", "whole")
    )
    assert one == other and one.count(b"\n") > 2
