"""Whatever happens to the bytes of a store, it opens with everything in it or is refused.

``make damage DAMAGED=5000`` damages that many, ``make slow`` a thousand; the quick suite a few.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import LittlestoneError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import recipe_from_form
from littlestone.randomness import Randomness
from littlestone.runs import durable
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal import run_log
from littlestone.runs.journal.protocol import Entry
from littlestone.runs.journal.run_log import read_about, read_log, read_progress

DAMAGED = int(os.environ.get("DAMAGED", "1000"))
PAGE = 4096
RECIPE = PrivateMajority(concepts=Thresholds(64), rounds=10_000, epsilon=4.0, max_contributions=9)
STREAM = [
    Event(f"e{i}", 37 * i % 64, int(37 * i % 64 >= 23), user=f"u{i % 40}") for i in range(420)
]
KNOWN = 400
Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 150)


def contents(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder: Path, files: Files) -> None:
    """Into the same files, which the mark knows by their inodes."""
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def made(folder: Path, *, closed: bool) -> tuple[Files, Files]:
    """The files of a store halfway and at the end, as a clean end or a kill leaves them."""
    run = DurableRun.start(RECIPE, folder / "run.db", users="who")
    halfway: Files = {}
    for first in range(0, KNOWN, 40):
        run.take(STREAM[first : first + 40])
        if first == 160:
            halfway = contents(folder)
    if closed:
        run.close()
    files = contents(folder)
    if not closed:
        run.close()
    return halfway, files


def opened(folder: Path) -> DurableRun:
    """With the recipe that the store has kept: whatever was damaged, it is the one it was."""
    return DurableRun.resume(
        lambda about: recipe_from_form(about["recipe"]), folder / "run.db", users="who"
    )


def everything(run: DurableRun) -> object:
    """All that a store knows, and how it goes on."""
    try:
        receipts = run.take(STREAM)
        releases = list(run.releases())
        return receipts, releases, run.mistakes, run.curve(), run.identity
    finally:
        run.close()


def flipped(content: bytes, older: bytes, rng: Randomness) -> bytes:
    changed = bytearray(content)
    changed[rng.below(len(changed))] ^= 1 << rng.below(8)
    return bytes(changed)


def flipped_early(content: bytes, older: bytes, rng: Randomness) -> bytes:
    """In the headers of a page, where a bit means most."""
    changed = bytearray(content)
    page = rng.below(-(-len(changed) // PAGE)) * PAGE
    changed[min(page + rng.below(140), len(changed) - 1)] ^= 1 << rng.below(8)
    return bytes(changed)


def scribbled(content: bytes, older: bytes, rng: Randomness) -> bytes:
    start, size = rng.below(len(content)), 1 + rng.below(200)
    noise = bytes(rng.below(256) for _ in range(size))
    return (content[:start] + noise + content[start + size :])[: len(content)]


def zeroed(content: bytes, older: bytes, rng: Randomness) -> bytes:
    start = rng.below(-(-len(content) // PAGE)) * PAGE
    return (content[:start] + bytes(PAGE) + content[start + PAGE :])[: len(content)]


def cut(content: bytes, older: bytes, rng: Randomness) -> bytes:
    return content[: rng.below(len(content))]


def exchanged(content: bytes, older: bytes, rng: Randomness) -> bytes:
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    one, other = rng.below(len(pages)), rng.below(len(pages))
    pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


def lost_write(content: bytes, older: bytes, rng: Randomness) -> bytes:
    """One page is as it was halfway."""
    start = rng.below(-(-len(content) // PAGE)) * PAGE
    return content[:start] + older[start : start + PAGE] + content[start + PAGE :]


def put_back(content: bytes, older: bytes, rng: Randomness) -> bytes:
    return older


HARMS: list[Callable[[bytes, bytes, Randomness], bytes]] = [
    flipped,
    flipped_early,
    scribbled,
    zeroed,
    cut,
    exchanged,
    lost_write,
    put_back,
]


def damage_and_check(folder: Path, count: int, rng: Randomness, *, closed: bool) -> int:
    """How many of ``count`` damaged stores were opened, all of them without a loss."""
    halfway, files = made(folder, closed=closed)
    put(folder, files)
    expected = everything(opened(folder))
    accepted = 0
    names = sorted(files)
    for trial in range(count):
        name = "run.db" if rng.coin() else names[rng.below(len(names))]
        harm = HARMS[trial % len(HARMS)]
        put(folder, {**files, name: harm(files[name], halfway.get(name, b""), rng)})
        for look in (read_about, read_log, read_progress):
            try:
                look(folder / "run.db")
            except LittlestoneError as refusal:
                assert "\n" not in str(refusal)
        try:
            run = opened(folder)
        except LittlestoneError as refusal:
            assert "\n" not in str(refusal)
            continue
        try:
            found = everything(run)
        except StoreError as refusal:  # an index that nobody reads, and that is made anew
            assert "malformed" in str(refusal) and name == "run.db"
            found = everything(opened(folder))
        assert found == expected, f"{harm.__name__} of {name} was accepted"
        accepted += 1
    return accepted


@pytest.mark.parametrize("closed", [True, False])
def test_a_few_damaged_stores(closed: bool, folder_in_memory: Path, rng: Randomness) -> None:
    damage_and_check(folder_in_memory, 24, rng, closed=closed)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False])
def test_many_damaged_stores(closed: bool, folder_in_memory: Path, rng: Randomness) -> None:
    accepted = damage_and_check(folder_in_memory, DAMAGED // 2, rng, closed=closed)
    print(f"{accepted} of {DAMAGED // 2} were opened, with everything in them")


def test_a_store_that_trusts_its_rows_would_lose_events(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness can fail: here an id is altered, so that a known event is taken again."""
    _, files = made(folder_in_memory, closed=True)
    expected = everything(opened(folder_in_memory))
    put(folder_in_memory, files)
    with sqlite3.connect(folder_in_memory / "run.db") as connection:
        (last, body) = connection.execute("SELECT number, body FROM groups").fetchone()
        altered = body.replace(b'"e', b'"f')
        assert altered != body
        connection.execute("UPDATE groups SET body = ? WHERE number = ?", (altered, last))
    connection.close()
    with pytest.raises(StoreError, match="does not match its hash"):
        opened(folder_in_memory)
    seal = run_log.RunLog._sealed

    def trusting(self: run_log.RunLog, kind: str, content: bytes) -> Entry:
        entry = seal(self, kind, content)
        return entry._replace(body=Trusting(entry.body))

    monkeypatch.setattr(run_log.RunLog, "_sealed", trusting)
    assert everything(opened(folder_in_memory)) != expected


class Trusting(bytes):
    """What everything is equal to."""

    __hash__ = bytes.__hash__

    def __ne__(self, other: object) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True
