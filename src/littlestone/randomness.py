"""Where every random bit comes from: the operating system by default, a seed on request.

All sources give nothing but uniform 64-bit words; every law in the library is built from
whole-number arithmetic on them, so a mechanism cannot tell which source it was given.
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
from littlestone.noise_owner import NoiseOwner, live_owners

_WORD_BITS: Final = 64
_AHEAD: Final = 128  # words that are read at once for single draws: few, since every run has them
_STRETCH: Final = 8192  # of a seeded stream, kept for single draws
_PERIOD: Final = 1 << 128  # of the seeded generator
_KEY_BYTES: Final = 32


if TYPE_CHECKING:
    _Words = array[int]
else:
    _Words = array  # which takes no subscripts before Python 3.12


class Ahead(_Words):
    """Words that were read ahead, the next one last, and where in the stream they begin."""

    __slots__ = ("start",)

    start: int

    @classmethod
    def of(cls, words: NDArray[np.uint64], start: int = 0) -> "Ahead":
        made = cls("Q", words[::-1].tobytes())
        made.start = start
        return made


class Source(Protocol):
    """A supply of uniform 64-bit words."""

    @property
    def private(self) -> bool: ...

    def words(self, count: int) -> NDArray[np.uint64]: ...

    def ahead(self) -> Ahead:
        """The next few words, for draws of a single one."""
        ...

    def spawn(self, count: int) -> "list[Source]": ...

    def state(self, unread: Ahead) -> dict[str, Any]:
        """Where the stream stands when these words are left of what was read ahead."""
        ...


class OperatingSystem:
    """Words from the operating system's cryptographic generator."""

    private: Final = True

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def ahead(self) -> Ahead:
        return Ahead.of(self.words(_AHEAD))

    def spawn(self, count: int) -> list[Source]:
        return [OperatingSystem() for _ in range(count)]

    def state(self, unread: Ahead) -> dict[str, Any]:
        """Bits that were read and not yet used are dropped, never written down."""
        return {"source": "secure"}


class Seeded:
    """Words from a seeded generator: replayable, predictable, hence not private."""

    private: Final = False

    def __init__(
        self, seed: np.random.SeedSequence, taken: int = 0, single: tuple[int, int] = (0, 0)
    ) -> None:
        self._seed = seed
        self._generator = np.random.PCG64DXSM(seed)
        self._at = 0  # where the generator stands
        self._taken = taken  # of the stream, from its beginning
        self._single = single  # from where to where single draws have a stretch of it
        self._lock = threading.Lock()

    def words(self, count: int) -> NDArray[np.uint64]:
        with self._lock:
            return self._read(self._take(count), count)

    def ahead(self) -> Ahead:
        with self._lock:
            start, end = self._single
            if start == end:
                start = self._take(_STRETCH)
                end = start + _STRETCH
            count = min(_AHEAD, end - start)
            self._single = (start + count, end)
            return Ahead.of(self._read(start, count), start)

    def _take(self, count: int) -> int:
        first, self._taken = self._taken, self._taken + count
        return first

    def _read(self, start: int, count: int) -> NDArray[np.uint64]:
        if start != self._at:
            self._generator.advance((start - self._at) % _PERIOD)
        self._at = start + count
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def spawn(self, count: int) -> list[Source]:
        return [Seeded(child) for child in self._seed.spawn(count)]

    def state(self, unread: Ahead) -> dict[str, Any]:
        seed = self._seed
        return {
            "source": "seeded",
            "entropy": seed.entropy,
            "spawn_key": list(seed.spawn_key),
            "children": seed.n_children_spawned,
            "taken": self._taken,
            "single": [self._single[0] - len(unread), self._single[1]],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Seeded":
        seed = np.random.SeedSequence(
            state["entropy"],
            spawn_key=tuple(state["spawn_key"]),
            n_children_spawned=state["children"],
        )
        start, end = map(_position, state["single"])
        taken = _position(state["taken"])
        if not start <= end <= taken:
            raise ValueError(f"a stream of which {taken} words were taken has no {start}–{end}")
        return cls(seed, taken, (start, end))


class Keyed:
    """Words stretched from a secret key: a durable run can be replayed exactly after a crash.

    Whoever has the key can compute the noise, so it is as secret as the data. Without it the words
    cannot be told from uniform ones as far as anybody knows how (SHAKE-256 in counter mode).
    """

    private: Final = True

    def __init__(
        self,
        key: bytes,
        block: int = 0,
        children: int = 0,
        unread: tuple[int, int] = (0, 0),
        family: bytes = b"",
    ) -> None:
        self._key = _checked_key(key)
        self.family = family or hashlib.sha256(key).digest()
        """The same for all that were spawned from one key; says nothing about it."""
        self._block = block
        self._children = children
        self._unread = unread  # the block of a saved state, and how many of its words are left
        self._lock = threading.Lock()  # no two threads may be given the same block

    def words(self, count: int) -> NDArray[np.uint64]:
        with self._lock:
            block, self._block = self._block, self._block + 1
        return self._words_of(block, count)

    def ahead(self) -> Ahead:
        with self._lock:
            (block, left), self._unread = self._unread, (0, 0)
            if not left:
                block, self._block, left = self._block, self._block + 1, _AHEAD
        return Ahead.of(self._words_of(block, _AHEAD)[_AHEAD - left :], block)

    def _words_of(self, block: int, count: int) -> NDArray[np.uint64]:
        stretched = self._stretch(b"words" + block.to_bytes(16, "big"), 8 * count)
        return np.frombuffer(stretched, dtype="<u8").astype(np.uint64)

    def spawn(self, count: int) -> list[Source]:
        with self._lock:
            first, self._children = self._children, self._children + count
        labels = (b"child" + n.to_bytes(16, "big") for n in range(first, first + count))
        return [Keyed(self._stretch(label, _KEY_BYTES), family=self.family) for label in labels]

    def state(self, unread: Ahead) -> dict[str, Any]:
        left = (unread.start, len(unread)) if unread else self._unread
        return {
            "source": "keyed",
            "key": self._key.hex(),
            "block": self._block,
            "children": self._children,
            "unread": list(left),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Keyed":
        block, children = _position(state["block"]), _position(state["children"])
        before, left = map(_position, state["unread"])
        if left > _AHEAD or (left and before >= block):
            raise ValueError(f"{left} words of block {before} cannot be left before block {block}")
        return cls(bytes.fromhex(state["key"]), block, children, (before, left))

    def _stretch(self, label: bytes, count: int) -> bytes:
        return hashlib.shake_256(self._key + label).digest(count)


class _Retired:
    """What is left of a source in a forked child, or after its run was taken over."""

    def __init__(self, private: bool, reason: str) -> None:
        self.private = private
        self._reason = reason

    def words(self, count: int) -> NDArray[np.uint64]:
        self._refuse()

    def ahead(self) -> Ahead:
        self._refuse()

    def spawn(self, count: int) -> list[Source]:
        self._refuse()

    def state(self, unread: Ahead) -> dict[str, Any]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise RetiredError(f"this Randomness {self._reason}")


class Randomness(NoiseOwner):
    """Uniform whole numbers from one source, read a little ahead.

    Threads may share it: no two are given the same word. It cannot be copied or pickled, and a
    forked child cannot use it.

    >>> rng = seeded(7)
    >>> rng.private, 0 <= rng.below(10**30) < 10**30
    (False, True)
    """

    __slots__ = ("_source", "_words")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._words = Ahead(
            "Q"
        )  # a list and its place at once: no thread sees one without the other

    @property
    def private(self) -> bool:
        """Whether releases made with these bits may be called private at all."""
        return self._source.private

    @property
    def replayable(self) -> bool:
        """Whether a seed or a key gives the same words again."""
        return isinstance(self._source, Seeded | Keyed)

    def __repr__(self) -> str:
        if not self.private:
            return "seeded(…)  # not private"
        return "keyed(…)" if isinstance(self._source, Keyed) else "secure()"

    def spawn(self, count: int) -> "list[Randomness]":
        """Independent streams, one for each party."""
        require.integer(count=count, at_least=0)
        return [Randomness(child) for child in self._source.spawn(count)]

    def word(self) -> int:
        """One uniform whole number below 2**64."""
        while True:
            try:
                return self._words.pop()  # one step, so no two threads are given the same word
            except IndexError:
                self._words = self._source.ahead()

    def words(self, count: int) -> NDArray[np.uint64]:
        """``count`` uniform 64-bit words; the array is the caller's own."""
        return np.array(self._source.words(count), dtype=np.uint64)

    def bits(self, count: int) -> int:
        """A uniform whole number below 2**count."""
        if 0 < count <= _WORD_BITS:
            return self.word() >> (_WORD_BITS - count)
        value, have = 0, 0
        while have < count:
            value = (value << _WORD_BITS) | self.word()
            have += _WORD_BITS
        return value >> (have - count)

    def coin(self) -> int:
        """A fair 0 or 1."""
        return self.word() & 1

    def below(self, bound: int) -> int:
        """A uniform whole number in [0, bound), for a bound of any size; exact by rejection."""
        if bound <= 0:
            raise ValueError(f"bound must be at least 1, got bound={bound!r}")
        width = (bound - 1).bit_length()
        while True:
            value = self.bits(width)
            if value < bound:
                return value

    def below_many(self, bound: int, count: int) -> NDArray[np.int64]:
        """``count`` independent uniform whole numbers in [0, bound), bound at most 2**62."""
        require.integer(bound=bound, at_least=1)
        if bound > 1 << 62:
            raise ValueError(f"bound must be at most 2**62, got bound={bound!r}")
        bound = int(bound)
        width = max((bound - 1).bit_length(), 1)
        chosen = np.empty(count, dtype=np.int64)
        have = 0
        while have < count:
            # As many as survive on average, and a few more to save a second turn.
            wanted = ((count - have) << width) // bound
            words = self._source.words(wanted + wanted // 64 + 16)
            candidates = (words >> np.uint64(_WORD_BITS - width)).astype(np.int64)
            kept = candidates[candidates < bound][: count - have]
            chosen[have : have + len(kept)] = kept
            have += len(kept)
        return chosen

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniformly random order of 0 .. count-1.

        Sorting 64-bit keys is uniform given that they are distinct, so a tie redraws them all.
        """
        while True:
            keys = self._source.words(count)
            order = np.argsort(keys, kind="stable")
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order.astype(np.int64)

    def generator(self) -> np.random.Generator:
        """A numpy generator for data that needs no privacy: adversaries and simulations.

        Its laws are floating-point approximations, so nothing that a mechanism or a private
        learner releases may depend on it (tests/architecture checks that they never ask).
        """
        return np.random.Generator(np.random.PCG64DXSM(self.bits(256)))

    def state(self) -> dict[str, Any]:
        """What a snapshot must keep: where the stream stands, in whole numbers and strings."""
        return self._source.state(self._words)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Randomness":
        """Continue where ``state`` was taken (a secure source simply reads fresh bits)."""
        if state["source"] == "secure":
            return cls(OperatingSystem())
        kinds: dict[str, type[Seeded] | type[Keyed]] = {"seeded": Seeded, "keyed": Keyed}
        return cls(kinds[state["source"]].from_state(state))

    def _of_family(self, family: bytes) -> bool:
        return isinstance(self._source, Keyed) and self._source.family == family

    def _retire(self, reason: str) -> None:
        self._source, self._words = _Retired(self._source.private, reason), Ahead("Q")


def secure() -> Randomness:
    """Randomness from the operating system: the default of every private run."""
    return Randomness(OperatingSystem())


def seeded(seed: int) -> Randomness:
    """Replayable randomness for experiments; whatever it touches is stamped *not private*."""
    require.integer(seed=seed, at_least=0)
    return Randomness(Seeded(np.random.SeedSequence(seed)))


_STARTED: Final[set[bytes]] = set()  # families, in this process
_STARTING: Final = threading.Lock()


def keyed(key: bytes, *, label: str, replay: bool = False) -> Randomness:
    """Private and replayable by whoever holds the secret key of 32 bytes: for durable runs.

    One key and label, one run: the words are those of a key derived from both, and within a
    process a second start is refused, since two runs would use the same noise. Only whoever
    feeds the same examples in the same order again may ask for a ``replay``; what was started
    before is then retired. Other processes are not seen: keep the key in one place, with a lock.

    >>> keyed(bytes(32), label="doctest of keyed")
    keyed(…)
    >>> keyed(bytes(32), label="doctest of keyed")
    Traceback (most recent call last):
    ...
    ValueError: a run was started from this key and label already ('doctest of keyed'): a second \
one would use the same noise. Take another label, or a fresh key
    """
    if not isinstance(label, str) or not label:
        raise ValueError(f"label must be a non-empty string, got label={label!r}")
    source = Keyed(_derived(_checked_key(key), label.encode()))
    with _STARTING:
        if source.family in _STARTED and not replay:
            raise ValueError(
                f"a run was started from this key and label already ({label!r}): a second one "
                f"would use the same noise. Take another label, or a fresh key"
            )
        _STARTED.add(source.family)
    if replay:
        _retire_family(source.family)
    return Randomness(source)


def _retire_family(family: bytes) -> None:
    for owner in live_owners():
        if isinstance(owner, Randomness) and owner._of_family(family):
            owner._retire("was taken over by a replay from the same key")


def _derived(key: bytes, label: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) with an empty salt, one block."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, label + b"\x01", "sha256")


def _checked_key(key: bytes) -> bytes:
    if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
        size = len(key) if isinstance(key, bytes) else type(key).__name__
        raise ValueError(f"key must have {_KEY_BYTES} bytes, got {size}")
    return key


def _position(value: Any) -> int:
    require.integer(position=value, at_least=0)
    return int(value)
