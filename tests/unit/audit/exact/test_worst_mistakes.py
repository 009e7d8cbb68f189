"""What running learners lose against the best adversary, and that no private one is too good."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.audit.exact.worst_mistakes import worst_mistakes
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.theory.optimum.mistakes import optimal_mistakes

NARROW = Fraction(1, 10**6)


@dataclass(frozen=True)
class CoinLearner:
    """Publishes 0 or 1 everywhere, by a coin of three sides (0, 0, 1), afresh in each round."""

    concepts: ConceptClass

    def start(self, *, rng: Any) -> "CoinRun":
        return CoinRun(rng)


class CoinRun:
    def __init__(self, rng: Any) -> None:
        self._rng = rng
        self.observe(0, 0)

    def observe(self, x: Any, y: int) -> None:
        label = int(self._rng.below(3) == 2)
        self.hypothesis = TableHypothesis(np.full(1, label, dtype=np.uint8).tobytes())


def test_coins_are_followed() -> None:
    # Round 1 is always a mistake and settles the concept, 1 - h_1; then h_2 = h_1 is another one,
    # with probability 4/9 + 1/9. Agreeing in round 1 costs the adversary more than it brings.
    found = worst_mistakes(CoinLearner(Thresholds(1)), rounds=2)
    assert found.low <= 1 + Fraction(5, 9) <= found.high
    assert found.high - found.low < NARROW


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_deterministic_learner_loses_the_littlestone_dimension(rounds: int) -> None:
    concepts = Thresholds(3)
    found = worst_mistakes(StandardOptimal(concepts), rounds=rounds)
    assert found.low <= min(rounds, concepts.littlestone_dimension) <= found.high
    assert found.high - found.low < NARROW


@pytest.mark.parametrize("concepts", [Thresholds(1), Points(2)])
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_no_private_learner_is_better_than_the_best(concepts: Any, epsilon: float) -> None:
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": 0.01}
    best = optimal_mistakes(concepts, rounds=3, **budget)
    for kind in (AgnosticFinite, NaiveRecomposition):
        recipe = kind(concepts=concepts, rounds=3, **budget)
        found = worst_mistakes(recipe, rounds=3)
        assert found.low <= found.high
        assert found.high >= best.low, recipe


def test_a_learner_that_is_not_private_is_better() -> None:
    # The negative control of the test above.
    best = optimal_mistakes(Points(2), rounds=3, epsilon=1.0, delta=0.01)
    assert worst_mistakes(StandardOptimal(Points(2)), rounds=3).high < best.low


def test_too_many_coins_are_refused() -> None:
    learner = PrivateMajority(concepts=Thresholds(3), rounds=3, epsilon=1.0, delta=0.0)
    with pytest.raises(LittlestoneError, match="runs"):
        worst_mistakes(learner, rounds=3, most=10)
