"""The bound of fresh evidence: above the plain game, near it, quick, and useful."""

from typing import Any

import numpy as np
import pytest
from tests.reference import majority_game

from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.witness_systems import witnesses_for
from littlestone.learners.private_majority import bound
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_majority.recipe import PrivateMajority

CASES: dict[str, tuple[ConceptClass, FreshPlan]] = {
    "thresholds": (
        Thresholds(6),
        FreshPlan(threshold_epsilon=1.5, threshold=6, selection_rate=1.0),
    ),
    "points": (Points(20), FreshPlan(threshold_epsilon=1.0, threshold=9, selection_rate=1.0)),
    "sparse sets": (
        SparseSets(4, 9),
        FreshPlan(threshold_epsilon=2.0, threshold=7, selection_rate=2.0),
    ),
    "blocks": (Thresholds(1), FreshPlan(threshold_epsilon=0.25, threshold=30, selection_rate=0.4)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_tables_are_above_the_plain_game_and_near_it(case: str) -> None:
    concepts, plan = CASES[case]
    levels, witnesses = concepts.littlestone_dimension, witnesses_for(concepts)
    assert witnesses is not None
    one_epoch = levels * (plan.threshold + 1 / plan.threshold_epsilon)
    moments = np.array([0.2, 1.0, 0.2, 1.0, 3.0]) / one_epoch
    prices = np.array([0.3, 0.3, 1.0, 1.0, 3.0]) * one_epoch / 200
    found = bound.game_value(plan, witnesses, levels, moments, prices)
    settled = 0
    for moment, price, value in zip(moments, prices, found, strict=True):
        plain = majority_game.game_value(plan, witnesses, levels, moment=moment, price=price)
        assert value >= plain
        settled += bool(np.log(value) <= 1.35 * np.log(plain) + 0.02)
    assert settled >= 3


@pytest.mark.parametrize("log_size", [10, 20, 30, 40])
def test_it_is_useful_for_large_classes(log_size: int) -> None:
    recipe = PrivateMajority(concepts=Thresholds(2**log_size), rounds=10**6, epsilon=1.0)
    assert isinstance(recipe.planned, FreshPlan)
    one_phase = recipe.planned.threshold + 1 / recipe.planned.threshold_epsilon
    assert recipe.mistake_bound(failure_probability=0.05) < 5 * log_size * one_phase
    assert recipe.expected_mistake_bound() < 1.5 * log_size * one_phase


@pytest.mark.parametrize("concepts", [Thresholds(16), Points(1024), SparseSets(3, 40)], ids=repr)
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 100.0])
def test_tiny_and_huge_budgets_have_a_bound(concepts: ConceptClass, epsilon: float) -> None:
    def bounds(rounds: int) -> Any:
        recipe = PrivateMajority(concepts=concepts, rounds=rounds, epsilon=epsilon)
        return recipe.expected_mistake_bound(), recipe.mistake_bound(failure_probability=0.05)

    for rounds in (2, 10**12):
        mean, likely = bounds(rounds)
        assert 0 < mean <= likely <= rounds
    assert likely < 10**12  # there, something is proved for each of these
