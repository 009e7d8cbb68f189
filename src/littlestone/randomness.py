"""Where every random bit comes from: the operating system by default, a seed on request.

All sources give nothing but uniform 64-bit words; every law in the library is built from
whole-number arithmetic on them, so a mechanism cannot tell which source it was given.
"""

import hashlib
import os
import weakref
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require

_WORD_BITS: Final = 64
_BUFFER_WORDS: Final = 8192
_KEY_BYTES: Final = 32


class Source(Protocol):
    """A supply of uniform 64-bit words."""

    @property
    def private(self) -> bool: ...

    def words(self, count: int) -> NDArray[np.uint64]: ...

    def spawn(self, count: int) -> "list[Source]": ...

    def state(self) -> dict[str, Any]: ...


class OperatingSystem:
    """Words from the operating system's cryptographic generator."""

    private: Final = True

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def spawn(self, count: int) -> list[Source]:
        return [OperatingSystem() for _ in range(count)]

    def state(self) -> dict[str, Any]:
        return {"source": "secure"}


class Seeded:
    """Words from a seeded generator: replayable, predictable, hence not private."""

    private: Final = False

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._seed = seed
        self._generator = np.random.PCG64DXSM(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def spawn(self, count: int) -> list[Source]:
        return [Seeded(child) for child in self._seed.spawn(count)]

    def state(self) -> dict[str, Any]:
        seed = self._seed
        return {
            "source": "seeded",
            "entropy": seed.entropy,
            "spawn_key": list(seed.spawn_key),
            "children": seed.n_children_spawned,
            "generator": self._generator.state,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Seeded":
        restored = cls(
            np.random.SeedSequence(
                state["entropy"],
                spawn_key=tuple(state["spawn_key"]),
                n_children_spawned=state["children"],
            )
        )
        restored._generator.state = state["generator"]
        return restored


class Keyed:
    """Words stretched from a secret key: a durable run can be replayed exactly after a crash.

    Whoever has the key can compute the noise, so it is as secret as the data. Without it the words
    cannot be told from uniform ones as far as anybody knows how (SHAKE-256 in counter mode).
    """

    private: Final = True

    def __init__(self, key: bytes, block: int = 0, children: int = 0) -> None:
        if len(key) != _KEY_BYTES:
            raise ValueError(f"key must have {_KEY_BYTES} bytes, got {len(key)}")
        self._key: bytes | None = key
        self._block = block
        self._children = children

    def words(self, count: int) -> NDArray[np.uint64]:
        label = b"words" + self._block.to_bytes(16, "big")
        self._block += 1
        return np.frombuffer(self._stretch(label, 8 * count), dtype="<u8").astype(np.uint64)

    def spawn(self, count: int) -> list[Source]:
        first, self._children = self._children, self._children + count
        labels = (b"child" + n.to_bytes(16, "big") for n in range(first, first + count))
        return [Keyed(self._stretch(label, _KEY_BYTES)) for label in labels]

    def state(self) -> dict[str, Any]:
        return {
            "source": "keyed",
            "key": self._secret().hex(),
            "block": self._block,
            "children": self._children,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Keyed":
        return cls(bytes.fromhex(state["key"]), state["block"], state["children"])

    def forget_key(self) -> None:
        """After a fork: the child must not draw what the parent draws."""
        self._key = None

    def _secret(self) -> bytes:
        if self._key is None:
            raise RuntimeError("a durable run belongs to the process that opened it, not to a fork")
        return self._key

    def _stretch(self, label: bytes, count: int) -> bytes:
        return hashlib.shake_256(self._secret() + label).digest(count)


class Randomness:
    """Uniform whole numbers from one source, read ahead in bulk.

    >>> rng = seeded(7)
    >>> rng.private, 0 <= rng.below(10**30) < 10**30
    (False, True)
    """

    __slots__ = ("__weakref__", "_source", "_words")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._words: list[int] = []  # the next one last
        _LIVE.add(self)

    @property
    def private(self) -> bool:
        """Whether releases made with these bits may be called private at all."""
        return self._source.private

    def __repr__(self) -> str:
        return "secure()" if self.private else "seeded(…)  # not private"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "randomness cannot be copied or pickled: two copies would reuse the same noise. "
            "Save a run with its snapshot(), which may be continued once"
        )

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
                self._words = self._source.words(_BUFFER_WORDS)[::-1].tolist()

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
        """What a snapshot must keep; whole numbers and strings only.

        Bits of the operating system that were read ahead but not yet used are dropped, never
        written down.
        """
        unused = [] if isinstance(self._source, OperatingSystem) else self._words[::-1]
        return {**self._source.state(), "unused": unused}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Randomness":
        """Continue where ``state`` was taken (a secure source simply reads fresh bits)."""
        if state["source"] == "secure":
            return cls(OperatingSystem())
        kinds: dict[str, type[Seeded] | type[Keyed]] = {"seeded": Seeded, "keyed": Keyed}
        restored = cls(kinds[state["source"]].from_state(state))
        restored._words = [int(word) for word in reversed(state["unused"])]
        return restored

    def _forget(self) -> None:
        self._words = []
        if isinstance(self._source, Keyed):
            self._source.forget_key()


_LIVE: "weakref.WeakSet[Randomness]" = weakref.WeakSet()


def _forget_buffers_after_fork() -> None:
    # Parent and child would otherwise hand out the same words.
    for randomness in list(_LIVE):
        if randomness.private:
            randomness._forget()


os.register_at_fork(after_in_child=_forget_buffers_after_fork)


def secure() -> Randomness:
    """Randomness from the operating system: the default of every private run."""
    return Randomness(OperatingSystem())


def keyed(key: bytes) -> Randomness:
    """Private and replayable by whoever holds the secret key of 32 bytes."""
    return Randomness(Keyed(key))


def seeded(seed: int) -> Randomness:
    """Replayable randomness for experiments; whatever it touches is stamped *not private*."""
    require.integer(seed=seed, at_least=0)
    return Randomness(Seeded(np.random.SeedSequence(seed)))
