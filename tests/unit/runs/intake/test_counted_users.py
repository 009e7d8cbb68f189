"""Counting in memory is counting: whatever was merged, restored, or begins alike."""

import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from littlestone.randomness import Randomness
from littlestone.runs.intake import users as module
from littlestone.runs.intake.users import CountedUsers


@pytest.mark.parametrize("most", [1, 3, 255, 256, 70_000, 2**32 - 1])
def test_counts_are_those_of_the_log(
    rng: Randomness, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    for name, size in {
        "_MANY": 5,
        "_SHARE": 16,
        "_YOUNG": 20,
        "_SHARE_YOUNG": 4,
        "_FEW": 3,
    }.items():
        monkeypatch.setattr(module, name, size)
    digests = [bytes(rng.below(256) for _ in range(16)) for _ in range(150)]
    digests += [b"ab" + bytes(rng.below(2) for _ in range(14)) for _ in range(50)]  # a full bucket
    digests += [bytes(16), b"\xff" * 16]
    log = [digests[rng.below(len(digests))] for _ in range(1500)]
    counted, expected, merges = CountedUsers(most=most), Counter[bytes](), 0
    for place, user in enumerate(log):
        if place % 400 == 30:
            counted = CountedUsers(b"".join(log[:place]), most=most)
        if place % 400 == 230:
            counted = CountedUsers.from_state(counted.state(), most=most)
        before = len(counted)
        assert counted.add(user) == min(expected[user], most)
        expected[user] += 1
        merges += len(counted) > before
    assert merges > 10
    monkeypatch.setattr(module, "_MANY", 15)  # a group is longer than the recent users may be
    counted, expected, start = CountedUsers(most=most), Counter[bytes](), 0
    while start < len(log):
        group = log[start : start + 1 + rng.below(40)]
        beyond = []
        for place, user in enumerate(group):
            beyond += [place] if expected[user] >= most else []
            expected[user] += 1
        assert counted.add_many(group) == beyond
        start += len(group)
    assert len(counted._old.counts)
    users = sorted(expected)
    counts = [min(expected[user], most).to_bytes(4, "little") for user in users]
    assert counted.state() == (b"".join(users), b"".join(counts))


# Few buckets, tags that overlap as bytes (00 01 and 01 00), and digests that begin alike.
ALIKE = st.tuples(*[st.sampled_from([0, 1])] * 5).map(
    lambda it: bytes([0, *it[:4]]) + bytes([it[4]] * 11)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    groups=st.lists(st.lists(ALIKE | st.binary(min_size=16, max_size=16), max_size=30), max_size=8),
    most=st.sampled_from([1, 2, 300]),
)
def test_groups_are_counted_as_by_a_dictionary(
    monkeypatch: pytest.MonkeyPatch, groups: list[list[bytes]], most: int
) -> None:
    """By arrays and one by one; merged after each few users, or not at all."""
    for few, many, young in ((1, 1, 4), (2, 3, 9), (9, 1_000, 1_000)):
        monkeypatch.setattr(module, "_FEW", few)
        monkeypatch.setattr(module, "_MANY", many)
        monkeypatch.setattr(module, "_YOUNG", young)
        counted, expected = CountedUsers(most=most), Counter[bytes]()
        for group in groups:
            beyond = []
            for place, user in enumerate(group):
                beyond += [place] if expected[user] >= most else []
                expected[user] += 1
            assert counted.add_many(group) == beyond
        assert counted.state()[0] == b"".join(sorted(expected))


def test_a_user_takes_sixteen_bytes(rng: Randomness) -> None:
    """Asked for are at most 16, with the newest users, whose digests are known by name."""
    known, new = 1_000_000, 4_990  # just before a merge: as many as there may be
    counted = CountedUsers(rng.words(2 * known).tobytes(), most=255)
    assert sum(counted.add(number.to_bytes(16, "big")) for number in range(new)) == 0
    parts = ("tags", "rests", "counts", "starts")
    layers = [getattr(layer, part) for layer in (counted._young, counted._old) for part in parts]
    held = sum(layer.nbytes for layer in layers)
    held += sys.getsizeof(counted._recent) + sum(map(sys.getsizeof, counted._recent))
    assert len(counted._recent) == new and len(counted) == known
    assert held <= 16 * (known + new), held / (known + new)


def test_users_whose_digests_begin_alike_are_counted_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MANY", 2)
    users = [b"a" * 8 + bytes([last]) * 8 for last in (9, 1, 255, 0)]
    counted = CountedUsers(users[0] + users[1] * 2)
    assert [*map(counted.add, users + users)] == [1, 2, 0, 0, 2, 3, 1, 1]
    assert [*map(counted.add, (b"b" * 16, b"A" * 16))] == [0, 0]


def test_a_state_says_nothing_of_the_order_in_which_users_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MANY", 2)
    users = [b"a" * 8 + bytes([last]) * 8 for last in (9, 1, 255, 0)] + [b"b" * 16]
    states = set()
    for order in (users, users[::-1], users[2:] + users[:2]):
        counted = CountedUsers(most=3)
        assert [*map(counted.add, order)] == [0] * len(users)
        states.add(counted.state())
    assert len(states) == 1
