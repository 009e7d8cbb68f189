"""How far each shard has come, kept outside the database: an old copy of it is refused.

A database that is put back while events went on would spend the same noise on other events. Every
commit of a shard has a number and a digest of all commits so far; the mark remembers both. It lies
beside the secret, and is worth as much as it is hard to put back together with the database.
"""

import os
import zlib
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.errors import RollbackError, StoreError

_KIND: Final = b"littlestone-fleet-mark-1 "
_LINE: Final = 96


class Height(NamedTuple):
    """The commits of a shard: how many, and the digest of them all."""

    commits: int
    chain: bytes


class HighWater:
    """The open mark; a line for each shard, written by whoever holds the shard."""

    def __init__(self, path: Path, identity: str, *, create: bool) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            self._file = os.open(path, flags, 0o600)
        except FileNotFoundError:
            raise StoreError(
                f"{path} is missing: nothing says that the database is the newest. If it was put "
                f"back, going on would spend the same noise on other events. Bring the mark back; "
                f"only if you know that the database never went back, adopt it (--adopt)"
            ) from None
        head = _KIND + identity.encode()
        if not os.fstat(self._file).st_size:
            os.pwrite(self._file, _line(head), 0)
        elif os.pread(self._file, _LINE, 0) != _line(head):
            os.close(self._file)
            raise StoreError(f"{path} belongs to another fleet, or is damaged")

    def close(self) -> None:
        os.fsync(self._file)
        os.close(self._file)

    def check(self, shard: int, found: Height) -> None:
        """Refuse a shard that stands below its mark, or beside it."""
        known = self._read(shard)
        if found.commits < known.commits or (
            found.commits == known.commits and found.chain != known.chain
        ):
            raise RollbackError(
                f"shard {shard} of the database was put back: it has {found.commits} commits, but "
                f"{self.path} knows {known.commits}. Going on would spend the same noise on other "
                f"events and void the guarantee. Bring the newest database back; or start a new "
                f"fleet, whose budget adds to what was already published"
            )

    def raise_to(self, shard: int, height: Height) -> None:
        """Remember a commit: at once if the process is killed, on disk when it is closed."""
        content = f"{shard} {height.commits} {height.chain.hex()}".encode()
        os.pwrite(self._file, _line(content), _LINE * (shard + 1))

    def _read(self, shard: int) -> Height:
        line = os.pread(self._file, _LINE, _LINE * (shard + 1))
        if not line.strip(b"\0"):
            return Height(0, bytes(32))
        text = line.rstrip(b"\n").rpartition(b" ")[0].rstrip()
        if _line(text) != line:
            raise StoreError(f"{self.path} is damaged at shard {shard}: bring it back")
        _, commits, chain = text.decode().split()
        return Height(int(commits), bytes.fromhex(chain))


def _line(content: bytes) -> bytes:
    checked = content.ljust(_LINE - 10) + f" {zlib.crc32(content):08x}\n".encode()
    assert len(checked) == _LINE
    return checked
