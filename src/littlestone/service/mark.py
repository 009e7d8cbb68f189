"""The mark beside a store knows which opening of it was the last, and how far that came.

Every opening draws a random id, the *branch*, and the mark names the last one and the one that is
being entered. So of all copies of a store only the one that went on is its mark's successor. The
mark is also the lock: whoever holds it is the only one to create, open or continue the store.
"""

import fcntl
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.errors import InUseError, RollbackError, StoreError

NOWHERE: Final = "0" * 32
"""The branch of a store that is not there yet."""

_KIND: Final = "littlestone-mark-1"
_MOST_BYTES: Final = 512


class Standing(NamedTuple):
    """Where a store stands: whose it is, the last and the coming branch, which file, how far."""

    identity: str
    branch: str
    coming: str
    inode: int
    round: int

    def head(self) -> bytes:
        """All of it but the round, as it is written: always equally long."""
        identity, branch, coming, inode, _ = self
        return f"{_KIND} {identity} {branch} {coming} {inode:020} ".encode()


class Mark:
    """The open, locked file; ``close`` lets others in."""

    def __init__(self, store: Path, *, create: bool) -> None:
        self._store = store
        self.path = store.with_name(store.name + ".mark")
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            self._file = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            if create:
                raise
            raise StoreError(self._unvouched("missing")) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if inode_of(self.path) != os.fstat(self._file).st_ino:  # removed meanwhile
                raise BlockingIOError
        except BlockingIOError:
            os.close(self._file)
            raise InUseError(f"{store} is in use by another process") from None

    def close(self) -> None:
        """Once: a second time the number may be that of another file, and of its lock."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def forget(self) -> None:
        """Leave no trace of a store that never was; one that is gone stays known."""
        known = self.read()
        if os.fstat(self._file).st_size == 0 or (known is not None and known.branch == NOWHERE):
            self.path.unlink(missing_ok=True)

    def read(self) -> Standing | None:
        """What it knows; None if it is empty or damaged."""
        words = _words(os.pread(self._file, _MOST_BYTES, 0))
        if words is None:
            return None
        _, identity, branch, coming, inode, round_number = words
        return Standing(identity, branch, coming, int(inode), int(round_number))

    def write(self, standing: Standing, *, sync: bool) -> None:
        """Remember ``standing``: at once if the process is killed, with ``sync`` on disk too."""
        self._head = standing.head()
        self._summed = zlib.crc32(self._head)
        self.advance(standing.round)
        if sync:
            os.fsync(self._file)

    def advance(self, round_number: int) -> None:
        """Remember another round of what was last written."""
        place = b"%020d" % round_number
        checksum = zlib.crc32(place, self._summed)
        os.pwrite(self._file, b"%b%b %08x\n" % (self._head, place, checksum), 0)

    def refuse_known(self) -> None:
        """For a store to be created: refuse if there was one of this name."""
        known = self.read()
        if known is not None and known.branch != NOWHERE:
            raise StoreError(
                f"{self._store} is gone, but {self.path} knows it at round {known.round}: a new "
                f"store would learn from the same people again, and its budget adds to what was "
                f"already published. Bring the store back; or, knowing this, delete the mark"
            )

    def vouch(self, store: Standing, *, adopt: bool) -> bool:
        """Refuse ``store`` unless it is the successor; True if only ``adopt`` speaks for it."""
        known = self.read()
        if known is None:
            if not adopt:
                raise StoreError(self._unvouched("empty or damaged"))
            return True
        if known.identity != store.identity:
            raise StoreError(
                f"{self.path} belongs to another store than {self._store}: bring the right one "
                f"back; only if there is none, delete this one and adopt the store (--adopt)"
            )
        if store.branch not in (known.branch, known.coming) or store.round < known.round:
            raise RollbackError(
                f"{self._store} has been rolled back, or its mark was: it stands at round "
                f"{store.round} of opening {store.branch[:8]}, but {self.path} knows round "
                f"{known.round} of opening {known.branch[:8]}. Continuing would spend the same "
                f"noise on other data and void the guarantee. Bring the newest files back; or "
                f"start a new store, whose budget adds to what was already published"
            )
        if known.inode == store.inode:
            return False
        if not adopt:
            raise StoreError(
                f"{self._store} is a copy of the file that {self.path} knows. {_ADOPTING}"
            )
        return True

    def _unvouched(self, state: str) -> str:
        return f"{self.path} is {state}: nothing says that {self._store} is the newest. {_ADOPTING}"


def inode_of(path: str | Path) -> int | None:
    """Which file has this name, if any has."""
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


_ADOPTING: Final = (
    "If another copy went on from here, continuing this one, too, would spend the same noise on "
    "two streams and void the guarantee of both. Only if you know that none did, adopt it (--adopt)"
)


def _words(content: bytes) -> Sequence[str] | None:
    """The words of a mark, if it is whole."""
    try:
        text, _, checksum = content.decode("ascii").rpartition(" ")
    except UnicodeDecodeError:
        return None
    whole = text.startswith(_KIND) and checksum == f"{zlib.crc32(text.encode()):08x}\n"
    return text.split() if whole else None
