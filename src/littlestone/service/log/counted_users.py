"""How many events of each user were taken, in memory: 24 bytes for each user.

It follows from the log, whose rows are compared with their hash. An index in the file would have to
be compared with them, too, entry by entry: one that misses an entry lets too many events of one
person be read. Users are told apart by their whole digests: were a new name counted as somebody
else's, it would decide which events of others are read.
"""

from bisect import bisect_left
from struct import Struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.service.entries import DIGEST_BYTES

_HALF: Final = 8
_HALVES: Final = Struct("<QQ")
_MANY: Final = 50_000
_SHARE: Final = 16  # merging all for a 16th of them costs each little


class CountedUsers:
    """Users by their digests, and how many events each has had."""

    def __init__(self, digests: bytes = b"") -> None:
        """With ``digests``, of the events so far, one after the other."""
        self._recent: dict[bytes, int] = {}
        users = _as_numbers(digests)
        self._group(users, np.ones(len(users), dtype=np.int64), np.add)

    def add(self, digest: bytes) -> int:
        """Count one event more; how many there were before it."""
        before = self._recent.get(digest)
        if before is None:
            before = self._counted(digest)
            if len(self._recent) >= max(_MANY, len(self._keys) // _SHARE):
                self._merge()
        self._recent[digest] = before + 1
        return before

    def _counted(self, digest: bytes) -> int:
        key, rest = _HALVES.unpack(digest)
        place = bisect_left(self._view, key)
        while place < len(self._view) and self._view[place] == key:
            if self._rests[place] == rest:
                return int(self._counts[place])
            place += 1
        return 0

    def _merge(self) -> None:
        users = np.stack([self._keys, self._rests], axis=1)
        counts = np.fromiter(self._recent.values(), np.int64, len(self._recent))
        self._group(
            np.concatenate([users, _as_numbers(b"".join(self._recent))]),
            np.concatenate([self._counts, counts]),
            np.maximum,  # recent ones count from the first event on
        )
        self._recent.clear()

    def _group(self, users: NDArray[np.uint64], counts: NDArray[np.int64], join: np.ufunc) -> None:
        """Each user once, in order, with the join of its counts."""
        order = np.lexsort((users[:, 1], users[:, 0]))
        users, counts = users[order], counts[order]
        new = np.ones(len(users), dtype=bool)
        new[1:] = (users[1:] != users[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        self._keys, self._rests = users[starts].T.copy()
        self._counts = join.reduceat(counts, starts) if len(starts) else counts
        self._view = self._keys.data  # it has whole numbers, and quickly


def _as_numbers(digests: bytes) -> NDArray[np.uint64]:
    """Two for each digest."""
    return np.frombuffer(digests, np.dtype("<u8")).reshape(-1, DIGEST_BYTES // _HALF)
