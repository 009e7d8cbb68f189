"""The mark outside the database: below it and beside it nothing goes on."""

import os
from pathlib import Path

import pytest

from littlestone.errors import RollbackError, StoreError
from littlestone.runs.fleet.commits import Height, HighWater

START = Height(0, bytes(32))


def height(commits: int) -> Height:
    return Height(commits, bytes([commits]) * 32)


def opened(folder: Path, identity: str = "ab" * 16, *, create: bool = True) -> HighWater:
    return HighWater(folder / "mark", identity, create=create)


def test_a_shard_may_stand_at_its_mark_or_above(tmp_path: Path) -> None:
    mark = opened(tmp_path)
    mark.check(3, START)
    mark.raise_to(3, height(7))
    for fine in (height(7), height(8), Height(9, os.urandom(32))):
        mark.check(3, fine)
    for bad in (START, height(6), Height(7, bytes(32))):
        with pytest.raises(RollbackError, match="rolled back"):
            mark.check(3, bad)
    mark.check(2, START)
    mark.check(4095, START)


def test_it_is_still_there_when_it_is_opened_again(tmp_path: Path) -> None:
    mark = opened(tmp_path)
    mark.raise_to(0, height(2))
    mark.raise_to(4095, Height(10**15, bytes(range(32))))
    mark.close()
    again = opened(tmp_path, create=False)
    with pytest.raises(RollbackError):
        again.check(0, height(1))
    with pytest.raises(RollbackError):
        again.check(4095, Height(10**15, bytes(32)))
    again.check(4095, Height(10**15, bytes(range(32))))
    assert (tmp_path / "mark").stat().st_mode & 0o777 == 0o600


def test_a_mark_for_which_there_is_no_room_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a mark would reject its fleet forever."""
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, content, at: write(file, content[:5000], at))
    with pytest.raises(StoreError, match="no space left"):
        opened(tmp_path)
    assert not (tmp_path / "mark").exists()


def test_who_closes_twice_lets_nobody_into_another_fleet(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    mark = opened(tmp_path)
    mark.close()
    other = opened(tmp_path / "other")  # its file has the number
    other.hold_alone()
    mark.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        mark.raise_to(3, height(7))  # nor is anything written there
    with pytest.raises(StoreError, match="in use"):
        opened(tmp_path / "other").hold_alone()
    other.close()


def test_without_a_mark_or_with_another_fleets_nothing_goes_on(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="--adopt"):
        opened(tmp_path, create=False)
    opened(tmp_path).close()
    with pytest.raises(StoreError, match="another fleet"):
        opened(tmp_path, "cd" * 16)


def test_an_emptied_mark_is_no_new_one(tmp_path: Path) -> None:
    opened(tmp_path).close()
    os.truncate(tmp_path / "mark", 0)
    with pytest.raises(StoreError, match="damaged"):
        opened(tmp_path, create=False)


def test_a_shard_that_was_cut_off_or_moved_is_no_new_one(tmp_path: Path) -> None:
    mark = opened(tmp_path)
    mark.raise_to(1, height(5))
    mark.close()
    whole = (tmp_path / "mark").read_bytes()
    for damaged in (whole[: 2 * 96], whole[:96] + whole[96 : 2 * 96] * 2 + whole[3 * 96 :]):
        (tmp_path / "mark").write_bytes(damaged)
        with pytest.raises(StoreError, match="damaged"):
            opened(tmp_path, create=False).check(1, START)


def test_damage_is_noticed(tmp_path: Path) -> None:
    mark = opened(tmp_path)
    mark.raise_to(1, height(5))
    content = (tmp_path / "mark").read_bytes()
    for place in range(2 * 96, 3 * 96, 5):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "mark").write_bytes(damaged)
        with pytest.raises((StoreError, RollbackError)):
            opened(tmp_path).check(1, height(4))


def test_a_mark_that_is_held_has_one_owner(tmp_path: Path) -> None:
    mark = opened(tmp_path)
    mark.hold_alone()
    other = opened(tmp_path, create=False)
    with pytest.raises(StoreError, match="is in use"):
        other.hold_alone()
    mark.close()
    other.hold_alone()


def test_the_engine_that_went_back_is_named(tmp_path: Path) -> None:
    mark = HighWater(tmp_path / "mark", "ab" * 16, create=True, engine="the checkpoint")
    mark.raise_to(0, height(2))
    mark.sync()
    assert mark.known(0) == height(2)
    with pytest.raises(RollbackError, match="shard 0 of the checkpoint was rolled back"):
        mark.check(0, height(1))
