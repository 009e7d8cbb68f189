"""The selection mechanisms draw from the laws that are proved about them.

A correct sampler fails with probability at most 1e-9, and so often at most a wrong law is missed
(tests/chance.py).
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.chance import fits, is_told_apart

from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.randomness import Randomness

pytestmark = pytest.mark.statistical

Law = dict[int, float]

EPSILON, STEEPER = 0.5, 1.2
MECHANISM = ExponentialMechanism(epsilon=EPSILON)
FEW = np.array([3, 0, 1, 7, 2, 2, 30, 5])
MANY = np.arange(20_000) % 10 + np.arange(20_000) // 4000  # three blocks
DRAWS = 100_000


def law_by_score(scores: NDArray[np.int64], rate: float) -> Law:
    values, counts = np.unique(scores, return_counts=True)
    weights = counts * np.exp(-rate * (values - values.min()))
    return dict(zip(values.tolist(), (weights / weights.sum()).tolist(), strict=True))


def law_by_position(scores: NDArray[np.int64], rate: float) -> Law:
    weights = np.exp(-rate * (scores - scores.min()))
    return dict(enumerate((weights / weights.sum()).tolist()))


def test_few_elements(rng: Randomness) -> None:
    drawn = MECHANISM.draw(FEW, rng=rng, count=DRAWS)
    law = law_by_position(FEW, EPSILON / 2)
    assert fits(drawn, law)
    assert is_told_apart(drawn, law_by_position(FEW, EPSILON / 2 * STEEPER), actual=law)


def test_many_elements(rng: Randomness) -> None:
    drawn = MECHANISM.draw(MANY, rng=rng, count=DRAWS)
    law = law_by_score(MANY, EPSILON / 2)
    assert fits(MANY[drawn], law)
    assert is_told_apart(MANY[drawn], law_by_score(MANY, EPSILON / 2 * STEEPER), actual=law)
    # Within a score the position is uniform: its rank among the equals, in twenty cells.
    score = 3
    equals = np.flatnonzero(score == MANY)
    ranks = np.searchsorted(equals, [i for i in drawn if MANY[i] == score])
    cells = dict.fromkeys(range(20), 0.05)
    assert len(equals) % 20 == 0 and fits(ranks * 20 // len(equals), cells)


def test_runs_of_equal_scores(rng: Randomness) -> None:
    lengths = [4, 1, 2, 8, 3, 1, 100, 2]
    written_out = np.repeat(FEW, lengths)
    drawn = MECHANISM.draw(FEW, multiplicities=lengths, rng=rng, count=DRAWS)
    law = law_by_position(written_out, EPSILON / 2)
    assert fits(drawn, law)
    assert is_told_apart(drawn, law_by_position(written_out, EPSILON / 2 * STEEPER), actual=law)


def permute_and_flip_law(scores: NDArray[np.int64], rate: float) -> Law:
    """p_r times the integral of the product of 1 - u p_j, by the polynomial's coefficients."""
    coins = np.exp(-rate * (scores - scores.min()))
    law = {}
    for r in range(len(scores)):
        polynomial = np.polynomial.Polynomial([1.0])
        for j in range(len(scores)):
            if j != r:
                polynomial *= np.polynomial.Polynomial([1.0, -coins[j]])
        law[r] = float(coins[r] * (polynomial.integ()(1.0) - polynomial.integ()(0.0)))
    assert sum(law.values()) == pytest.approx(1)
    return law


def test_permute_and_flip(rng: Randomness) -> None:
    mechanism = PermuteAndFlip(epsilon=EPSILON)
    drawn = [mechanism.draw(FEW, rng=rng) for _ in range(60_000)]
    law = permute_and_flip_law(FEW, EPSILON / 2)
    assert fits(drawn, law)
    assert is_told_apart(drawn, permute_and_flip_law(FEW, EPSILON / 2 * STEEPER), actual=law)
    # Nor is it the exponential mechanism.
    assert is_told_apart(drawn, law_by_position(FEW, EPSILON / 2), actual=law)
