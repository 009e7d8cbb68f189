"""Which ids were taken, in memory: eight bytes for each, and exact where the log is asked.

An index inside the file would have to be compared with the log, entry by entry, whenever a store is
opened: one that misses an entry lets a known event be taken again. Here the log is all there is.
The newest ids are known by name, all others by 32 bits of a hash and their round; whoever finds a
round looks there, so that ids of one hash are told apart. The hash is under
the store's key: nobody can choose ids that collide.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import StoreError

HASH_BYTES: Final = 4
_HASHES: Final = np.dtype("<u4")
_SHIFT: Final = 32
_ROUND: Final = (1 << _SHIFT) - 1
_MANY: Final = 50_000
_SHARE: Final = 64  # names are large, and merging all for a 64th of them costs each little


class KnownIds:
    """Ids by round, from the first one on without a gap."""

    def __init__(self, key: bytes) -> None:
        own = hashlib.blake2b(b"ids of events", key=key, digest_size=hashlib.blake2b.SALT_SIZE)
        self._salt = own.digest()
        self._recent: dict[str, int] = {}
        self._hashes = bytearray()  # of the recent ones, in their order
        self._sealed = 0  # bytes of it that were given away
        self._restored(np.empty(0, np.uint64))

    def hashes(self, ids: Sequence[str]) -> bytes:
        """Of each id, one after the other."""
        salt, blake2b = self._salt, hashlib.blake2b
        if len(ids) == 1:
            return blake2b(ids[0].encode(), digest_size=HASH_BYTES, salt=salt).digest()
        return b"".join(
            [blake2b(name.encode(), digest_size=HASH_BYTES, salt=salt).digest() for name in ids]
        )

    def add(self, ids: Sequence[str], hashes: bytes) -> None:
        """New ids, of the rounds that follow."""
        first = len(self._keys) + len(self._recent) + 1
        self._recent.update(zip(ids, range(first, first + len(ids)), strict=True))
        self._hashes += hashes

    def seal(self) -> bytes:
        """The hashes of the ids since it was last called, to be kept."""
        hashes = bytes(self._hashes[self._sealed :])
        self._sealed = len(self._hashes)
        if len(self._recent) >= max(_MANY, len(self._keys) // _SHARE):
            self._merge()
        return hashes

    def _merge(self) -> None:
        keys = _keys(bytes(self._hashes), first=len(self._keys) + 1)
        keys.sort()
        merged = np.concatenate([self._keys, keys])
        merged.sort(kind="stable")  # two runs are merged in one pass
        self._restored(merged)
        self._recent.clear()
        self._hashes.clear()
        self._sealed = 0

    def restore(self, sealed: Sequence[bytes]) -> None:
        """Take what ``seal`` gave, all of it in order, as known."""
        keys = _keys(b"".join(sealed), first=1)
        keys.sort()
        self._restored(keys)

    def places(self, name: str) -> Iterator[int]:
        """The rounds of which one is the id's, if it was taken."""
        recent = self._recent.get(name)
        if recent is not None:
            yield recent
            return
        wanted = int.from_bytes(self.hashes([name]), "little")
        view = self._view
        for place in range(bisect_left(view, wanted << _SHIFT), len(view)):
            if view[place] >> _SHIFT != wanted:
                return
            yield view[place] & _ROUND

    def suspects(self, ids: Sequence[str], hashes: bytes) -> Sequence[str]:
        """Those that may have been taken: all that were, and few others."""
        if len(ids) == 1:
            wanted = int.from_bytes(hashes, "little")
            place = bisect_left(self._view, wanted << _SHIFT)
            alike = place < len(self._view) and self._view[place] >> _SHIFT == wanted
            return ids if alike or ids[0] in self._recent else ()
        found = [name for name in ids if name in self._recent]
        if len(self._keys):
            shift = np.uint64(_SHIFT)
            keys = np.frombuffer(hashes, _HASHES).astype(np.uint64) << shift
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            alike_ones = np.flatnonzero(self._keys[places] >> shift == keys >> shift)
            found += [ids[place] for place in alike_ones.tolist()]
        return found

    def _restored(self, keys: NDArray[np.uint64]) -> None:
        self._keys, self._view = keys, keys.data  # the view has whole numbers, and quickly


def _keys(hashes: bytes, *, first: int) -> NDArray[np.uint64]:
    """Hashes above, rounds below: sorted, those of one hash lie together."""
    above = np.frombuffer(hashes, _HASHES).astype(np.uint64) << np.uint64(_SHIFT)
    if first + len(above) > _ROUND:
        raise StoreError(f"a store has room for {_ROUND} events; go on in another (and its budget)")
    return above | np.arange(first, first + len(above), dtype=np.uint64)
