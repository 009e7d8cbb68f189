"""How far each shard has come, kept outside the engine: an old copy of its states is refused.

A database or a checkpoint that is put back while events went on would spend the same noise on other
events. Every commit of a shard has a number and a digest of all commits so far; the mark remembers
both. It lies beside the secret, and is worth as much as it is hard to put back with the rest.
"""

import fcntl
import hashlib
import os
import zlib
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.errors import RollbackError, StoreError
from littlestone.fleet.terms import MOST_SHARDS

_KIND: Final = b"littlestone-fleet-mark-2 "
_LINE: Final = 96


class Height(NamedTuple):
    """The commits of a shard: how many, and the digest of them all."""

    commits: int
    chain: bytes


UNUSED: Final = Height(0, bytes(32))
"""Of a shard that has no commits."""


def sealed(key: bytes, shard: int, commits: int, root: bytes) -> Height:
    """The height of a shard whose content has the digest ``root``; nobody can make one without key.

    It ties the number of commits to all that they left behind: the rows of a shard are those of its
    newest commit, or their digest is another.
    """
    content = b"%d %d " % (shard, commits) + root
    return Height(commits, hashlib.blake2b(content, key=key, digest_size=32).digest())


class HighWater:
    """The open mark of an engine; a line for each shard, written by whoever holds the shard."""

    def __init__(
        self, path: Path, identity: str, *, create: bool, engine: str = "the database"
    ) -> None:
        self.path, self._engine = path, engine
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            self._file = os.open(path, flags, 0o600)
        except FileNotFoundError:
            raise StoreError(
                f"{path} is missing: nothing says that {engine} is the newest. If it was put "
                f"back, going on would spend the same noise on other events. Bring the mark back; "
                f"only if you know that {engine} never went back, adopt it (--adopt)"
            ) from None
        head = _KIND + identity.encode()
        if create and not os.fstat(self._file).st_size:
            # A line for every shard that can be: one that is cut off would else be a new one.
            none = b"".join(_of(shard, UNUSED) for shard in range(MOST_SHARDS))
            os.pwrite(self._file, _line(head) + none, 0)
        elif os.pread(self._file, _LINE, 0) != _line(head):
            os.close(self._file)
            raise StoreError(f"{path} belongs to another fleet, or is damaged")

    def close(self) -> None:
        """Once: a second time the number may be that of another file, and of its lock."""
        file, self._file = self._file, -1
        if file >= 0:
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def sync(self) -> None:
        """What was remembered survives a machine that loses its power, too."""
        os.fsync(self._file)

    def hold(self) -> None:
        """Refuse to be the second who has it, for engines whose shards have no locks."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                f"{self.path} is in use: somebody else works on this fleet. Two that went on from "
                f"one state would spend the same noise twice"
            ) from None

    def check(self, shard: int, found: Height) -> None:
        """Refuse a shard that stands below its mark, or beside it."""
        known = self.known(shard)
        if found.commits < known.commits or (
            found.commits == known.commits and found.chain != known.chain
        ):
            raise RollbackError(
                f"shard {shard} of {self._engine} was put back: it has {found.commits} commits, "
                f"but {self.path} knows {known.commits}, or others. Going on would spend the same "
                f"noise on other events and void the guarantee. Bring the newest state back; or "
                f"start a new fleet, whose budget adds to what was already published"
            )

    def raise_to(self, shard: int, height: Height) -> None:
        """Remember a commit: at once if the process is killed, on disk when it is closed."""
        os.pwrite(self._file, _of(shard, height), _LINE * (shard + 1))

    def known(self, shard: int) -> Height:
        """The last commit of a shard that was remembered."""
        line = os.pread(self._file, _LINE, _LINE * (shard + 1))
        text = line.rstrip(b"\n").rpartition(b" ")[0].rstrip()
        if _line(text) != line or not text.startswith(f"{shard} ".encode()):
            raise StoreError(f"{self.path} is damaged at shard {shard}: bring it back")
        _, commits, chain = text.decode().split()
        return Height(int(commits), bytes.fromhex(chain))


def _of(shard: int, height: Height) -> bytes:
    return _line(f"{shard} {height.commits} {height.chain.hex()}".encode())


def _line(content: bytes) -> bytes:
    checked = content.ljust(_LINE - 10) + f" {zlib.crc32(content):08x}\n".encode()
    assert len(checked) == _LINE
    return checked
