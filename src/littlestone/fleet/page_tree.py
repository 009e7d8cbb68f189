"""A map from digests to values, in small pages under one root that changes with every entry.

A leaf holds entries; an inner page holds the digests of sixteen pages, one for each next half byte
of an entry's digest. Whoever keeps the root in a safe place can check a single entry, or that there
is none, with the pages on its path: an entry that was put back, deleted, added or exchanged does
not have the digest that the page above it holds. A change writes the pages on its path anew.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one

Fetch = Callable[[list[str]], dict[str, bytes]]
"""The stored pages at some paths; a path is the first half bytes of a digest, in hexadecimal."""
Entries = dict[bytes, bytes]


class PageTree:
    """The part of the map that was loaded; a digest may have several values of one size.

    >>> stored: dict[str, bytes] = {}
    >>> fetch = lambda paths: {path: stored[path] for path in paths if path in stored}
    >>> tree, mine = PageTree(EMPTY_ROOT, fetch, key=b"key", value_bytes=1), bytes(16)
    >>> tree.load([mine])
    >>> tree.get(mine)
    b''
    >>> tree.put(mine, b"7")
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
        self._entry, self._single = DIGEST_BYTES + value_bytes, most_values == 1
        self._largest = 1 + max(_LARGEST_LEAF, self._entry * most_values)
        self._pages: dict[str, bytes] = {}
        self._leaves: dict[str, Entries] = {}
        self._places: dict[bytes, tuple[str, Entries]] = {}
        self._changed: set[str] = set()

    def load(self, digests: Iterable[bytes]) -> None:
        """Fetch and check the pages on the paths of these digests, level by level; once."""
        level = {"": list(digests)}
        while level:
            expected = {path: self._expected(path) for path in level}
            found = self._fetch([path for path in level if expected[path] != EMPTY_ROOT])
            below = defaultdict[str, list[bytes]](list)
            for path, within in level.items():
                page = found.get(path, b"")
                if expected[path] == EMPTY_ROOT:
                    page = _LEAF
                elif self._digest(page) != expected[path]:
                    continue  # nothing below it can be checked
                self._pages[path] = page
                if page.startswith(_INNER):
                    for digest in within:
                        below[path + _half(digest, len(path))].append(digest)
                else:
                    place = path, self._entries(page)
                    self._places.update(dict.fromkeys(within, place))
            level = below

    def get(self, digest: bytes) -> bytes | None:
        """The values of a loaded digest, one after another; None if its pages were altered."""
        place = self._places.get(digest)
        return None if place is None else place[1].get(digest, b"")

    def put(self, digest: bytes, values: bytes) -> None:
        """Give a loaded digest other values."""
        path, entries = self._places[digest]
        entries[digest] = values
        self._leaves[path] = entries

    def sealed(self) -> tuple[bytes, dict[str, bytes]]:
        """The root that covers all changes, and the pages to be stored with it."""
        if not self._leaves:
            return self._root, {}
        for path, entries in self._leaves.items():
            self._write(path, entries)
        by_depth = defaultdict[int, set[str]](set)
        for path in self._changed:
            by_depth[len(path)].add(path)
        for depth in range(max(by_depth), 0, -1):
            for path in by_depth[depth]:
                above, at = path[:-1], _slot(path)
                page, digest = self._pages[above], self._digest(self._pages[path])
                self._pages[above] = page[:at] + digest + page[at + DIGEST_BYTES :]
                by_depth[depth - 1].add(above)
        stored = {path: self._pages[path] for paths in by_depth.values() for path in paths}
        return self._digest(self._pages[""]), stored

    def _expected(self, path: str) -> bytes:
        """The digest that a page must have, as the page above it says."""
        if not path:
            return self._root
        at = _slot(path)
        return self._pages[path[:-1]][at : at + DIGEST_BYTES]

    def _digest(self, page: bytes) -> bytes:
        return hashlib.blake2b(page, digest_size=DIGEST_BYTES, key=self._key).digest()

    def _entries(self, page: bytes) -> Entries:
        size, entries = self._entry, Entries()
        for at in range(1, len(page), size):
            digest, value = page[at : at + DIGEST_BYTES], page[at + DIGEST_BYTES : at + size]
            entries[digest] = value if self._single else entries.get(digest, b"") + value
        return entries

    def _write(self, path: str, entries: Entries) -> None:
        """Change a leaf; one that has grown too large becomes sixteen."""
        self._changed.add(path)
        if self._single:
            page = b"".join([_LEAF, *[digest + value for digest, value in entries.items()]])
        else:
            size = self._entry - DIGEST_BYTES
            page = b"".join(
                [
                    _LEAF,
                    *[
                        digest + values[at : at + size]
                        for digest, values in entries.items()
                        for at in range(0, len(values), size)
                    ],
                ]
            )
        if len(page) <= self._largest:
            self._pages[path] = page
            return
        self._pages[path] = _INNER + bytes(16 * DIGEST_BYTES)
        parts = defaultdict[str, Entries](dict)
        for digest, values in entries.items():
            parts[path + _half(digest, len(path))][digest] = values
        for below, part in parts.items():
            self._write(below, part)


def _half(digest: bytes, depth: int) -> str:
    """The half byte of a digest that says where it goes below a page at this depth."""
    byte = digest[depth >> 1]
    return "0123456789abcdef"[byte & 15 if depth & 1 else byte >> 4]


def _slot(path: str) -> int:
    """Where the page above holds the digest of the page at ``path``."""
    return 1 + DIGEST_BYTES * int(path[-1], 16)
