"""Run a private blocklist on several machines: counters are split by a hash of the key.

Every key of ``PrivateKeys`` has its own counters and noise, so the part of the list that concerns a
key depends on its own events and their rounds. Rounds are common to all parts: noise is also drawn
for rounds in which a key has no event. So the parts advance by common ticks: each plays its events
up to the tick, all report which keys changed in which round, and the reports together are what one
machine publishes.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from littlestone import require
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Point
from littlestone.errors import HorizonExceededError
from littlestone.learners import codec
from littlestone.learners.engine import single_rounds
from littlestone.learners.forms import form_digest
from littlestone.learners.private_keys.recipe import PrivateKeys, PrivateKeysEngine
from littlestone.randomness import Randomness, labelled
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet.keyed import SEAL_BYTES, head_of, sealed, shard_of, unsealed
from littlestone.runs.journal.records import digest_of

_MAGIC: Final = b"LSP1"
_HEAD: Final = struct.Struct("<4s16sQQQ16s")

Change = tuple[int, tuple[Point, ...]]
"""A round, and the keys that were listed or unlisted in it."""


def advance_part(
    recipe: PrivateKeys,
    secret: bytes,
    part: int,
    parts: int,
    state: bytes | None,
    rounds: Sequence[int],
    xs: Any,
    ys: Any,
    *,
    until: int,
) -> tuple[bytes, list[Change]]:
    """Play one part up to the round ``until``; return its new state and the changes of its list.

    ``rounds`` are the numbers, in the whole stream, of the events whose keys belong to this part
    (``part_of``), in order. The caller guarantees that no event up to ``until`` is missing; events
    up to the tick before are dropped, whatever they contain. Where ticks fall changes no byte.

    Privacy:
        Releases:   what ``merged`` makes of the changes of all parts, and the ticks; never which
                    part an event went to, nor how many a part has had
        Neighbours: streams that differ in one example, its key included
        Adversary:  adaptive
        Guarantee:  that of ``PrivateKeys``
        Assumes:    what it assumes; the secret is known to nobody
        Proof:      split_keys.md

    >>> keys = PrivateKeys(rounds=10**4, epsilon=1.0, delta=1e-6)
    >>> spam = {"rounds": range(1, 101), "xs": ["spam"] * 100, "ys": [1] * 100, "until": 100}
    >>> state, [(listed_in, who)] = advance_part(keys, bytes(32), 0, 1, None, **spam)
    >>> who, 20 < listed_in < 50
    (('spam',), True)
    """
    require.integer(parts=parts, at_least=1)
    require.integer(part=part, at_least=0)
    points, labels = recipe.concepts.domain.check_many(xs), require.labels(ys)
    engine, consumed = _at(recipe, secret, part, parts, state)
    before = engine._round
    _check_rounds(list(rounds), points, labels, until=until, before=before, horizon=recipe.rounds)
    changes: list[Change] = []
    # Keys as plain values: a block of integers is an array, whose elements are described otherwise.
    for number, (x, y) in zip(rounds, single_rounds(points, labels), strict=True):
        if part_of(x, parts) != part:
            raise ValueError(f"xs must belong to part {part} of {parts}; choose them with part_of")
        if number <= before:
            continue
        _pass(engine, number - 1, changes)
        published = engine.hypothesis
        engine.step(x, y)
        _note(published, engine, changes)
        consumed = digest_of(consumed + codec.dumps((number, x, y)))
    _pass(engine, max(until, before), changes)
    return _packed(recipe, secret, part, parts, engine, consumed), changes


def part_of(key: Point, parts: int) -> int:
    """Return the part that holds the counters of a key; it never changes."""
    return shard_of(codec.dumps(key), parts)


def merged(
    listed: frozenset[Point], of_parts: Iterable[Sequence[Change]]
) -> Iterator[tuple[int, FiniteSupport]]:
    """Yield what is published between two ticks: each round with a change, and its list.

    Args:
        listed: The list at the tick before.
        of_parts: The changes of all parts after that tick.
    """
    by_round: defaultdict[int, set[Point]] = defaultdict(set)
    for changes in of_parts:
        for number, keys in changes:
            by_round[number].update(keys)
    for number in sorted(by_round):
        # In a fixed order: the iteration order of a set depends on its history.
        listed ^= frozenset(sorted(by_round[number], key=key_order))
        yield number, FiniteSupport(frozenset(sorted(listed, key=key_order)))


class LabelledKeysEngine(PrivateKeysEngine):
    """Give each draw its own stream, named by the key, the round and the purpose."""

    def __init__(self, recipe: PrivateKeys, secret: bytes) -> None:
        [self._root] = labelled_keys(secret, b"split keys" + form_digest(recipe).encode())
        super().__init__(recipe, labelled(self._root))

    def _coins(self, key: Point, purpose: str) -> Randomness:
        label = codec.dumps((self._round, purpose, key))
        return labelled(labelled_keys(self._root, label)[0])


def _check_rounds(
    rounds: list[int], points: Any, labels: Any, *, until: int, before: int, horizon: int
) -> None:
    if not len(rounds) == len(points) == len(labels):
        raise ValueError(
            f"rounds, xs and ys must be equally long, got {len(rounds)}, {len(points)}, "
            f"{len(labels)}"
        )
    require.integer(until=until, at_least=0)
    ordered = all(earlier < later for earlier, later in pairwise(rounds))
    if not ordered or (rounds and not 1 <= rounds[0] <= rounds[-1] <= max(until, before)):
        raise ValueError(f"rounds must increase from 1 up to until={until}")
    if until > horizon:
        raise HorizonExceededError(rounds=horizon)


def _pass(engine: PrivateKeysEngine, last: int, changes: list[Change]) -> None:
    """Play the rounds up to ``last``, in which this part has no event."""
    while True:
        published = engine.hypothesis
        if not engine.passes(last, published):
            return
        _note(published, engine, changes)


def _note(published: FiniteSupport, engine: PrivateKeysEngine, changes: list[Change]) -> None:
    if engine.hypothesis is not published:
        moved = published.positives ^ engine.hypothesis.positives
        changes.append((engine._round, tuple(sorted(moved, key=key_order))))


def _at(
    recipe: PrivateKeys, secret: bytes, part: int, parts: int, state: bytes | None
) -> tuple[LabelledKeysEngine, bytes]:
    engine = LabelledKeysEngine(recipe, secret)
    if state is None:
        engine.begin()
        return engine, bytes(SEAL_BYTES)
    *_, consumed = head_of(state, _HEAD, _MAGIC, "a part of a table")
    refusal = f"this is not part {part} of {parts} of this recipe and secret, or it is damaged"
    body = unsealed(state, _seal_key(recipe, secret, part, parts), refusal)
    engine.load(codec.loads(body[_HEAD.size :], (recipe.concepts,), engine._rng))
    return engine, consumed


def _packed(
    recipe: PrivateKeys,
    secret: bytes,
    part: int,
    parts: int,
    engine: LabelledKeysEngine,
    consumed: bytes,
) -> bytes:
    digest = bytes.fromhex(form_digest(recipe))
    head = _HEAD.pack(_MAGIC, digest, part, parts, engine._round, consumed)
    body = head + codec.dumps(engine.state(), (recipe.concepts,))
    return sealed(body, _seal_key(recipe, secret, part, parts))


def _seal_key(recipe: PrivateKeys, secret: bytes, part: int, parts: int) -> bytes:
    label = f"seal of part {part} of {parts} {form_digest(recipe)}".encode()
    return labelled_keys(secret, label)[0]
