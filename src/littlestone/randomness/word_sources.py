"""The sources of uniform 64-bit words: the operating system, a seed, a secret key.

``littlestone.randomness.Randomness`` draws from one of these and reads ahead.
"""

import hashlib
import hmac
import os
import threading
from array import array
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import RetiredError

_AHEAD: Final = 128  # words read at once for single draws; few, since every run holds them
_STRETCH: Final = 8192  # words of a seeded stream reserved for single draws
_PERIOD: Final = 1 << 128  # of the seeded generator
_KEY_BYTES: Final = 32


if TYPE_CHECKING:
    _Words = array[int]
else:
    _Words = array  # not generic before Python 3.12


class Ahead(_Words):
    """Words read ahead, the next one last, and their position in the stream."""

    __slots__ = ("start",)

    start: int

    @classmethod
    def of(cls, words: NDArray[np.uint64], start: int = 0) -> "Ahead":
        """Return the words in the order in which they are used."""
        made = cls("Q", words[::-1].tobytes())
        made.start = start
        return made


class Source(Protocol):
    """A supply of uniform 64-bit words."""

    @property
    def private(self) -> bool:
        """Whether the words are secret."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform words."""

    def ahead(self) -> Ahead:
        """Return the next few words, for draws of a single one."""

    def spawn(self, count: int) -> "list[Source]":
        """Return ``count`` independent sources."""

    def state(self) -> dict[str, Any]:
        """Return the position of the stream: behind the words that were used, not those ahead."""


class OperatingSystem:
    """Words from the operating system's cryptographic generator."""

    private: Final = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def ahead(self) -> Ahead:
        """Return the next few words, for single draws."""
        return Ahead.of(self.words(_AHEAD))

    def spawn(self, count: int) -> list[Source]:
        """Return ``count`` independent sources."""
        return [OperatingSystem() for _ in range(count)]

    def state(self) -> dict[str, Any]:
        """Return the kind of source only: unused bits are dropped, never stored."""
        return {"source": "secure"}


class Seeded:
    """Words from a seeded generator: replayable, predictable, hence not private."""

    private: Final = False

    def __init__(
        self, seed: np.random.SeedSequence, taken: int = 0, single: tuple[int, int] = (0, 0)
    ) -> None:
        self._seed = seed
        self._generator = np.random.PCG64DXSM(seed)
        self._at = 0  # position of the generator
        self._taken = taken  # words taken from the stream so far
        self._single = single  # start and end of the stretch for single draws
        self._ahead = Ahead("Q")
        self._lock = threading.Lock()

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform words."""
        with self._lock:
            return self._read(self._take(count), count)

    def ahead(self) -> Ahead:
        """Return the next few words, for single draws."""
        with self._lock:
            start, end = self._single
            if start == end:
                start = self._take(_STRETCH)
                end = start + _STRETCH
            count = min(_AHEAD, end - start)
            self._single = (start + count, end)
            self._ahead = Ahead.of(self._read(start, count), start)
            return self._ahead

    def _take(self, count: int) -> int:
        first, self._taken = self._taken, self._taken + count
        return first

    def _read(self, start: int, count: int) -> NDArray[np.uint64]:
        if start != self._at:
            self._generator.advance((start - self._at) % _PERIOD)
        self._at = start + count
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def spawn(self, count: int) -> list[Source]:
        """Return ``count`` independent sources."""
        return [Seeded(child) for child in self._seed.spawn(count)]

    def state(self) -> dict[str, Any]:
        """Return where the stream stands."""
        seed = self._seed
        return {
            "source": "seeded",
            "entropy": seed.entropy,
            "spawn_key": list(seed.spawn_key),
            "children": seed.n_children_spawned,
            "taken": self._taken,
            "single": [self._single[0] - len(self._ahead), self._single[1]],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Seeded":
        """Continue the stream of a saved state."""
        seed = np.random.SeedSequence(
            state["entropy"],
            spawn_key=tuple(state["spawn_key"]),
            n_children_spawned=state["children"],
        )
        start, end = map(_position, state["single"])
        taken = _position(state["taken"])
        if not start <= end <= taken:
            raise ValueError(
                f"state is inconsistent: a stream with {taken} words taken has no {start}–{end}; "
                f"restore an unaltered copy"
            )
        return cls(seed, taken, (start, end))


class Keyed:
    """Words stretched from a secret key: a durable run can be replayed exactly after a crash.

    The key determines the noise, so it is as secret as the data. Without it, no known method tells
    the words from uniform ones (SHAKE-256 in counter mode).
    """

    private: Final = True

    def __init__(
        self,
        key: bytes,
        block: int = 0,
        children: int = 0,
        unused: tuple[int, int] = (0, 0),
        family: bytes = b"",
    ) -> None:
        self._key = checked_key(key)
        self.family = family or hashlib.sha256(key).digest()
        """The same for all that were spawned from one key; says nothing about it."""
        self._block = block
        self._children = children
        self._unused = unused  # the block of a saved state, and how many of its words remain
        self._ahead = Ahead("Q")  # handed out last; those in it are not used yet
        self._lock = threading.Lock()  # no two threads may get the same block

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform words."""
        with self._lock:
            block, self._block = self._block, self._block + 1
        return self._words_of(block, count)

    def ahead(self) -> Ahead:
        """Return the next few words, for single draws."""
        with self._lock:
            (block, left), self._unused = self._unused, (0, 0)
            if not left:
                block, self._block, left = self._block, self._block + 1, _AHEAD
            self._ahead = Ahead.of(self._words_of(block, _AHEAD)[_AHEAD - left :], block)
            return self._ahead

    def _words_of(self, block: int, count: int) -> NDArray[np.uint64]:
        stretched = self._stretch(b"words" + block.to_bytes(16, "big"), 8 * count)
        return np.frombuffer(stretched, dtype="<u8").astype(np.uint64)

    def spawn(self, count: int) -> list[Source]:
        """Return ``count`` independent sources."""
        with self._lock:
            first, self._children = self._children, self._children + count
        labels = (b"child" + n.to_bytes(16, "big") for n in range(first, first + count))
        return [Keyed(self._stretch(label, _KEY_BYTES), family=self.family) for label in labels]

    def position(self) -> tuple[int, int, int, int]:
        """Return how much was drawn, not what: blocks, children, and what remains of a block."""
        ahead = self._ahead
        before, left = (ahead.start, len(ahead)) if ahead else self._unused
        return self._block, self._children, before, left

    def state(self) -> dict[str, Any]:
        """Return where the stream stands."""
        block, children, *left = self.position()
        return {
            "source": "keyed",
            "key": self._key.hex(),
            "family": self.family.hex(),
            "block": block,
            "children": children,
            "unread": left,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Keyed":
        """Continue the stream of a saved state."""
        block, children = _position(state["block"]), _position(state["children"])
        before, left = map(_position, state["unread"])
        if left > _AHEAD or (left and before >= block):
            raise ValueError(
                f"state is inconsistent: {left} words of block {before} before block {block}; "
                f"restore an unaltered copy"
            )
        key, family = bytes.fromhex(state["key"]), bytes.fromhex(state["family"])
        return cls(key, block, children, (before, left), family)

    def is_stretched_as(self, other: "Keyed") -> bool:
        """Return whether both produce the same stream, perhaps at different positions."""
        return hmac.compare_digest(self._key, other._key)

    def _stretch(self, label: bytes, count: int) -> bytes:
        return hashlib.shake_256(self._key + label).digest(count)


class Retired:
    """A source that refuses every draw: in a forked child, or after its run was taken over."""

    def __init__(self, private: bool, reason: str) -> None:
        self.private = private
        self._reason = reason

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform words."""
        self._refuse()

    def ahead(self) -> Ahead:
        """Return the next few words, for single draws."""
        self._refuse()

    def spawn(self, count: int) -> list[Source]:
        """Return ``count`` independent sources."""
        self._refuse()

    def state(self) -> dict[str, Any]:
        """Return where the stream stands."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise RetiredError(f"this Randomness {self._reason}")


def derived_key(key: bytes, label: bytes) -> bytes:
    """Derive a key by HKDF-SHA256 (RFC 5869) with an empty salt, one block."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, label + b"\x01", "sha256")


def labelled_keys(secret: bytes, label: bytes, count: int = 1) -> list[bytes]:
    """Return keys for one purpose: the secret of 32 bytes and the label through SHAKE-256.

    Without the secret, keys of different labels look independent. This is ten times as fast as
    HKDF on HMAC, which matters because each event of a fleet needs its own keys.
    """
    stretched = hashlib.shake_256(checked_key(secret) + b"label" + label).digest(count * _KEY_BYTES)
    return [stretched[at : at + _KEY_BYTES] for at in range(0, len(stretched), _KEY_BYTES)]


def checked_key(key: bytes) -> bytes:
    """Return the key; raise a ValueError unless it has 32 bytes."""
    if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
        size = len(key) if isinstance(key, bytes) else type(key).__name__
        raise ValueError(f"key must have {_KEY_BYTES} bytes, got {size}")
    return key


def _position(value: Any) -> int:
    return require.integer(position=value, at_least=0)
