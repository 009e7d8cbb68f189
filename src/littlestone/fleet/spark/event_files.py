"""Find the files of a folder, and read them: each is found with its times, or named with a reason.

Whether a file is read depends on its name, its kind and its times, never on what its lines say: an
example must not decide which others are learned from.
"""

import bz2
import gzip
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_HIDDEN: Final = (".", "_")
_BY_NAME: Final = (
    "is not read: names that begin with . or _ are those of half-written files. Rename it if it is "
    "whole"
)
_OPENERS: Final[dict[str, Callable[[IO[bytes]], Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


class EventFile(NamedTuple):
    """A file whose lines are events: its name below the folder, where it is, and its times."""

    name: str
    path: str
    times: str
    """Equal as long as nobody has written to the file or put another in its place."""
    modified: int
    changed: float


class Left(NamedTuple):
    """A file or folder that is not read, and why; only for the eyes of whoever runs the fleet."""

    name: str
    reason: str
    by_name: bool = False
    """It is hidden, as half-written files are: nothing is wrong with it."""

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


class Unreadable(Exception):  # noqa: N818 (it never leaves the inbox)
    """A file cannot be read to its end; it says why, and whether it will stay so."""

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__(reason)
        self.damaged = damaged


def listing(folder: Path) -> tuple[list[EventFile], list[Left]]:
    """All that is in a folder and its subfolders: files, oldest first, and what is not read.

    What vanishes during the call is in neither list.
    """
    files, left = list[EventFile](), list[Left]()
    below = [""]
    while below:
        inner = below.pop()
        try:
            with os.scandir(os.path.join(folder, inner)) as entries:
                found = list(entries)
        except FileNotFoundError:
            continue
        except OSError as problem:
            left.append(Left(shown(inner), f"cannot be listed: {problem.strerror}"))
            continue
        for entry in found:
            name = os.path.join(inner, entry.name)
            kind = _kind(entry)
            if isinstance(kind, str):
                left.append(Left(shown(name), kind, entry.name.startswith(_HIDDEN)))
            elif kind is not None and stat.S_ISDIR(kind.st_mode):
                below.append(name)
            elif kind is not None:
                files.append(_file(name, entry.path, kind))
    files.sort(key=lambda file: (file.modified, os.fsencode(file.name)))
    return files, sorted(left)


def _kind(entry: "os.DirEntry[str]") -> os.stat_result | str | None:
    """What a file or a folder is; else why it is not read; None if it is gone."""
    if entry.name.startswith(_HIDDEN):
        return _BY_NAME
    try:
        found = entry.stat()
    except FileNotFoundError:
        return "is a link to nothing" if entry.is_symlink() else None
    except OSError as problem:
        return f"cannot be looked at: {problem.strerror}"
    if stat.S_ISDIR(found.st_mode) and entry.is_symlink():
        return "is a link to a folder: move the folder itself here"
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        return "is neither a file nor a folder"
    return found


def _file(name: str, path: str, found: os.stat_result) -> EventFile:
    # The size is data, and the times say enough: whatever changes a file changes one of them.
    times = f"{found.st_ino}.{found.st_mtime_ns}.{found.st_ctime_ns}"
    return EventFile(name, path, times, found.st_mtime_ns, found.st_ctime_ns / 1e9)


def blocks(file: EventFile) -> Iterator[bytes]:
    """The content of a file, unpacked, without a byte order mark, and with an end to its last line.

    Unreadable if it cannot be opened, is damaged, or is no longer the file that was listed:
    then what has come so far counts for nothing.
    """
    last = b""
    for number, block in enumerate(_unpacked(file)):
        last = block if number else block.removeprefix(_BOM)
        yield last
    if not last.endswith(b"\n"):
        yield b"\n"


def _unpacked(file: EventFile) -> Iterator[bytes]:
    try:
        # A pipe that has taken the place of a file would wait for a writer.
        handle = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as raw:
            _require_unchanged(file, raw)
            opener = _OPENERS.get(os.path.splitext(file.name)[1].lower())
            content = raw if opener is None else opener(raw)
            while block := content.read(_BLOCK):
                yield block
            _require_unchanged(file, raw)
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise Unreadable(f"is damaged: {problem}", damaged=True) from None
    except OSError as problem:
        if problem.errno is None:  # so does bz2 call what is damaged
            raise Unreadable(f"is damaged: {problem}", damaged=True) from None
        raise Unreadable(f"cannot be read: {problem.strerror}") from None


def _require_unchanged(file: EventFile, raw: IO[bytes]) -> None:
    found = os.fstat(raw.fileno())
    if not stat.S_ISREG(found.st_mode) or _file(file.name, "", found).times != file.times:
        raise Unreadable(
            "changed while it was read: it is read again when it is left alone. Move files here "
            "when they are whole"
        )


def shown(name: str) -> str:
    """A name as text that can be printed and written: bytes that are no text are escaped."""
    return os.fsencode(name).decode(errors="backslashreplace")
