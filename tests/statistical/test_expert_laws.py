"""Runs draw experts from the laws that their proofs are about.

A p-value below 1e-10 has probability 1e-10 up to the error of the χ² approximation, for which the
factor of ten to the stated 1e-9 leaves room.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from tests.reference.block_losses import Blocks

from littlestone.experts.dartboard_plan import DartboardPlan
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.keep_coin import KeepCoin
from littlestone.experts.loss_sequences import OneBetter
from littlestone.experts.play_experts import play_experts
from littlestone.experts.realizable_experts import RealizableExperts
from littlestone.experts.run import ExpertsRun
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.incremental_selection import IncrementalSelection
from littlestone.randomness import Randomness

pytestmark = pytest.mark.statistical

FALSE_FAILURE_PROBABILITY = 1e-9
LOWEST_P_VALUE = FALSE_FAILURE_PROBABILITY / 10
Fit = Callable[[Iterable[int], Mapping[int, float]], float]
right_or_wrong = pytest.mark.parametrize("factor", [1.0, 1.25], ids=["right", "wrong"])

LOSSES = np.array([[0, 1, 1], [0, 0, 1], [1, 0, 1], [0, 1, 0]], dtype=np.uint8)


class Growing:
    """Scores that rise by a fixed step each time they are told to."""

    def __init__(self, scores: list[int]) -> None:
        self.scores = np.array(scores, dtype=np.int64)

    def as_array(self) -> np.ndarray:
        return self.scores.copy()

    def of(self, element: int, /) -> int:
        return int(self.scores[element])


def law_of(totals: np.ndarray, rate: float) -> dict[int, float]:
    each = np.exp(-rate * (totals - totals.min()))
    return dict(enumerate((each / each.sum()).tolist()))


@right_or_wrong
def test_draws_between_refreshes(rng: Randomness, fit: Fit, factor: float) -> None:
    scores = Growing([3, 0, 6, 1, 2, 2, 9, 5])
    mechanism = ExponentialMechanism(epsilon=0.5)
    run = IncrementalSelection(mechanism=mechanism, refresh=10**9).start(scores, rng=rng)
    run.draw()  # lays the weights out
    scores.scores += [4, 5, 0, 1, 7, 0, 2, 3]
    run.passed(1)
    drawn = [run.draw() for _ in range(60_000)]
    p_value = fit(drawn, law_of(scores.scores, 0.25 * factor))
    assert (p_value >= LOWEST_P_VALUE) == (factor == 1.0)


@right_or_wrong
def test_the_fourth_expert_of_exponential_weights(rng: Randomness, fit: Fit, factor: float) -> None:
    recipe = ExponentialWeights(experts=3, rounds=5, epsilon=6.0, delta=0.1, spend_all=True)
    played = []
    for _ in range(10_000):
        run = ExpertsRun(recipe, rng)
        for losses in LOSSES:
            run.observe(losses)
        played.append(run.play())
    wanted = law_of(LOSSES.sum(axis=0), recipe.rate * factor)
    assert (fit(played, wanted) >= LOWEST_P_VALUE) == (factor == 1.0)


@right_or_wrong
def test_the_last_expert_of_the_dartboard(rng: Randomness, fit: Fit, factor: float) -> None:
    plan = DartboardPlan(rate=1.0, fake=0.2, batch=2, cap=9)
    recipe = ShrinkingDartboard(experts=3, rounds=5, epsilon=60.0, delta=0.1, plan=plan)
    played = []
    for _ in range(10_000):
        run = ExpertsRun(recipe, rng)
        for losses in LOSSES:
            run.observe(losses)
        played.append(run.play())
    wanted = law_of(LOSSES.sum(axis=0), factor)
    assert (fit(played, wanted) >= LOWEST_P_VALUE) == (factor == 1.0)


@right_or_wrong
def test_the_coin_that_keeps(rng: Randomness, fit: Fit, factor: float) -> None:
    coin = KeepCoin(fake=Fraction(1, 5), rate=Fraction(1, 7))
    tosses = [int(coin.draw(3, rng)) for _ in range(40_000)]
    keep = 0.8 * math.exp(-3 * factor / 7)
    assert (fit(tosses, {0: 1 - keep, 1: keep}) >= LOWEST_P_VALUE) == (factor == 1.0)


def test_exponential_weights_stay_within_bound_and_deviation(rng: Randomness) -> None:
    recipe = ExponentialWeights(experts=16, rounds=4000, epsilon=4.0, delta=1e-6)
    gap = 2 * math.log(16) / (recipe.rate * recipe.rounds)
    played = play_experts(recipe, OneBetter(experts=16, gap=gap), rounds=4000, rng=rng)
    limit = recipe.expected_regret_bound() + recipe.deviation_bound(
        failure_probability=FALSE_FAILURE_PROBABILITY
    )
    assert played.regret is not None and played.regret <= limit
    # Whoever does not learn exceeds it: expert 1 has 4000 · gap mistakes more than expert 0.
    assert 4000 * gap > recipe.expected_regret_bound()


def test_realizable_experts_stay_within_their_loss(rng: Randomness) -> None:
    recipe = RealizableExperts(
        experts=64, rounds=20_000, epsilon=4.0, delta=1e-6, failure_probability=1e-9
    )
    assert recipe.loss_bound() < 6000
    played = play_experts(recipe, OneBetter(experts=64, gap=0.5), rounds=20_000, rng=rng)
    assert played.fewest_mistakes == 0
    assert played.mistakes <= recipe.loss_bound()
    # Whoever keeps a random expert loses half of all rounds, unless it was the good one.
    assert 20_000 / 2 - 6 * math.sqrt(20_000) > recipe.loss_bound()


def test_nobody_who_plays_in_batches_beats_blocks_of_that_length(rng: Randomness) -> None:
    # Proposition 1 of lazy_switching.md: the mean regret is at least 0.39 √(TB) = 85. One run has
    # a standard deviation below 140, so 400 runs fall short of a quarter of it with probability
    # below 1e-15.
    length, rounds, runs = 40, 1200, 400
    plan = DartboardPlan(rate=0.01, fake=0.5, batch=length, cap=30)
    batched = ShrinkingDartboard(experts=2, rounds=rounds, epsilon=4.0, delta=1e-6, plan=plan)
    games = (
        play_experts(batched, Blocks(length=length), rounds=rounds, rng=child)
        for child in rng.spawn(runs)
    )
    regrets = [game.regret for game in games if game.regret is not None]
    assert len(regrets) == runs
    assert np.std(regrets) < 140
    assert np.mean(regrets) >= 0.39 / 4 * math.sqrt(rounds * length)
