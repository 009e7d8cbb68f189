"""Every file that is new is in exactly one batch, whatever is killed; batches are deleted late."""

import gzip
import os
import random  # noqa: TID251 (which files, no noise)
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from io import IOBase
from pathlib import Path

import pytest

from littlestone.errors import StoreError
from littlestone.runs.fleet import spark_files as module
from littlestone.runs.fleet.spark_files import EventFile, Inbox, blocks, census


@pytest.fixture
def events(tmp_path: Path) -> Path:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "events").mkdir()
    return tmp_path / "events"


def fleet_of(events: Path) -> Path:
    return events.with_name("fleet")


def opened(events: Path, *, done: int = 0) -> Inbox:
    return Inbox(fleet_of(events), done=done)


def put(events: Path, name: str, content: str, *, age: float = 1e9) -> None:
    """Moved there, as it should be."""
    path = events / name
    path.parent.mkdir(parents=True, exist_ok=True)
    moved = events.with_name("moved")
    moved.write_text(content)
    os.utime(moved, (age, age))
    moved.rename(path)


def batches(events: Path) -> list[str]:
    """What Spark reads, in its order."""
    folder = fleet_of(events) / "inbox"
    shown = [path for path in folder.iterdir() if path.name[0] not in "._"]
    return [path.read_text() for path in sorted(shown, key=lambda path: path.stat().st_mtime)]


def test_new_files_become_a_batch_and_old_ones_do_not(events: Path) -> None:
    box = opened(events)
    assert not box.take(events) and batches(events) == []
    put(events, "b", "2\n", age=2e9)
    put(events, "sub/a", "1", age=3e8)
    assert box.take(events) and batches(events) == ["1\n2\n"]
    assert not box.take(events)
    put(events, "c", "3\n", age=0)  # old, and under
    put(events, "b", "4\n", age=2e9)  # a used name, with the age that was there
    (events / "sub" / "a").write_text("5\n")  # in place, with the same length
    os.utime(events / "sub" / "a", (3e8, 3e8))
    assert box.take(events) and batches(events) == ["1\n2\n", "3\n5\n4\n"]
    assert not box.take(events) and box.made == 2 and census(fleet_of(events)) == (3, [])
    box.close()


def test_a_copy_under_another_name_or_put_anew_is_new(events: Path) -> None:
    """Lines that found no room may be put again; events that were taken are dropped by number."""
    box = opened(events)
    for name in ("a", "b", "a"):
        put(events, name, "1\n")
        assert box.take(events)
    (events / "a").unlink()
    assert not box.take(events)
    put(events, "a", "1\n")
    assert box.take(events) and batches(events) == ["1\n"] * 4
    box.close()


def test_so_many_files_at_once(events: Path) -> None:
    box = opened(events)
    for number in range(5):
        put(events, f"{number}", f"{number}\n", age=100 - number)
    assert [box.take(events, most=2) for _ in range(4)] == [True, True, True, False]
    assert batches(events) == ["4\n3\n", "2\n1\n", "0\n"]
    box.close()


def test_what_is_left_is_listed_until_it_is_mended(events: Path) -> None:
    box = opened(events)
    (events / "cut.gz").write_bytes(gzip.compress(b"1\n" * 1000)[:-5])
    put(events, "_hidden", "2\n")
    put(events, "good", "3\n")
    assert box.take(events) and batches(events) == ["3\n"]
    assert [left.name for left in box.left] == ["_hidden", "cut.gz"]
    taken, left = census(fleet_of(events))
    assert taken == 1 and left == box.left and [one.by_name for one in left] == [True, False]
    assert not box.take(events)
    box.close()
    box = opened(events)
    assert not box.take(events) and len(box.left) == 2
    (events / "cut.gz").write_bytes(gzip.compress(b"1\n"))
    (events / "_hidden").rename(events / "hidden")
    assert box.take(events) and sorted(batches(events)[1]) == sorted("1\n2\n")
    assert box.left == [] and census(fleet_of(events)) == (3, [])
    box.close()


def test_what_was_left_by_the_last_driver_is_known(events: Path) -> None:
    put(events, "_x", "1\n")
    box = opened(events)
    box.take(events)
    box.close()
    (events / "_x").unlink()
    box = opened(events)
    assert len(box.left) == 1
    box.take(events)
    box.close()
    assert census(fleet_of(events)) == (0, [])


def test_a_full_disk_leaves_nothing_behind(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = opened(events)
    put(events, "a", "1\n")
    with monkeypatch.context() as patched:

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            box.take(events)
    assert list((fleet_of(events) / "inbox").iterdir()) == []
    assert box.take(events) and batches(events) == ["1\n"]
    box.close()


def test_damage_is_looked_for_once(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[str]()

    def noted(file: EventFile) -> Iterator[bytes]:
        looked.append(file.name)
        return blocks(file)

    monkeypatch.setattr(module, "blocks", noted)
    box = opened(events)
    put(events, "bad.gz", "no gzip")
    for _ in range(3):
        assert not box.take(events) and len(box.left) == 1
    assert looked == ["bad.gz"]
    box.close()


def test_a_change_right_after_the_look_is_seen(events: Path) -> None:
    """However coarse the clock of the file system is."""
    box = opened(events)
    (events / "a").write_text("0\n")
    for number in range(1, 12):
        assert box.take(events), number
        (events / "a").write_text(f"{number % 10}\n")
        os.utime(events / "a", (9, 9))
    box.close()


def test_batches_are_deleted_when_nobody_can_ask_for_them(events: Path) -> None:
    box = opened(events)
    for number in range(1, 6):
        put(events, "a", f"{number}\n")
        box.take(events)
        box.discard(number)  # as many were published, and the last may be computed again
        assert batches(events) == [f"{number}\n"]
    put(events, "a", "6\n")
    box.take(events)
    box.discard(5)  # the fifth was not committed yet
    assert batches(events) == ["5\n", "6\n"]
    box.close()


def test_each_batch_is_younger_than_those_before(events: Path) -> None:
    box = opened(events)
    for number in range(3):
        put(events, str(number), f"{number}\n")
        box.take(events)
    box.close()
    folder = fleet_of(events) / "inbox"
    for path in folder.iterdir():
        os.utime(path)  # as after a copy that did not keep the times
    opened(events).close()
    assert sorted(path.stat().st_mtime for path in folder.iterdir()) == [1, 2, 3]
    assert batches(events) == ["0\n", "1\n", "2\n"]


def test_a_list_that_was_put_back_or_lost_is_refused(events: Path) -> None:
    box = opened(events)
    put(events, "a", "1\n")
    box.take(events)
    box.close()
    shutil.copy(fleet_of(events) / "inbox.db", events.with_name("copy"))
    box = opened(events)
    put(events, "b", "2\n")
    box.take(events)
    box.discard(2)
    box.close()
    shutil.copy(events.with_name("copy"), fleet_of(events) / "inbox.db")
    with pytest.raises(StoreError, match="has 1 batches, but 2 were published"):
        opened(events, done=2)
    (fleet_of(events) / "inbox.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        opened(events, done=2)
    with pytest.raises(StoreError, match="cannot be used"):
        census(fleet_of(events))
    (fleet_of(events) / "inbox.db").unlink()
    with pytest.raises(StoreError, match="fed from another source"):
        opened(events, done=2)
    assert not (fleet_of(events) / "inbox.db").exists()


def test_a_batch_that_is_missing_is_noticed(events: Path) -> None:
    box = opened(events)
    put(events, "a", "1\n")
    box.take(events)
    box.close()
    [path] = (fleet_of(events) / "inbox").iterdir()
    path.unlink()
    with pytest.raises(StoreError, match="is missing, which may hold events"):
        opened(events)


def test_after_each_look_everything_in_the_folder_is_taken_or_named(
    events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was moved, rewritten, aged, linked, packed or damaged in between."""
    monkeypatch.setattr(module, "_SETTLED", 0.02)  # two ticks of the slowest kernel
    print("seed", seed := int.from_bytes(os.urandom(8)))
    chance = random.Random(seed)
    box, seen = opened(events), set[str]()
    for look in range(60):
        for _ in range(chance.randrange(4)):
            _anything(events, chance)
        while box.take(events, most=chance.choice([None, 1, 3])):
            pass
        for batch in batches(events):
            seen.update(batch.split())
        box.discard(box.made)
        named = {left.name for left in box.left}
        for path in events.rglob("*"):
            name = str(path.relative_to(events))
            hidden = any(part.startswith("_") for part in path.relative_to(events).parts)
            if path.is_file() and not hidden and name not in named:
                content = path.read_bytes()
                lines = gzip.decompress(content) if name.endswith(".gz") else content
                assert set(lines.decode().split()) <= seen, (look, name)
            elif not path.is_dir() or path.is_symlink():
                top = path.relative_to(events).parts[0]
                assert name in named or top in named, (look, name)
    assert len(seen) > 20
    box.close()


def _anything(events: Path, chance: random.Random) -> None:
    """Something that people do to files."""
    folder = events / chance.choice(["", "", "sub", "sub/deep", "_tmp"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / chance.choice(["a", "b", "c.gz", "_d", "e", "f.gz"])
    token = f"{chance.getrandbits(64):016x}\n".encode()
    kind = chance.randrange(8)
    if kind == 0:
        path.unlink(missing_ok=True)
    elif kind == 1 and path.exists():
        path.rename(folder / (chance.choice(["g", "_i"]) + path.suffix))
    elif kind == 2:
        path.unlink(missing_ok=True)
        path.symlink_to(chance.choice(["nowhere", ".", str(events.with_name("outside"))]))
        events.with_name("outside").write_bytes(token)
    elif path.is_symlink():
        path.unlink()
    else:
        packed = gzip.compress(token) if path.suffix == ".gz" else token
        path.write_bytes(packed[: chance.choice([len(packed), len(packed), 9])])
        if kind < 6:
            age = chance.choice([0.0, 1e9, 4e9])
            os.utime(path, (age, age))


class KilledError(BaseException):
    """As if the process ended here."""


class Disk:
    """Counts the calls that change files; at one of them the disk is kept as it is, and it ends."""

    CALLS = ((os, "fsync"), (os, "utime"), (Path, "rename"), (Path, "unlink"), (Path, "open"))
    STEPS = ((Inbox, "_remember"), (Inbox, "_finish"), (Inbox, "discard"))

    def __init__(self, fleet: Path, kill_at: int, patched: pytest.MonkeyPatch) -> None:
        self.fleet, self.left = fleet, kill_at
        for owner, name in (*self.CALLS, *self.STEPS):
            patched.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, call: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object, **named: object) -> object:
            self._maybe_end()
            done = call(*given, **named)
            try:
                self._maybe_end()
            except KilledError:
                if isinstance(done, IOBase):
                    done.close()
                raise
            return done

        return counted

    def _maybe_end(self) -> None:
        self.left -= 1
        if self.left == -1:
            shutil.copytree(self.fleet, self.fleet.with_name("kept"))
            raise KilledError


def test_killed_anywhere_each_file_is_in_one_batch(
    events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after every call that changes files, while batches are made and deleted."""
    monkeypatch.setattr(module, "_SETTLED", 0.0)  # nobody changes a file here
    fleet, points = fleet_of(events), 0
    while True:
        with monkeypatch.context() as patched:
            Disk(fleet, points, patched)
            killed = not played(events)
        if killed:
            shutil.rmtree(fleet)
            fleet.with_name("kept").rename(fleet)
            assert played(events)
        with (fleet / "lines").open() as lines:
            assert Counter(lines.read().split()) == {"a": 1, "b": 1}, points
        assert batches(events) == ["b\n"]
        if not killed:
            break
        points += 1
        for folder in (fleet, events):
            shutil.rmtree(folder)
            folder.mkdir()
    print(f"killed at {points} points: every file in one batch, each time")
    assert points > 40


def played(events: Path) -> bool:
    """Two files come one after the other, and batches are read as Spark does; False if killed."""
    fleet = fleet_of(events)

    def read() -> int:
        """One batch at a time that was not read before; how many were, in all."""
        known = set[str]()
        with open(fleet / "lines", "a"), open(fleet / "read", "a+") as log:
            log.seek(0)
            known.update(log.read().split())
            for name in sorted(name for name in os.listdir(fleet / "inbox") if name[0] != "_"):
                if name not in known:
                    with open(fleet / "inbox" / name) as batch, open(fleet / "lines", "a") as out:
                        out.write(batch.read())
                    log.write(f"{name}\n")
                    known.add(name)
        return len(known)

    box = None
    try:
        (fleet / "inbox").mkdir(exist_ok=True)
        box = Inbox(fleet, done=read())
        for name in "ab":
            with open(events / name, "a") as file:
                file.write("" if file.tell() else f"{name}\n")
            box.take(events)
            box.discard(read())
    except KilledError:
        return False
    finally:
        if box is not None:
            box.close()
    return True


def test_a_database_in_use_is_waited_for(events: Path) -> None:
    """Somebody asks for the status while the driver works."""
    box = opened(events)
    put(events, "a", "1\n")
    with sqlite3.connect(fleet_of(events) / "inbox.db") as reader:
        reader.execute("SELECT count(*) FROM taken").fetchone()
        assert box.take(events)
    reader.close()
    box.close()
