"""Losses kept cleverly are the losses of the definition, and votes are votes."""

from collections.abc import Iterable

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.concept_losses import (
    distinguished_points,
    losses_of,
    require_listable,
)
from littlestone.concepts.protocols import ConceptClass, Example
from littlestone.concepts.schema import Schema

RECORDS = Schema.from_mapping({"delay": {"grid": [0, 5, 9]}, "carrier": {"values": ["UA", "AA"]}})
CLASSES = [
    Thresholds(9),
    Points(7),
    SparseSets(2, 5),
    FiniteClass([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1]]),
    Intervals(6),
    Conjunctions(3),
    Stumps.over(RECORDS, depth=2),
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
    losses = losses_of(concepts)
    stream = list(zip(examples(concepts, 40), [1, 3, 2, 1] * 10, strict=True))
    for number, ((x, y), weight) in enumerate(stream, start=1):
        losses.add(x, y, weight)
        if number % 13 == 0:
            assert losses.written_out().tolist() == by_definition(concepts, stream[:number])
    copy = losses_of(concepts)
    copy.load(losses.state())
    copy.add(*stream[0][0], 5)
    later = [*stream, (stream[0][0], 5)]
    assert copy.written_out().tolist() == by_definition(concepts, later)
    assert losses.written_out().tolist() == by_definition(concepts, stream)


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@pytest.mark.parametrize("votes", [1, 3, 5])
def test_a_vote_is_the_majority_everywhere(concepts: ConceptClass, votes: int) -> None:
    everything = list(concepts.concepts())
    generator = np.random.default_rng(votes)
    losses = losses_of(concepts)
    for _ in range(5):
        chosen = generator.integers(len(everything), size=votes).tolist()
        vote = losses.vote(chosen)
        for x in concepts.domain:
            assert vote(x) == (2 * sum(everything[i](x) for i in chosen) > votes)


def test_losses_of_a_million_thresholds_cost_little_for_each_example() -> None:
    losses = losses_of(Thresholds(2**20 - 1))
    for x in range(0, 100_000, 7):
        losses.add(x, 1, 2)
        losses.add(x + 500_000, 0, 1)
    written = losses.written_out()
    assert len(written) == 2**20 and written[0] == written[100] + 0 - 2 * len(range(0, 100, 7))


def test_classes_that_are_too_large_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="infinitely many"):
        require_listable(Points())
    with pytest.raises(ValueError, match="4194304"):
        losses_of(Thresholds(2**30))


def test_points_are_told_apart_by_no_more_than_all_concepts_can() -> None:
    assert distinguished_points(Thresholds(100)) == pytest.approx(np.log(100))
    assert distinguished_points(FiniteClass(np.eye(2, 90))) == pytest.approx(2 * np.log(2))
