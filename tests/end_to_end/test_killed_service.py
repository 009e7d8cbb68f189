"""Kill the service under clients that retry: nothing lost, nothing twice, acknowledged = stored."""

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.ports import reserved_port

from littlestone.http.client import Client, ServiceError
from littlestone.http.service import Role, Tokens
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.run_log import RunLog, read_log

CLIENTS = 8


def started(folder: Path, tokens: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "littlestone.cli.main", "serve", "--store", str(folder)]
    return subprocess.Popen(
        [*command, "--port", str(port), "--token-file", str(tokens)], stdout=subprocess.DEVNULL
    )


class Sending(threading.Thread):
    """A client that gives each event an id and sends it until it is acknowledged."""

    def __init__(self, number: int, url: str, token: str, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.client = Client(url, token, patience=PATIENCE)
        self.number, self.over = number, over
        self.acknowledged: dict[str, int] = {}
        self.sent = 0
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.is_set():
                name = f"{self.number}-{self.sent}"
                self.sent += 1
                key = f"k{self.sent % 3}"
                self.acknowledged[name] = self.client.send("abuse", key, 1, id=name)["round"]
        except (OSError, ServiceError) as problem:
            self.problem = problem
        finally:
            self.client.close()


class Changing(threading.Thread):
    """An owner who creates runs and removes them, whatever happens to the service meanwhile."""

    def __init__(self, url: str, token: str, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.client, self.over, self.made = Client(url, token, patience=PATIENCE), over, 0
        self.problem: Exception | None = None

    def run(self) -> None:
        asked: dict[str, Any] = {"concepts": "keys", "rounds": 100, "epsilon": 1.0, "delta": 1e-6}
        try:
            while not self.over.is_set():
                for change in (partial(self.client.create, **asked), self.client.remove):
                    with suppress(OSError, HTTPException):  # killed meanwhile: perhaps it was done
                        self._done(change)
        except ServiceError as problem:
            self.problem = problem
        finally:
            self.client.close()

    def _done(self, change: Callable[[str], object]) -> None:
        try:
            change("passing")
            self.made += 1
        except ServiceError as refused:
            if refused.status not in (404, 409):  # it was done before the answer was lost
                raise


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(5, marks=pytest.mark.web),  # seconds of starting: beside the browser's tests
        pytest.param(int(os.environ.get("KILLS", "12")), marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_and_nothing_twice(tmp_path: Path, kills: int) -> None:
    with reserved_port() as port:
        kill_and_check(tmp_path, kills, port)


def kill_and_check(tmp_path: Path, kills: int, port: int) -> None:
    folder, file = tmp_path / "runs", tmp_path / "tokens"
    tokens, made = Tokens.fresh()
    tokens.save(file)
    url, owner = f"http://127.0.0.1:{port}", made[Role.OWNER]
    process = started(folder, file, port)
    with Client(url, owner, patience=PATIENCE) as client:
        client._json("GET", "/health")
        client.create("abuse", concepts="keys", rounds=10**6, epsilon=3.0, delta=1e-3)
    over = threading.Event()
    senders = [Sending(number, url, owner, over) for number in range(CLIENTS)]
    changing = Changing(url, owner, over)
    for thread in (*senders, changing):
        thread.start()
    seen: list[bytes] = []

    def busy(kill: int) -> bool:
        """Clients get through, and the owner did once."""
        return sum(len(one.acknowledged) for one in senders) > 10 * kill and changing.made > 0

    with Client(url, owner, patience=PATIENCE) as client:
        for kill in range(kills):
            client.send("abuse", "watched", 0)  # it answers, so it is up
            until(partial(busy, kill))
            assert client._json("GET", "/health")["broken"] == 0
            time.sleep(secrets.randbelow(300) / 1000)
            process.kill()
            process.wait()
            seen.append(read_log(folder / "abuse" / "store").releases[-1].chain)
            process = started(folder, file, port)
        client.send("abuse", "watched", 0)
    until(partial(busy, kills))
    over.set()
    for thread in (*senders, changing):
        thread.join(PATIENCE)
    process.terminate()
    assert process.wait(PATIENCE) in (0, -signal.SIGTERM)  # after closing everything
    assert [one.problem for one in senders] == [None] * CLIENTS
    assert changing.problem is None
    assert changing.made > 0 and {path.name for path in folder.iterdir()} <= {"abuse", "passing"}
    acknowledged = {name: place for one in senders for name, place in one.acknowledged.items()}
    journal = place_of(folder / "abuse" / "store").open()
    log = RunLog(journal)
    events = [event for place in range(1, log.rounds + 1) if (event := log._at(place))]
    log.close()
    named = [(event.id.partition("/")[2], event.round) for event in events]
    stored = {name: place for name, place in named if "-" in name}
    rounds, distinct = log.rounds, len({event.id for event in events})
    assert len(acknowledged) > 10 * kills
    assert acknowledged == stored  # each thread waited for its last event
    assert rounds == distinct == len(stored) + kills + 1
    chains = {release.chain for release in read_log(folder / "abuse" / "store").releases}
    assert set(seen) <= chains
    print(f"{kills} kills of serve, {len(acknowledged):,} events acknowledged, 0 lost, 0 twice")
