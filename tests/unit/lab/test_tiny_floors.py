"""Floors beside the exact value of tiny games are never above it."""

import math
from fractions import Fraction

import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.lab.every_bound import BOUNDS
from littlestone.lab.tiny_games import HOLDS, floors_of
from littlestone.theory.optimum.mistakes import optimal_mistakes

BIT = FiniteClass([[0, 0], [0, 1]])
KEYS = FiniteClass([[0, 0, 0], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("concepts", [BIT, KEYS, Points(2), Thresholds(1), Thresholds(2)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_floor_is_above_the_value(concepts: ConceptClass, epsilon: float, delta: float) -> None:
    for rounds in (1, 2, 3):
        found = optimal_mistakes(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
        floors = floors_of(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
        assert floors
        assert [floor for floor in floors if Fraction(floor.mistakes) > found.high] == []


def test_a_floor_of_another_game_would_be_above() -> None:
    # The negative control: with too many rounds, or too little budget, floors exceed the value.
    found = optimal_mistakes(Thresholds(1), rounds=3, epsilon=3.0)
    longer = floors_of(Thresholds(1), rounds=400, epsilon=0.05, delta=0.0)
    assert longer[0].mistakes > found.high


def test_floors_are_sorted_and_those_that_say_nothing_are_left_out() -> None:
    floors = floors_of(Thresholds(2), rounds=3, epsilon=1.0, delta=0.0)
    assert [floor.mistakes for floor in floors] == sorted(
        (floor.mistakes for floor in floors), reverse=True
    )
    without_privacy = {f.name for f in floors_of(BIT, rounds=2, epsilon=math.inf, delta=0.0)}
    assert without_privacy == {"floors: deterministic", "floors: randomized"}


def test_some_names_are_those_of_the_table() -> None:
    assert HOLDS.keys() & {bound.function.__name__ for bound in BOUNDS}
