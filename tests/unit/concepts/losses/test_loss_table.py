"""Losses kept cleverly are the losses of the definition, and votes are votes."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses import label_counts, loss_table
from littlestone.concepts.losses.listing import (
    distinguished_points,
    finder,
    labels_at,
    require_listable,
)
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Example
from littlestone.concepts.schema import Schema

RECORDS = Schema.from_mapping({"delay": {"grid": [0, 5, 9]}, "carrier": {"values": ["UA", "AA"]}})
FIVE_CELLS = Schema.from_mapping({name: {"grid": [1, 2, 3, 4]} for name in ("left", "right")})
STUMPS = Stumps(FIVE_CELLS, depth=1)
CLASSES = [
    Thresholds(9),
    Points(7),
    SparseSets(2, 5),
    FiniteClass([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1]]),
    Intervals(6),
    Conjunctions(3),
    Stumps(RECORDS, depth=2),
]


def examples(concepts: ConceptClass, count: int) -> list[Example]:
    generator = np.random.default_rng(5)
    labels = generator.integers(2, size=count).tolist()
    points = concepts.domain.sample(count, generator)
    return list(zip(map(concepts.domain.check, points), labels, strict=True))


def by_definition(concepts: ConceptClass, stream: Iterable[tuple[Example, int]]) -> list[int]:
    weighed = list(stream)
    return [sum(w for (x, y), w in weighed if concept(x) != y) for concept in concepts.concepts()]


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_losses_are_those_of_the_definition(concepts: ConceptClass) -> None:
    losses = LossTable(concepts)
    stream = list(zip(examples(concepts, 40), [1, 3, 2, 1] * 10, strict=True))
    for number, ((x, y), weight) in enumerate(stream, start=1):
        losses.add(x, y, weight)
        if number % 13 == 0:
            assert losses.as_array().tolist() == by_definition(concepts, stream[:number])
    copy = LossTable(concepts)
    copy.load(losses.as_array())
    copy.add(*stream[0][0], 5)
    later = [*stream, (stream[0][0], 5)]
    assert copy.as_array().tolist() == by_definition(concepts, later)
    assert losses.as_array().tolist() == by_definition(concepts, stream)


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_blocks_single_losses_and_positions_agree_with_the_definition(
    concepts: ConceptClass,
) -> None:
    losses, stream = LossTable(concepts), examples(concepts, 200)
    known = list(concepts.concepts())
    assert [losses.concept(i) for i in range(len(known))] == known
    for start, end in ((0, 1), (1, 40), (40, 200)):
        losses.add(*stream[start])
        xs, ys = zip(*stream[start + 1 : end], strict=True) if end - start > 1 else ((), ())
        losses.add_many(concepts.domain.check_many(list(xs)) if xs else [], ys)
        wanted = by_definition(concepts, [(example, 1) for example in stream[:end]])
        assert [losses.of(i) for i in range(len(known))] == wanted
        if end == 40:
            assert losses.as_array().tolist() == wanted
            assert [losses.of(i) for i in range(len(known))] == wanted
    assert losses.as_array().tolist() == wanted
    tally = {x: (stream.count((x, 0)), stream.count((x, 1))) for x, _ in stream}
    assert min(wanted) == concepts.fewest_mistakes(tally)


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_labels_are_what_the_concepts_say(concepts: ConceptClass) -> None:
    points = list(concepts.domain)[::2]
    wanted = [[concept(x) for x in points] for concept in concepts.concepts()]
    assert labels_at(concepts, points).tolist() == wanted
    assert labels_at(concepts, points[:0]).shape == (concepts.size, 0)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_intervals_are_found_by_their_positions(n: int) -> None:
    for position, concept in enumerate(Intervals(n).concepts()):
        assert finder(Intervals(n))(position) == concept


@pytest.mark.parametrize("concepts", [Thresholds(5), SparseSets(2, 5), Conjunctions(2)], ids=repr)
def test_losses_stay_right_when_the_memory_of_examples_is_full(
    concepts: ConceptClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_table, "_MOST_RECENT", 64)
    monkeypatch.setattr(loss_table, "_MOST_NEWEST", 16)
    monkeypatch.setattr(label_counts, "_BLOCK", 2)
    losses, stream = LossTable(concepts), examples(concepts, 1000)
    for start in range(0, 1000, 50):
        for example in stream[start : start + 20]:
            losses.add(*example)
        xs, ys = zip(*stream[start + 20 : start + 50], strict=True)
        losses.add_many(concepts.domain.check_many(list(xs)), ys)
    assert losses._recent <= 64
    assert losses.as_array().tolist() == by_definition(concepts, [(e, 1) for e in stream])


def test_points_are_forgotten_once_they_are_counted() -> None:
    losses = LossTable(Conjunctions(2))
    losses.add_many([(0, 1), (1, 1), (0, 1)], (0, 1, 0))
    assert len(losses._answers._numbers) == 2  # type: ignore[attr-defined]
    losses.as_array()
    assert not losses._answers._numbers  # type: ignore[attr-defined]


@pytest.mark.parametrize("concepts", [Points(9), Intervals(5), STUMPS], ids=repr)
def test_few_rows_and_many_are_added_up_alike(concepts: Points | Intervals | Stumps) -> None:
    stretches = concepts.on_lines()
    assert stretches is not None
    generator = np.random.default_rng(8)
    rows = generator.integers(5, size=(99, stretches.width))
    gains = generator.integers(-5, 6, size=99)
    said = [stretches.says(i, rows) for i in range(concepts.size or 0)]
    assert stretches.sums(rows, gains).tolist() == [int(gains @ row) for row in said]
    one_by_one: Any = sum(stretches.sums(rows[i : i + 1], gains[i : i + 1]) for i in range(99))
    assert stretches.sums(rows, gains).tolist() == one_by_one.tolist()


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@pytest.mark.parametrize("votes", [1, 3, 5])
def test_a_vote_is_the_majority_everywhere(concepts: ConceptClass, votes: int) -> None:
    everything = list(concepts.concepts())
    generator = np.random.default_rng(votes)
    losses = LossTable(concepts)
    for _ in range(5):
        chosen = generator.integers(len(everything), size=votes).tolist()
        vote = losses.majority_of(chosen)
        for x in concepts.domain:
            assert vote(x) == (2 * sum(everything[i](x) for i in chosen) > votes)


def test_losses_of_a_million_thresholds_cost_little_for_each_example() -> None:
    losses = LossTable(Thresholds(2**20 - 1))
    for x in range(0, 100_000, 7):
        losses.add(x, 1, 2)
        losses.add(x + 500_000, 0, 1)
    each = losses.as_array()
    assert len(each) == 2**20 and each[0] == each[100] + 0 - 2 * len(range(0, 100, 7))


def test_classes_that_are_too_large_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="infinitely many"):
        require_listable(Points())
    with pytest.raises(ValueError, match="4194304"):
        LossTable(Thresholds(2**30))


def test_points_are_told_apart_by_no_more_than_all_concepts_can() -> None:
    assert distinguished_points(Thresholds(100)) == pytest.approx(np.log(100))
    assert distinguished_points(FiniteClass(np.eye(2, 90))) == pytest.approx(2 * np.log(2))
