"""Counting in memory is counting: whatever was merged, restored, or begins alike."""

from collections import Counter

import pytest

from littlestone.randomness import Randomness
from littlestone.service.log import counted_users
from littlestone.service.log.counted_users import CountedUsers


def test_counts_are_those_of_the_log(rng: Randomness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_users, "_MANY", 5)
    monkeypatch.setattr(counted_users, "_SHARE", 4)
    digests = [bytes(rng.below(256) for _ in range(16)) for _ in range(60)]
    digests += [bytes(16), b"\xff" * 16]
    log = [digests[rng.below(len(digests))] for _ in range(1500)]
    counted, expected, merges = CountedUsers(), Counter[bytes](), 0
    for place, user in enumerate(log):
        if place % 400 == 300:
            counted = CountedUsers(b"".join(log[:place]))
        before = len(counted._keys)
        assert counted.add(user) == expected[user]
        expected[user] += 1
        merges += len(counted._keys) > before
    assert merges > 10


def test_whoever_cannot_be_told_apart_has_one_part() -> None:
    counted = CountedUsers(b"a" * 8 + b"b" * 8)
    assert [counted.add(b"a" * 8 + b"c" * 8), counted.add(b"c" * 16)] == [1, 0]
