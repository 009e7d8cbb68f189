"""What is read back from a journal is what was taken, byte by byte, or it is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs import durable
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal import run_log
from littlestone.runs.journal.protocol import MemoryPlace
from littlestone.runs.journal.records import (
    Block,
    Checkpoint,
    Group,
    Release,
    body_of,
    chained,
    release_entry,
    sealed_about,
)
from littlestone.runs.journal.run_log import RunLog

KEY = bytes(32)
BODY = b'{"release": 1, "round": 0, "rule": "all"}'
FIRST = Release(1, 0, BODY, chained(b"", BODY))
ODD = ["a", "é\u0301", "x\0y", "12:3", "😀", " ", "1", "10", "\x1f,'\"\n", "a" * 5000]


def group(first: int, ids: list[str], user: bytes | None) -> Group:
    bodies = [body_of(place % 7, place % 2) for place in range(first, first + len(ids))]
    texts, digests = map(list, zip(*bodies, strict=True))
    return Group(first, ids, digests, texts, [] if user is None else [user] * len(ids))


def added(log: RunLog, events: Group, *, last_of_block: bool = False) -> bool:
    hashes = log.hashes_if_new(events.ids)
    if hashes is None:
        return False
    saved = Checkpoint(events.last, 2, [(1, 1)], b"state", b"") if last_of_block else None
    log.append(events, hashes, [], 2, saved)
    return True


@pytest.fixture(params=[None, b"u" * 16], ids=["nobody", "users"])
def user(request: pytest.FixtureRequest) -> bytes | None:
    found: bytes | None = request.param
    return found


@pytest.fixture
def place(user: bytes | None, monkeypatch: pytest.MonkeyPatch) -> MemoryPlace:
    """Six events in a block, and four after it."""
    monkeypatch.setattr(run_log, "_MANY", 3)
    here = MemoryPlace("here")
    about = sealed_about({"identity": "0" * 32}, KEY)
    log = RunLog(here.create(about, KEY, release_entry(FIRST)))
    assert added(log, group(1, ODD[:1], user))
    assert added(log, group(2, ODD[1:6], user), last_of_block=True)
    assert added(log, group(7, ODD[6:], user))
    log.close()
    return here


def opened(place: MemoryPlace) -> RunLog:
    journal = place.open()
    try:
        log = RunLog(journal)
        journal.enter(log.rounds, adopt=False)
    except BaseException:
        journal.close()
        raise
    return log


def test_what_was_taken_is_known(place: MemoryPlace, user: bytes | None) -> None:
    log = opened(place)
    assert [event and event.round for event in map(log.find, ODD)] == list(range(1, 11))
    for name, event in zip(ODD, group(1, ODD, user).events(), strict=True):
        assert log.find(name) == event
    assert log.find("b") is None and log.ids_ending("0") == ["10"]
    for again in (["b", "é\u0301"], ["b", "10"], ["b", "b"], ["a"]):
        assert not added(log, group(11, again, user))
    assert added(log, group(11, ["b", "c"], user), last_of_block=True) and log.rounds == 12
    known = log.find("c")
    log.close()
    fresh = opened(place)
    assert fresh.find("c") == known and fresh.find("d") is None
    assert fresh.counted == (user or b"") * 12 and fresh.missing == []
    fresh.close()


def test_groups_come_back_as_they_were(place: MemoryPlace, user: bytes | None) -> None:
    log = opened(place)
    assert log.missing == [group(7, ODD[6:], user)]
    assert log.checkpoint == Checkpoint(6, 2, [(1, 1)], b"state", b"")
    log.close()


ALTERED: dict[str, Callable[[MemoryPlace], object]] = {
    "a block is gone": lambda place: place.entries["blocks"].clear(),
    "the checkpoint is gone": lambda place: place.entries["checkpoints"].clear(),
    "another checkpoint": lambda place: place.entries["checkpoints"].update({3: b"x" * 40}),
    "the number of a block": lambda place: place.entries["blocks"].update(
        {5: place.entries["blocks"].pop(6)}
    ),
    "the number of a group": lambda place: place.entries["groups"].update(
        {11: place.entries["groups"].pop(10)}
    ),
    "a group that was dropped": lambda place: place.entries["groups"].update(
        {1: place.entries["groups"][10]}
    ),
    "a block twice": lambda place: place.entries["blocks"].update({12: place.entries["blocks"][6]}),
    "the key": lambda place: setattr(place, "key", b"k" * 32),
    "no release": lambda place: place.entries["releases"].clear(),
}


@pytest.mark.parametrize("what", ALTERED)
def test_whatever_is_altered_is_noticed(place: MemoryPlace, what: str) -> None:
    opened(place).close()
    ALTERED[what](place)
    with pytest.raises(StoreError, match="here"):
        opened(place)


def test_damage_that_comes_meanwhile_is_not_sealed_in(
    place: MemoryPlace, user: bytes | None
) -> None:
    """The hash is fed by what was taken, not by what the journal has made of it."""
    log = opened(place)
    place.entries["groups"][10] = b"damaged"
    assert added(log, group(11, ["b"], user), last_of_block=True)
    log.close()
    fresh = opened(place)
    assert fresh.find("10") == next(group(8, ["10"], user).events())
    fresh.close()


def test_a_block_that_is_cut_is_refused() -> None:
    packed = bytes(16) + Block.packed(2, bytes(8), bytes(32), b"", ["a", "é"])
    assert list(Block(packed).ids()) == ["a", "é"]
    for size in range(16, len(packed)):
        with pytest.raises(Exception, match=r"buffer|whole|offset"):
            Block(packed[:size])


def test_ids_of_one_hash_are_different_ids(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 10)
    monkeypatch.setattr(
        "littlestone.runs.journal.run_log.KnownIds.hashes", lambda self, ids: bytes(4 * len(ids))
    )
    recipe = PrivateMajority(concepts=Thresholds(16), rounds=100, epsilon=1.0)
    stream = [Event(f"e{i}", i % 16, int(i % 16 >= 5)) for i in range(40)]
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    for first in range(0, 40, 4):
        run.take(stream[first : first + 4])
    run.close()
    run = DurableRun.resume(recipe, folder_in_memory / "run.db")
    assert [receipt.round for receipt in run.take(stream)] == list(range(1, 41))
    assert run.take([Event("new", 1, 0)])[0].round == 41
    run.close()
