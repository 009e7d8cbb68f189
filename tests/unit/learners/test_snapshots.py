"""Only the first claim continues a snapshot; damaged snapshots are rejected."""

import errno
import fcntl
import os
import resource
import shutil
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.threads import together
from tests.unit.learners.coin_flipper import CoinFlipper, published

from littlestone import randomness
from littlestone.errors import RetiredError, SnapshotError, StoreError
from littlestone.learners import snapshots
from littlestone.randomness import keyed, seeded


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
    """The process that holds the lock decides; the others wait, then read what it wrote."""
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
            claim.result(PATIENCE)


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


def test_a_register_with_two_names_remembers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is rewritten, the other name keeps the lines of before, without the newest."""
    monkeypatch.setattr(snapshots, "_SPARE_LINES", 0)
    register = snapshots.FileRegister(tmp_path / "continued")
    recipe, other = CoinFlipper(), tmp_path / "other"
    os.link(tmp_path / "continued", other)
    continued = []
    with suppress(StoreError):
        run = recipe.start()
        for _ in range(5):
            saved = run.snapshot(register)
            run.observe(1, 1)
        _another_process(monkeypatch)
        continued.append(recipe.restore(saved, snapshots.FileRegister(other)))
    assert not continued
    other.unlink()
    run = recipe.start()
    run.snapshot(register)
    run.observe(1, 1)


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_run_whose_register_had_no_room_may_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Nothing was learned, and its snapshot is as good as before."""
    register = snapshots.FileRegister(tmp_path / "continued")
    run = CoinFlipper().start()
    saved = run.snapshot(register)
    true = getattr(os, call)

    def full(file: int, *line: bytes) -> int:
        if line:
            return int(true(file, line[0][:7]))
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        with pytest.raises(OSError, match=r"(?i)no space left"):
            run.observe(1, 1)
    assert (tmp_path / "continued").read_bytes() == b""
    run.observe(1, 1)
    _another_process(monkeypatch)
    with pytest.raises(SnapshotError, match="already continued"):
        CoinFlipper().restore(saved, register)


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


def test_a_file_of_outdated_lines_is_written_anew_and_still_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_SPARE_LINES", 5)
    path = tmp_path / "continued"
    path.touch(mode=0o600)
    register = snapshots.FileRegister(path)
    for number in range(100):
        register.use_up("a" * 32, number)
        register.use_up(f"b{number % 3}" * 16, number)
        _another_process(monkeypatch)
    assert len(path.read_text().splitlines()) <= 2 * 4 + 5 + 1
    assert path.stat().st_mode & 0o777 == 0o600 and list(tmp_path.iterdir()) == [path]
    for identity, newest in {"aa": 99, "b0": 99, "b1": 97, "b2": 98}.items():
        identity *= 16
        with pytest.raises(SnapshotError, match="already continued"):
            register.use_up(identity, newest)
        register.use_up(identity, newest + 1)


def test_a_process_that_waited_for_a_replaced_file_reads_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "continued"
    saved = snapshots.unpack(CoinFlipper().start().snapshot())
    with ThreadPoolExecutor(1) as pool, path.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        claim = pool.submit(snapshots.FileRegister(path).claim, saved)
        with pytest.raises(TimeoutError):
            claim.result(timeout=0.3)
        (tmp_path / "new").write_text(f"{saved.identity} {saved.number + 1}\n")
        (tmp_path / "new").rename(path)
        fcntl.flock(other, fcntl.LOCK_UN)
        with pytest.raises(SnapshotError, match="already continued"):
            claim.result(PATIENCE)


@pytest.mark.parametrize("kept", [1, 32, 33, 34])
def test_a_line_that_a_crash_has_torn_stands_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    _another_process(monkeypatch)
    path, run, other = tmp_path / "continued", "a" * 32, "b" * 32
    path.write_text(f"{other} 5\n" + f"{run} 12"[:kept])
    register = snapshots.FileRegister(path)
    register.use_up(run, 3)
    _another_process(monkeypatch)
    for identity, number in ((run, 3), (other, 4)):
        with pytest.raises(SnapshotError, match="already continued"):
            register.use_up(identity, number)


@pytest.mark.parametrize(
    "content",
    [
        b"precious notes\n",
        b"\xff\xfe\x00\n",
        b"0" * 5000,
        b"a" * 32 + b" 7\n" + b"\0" * 80 + b"\n",
        b"A" * 32 + b" 7\n",
        b"a" * 32 + b" -7\n",
    ],
)
def test_a_file_that_is_no_register_is_refused_at_once_and_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"register of snapshots, got .*notes, whose line [12] is"):
        snapshots.FileRegister(path)
    assert path.read_bytes() == content


def test_a_path_that_cannot_hold_a_register_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    for name in ("", "nowhere/continued", "file/continued", "pipe"):
        with pytest.raises(ValueError, match="path must be a file"):
            snapshots.FileRegister(tmp_path / name)


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero"])
def test_a_device_without_an_end_is_refused_before_it_is_read(device: str) -> None:
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, limit[1]))  # else it would take all there is
    try:
        with pytest.raises(ValueError, match="device"):
            snapshots.FileRegister(device)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)


def test_a_register_that_was_damaged_meanwhile_costs_nothing(tmp_path: Path) -> None:
    path, run = tmp_path / "continued", CoinFlipper().start()
    run.snapshot(snapshots.FileRegister(path))
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="line 1 is not a run and a number"):
        run.observe(1, 1)
    assert run.rounds_played == 0
    path.write_bytes(b"")
    run.observe(1, 1)
    assert run.rounds_played == 1


def test_a_file_that_was_written_anew_is_there_for_good_before_another_line_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _another_process(monkeypatch)
    monkeypatch.setattr(snapshots, "_SPARE_LINES", 0)
    synced, real = list[bool](), os.fsync

    def fsync(file: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(file).st_mode))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    register = snapshots.FileRegister(tmp_path / "continued")
    for number in range(3):
        register.use_up("a" * 32, number)
    assert synced == [False] * 4 + [True]  # three lines, the new file, its folder


def test_a_register_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    recipe = CoinFlipper()
    folder = tmp_path / "folder"
    folder.mkdir()
    run = recipe.start()
    run.snapshot(snapshots.FileRegister(folder / "continued"))
    shutil.rmtree(folder)
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

    together(claim)
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


def test_a_replay_retires_runs_that_have_noise_left_and_their_snapshots() -> None:
    """The noise of many rounds is drawn beforehand, and saved: without their stream both go on."""
    recipe, key = CoinFlipper(period=50), os.urandom(32)
    run = recipe.start(rng=keyed(key, label="run"))
    run.observe(1, 1)
    saved = run.snapshot()
    again = keyed(key, label="run", replay=True)
    with pytest.raises(RetiredError, match="replay from the same key"):
        run.observe(1, 0)
    replayed = recipe.start(rng=again)
    replayed.observe(1, 1)
    replayed.observe(1, 1)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved)
    assert recipe.restore(replayed.snapshot()).rounds_played == 2


def test_one_keyed_stream_is_drawn_from_by_one_run() -> None:
    """Otherwise a continued snapshot of one run would draw the other's words again."""
    recipe, rng = CoinFlipper(), keyed(os.urandom(32), label="run")
    recipe.start(rng=rng)
    with pytest.raises(ValueError, match="rng must be new"):
        recipe.start(rng=rng)
    for stream in rng.spawn(2):
        recipe.start(rng=stream)


def test_a_restored_run_is_the_only_one_that_draws_from_its_key() -> None:
    recipe, key = CoinFlipper(), os.urandom(32)
    rng = keyed(key, label="run")
    [child] = rng.spawn(1)
    saved, of_child = recipe.start(rng=rng).snapshot(), recipe.start(rng=child).snapshot()
    randomness._STARTED.clear()  # as if in another process
    restored = recipe.restore(saved)
    with pytest.raises(RetiredError, match="continued elsewhere"):
        rng.word()
    child.word()  # has a key of its own
    with pytest.raises(ValueError, match="would use the same noise"):
        keyed(key, label="run")
    other = recipe.restore(of_child)
    keyed(key, label="run", replay=True)
    for run in (restored, other):
        with pytest.raises(RetiredError, match="replay from the same key"):
            run.observe(1, 1)
