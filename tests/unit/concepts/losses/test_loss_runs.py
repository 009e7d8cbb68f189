"""Losses by runs are the losses of all concepts, each concept once."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.losses.loss_runs import losses_on, require_losses
from littlestone.concepts.protocols import ConceptClass

CLASSES: list[ConceptClass] = [
    Thresholds(8),
    Points(8),
    Intervals(8),
    SparseSets(2, 8),
    FiniteClass(np.random.default_rng(5).integers(2, size=(12, 8))),
]
examples = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1)), max_size=30)


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@given(dataset=examples, deepest=st.integers(1, 12))
def test_every_concept_stands_at_one_position_with_its_loss(
    concepts: ConceptClass, dataset: list[tuple[int, int]], deepest: int
) -> None:
    runs = losses_on(concepts, tallied(concepts, dataset), deepest=deepest)
    lengths = [1] * len(runs.losses) if runs.lengths is None else list(runs.lengths)
    each = np.repeat(runs.losses, lengths).tolist()
    found = {runs.concept(position): loss for position, loss in enumerate(each)}
    true = {h: sum(h(x) != y for x, y in dataset) for h in concepts.concepts()}
    assert len(each) == len(found) == concepts.size
    least = min(true.values())
    for h, loss in true.items():
        assert found[h] == loss or (found[h] == least + deepest <= loss)


def test_a_class_on_other_points_is_asked_concept_by_concept() -> None:
    concepts = Conjunctions(3)
    dataset = [((0, 1, 1), 1), ((1, 1, 1), 0), ((0, 1, 1), 0)]
    runs = losses_on(concepts, tallied(concepts, dataset), deepest=9)
    true = [sum(h(x) != y for x, y in dataset) for h in concepts.concepts()]
    assert runs.losses.tolist() == true


@pytest.mark.parametrize("n", [2**20, 2**40])
def test_long_ranges_are_never_written_out(n: int) -> None:
    dataset = [(x * 7919 % n, int(x % 3 == 0)) for x in range(500)]
    for concepts in (Thresholds(n), Points(n), Intervals(n)):
        runs = losses_on(concepts, tallied(concepts, dataset), deepest=50)
        assert runs.lengths is not None
        assert len(runs.lengths) == len(runs.losses) < 1100
        assert sum(runs.lengths) == concepts.size
        for position in (0, concepts.size // 3, concepts.size - 1):
            rule, loss = runs.concept(position), written_at(runs.losses, runs.lengths, position)
            true = sum(rule(x) != y for x, y in dataset)
            assert true == loss or true >= loss == min(runs.losses) + 50


def written_at(losses: np.ndarray, lengths: object, position: int) -> int:
    for loss, length in zip(losses.tolist(), lengths, strict=True):  # type: ignore[call-overload]
        if position < length:
            return int(loss)
        position -= length
    raise AssertionError


def test_a_tally_counts_labels_by_point() -> None:
    tally = tallied(Thresholds(9), [(3, 1), (1, 0), (3, 0), (3, 1)])
    assert dict(
        zip(tally.points.tolist(), zip(tally.zeros, tally.ones, strict=True), strict=True)
    ) == {
        1: (1, 0),
        3: (1, 2),
    }
    assert tally.size == 4
    keys = tallied(Points(), [("a", 1), ("b", 0), ("a", 1)])
    assert Counter(dict(zip(keys.points, keys.ones.tolist(), strict=True))) == {"a": 2, "b": 0}


@pytest.mark.parametrize("bad", [[(9, 1)], [(1, 2)], [3], [(1, 0, 0)]])
def test_a_bad_example_is_refused(bad: list[object]) -> None:
    with pytest.raises(ValueError, match="got"):
        tallied(Thresholds(9), bad)


def test_classes_without_end_are_refused() -> None:
    with pytest.raises(ValueError, match="finitely many"):
        require_losses(Points())
    with pytest.raises(ValueError, match="at most"):
        require_losses(SparseSets(5, 1000))
