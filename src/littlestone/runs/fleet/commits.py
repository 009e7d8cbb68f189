"""Know the newest commit of a shard: pages under one root, the seal of the root, and a mark.

A leaf holds entries; an inner page holds the digests of the pages below it, one for each value of
the next bits of the digest of an entry. With the root in a safe place, the pages on its path prove
a single entry, or its absence: an entry that was restored, deleted, added or exchanged does not
match the digest in the page above it. A change rewrites the pages on its path.

The root is sealed under the secret with the number of commits. The mark, a file apart from the
database, knows the last seal of each shard.
"""

import hashlib
import os
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.errors import RollbackError, StoreError
from littlestone.runs.journal.mark import MarkFile

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_EMPTY_LEAF: Final = _LEAF + bytes(2)
LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one
_KIND: Final = b"littlestone-fleet-mark-1 "
_LINE: Final = 96
MOST_SHARDS: Final = 4096

Fetch = Callable[[list[str]], dict[str, bytes]]
"""Returns the stored pages at some paths: a digit for the first bits of a digest, for the next …"""
Leaf = dict[bytes, bytes]
"""The values of each digest, joined."""


@dataclass(slots=True, eq=False)
class PageTree:
    """Hold the loaded part of the map; a digest may have several values of one size.

    >>> stored: dict[str, bytes] = {}
    >>> fetch = lambda paths: {path: stored[path] for path in paths if path in stored}
    >>> tree, mine = PageTree(EMPTY_ROOT, fetch, key=b"key"), bytes(16)
    >>> tree.load([mine]) == {mine: b""}
    True
    >>> root, stored = tree.sealed({mine: b"7"})
    >>> PageTree(root, fetch, key=b"key").load([mine]) == {mine: b"7"}
    True
    >>> stored[""] = stored[""].replace(b"7", b"8")
    >>> PageTree(root, fetch, key=b"key").load([mine]) == {mine: None}
    True
    """

    root: bytes
    """The digest of the first page."""
    fetch: Fetch
    """Reads stored pages."""
    key: bytes = field(kw_only=True, repr=False)
    """The key of the digests of pages."""
    largest: int = field(kw_only=True, default=LARGEST_LEAF)
    """The most bytes of a leaf with several digests."""
    bits: int = field(kw_only=True, default=4)
    """An inner page has 2**bits pages below it.

    Few make larger leaves, which are cheaper where a change touches most of them; many make shorter
    paths.
    """
    _inner: dict[str, bytes] = field(init=False, default_factory=dict)
    _leaves: dict[bytes, tuple[str, Leaf]] = field(init=False, default_factory=dict)
    """The leaf of each loaded digest."""

    def load(self, digests: Iterable[bytes]) -> dict[bytes, bytes | None]:
        """Return the values of each digest, joined; None if the pages on its path were altered."""
        values: dict[bytes, bytes | None] = dict.fromkeys(digests)
        level = {"": (self.root, list(values))}
        while level:
            # An empty root covers no page: one that is there comes from a newer root.
            wanted = [path for path in level if level[path][0] != EMPTY_ROOT or not path]
            found = self.fetch(wanted)
            below: dict[str, tuple[bytes, list[bytes]]] = {}
            for path, (expected, within) in level.items():
                page = found.get(path, b"")
                if expected == EMPTY_ROOT and not page:
                    page = _EMPTY_LEAF
                elif self.digest(page) != expected:
                    continue  # nothing below it can be checked
                if page.startswith(_INNER):
                    self._inner[path] = page
                    for inner, part in self._split(path, within).items():
                        at = _slot(inner)
                        below[inner] = page[at : at + DIGEST_BYTES], part
                else:
                    leaf = _unpacked(page)
                    self._leaves.update(dict.fromkeys(within, (path, leaf)))
                    values.update({digest: leaf.get(digest, b"") for digest in within})
            level = below
        return values

    def sealed(self, changed: dict[bytes, bytes]) -> tuple[bytes, dict[str, bytes]]:
        """Return the root that covers new values of loaded digests, and the pages to store."""
        pages, by_depth = dict[str, bytes](), defaultdict[int, set[str]](set)
        leaves = dict[str, Leaf]()
        for digest, values in changed.items():
            path, leaf = self._leaves[digest]
            leaf[digest] = values
            leaves[path] = leaf
        while leaves:
            path, leaf = leaves.popitem()
            count, sizes = len(leaf), list(map(len, leaf.values()))
            if count > 1 and sum(sizes) + (DIGEST_BYTES + 2) * count > self.largest:
                self._inner[path] = _INNER + bytes(DIGEST_BYTES << self.bits)
                for below, part in self._split(path, leaf).items():
                    leaves[below] = {digest: leaf[digest] for digest in part}
                continue
            packed = struct.pack(f">{count}H", *sizes)
            pages[path] = b"".join((_LEAF, count.to_bytes(2), packed, *leaf, *leaf.values()))
            by_depth[len(path)].add(path)
        for depth in range(max(by_depth, default=0), 0, -1):
            for path in by_depth[depth]:
                above, at = path[:-1], _slot(path)
                page, digest = pages.get(above) or self._inner[above], self.digest(pages[path])
                pages[above] = page[:at] + digest + page[at + DIGEST_BYTES :]
                by_depth[depth - 1].add(above)
        return self.digest(pages[""]) if pages else self.root, pages

    def digest(self, content: bytes) -> bytes:
        """Return the digest of a page, or of the key of an entry."""
        return hashlib.blake2b(content, digest_size=DIGEST_BYTES, key=self.key).digest()

    def _split(self, path: str, within: Iterable[bytes]) -> dict[str, list[bytes]]:
        """Group digests under a page by the page below it."""
        byte, before = divmod(len(path) * self.bits, 8)
        shift, most = 8 - self.bits - before, (1 << self.bits) - 1
        parts: list[list[bytes]] = [[] for _ in range(most + 1)]
        for digest in within:
            parts[digest[byte] >> shift & most].append(digest)
        return {f"{path}{digit:x}": part for digit, part in enumerate(parts) if part}


def _unpacked(page: bytes) -> Leaf:
    """Return the leaf of a page: a count, the bytes of the values of each digest, and these."""
    count = int.from_bytes(page[1:3])
    sizes = struct.unpack_from(f">{count}H", page, 3)
    parts = _layout(sizes).unpack_from(page, 3 + 2 * count)
    return dict(zip(parts[:count], parts[count:], strict=True))


@lru_cache(maxsize=1 << 8)
def _layout(sizes: tuple[int, ...]) -> struct.Struct:
    """Return the layout of digests whose values have these sizes; most pages share one."""
    return struct.Struct(f"{DIGEST_BYTES}s" * len(sizes) + "%ds" * len(sizes) % sizes)


def _slot(path: str) -> int:
    """Return where the page above holds the digest of the page at ``path``."""
    return 1 + DIGEST_BYTES * int(path[-1], 16)


class Height(NamedTuple):
    """The commits of a shard: how many, and the digest of all of them."""

    commits: int
    chain: bytes


UNUSED: Final = Height(0, bytes(32))
"""The height of a shard without commits."""


def sealed(key: bytes, shard: int, commits: int, root: bytes) -> Height:
    """Return the height of a shard whose content has the digest ``root``; it needs the key.

    It ties the number of commits to their result: either the rows of a shard are those of its
    newest commit, or their digest differs.
    """
    content = b"%d %d " % (shard, commits) + root
    return Height(commits, hashlib.blake2b(content, key=key, digest_size=32).digest())


class HighWater(MarkFile):
    """The open mark of an engine; one line per shard, written by the worker of the shard."""

    def __init__(
        self, path: Path, identity: str, *, create: bool, engine: str = "the database"
    ) -> None:
        self._engine = engine
        missing = (
            f"{path} is missing: nothing says that {engine} is the newest. If it was rolled back, "
            f"continuing would spend the same noise on other events. Restore the mark; only "
            f"if you know that {engine} never went back, adopt it (--adopt)"
        )
        super().__init__(path, create=create, missing=missing)
        head = _KIND + identity.encode()
        if create and not os.fstat(self._file).st_size:
            # A line for every possible shard: a missing line would look like a new shard.
            none = b"".join(_shard_line(shard, UNUSED) for shard in range(MOST_SHARDS))
            content = _line(head) + none
            if os.pwrite(self._file, content, 0) != len(content):  # the disk is almost full
                os.ftruncate(self._file, 0)
                self.close()
                raise StoreError(f"{path} cannot be written: no space left on the disk")
        elif os.pread(self._file, _LINE, 0) != _line(head):
            os.close(self._file)
            raise StoreError(
                f"{path} belongs to another fleet, or is damaged: restore the mark of this fleet"
            )

    def hold_alone(self) -> None:
        """Lock the mark, for engines whose shards have no locks."""
        self.hold(
            f"{self.path} is in use: another process works on this fleet. Two that continued one "
            f"state would spend the same noise twice"
        )

    def check(self, shard: int, found: Height) -> None:
        """Reject a shard that is below its mark, or differs from it."""
        if os.pread(self._file, _LINE, _LINE * (shard + 1)) == _shard_line(shard, found):
            return  # as after most commits
        known = self.known(shard)
        if found.commits < known.commits or (
            found.commits == known.commits and found.chain != known.chain
        ):
            raise RollbackError(
                f"shard {shard} of {self._engine} was rolled back: it has {found.commits} commits, "
                f"but {self.path} knows {known.commits}, or others. Continuing would spend the "
                f"same noise on other events and void the guarantee. Restore the newest state; or "
                f"start a new fleet, whose budget adds to what was already published"
            )

    def raise_to(self, shard: int, height: Height) -> None:
        """Record a commit: it survives a kill, and a power failure after ``close``."""
        os.pwrite(self._file, _shard_line(shard, height), _LINE * (shard + 1))

    def known(self, shard: int) -> Height:
        """Return the last recorded commit of a shard."""
        line = os.pread(self._file, _LINE, _LINE * (shard + 1))
        with suppress(ValueError):
            _, commits, chain, _ = line.decode().split()
            height = Height(int(commits), bytes.fromhex(chain))
            if line == _shard_line(shard, height):
                return height
        raise StoreError(f"{self.path} is damaged at shard {shard}: restore it")


def _shard_line(shard: int, height: Height) -> bytes:
    return _line(f"{shard} {height.commits} {height.chain.hex()}".encode())


def _line(content: bytes) -> bytes:
    """Return a line of the mark with its checksum; all have one length."""
    return content.ljust(_LINE - 10) + b" %08x\n" % zlib.crc32(content)
