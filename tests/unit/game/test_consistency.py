"""The tracker counts exactly the examples that some concept fits, however they arrive."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts import trackers
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.multiclass import MulticlassTable
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.concepts.trackers import SeenIntegers, SeenKeys
from littlestone.game.referee import ConsistencyTracker

CLASSES: list[Any] = [
    Thresholds(9),
    Intervals(9),
    Boxes(2, 3),
    Points(9),
    Points(),
    SparseSets(3),
    SparseSets(2, 9),
    Conjunctions(3),
    FiniteClass.from_class(Intervals(7)),
    Stumps(
        Schema.from_mapping({"delay": {"grid": [0, 1, 2]}, "on": {"values": ["x", "y"]}}), depth=1
    ),
    MarginHalfspaces(2, 0.25),
]


def leading(concepts: Any, examples: list[tuple[Any, int]]) -> int:
    """The reference: restrict the version space until it is empty."""
    left = concepts.version_space()
    for i, (x, y) in enumerate(examples):
        left = left.restrict(x, y)
        if left.is_empty:
            return i
    return len(examples)


@st.composite
def streams(draw: st.DrawFn) -> tuple[Any, list[tuple[Any, int]], list[int]]:
    """Examples of one concept with a few wrong labels, and where to cut them into blocks."""
    concepts = draw(st.sampled_from(CLASSES))
    points = list(islice(concepts.domain, 9))
    target = draw(st.sampled_from(list(islice(concepts.concepts(), 40))))
    picks = draw(st.lists(st.tuples(st.sampled_from(points), st.integers(0, 14)), max_size=20))
    examples = [(x, target(x) if noise else 1 - target(x)) for x, noise in picks]
    return concepts, examples, draw(st.lists(st.integers(1, 6), max_size=6))


def observe_in_blocks(concepts: Any, examples: list[tuple[Any, int]], cuts: list[int]) -> int:
    """Blocks of the given lengths, then single examples; those of length 1 one by one."""
    tracker, taken = ConsistencyTracker(concepts), 0
    for length in [*cuts, *[1] * len(examples)]:
        block = examples[taken : taken + length]
        if not block:
            break
        if length == 1:
            consistent = int(tracker.observe(*block[0]))
        else:
            xs = concepts.domain.check_many([x for x, _ in block])
            consistent = tracker.observe_many(xs, np.array([y for _, y in block], dtype=np.uint8))
        taken += consistent
        if consistent < len(block):
            assert not tracker.observe(*examples[0])
            break
    return taken


@given(streams())
def test_blocks_and_single_examples_agree_with_the_version_space(stream: Any) -> None:
    concepts, examples, cuts = stream
    assert observe_in_blocks(concepts, examples, cuts) == leading(concepts, examples)


@given(streams())
def test_long_ranges_agree_too(stream: Any) -> None:
    concepts, examples, cuts = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trackers, "_LARGEST_BITMAP", 0)
        patch.setattr(trackers, "_BUFFER", 2)
        assert observe_in_blocks(concepts, examples, cuts) == leading(concepts, examples)


def test_an_empty_block_changes_nothing() -> None:
    tracker = ConsistencyTracker(Points())
    assert tracker.observe_many([], np.zeros(0, dtype=np.uint8)) == 0
    assert tracker.observe("a", 1)


@given(st.lists(st.lists(st.integers(-50, 50), max_size=5)), st.integers(-50, 50))
def test_seen_integers_are_a_set(blocks: list[list[int]], x: int) -> None:
    found, expected = SeenIntegers(), {y for block in blocks for y in block}
    for block in blocks:
        if len(block) == 1:
            found.add(block[0])
        else:
            found.add_many(np.array(block, dtype=np.int64))
    assert all((y in found) == (y in expected) for y in range(-51, 52))
    assert 2**70 not in found
    below, above = [y for y in expected if y < x], [y for y in expected if y > x]
    assert found.neighbours(x) == (max(below, default=None), min(above, default=None))


def test_seen_keys_know_equal_numbers() -> None:
    found = SeenKeys()
    for key in (1, 2.5, "a", 2**70, 3.0):
        found.add(key)
    assert all(key in found for key in (1, 1.0, True, 2.5, "a", 2**70, float(2**70), 3, 3.0))
    assert all(key not in found for key in (2, "1", float("inf"), None))


def test_ten_million_rounds_on_few_points_keep_little() -> None:
    tracker = ConsistencyTracker(Intervals(2**40))
    block = np.arange(1000).repeat(100)
    for _ in range(100):
        assert tracker.observe_many(block, np.zeros(len(block), dtype=np.uint8)) == len(block)
    kept = tracker._tracker._negatives._blocks  # type: ignore[attr-defined]
    assert sum(len(part) for part in kept) <= 2000


def test_examples_with_three_labels_are_told_apart() -> None:
    table = MulticlassTable([[2, 1], [1, 0]])
    tracker = ConsistencyTracker(table)
    assert tracker.observe(0, 2) and not tracker.observe(1, 0)
    other = ConsistencyTracker(table)
    assert other.observe_many([0, 0], [2, 2]) == 2 and other.observe_many([1], [0]) == 0
    with pytest.raises(ValueError, match="label must be from 0 to 2"):
        tracker.observe(0, 3)
