"""Durable runs are killed (signal 9) at random moments, and nothing is lost or told twice.

``make kills KILLS=10000`` runs as many as one likes; the quick suite runs a few.
"""

import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from tests.server import MISSING, binaries

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness
from littlestone.runs import durable
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.protocol import Place
from littlestone.runs.learning import Publisher, learn
from littlestone.runs.published import examine, release_line

NEEDS_A_SERVER = [pytest.mark.fleet, pytest.mark.skipif(binaries() is None, reason=MISSING)]
EVENTS = 400
KILLS = int(os.environ.get("KILLS", "240"))
KILLS_OF_ONE_STORE = 40
BUDGET: dict[str, Any] = {"rounds": 10_000, "epsilon": 1.0, "delta": 1e-6}
LEARNERS: dict[str, PrivateLearner] = {
    "lazy-forest": LazyForest.calibrated(concepts=Points(), **BUDGET),
    "private-majority": PrivateMajority(concepts=Thresholds(64), **BUDGET),
    "eager-forest": EagerForest(concepts=Thresholds(2), **BUDGET),
    "counted": PrivateMajority(concepts=Thresholds(64), max_contributions=3, **BUDGET),
}
USERS = {"counted": "who"}
STREAMS: dict[str, list[Event]] = {
    "lazy-forest": [Event(f"e{i}", "abc"[i % 3], int(i % 3 == 0)) for i in range(EVENTS)],
    "private-majority": [Event(f"e{i}", i % 64, int(i % 64 >= 23)) for i in range(EVENTS)],
    "eager-forest": [Event(f"e{i}", i % 2, 1) for i in range(EVENTS)],
    "counted": [Event(f"e{i}", i % 64, int(i % 64 < 9), user=f"{i % 70}") for i in range(EVENTS)],
}


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 90)


ON_A_SERVER: list[str] = []
"""The address of the server that runs are on, if they are."""


@pytest.fixture(params=[False, pytest.param(True, marks=NEEDS_A_SERVER)], ids=["file", "server"])
def _anywhere(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs in files, and runs on a server."""
    if request.param:
        ON_A_SERVER.append(request.getfixturevalue("server").dsn)
    yield
    ON_A_SERVER.clear()


def store_in(folder: Path) -> Place:
    if not ON_A_SERVER:
        return place_of(folder / "run.db")
    from littlestone.runs.journal.postgresql import PostgresPlace  # noqa: PLC0415 (optional)

    return PostgresPlace(ON_A_SERVER[0], folder / "run.db")


def open_run(name: str, folder: Path) -> DurableRun:
    store = store_in(folder)
    opened = DurableRun.resume if store.exists() else DurableRun.start
    return opened(LEARNERS[name], store, users=USERS.get(name))


def work(name: str, folder: Path, group: int) -> None:
    """Take whatever is still missing, and a few events again, as a retrying client would."""
    run = open_run(name, folder)
    start = max(0, run.rounds - 20)
    publisher = Publisher(folder / "published.jsonl")
    learn(run, STREAMS[name][start:], publisher, group=group)
    publisher.close()
    run.close()


def dying_at_line(count: int) -> None:
    """Let this process die when it has come to so many lines of the service's code."""
    left = count

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if f"littlestone{os.sep}runs" not in frame.f_code.co_filename:
            return None
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def child_at_work(name: str, folder: Path, group: int, lines: int | None = None) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if lines is not None:
                dying_at_line(lines)
            work(name, folder, group)
            status = 0
        finally:
            os._exit(status)
    return child


def killed_after(seconds: float, name: str, folder: Path, group: int) -> bool:
    child = child_at_work(name, folder, group)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return killed(child)


def killed(child: int) -> bool:
    """Whether it was killed before it was done; it must not have ended in any other way."""
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def killed_somewhere(name: str, folder: Path, group: int, rng: Randomness) -> bool:
    """By the clock, or at some line, early ones as often as late ones."""
    if rng.coin():
        return killed_after(rng.below(1000) / 1000 * 0.03, name, folder, group)
    return killed(child_at_work(name, folder, group, 1 + rng.below(2 << rng.below(14))))


def whole_lines(path: Path) -> bytes:
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def kill_and_check(name: str, group: int, kills: int, folder: Path, rng: Randomness) -> int:
    """Kill a run until it is done, or so many times; then nothing may be lost or changed."""
    published = folder / "published.jsonl"
    count, alive = 0, True
    while alive and count < kills:
        before = whole_lines(published)
        alive = killed_somewhere(name, folder, group, rng)
        count += alive
        assert whole_lines(published).startswith(before)
    work(name, folder, group)
    run = open_run(name, folder)
    assert run.rounds == EVENTS  # every event once
    receipts = run.take(STREAMS[name])
    assert [receipt.round for receipt in receipts] == list(range(1, EVENTS + 1))
    assert all(receipt.repeated for receipt in receipts)
    if name in USERS:  # each of 70 users was counted once for each event, up to the most read
        owners = Counter(
            taken.user for event in STREAMS[name] if (taken := run._log.find(event.id))
        )
        counted = run._feeding._counted
        assert counted is not None and len(owners) == 70
        most = run.run.recipe.max_contributions
        known = dict(zip(owners, (counted.add(user or b"") for user in owners), strict=True))
        assert known == {user: min(events, most) for user, events in owners.items()}
    logged = [release_line(release) for release in run.releases()]
    assert published.read_bytes().splitlines() == logged
    run.close()
    assert examine(published, store_in(folder)).missing == 0
    left = {path.name for path in folder.iterdir()}
    assert left == {"run.db", "run.db.mark", "published.jsonl"}
    return count


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize(("name", "group"), list(zip(LEARNERS, cycle([1, 50]))))  # all below
def test_a_few_kills(name: str, group: int, folder_in_memory: Path, rng: Randomness) -> None:
    kill_and_check(name, group, 5, folder_in_memory, rng)


@pytest.mark.slow
@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("group", [1, 50])
@pytest.mark.parametrize("name", LEARNERS)
def test_many_kills(name: str, group: int, folder_in_memory: Path, rng: Randomness) -> None:
    """``KILLS`` of them, across all learners, alone and in groups."""
    wanted, done, stores = -(-KILLS // (2 * len(LEARNERS))), 0, 0
    while done < wanted:
        folder = folder_in_memory / str(stores)
        folder.mkdir()
        done += kill_and_check(name, group, min(wanted - done, KILLS_OF_ONE_STORE), folder, rng)
        shutil.rmtree(folder)
        stores += 1
    print(f"{done} kills of {stores} stores")


def test_one_by_one_a_killed_run_publishes_what_an_unkilled_one_does(
    folder_in_memory: Path, rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("littlestone.runs.durable.secrets.token_bytes", lambda count: bytes(count))
    for folder in ("killed", "whole"):
        (folder_in_memory / folder).mkdir()
    for _ in range(4):
        killed_after(rng.below(30) / 1000, "private-majority", folder_in_memory / "killed", 1)
    for folder in ("killed", "whole"):  # one process would not use the same key twice
        os.waitpid(child_at_work("private-majority", folder_in_memory / folder, 1), 0)
    one, other = (
        (folder_in_memory / folder / "published.jsonl").read_bytes()
        for folder in ("killed", "whole")
    )
    assert one == other and one.count(b"\n") > 2
