"""The selection mechanisms draw from the laws that are proved about them.

The p-value of a correct sampler is below 1e-10 with probability 1e-10 up to the error of the χ²
approximation, for which the factor of ten to the stated 1e-9 leaves room.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.randomness import Randomness

pytestmark = pytest.mark.statistical

FALSE_FAILURE_PROBABILITY = 1e-9
LOWEST_P_VALUE = FALSE_FAILURE_PROBABILITY / 10
Law = dict[int, float]
Fit = Callable[[Iterable[int], Mapping[int, float]], float]

EPSILON = 0.5
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


@pytest.mark.parametrize("steeper", [1.0, 1.2], ids=["right", "wrong"])
def test_few_elements(rng: Randomness, fit: Fit, steeper: float) -> None:
    drawn = MECHANISM.draw(FEW, rng=rng, count=DRAWS)
    p_value = fit(drawn, law_by_position(FEW, EPSILON / 2 * steeper))
    assert (p_value >= LOWEST_P_VALUE) == (steeper == 1.0)


@pytest.mark.parametrize("steeper", [1.0, 1.2], ids=["right", "wrong"])
def test_many_elements(rng: Randomness, fit: Fit, steeper: float) -> None:
    drawn = MECHANISM.draw(MANY, rng=rng, count=DRAWS)
    assert (fit(MANY[drawn], law_by_score(MANY, EPSILON / 2 * steeper)) >= LOWEST_P_VALUE) == (
        steeper == 1.0
    )
    # Within a score the position is uniform: its rank among the equals, in twenty cells.
    score = 3
    equals = np.flatnonzero(score == MANY)
    ranks = np.searchsorted(equals, [i for i in drawn if MANY[i] == score])
    cells = dict.fromkeys(range(20), 0.05)
    assert len(equals) % 20 == 0 and fit(ranks * 20 // len(equals), cells) >= LOWEST_P_VALUE


@pytest.mark.parametrize("steeper", [1.0, 1.2], ids=["right", "wrong"])
def test_runs_of_equal_scores(rng: Randomness, fit: Fit, steeper: float) -> None:
    lengths = [4, 1, 2, 8, 3, 1, 100, 2]
    written_out = np.repeat(FEW, lengths)
    drawn = MECHANISM.draw(FEW, multiplicities=lengths, rng=rng, count=DRAWS)
    p_value = fit(drawn, law_by_position(written_out, EPSILON / 2 * steeper))
    assert (p_value >= LOWEST_P_VALUE) == (steeper == 1.0)


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


@pytest.mark.parametrize("steeper", [1.0, 1.2], ids=["right", "wrong"])
def test_permute_and_flip(rng: Randomness, fit: Fit, steeper: float) -> None:
    mechanism = PermuteAndFlip(epsilon=EPSILON)
    drawn = [mechanism.draw(FEW, rng=rng) for _ in range(20_000)]
    p_value = fit(drawn, permute_and_flip_law(FEW, EPSILON / 2 * steeper))
    assert (p_value >= LOWEST_P_VALUE) == (steeper == 1.0)


def test_permute_and_flip_is_told_apart_from_the_exponential_mechanism(
    rng: Randomness, fit: Fit
) -> None:
    drawn = [PermuteAndFlip(epsilon=EPSILON).draw(FEW, rng=rng) for _ in range(20_000)]
    assert fit(drawn, law_by_position(FEW, EPSILON / 2)) < LOWEST_P_VALUE
