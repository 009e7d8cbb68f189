"""Forests of other base learners than the standard optimal one: twins, domains, no proofs."""

from dataclasses import replace
from typing import Any

import pytest
from tests.conformance.test_every_base import eager
from tests.reference.forest_array import ForestArray

from littlestone.audit.grey_box import check_sensitivity
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.eager_forest import (
    EagerForest,
    TooManyTreesError,
    TournamentTree,
)
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.lazy_forest.layer import ForestTable, tournament
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.linear import Winnow, WinnowState
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded

CONCEPTS = MonotoneDisjunctions(2, 4)
NUMBERS: dict[str, Any] = {"rounds": 1000, "epsilon": 1.0, "delta": 1e-6}


def twins() -> tuple[WinnowState, WinnowState]:
    """All three features are needed, whichever of them counts double."""
    first, second = (
        WinnowState(MonotoneDisjunctions(2, 3), 4, 9, weights, 1)
        for weights in ((2, 1, 1), (1, 2, 1))
    )
    assert first.hypothesis != second.hypothesis
    assert first.hypothesis.disagreement(second.hypothesis) is None
    return first, second


def test_twins_have_no_child() -> None:
    assert tournament(twins(), 0) is None is tournament(twins(), 1)
    table = ForestTable()
    table._collisions[twins()] = 5
    assert not table.update(rng=seeded(1))


def test_twins_of_a_tree_neither_climb_nor_are_shown() -> None:
    first, second = twins()
    tree = TournamentTree(2, {2: first, 3: second}, 2, seeded(1))
    assert not tree._siblings_disagree(2)
    assert not tree._agrees_with_sibling(2)


def random_stream(seed: int) -> list[tuple[Any, int]]:
    generator = seeded(seed).generator()
    rows = generator.integers(2, size=(60, 5)).tolist()
    return [(tuple(point), label) for *point, label in rows]


@pytest.mark.parametrize("base", [Winnow, Halving])
def test_one_example_reaches_one_tree_of_any_base(base: Any) -> None:
    for seed in range(8):
        stream = random_stream(seed)
        x, y = stream[seed]
        check_sensitivity(
            eager(base(CONCEPTS)), stream, changed_round=seed, instead=(x, 1 - y), seed=seed
        )


def counts_of_layers(base: Any, stream: list[tuple[Any, int]], seed: int) -> list[Any]:
    """What pairs agree on in layers 1 to 3; every mistake of the first hypothesis is inserted."""
    coins, start = seeded(seed), base.start()
    forest = ForestArray.of_empty_sequences(start, pairs=64, packed=False)
    for x, y in stream:
        if start.hypothesis(x) != y:
            forest.insert(start.hypothesis, x, y, slots=64, rng=coins)
        else:
            coins.below(64)
    counts = []
    for _ in range(3):
        forest = ForestArray.placed(forest.update(rng=coins), packed=False, rng=coins)
        counts.append(forest.agreeing())
    return counts


@pytest.mark.parametrize("base", [Winnow(CONCEPTS), Halving(CONCEPTS)])
def test_one_example_adds_or_removes_one_agreeing_pair(base: Any) -> None:
    changed = 0
    for seed in range(60):
        stream = random_stream(seed)
        x, y = stream[0]
        worlds = zip(
            counts_of_layers(base, stream, seed),
            counts_of_layers(base, [(x, 1 - y), *stream[1:]], seed),
            strict=True,
        )
        for before, after in worlds:
            assert ((before - after) + (after - before)).total() <= 1
            changed += before != after
    assert changed


@pytest.mark.parametrize("kind", [LazyForest.calibrated, EagerForest, FreshCopies])
def test_a_base_for_other_points_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="base must learn over the domain of concepts"):
        kind(concepts=Points(), base=StandardOptimal(Thresholds(1)), **NUMBERS)


def test_nothing_is_proved_for_another_base() -> None:
    """The theorem's constants and the early release are those of the standard optimal learner."""
    paper = LazyForest.paper(
        concepts=Thresholds(3), failure_probability=0.1, **{**NUMBERS, "rounds": 10**80}
    )
    assert paper.mistake_bound(failure_probability=0.1) < 10**80
    others = [replace(paper, base=Halving(paper.concepts))]
    early = LazyForest.calibrated(concepts=Thresholds(1), **{**NUMBERS, "rounds": 10**6})
    assert early.mistake_bound(failure_probability=0.1) < 10**6
    others.append(replace(early, base=Halving(early.concepts)))
    for other in others:
        assert other.mistake_bound(failure_probability=0.1) == float(other.rounds)


@pytest.mark.parametrize("kind", [EagerForest, FreshCopies])
@pytest.mark.parametrize("n", [99, 2**40, 2**62])
def test_a_forest_with_too_many_trees_does_not_start(kind: Any, n: int) -> None:
    recipe = kind(concepts=Thresholds(n), **NUMBERS)
    with pytest.raises(TooManyTreesError, match="this forest cannot exist"):
        recipe.start(rng=seeded(1))
