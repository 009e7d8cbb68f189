"""How many events of each user were read, in memory: less than 16 bytes for each user.

Entries lie in buckets, in the order in which they came; which bucket follows from the first bits of
a user's digest, so its first byte is not kept. Digests have 112 bits: among n users two are taken
for one with probability n²/2¹¹³ at most, 10⁻¹⁶ for a thousand million.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from littlestone.service.promises.users import canonical_user

User = tuple[int, bytes]
"""The first 32 bits of a digest, and all of it but its first byte."""
_FIRST_BITS: Final = 8
_DIGEST_BYTES: Final = 14
_REST_BYTES: Final = _DIGEST_BYTES - 1
_MOST_IN_A_BUCKET: Final = 200  # on average; they are looked through one by one


def users_under(key: bytes) -> Callable[[Any], User]:
    """What a user's name is counted as; without the key nobody can test a guess."""

    @lru_cache(maxsize=1 << 12, typed=True)  # 1 and True are equal, and two names
    def user(name: Any) -> User:
        text = canonical_user(name).encode()
        digest = hashlib.blake2b(text, key=key, digest_size=_DIGEST_BYTES).digest()
        return int.from_bytes(digest[:4]), digest[1:]

    return user


class UserCounts:
    """Counts up to ``most`` for each user.

    >>> counts, user = UserCounts(2), users_under(bytes(32))
    >>> [counts.add(user(name)) for name in ("Ann", "ANN", "Bob", "ann", "Bob")]
    [True, True, True, False, True]
    >>> UserCounts(2, counts.state()).add(user("Ann"))
    False
    """

    def __init__(self, most: int, state: Sequence[bytes] = ()) -> None:
        """With ``state``, where it was taken."""
        self._most = most
        self._count_bytes = (most.bit_length() + 7) // 8
        self._entry = _REST_BYTES + self._count_bytes
        self._buckets = [bytearray(bucket) for bucket in state or [b""] * (1 << _FIRST_BITS)]
        self._shift = 33 - len(self._buckets).bit_length()
        self._users = sum(map(len, self._buckets)) // self._entry

    def __len__(self) -> int:
        return self._users

    def add(self, user: User) -> bool:
        """Count one event more; False, and nothing counted, if its user has had ``most``."""
        prefix, rest = user
        bucket, size = self._buckets[prefix >> self._shift], self._entry
        at = bucket.find(rest)
        while at > 0 and at % size:
            at = bucket.find(rest, at + 1)
        if at < 0:
            self._insert(prefix >> self._shift, rest)
            return True
        start = at + _REST_BYTES
        single = self._count_bytes == 1
        count = bucket[start] if single else int.from_bytes(bucket[start : at + size])
        if count >= self._most:
            return False
        if single:
            bucket[start] = count + 1
        else:
            bucket[start : at + size] = (count + 1).to_bytes(self._count_bytes)
        return True

    def state(self) -> list[bytes]:
        """From which another goes on."""
        return list(map(bytes, self._buckets))

    def _insert(self, number: int, rest: bytes) -> None:
        # Anew: what is appended to a bytearray takes an eighth more than it needs.
        one = (1).to_bytes(self._count_bytes)
        self._buckets[number] = bytearray(b"".join((self._buckets[number], rest, one)))
        self._users += 1
        if self._users > _MOST_IN_A_BUCKET * len(self._buckets) and self._shift:
            self._split()

    def _split(self) -> None:
        """Each bucket becomes two, by the next bit of the digests."""
        # The first byte is the same for all in a bucket and not in the entries.
        byte, bit = divmod(32 - self._shift - _FIRST_BITS, 8)
        halves = list[bytearray]()
        for number, bucket in enumerate(self._buckets):
            parts: tuple[list[bytes], list[bytes]] = ([], [])
            for at in range(0, len(bucket), self._entry):
                entry = bytes(bucket[at : at + self._entry])
                parts[entry[byte] >> (7 - bit) & 1].append(entry)
            halves += [bytearray(b"".join(part)) for part in parts]
            self._buckets[number] = bytearray()  # so that there is little more than one copy
        self._buckets, self._shift = halves, self._shift - 1
