"""Every random bit comes from here: from the operating system, a seed or a secret key.

A source only gives uniform 64-bit words. Every law in the library is integer arithmetic on such
words, so a mechanism cannot tell which source it has.
"""

import threading
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.randomness.noise_owner import IN_A_STEP, NoiseOwner, live_owners
from littlestone.randomness.word_sources import (
    Ahead,
    Keyed,
    OperatingSystem,
    Retired,
    Seeded,
    Source,
    checked_key,
    derived_key,
)
from littlestone.type_checks import is_a

_WORD_BITS: Final = 64
_MOST_BITS: Final = 1 << 20
MOST_WORDS: Final = 1 << 28
_MOST_STREAMS: Final = 1 << 24


class Randomness(NoiseOwner):
    """Draw uniform integers from one source.

    Threads may share it: no two get the same word. It cannot be copied or pickled, and a forked
    child cannot use it.

    >>> rng = seeded(7)
    >>> rng.private, 0 <= rng.below(10**30) < 10**30
    (False, True)
    """

    __slots__ = ("_source", "_words")

    @require.checked
    def __init__(self, source: Source) -> None:
        self._source = source
        self._words = Ahead("Q")  # set together, so that no thread sees one without the other

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
        """Return independent streams, one for each party."""
        count = require.integer(count=count, at_least=0, at_most=_MOST_STREAMS)
        return [Randomness(child) for child in self._source.spawn(count)]

    def word(self) -> int:
        """Return one uniform whole number below 2**64."""
        while True:
            try:
                return self._words.pop()  # atomic, so no two threads get the same word
            except IndexError:
                self._words = self._source.ahead()

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words in a new array."""
        count = require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        return np.array(self._source.words(count), dtype=np.uint64)

    def short_words(self, count: int) -> NDArray[np.uint16]:
        """Return ``count`` uniform 16-bit words; shorter words save slow system calls."""
        count = require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        return self.words(-(-count // 4)).view(np.uint16)[:count]

    def bits(self, count: int) -> int:
        """Return a uniform whole number below 2**count."""
        if type(count) is int and 0 < count <= _WORD_BITS:
            return self.word() >> (_WORD_BITS - count)
        if type(count) is not int or not 0 <= count <= _MOST_BITS:
            count = require.integer(count=count, at_least=0, at_most=_MOST_BITS)
        value, have = 0, 0
        while have < count:
            value = (value << _WORD_BITS) | self.word()
            have += _WORD_BITS
        return value >> (have - count)

    def coin(self) -> int:
        """Return a fair 0 or 1."""
        return self.word() & 1

    def below(self, bound: int) -> int:
        """Return a uniform whole number in [0, bound), for a bound of any size.

        Exact by rejection.
        """
        if type(bound) is not int or bound <= 0:
            bound = require.integer(bound=bound, at_least=1)
        width = (bound - 1).bit_length()
        while True:
            value = self.bits(width)
            if value < bound:
                return value

    def below_many(self, bound: int, count: int) -> NDArray[np.int64]:
        """Return ``count`` independent uniform integers in [0, bound), bound at most 2**62."""
        bound = require.integer(bound=bound, at_least=1, at_most=1 << 62)
        count = require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        width = max((bound - 1).bit_length(), 1)
        chosen = np.empty(count, dtype=np.int64)
        have = 0
        while have < count:
            # As many as survive on average, and a few more to avoid a second pass.
            wanted = ((count - have) << width) // bound
            words = self._source.words(wanted + wanted // 64 + 16)
            candidates = (words >> np.uint64(_WORD_BITS - width)).astype(np.int64)
            accepted = candidates[candidates < bound][: count - have]
            chosen[have : have + len(accepted)] = accepted
            have += len(accepted)
        return chosen

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Return a uniformly random order of 0 .. count-1.

        Sorting 64-bit keys is uniform given that they are distinct, so a tie redraws them all.
        """
        count = require.integer(count=count, at_least=0, at_most=MOST_WORDS)
        while True:
            keys = self._source.words(count)
            order = np.argsort(keys, kind="stable")
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order.astype(np.int64)

    def generator(self) -> np.random.Generator:
        """Return a numpy generator for data that needs no privacy: adversaries and simulations.

        Its laws are floating-point approximations, so nothing that a mechanism or a private
        learner releases may depend on it (tests/architecture checks that they never ask).
        """
        return np.random.Generator(np.random.PCG64DXSM(self.bits(256)))

    def state(self) -> dict[str, Any]:
        """Return the position of the stream as integers and strings, for a snapshot."""
        return self._source.state()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Randomness":
        """Continue from ``state`` (a secure source reads new bits)."""
        source = state.get("source") if is_a(state, dict) else None
        if source == "secure":
            return cls(OperatingSystem())
        kinds: dict[Any, type[Seeded] | type[Keyed]] = {"seeded": Seeded, "keyed": Keyed}
        try:
            return cls(kinds[source].from_state(state))
        except (KeyError, TypeError, OverflowError):
            raise ValueError(
                f"state must be one that state() has given, got one of the source {source!r}"
            ) from None

    def _retire(self, reason: str) -> None:
        self._source, self._words = Retired(self._source.private, reason), Ahead("Q")


def secure() -> Randomness:
    """Return randomness from the operating system: the default of every private run."""
    return Randomness(OperatingSystem())


@require.checked
def seeded(seed: int) -> Randomness:
    """Return replayable randomness for experiments; what uses it is marked *not private*."""
    seed = require.integer(seed=seed, at_least=0)
    return Randomness(Seeded(np.random.SeedSequence(seed)))


_STARTED: Final[set[bytes]] = set()  # families, in this process
_STARTING: Final = threading.Lock()


@require.checked
def keyed(key: bytes, *, label: str, replay: bool = False) -> Randomness:
    """Return private randomness that a secret key of 32 bytes can replay: for durable runs.

    A key and a label belong to one run. Within a process a second start raises a ValueError, since
    two runs would use the same noise. Other processes are not checked: keep the key in one place,
    with a lock.

    Args:
        key: The secret.
        label: What the run is for; each label has its own words.
        replay: Retire earlier streams of this key and label and start again. Only safe if the same
            examples are fed in the same order.

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
    source = Keyed(derived_key(checked_key(key), label.encode()))
    with _STARTING:
        if source.family in _STARTED and not replay:
            raise ValueError(
                f"a run was started from this key and label already ({label!r}): a second one "
                f"would use the same noise. Take another label, or a fresh key"
            )
        _STARTED.add(source.family)
    if replay:
        _retire_all(
            [stream for stream, known in _keyed_streams() if known.family == source.family],
            "was taken over by a replay from the same key",
        )
    return Randomness(source)


def take_over(rng: Randomness) -> None:
    """Retire all other streams of the key that ``rng`` continues."""
    source = rng._source
    if isinstance(source, Keyed):
        with _STARTING:
            _STARTED.add(source.family)
        _retire_all(
            [
                stream
                for stream, known in _keyed_streams()
                if known.is_stretched_as(source) and stream is not rng
            ],
            "was continued elsewhere from a saved state",
        )


def labelled(key: bytes) -> Randomness:
    """Return the stream of one of ``labelled_keys``; it may be started again.

    For pure functions of the key and the examples, of which the caller publishes one only.

    >>> from littlestone.randomness.word_sources import labelled_keys
    >>> [key], [other] = labelled_keys(bytes(32), b"of a shop"), labelled_keys(bytes(32), b"other")
    >>> labelled(key).word() == labelled(key).word(), labelled(key).word() == labelled(other).word()
    (True, False)
    """
    return Randomness(Keyed(key))


def _keyed_streams() -> list[tuple[Randomness, Keyed]]:
    """Return all keyed streams of this process."""
    streams = [owner for owner in live_owners() if isinstance(owner, Randomness)]
    return [(s, s._source) for s in streams if isinstance(s._source, Keyed)]


def _retire_all(streams: list[Randomness], reason: str) -> None:
    """Retire the streams and the runs that draw from them, which may hold drawn noise."""
    known = set(map(id, streams))
    for owner in live_owners():
        draws = id(owner) in known or id(getattr(owner, "_rng", None)) in known
        if draws and owner._barred in (None, IN_A_STEP):  # others keep the reason they have
            owner._retire(reason)
