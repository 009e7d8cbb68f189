"""One run of many, as a pure function: state and events in, state and releases out.

An engine that computes a batch twice, because it was killed in between, must publish the same bytes
twice: fresh noise would be a second draw on the same data. So all noise of a key is stretched from
one secret and the key's name, and everything that came out of events 1 .. n depends on them alone:
not on where the batches ended, who computed them, or how often.

State bytes hold secrets (counts, noise that was drawn), and no key. They are sealed with a key that
follows from the secret and the name, so that damage, or the state of another key, is refused.
"""

import hashlib
import hmac
import json
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.keys import key_to_json
from littlestone.concepts.protocols import Domain, Example, Hypothesis, Point
from littlestone.errors import HorizonExceededError, SequenceGapError, SnapshotError
from littlestone.learners import codec
from littlestone.learners.engine import Engine, single_rounds
from littlestone.learners.forms import form_digest
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness, labelled
from littlestone.service.entries import DIGEST_BYTES, Release, chained, release_body
from littlestone.unread import Unread
from littlestone.word_sources import labelled_keys

_MAGIC: Final = b"LSK1"
_HEAD: Final = struct.Struct("<4s16sQQ16s32sQQQHH")
SEAL_BYTES: Final = 16
_MOST_REMEMBERED: Final = 1 << 12
_NO_TEXT: Final = "#"
MOST_KEY_BYTES: Final = 2000
"""Of a key as it is written: an index of PostgreSQL has no room for much more."""


@require.checked
def advance(
    recipe: PrivateLearner,
    secret: bytes,
    key: Any,
    state: bytes | None,
    seqs: Sequence[int],
    xs: Any,
    ys: Any,
    *,
    unread: Collection[int] = (),
) -> tuple[bytes, list[Release]]:
    """Feed the run of ``key`` its events ``seqs``; its new state, and what is published by it.

    A run begins with ``state`` None and its first release. Events are numbered from 1 without
    gaps: a number that was taken before is dropped, whatever comes with it (an answer that
    depended on the content would be a release about it), and a gap is refused. All events go
    through single rounds, so batches may end anywhere: the bytes are the same. Events whose numbers
    are in ``unread`` are rounds without an example (docs/GUARANTEES.md, U).

    Publish what comes out only with the new state, at once and once: two continuations of one
    state with different events share their noise, and void the promise. The function cannot see
    that; who stores states holds a lock on the key and a mark against old copies.

    >>> import littlestone as ls
    >>> recipe = ls.PrivateMajority(concepts=ls.Thresholds(8), rounds=100, epsilon=1.0)
    >>> state, [first] = advance(recipe, bytes(32), "shop 7", None, [1, 2], [3, 5], [0, 1])
    >>> once = advance(recipe, bytes(32), "shop 7", state, [3, 4], [4, 4], [1, 1])
    >>> again = advance(recipe, bytes(32), "shop 7", state, [2, 3, 3, 4], [0, 4, 4, 4], [1] * 4)
    >>> once == again
    True
    """
    if not len(xs) == len(ys) == len(seqs):
        raise ValueError(
            f"seqs, xs and ys must be equally long, got {len(seqs)}, {len(xs)}, {len(ys)}"
        )
    examples: Sequence[Example | None] = _checked(recipe.concepts.domain, xs, ys)
    if unread:
        pairs = zip(seqs, examples, strict=True)
        examples = [None if number in unread else example for number, example in pairs]
    run = KeyedRun.at(recipe, secret, _name(canonical_key(key)), state)
    fresh = _fresh(seqs, run.rounds, recipe.rounds)
    releases = run.take(examples if fresh is None else [examples[place] for place in fresh])
    return run.state(), releases


def ledger_of(recipe: PrivateLearner, secret: bytes, key: Any, state: bytes) -> Ledger:
    """What the run of ``key`` has charged so far."""
    return KeyedRun.at(recipe, secret, _name(key), state).engine.ledger


def rounds_of(state: bytes) -> int:
    """How many events a state has seen; these numbers are public."""
    return _head(state).rounds


def _checked(domain: Domain, xs: Any, ys: Any) -> Sequence[Example]:
    """The examples in canonical form; the first bad one is refused by name."""
    if len(ys) == 1:  # a block would take its time to begin
        return [(domain.check(xs[0]), require.label(ys[0]))]
    return list(single_rounds(domain.check_many(xs), require.labels(ys)))


def _fresh(seqs: Sequence[int], before: int, horizon: int | None) -> list[int] | None:
    """The places of the events that are new, which must have no gap; None if all are."""
    numbers = seqs.tolist() if isinstance(seqs, np.ndarray) else list(seqs)
    last, fresh = before + len(numbers), None
    if numbers != list(range(before + 1, last + 1)):
        for number in numbers:
            require.integer(seqs=number, at_least=1)
        fresh, last = [], before
        for place, number in enumerate(numbers):
            if number > last + 1:
                raise SequenceGapError(expected=last + 1, got=int(number))
            if number == last + 1:
                fresh.append(place)
                last += 1
    if horizon is not None and last > horizon:
        raise HorizonExceededError(rounds=horizon)
    return fresh


class _Head(NamedTuple):
    magic: bytes
    recipe: bytes
    rounds: int
    releases: int
    consumed: bytes
    chain: bytes
    block: int
    children: int
    before: int
    left: int
    fields: int


@dataclass(slots=True)
class KeyedRun:
    """A run in memory. It copies nothing and guards nothing: that is its owner's part."""

    recipe: PrivateLearner
    engine: Engine
    rng: Randomness
    name: "KeyName"
    seal: bytes
    rounds: int = 0
    releases: int = 0
    consumed: bytes = bytes(DIGEST_BYTES)
    """A digest of all events so far, one after another."""
    chain: bytes = bytes(32)
    known: tuple[tuple[bytes, Any], ...] = ()
    """The bytes of each field and the value they were read as."""

    @classmethod
    def at(
        cls, recipe: PrivateLearner, secret: bytes, name: "KeyName", state: bytes | None
    ) -> "KeyedRun":
        """The run of a key where ``state`` was taken, or at its beginning."""
        if state is not None:
            return _read(recipe, secret, name, state)
        recipe.refuse_to_start()
        noise, seal = _keys(recipe, secret, name)
        rng = labelled(noise)
        engine = recipe.engine(rng)
        engine.begin()
        return cls(recipe, engine, rng, name, seal)

    def take(self, examples: Sequence[Example | None]) -> list[Release]:
        """Take these rounds, whose examples are in canonical form; what is published by them.

        A round whose example is None is numbered and published like any other, and reads nothing.
        """
        engine, consumed, number = self.engine, self.consumed, self.rounds
        published = engine.hypothesis
        out = [] if self.releases else [self._released(published, 0)]
        step, blake2b = engine.step, hashlib.blake2b
        for example in examples:
            number += 1
            if example is None:
                engine.idle(next(iter(self.recipe.concepts.domain)))
                event = _UNREAD
            else:
                x, y = example
                step(x, y)
                event = _event(x, y)
            consumed = blake2b(consumed + event, digest_size=DIGEST_BYTES).digest()
            newest = engine.hypothesis
            if newest is not published and newest != published:
                out.append(self._released(newest, number))
            published = newest
        self.consumed, self.rounds = consumed, number
        return out

    def _released(self, hypothesis: Hypothesis, round_number: int) -> Release:
        self.releases += 1
        body = release_body(
            hypothesis, run=self.name.text, number=self.releases, round_number=round_number
        )
        # The first is chained to nothing, as in a store.
        self.chain = chained(self.chain if self.releases > 1 else b"", body)
        return Release(self.releases, round_number, body, self.chain)

    def state(self) -> bytes:
        """What ``at`` continues."""
        blobs = self._fields()
        head = _HEAD.pack(
            _MAGIC,
            _digest(self.recipe),
            self.rounds,
            self.releases,
            self.consumed,
            self.chain,
            *self.rng.position(),
            len(blobs),
        )
        sizes = struct.pack(f"<{len(blobs)}I", *map(len, blobs))
        body = b"".join((head, sizes, *blobs))
        return body + _sealed(body, self.seal)

    def _fields(self) -> list[bytes]:
        """What did not change since it was read is not written anew."""
        shared = (self.recipe.concepts,)
        values = self.engine.state()
        if len(values) != len(self.known):
            return [codec.dumps(value, shared) for value in values]
        return [
            blob if value is before and _stays(value) else codec.dumps(value, shared)
            for value, (blob, before) in zip(values, self.known, strict=True)
        ]


def _read(recipe: PrivateLearner, secret: bytes, name: "KeyName", state: bytes) -> KeyedRun:
    head = _head(state)
    if head.recipe != _digest(recipe):
        raise SnapshotError(
            f"the state of key {name.text!r} belongs to another recipe than {recipe!r}"
        )
    noise, seal = _keys(recipe, secret, name)
    body = state[:-SEAL_BYTES]
    if not hmac.compare_digest(_sealed(body, seal), state[-SEAL_BYTES:]):
        raise SnapshotError(
            f"the state of key {name.text!r} is damaged, of another key or of another secret: its "
            f"seal does not match. Nothing was learned"
        )
    # From here on the bytes are those that this module wrote.
    rng = labelled(noise, (head.block, head.children, head.before, head.left))
    known = tuple(_values(recipe, rng, body, head.fields))
    engine = recipe.engine(rng)
    engine.load(tuple(value for _, value in known))
    return KeyedRun(
        recipe,
        engine,
        rng,
        name,
        seal,
        head.rounds,
        head.releases,
        head.consumed,
        head.chain,
        known,
    )


def _head(state: bytes) -> _Head:
    if not isinstance(state, bytes) or len(state) < _HEAD.size or state[:4] != _MAGIC:
        raise SnapshotError("this is no state of a keyed run")
    return _Head(*_HEAD.unpack_from(state))


def _values(
    recipe: PrivateLearner, rng: Randomness, body: bytes, count: int
) -> Iterator[tuple[bytes, Any]]:
    shared, at = (recipe.concepts,), _HEAD.size + 4 * count
    remembered = _remembered(_digest(recipe))
    for size in struct.unpack_from(f"<{count}I", body, _HEAD.size):
        blob = body[at : at + size]
        at += size
        if blob in remembered:
            yield remembered[blob]
            continue
        read = partial(codec.loads, blob, shared, rng)
        kind = codec.class_of(blob)
        if kind is not None and issubclass(kind, Unread):
            yield blob, kind.from_reader(read)
            continue
        value = read()
        if codec.never_changes(value) and len(remembered) < _MOST_REMEMBERED:
            remembered[blob] = blob, value
        yield blob, value


@lru_cache(maxsize=16)
def _remembered(recipe: bytes) -> dict[bytes, tuple[bytes, Any]]:
    """Values that never change, by their bytes: runs of one recipe have many in common."""
    del recipe
    return {}


def _stays(value: Any) -> bool:
    return value.is_unread if isinstance(value, Unread) else codec.never_changes(value)


def _digest(recipe: PrivateLearner) -> bytes:
    return bytes.fromhex(form_digest(recipe))


def _sealed(body: bytes, seal: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=SEAL_BYTES, key=seal).digest()


class KeyName(NamedTuple):
    """A key as bytes and as it is published, either of which is equal for equal keys only."""

    label: bytes
    text: str

    @classmethod
    def from_label(cls, label: bytes) -> "KeyName":
        """The name whose label this is; SnapshotError if it is none."""
        return key_name(codec.loads(label))


def key_name(key: Any) -> KeyName:
    """The name of a key: whatever is equal to it has the same, and nothing else has.

    A text is published as it is; another key, and a text that looks like one, as #, then JSON.

    >>> [key_name(key).text for key in ("Haifa", "1", 1, ("user", 7), "#1")]
    ['Haifa', '1', '#1', '#{"tuple": ["user", 7]}', '#"#1"']
    """
    plain: Point = canonical_key(key)
    as_it_is = type(plain) is str and not plain.startswith(_NO_TEXT)
    text = str(plain) if as_it_is else _NO_TEXT + json.dumps(key_to_json(plain), ensure_ascii=False)
    return KeyName(codec.dumps(plain), text)


def label_of(key: Any) -> bytes:
    """The bytes of a key, or a ValueError if it is too long; the limit is that of every engine.

    >>> label_of("x" * 3000)
    Traceback (most recent call last):
    ...
    ValueError: key must have at most 2,000 bytes as it is written, got 3,003
    """
    label = key_name(key).label
    if len(label) > MOST_KEY_BYTES:
        raise ValueError(
            f"key must have at most {MOST_KEY_BYTES:,} bytes as it is written, got {len(label):,}"
        )
    return label


# Of 1, 1.0 and True each may come first: their names are equal, too.
_name: Final = lru_cache(maxsize=_MOST_REMEMBERED)(key_name)


def _keys(recipe: PrivateLearner, secret: bytes, name: KeyName) -> list[bytes]:
    """The key of a run's noise and the key of its seal."""
    # The first part has a fixed length, so no two pairs give one label.
    return labelled_keys(secret, _digest(recipe) + name.label, count=2)


_UNREAD: Final = codec.dumps(None)


@lru_cache(maxsize=1 << 14, typed=True)
def _event(x: Point, y: int) -> bytes:
    """Equal points in canonical form look alike, and there are few."""
    return codec.dumps((x, y))
