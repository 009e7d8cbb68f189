"""The table of a blocklist in parts: the list of one machine, whatever the parts and ticks."""

import random  # noqa: TID251 (streams, no noise)
from collections import Counter
from typing import Any

import pytest

from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet import split_keys
from littlestone.runs.fleet.split_keys import LabelledKeysEngine, advance_part, merged, part_of

RECIPE = PrivateKeys(rounds=3000, epsilon=2.0, delta=1e-2)
SECRET = bytes(range(32))
Stream = list[tuple[Any, int]]


def stream(seed: int = 5, count: int = 3000) -> Stream:
    """Few keys, whose labels change now and then, so that much is listed and unlisted."""
    chance = random.Random(seed)
    keys = [*(f"key {n}" for n in range(9)), 7, ("a", 1)]
    return [
        (key := chance.choice(keys), int((hash_of(key) + t // 800) % 2 == 0)) for t in range(count)
    ]


def hash_of(key: Any) -> int:
    return part_of(key, 1000)


def played(events: Stream, parts: int, ticks: list[int]) -> tuple[list[Any], list[bytes]]:
    """What is published up to the last tick, and the states of all parts."""
    states: list[bytes | None] = [None] * parts
    published, listed, before = [], frozenset[Any](), 0
    for until in ticks:
        of_parts = []
        for part in range(parts):
            mine = [
                (t, *events[t - 1])
                for t in range(before + 1, until + 1)
                if part_of(events[t - 1][0], parts) == part
            ]
            rounds, xs, ys = ([row[at] for row in mine] for at in range(3))
            states[part], changes = advance_part(
                RECIPE, SECRET, part, parts, states[part], rounds, xs, ys, until=until
            )
            of_parts.append(changes)
        for number, rule in merged(listed, of_parts):
            published.append((number, rule.to_json()))
            listed = rule.positives
        before = until
    return published, [state for state in states if state is not None]


def on_one_machine(events: Stream) -> list[Any]:
    """The engine of one run, fed round by round."""
    engine = LabelledKeysEngine(RECIPE, SECRET)
    engine.begin()
    published = []
    for t, (x, y) in enumerate(events, start=1):
        before = engine.hypothesis
        engine.step(x, y)
        if engine.hypothesis != before:
            published.append((t, engine.hypothesis.to_json()))
    return published


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_publish_what_one_machine_publishes(parts: int) -> None:
    events = stream()
    expected = on_one_machine(events)
    assert len(expected) > 20
    assert played(events, parts, [3000])[0] == expected


def test_ticks_may_fall_anywhere() -> None:
    events = stream(6)
    chance = random.Random(1)
    ticks = sorted({*(chance.randrange(1, 3000) for _ in range(40)), 3000})
    assert played(events, 3, ticks) == played(events, 3, [3000])
    assert played(events, 3, [*range(1, 3001, 97), 3000]) == played(events, 3, [3000])


def labels_drawn(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each stream was asked for in one game."""
    labels: Counter[bytes] = Counter()
    keys = labelled_keys

    def watched(secret: bytes, label: bytes, count: int = 1) -> list[bytes]:
        labels[label] += 1
        return keys(secret, label, count)

    monkeypatch.setattr(split_keys, "labelled_keys", watched)
    on_one_machine(stream(7))
    monkeypatch.undo()
    return labels


def test_no_two_draws_share_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = labels_drawn(monkeypatch)
    assert len(labels) > 300 and max(labels.values()) == 1


def test_streams_without_their_purpose_would_be_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a report and the listing that it leads to fall into one round."""
    coins = LabelledKeysEngine._coins
    monkeypatch.setattr(
        LabelledKeysEngine, "_coins", lambda self, key, purpose: coins(self, key, "any")
    )
    assert max(labels_drawn(monkeypatch).values()) > 1


def test_a_repeated_tick_is_dropped_and_other_events_of_a_part_refused() -> None:
    keys = [key for key in (f"k{n}" for n in range(50)) if part_of(key, 2) == 0][:3]
    first = (RECIPE, SECRET, 0, 2)
    state, _ = advance_part(*first, None, [2, 5], keys[:2], [1, 1], until=6)
    assert advance_part(*first, state, [2, 5], keys[1:], [0, 0], until=6) == (state, [])
    assert advance_part(*first, state, [], [], [], until=3) == (state, [])
    later, _ = advance_part(*first, state, [5, 7], [keys[2], keys[0]], [1, 1], until=9)
    assert later == advance_part(*first, state, [7], [keys[0]], [1], until=9)[0]
    other = next(key for key in (f"k{n}" for n in range(50)) if part_of(key, 2) == 1)
    for bad in (
        ([8], [other], [1], 9),
        ([8], [keys[0]], [1], 7),
        ([8, 8], keys[:2], [1, 1], 9),
        ([8], keys[:2], [1, 1], 9),
        ([0], [keys[0]], [1], 9),
    ):
        with pytest.raises(ValueError):
            advance_part(*first, state, *bad[:3], until=bad[3])
    with pytest.raises(HorizonExceededError):
        advance_part(*first, state, [], [], [], until=3001)


def test_a_state_belongs_to_its_part_and_secret() -> None:
    state, _ = advance_part(RECIPE, SECRET, 0, 2, None, [], [], [], until=6)
    for part, parts, secret in ((1, 2, SECRET), (0, 3, SECRET), (0, 2, bytes(32))):
        with pytest.raises(SnapshotError):
            advance_part(RECIPE, secret, part, parts, state, [], [], [], until=7)
    for place in range(0, len(state), 9):
        damaged = state[:place] + bytes([state[place] ^ 1]) + state[place + 1 :]
        with pytest.raises(SnapshotError):
            advance_part(RECIPE, SECRET, 0, 2, damaged, [], [], [], until=7)


def test_the_root_of_all_streams_is_not_in_a_state() -> None:
    _, states = played(stream(8, 500), 2, [500])
    root = LabelledKeysEngine(RECIPE, SECRET)._root
    assert not any(root in state or SECRET in state for state in states)
    assert split_keys._MAGIC in states[0]


def test_how_a_listed_key_is_described_depends_on_no_other_key() -> None:
    """Among integers alone, elements of an array would be described in the words of numpy."""
    rules = set[str]()
    for other in (7, "a secret key", 2**70):
        play: dict[str, Any] = {"rounds": range(1, 201), "xs": [7] * 199 + [other], "ys": [1] * 200}
        _, changes = advance_part(RECIPE, SECRET, 0, 1, None, **play, until=200)
        rules |= {rule.describe() for _, rule in merged(frozenset(), [changes])}
    assert rules == {"1 on 7, 0 elsewhere"}
