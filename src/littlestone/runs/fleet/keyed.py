"""Advance one run of many as a pure function: state and events in, state and releases out.

An engine that computes a batch twice, because it was killed in between, must publish the same bytes
twice: fresh noise would be a second draw on the same data. So all noise of a key is derived from
one secret and the name of the key. What follows from events 1 .. n depends on them alone: not on
where batches end, who computes them, or how often.

State bytes hold secrets (counts, drawn noise) and no key. They are sealed with a key that is
derived from the secret and the name, so a damaged state and a state of another key are rejected.
"""

import hashlib
import hmac
import json
import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.domain import points_of
from littlestone.concepts.keys import key_to_json
from littlestone.concepts.protocols import Example, Hypothesis, Point
from littlestone.errors import HorizonExceededError, SequenceGapError, SnapshotError
from littlestone.lazy import Lazy
from littlestone.learners import codec
from littlestone.learners.engine import Engine
from littlestone.learners.forms import form_digest
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness
from littlestone.randomness.word_sources import Keyed, labelled_keys
from littlestone.runs.journal.records import DIGEST_BYTES, Release, chained, release_body

_MAGIC: Final = b"LSK1"
_HEAD: Final = struct.Struct("<4s16sQQ16s32sQQQHH")
SEAL_BYTES: Final = 16
_MOST_REMEMBERED: Final = 1 << 12
_NO_TEXT: Final = "#"
MOST_KEY_BYTES: Final = 2000
"""The most bytes of a key as it is written: an index of PostgreSQL has no room for much more."""


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
    over_limit: Collection[int] = (),
) -> tuple[bytes, list[Release]]:
    """Feed the run of ``key`` its events ``seqs``; return its new state and its releases.

    A run begins with ``state`` None and its first release. Events are numbered from 1 without gaps.
    A number that was taken before is dropped, whatever comes with it (an answer that depended on
    the content would be a release about it), and a gap is an error. All events go through single
    rounds, so batches may end anywhere: the bytes are the same. Events whose numbers are in
    ``over_limit`` are rounds without an example (docs/GUARANTEES.md, U).

    Publish the releases only together with the new state, and once: two continuations of one state
    with different events share their noise and void the promise. This function cannot detect that;
    the code that stores states needs a lock on the key and a mark against old copies.

    >>> import littlestone as ls
    >>> recipe = ls.PrivateMajority(concepts=ls.Thresholds(8), rounds=100, epsilon=1.0)
    >>> state, [first] = advance(recipe, bytes(32), "shop 7", None, [1, 2], [3, 5], [0, 1])
    >>> once = advance(recipe, bytes(32), "shop 7", state, [3, 4], [4, 4], [1, 1])
    >>> again = advance(recipe, bytes(32), "shop 7", state, [2, 3, 3, 4], [0, 4, 4, 4], [1] * 4)
    >>> once == again
    True
    """
    try:
        lengths = len(seqs), len(xs), len(ys)
    except Exception:  # any error of the object itself
        shown = f"xs={require.shown(xs)}, ys={require.shown(ys)}"
        raise ValueError(f"xs and ys must be sequences, got {shown}") from None
    if len({*lengths}) > 1:
        raise ValueError(f"seqs, xs and ys must be equally long, got {lengths}")
    examples: Sequence[Example | None] = _checked(recipe, xs, ys)
    if over_limit:
        over_limit = frozenset(require.listed(int, over_limit=over_limit))
        pairs = zip(seqs, examples, strict=True)
        examples = [None if number in over_limit else example for number, example in pairs]
    run = KeyedRun.at(recipe, secret, _name(canonical_key(key)), state)
    fresh = _fresh(seqs, run.rounds, recipe.rounds)
    releases = run.take(examples if fresh is None else [examples[place] for place in fresh])
    return run.state(), releases


def rounds_of(state: bytes) -> int:
    """Return how many events a state has seen; these numbers are public."""
    return _head(state).rounds


def _checked(recipe: PrivateLearner, xs: Any, ys: Any) -> Sequence[Example]:
    """Return the examples in canonical form; reject the first bad one by name."""
    domain = recipe.concepts.domain
    if len(ys) == 1:  # a block has a fixed cost
        return [(domain.check(xs[0]), require.label(ys[0], count=recipe.label_count))]
    points, labels = domain.check_many(xs), require.labels(ys, recipe.label_count)
    return list(zip(points_of(points), labels.tolist(), strict=True))


def _fresh(seqs: Sequence[int], before: int, horizon: int | None) -> list[int] | None:
    """Return the places of the new events, which must have no gap; None if all are new."""
    numbers = seqs.tolist() if isinstance(seqs, np.ndarray) else list(seqs)
    for number in numbers if numbers != list(range(before + 1, before + 1 + len(numbers))) else ():
        require.integer(seqs=number, at_least=1)
    fresh, early = in_turn(numbers, before)
    last = before + len(numbers if fresh is None else fresh)
    if early:
        raise SequenceGapError(expected=last + 1, got=int(numbers[early[0]]))
    if horizon is not None and last > horizon:
        raise HorizonExceededError(rounds=horizon)
    return fresh


class Turn(NamedTuple):
    """Places of events: those to take, in order (None: all, in this order), and the early ones."""

    ready: list[int] | None
    early: list[int]


def in_turn(numbers: Sequence[int], before: int) -> Turn:
    """Sort numbered events, of which ``before`` were already taken.

    Of several with one number the first counts, whatever the others contain; events that were taken
    before are in neither list. Events after a gap are early.

    >>> in_turn([4, 5, 6], before=3)
    Turn(ready=None, early=[])
    >>> in_turn([6, 3, 4, 9, 4, 5, 9], before=3)
    Turn(ready=[2, 5, 0], early=[3])
    """
    last = before + len(numbers)
    if list(numbers) == list(range(before + 1, last + 1)):
        return Turn(None, [])
    ready, early, last = list[int](), list[int](), before
    newest = last
    for place in sorted(range(len(numbers)), key=numbers.__getitem__):
        number = numbers[place]
        if number == last + 1:
            ready.append(place)
            last = newest = number
        elif number > newest:
            early.append(place)
            newest = number
    return Turn(ready, early)


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
    """A run in memory. It copies nothing and guards nothing: that is the task of its owner."""

    recipe: PrivateLearner
    engine: Engine
    source: Keyed
    """The noise of the engine."""
    name: "KeyName"
    form: bytes
    """The digest of the recipe."""
    seal: bytes
    rounds: int = 0
    releases: int = 0
    consumed: bytes = bytes(DIGEST_BYTES)
    """A digest of all events so far, in order."""
    chain: bytes = bytes(32)
    known: tuple[tuple[bytes, Any], ...] = ()
    """The bytes of each field and its value, as read or written."""
    last_state: bytes = b""
    """The state that was requested last."""
    is_lean: bool = True
    """Whether the next state costs no more than that of a run read from this one.

    A ledger that was not read is written as it was; one that was read is encoded again each time.
    """

    @classmethod
    def at(
        cls, recipe: PrivateLearner, secret: bytes, name: "KeyName", state: bytes | None
    ) -> "KeyedRun":
        """Return the run of a key where ``state`` was taken, or at its beginning."""
        if state is not None:
            return _read(recipe, secret, name, state)
        recipe.refuse_to_start()
        form = _digest(recipe)
        noise, seal = _keys(form, secret, name)
        source = Keyed(noise)
        engine = recipe.engine(Randomness(source))
        engine.begin()
        return cls(recipe, engine, source, name, form, seal)

    def take(self, examples: Sequence[Example | None]) -> list[Release]:
        """Take rounds whose examples are in canonical form; return their releases.

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
        # The first release is chained to nothing, as in a store.
        self.chain = chained(self.chain if self.releases > 1 else b"", body)
        return Release(self.releases, round_number, body, self.chain)

    def state(self) -> bytes:
        """Return the state, which ``at`` continues; fields that stayed as they were keep theirs."""
        values, shared = self.engine.state(), (self.recipe.concepts,)
        known = self.known if len(self.known) == len(values) else [(b"", self)] * len(values)
        blobs, self.is_lean = list[bytes](), True
        for value, (blob, before) in zip(values, known, strict=True):
            lazy = isinstance(value, Lazy)
            unchanged = value.is_unloaded if lazy else type(value) in codec.UNCHANGING
            same = value is before and unchanged
            self.is_lean &= same or not lazy
            blobs.append(blob if same else codec.dumps(value, shared))
        self.known = tuple(zip(blobs, values, strict=True))
        head = _HEAD.pack(
            _MAGIC,
            self.form,
            self.rounds,
            self.releases,
            self.consumed,
            self.chain,
            *self.source.position(),
            len(blobs),
        )
        sizes = struct.pack(f"<{len(blobs)}I", *map(len, blobs))
        self.last_state = sealed(b"".join((head, sizes, *blobs)), self.seal)
        return self.last_state


def _read(recipe: PrivateLearner, secret: bytes, name: "KeyName", state: bytes) -> KeyedRun:
    head, form = _head(state), _digest(recipe)
    if head.recipe != form:
        raise SnapshotError(
            f"the state of key {name.text!r} belongs to another recipe than {recipe!r}"
        )
    noise, seal = _keys(form, secret, name)
    body = unsealed(
        state,
        seal,
        f"the state of key {name.text!r} is damaged, of another key or of another secret: its seal "
        f"does not match. Nothing was learned",
    )
    # The bytes that follow were written by this module.
    source = Keyed(noise, head.block, head.children, (head.before, head.left))
    rng = Randomness(source)
    known = tuple(_values(recipe, rng, body, head.fields))
    engine = recipe.engine(rng)
    engine.load(tuple(value for _, value in known))
    return KeyedRun(
        recipe,
        engine,
        source,
        name,
        form,
        seal,
        head.rounds,
        head.releases,
        head.consumed,
        head.chain,
        known,
    )


def _head(state: bytes) -> _Head:
    return _Head(*head_of(state, _HEAD, _MAGIC, "a keyed run"))


def head_of(state: bytes, head: struct.Struct, magic: bytes, of: str) -> tuple[Any, ...]:
    """Return the head of a state; SnapshotError if the state is of another kind."""
    if not isinstance(state, bytes) or len(state) < head.size or not state.startswith(magic):
        raise SnapshotError(f"this is not a state of {of}")
    return head.unpack_from(state)


def sealed(body: bytes, key: bytes) -> bytes:
    """Append a hash to a state that cannot be computed without the key."""
    return body + hashlib.blake2b(body, digest_size=SEAL_BYTES, key=key).digest()


def unsealed(state: bytes, key: bytes, refusal: str) -> bytes:
    """Return the state without its seal; SnapshotError if the seal does not match."""
    body = state[:-SEAL_BYTES]
    if not hmac.compare_digest(sealed(body, key), state):
        raise SnapshotError(refusal)
    return body


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
        if kind is not None and issubclass(kind, Lazy):
            yield blob, kind.from_reader(read)
            continue
        value = read()
        if type(value) in codec.UNCHANGING and len(remembered) < _MOST_REMEMBERED:
            remembered[blob] = blob, value
        yield blob, value


@lru_cache(maxsize=16)
def _remembered(recipe: bytes) -> dict[bytes, tuple[bytes, Any]]:
    """Return values that never change, by their bytes: runs of one recipe share many."""
    del recipe
    return {}


def _digest(recipe: PrivateLearner) -> bytes:
    return bytes.fromhex(form_digest(recipe))


class KeyName(NamedTuple):
    """A key as bytes and as published; each form is equal for equal keys only."""

    label: bytes
    text: str

    @classmethod
    def from_label(cls, label: bytes) -> "KeyName":
        """Return the name with this label; SnapshotError if there is none."""
        return key_name(codec.loads(label))


def key_name(key: Any) -> KeyName:
    """Return the name of a key: equal keys have the same name, and others do not.

    A text is published as it is; another key, and a text that looks like one, as # and JSON.

    >>> [key_name(key).text for key in ("Haifa", "1", 1, ("user", 7), "#1")]
    ['Haifa', '1', '#1', '#{"tuple": ["user", 7]}', '#"#1"']
    """
    plain: Point = canonical_key(key)
    as_it_is = type(plain) is str and not plain.startswith(_NO_TEXT)
    text = str(plain) if as_it_is else _NO_TEXT + json.dumps(key_to_json(plain), ensure_ascii=False)
    return KeyName(codec.dumps(plain), text)


# 1, 1.0 and True may share an entry: their names are equal, too.
@lru_cache(maxsize=_MOST_REMEMBERED)
def label_of(key: Any) -> bytes:
    """Return the bytes of a key; ValueError if it is too long for any engine.

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


def shard_of(label: bytes, shards: int) -> int:
    """Return the shard of a key; it never changes."""
    return zlib.crc32(label) % shards


_name: Final = lru_cache(maxsize=_MOST_REMEMBERED)(key_name)


def _keys(form: bytes, secret: bytes, name: KeyName) -> list[bytes]:
    """Return the key of the noise of a run and the key of its seal."""
    # The first part has a fixed length, so different pairs give different labels.
    return labelled_keys(secret, form + name.label, count=2)


_UNREAD: Final = codec.dumps(None)


@lru_cache(maxsize=1 << 14, typed=True)
def _event(x: Point, y: int) -> bytes:
    """Encode an event; equal points in canonical form look alike, and there are few."""
    return codec.dumps((x, y))
