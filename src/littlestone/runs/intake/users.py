"""Normalize the names of users, store them as keyed digests, and count their events.

Two spellings of one name must count as one user, and two people with one name only lose events. So
names that look alike count as one. A name is text in one Unicode form (NFKC) and
case, without invisible characters (marks of direction, joiners, soft hyphens) and with one space
for many; if it reads as a number, it is that number (1, 1.0, "01" and "1e0" are one user). Rows
without a name share one user, the nameless. Letters of different alphabets that look the same stay
different.

Counts are in memory: less than 16 bytes per user. They are computed from the log, whose rows are
checked against their hash. An index in the file would have to be checked against them, too, entry
by entry: one missing entry would let too many events of one person be read. Users are distinguished
by their whole digests: if two names shared a count, the events of one person would decide which
events of the other are read. The digests lie in buckets by their first 16 bits, which are not
stored with them; counts stop at ``most``.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from struct import Struct
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.learners.run import PrivateLearner
from littlestone.runs.journal.records import DIGEST_BYTES
from littlestone.type_checks import is_a, plain_number

NAMELESS: Final = ""
_MOST: Final = 1_000  # normalizing many marks on one letter takes quadratic time
_NAMES: Final = (str, int, float, Decimal)  # a union would be built on each call
# All numbers in ASCII match this, and few other names do.
_DIGITS: Final = frozenset("0123456789")
_FIRST: Final = _DIGITS | frozenset("+-._e")
_NUMERIC: Final = re.compile(r"_*+[+-]?[0-9_]*+(?:\.[0-9_]*+)?(?:e_*+[+-]?[0-9_]*+)?")
_UNSEEN: Final = frozenset({"Cc", "Cf"})
# Invisible letters and marks: fillers, blanks, the grapheme joiner, variation selectors, and what
# Unicode keeps for more of them (Default_Ignorable_Code_Point).
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9))))
    + "".join(map(chr, range(0xE0000, 0xE1000)))
)


def canonical_user(name: Any) -> str:
    """Return the canonical form of the name of a user, or raise a ValueError. Idempotent.

    >>> {canonical_user(name) for name in (1, 1.0, " 1", "01", "1e0")}
    {'1'}
    >>> canonical_user("Ann ") == canonical_user("ANN"), canonical_user(None) == NAMELESS
    (True, True)
    """
    if type(name) is not str:
        if name is None:
            return NAMELESS
        if not is_a(name, _NAMES):
            raise ValueError(f"user must be text or a number, got a {type(name).__name__}")
        # A member of an Enum, or another subclass, may print as anything, and as another each time.
        name = str(Decimal(name) if is_a(name, Decimal) else plain_number(name))
    if len(name) > _MOST:
        raise ValueError(f"user must have at most {_MOST:,} characters, got {len(name):,}")
    if name.isascii() and name.isprintable():  # it has one form apart from case, spaces and numbers
        text: str = name.lower()
        if " " in text and ("  " in text or text[0] == " " or text[-1] == " "):
            text = " ".join(text.split())
        if text[:1] not in _FIRST or (text[0] in _DIGITS and "-" in text and "e" not in text):
            return text  # a date or a phone number, for instance, is not a number
        return _numbered(text)
    name.encode()  # a lone surrogate is not a name: ValueError
    text = _seen(" ".join(name.split()))  # first: what is between two marks keeps their order
    text = unicodedata.normalize("NFKC", text).casefold()
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if not text.isascii() or not text.isprintable():
        text = " ".join(_seen(text).split())  # of what a letter was written as
        text = unicodedata.normalize("NFKC", text)  # neighbours may have become one letter
    return _number(text) or text


def canonical_users(names: Sequence[Any]) -> list[str]:
    """Return what ``canonical_user`` returns for each name; most groups take few steps.

    >>> canonical_users(["Ann", "Bo Li", "01"]), canonical_users(["Ann ", 1.0])
    (['ann', 'bo li', '1'], ['ann', '1'])
    """
    try:
        spaced = " ".join(names)  # of the letters, whatever a subclass of text says of itself
    except TypeError:
        return list(map(canonical_user, names))
    if spaced.isascii() and spaced.isprintable() and "  " not in f" {spaced} ":
        texts = "\n".join(names).lower().split("\n")
        if max(map(len, texts)) <= _MOST:
            return [
                text
                if text[0] not in _FIRST or (text[0] in _DIGITS and "-" in text and "e" not in text)
                else _numbered(text)
                for text in texts
            ]
    return list(map(canonical_user, names))


def _numbered(text: str) -> str:
    """Return lower-case ASCII with single spaces, or the one text of the number that it is."""
    return text if _NUMERIC.fullmatch(text) is None else _number(text) or text


def _seen(text: str) -> str:
    return "".join(filter(_is_seen, text))


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


def _hash(key: bytes) -> Callable[[], hashlib.blake2b]:
    """Return a function that begins a hash under the key: a copy, which takes less time."""
    own = hashlib.blake2b(b"users of events", key=key, digest_size=32).digest()
    return hashlib.blake2b(key=own, digest_size=DIGEST_BYTES).copy


def user_digest(key: bytes) -> Callable[[str], bytes]:
    """Return a function that hashes a canonical name: without the key no guess can be tested."""
    copied = _hash(key)

    def digest(name: str) -> bytes:
        hashed = copied()
        hashed.update(name.encode())
        return hashed.digest()

    return digest


def user_digests(key: bytes) -> Callable[[Sequence[str]], list[bytes]]:
    """Return a function that does what ``user_digest`` does for many names, with fewer calls."""
    copied = _hash(key)

    def digests(names: Sequence[str]) -> list[bytes]:
        found = []
        for name in names:
            hashed = copied()
            hashed.update(name.encode())
            found.append(hashed.digest())
        return found

    return digests


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
_TAG, _REST = 2, 12  # bytes
# The bucket; the tag, by which users in it are found; the rest.
_unpacked: Final = Struct(">H2s12s").unpack
_COLUMNS: Final = np.dtype([("bucket", ">u2"), ("tag", "u2"), ("rest", "V12")])
# How many users may be recent: _MANY, or one in _SHARE of all users if that is more.
_MANY, _SHARE = 5_000, 256
_YOUNG, _SHARE_YOUNG = 65_536, 16  # the same for users in the small layer
_FEW: Final = 50  # below this, arrays do not pay off
_UNLIMITED: Final = (1 << 32) - 1
Users = NDArray[Any]
"""Digests in parts: an array of ``_COLUMNS``."""


class CountedUsers:
    """Count events of users by their digests, up to ``most`` each.

    Recent users are moved to a small layer of arrays, and those of the small layer to a large one:
    moving them into an array takes time for every user that is there.
    """

    def __init__(self, digests: bytes = b"", *, most: int = _UNLIMITED) -> None:
        """Start from the digests of the events so far, joined."""
        self._most = min(most, _UNLIMITED)
        self._recent: dict[bytes, int] = {}
        self._young, self._old = _Layer(self._most), _Layer(self._most)
        users = np.frombuffer(digests, _COLUMNS)
        users = users[_sorted(users)]
        halves = users.view(">u8").reshape(-1, 2)
        changed = (halves[1:] != halves[:-1]).any(axis=1)
        firsts = np.flatnonzero(np.concatenate([np.ones(min(len(users), 1), bool), changed]))
        counts = np.diff(np.append(firsts, len(users)))
        self._old.insert(users[firsts], np.minimum(counts, self._most))
        self._moved()

    @classmethod
    def from_state(cls, state: Sequence[bytes], *, most: int) -> Self:
        """Continue from a state."""
        counted = cls(most=most)
        digests, counts = state
        counted._old.insert(np.frombuffer(digests, _COLUMNS), np.frombuffer(counts, "<u4"))
        counted._moved()
        return counted

    def state(self) -> tuple[bytes, bytes]:
        """Return all digests, sorted, and their counts: their order of arrival is not stored."""
        self._merge()
        both = [layer.users() for layer in (self._young, self._old)]
        users = np.concatenate(both, dtype=_COLUMNS)  # otherwise in the machine's order of bytes
        counts = np.concatenate([self._young.counts, self._old.counts])
        order = _sorted(users)
        return users[order].tobytes(), counts[order].astype("<u4").tobytes()

    def __len__(self) -> int:
        """Return how many users are known, except the recent ones."""
        return len(self._young.counts) + len(self._old.counts)

    def add(self, digest: bytes) -> int:
        """Count one event of a user; return how many there were before, at most ``most``."""
        recent = self._recent
        before = recent.get(digest)
        if before is None:
            known = self._in_layers(digest)
            if known is not None:
                return known
            before = 0
            if len(recent) >= self._room:
                self._merge()
        recent[digest] = before + 1 if before < self._most else before
        return before

    def add_many(self, digests: Sequence[bytes]) -> list[int]:
        """Count one event of each user; return the places of those who had ``most`` before."""
        if len(digests) < _FEW:
            return [place for place, one in enumerate(digests) if self.add(one) >= self._most]
        users = np.frombuffer(b"".join(digests), _COLUMNS)
        buckets, tags = users["bucket"].astype(np.int64), users["tag"][:, None]
        alike = set[int]()
        for layer in self._layers:
            alike.update(layer.alike(buckets, tags))
        beyond, most, recent = list[int](), self._most, self._recent
        for place, digest in enumerate(digests):
            before = recent.get(digest)
            if before is None:
                before = self._in_layers(digest) if place in alike else None
                if before is None:
                    recent[digest] = 1
                    continue
            elif before < most:
                recent[digest] = before + 1
            if before >= most:
                beyond.append(place)
        if len(recent) >= self._room:  # not earlier: the lookups above need unchanged layers
            self._merge()
        return beyond

    def _in_layers(self, digest: bytes) -> int | None:
        """Count one event of a user who is not recent; None if the user is unknown."""
        bucket, tag, rest = _unpacked(digest)
        for layer in self._layers:
            known = layer.count(bucket, tag, rest)
            if known is not None:
                return known
        return None

    def _merge(self) -> None:
        """Move the recent users to the small layer, and those there to the large one if many."""
        users = np.frombuffer(b"".join(self._recent), _COLUMNS)
        counts = np.fromiter(self._recent.values(), np.int64, len(users))
        order = np.argsort(users["bucket"].astype(np.uint16), kind="stable")
        self._recent.clear()
        self._young.insert(users[order], counts[order])
        if len(self._young.counts) >= max(_YOUNG, len(self._old.counts) // _SHARE_YOUNG):
            self._old.insert(self._young.users(), self._young.counts)
            self._young = _Layer(self._most)
        self._moved()

    def _moved(self) -> None:
        self._layers = [layer for layer in (self._young, self._old) if len(layer.counts)]
        self._room = max(_MANY, len(self) // _SHARE)


def _sorted(users: Users) -> NDArray[np.intp]:
    """Return the order of whole digests."""
    halves = users.view(">u8").reshape(-1, 2).astype(np.uint64)
    return np.lexsort((halves[:, 1], halves[:, 0]))


class _Layer:
    """Hold users by the buckets of their digests, and where each bucket starts.

    The tags of one bucket lie together, so one can be found as bytes, and many as windows of an
    array that are as wide as the largest bucket.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.starts = np.zeros(_BUCKETS + 1, np.uint32)
        self.tags = np.empty(0, np.uint16)
        self.rests = np.empty(0, _COLUMNS["rest"])
        self.counts = np.empty(0, np.min_scalar_type(most))
        self._bytes = b""  # those of the tags
        self._look()

    def users(self) -> Users:
        """Return the digests, by their buckets."""
        users = np.empty(len(self.counts), _COLUMNS)
        users["bucket"] = np.repeat(np.arange(_BUCKETS), np.diff(self.starts))
        users["tag"], users["rest"] = self.tags, self.rests
        return users

    def alike(self, buckets: NDArray[np.int64], tags: NDArray[np.uint16]) -> list[int]:
        """Return the places of all users who are here, and of few others; ``tags`` is a column."""
        starts = np.minimum(self.starts[buckets], len(self._windows) - 1)
        near = self._windows[starts].view(np.uint16).reshape(len(tags), -1)
        found: list[int] = (np.flatnonzero(near == tags) // near.shape[1]).tolist()
        return found

    def count(self, bucket: int, tag: bytes, rest: bytes) -> int | None:
        """Count one more event of a user; None if the user is not here."""
        at, end = _TAG * self._offsets[bucket], _TAG * self._offsets[bucket + 1]
        while (at := self._bytes.find(tag, at, end)) >= 0:
            place = at // _TAG
            if at % _TAG == 0 and self._rests[_REST * place : _REST * (place + 1)] == rest:
                before: int = self._counts[place]
                if before < self._most:
                    self._counts[place] = before + 1
                return before
            at += 1
        return None

    def insert(self, users: Users, counts: NDArray[Any]) -> None:
        """Insert unknown users, in the order of their buckets, behind all others of each bucket."""
        buckets = users["bucket"].astype(np.int64)
        places = self.starts[buckets + 1] + np.arange(len(users))
        old = np.ones(len(self.counts) + len(users), bool)
        old[places] = False
        self._bytes = _joined(self.tags, users["tag"], places, old).tobytes()
        self.tags = np.frombuffer(self._bytes, np.uint16)
        self.rests = _joined(self.rests, users["rest"], places, old)
        self.counts = _joined(self.counts, counts, places, old)
        self.starts[1:] += np.cumsum(np.bincount(buckets, minlength=_BUCKETS)).astype(np.uint32)
        self._look()

    def _look(self) -> None:
        """Make views whose items are Python integers, for speed, and the windows."""
        self._offsets: Any = self.starts.data
        self._counts: Any = self.counts.data
        self._rests: Any = self.rests.view(np.uint8).data
        width = max(1, int(np.diff(self.starts).max()))
        count = max(0, len(self.tags) - width + 1)
        self._windows = np.ndarray(count, f"V{_TAG * width}", self._bytes, 0, (_TAG,))


def _joined(
    old_items: NDArray[Any], new: NDArray[Any], places: NDArray[Any], old: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return the new items at their places, and the old ones in order at all others."""
    both = np.empty(len(old), old_items.dtype)
    both[places], both[old] = new, old_items
    return both
