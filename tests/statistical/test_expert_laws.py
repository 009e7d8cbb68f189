"""Runs draw experts from the laws that their proofs are about.

A correct run fails with probability at most 1e-9, and so often at most a wrong law is missed
(tests/chance.py).
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.chance import FALSE_FAILURE_PROBABILITY, fewest_successes, fits, is_told_apart
from tests.reference.block_losses import Blocks, OneBetter

from littlestone.learners.experts.dartboard_plan import DartboardPlan, KeepCoin
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.play_experts import play_experts
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.learners.experts.run import ExpertsRun
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelection
from littlestone.randomness import Randomness

pytestmark = pytest.mark.statistical

WRONG_RATE = 1.25

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


def test_draws_between_refreshes(rng: Randomness) -> None:
    scores = Growing([3, 0, 6, 1, 2, 2, 9, 5])
    mechanism = ExponentialMechanism(epsilon=0.5)
    run = IncrementalSelection(mechanism=mechanism, refresh=10**9).start(scores, rng=rng)
    run.draw()  # lays the weights out
    scores.scores += [4, 5, 0, 1, 7, 0, 2, 3]
    run.passed(1)
    drawn = [run.draw() for _ in range(60_000)]
    law = law_of(scores.scores, 0.25)
    assert fits(drawn, law)
    assert is_told_apart(drawn, law_of(scores.scores, 0.25 * WRONG_RATE), actual=law)


def test_the_fourth_expert_of_exponential_weights(rng: Randomness) -> None:
    recipe = ExponentialWeights(experts=3, rounds=5, epsilon=6.0, delta=0.1, spend_all=True)
    played = []
    for _ in range(10_000):
        run = ExpertsRun(recipe, rng)
        for losses in LOSSES:
            run.observe(losses)
        played.append(run.play())
    law = law_of(LOSSES.sum(axis=0), recipe.rate)
    assert fits(played, law)
    wrong = law_of(LOSSES.sum(axis=0), recipe.rate * WRONG_RATE)
    assert is_told_apart(played, wrong, actual=law)


def test_the_last_expert_of_the_dartboard(rng: Randomness) -> None:
    plan = DartboardPlan(rate=1.0, fake=0.2, batch=2, cap=9)
    recipe = ShrinkingDartboard(experts=3, rounds=5, epsilon=60.0, delta=0.1, plan=plan)
    played = []
    for _ in range(10_000):
        run = ExpertsRun(recipe, rng)
        for losses in LOSSES:
            run.observe(losses)
        played.append(run.play())
    law = law_of(LOSSES.sum(axis=0), 1.0)
    assert fits(played, law)
    assert is_told_apart(played, law_of(LOSSES.sum(axis=0), WRONG_RATE), actual=law)


def test_the_coin_that_keeps(rng: Randomness) -> None:
    coin = KeepCoin(fake=Fraction(1, 5), rate=Fraction(1, 7))
    tosses = [int(coin.draw(3, rng)) for _ in range(40_000)]
    keep, wrong = (0.8 * math.exp(-3 * factor / 7) for factor in (1.0, WRONG_RATE))
    law = {0: 1 - keep, 1: keep}
    assert fits(tosses, law)
    assert is_told_apart(tosses, {0: 1 - wrong, 1: wrong}, actual=law)


def test_exponential_weights_stay_within_bound_and_deviation(rng: Randomness) -> None:
    recipe = ExponentialWeights(experts=16, rounds=4000, epsilon=4.0, delta=1e-6)
    hardest = 2 * math.log(16) / (recipe.rate * recipe.rounds)
    limit = recipe.expected_regret_bound() + recipe.deviation_bound(
        failure_probability=FALSE_FAILURE_PROBABILITY / 2
    )
    for gap in (hardest, 0.5):
        played = play_experts(recipe, OneBetter(experts=16, gap=gap), rounds=4000, rng=rng)
        assert played.regret is not None and played.regret <= limit
    # Who draws experts uniformly instead loses so often against the second, whose best loses never.
    assert fewest_successes(4000, 0.5 * 15 / 16) > limit


def test_realizable_experts_stay_within_their_loss(rng: Randomness) -> None:
    recipe = RealizableExperts(
        experts=64,
        rounds=20_000,
        epsilon=4.0,
        delta=1e-6,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert recipe.loss_bound() < 6000
    played = play_experts(recipe, OneBetter(experts=64, gap=0.5), rounds=20_000, rng=rng)
    assert played.fewest_mistakes == 0
    assert played.mistakes <= recipe.loss_bound()
    # Who keeps any other expert loses half of all rounds.
    assert fewest_successes(20_000, 0.5) > recipe.loss_bound()


def test_nobody_who_plays_in_batches_beats_blocks_of_that_length(rng: Randomness) -> None:
    # Proposition 1 of lazy_switching.md: the mean regret is at least 0.39 √(TB) = 85. Each block is
    # lost by a fair coin, whatever is played; so the laws of what is lost in all runs, and of what
    # the better experts of all runs lose, are exact.
    length, rounds, runs = 40, 1200, 400
    blocks = rounds // length
    better = np.zeros(blocks // 2 + 1)
    for lost in range(blocks + 1):
        better[min(lost, blocks - lost)] += stats.binom.pmf(lost, blocks, 0.5)
    law = np.ones(1)
    for _ in range(runs):
        law = np.convolve(law, better)
    most = int(np.flatnonzero(np.cumsum(law[::-1])[::-1] >= FALSE_FAILURE_PROBABILITY / 2)[-1])
    least = (fewest_successes(runs * blocks, 0.5) - most) * length / runs
    assert least >= 0.39 / 4 * math.sqrt(rounds * length)
    plan = DartboardPlan(rate=0.01, fake=0.5, batch=length, cap=30)
    batched = ShrinkingDartboard(experts=2, rounds=rounds, epsilon=4.0, delta=1e-6, plan=plan)
    games = (
        play_experts(batched, Blocks(length=length), rounds=rounds, rng=child)
        for child in rng.spawn(runs)
    )
    regrets = [game.regret for game in games if game.regret is not None]
    assert len(regrets) == runs
    assert np.mean(regrets) >= least
    # Who knows each block's coin has no regret at all, or less.
    assert least > 0
