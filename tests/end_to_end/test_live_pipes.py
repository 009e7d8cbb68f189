"""A pipe that stays open: fixed times of publication, and an end by signal that loses nothing."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun

OPTIONS = ["--class", "thresholds:4", "--feature", "x", "--label", "y", "--rounds", "1000"]
RECIPE = PrivateMajority(concepts=Thresholds(4), rounds=1000, epsilon=1.0, delta=1e-6)


@contextmanager
def started(folder: Path, *more: str, source: str = "-") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that learns; it has ended, by force if need be, when the block does."""
    command = [sys.executable, "-m", "littlestone", "learn", source, *OPTIONS]
    command += ["--learner", "private-majority", "--store", "run.db", "--out", "rules.jsonl", *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stderr=pipe) as process:
        rescue = threading.Timer(PATIENCE, process.kill)  # else whoever reads what it says waits on
        rescue.start()
        try:
            yield process
        finally:
            rescue.cancel()
            process.kill()


def waited_for(condition: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, f"the process has ended with {process.returncode}"
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def opened(pipe: Path, process: "subprocess.Popen[bytes]") -> int:
    """A pipe with a name, to write to; who opens one waits for its reader, dead or alive."""
    found = list[int]()

    def is_read() -> bool:
        with suppress(OSError):  # nobody reads it yet
            found.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(found)

    waited_for(is_read, process)
    os.set_blocking(found[0], True)
    return found[0]


def rounds_of(folder: Path) -> int:
    run = DurableRun.resume(RECIPE, folder / "run.db")
    rounds = run.rounds
    run.close()
    return rounds


def marked_round(folder: Path) -> int:
    """How far the mark beside the store says it has come."""
    mark = folder / "run.db.mark"
    words = mark.read_text().split() if mark.exists() else []
    return int(words[-2]) if len(words) > 2 and words[-2].isdecimal() else 0


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, ["--every", "50ms"]), (signal.SIGTERM, ["--group", "1"])],
)
def test_a_signal_ends_an_open_pipe_and_what_was_read_is_taken(
    tmp_path: Path, number: int, options: list[str]
) -> None:
    with started(tmp_path, *options) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"x,y\n" + b"3,1\n" * 7)
        process.stdin.flush()  # and the pipe stays open
        waited_for(lambda: marked_round(tmp_path) == 7, process)
        os.kill(process.pid, number)
        told = process.stderr.read().decode()
        assert process.wait(PATIENCE) == 128 + number
        process.stdin.close()
    assert f"stopped by {signal.Signals(number).name}" in told and "Traceback" not in told
    assert rounds_of(tmp_path) == 7
    assert json.loads((tmp_path / "rules.jsonl").read_text().splitlines()[0])["release"] == 1


def test_a_pipe_with_a_name_is_read_once_and_as_it_comes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with started(tmp_path, "--group", "1", source="rows.csv") as process:
        with open(opened(tmp_path / "rows.csv", process), "wb", buffering=0) as pipe:
            pipe.write(b"x,y\n" + b"3,1\n" * 3)
            waited_for(lambda: marked_round(tmp_path) == 3, process)  # and the pipe stays open
            pipe.write(b"0,0\n" * 2)
        assert process.wait(PATIENCE) == 0
    assert rounds_of(tmp_path) == 5


def test_a_process_that_dies_at_once_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with (
        started(tmp_path, "--group", "none", source="rows.csv") as process,
        pytest.raises(AssertionError, match="has ended with 2"),
    ):
        opened(tmp_path / "rows.csv", process)


def test_a_store_in_use_is_looked_at_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> str:
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        return result.output

    with started(tmp_path, "--adversary", "adaptive", "--group", "1") as process:
        assert process.stdin is not None
        process.stdin.write(b"x,y\n" + b"3,1\n" * 300)
        process.stdin.flush()
        waited_for(lambda: marked_round(tmp_path) == 300, process)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        shown = told("status", "run.db")
        assert "rounds: 300 of at most 1,000; in use" in " ".join(shown.split())
        assert 'learner = "private-majority"' in shown and "mechanism" not in shown
        assert "has logged the same" in told("verify", "rules.jsonl", "--store", "run.db")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        process.stdin.write(b"0,0\n" * 2)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    assert rounds_of(tmp_path) == 302
    assert "mechanism" in told("status", "run.db")
