"""A fleet whose workers and server are killed: the same bytes, and no second draw of noise."""

import json
import os
import random  # noqa: TID251 (when to kill is no noise)
import signal
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest
from tests.fleet_events import RECIPE, some_events
from tests.fleets import (
    EACH,
    KEYS,
    NEEDS_A_SERVER,
    Fleet,
    batches,
    beyond_their_share,
    uninterrupted,
    with_users,
)
from tests.patience import until
from tests.server import Server

from littlestone.errors import LittlestoneError
from littlestone.runs.fleet import keyed, worker
from littlestone.runs.fleet.worker import Turn

pytestmark = NEEDS_A_SERVER

KILLS = int(os.environ.get("KILLS", "100"))


def child(fleet: Fleet, log: Path, dies: float, doomed: bool) -> NoReturn:
    """A worker in a process of its own, which may die when all is written and not committed.

    A doomed one always dies at its first turn that has a release.
    """
    chance = random.Random(os.urandom(8))

    def written(turn: Turn) -> None:
        lines = "".join(
            json.dumps([key.hex(), release.number, release.body.decode()]) + "\n"
            for key, release in turn.releases
        )
        with log.open("a") as file:
            file.write(lines or "\n")
        if chance.random() < dies or (doomed and turn.releases):
            os.kill(os.getpid(), signal.SIGKILL)

    with suppress(BaseException):
        fleet.work(before_commit=written)
        os._exit(0)
    os._exit(1)


def started(fleet: Fleet, log: Path, *, dies: float = 0.0, doomed: bool = False) -> int:
    return os.fork() or child(fleet, log, dies, doomed)


def reachable(fleet: Fleet) -> bool:
    with suppress(LittlestoneError, psycopg.Error):
        return bool(fleet.status())
    return False


def size_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def grown(log: Path, enough: int) -> bool:
    return size_of(log) > enough


def killed_again_and_again(fleet: Fleet, log: Path, parts: list[Any], kills: int) -> None:
    """Two workers at a time; one kill in ten is the server's. In the end all is done.

    The fleet's first release is always computed by a doomed worker, so at least one release is
    computed twice, whatever the other kills meet.
    """
    chance = random.Random(os.urandom(8))
    doomed = True
    for kill in range(kills):
        for batch in parts[kill * len(parts) // kills : (kill + 1) * len(parts) // kills]:
            fleet.put(*batch)
        if doomed:
            _, status = os.waitpid(started(fleet, log, doomed=True), 0)
            doomed = not os.WIFSIGNALED(status)
        workers = [started(fleet, log, dies=0.15), started(fleet, log)]
        enough = size_of(log) + chance.randrange(1, 1500)  # they are at it, somewhere
        with suppress(AssertionError):
            until(partial(grown, log, enough), seconds=chance.uniform(0.05, 1.0))
        if kill % 20 == 9:
            fleet.server.kill_a_backend()
        elif kill % 20 == 19:
            fleet.server.stop("immediate")
            fleet.server.start()
        else:
            os.kill(chance.choice(workers), signal.SIGKILL)
        for process in workers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        until(lambda: reachable(fleet))
    while fleet.status()["waiting"]:
        os.waitpid(started(fleet, log), 0)


def orphans(fleet: Fleet, log: Path) -> tuple[int, int]:
    """Of all releases that were ever computed: how many, and how many are not as published."""
    public = {place: body for place, (body, _) in fleet.content()[1].items()}
    lines = [json.loads(line) for line in log.read_text().splitlines() if line]
    differ = sum(
        public.get((bytes.fromhex(key), number)) != body.encode() for key, number, body in lines
    )
    return len(lines), differ


def test_kills_change_nothing(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)  # many small turns, to be killed in
    events, log = some_events(KEYS, EACH), tmp_path / "computed"
    killed_again_and_again(fleet, log, batches(events, 20), KILLS)
    assert fleet.content() == uninterrupted(fleet, events)
    require_nothing_lost(fleet, log, KILLS, "")


def require_nothing_lost(fleet: Fleet, log: Path, kills: int, how: str) -> None:
    computed, differ = orphans(fleet, log)
    published = len(fleet.content()[1])
    print(
        f"{kills} kills{how}: {computed} releases computed, {published} published, {differ} differ"
    )
    assert computed > published and differ == 0


def test_kills_change_nothing_where_users_are_counted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever puts may be killed, too, and puts again; of each user the same events are read."""
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)
    fleet = Fleet(server, tmp_path, replace(RECIPE, max_contributions=3), users="user")
    events, log = some_events(KEYS, EACH), tmp_path / "computed"
    parts = [with_users(batch) for batch in batches(events, 20)]
    kills = max(1, KILLS // 3)
    again = [batch for place, batch in enumerate(parts) for _ in range(1 + (place % 7 == 0))]
    killed_again_and_again(fleet, log, again, kills)
    over_limit = beyond_their_share(parts, 3)
    assert 0.3 * KEYS * EACH < len(over_limit) < KEYS * EACH
    assert fleet.content() == uninterrupted(fleet, events, over_limit)
    require_nothing_lost(fleet, log, kills, " with users")


def test_fresh_noise_would_be_noticed(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: noise of the operating system is a second draw on the same data."""
    keys = keyed._keys
    monkeypatch.setattr(keyed, "_keys", lambda *given: [os.urandom(32), keys(*given)[1]])
    monkeypatch.setattr(worker, "_MOST_BLOCKS", 1)
    events, log = some_events(KEYS, EACH), tmp_path / "computed"
    fleet.put_all(events, size=200)
    while fleet.status()["waiting"]:
        os.waitpid(started(fleet, log, dies=0.2), 0)
    monkeypatch.undo()
    computed, differ = orphans(fleet, log)
    print(f"fresh noise: {differ} of {computed} computed releases differ from the published ones")
    # About one of ten does: none of 280 with probability below 1e-12.
    assert computed > 280 and differ > 0
    assert fleet.content()[1] != uninterrupted(fleet, events)[1]
