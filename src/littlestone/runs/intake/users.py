"""Normalize the names of users, store them as keyed digests, and count their events.

Two spellings of one name must not make two users of one person, while two people under one name
only lose events: so names that look alike are one. A name is text in one Unicode form (NFKC) and
case, without invisible characters (marks of direction, joiners, soft hyphens) and with one space
for many; if it reads as a number, it is that number (1, 1.0, "01" and "1e0" are one user). Rows
without a name share one user, the nameless. Letters of different alphabets that look the same stay
different.

Counts are in memory: about 15 bytes per user. They are computed from the log, whose rows are
checked against their hash. An index in the file would have to be checked against them, too, entry
by entry: one missing entry would let too many events of one person be read. Users are told apart by
their whole digests: if a new name counted as another user, it would decide which events of others
are read. The digests are sorted, so the place of a digest gives its first 16 bits; counts beyond
``most`` are not needed and stop there.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from struct import Struct
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.learners.run import PrivateLearner
from littlestone.runs.journal.records import DIGEST_BYTES

NAMELESS: Final = ""
_MOST: Final = 1_000  # normalizing takes the square of the time for marks on one letter
_NAMES: Final = (str, int, float, Decimal)  # a union would be built on each call
# All numbers in ASCII match this, and few other names do.
_FIRST: Final = frozenset("0123456789+-._e")
_NUMERIC: Final = re.compile(r"_*+[+-]?[0-9_]*+(?:\.[0-9_]*+)?(?:e_*+[+-]?[0-9_]*+)?")
_UNSEEN: Final = frozenset({"Cc", "Cf"})
# Invisible letters and marks: fillers, the grapheme joiner, variation selectors.
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


def canonical_user(name: Any) -> str:
    """Return the canonical form of the name of a user, or raise a ValueError. Idempotent.

    >>> {canonical_user(name) for name in (1, 1.0, " 1", "01", "1e0")}
    {'1'}
    >>> canonical_user("Ann ") == canonical_user("ANN"), canonical_user(None) == NAMELESS
    (True, True)
    """
    if name is None:
        return NAMELESS
    if type(name) is not str and not isinstance(name, _NAMES):
        raise ValueError(f"user must be text or a number, got a {type(name).__name__}")
    text = str(name)
    if len(text) > _MOST:
        raise ValueError(f"user must have at most {_MOST:,} characters, got {len(text):,}")
    if text.isascii() and text.isprintable():  # it has one form apart from case, spaces and numbers
        text = text.lower()
        if " " in text:
            text = " ".join(text.split())
        if text[:1] not in _FIRST or _NUMERIC.fullmatch(text) is None:
            return text
        return _number(text) or text
    text.encode()  # a lone surrogate is not a name: ValueError
    text = unicodedata.normalize("NFKC", text).casefold()
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if not text.isascii() or not text.isprintable():
        text = " ".join("".join(filter(_is_seen, text)).split())
        text = unicodedata.normalize("NFKC", text)  # neighbours may have become one letter
    return _number(text) or text


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter) not in _UNSEEN and letter not in _BLANK


def _number(text: str) -> str | None:
    """Return one text for all ways to write a number."""
    if text.isascii():
        if text.isdigit():  # most names that are numbers
            written = text.lstrip("0")
            whole = written.rstrip("0")
            power = len(written) - len(whole)
            return f"{whole}e{power}" if power else whole or "0"
        if text.strip("0123456789+-._e"):
            return None
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except (InvalidOperation, ValueError):
        return None
    if not isinstance(exponent, int):  # not a finite number
        return None
    written = "".join(map(str, digits)).lstrip("0")
    whole = written.rstrip("0")
    if not whole:
        return "0"
    exponent += len(written) - len(whole)
    return f"{'-' * sign}{whole}" + (f"e{exponent}" if exponent else "")


def user_digests(key: bytes) -> Callable[[str], bytes]:
    """Return a function that hashes a canonical name: without the key no guess can be tested."""
    own = hashlib.blake2b(b"users of events", key=key, digest_size=32).digest()
    copied = hashlib.blake2b(key=own, digest_size=DIGEST_BYTES).copy

    def digest(name: str) -> bytes:
        hashed = copied()
        hashed.update(name.encode())
        return hashed.digest()

    return digest


def promise_of(recipe: PrivateLearner, users: str | None) -> str:
    """Return the guarantee in words and to whom it is given: the same text everywhere.

    ``users`` is the column of the users whose events are counted; without it the caller vouches for
    the number of events per user.
    """
    most = recipe.max_contributions
    if users is not None:
        return f"{recipe.guarantee()} to each {users!r}, of whose events at most {most} are read"
    return recipe.promise if most == 1 else f"{recipe.promise} (vouched for, not enforced)"


_BUCKETS: Final = 1 << 16
# The bucket; the key, by which the users in it are sorted; the rest.
_unpacked: Final = Struct(">HIHQ").unpack
_COLUMNS: Final = np.dtype([("bucket", ">u2"), ("key", ">u4"), ("middle", ">u2"), ("rest", ">u8")])
_MANY: Final = 4_096
_SHARE: Final = 256  # merging for each 256th of the names amortizes well
_UNLIMITED: Final = (1 << 32) - 1


class CountedUsers:
    """Count events of users by their digests, up to ``most`` each."""

    def __init__(self, digests: bytes = b"", *, most: int = _UNLIMITED) -> None:
        """Start from the digests of the events so far, joined."""
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

    @classmethod
    def from_state(cls, state: Sequence[bytes], *, most: int) -> Self:
        """Continue from a state."""
        counted = cls(most=most)
        digests, counts = state
        counted._insert(digests, np.frombuffer(counts, "<u4").astype(np.int64))
        return counted

    def state(self) -> tuple[bytes, bytes]:
        """Return all digests, sorted, and their counts: their order of arrival is not stored."""
        self._merge()
        users = np.empty(len(self._keys), _COLUMNS)
        users["bucket"] = np.repeat(np.arange(_BUCKETS), np.diff(self._starts))
        users["key"], users["middle"], users["rest"] = self._keys, self._middles, self._rests
        # Users with equal keys lie in the order in which they were merged.
        order = np.lexsort((users["rest"], users["middle"], users["key"], users["bucket"]))
        return users[order].tobytes(), self._counts[order].astype("<u4").tobytes()

    def __len__(self) -> int:
        """Return how many users are known, except the recent ones."""
        return len(self._keys)

    def add(self, digest: bytes) -> int:
        """Count one event of a user; return how many there were before, at most ``most``."""
        recent = self._recent
        before = recent.get(digest)
        if before is None:
            bucket, key, middle, rest = _unpacked(digest)
            view, offsets = self._view, self._offsets
            end = offsets[bucket + 1]
            place = bisect_left(view, key, offsets[bucket], end)
            if place < end and view[place] == key:
                known = self._known(place, end, key, middle, rest)
                if known is not None:
                    return known
            before = 0
            if len(recent) >= self._room:
                self._merge()
        recent[digest] = before + 1 if before < self._most else before
        return before

    def _known(self, place: int, end: int, key: int, middle: int, rest: int) -> int | None:
        """Count one more event of a user from this place on; None if the user is not there."""
        while place < end and self._view[place] == key:
            if self._middles[place] == middle and self._rests[place] == rest:
                before = int(self._counts[place])
                self._counts[place] = min(before + 1, self._most)
                return before
            place += 1
        return None

    def _merge(self) -> None:
        """Move the recent users to the others."""
        users = sorted(self._recent)
        self._insert(b"".join(users), np.array([self._recent[user] for user in users], np.int64))
        self._recent.clear()

    def _insert(self, digests: bytes, counts: NDArray[np.int64]) -> None:
        """Insert unknown users, sorted by their digests."""
        users = np.frombuffer(digests, _COLUMNS)
        buckets, keys = users["bucket"].astype(np.int64), users["key"]
        places = np.zeros(len(users), np.int64)
        if len(self._keys):  # behind all users of the bucket whose keys are not larger
            offsets = self._offsets
            places[:] = [
                bisect_right(self._view, key, offsets[bucket], offsets[bucket + 1])
                for bucket, key in zip(buckets.tolist(), keys.tolist(), strict=True)
            ]
        places += np.arange(len(users))  # in the result
        old = np.ones(len(self._keys) + len(users), bool)
        old[places] = False
        self._keys = _joined(self._keys, keys, places, old)
        self._middles = _joined(self._middles, users["middle"], places, old)
        self._rests = _joined(self._rests, users["rest"], places, old)
        self._counts = _joined(self._counts, counts, places, old)
        self._starts[1:] += np.cumsum(np.bincount(buckets, minlength=_BUCKETS)).astype(np.uint32)
        self._view, self._offsets = _numbers(self._keys), _numbers(self._starts)
        self._room = max(_MANY, len(self._keys) // _SHARE)  # recent users there may be


def _numbers(array: NDArray[np.uint32]) -> Any:
    """Return a view of the array whose items are Python integers, for speed."""
    return array.data


def _joined(
    old_items: NDArray[Any], new: NDArray[Any], places: NDArray[np.int64], old: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return the new items at their places, and the old ones in order at all others."""
    both = np.empty(len(old), old_items.dtype)
    both[places], both[old] = new, old_items
    return both
