"""Baselines in hindsight: what counting by hand gives, whatever was saved and read again."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.sparse_sets import KeySets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.domain import block_of
from littlestone.concepts.schema import Schema
from littlestone.errors import StoreError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.runs import durable
from littlestone.runs.durable import DurableRun
from littlestone.runs.feeding import Baselines
from littlestone.runs.intake.event import Event

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 60]}, "from": {"values": ["A", "B", "C"]}})
ONE_QUESTION = DecisionTrees(SCHEMA, 1)
CLASSES: dict[str, tuple[Any, list[Any]]] = {
    "thresholds": (Thresholds(6), list(range(6))),
    "trees": (DecisionTrees(SCHEMA, 3), [(a, b) for a in range(4) for b in range(3)]),
    "keys": (KeySets(), ["a", "b", 7]),
}
streams = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 1)), max_size=40)


def by_hand(concepts: Any, examples: list[tuple[Any, int]]) -> tuple[int, int | None]:
    ones = sum(label for _, label in examples)
    counts = Counter(examples)
    tally = {x: (counts[x, 0], counts[x, 1]) for x, _ in examples}
    listed = ONE_QUESTION if isinstance(concepts, DecisionTrees) else concepts
    if isinstance(concepts, KeySets):
        return ones, None
    best = listed.fewest_mistakes(tally)
    return min(ones, len(examples) - ones), best


@pytest.mark.parametrize("name", CLASSES)
@given(stream=streams, cut=st.integers(0, 40))
def test_they_are_what_counting_gives(name: str, stream: list[Any], cut: int) -> None:
    concepts, points = CLASSES[name]
    examples = [(points[place % len(points)], label) for place, label in stream]
    first, second = examples[:cut], examples[cut:]
    baselines = Baselines(concepts)
    if first:
        block = block_of(concepts.domain, [x for x, _ in first])
        baselines.add_block(block, np.array([y for _, y in first], dtype=np.uint8))
    baselines = Baselines(concepts, baselines.state())
    for x, y in second:
        baselines.add(x, y)
    found = baselines.hindsight()
    assert (found.constant_mistakes, found.rule_mistakes) == by_hand(concepts, examples)


def test_what_was_saved_for_another_class_is_refused() -> None:
    with pytest.raises(StoreError, match="baselines"):
        Baselines(Thresholds(7), Baselines(Thresholds(6)).state())


def test_they_survive_checkpoints_and_restarts(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And are about events that were read: unread ones are nobody's mistakes."""
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 7)
    recipe = DisjointBatches(concepts=Thresholds(6), epsilon=1.0, max_contributions=3)
    path = folder_in_memory / "run.db"
    DurableRun.start(recipe, path, users="who").close()
    events = [Event(f"e{i}", i % 6, int(i % 4 == 0), user=f"u{i % 5}") for i in range(30)]
    for first in range(0, 30, 4):
        run = DurableRun.resume(recipe, path, users="who")
        run.take(events[first : first + 4])
        run.close()
    run = DurableRun.resume(recipe, path, users="who")
    read = [(event.x, event.y) for event in events[:15]]
    found = run.hindsight()
    assert (found.constant_mistakes, found.rule_mistakes) == by_hand(Thresholds(6), read)
    assert [place for place, _ in run.curve()] == [*range(1, 31), 30]
    assert run.curve()[-1] == (30, run.mistakes)
    run.close()


def test_worse_than_a_constant_is_said() -> None:
    baselines = Baselines(Thresholds(6))
    for x, y in ((0, 0), (1, 0), (2, 1)):
        baselines.add(x, y)
    found = baselines.hindsight()
    assert not any("WARNING" in line for line in found.lines(1))
    assert "WARNING: 2 mistakes are more than a constant makes" in found.lines(2)[-1]
    assert found.lines(1)[0].startswith("always 0: 1 mistakes")


def test_lists_of_keys_stand_beside_the_empty_list_and_the_full_one() -> None:
    """Everybody reported is nobody's list: to list all would beat many a good list."""
    baselines = Baselines(KeySets())
    for place in range(30):
        baselines.add(f"key {place % 3}", int(place % 5 > 0))
    found = baselines.hindsight()
    assert found.lines(20)[:2] == ["list no key: 24 mistakes", "list all keys: 6 mistakes"]
    assert not any("WARNING" in line for line in found.lines(20))
    assert "25 mistakes are more than an empty list makes" in found.lines(25)[-1]
