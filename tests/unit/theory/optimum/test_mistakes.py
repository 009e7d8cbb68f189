"""The value of tiny games: against a plain programme, against theory, and played."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reference.plain_game import PlainGame

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import LittlestoneError
from littlestone.theory.optimum.mistakes import Optimum, exp_bracket, optimal_mistakes
from littlestone.theory.optimum.programme import Programme
from littlestone.theory.optimum.rounding import certified
from littlestone.theory.optimum.symmetry import TinyClass
from littlestone.theory.optimum.tree import GameTree

ONE_BIT = [[0], [1]]
SILENT_BIT = [[0, 0], [0, 1]]
TWO_KEYS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
CHAIN = [[0, 0], [0, 1], [1, 1]]
SQUARE = list(product((0, 1), repeat=2))

SAME = 1e-7
"""How far two solvers in floats may be apart."""


def plain(matrix: object, rounds: int, epsilon: float, delta: float) -> float:
    return PlainGame(matrix, rounds).value(math.exp(epsilon), delta)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("matrix", "rounds", "epsilon", "delta"),
    [
        (ONE_BIT, 4, 1.0, 0.0),
        (ONE_BIT, 4, 0.5, 0.05),
        (ONE_BIT, 3, 0.0, 0.0),
        (ONE_BIT, 3, 0.0, 0.1),
        (SILENT_BIT, 2, 1.0, 0.0),
        (SILENT_BIT, 2, 0.3, 0.02),
        (CHAIN, 2, 1.0, 0.0),
        (CHAIN, 2, 0.5, 0.05),
        (SQUARE, 2, 0.5, 0.05),
        (TWO_KEYS, 2, 1.0, 0.01),
        ([[0, 1, 0], [0, 1, 1]], 2, 0.7, 0.03),  # constant columns
        ([[0, 1], [1, 0]], 3, 0.7, 0.03),  # columns that repeat one another
    ],
)
def test_all_histories_give_the_same_value(
    matrix: list[list[int]], rounds: int, epsilon: float, delta: float
) -> None:
    found = optimal_mistakes(matrix, rounds=rounds, epsilon=epsilon, delta=delta)
    assert found.width < SAME
    assert abs(found.value - plain(matrix, rounds, epsilon, delta)) < SAME


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [SILENT_BIT, CHAIN, SQUARE])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.4, 0.05)])
def test_all_histories_of_three_rounds_give_the_same_value(
    matrix: list[list[int]], epsilon: float, delta: float
) -> None:
    found = optimal_mistakes(matrix, rounds=3, epsilon=epsilon, delta=delta)
    assert abs(found.value - plain(matrix, 3, epsilon, delta)) < SAME


def test_a_programme_that_forgets_some_neighbours_has_another_value() -> None:
    # What the comparison above would catch: histories that differ in the first round are left out.
    tree = GameTree(TinyClass.from_matrix(np.array(ONE_BIT)), 4)
    first = set()
    for number, split in enumerate(tree.splits):
        level = tree.published[split.node].level if split.node >= 0 else 0
        if level == 1 or (level == 0 and tree.pairs[split.before].split in first):
            first.add(number)
    tree.pairs = [replace(pair, last=pair.last and pair.split not in first) for pair in tree.pairs]
    proposal = Programme(tree, math.e, 0.0).solve()
    broken = certified(tree, proposal, proposal, factor=None, delta=Fraction(0))
    assert broken.interval(tree)[1] < plain(ONE_BIT, 4, 1.0, 0.0) - 0.01


@pytest.mark.parametrize(
    ("matrix", "rounds", "epsilon", "delta"),
    [
        (ONE_BIT, 4, 1.0, 0.0),
        (ONE_BIT, 3, 0.3, 0.04),
        (ONE_BIT, 3, 0.0, 0.0),
        (SILENT_BIT, 3, 1.0, 0.01),
        (CHAIN, 2, 0.5, 0.05),
        (SQUARE, 2, 1.0, 0.0),
    ],
)
def test_the_learner_is_private_and_errs_as_often_as_promised(
    matrix: list[list[int]], rounds: int, epsilon: float, delta: float
) -> None:
    # In fractions, on the game with all examples and without symmetries.
    found = optimal_mistakes(matrix, rounds=rounds, epsilon=epsilon, delta=delta)
    game = PlainGame(matrix, rounds)
    low = exp_bracket(Fraction(epsilon))[0]
    assert game.mistakes(found.law) == found.high
    assert game.attack(found.law, low) <= Fraction(delta)
    # The promise is not met with room to spare: a smaller epsilon would be broken.
    if epsilon:
        assert game.attack(found.law, low * Fraction(9, 10)) > Fraction(delta)


def bounds(found: Optimum) -> tuple[Fraction, Fraction]:
    return found.low, found.high


@pytest.mark.parametrize("matrix", [ONE_BIT, SILENT_BIT, CHAIN, SQUARE, TWO_KEYS])
def test_without_privacy_the_value_is_the_littlestone_dimension(matrix: list[list[int]]) -> None:
    dimension = FiniteClass(matrix).littlestone_dimension
    for rounds in (1, 2, 3):
        found = optimal_mistakes(matrix, rounds=rounds, epsilon=math.inf)
        assert bounds(found) == (Fraction(min(rounds, dimension)),) * 2


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5])
def test_a_learner_that_sees_nothing_is_wrong_about_one_bit_half_of_the_time(rounds: int) -> None:
    # Of two concepts, each hypothesis fits one: mistakes on both add up to T; round 1 costs one.
    found = optimal_mistakes(ONE_BIT, rounds=rounds, epsilon=0.0)
    assert bounds(found) == (Fraction(max(2, rounds), 2),) * 2


def test_one_concept_costs_nothing() -> None:
    assert bounds(optimal_mistakes([[0, 1, 1]], rounds=3, epsilon=0.1)) == (Fraction(0),) * 2


def test_a_large_epsilon_is_nearly_none() -> None:
    found = optimal_mistakes(SILENT_BIT, rounds=4, epsilon=20.0)
    assert found.low == 1 < found.high < 1 + 1e-5


def test_classes_and_matrices_mean_the_same() -> None:
    of_class = optimal_mistakes(Thresholds(2), rounds=2, epsilon=1.0)
    of_matrix = optimal_mistakes(FiniteClass.from_class(Thresholds(2)).matrix, rounds=2, epsilon=1)
    assert bounds(of_class) == bounds(of_matrix)


def test_points_are_refused_if_they_have_no_end() -> None:
    with pytest.raises(ValueError, match="finitely many"):
        optimal_mistakes(Points(), rounds=2, epsilon=1.0)


def test_games_that_are_too_large_are_refused() -> None:
    with pytest.raises(LittlestoneError, match="fewer rounds"):
        optimal_mistakes(Thresholds(3), rounds=4, epsilon=1.0, most=1000)
    with pytest.raises(ValueError, match="at most 8"):
        optimal_mistakes(Thresholds(9), rounds=2, epsilon=1.0)


@pytest.mark.parametrize("wrong", [-0.1, math.nan])
def test_a_wrong_epsilon_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        optimal_mistakes(ONE_BIT, rounds=2, epsilon=wrong)


@pytest.mark.parametrize("wrong", [[[0, 2]], [0, 1], [[]]])
def test_what_is_no_class_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="concepts"):
        optimal_mistakes(wrong, rounds=2, epsilon=1.0)


def test_the_table_is_the_learner() -> None:
    found = optimal_mistakes(SILENT_BIT, rounds=3, epsilon=1.0)
    rows = list(found.table())
    assert all(math.isclose(sum(row.law.values()), 1.0) for row in rows)
    first = next(row for row in rows if not row.history)
    assert first.law == {labels: float(p) for labels, p in found.law().items() if p}
    for row in rows:
        history = tuple((h, (0, 0) if x is None else (x, y)) for h, x, y in row.history)
        law = found.law(history)  # type: ignore[arg-type]
        assert row.law == {labels: float(p) for labels, p in law.items() if p}


def test_histories_that_cannot_be_are_refused() -> None:
    found = optimal_mistakes(SILENT_BIT, rounds=2, epsilon=1.0)
    with pytest.raises(ValueError, match="never publishes"):
        found.law([((1, 0), (1, 1))])


MATRICES = st.integers(1, 3).flatmap(
    lambda points: st.lists(
        st.tuples(*[st.integers(0, 1)] * points), min_size=2, max_size=5, unique=True
    )
)
BUDGETS = st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), st.sampled_from([0.0, 0.01, 0.2]))


@settings(max_examples=15, deadline=None)
@given(matrix=MATRICES, one=BUDGETS, other=BUDGETS)
def test_more_budget_never_costs_more(
    matrix: list[tuple[int, ...]], one: tuple[float, float], other: tuple[float, float]
) -> None:
    less, more = (tuple(map(pick, zip(one, other, strict=True))) for pick in (min, max))
    tight = optimal_mistakes(matrix, rounds=2, epsilon=less[0], delta=less[1])
    loose = optimal_mistakes(matrix, rounds=2, epsilon=more[0], delta=more[1])
    assert loose.low <= tight.high


@settings(max_examples=15, deadline=None)
@given(matrix=MATRICES, budget=BUDGETS, data=st.data())
def test_fewer_concepts_and_fewer_rounds_never_cost_more(
    matrix: list[tuple[int, ...]], budget: tuple[float, float], data: st.DataObject
) -> None:
    epsilon, delta = budget
    part = data.draw(st.lists(st.sampled_from(matrix), min_size=1, unique=True))
    whole = optimal_mistakes(matrix, rounds=2, epsilon=epsilon, delta=delta)
    assert optimal_mistakes(part, rounds=2, epsilon=epsilon, delta=delta).low <= whole.high
    assert optimal_mistakes(matrix, rounds=1, epsilon=epsilon, delta=delta).low <= whole.high


@settings(max_examples=15, deadline=None)
@given(matrix=MATRICES, budget=BUDGETS, data=st.data())
def test_renaming_points_and_labels_changes_nothing(
    matrix: list[tuple[int, ...]], budget: tuple[float, float], data: st.DataObject
) -> None:
    array = np.array(matrix)
    order = data.draw(st.permutations(range(array.shape[1])))
    flips = np.array(data.draw(st.tuples(*[st.integers(0, 1)] * array.shape[1])))
    epsilon, delta = budget
    assume(len(array) > 1)
    one = optimal_mistakes(array, rounds=2, epsilon=epsilon, delta=delta)
    other = optimal_mistakes(array[:, order] ^ flips, rounds=2, epsilon=epsilon, delta=delta)
    assert one.low <= other.high and other.low <= one.high


def test_e_is_enclosed() -> None:
    for x in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(14)):
        low, high = exp_bracket(x)
        assert low <= Fraction(math.exp(x)) * (1 + Fraction(1, 10**15))
        assert high >= Fraction(math.exp(x)) * (1 - Fraction(1, 10**15))
        assert (low == high) is (x == 0)
