"""Events in columns: what is packed comes back, shard by shard, and the order of a key stays."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.domain import AnyHashable, BooleanCube, IntegerRange
from littlestone.errors import SnapshotError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.runs.fleet import database
from littlestone.runs.fleet.database import Block
from littlestone.runs.fleet.keyed import key_name, shard_of
from littlestone.runs.fleet.worker import Waiting, by_key

DOMAINS: list[tuple[Any, Any]] = [
    (IntegerRange(70_000), st.integers(0, 69_999)),
    (AnyHashable(), st.one_of(st.text(max_size=3), st.integers(), st.tuples(st.text(max_size=2)))),
    (BooleanCube(3), st.tuples(*[st.integers(0, 1)] * 3)),
]
RECIPE = DisjointBatches(concepts=Thresholds(8), epsilon=1.0)
KEYS = [key_name(f"key {n}").label for n in range(7)]


def made(domain: Any, rows: list[tuple[int, int, Any, int]]) -> Block:
    which, seqs, xs, ys = ([row[at] for row in rows] for at in range(4))
    points = domain.check_many(xs)
    return Block(
        KEYS, np.array(which, dtype=np.int64), np.array(seqs, dtype=np.int64), points,
        np.array(ys, dtype=np.uint8), np.zeros(len(ys), dtype=np.uint8),
    )  # fmt: skip


@pytest.mark.parametrize("domain, points", DOMAINS, ids=["range", "any", "cube"])
@given(data=st.data())
def test_shards_and_lines_lose_and_reorder_nothing(
    domain: Any, points: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    row = st.tuples(st.integers(0, 6), st.integers(1, 10**6), points, st.integers(0, 1))
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    expected: Waiting = {}
    for which, seq, x, y in rows:
        seqs, examples = expected.setdefault(KEYS[which], ([], []))
        seqs.append(seq)
        examples.append((domain.check(x), y))
    parts = list(made(domain, rows).by_shard(3))
    for shard, part in parts:
        assert {shard_of(key, 3) for key in part.keys} == {shard}
    assert by_key(Block.from_bytes(part.packed(), domain) for _, part in parts) == expected
    wanted = {key: set(seqs[::2]) for key, (seqs, _) in expected.items() if key != KEYS[0]}
    [(_, whole)] = made(domain, rows).by_shard(1)
    assert by_key([Block.from_bytes(whole.only(wanted).packed(), domain)]) == {
        key: (
            [seq for seq in seqs if seq in wanted[key]],
            [pair for seq, pair in zip(seqs, examples, strict=True) if seq in wanted[key]],
        )
        for key, (seqs, examples) in expected.items()
        if key != KEYS[0]
    }
    assert len(made(domain, rows).only({}).seqs) == 0


def test_small_numbers_take_few_bytes() -> None:
    rows = [(n % 7, n // 7 + 1, n % 200, n % 2) for n in range(1000)]
    assert len(made(IntegerRange(1024), rows).packed()) < 10_500


def test_the_narrowest_type_loses_no_number() -> None:
    largest = 2**62
    for seq, points in ((largest, [1, 2]), (3, [-(2**63), 2**63 - 1]), (128, [-129, 127])):
        rows = [(0, seq, x, 1) for x in points]
        block = Block.from_bytes(made(AnyHashable(), rows).packed(), AnyHashable())
        assert block.seqs.tolist() == [seq] * 2 and block.points.tolist() == points


GOOD = made(IntegerRange(1024), [(0, 1, 3, 1)])


@pytest.mark.parametrize(
    "damaged",
    [
        GOOD._replace(points=np.array([2000])).packed(),
        GOOD._replace(points=np.array([[3, 3]])).packed(),
        GOOD._replace(points=[3, 3]).packed(),
        GOOD._replace(points=[3.5]).packed(),
        GOOD._replace(labels=np.array([7])).packed(),
        GOOD._replace(labels=np.array([256])).packed(),
        GOOD._replace(over_limit=np.array([2])).packed(),
        GOOD._replace(which=np.array([7])).packed(),
        GOOD._replace(which=np.array([-1])).packed(),
        GOOD._replace(keys=[]).packed(),
        made(IntegerRange(1024), [(1, 1, 3, 1), (0, 1, 3, 1)]).packed(),
        GOOD.packed()[:-1],
        GOOD.packed().replace(b", 1, 5, 1]", b", 1, 5, 3]"),
        GOOD.packed().replace(b", 1, 5, 1]", b', 1, 5, "O"]'),
        GOOD.packed().replace(b", 1, 5, 1]", b", 1e999, 5, 1]"),
        GOOD.packed().replace(b", 1, 5, 1]", b", -1, 5, 1]"),
        GOOD.packed().replace(b"[], 1, 5", b"[99999999999999999999], 1, 5"),
        GOOD.packed().replace(b"[[", b"[[1, "),
        b"[" * 100_000,
        b"nothing of the kind",
        b"",
    ],
)
def test_a_damaged_block_is_refused(damaged: bytes) -> None:
    assert damaged != GOOD.packed()
    with pytest.raises(SnapshotError):
        Block.from_bytes(damaged, IntegerRange(1024))


def test_shards_never_move() -> None:
    """A key that moved would begin anew elsewhere, with the noise that it had before."""
    assert [shard_of(key, 64) for key in KEYS] == [7, 17, 43, 61, 30, 8, 50]


@pytest.mark.parametrize("number", [0, -1, 2**62 + 1, 2**63, 2**64, 10**30, 1.0, True, "1"])
def test_a_number_that_no_event_has_is_refused(number: Any) -> None:
    """2**63 was taken as a negative number, and its event dropped in its turn."""
    with pytest.raises(ValueError, match="seqs must be whole numbers from 1"):
        database._block(RECIPE, ["a"], [number], [3], [1])


@pytest.mark.parametrize(
    ("keys", "seqs"),
    [
        ([1, 1 + 0j], [1, 1]),
        ([1 + 0j, 1], [1, 1]),
        ([["ann"]], [1]),
        (["ann"], 1),
        (["ann", "bob"], [1, True]),
        (["ann"], [True]),
        (["ann"], [1.0]),
        (["ann"], [None]),
        (["ann"], [10**30]),
    ],
)
def test_a_key_or_number_is_refused_whatever_stands_beside_it(keys: Any, seqs: Any) -> None:
    """Equal keys were looked up before they were read, and numpy gave numbers one type."""
    with pytest.raises(ValueError, match="must"):
        database._block(RECIPE, keys, seqs, [3] * len(keys), [0] * len(keys))


def test_equal_keys_are_one_key() -> None:
    keys = [1, True, 1.0, Fraction(1), np.int8(1)]
    seqs: list[Any] = [1, 2, np.int64(3), 4, np.uint8(5)]
    block = database._block(RECIPE, keys, seqs, [3] * 5, [0] * 5)
    assert len(block.keys) == 1 and block.seqs.tolist() == [1, 2, 3, 4, 5]
