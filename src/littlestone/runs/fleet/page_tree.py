"""Store maps in small pages under one root, and count the events of users in one.

A leaf holds entries; an inner page holds the digests of the pages below it, one for each value of
the next bits of the digest of an entry. With the root in a safe place, the pages on its path prove
a single entry, or its absence: an entry that was restored, deleted, added or exchanged does not
match the digest in the page above it. A change rewrites the pages on its path.

Which events of a user are read is decided when events are put, in their order: the first ones, and
the same ones if put again. The decision is stored with them in the queue. It depends on the user of
each event and on the names of events (their keys and numbers, or their rounds), never on an
example, and no worker decides it: a killed or slow worker changes nothing. A user is identified by
a keyed digest, and has one value for each event that is read.
"""

import hashlib
import secrets
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import StoreError
from littlestone.runs.intake.users import canonical_user, user_digests

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_EMPTY_LEAF: Final = _LEAF + bytes(2)
_LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one

Fetch = Callable[[list[str]], dict[str, bytes]]
"""Returns the stored pages at some paths: a digit for the first bits of a digest, for the next …"""


@dataclass(slots=True, eq=False)
class _Leaf:
    """Digests in the order of their arrival, how many values each has, and the values in turn."""

    digests: bytearray
    counts: list[int]
    values: bytearray

    @classmethod
    def unpacked(cls, page: bytes) -> "_Leaf":
        count = int.from_bytes(page[1:3])
        at = 3 + DIGEST_BYTES * count
        counts = list(struct.unpack_from(f">{count}H", page, at))
        return cls(bytearray(page[3:at]), counts, bytearray(page[at + 2 * count :]))

    def packed(self) -> bytes:
        count = len(self.counts)
        counts = struct.pack(f">{count}H", *self.counts)
        return b"".join((_LEAF, count.to_bytes(2), self.digests, counts, self.values))

    @property
    def size(self) -> int:
        """Return the bytes of all entries."""
        return len(self.values) + (DIGEST_BYTES + 2) * len(self.counts)

    def place(self, digest: bytes) -> int:
        """Return which of the digests it is; -1 if it is none."""
        at = self.digests.find(digest)
        while at > 0 and at % DIGEST_BYTES:  # across two digests
            at = self.digests.find(digest, at + 1)
        return at // DIGEST_BYTES


class PageTree:
    """Hold the loaded part of the map; a digest may have several values of one size.

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
        self,
        root: bytes,
        fetch: Fetch,
        *,
        key: bytes,
        value_bytes: int,
        most_values: int = 1,
        bits: int = 4,
    ) -> None:
        """Start at a root.

        Args:
            root: The digest of the first page.
            fetch: Reads stored pages.
            key: The key of the digests of pages.
            value_bytes: The size of a value.
            most_values: How many values of one digest always share a leaf.
            bits: An inner page has 2**bits pages below it. Few make larger leaves, which are
                cheaper where a change touches most of them; many make shorter paths.
        """
        self._root, self._fetch, self._key = root, fetch, key
        self._size, self._bits = value_bytes, bits
        self._largest = max(_LARGEST_LEAF, value_bytes * most_values)
        self._inner: dict[str, bytes] = {}
        self._leaf: dict[str, _Leaf] = {}
        self._leaves: dict[bytes, tuple[str, _Leaf]] = {}
        self._within: dict[str, list[bytes]] = {}
        self._changed: set[str] = set()

    def load(self, digests: Iterable[bytes]) -> None:
        """Fetch and check the pages on the paths of these digests, level by level."""
        level = {"": (self._root, list(digests))}
        while level:
            found = self._fetch([path for path in level if level[path][0] != EMPTY_ROOT])
            below: dict[str, tuple[bytes, list[bytes]]] = {}
            for path, (expected, within) in level.items():
                page = found.get(path, b"")
                if expected == EMPTY_ROOT:
                    page = _EMPTY_LEAF
                elif self._digest(page) != expected:
                    continue  # nothing below it can be checked
                if page.startswith(_INNER):
                    self._inner[path] = page
                    for inner, part in self._split(path, within).items():
                        at = _slot(inner)
                        below[inner] = page[at : at + DIGEST_BYTES], part
                else:
                    self._place(path, _Leaf.unpacked(page), within)
            level = below

    def get(self, digest: bytes) -> bytes | None:
        """Return the values of a loaded digest, joined; None if its pages were altered."""
        found = self._leaves.get(digest)
        if found is None:
            return None
        leaf = found[1]
        place = leaf.place(digest)
        if place < 0:
            return b""
        start = self._size * sum(leaf.counts[:place])
        return bytes(leaf.values[start : start + self._size * leaf.counts[place]])

    def add(self, digest: bytes, value: bytes) -> None:
        """Add a value to a loaded digest."""
        path, leaf = self._leaves[digest]
        self._insert(path, leaf, leaf.place(digest), digest, value)

    def offer(self, digest: bytes, value: bytes, most: int) -> bool | None:
        """Add a value to a loaded digest, unless it has it, or ``most`` others.

        Returns:
            Whether the digest has the value; None if its pages were altered.
        """
        path, leaf = self._leaves.get(digest, ("", None))
        if leaf is None:
            return None
        place = leaf.place(digest)
        if place >= 0:
            count, size = leaf.counts[place], self._size
            start = size * sum(leaf.counts[:place])
            at = leaf.values.find(value, start, start + size * count)
            while at > start and (at - start) % size:  # across two values
                at = leaf.values.find(value, at + 1, start + size * count)
            if at >= 0 or count >= most:
                return at >= 0
        self._insert(path, leaf, place, digest, value)
        return True

    def _insert(self, path: str, leaf: _Leaf, place: int, digest: bytes, value: bytes) -> None:
        if place < 0:
            leaf.digests += digest
            leaf.counts.append(1)
            leaf.values += value
        else:
            end = self._size * sum(leaf.counts[: place + 1])
            leaf.values[end:end] = value
            leaf.counts[place] += 1
        self._changed.add(path)
        if leaf.size > self._largest and len(leaf.counts) > 1:
            self._grow(path, leaf)

    def replace(self, digest: bytes, value: bytes) -> None:
        """Replace the first value of a loaded digest."""
        path, leaf = self._leaves[digest]
        start = self._size * sum(leaf.counts[: leaf.place(digest)])
        leaf.values[start : start + self._size] = value
        self._changed.add(path)

    def sealed(self) -> tuple[bytes, dict[str, bytes]]:
        """Return the root that covers all changes, and the pages to store with it."""
        if not self._changed:
            return self._root, {}
        pages = {path: self._leaf[path].packed() for path in self._changed}
        by_depth = defaultdict[int, set[str]](set)
        for path in self._changed:
            by_depth[len(path)].add(path)
        for depth in range(max(by_depth), 0, -1):
            for path in by_depth[depth]:
                above, at = path[:-1], _slot(path)
                page, digest = pages.get(above) or self._inner[above], self._digest(pages[path])
                pages[above] = page[:at] + digest + page[at + DIGEST_BYTES :]
                by_depth[depth - 1].add(above)
        return self._digest(pages[""]), pages

    def _digest(self, page: bytes | bytearray) -> bytes:
        return hashlib.blake2b(page, digest_size=DIGEST_BYTES, key=self._key).digest()

    def _place(self, path: str, leaf: _Leaf, within: list[bytes]) -> None:
        """Store a leaf, and which of the loaded digests belong there."""
        self._leaf[path], self._within[path] = leaf, within
        self._leaves.update(dict.fromkeys(within, (path, leaf)))

    def _grow(self, path: str, leaf: _Leaf) -> None:
        """Split a leaf that has grown too large."""
        self._inner[path] = _INNER + bytes(DIGEST_BYTES << self._bits)
        del self._leaf[path]
        self._changed.discard(path)
        entries, at = dict[bytes, bytearray](), 0
        for place, count in enumerate(leaf.counts):
            digest = bytes(leaf.digests[DIGEST_BYTES * place : DIGEST_BYTES * (place + 1)])
            entries[digest] = leaf.values[at : at + self._size * count]
            at += self._size * count
        parts, within = self._split(path, [*entries]), self._split(path, self._within.pop(path))
        for below in parts.keys() | within.keys():
            digests = parts.get(below, [])
            values = [entries[digest] for digest in digests]
            counts = [len(each) // self._size for each in values]
            part = _Leaf(bytearray(b"".join(digests)), counts, bytearray(b"".join(values)))
            self._place(below, part, within.get(below, []))
            if digests:
                self._changed.add(below)
            if part.size > self._largest and len(digests) > 1:
                self._grow(below, part)

    def _split(self, path: str, within: Sequence[bytes]) -> dict[str, list[bytes]]:
        """Group digests under a page by the page below it."""
        byte, before = divmod(len(path) * self._bits, 8)
        shift, most = 8 - self._bits - before, (1 << self._bits) - 1
        parts: list[list[bytes]] = [[] for _ in range(most + 1)]
        for digest in within:
            parts[digest[byte] >> shift & most].append(digest)
        return {f"{path}{digit:x}": part for digit, part in enumerate(parts) if part}


def _slot(path: str) -> int:
    """Return where the page above holds the digest of the page at ``path``."""
    return 1 + DIGEST_BYTES * int(path[-1], 16)


MOST_SHARES: Final = 1000
"""The most events of one user; they have to fit into one page."""
_NAME_BYTES: Final = 10
_NAMES: Final = 1 << 8 * _NAME_BYTES


class Counted(NamedTuple):
    """What a database stores about its users besides the pages: a key, and the root."""

    key: bytes
    root: bytes

    @classmethod
    def without_users(cls) -> "Counted":
        """Return the state without users, with a fresh key."""
        return cls(secrets.token_bytes(32), EMPTY_ROOT)


def require_users(column: str | None, max_contributions: int) -> None:
    """Reject a column without a name, and a share that does not fit into a page."""
    if column is None:
        return
    if not isinstance(column, str) or not column:
        raise ValueError(f"users must be the name of a column, got users={column!r}")
    require.integer(max_contributions=max_contributions, at_least=1)
    if max_contributions > MOST_SHARES:
        raise ValueError(
            f"max_contributions must be at most {MOST_SHARES} where users are counted, got "
            f"max_contributions={max_contributions}"
        )


def given_users(column: str | None, users: Sequence[Any] | None, count: int) -> Sequence[Any]:
    """Return the users of ``count`` events if users are counted; otherwise none."""
    given = [] if users is None else [user for user in users if user is not None]
    if column is None:
        if given:
            raise ValueError("users must be None where users are not counted")
        return []
    if len(given) != count:
        raise ValueError(f"users must name the user of each event, from the column {column!r}")
    return given


def events_over_limit(
    counted: Counted,
    fetch: Fetch,
    users: Iterable[Any],
    events: Iterable[tuple[bytes, int]],
    *,
    most: int,
) -> tuple[NDArray[np.uint8], bytes, dict[str, bytes]]:
    """Return which events are not read, the new root of the users, and the changed pages.

    ``events`` are identified by a key and a number: an event that was put before gets the same
    answer.
    """
    who = _digests(users, counted.key)
    tree = PageTree(
        counted.root, fetch, key=counted.key, value_bytes=_NAME_BYTES, most_values=most, bits=2
    )
    tree.load(set(who))
    out = np.zeros(len(who), dtype=np.uint8)
    names, keyed = dict[bytes, int](), hashlib.blake2b(digest_size=_NAME_BYTES, key=counted.key)
    for place, (user, (key, number)) in enumerate(zip(who, events, strict=True)):
        name = names.get(key)
        if name is None:
            hashed = keyed.copy()  # faster than one with the key each time
            hashed.update(key)
            name = names[key] = int.from_bytes(hashed.digest())
        # Events of one key differ; those of two keys are equal with probability 2**-80.
        event = ((name + number) % _NAMES).to_bytes(_NAME_BYTES)
        is_read = tree.offer(user, event, most)
        if is_read:
            continue
        if is_read is None:
            raise StoreError(
                "the count of users in this database was rolled back or altered: nothing was put. "
                "Restore the newest table of pages"
            )
        out[place] = 1
    return out, *tree.sealed()


def _digests(users: Iterable[Any], key: bytes) -> list[bytes]:
    """Return the digest of each user; each text is normalized once."""
    names = [user if type(user) is str else canonical_user(user) for user in users]
    texts = list(dict.fromkeys(names))
    found = dict(zip(texts, user_digests(key)(list(map(canonical_user, texts))), strict=True))
    return [found[name] for name in names]
