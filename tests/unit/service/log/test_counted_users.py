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


def test_users_whose_digests_begin_alike_are_counted_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counted_users, "_MANY", 2)
    users = [b"a" * 8 + bytes([last]) * 8 for last in (9, 1, 255, 0)]
    counted = CountedUsers(users[0] + users[1] * 2)
    assert [counted.add(user) for user in users + users] == [1, 2, 0, 0, 2, 3, 1, 1]
    assert counted.add(b"b" * 16) == 0 == counted.add(b"A" * 16)
