"""A snapshot is continued once, by whoever claims it first, and damaged ones are refused."""

import fcntl
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.learners.coin_flipper import CoinFlipper, published

from littlestone.errors import SnapshotError
from littlestone.learners import snapshots
from littlestone.randomness import seeded


def test_a_snapshot_continues_identically() -> None:
    recipe = CoinFlipper()
    run = recipe.start(rng=seeded(3))
    published(run, 20)
    restored = recipe.restore(run.snapshot())
    assert restored.rounds_played == 20 and restored.switches == run.switches
    assert published(restored, 80) == published(run, 80)


def test_a_secure_snapshot_is_continued_once_and_retires_its_run() -> None:
    recipe = CoinFlipper()
    run = recipe.start()
    old = run.snapshot()
    assert run.snapshot() == old  # nothing has happened in between
    run.observe(1, 1)
    new = run.snapshot()
    with pytest.raises(SnapshotError, match="newer"):
        recipe.restore(old)
    restored = recipe.restore(new)
    with pytest.raises(SnapshotError, match="continued elsewhere"):
        run.observe(1, 1)
    restored.observe(1, 1)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(new)


def test_a_snapshot_is_continued_once_also_if_the_run_then_stood_still() -> None:
    recipe = CoinFlipper()
    first = recipe.start().snapshot()
    second = recipe.restore(first).snapshot()
    recipe.restore(second)
    for used in (first, second):
        with pytest.raises(SnapshotError, match="already continued"):
            recipe.restore(used)


def test_a_run_that_goes_on_uses_its_snapshot_up() -> None:
    """Else both futures would be answered with the same noisy threshold."""
    recipe = CoinFlipper()
    run = recipe.start()
    saved = run.snapshot()
    run.observe(1, 1)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved)
    run.observe(1, 1)
    restored = recipe.restore(run.snapshot())
    restored.observe_many([1], [1])
    assert restored.rounds_played == 3


def test_processes_that_claim_at_the_same_time_take_turns(tmp_path: Path) -> None:
    """Whoever holds the file's lock decides; the others wait, then read what it wrote."""
    path = tmp_path / "continued"
    saved = snapshots.unpack(CoinFlipper().start().snapshot())
    with ThreadPoolExecutor(1) as pool, path.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)  # of another opening, as another process would have it
        claim = pool.submit(snapshots.FileRegister(path).claim, saved)
        with pytest.raises(TimeoutError):
            claim.result(timeout=0.3)
        other.write(f"{saved.identity} {saved.number + 1}\n")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_UN)
        with pytest.raises(SnapshotError, match="already continued"):
            claim.result(timeout=10)


def test_a_register_remembers_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    saved = recipe.start().snapshot()
    recipe.restore(saved, register)
    monkeypatch.setattr(snapshots, "_newest", {})  # another process remembers nothing
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved, register)


def _another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which remembers nothing and knows no live run."""
    monkeypatch.setattr(snapshots, "_newest", {})
    monkeypatch.setattr(snapshots, "_runs", {})


def test_going_on_is_recorded_in_the_register_of_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    run = recipe.start()
    saved = run.snapshot(register)
    run.observe(1, 1)
    _another_process(monkeypatch)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved, register)


def test_a_run_that_was_continued_in_another_process_cannot_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    run = recipe.start()
    saved = run.snapshot(register)
    _another_process(monkeypatch)
    restored = recipe.restore(saved, register)
    for _ in range(2):
        with pytest.raises(SnapshotError, match="continued"):
            run.observe(1, 1)
    assert run.rounds_played == 0
    restored.observe(1, 1)
    again = restored.snapshot()  # the register is remembered
    restored.observe(1, 1)
    _another_process(monkeypatch)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(again, register)


def test_a_register_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    recipe = CoinFlipper()
    folder = tmp_path / "folder"
    run = recipe.start()
    run.snapshot(snapshots.FileRegister(folder / "continued"))
    with pytest.raises(FileNotFoundError):
        run.observe(1, 1)
    assert run.rounds_played == 0
    folder.mkdir()
    run.observe(1, 1)
    assert run.rounds_played == 1


def test_threads_that_claim_one_snapshot_cannot_both_have_it() -> None:
    saved = snapshots.unpack(CoinFlipper().start().snapshot())
    snapshot_of = [replace(saved, identity=str(number)) for number in range(40_000)]
    won: list[str] = []
    ready = threading.Barrier(4)

    def claim() -> None:
        ready.wait()
        for one in snapshot_of:
            try:
                snapshots.ProcessRegister().claim(one)
                won.append(one.identity)
            except SnapshotError:
                pass

    threads = [threading.Thread(target=claim) for _ in range(4)]
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(patience)
    assert sorted(won) == sorted(one.identity for one in snapshot_of)


def test_damaged_snapshots_are_refused() -> None:
    recipe = CoinFlipper()
    saved = recipe.start(rng=seeded(1)).snapshot()
    damaged = bytearray(saved)
    damaged[-3] ^= 1
    for bad in (b"", saved[:40], saved[:-1], bytes(damaged), b"x" + saved):
        with pytest.raises(SnapshotError):
            recipe.restore(bad)
    with pytest.raises(SnapshotError, match="another recipe"):
        CoinFlipper(period=4).restore(saved)
