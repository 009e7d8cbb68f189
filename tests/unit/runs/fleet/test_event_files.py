"""Every entry of a folder is a file with its times, or is named with a reason."""

import bz2
import gzip
import lzma
import os
import socket
from pathlib import Path

import pytest

from littlestone.runs.fleet import spark_files as event_files
from littlestone.runs.fleet.spark_files import EventFile, Unreadable, blocks, listing


def only(folder: Path) -> EventFile:
    [file], left = listing(folder)
    assert left == []
    return file


def content(file: EventFile) -> bytes:
    return b"".join(blocks(file))


def test_files_come_oldest_first_from_all_subfolders_whatever_their_ages(tmp_path: Path) -> None:
    (tmp_path / "x/y").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    for name, time in {"b": 4e9, "x/y/z": -5e8, "c/d": 1e9, "c/a": 1e9}.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time, time))
    files, left = listing(tmp_path)
    assert [file.name for file in files] == ["x/y/z", "c/a", "c/d", "b"] and left == []


def test_what_is_no_file_of_events_is_named(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").touch()
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part.crc").touch()
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "half").touch()
    (tmp_path / "nothing").symlink_to("nowhere")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "parent").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "linked").symlink_to("good.jsonl")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # a name of a socket has room for a hundred letters
        listener.bind("socket")
        os.chdir(here)
    files, left = listing(tmp_path)
    assert {file.name for file in files} == {"good.jsonl", "linked"}
    assert {name for name, _, by_name in left if by_name} == {"_SUCCESS", ".part.crc", "_temporary"}
    reasons = {name: reason for name, reason, by_name in left if not by_name}
    assert {*reasons} == {"nothing", "itself", "parent", "null", "pipe", "socket"}
    assert reasons["parent"].startswith("is a link to a folder")
    assert all(reasons.values()) and str(left[0]).startswith("'.part.crc' is not read")


def test_bytes_that_are_no_text_are_names_too(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\n.jsonl")
    (tmp_path / odd).write_text("1\n")
    assert content(only(tmp_path)) == b"1\n"
    (tmp_path / odd).rename(tmp_path / f"_{odd}")
    _, [left] = listing(tmp_path)
    assert left.name == "_\\xff\n.jsonl" and "\n" not in str(left)


def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the system's refusal is played."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "good").touch()
    real = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    [file], [left] = listing(tmp_path)
    assert file.name == "good"
    assert left == ("a/b", "cannot be listed: Permission denied", False)


PACKED = {
    "plain.jsonl": b"1\n2\n",
    "gzip.jsonl.gz": gzip.compress(b"1\n2\n"),
    "two.GZ": gzip.compress(b"1\n") + gzip.compress(b"2\n"),
    "b.bz2": bz2.compress(b"1\n2\n"),
    "x.xz": lzma.compress(b"1\n2\n"),
    "two.bz2": bz2.compress(b"1\n") + bz2.compress(b"2\n"),
    "padded.gz": gzip.compress(b"1\n") + bytes(8) + gzip.compress(b"2\n") + bytes(8),
    "padded.xz": lzma.compress(b"1\n") + bytes(8) + lzma.compress(b"2\n") + bytes(8),
    "mark": b"\xef\xbb\xbf1\n2\n",
    "torn": b"1\n2",
}


@pytest.mark.parametrize("name", PACKED)
def test_lines_are_those_of_the_unpacked_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(PACKED[name])
    assert content(only(tmp_path)) == b"1\n2\n"


def test_a_file_without_lines_is_a_blank_one(tmp_path: Path) -> None:
    for name, said in {"a": b"", "b.gz": gzip.compress(b""), "c": b"\xef\xbb\xbf"}.items():
        (tmp_path / name).write_bytes(said)
    files, _ = listing(tmp_path)
    assert [content(file) for file in files] == [b"\n"] * 3


def test_large_files_come_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "_BLOCK", 7)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"123456\n" * 3))
    assert [*blocks(only(tmp_path))] == [b"123456\n"] * 3


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_every_cut_and_every_kind_of_rubbish_is_damage(tmp_path: Path, suffix: str) -> None:
    packed = {"gz": gzip, "bz2": bz2, "xz": lzma}[suffix].compress(b"{}\n" * 9)
    path = tmp_path / f"a.{suffix}"
    for wrong in [*(packed[:cut] for cut in range(1, len(packed))), b"{}\n", b"\0" * 50]:
        path.write_bytes(wrong)
        with pytest.raises(Unreadable, match="is damaged") as caught:
            content(only(tmp_path))
        assert caught.value.damaged


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_a_damaged_stream_behind_a_whole_one_is_damage(tmp_path: Path, suffix: str) -> None:
    # Parallel compressors write many streams. Python's readers of .bz2 and .xz end where the next
    # one cannot be read, as if nothing followed.
    packed = {"gz": gzip, "bz2": bz2, "xz": lzma}[suffix].compress(b"{}\n" * 9)
    path = tmp_path / f"a.{suffix}"
    for place in range(len(packed)):
        wrong = packed[:place] + bytes([packed[place] ^ 0x55]) + packed[place + 1 :]
        if suffix == "gz" and 4 <= place < 10:  # its time and its system, which no checksum covers
            continue
        path.write_bytes(packed + wrong + packed)
        with pytest.raises(Unreadable, match="is damaged") as caught:
            content(only(tmp_path))
        assert caught.value.damaged


def test_a_file_that_changes_while_it_is_read_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_files, "_BLOCK", 2)
    path = tmp_path / "a"

    def replaced() -> None:
        path.unlink()
        os.mkfifo(path)

    def rewritten() -> None:
        path.write_text("1\n3\n")
        os.utime(path, (9, 9))

    def appended() -> None:
        path.write_text("1\n2\n3\n")

    for change in (appended, rewritten, replaced, path.unlink):
        path.unlink(missing_ok=True)
        path.write_text("1\n2\n")
        os.utime(path, (9, 9))
        file = only(tmp_path)
        change()
        with pytest.raises(Unreadable) as caught:
            content(file)
        assert not caught.value.damaged
    for change in (appended, rewritten):
        path.write_text("1\n2\n")
        reading = blocks(only(tmp_path))
        assert next(reading) == b"1\n"
        change()
        with pytest.raises(Unreadable, match="changed while it was read"):
            list(reading)


def test_a_file_that_the_system_refuses_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    file = only(tmp_path)

    def refusing(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(Unreadable, match="cannot be read: Permission denied"):
        content(file)
