"""How many events of each user were taken, in memory: sixteen bytes for each user.

It follows from the log, whose rows are compared with their hash. An index in the file would have to
be compared with them, too, entry by entry: one that misses an entry lets too many events of one
person be read. Users are known by 64 bits of their keyed digests. Should two share them, they share
their part, and fewer events are read of both.
"""

from bisect import bisect_left
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.service.entries import DIGEST_BYTES

_BYTES: Final = 8
_MANY: Final = 50_000
_SHARE: Final = (
    16  # numbers by name are large, and merging all for a 16th of them costs each little
)


class CountedUsers:
    """Users by their digests, and how many events each has had."""

    def __init__(self, digests: bytes = b"") -> None:
        """With ``digests``, of the events so far, one after the other."""
        halves = np.frombuffer(digests, np.dtype("<u8")).reshape(-1, DIGEST_BYTES // _BYTES)
        self._recent: dict[int, int] = {}
        self._merged(*np.unique(halves[:, 0], return_counts=True))

    def add(self, digest: bytes) -> int:
        """Count one event more; how many there were before it."""
        user = int.from_bytes(digest[:_BYTES], "little")
        before = self._recent.get(user)
        if before is None:
            before = self._counted(user)
            if len(self._recent) >= max(_MANY, len(self._keys) // _SHARE):
                self._merge()
        self._recent[user] = before + 1
        return before

    def _counted(self, user: int) -> int:
        place = bisect_left(self._view, user)
        known = place < len(self._view) and self._view[place] == user
        return int(self._counts[place]) if known else 0

    def _merge(self) -> None:
        users = np.fromiter(self._recent, np.uint64, len(self._recent))
        counts = np.fromiter(self._recent.values(), np.int64, len(self._recent))
        places = np.searchsorted(self._keys, users)
        known = np.zeros(len(users), dtype=bool)
        inside = places < len(self._keys)
        known[inside] = self._keys[places[inside]] == users[inside]
        self._counts[places[known]] = counts[known]  # they count from the first event on
        keys = np.concatenate([self._keys, users[~known]])
        order = np.argsort(keys, kind="stable")
        self._merged(keys[order], np.concatenate([self._counts, counts[~known]])[order])
        self._recent.clear()

    def _merged(self, keys: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        self._keys, self._counts = keys, counts
        self._view = keys.data  # it has whole numbers, and quickly
