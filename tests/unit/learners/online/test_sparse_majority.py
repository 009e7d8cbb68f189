"""The sparse-majority learner as a value, and its refusals."""

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.online.sparse_majority import (
    SparseMajority,
    best_rate,
    mistakes_per_dimension_upper_bound,
)
from littlestone.learners.online.sparse_majority_positions import (
    PARTS,
    Leaf,
    OneClassGame,
    Split,
    choose_jury,
    jury_size_upper_bound,
)

SINGLETONS = FiniteClass(np.eye(5, dtype=int))
LEARNERS = [
    SparseMajority(SINGLETONS),
    SparseMajority(Thresholds(2**40)),
    SparseMajority(Points()),
    SparseMajority(Intervals(6)),
    SparseMajority(Conjunctions(3)),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner.concepts))
def test_states_are_values(learner: SparseMajority) -> None:
    x = next(iter(learner.concepts.domain))
    for state in (learner.start(), learner.start().after(x, 1)):
        again = pickle.loads(pickle.dumps(state))
        assert again == state and hash(again) == hash(state)
        assert again.hypothesis == state.hypothesis


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner.concepts))
def test_contradictions_leave_a_predictor(learner: SparseMajority) -> None:
    state = learner.start()
    points = [x for x, _ in zip(learner.concepts.domain, range(4), strict=False)]
    for x in points * 20:
        state = state.after(x, 1 - state.hypothesis(x))
    assert state.exhausted and not state.failed
    assert state.hypothesis == learner.start().hypothesis
    assert state.after(points[0], 1) is state


@pytest.mark.parametrize("label", [2, -1, 0.5, None])
def test_bad_labels_and_points_are_refused(label: Any) -> None:
    state = LEARNERS[0].start()
    with pytest.raises(ValueError, match="label"):
        state.after(0, label)
    with pytest.raises(ValueError, match="x must"):
        state.after(77, 1)


@pytest.mark.parametrize("margin", [0.0, -1.0, 0.4, 1 / 65, float("nan")])
def test_bad_margins_are_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        SparseMajority(SINGLETONS, margin=margin)


def test_classes_that_fit_in_no_table_are_refused() -> None:
    with pytest.raises(ValueError, match="concepts must be"):
        SparseMajority(Intervals(2**30))


@pytest.mark.parametrize(
    ("margin", "factor"),
    [("0.05", 5.29), ("0.08", 5.94), ("0.1", 6.45), ("0.125", 7.16), ("0.15", 8.0), ("0.2", 10.2)],
)
def test_the_documented_constants(margin: str, factor: float) -> None:
    assert best_rate(Fraction(margin))[1] == pytest.approx(factor, rel=0.01)


def test_a_margin_that_leaves_nothing_has_no_constant() -> None:
    assert mistakes_per_dimension_upper_bound(margin=Fraction(1, 2), rare=Fraction(1, 8)) is None


def test_many_singletons_are_a_leaf_and_few_are_split() -> None:
    for points in (5, 12):
        game = OneClassGame(FiniteClass(np.eye(points, dtype=int)), Fraction(1, 8))
        solved = game.solve((1 << points) - 1)
        if points < 8:
            assert isinstance(solved, Split)
            assert sorted(child for child, _ in solved.children) == [1 << i for i in range(points)]
            assert sum(share for _, share in solved.children) == PARTS
        else:
            assert isinstance(solved, Leaf)
            assert len(solved.concepts) == points
            assert sum(share for _, share in solved.concepts) == PARTS


def is_faithful(
    jury: list[int], shares: dict[int, int], labels: np.ndarray, margin: Fraction
) -> bool:
    """Whether the majority agrees with every label that has more than 1/2 + margin."""
    enough = (Fraction(1, 2) + margin) * sum(shares.values())
    for point, label in itertools.product(range(labels.shape[1]), (0, 1)):
        weight = sum(share for row, share in shares.items() if labels[row, point] == label)
        votes = sum(labels[member, point] == label for member in jury)
        if weight > enough and 2 * votes <= len(jury):
            return False
    return True


def test_a_jury_never_needs_more_than_its_bound(rng: Any) -> None:
    generator = rng.generator()
    for margin in (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4)):
        labels = generator.integers(2, size=(15, 30), dtype=np.uint8)
        shares = {row: int(generator.integers(1, 1000)) for row in range(15)}
        jury = choose_jury(shares, labels, margin=margin)
        assert len(jury) <= jury_size_upper_bound(points=30, margin=margin)
        assert is_faithful(jury, shares, labels, margin)


def test_an_unfaithful_jury_is_noticed() -> None:
    labels = np.array([[0, 1], [1, 0], [0, 0]], dtype=np.uint8)
    shares = {0: 1, 1: 1, 2: 8}
    assert is_faithful([2], shares, labels, Fraction(1, 8))
    assert not is_faithful([0], shares, labels, Fraction(1, 8))
    assert choose_jury(shares, labels, margin=Fraction(1, 8)) == [2]
