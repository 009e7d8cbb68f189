"""Users in memory: each is counted up to a limit, and takes up less than 16 bytes."""

import os
import random  # noqa: TID251 (who comes is no noise)
import tracemalloc
from collections import Counter

import pytest

from littlestone.fleet import user_counts
from littlestone.fleet.user_counts import User, UserCounts, users_under


def user_of(digest: bytes) -> User:
    return int.from_bytes(digest[:4]), digest[1:]


@pytest.mark.parametrize("most", [1, 3, 300])
def test_it_counts_as_a_dictionary_does(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_counts, "_MOST_IN_A_BUCKET", 4)
    chance = random.Random(seed := int.from_bytes(os.urandom(4)))
    print("seed", seed)
    users = [user_of(chance.randbytes(14)) for _ in range(5000)]
    counts, known = UserCounts(most), Counter[User]()
    for place in range(30_000):
        user = users[min(chance.randrange(5000), chance.randrange(5000))]
        if place % 5000 == 4999:
            counts = UserCounts(most, counts.state())
        assert counts.add(user) == (known[user] < most)
        known[user] += 1
    assert len(counts) == len(known)


def test_digests_that_look_alike_are_told_apart() -> None:
    """Also where the digest of one is found across the entries of two others."""
    counts, first = UserCounts(1), bytes(range(1, 15))
    others = [first[:place] + b"\xff" + first[place + 1 :] for place in range(14)]
    shifted = [first[:1] + first[1 + by :] + bytes(by) for by in range(1, 13)]
    users = [user_of(digest) for digest in (first, *others, *shifted)]
    assert all(map(counts.add, users)) and not any(map(counts.add, users))
    zero = UserCounts(1)
    nobody, low, high = bytes(14), bytes(13) + b"\x01", b"\0\x01" + bytes(12)
    assert [zero.add(user_of(digest)) for digest in (nobody, nobody, low, high)] == [1, 0, 1, 1]


def test_a_name_is_counted_by_itself_alone() -> None:
    """1 and True are equal, and two names, whichever comes first."""
    for order in ((1, True, 1.0), (True, 1.0, 1), (1.0, 1, True)):
        user = users_under(bytes(32))
        found = {repr(name): user(name) for name in order}
        assert found["1"] == found["1.0"] != found["True"]
    assert users_under(bytes(32))("Ann") != users_under(b"1" * 32)("Ann")


@pytest.mark.parametrize("most", [1, 1000])
def test_a_user_takes_up_less_than_16_bytes(most: int) -> None:
    users = 60_000
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        counts = UserCounts(most)
        for _ in range(users):
            counts.add(user_of(os.urandom(14)))
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(counts) == users
    assert (after - before) / users < 16 and (peak - before) / users < 20
