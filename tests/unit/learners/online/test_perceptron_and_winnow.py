"""The perceptron and Winnow keep their bounds exactly, and fail only beyond them."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.hypotheses.linear import LinearHypothesis
from littlestone.learners.online.linear import Perceptron, Winnow


def axis(number: int, dimension: int) -> tuple[int, ...]:
    return tuple(int(i == number) for i in range(dimension))


def test_orthogonal_points_force_the_perceptron_to_its_bound() -> None:
    learner = Perceptron(MarginHalfspaces(20, 0.25))
    state = learner.start()
    seen = learner.concepts.version_space()
    for number in range(learner.mistake_bound):
        assert state.hypothesis(axis(number, 20)) == 0
        state = state.after(axis(number, 20), 1)
        seen = seen.restrict(axis(number, 20), 1)
    assert not seen.is_empty and not state.failed
    assert state.mistakes == learner.mistake_bound == 16
    beyond = state.after(axis(17, 20), 1)
    assert beyond.failed and beyond.after(axis(0, 20), 0).failed
    with pytest.raises(ValueError, match="no halfspace with the margin"):
        _ = beyond.hypothesis


def test_the_perceptron_stays_within_its_bound_on_random_streams() -> None:
    generator = np.random.default_rng(7)
    learner = Perceptron(MarginHalfspaces(3, 0.2))
    target = np.array([0.48, 0.6, 0.64])
    state = learner.start()
    for x in learner.concepts.domain.sample(2000, generator):
        side = float(np.dot(target, x[:-1])) / x[-1]
        if abs(side) > 0.201:
            state = state.after(x, int(side > 0))
    assert not state.failed


def test_the_perceptron_adds_fractions_exactly() -> None:
    learner = Perceptron(MarginHalfspaces(2, 0.1))
    state = learner.start().after((1, 1, 3), 1).after((1, -4, 5), 1)
    assert state.numerators == (8, -7) and state.denominator == 15
    assert state.hypothesis == LinearHypothesis((8, -7))
    assert state.after((0.5, 0.5), 1) is state and state.after((0.5, 0.5), 0) != state


def play_worst(learner: Winnow, target: Any) -> int:
    """The longest sequence of mistakes that always plays the point with most features."""
    state, mistakes = learner.start(), 0
    points = sorted(product((0, 1), repeat=learner.concepts.n), key=sum)
    while True:
        wrong = [x for x in points if state.hypothesis(x) != target(x)]
        if not wrong:
            return mistakes
        state = state.after(wrong[mistakes % len(wrong)], target(wrong[mistakes % len(wrong)]))
        mistakes += 1


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 1), (5, 2), (6, 1), (6, 6)])
def test_winnow_stays_within_its_bound(n: int, k: int) -> None:
    learner = Winnow(MonotoneDisjunctions(k, n))
    mistakes = [play_worst(learner, target) for target in learner.concepts.concepts()]
    assert 0 < max(mistakes) <= learner.mistake_bound


@settings(max_examples=20)
@given(st.data())
def test_winnow_finds_few_features_among_many(data: st.DataObject) -> None:
    learner = Winnow(MonotoneDisjunctions(2, 200))
    assert learner.mistake_bound == 25
    relevant = data.draw(st.sets(st.integers(0, 199), min_size=1, max_size=2))
    state = learner.start()
    for _ in range(40):
        present = data.draw(st.sets(st.integers(0, 199), max_size=30))
        x = tuple(int(i in present) for i in range(200))
        before, y = state, int(bool(present & relevant))
        state = state.after(x, y)
        assert (state is before) == (before.hypothesis(x) == y)
    assert not state.failed


def test_winnow_fails_once_no_disjunction_can_fit() -> None:
    state = Winnow(MonotoneDisjunctions(1, 2)).start()
    for _ in range(10):
        x = (1, 1)
        state = state.after(x, 1 - state.hypothesis(x)) if not state.failed else state
    assert state.failed
    with pytest.raises(ValueError, match="no disjunction"):
        _ = state.hypothesis
