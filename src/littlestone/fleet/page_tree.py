"""A map from digests to values, in small pages under one root that changes with every entry.

A leaf holds entries; an inner page holds the digests of sixteen pages, one for each next half byte
of an entry's digest. Whoever keeps the root in a safe place can check a single entry, or that there
is none, with the pages on its path: an entry that was put back, deleted, added or exchanged does
not have the digest that the page above it holds. A change writes the pages on its path anew.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one

Fetch = Callable[[list[str]], dict[str, bytes]]
"""The stored pages at some paths; a path is the first half bytes of a digest, in hexadecimal."""


class PageTree:
    """The part of the map that was loaded; a digest may have several values of one size.

    >>> stored: dict[str, bytes] = {}
    >>> fetch = lambda paths: {path: stored[path] for path in paths if path in stored}
    >>> tree, mine = PageTree(EMPTY_ROOT, fetch, key=b"key", value_bytes=1), bytes(16)
    >>> tree.load([mine])
    >>> tree.get(mine)
    b''
    >>> tree.add(mine, b"7")
    >>> root, stored = tree.sealed()
    >>> again = PageTree(root, fetch, key=b"key", value_bytes=1)
    >>> again.load([mine])
    >>> again.get(mine)
    b'7'
    >>> stored[""] = stored[""].replace(b"7", b"8")
    >>> forged = PageTree(root, fetch, key=b"key", value_bytes=1)
    >>> forged.load([mine])
    >>> forged.get(mine) is None
    True
    """

    def __init__(
        self, root: bytes, fetch: Fetch, *, key: bytes, value_bytes: int, most_values: int = 1
    ) -> None:
        """``most_values`` is the most that one digest will have; so many always share a leaf."""
        self._root, self._fetch, self._key = root, fetch, key
        self._entry = DIGEST_BYTES + value_bytes
        self._largest = 1 + max(_LARGEST_LEAF, self._entry * most_values)
        self._pages: dict[str, bytes | bytearray] = {}
        self._leaves: dict[bytes, tuple[str, bytearray]] = {}
        self._within: dict[str, list[bytes]] = {}
        self._changed: set[str] = set()

    def load(self, digests: Iterable[bytes]) -> None:
        """Fetch and check the pages on the paths of these digests, level by level; once."""
        level = {"": list(digests)}
        while level:
            expected = {path: self._expected(path) for path in level}
            found = self._fetch([path for path in level if expected[path] != EMPTY_ROOT])
            below: dict[str, list[bytes]] = {}
            for path, within in level.items():
                page = found.get(path, b"")
                if expected[path] == EMPTY_ROOT:
                    page = _LEAF
                elif self._digest(page) != expected[path]:
                    continue  # nothing below it can be checked
                if page.startswith(_INNER):
                    self._pages[path] = page
                    below |= _split(path, within)
                else:
                    self._place(path, bytearray(page), within)
            level = below

    def get(self, digest: bytes) -> bytes | None:
        """The values of a loaded digest, one after another; None if its pages were altered."""
        place = self._leaves.get(digest)
        if place is None:
            return None
        find, size = place[1].find, self._entry
        values, at = b"", find(digest, 1)
        while at > 0:
            if (at - 1) % size:  # across two entries
                at = find(digest, at + 1)
                continue
            values += place[1][at + DIGEST_BYTES : at + size]
            at = find(digest, at + size)
        return values

    def add(self, digest: bytes, value: bytes) -> None:
        """Give a loaded digest one value more."""
        path, leaf = self._leaves[digest]
        leaf += digest + value
        self._changed.add(path)
        if len(leaf) > self._largest:
            self._grow(path, leaf)

    def replace(self, digest: bytes, value: bytes) -> None:
        """Give a loaded digest another value in the place of its first."""
        path, leaf = self._leaves[digest]
        at = leaf.find(digest, 1)
        while (at - 1) % self._entry:
            at = leaf.find(digest, at + 1)
        leaf[at + DIGEST_BYTES : at + self._entry] = value
        self._changed.add(path)

    def sealed(self) -> tuple[bytes, dict[str, bytes]]:
        """The root that covers all changes, and the pages to be stored with it."""
        if not self._changed:
            return self._root, {}
        by_depth = defaultdict[int, set[str]](set)
        for path in self._changed:
            by_depth[len(path)].add(path)
        for depth in range(max(by_depth), 0, -1):
            for path in by_depth[depth]:
                above, at = path[:-1], _slot(path)
                page, digest = self._pages[above], self._digest(self._pages[path])
                self._pages[above] = page[:at] + digest + page[at + DIGEST_BYTES :]
                by_depth[depth - 1].add(above)
        stored = {path: bytes(self._pages[path]) for paths in by_depth.values() for path in paths}
        return self._digest(self._pages[""]), stored

    def _expected(self, path: str) -> bytes:
        """The digest that a page must have, as the page above it says."""
        if not path:
            return self._root
        at = _slot(path)
        return bytes(self._pages[path[:-1]][at : at + DIGEST_BYTES])

    def _digest(self, page: bytes | bytearray) -> bytes:
        return hashlib.blake2b(page, digest_size=DIGEST_BYTES, key=self._key).digest()

    def _place(self, path: str, leaf: bytearray, within: list[bytes]) -> None:
        """Remember a leaf, and which of the loaded digests belong there."""
        self._pages[path], self._within[path] = leaf, within
        self._leaves.update(dict.fromkeys(within, (path, leaf)))

    def _grow(self, path: str, leaf: bytearray) -> None:
        """A leaf that has grown too large becomes sixteen."""
        self._pages[path] = _INNER + bytes(16 * DIGEST_BYTES)
        entries = [bytes(leaf[at : at + self._entry]) for at in range(1, len(leaf), self._entry)]
        parts, within = _split(path, entries), _split(path, self._within.pop(path))
        for below in parts.keys() | within.keys():
            part = bytearray(b"".join((_LEAF, *parts.get(below, ()))))
            self._place(below, part, within.get(below, []))
            if below in parts:
                self._changed.add(below)
            if len(part) > self._largest:
                self._grow(below, part)


def _split(path: str, within: Sequence[bytes]) -> dict[str, list[bytes]]:
    """What lies under a page, by the page below it; ``within`` begin with their digests."""
    byte, shift = len(path) >> 1, 0 if len(path) & 1 else 4
    parts: list[list[bytes]] = [[] for _ in range(16)]
    for digest in within:
        parts[digest[byte] >> shift & 15].append(digest)
    return {f"{path}{half:x}": part for half, part in enumerate(parts) if part}


def _slot(path: str) -> int:
    """Where the page above holds the digest of the page at ``path``."""
    return 1 + DIGEST_BYTES * int(path[-1], 16)
