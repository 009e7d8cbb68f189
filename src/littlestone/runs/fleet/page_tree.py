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
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import StoreError
from littlestone.runs.intake.users import canonical_user, canonical_users, user_digests

DIGEST_BYTES: Final = 16
EMPTY_ROOT: Final = bytes(DIGEST_BYTES)
_LEAF, _INNER = b"\0", b"\1"
_EMPTY_LEAF: Final = _LEAF + bytes(2)
_LARGEST_LEAF: Final = 3900  # two fit into a page of PostgreSQL, the old and the new one

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
    largest: int = field(kw_only=True, default=_LARGEST_LEAF)
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
    most_bytes = _NAME_BYTES * most
    largest = max(_LARGEST_LEAF, most_bytes)
    tree = PageTree(counted.root, fetch, key=counted.key, largest=largest, bits=2)
    had, changed = tree.load(set(who)), dict[bytes, bytes]()
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
        known = had[user]
        if known is None:
            raise StoreError(
                "the count of users in this database was rolled back or altered: nothing was put. "
                "Restore the newest table of pages"
            )
        at = known.find(event)
        while at > 0 and at % _NAME_BYTES:  # across two events
            at = known.find(event, at + 1)
        if at < 0 and len(known) < most_bytes:
            had[user] = changed[user] = known + event
        elif at < 0:
            out[place] = 1
    return out, *tree.sealed(changed)


def _digests(users: Iterable[Any], key: bytes) -> list[bytes]:
    """Return the digest of each user; each text is normalized once."""
    names = [user if type(user) is str else canonical_user(user) for user in users]
    texts = list(dict.fromkeys(names))
    found = dict(zip(texts, user_digests(key)(canonical_users(texts)), strict=True))
    return [found[name] for name in names]
