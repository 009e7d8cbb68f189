"""How many events of each user were taken, in memory: 15 bytes for each user, and little more.

It follows from the log, whose rows are compared with their hash. An index in the file would have to
be compared with them, too, entry by entry: one that misses an entry lets too many events of one
person be read. Users are told apart by their whole digests: were a new name counted as somebody
else's, it would decide which events of others are read. The digests are sorted, so the first 16
bits of each are known from its place; counts beyond ``most`` are not needed, and stay there.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from struct import Struct
from typing import Final

import numpy as np

from littlestone.service.entries import DIGEST_BYTES

_BUCKETS: Final = 1 << 16
_BEGINNING: Final = Struct(">HI")  # the bucket and the key; the tail follows
_KEY_BYTES: Final = 4
_TAIL_BYTES: Final = DIGEST_BYTES - _BEGINNING.size
_MANY: Final = 4_096
_SHARE: Final = 256  # names are large, and merging all for a 256th of them costs each little
_UNLIMITED: Final = (1 << 32) - 1


class CountedUsers:
    """Users by their digests, and how many events each has had, up to ``most``."""

    def __init__(self, digests: bytes = b"", *, most: int = _UNLIMITED) -> None:
        """With ``digests``, of the events so far, one after the other."""
        self._most = min(most, _UNLIMITED)
        self._width = np.min_scalar_type(self._most)
        self._recent: dict[bytes, int] = {}
        # Of all other users, sorted: keys and tails of their digests, their counts, and where the
        # users of each bucket start.
        self._starts = np.zeros(_BUCKETS + 1, np.uint32)
        self._take(b"", bytearray(), bytearray())
        rows = np.frombuffer(digests, np.uint8).reshape(-1, DIGEST_BYTES)
        halves = rows.view(">u8").astype(np.uint64)
        order = np.lexsort((halves[:, 1], halves[:, 0]))
        changed = (np.diff(halves[order], axis=0) != 0).any(axis=1)
        firsts = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), bool), changed]))
        counts = np.diff(np.append(firsts, len(rows)))
        self._insert(rows[order[firsts]].tobytes(), np.minimum(counts, self._most).tolist())

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
        self._recent[digest] = min(before + 1, self._most)
        return before

    def _place(self, digest: bytes) -> int | None:
        """Where a user stands; None if it is unknown."""
        bucket, key = _BEGINNING.unpack_from(digest)
        tail = digest[_BEGINNING.size :]
        end = self._offsets[bucket + 1]
        place = bisect_left(self._keys, key, self._offsets[bucket], end)
        while place < end and self._keys[place] == key:
            if self._tails[place * _TAIL_BYTES : (place + 1) * _TAIL_BYTES] == tail:
                return place
            place += 1
        return None

    def _merge(self) -> None:
        """Move the recent users to the others."""
        users = sorted(self._recent)
        self._insert(b"".join(users), [self._recent[user] for user in users])
        self._recent.clear()

    def _insert(self, digests: bytes, counts: Sequence[int]) -> None:
        """Take unknown users, sorted by their digests."""
        rows = np.frombuffer(digests, np.uint8).reshape(-1, DIGEST_BYTES)
        beginnings = np.frombuffer(
            rows[:, : _BEGINNING.size].tobytes(), np.dtype([("bucket", ">u2"), ("key", ">u4")])
        )
        buckets, keys = beginnings["bucket"].astype(np.int64), beginnings["key"].astype(np.uint32)
        # Behind all users of the bucket whose keys are not larger.
        places = [
            bisect_right(self._keys, key, self._offsets[bucket], self._offsets[bucket + 1])
            for bucket, key in zip(buckets.tolist(), keys.tolist(), strict=True)
        ]
        self._starts[1:] += np.cumsum(np.bincount(buckets, minlength=_BUCKETS)).astype(np.uint32)
        tails = rows[:, _BEGINNING.size :].tobytes()
        self._take(
            bytes(_inserted(self._keys.cast("B"), keys.tobytes(), places, _KEY_BYTES)),
            _inserted(self._tails, tails, places, _TAIL_BYTES),
            _inserted(
                bytearray(self._counts.tobytes()),
                np.array(counts, self._width).tobytes(),
                places,
                self._width.itemsize,
            ),
        )

    def _take(self, keys: bytes, tails: bytearray, counts: bytearray) -> None:
        self._keys, self._tails = memoryview(keys).cast("I"), tails
        self._counts = np.frombuffer(counts, self._width)
        self._offsets = self._starts.data


def _inserted(
    old: memoryview | bytearray, new: bytes, places: Sequence[int], width: int
) -> bytearray:
    """The old items with each new one before the old one at its place."""
    if not places or not old:
        return bytearray(old) + new
    parts, before, view = list[memoryview | bytes](), 0, memoryview(old)
    for number, place in enumerate(places):
        parts += view[before * width : place * width], new[number * width : (number + 1) * width]
        before = place
    parts.append(view[before * width :])
    return bytearray().join(parts)
