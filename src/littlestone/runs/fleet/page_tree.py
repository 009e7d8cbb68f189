"""Store maps in small pages under one root, and count the events of users in one.

A leaf holds entries; an inner page holds the digests of sixteen pages, one for each next half byte
of the digest of an entry. With the root in a safe place, the pages on its path prove a single
entry, or its absence: an entry that was restored, deleted, added or exchanged does not match the
digest in the page above it. A change rewrites the pages on its path.

Which events of a user are read is decided when events are put, in their order: the first ones, and
the same ones if put again. The decision is stored with them in the queue. It depends on the user of
each event and on the names of events (their keys and numbers, or their rounds), never on an
example, and no worker decides it: a killed or slow worker changes nothing. A user is identified by
a keyed digest, and has one value for each event that is read.
"""

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import StoreError
from littlestone.runs.intake.users import canonical_user, user_digests

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one

Fetch = Callable[[list[str]], dict[str, bytes]]
"""Returns the stored pages at some paths: the first half bytes of a digest, in hexadecimal."""


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
        self, root: bytes, fetch: Fetch, *, key: bytes, value_bytes: int, most_values: int = 1
    ) -> None:
        """Start at a root; at most ``most_values`` of one digest always share a leaf."""
        self._root, self._fetch, self._key = root, fetch, key
        self._entry = DIGEST_BYTES + value_bytes
        self._largest = 1 + max(_LARGEST_LEAF, self._entry * most_values)
        self._pages: dict[str, bytes | bytearray] = {}
        self._leaves: dict[bytes, tuple[str, bytearray]] = {}
        self._within: dict[str, list[bytes]] = {}
        self._changed: set[str] = set()

    def load(self, digests: Iterable[bytes]) -> None:
        """Fetch and check the pages on the paths of these digests, level by level."""
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
        """Return the values of a loaded digest, joined; None if its pages were altered."""
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
        """Add a value to a loaded digest."""
        path, leaf = self._leaves[digest]
        leaf += digest + value
        self._changed.add(path)
        if len(leaf) > self._largest:
            self._grow(path, leaf)

    def replace(self, digest: bytes, value: bytes) -> None:
        """Replace the first value of a loaded digest."""
        path, leaf = self._leaves[digest]
        at = leaf.find(digest, 1)
        while (at - 1) % self._entry:
            at = leaf.find(digest, at + 1)
        leaf[at + DIGEST_BYTES : at + self._entry] = value
        self._changed.add(path)

    def sealed(self) -> tuple[bytes, dict[str, bytes]]:
        """Return the root that covers all changes, and the pages to store with it."""
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
        """Return the digest that a page must have, from the page above it."""
        if not path:
            return self._root
        at = _slot(path)
        return bytes(self._pages[path[:-1]][at : at + DIGEST_BYTES])

    def _digest(self, page: bytes | bytearray) -> bytes:
        return hashlib.blake2b(page, digest_size=DIGEST_BYTES, key=self._key).digest()

    def _place(self, path: str, leaf: bytearray, within: list[bytes]) -> None:
        """Store a leaf, and which of the loaded digests belong there."""
        self._pages[path], self._within[path] = leaf, within
        self._leaves.update(dict.fromkeys(within, (path, leaf)))

    def _grow(self, path: str, leaf: bytearray) -> None:
        """Split a leaf that has grown too large into sixteen."""
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
    """Group what lies under a page by the page below it; ``within`` begin with their digests."""
    byte, shift = len(path) >> 1, 0 if len(path) & 1 else 4
    parts: list[list[bytes]] = [[] for _ in range(16)]
    for digest in within:
        parts[digest[byte] >> shift & 15].append(digest)
    return {f"{path}{half:x}": part for half, part in enumerate(parts) if part}


def _slot(path: str) -> int:
    """Return where the page above holds the digest of the page at ``path``."""
    return 1 + DIGEST_BYTES * int(path[-1], 16)


MOST_SHARES: Final = 1000
"""The most events of one user; they have to fit into one page."""
_KEY_BYTES, _NUMBER_BYTES = 10, 8
_NAME_BYTES: Final = _KEY_BYTES + _NUMBER_BYTES


class Counted(NamedTuple):
    """What a database stores about its users besides the pages: a key, and the root."""

    key: bytes
    root: bytes

    @classmethod
    def nobody(cls) -> "Counted":
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


def unread(
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
    tree = PageTree(counted.root, fetch, key=counted.key, value_bytes=_NAME_BYTES, most_values=most)
    tree.load(set(who))
    out, full = np.zeros(len(who), dtype=np.uint8), most * _NAME_BYTES
    names = dict[bytes, bytes]()
    for place, (user, (key, number)) in enumerate(zip(who, events, strict=True)):
        had = tree.get(user)
        if had is None:
            raise StoreError(
                "the count of users in this database was put back or altered: nothing was put. "
                "Restore the newest table of pages"
            )
        name = names.get(key) or names.setdefault(key, _name(key, counted.key))
        event = name + number.to_bytes(_NUMBER_BYTES)
        if had and _has(had, event):
            continue
        if len(had) < full:
            tree.add(user, event)
        else:
            out[place] = 1
    return out, *tree.sealed()


def _name(key: bytes, secret: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=_KEY_BYTES, key=secret).digest()


def _digests(users: Iterable[Any], key: bytes) -> list[bytes]:
    """Return the digest of each user; each text is normalized once."""
    digest, known, who = user_digests(key), dict[str, bytes](), list[bytes]()
    for user in users:
        found = known.get(user) if type(user) is str else None
        if found is None:
            found = digest(canonical_user(user))
            if type(user) is str:
                known[user] = found
        who.append(found)
    return who


def _has(had: bytes, event: bytes) -> bool:
    at = had.find(event)
    while at % _NAME_BYTES and at > 0:
        at = had.find(event, at + 1)
    return at >= 0
