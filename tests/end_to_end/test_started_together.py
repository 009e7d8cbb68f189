"""Two processes that start on one store in the same moment: exactly one of them runs."""

import os
import time
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import Randomness
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal import sqlite as stores

RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=1000, epsilon=1.0)
RUNS, REFUSED = 10, 11
STARTS = int(os.environ.get("STARTS", "80"))


def child(path: Path, delay: float, gate: int) -> int:
    """A process that starts the store or continues it, and holds it until the gate is closed."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        while time.monotonic() < delay:
            pass
        try:
            exists = path.exists()
            run = DurableRun.resume(RECIPE, path) if exists else DurableRun.start(RECIPE, path)
            run.take([Event(str(os.getpid()), 3, 1)])
            status = RUNS
        except StoreError:
            status = REFUSED
    finally:
        os.write(gate, b".")
        while status == RUNS and not os.listdir(path.parent / "told"):
            time.sleep(0.001)
        os._exit(status)


def start_together(folder: Path, spread: float, rng: Randomness) -> list[int]:
    (folder / "told").mkdir()
    listening, gate = os.pipe()
    begin = time.monotonic() + 0.004
    delays = [begin, begin + spread * rng.below(1000) / 1000]
    children = [child(folder / "run.db", delay, gate) for delay in delays]
    for _ in children:
        os.read(listening, 1)
    (folder / "told" / "go").touch()
    for end in (listening, gate):
        os.close(end)
    return sorted(os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in children)


def check(folder: Path, count: int, rng: Randomness) -> None:
    for place in range(count):
        pair = folder / str(place)
        pair.mkdir()
        assert start_together(pair, 0.003 * (place % 2), rng) == [RUNS, REFUSED], place
        run = DurableRun.resume(RECIPE, pair / "run.db")
        assert run.rounds == 1
        run.close()


def test_a_few_start_together(folder_in_memory: Path, rng: Randomness) -> None:
    check(folder_in_memory, 8, rng)


@pytest.mark.slow
def test_many_start_together(folder_in_memory: Path, rng: Randomness) -> None:
    check(folder_in_memory, STARTS, rng)


@pytest.mark.parametrize("pause", ["_connect", "_place"])
def test_they_start_together_with_a_pause_between(
    pause: str, folder_in_memory: Path, rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause of the creator, where two could come to hold one key."""
    paused = getattr(stores, pause)

    def slowly(*arguments: object) -> object:
        time.sleep(0.02)
        found = paused(*arguments)
        time.sleep(0.02)
        return found

    monkeypatch.setattr(stores, pause, slowly)
    check(folder_in_memory, 2, rng)
