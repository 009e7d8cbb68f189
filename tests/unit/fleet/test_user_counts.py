"""Users in memory: each is counted up to a limit, and takes up less than 16 bytes."""

import os
import random  # noqa: TID251 (who comes is no noise)
import tracemalloc
from collections import Counter

import pytest

from littlestone.fleet import user_counts
from littlestone.fleet.user_counts import UserCounts


@pytest.mark.parametrize("most", [1, 3, 300])
def test_it_counts_as_a_dictionary_does(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_counts, "_MOST_IN_A_BUCKET", 4)
    chance = random.Random(seed := int.from_bytes(os.urandom(4)))
    print("seed", seed)
    users = [chance.randbytes(16) for _ in range(5000)]
    counts, known = UserCounts(most), Counter[bytes]()
    for place in range(30_000):
        user = users[min(chance.randrange(5000), chance.randrange(5000))]
        if place % 5000 == 4999:
            counts = UserCounts(most, counts.state())
        assert counts.add(user) == (known[user] < most)
        known[user] += 1
    assert len(counts) == len(known)


def test_digests_that_look_alike_are_told_apart() -> None:
    """Also where the digest of one is found across the entries of two others."""
    counts, first = UserCounts(1), bytes(range(1, 17))
    others = [first[:place] + b"\xff" + first[place + 1 :] for place in range(14)]
    shifted = [first[:1] + first[1 + by : 14] + bytes(by + 2) for by in range(1, 13)]
    assert all(counts.add(user) for user in (first, *others, *shifted))
    assert not any(counts.add(user) for user in (first, *others, *shifted))
    zero = UserCounts(1)
    assert zero.add(bytes(16)) and not zero.add(bytes(16))
    assert zero.add(bytes(13) + b"\x01" + bytes(2)) and zero.add(bytes(1) + b"\x01" + bytes(14))


@pytest.mark.parametrize("most", [1, 1000])
def test_a_user_takes_up_less_than_16_bytes(most: int) -> None:
    users = 60_000
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        counts = UserCounts(most)
        for _ in range(users):
            counts.add(os.urandom(16))
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(counts) == users
    assert (after - before) / users < 16 and (peak - before) / users < 20
