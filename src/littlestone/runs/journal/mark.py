"""Keep a mark beside a store that knows its last opening, and how far it came.

Every opening draws a random id, the *branch*, and the mark names the last one and the one that is
being entered. So of all copies of a store only the one that was continued follows its mark. The
mark is also the lock: only the process that holds it may create, open or continue the store.
"""

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.errors import InUseError, RollbackError, StoreError
from littlestone.locks import lock

NOWHERE: Final = "0" * 32
"""The branch of a store that does not exist yet."""
RESTORE = (
    "Restore the newest store and its mark; if they are lost, start a new store, whose budget adds "
    "to what was already published"
)

_KIND: Final = b"littlestone-mark-1"
_MOST_BYTES: Final = 512


class StorePosition(NamedTuple):
    """The state of a store: its identity, the last and the coming branch, its copy, its round."""

    identity: str
    branch: str
    coming: str
    copy: int
    """A number that differs between copies: of a file or of a table."""
    round: int

    def head(self) -> bytes:
        """Return everything except the round as it is written, with a fixed length."""
        identity, branch, coming, copy, _ = self
        return _KIND + f" {identity} {branch} {coming} {copy:020} ".encode()


class MarkFile:
    """An open file of lines with checksums, for its owner only; ``missing`` is the error text."""

    def __init__(self, path: Path, *, create: bool, missing: str) -> None:
        self.path, self._create = path, create
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            self._file = os.open(path, flags, 0o600)
        except FileNotFoundError:
            if create:
                raise
            raise StoreError(missing) from None

    def hold(self, in_use: str) -> None:
        """Lock the file until it is closed."""
        try:
            lock(self._file)
            if inode_of(self.path) != os.fstat(self._file).st_ino:  # removed in the meantime
                raise BlockingIOError
        except BlockingIOError:
            raise InUseError(in_use) from None

    def sync(self) -> None:
        """Sync the file, so that it survives a power failure."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file. Idempotent: the descriptor may have been reused."""
        file, self._file = self._file, -1
        if file >= 0:
            try:
                if self._create and os.fstat(file).st_size == 0:  # nothing was recorded
                    self.path.unlink(missing_ok=True)
                os.fsync(file)
            finally:
                os.close(file)


class Mark(MarkFile):
    """The open, locked mark of a store; ``close`` releases it."""

    def __init__(self, beside: Path, *, create: bool, store: str | None = None) -> None:
        """Open the mark; ``store`` is the store in messages, if it is not the file beside it."""
        self._store = store or str(beside)
        path = beside.with_name(beside.name + ".mark")
        missing = _no_mark(self._store, str(path), "missing")
        super().__init__(path, create=create, missing=missing)
        try:
            self.hold(f"{self._store} is in use by another process")
        except InUseError:
            self._create = False
            self.close()
            raise

    @classmethod
    @contextmanager
    def of_new(cls, beside: Path, *, store: str | None = None) -> Iterator["Mark"]:
        """Yield the mark of a store that is about to be created; delete it if none was.

        The mark of a lost store stays.
        """
        mark = cls(beside, create=True, store=store)
        try:
            if beside.exists():
                raise StoreError(f"{mark._store} exists already; open it, or choose another name")
            mark.refuse_known()
            yield mark
        except BaseException:
            known = None if beside.exists() else mark.read()
            if known is not None and known.branch == NOWHERE:
                mark.path.unlink(missing_ok=True)
            mark.close()
            raise

    def read(self) -> StorePosition | None:
        """Return what the mark knows; None if it is empty or damaged."""
        line = os.pread(self._file, _MOST_BYTES, 0)
        content = line.rpartition(b" ")[0]
        if b"%b %08x\n" % (content, zlib.crc32(content)) != line or not content.startswith(_KIND):
            return None
        _, identity, branch, coming, copy, round_number = content.decode().split()
        return StorePosition(identity, branch, coming, int(copy), int(round_number))

    def write(self, position: StorePosition, *, sync: bool) -> None:
        """Record ``position``: it survives a kill, and with ``sync`` a power failure, too."""
        self._head = position.head()
        self._summed = zlib.crc32(self._head)
        self.advance(position.round)
        if sync:
            os.fsync(self._file)

    def advance(self, round_number: int) -> None:
        """Record another round of what was last written."""
        place = b"%020d" % round_number
        checksum = zlib.crc32(place, self._summed)
        os.pwrite(self._file, b"%b%b %08x\n" % (self._head, place, checksum), 0)

    def refuse_known(self) -> None:
        """Reject the creation of a store if there was one of this name, or the file is no mark."""
        known, content = self.read(), os.pread(self._file, len(_KIND), 0)
        if not _KIND.startswith(content):  # a write that was cut off leaves a part of it
            raise StoreError(
                f"{self.path} is not a mark, and the mark of {self._store} would be written over "
                f"it: move it, or choose another name"
            )
        if known is not None and known.branch != NOWHERE:
            raise StoreError(
                f"{self._store} is gone, but {self.path} knows it at round {known.round}: a new "
                f"store would learn from the same people again, and its budget adds to what was "
                f"already published. Restore the store; or, knowing this, delete the mark"
            )

    def enter(
        self, store: StorePosition, set_branch: Callable[[str], None], *, adopt: bool
    ) -> tuple[StorePosition, bool]:
        """Let a store continue in a new branch, which the mark names before the store does.

        Returns:
            The new position, and True if only ``adopt`` vouches for the store.
        """
        adopted = vouch(self.read(), store, adopt=adopt, place=self._store, mark=str(self.path))
        self.write(store, sync=True)
        set_branch(store.coming)
        entered = store._replace(branch=store.coming)
        self.write(entered, sync=True)
        return entered, adopted


def vouch(
    known: StorePosition | None, store: StorePosition, *, adopt: bool, place: str, mark: str
) -> bool:
    """Reject ``store`` unless it follows its mark; True if only ``adopt`` vouches for it."""
    if known is None:
        if not adopt:
            raise StoreError(_no_mark(place, mark, "empty or damaged"))
        return True
    if known.identity != store.identity:
        raise StoreError(
            f"{mark} belongs to another store than {place}: restore the right one; only if "
            f"there is none, delete this one and adopt the store (--adopt)"
        )
    if store.branch not in (known.branch, known.coming) or store.round < known.round:
        raise RollbackError(
            f"{place} has been rolled back, or its mark was: it stands at round {store.round} of "
            f"opening {store.branch[:8]}, but {mark} knows round {known.round} of opening "
            f"{known.branch[:8]}. Continuing would spend the same noise on other data and void the "
            f"guarantee. Restore the newest files; or start a new store, whose budget adds to "
            f"what was already published"
        )
    if known.copy == store.copy:
        return False
    if not adopt:
        raise StoreError(f"{place} is a copy of what {mark} knows. {_ADOPTING}")
    return True


def _no_mark(place: str, mark: str, state: str) -> str:
    return f"{mark} is {state}: nothing says that {place} is the newest. {_ADOPTING}"


def inode_of(path: str | Path) -> int | None:
    """Return the inode of the file with this name; None if there is none."""
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


_ADOPTING: Final = (
    "If another copy was continued from here, continuing this one, too, would spend the same "
    "noise on two streams and void the guarantee of both. Only if you know that none was, adopt it "
    "(--adopt)"
)
