"""How many events of each user were taken, in memory: 15 bytes for each user, and little more.

It follows from the log, whose rows are compared with their hash. An index in the file would have to
be compared with them, too, entry by entry: one that misses an entry lets too many events of one
person be read. Users are told apart by their whole digests: were a new name counted as somebody
else's, it would decide which events of others are read. The digests are sorted, so the first 16
bits of each are known from its place; counts beyond ``most`` are not needed, and stay there.
"""

from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.service.entries import DIGEST_BYTES

_BUCKETS: Final = 1 << 16
_PARTS: Final = Struct(
    ">HIHQ"
)  # the bucket; the key, by which the users in it are sorted; the rest
_KEPT: Final = np.dtype([("bucket", ">u2"), ("key", ">u4"), ("middle", ">u2"), ("rest", ">u8")])
_MANY: Final = 4_096
_SHARE: Final = 256  # names are large, and merging all for a 256th of them costs each little
_UNLIMITED: Final = (1 << 32) - 1


class CountedUsers:
    """Users by their digests, and how many events each has had, up to ``most``."""

    def __init__(self, digests: bytes = b"", *, most: int = _UNLIMITED) -> None:
        """With ``digests``, of the events so far, one after the other."""
        self._most = min(most, _UNLIMITED)
        self._recent: dict[bytes, int] = {}
        # All other users, sorted, and where those of each bucket start.
        self._starts = np.zeros(_BUCKETS + 1, np.uint32)
        self._keys, self._middles = np.empty(0, np.uint32), np.empty(0, np.uint16)
        self._rests = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.min_scalar_type(self._most))
        self._view, self._offsets = _numbers(self._keys), _numbers(self._starts)
        rows = np.frombuffer(digests, np.uint8).reshape(-1, DIGEST_BYTES)
        halves = rows.view(">u8").astype(np.uint64)
        order = np.lexsort((halves[:, 1], halves[:, 0]))
        changed = (np.diff(halves[order], axis=0) != 0).any(axis=1)
        firsts = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), bool), changed]))
        counts = np.diff(np.append(firsts, len(rows)))
        self._insert(rows[order[firsts]].tobytes(), np.minimum(counts, self._most))

    def __len__(self) -> int:
        """How many users are known, the recent ones aside."""
        return len(self._keys)

    def add(self, digest: bytes) -> int:
        """Count one event more; how many there were before it, or ``most``."""
        before = self._recent.get(digest)
        if before is None:
            place = self._place(digest)
            if place is not None:
                counted = int(self._counts[place])
                self._counts[place] = min(counted + 1, self._most)
                return counted
            before = 0
            if len(self._recent) >= max(_MANY, len(self._keys) // _SHARE):
                self._merge()
        self._recent[digest] = before + 1 if before < self._most else before
        return before

    def _place(self, digest: bytes) -> int | None:
        """Where a user stands; None if it is unknown."""
        bucket, key, middle, rest = _PARTS.unpack(digest)
        end = self._offsets[bucket + 1]
        place = bisect_left(self._view, key, self._offsets[bucket], end)
        while place < end and self._view[place] == key:
            if self._middles[place] == middle and self._rests[place] == rest:
                return place
            place += 1
        return None

    def _merge(self) -> None:
        """Move the recent users to the others."""
        users = sorted(self._recent)
        self._insert(b"".join(users), np.array([self._recent[user] for user in users], np.int64))
        self._recent.clear()

    def _insert(self, digests: bytes, counts: NDArray[np.int64]) -> None:
        """Take unknown users, sorted by their digests."""
        users = np.frombuffer(digests, _KEPT)
        buckets, keys = users["bucket"].astype(np.int64), users["key"]
        places = np.zeros(len(users), np.int64)
        if len(self._keys):  # behind all users of the bucket whose keys are not larger
            offsets = self._offsets
            places[:] = [
                bisect_right(self._view, key, offsets[bucket], offsets[bucket + 1])
                for bucket, key in zip(buckets.tolist(), keys.tolist(), strict=True)
            ]
        places += np.arange(len(users))  # in what comes out
        old = np.ones(len(self._keys) + len(users), bool)
        old[places] = False
        self._keys = _joined(self._keys, keys, places, old)
        self._middles = _joined(self._middles, users["middle"], places, old)
        self._rests = _joined(self._rests, users["rest"], places, old)
        self._counts = _joined(self._counts, counts, places, old)
        self._starts[1:] += np.cumsum(np.bincount(buckets, minlength=_BUCKETS)).astype(np.uint32)
        self._view, self._offsets = _numbers(self._keys), _numbers(self._starts)


def _numbers(array: NDArray[np.uint32]) -> Any:
    """A view of the array that gives whole numbers, and quickly."""
    return array.data


def _joined(
    kept: NDArray[Any], new: NDArray[Any], places: NDArray[np.int64], old: NDArray[np.bool_]
) -> NDArray[Any]:
    """The new items at their places, the kept ones in their order at all others."""
    both = np.empty(len(old), kept.dtype)
    both[places], both[old] = new, kept
    return both
