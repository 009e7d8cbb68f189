"""How many events of each user were read, in memory: less than 16 bytes for each user.

Entries lie in buckets, in the order in which they came; which bucket follows from the first bits of
a user's digest, so its first byte is not kept. Digests are cut to 112 bits: among n users two
are taken for one with probability n²/2¹¹³ at most, 10⁻¹⁶ for a thousand million.
"""

from collections.abc import Sequence
from typing import Final

_FIRST_BITS: Final = 8
_REST: Final = slice(1, 14)
_REST_BYTES: Final = 13
_MOST_IN_A_BUCKET: Final = 200  # on average; they are looked through one by one


class UserCounts:
    """Counts up to ``most`` for each user.

    >>> counts, ann, bob = UserCounts(2), bytes(16), bytes([7] * 16)
    >>> [counts.add(user) for user in (ann, ann, bob, ann, bob)]
    [True, True, True, False, True]
    >>> UserCounts(2, counts.state()).add(ann)
    False
    """

    def __init__(self, most: int, state: Sequence[bytes] = ()) -> None:
        """With ``state``, where it was taken."""
        self._most = most
        self._count_bytes = (most.bit_length() + 7) // 8
        self._entry = _REST_BYTES + self._count_bytes
        self._buckets = list(state) or [b""] * (1 << _FIRST_BITS)
        self._bits = len(self._buckets).bit_length() - 1
        self._users = sum(map(len, self._buckets)) // self._entry

    def __len__(self) -> int:
        return self._users

    def add(self, digest: bytes) -> bool:
        """Count one event more; False, and nothing counted, if its user has had ``most``."""
        number = int.from_bytes(digest[:4]) >> (32 - self._bits)
        bucket, rest = self._buckets[number], digest[_REST]
        at = bucket.find(rest)
        while at > 0 and at % self._entry:
            at = bucket.find(rest, at + 1)
        if at < 0:
            self._buckets[number] = bucket + rest + (1).to_bytes(self._count_bytes)
            self._users += 1
            if self._users > _MOST_IN_A_BUCKET * len(self._buckets) and self._bits < 32:
                self._split()
            return True
        start, end = at + _REST_BYTES, at + self._entry
        count = int.from_bytes(bucket[start:end])
        if count >= self._most:
            return False
        counted = (count + 1).to_bytes(self._count_bytes)
        self._buckets[number] = bucket[:start] + counted + bucket[end:]
        return True

    def state(self) -> list[bytes]:
        """From which another goes on."""
        return list(self._buckets)

    def _split(self) -> None:
        """Each bucket becomes two, by the next bit of the digests."""
        # The first byte is the same for all in a bucket and not in the entries.
        byte, bit = divmod(self._bits - _FIRST_BITS, 8)
        halves = list[bytes]()
        for number, bucket in enumerate(self._buckets):
            parts: tuple[list[bytes], list[bytes]] = ([], [])
            for at in range(0, len(bucket), self._entry):
                parts[bucket[at + byte] >> (7 - bit) & 1].append(bucket[at : at + self._entry])
            halves += map(b"".join, parts)
            self._buckets[number] = b""  # what is needed at once is little more than one copy
        self._buckets, self._bits = halves, self._bits + 1
