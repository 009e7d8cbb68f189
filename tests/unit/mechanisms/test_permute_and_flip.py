"""Permute-and-flip: exact coins, and the law of the definition."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from littlestone.mechanisms.integer_weights import weight_table
from littlestone.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.randomness import Randomness, seeded


class Words:
    """Randomness whose words are the digits of given numbers, most significant digit first."""

    def __init__(self, numbers: list[int], widths: list[int]) -> None:
        self.columns = []
        for width in reversed(widths):  # cut off the least significant digits first
            self.columns.append([(n & (1 << width) - 1) << 64 - width for n in numbers])
            numbers = [n >> width for n in numbers]
        assert not any(numbers)

    def words(self, count: int) -> NDArray[np.uint64]:
        column = self.columns.pop()
        assert len(column) == count
        return np.array(column, dtype=np.uint64)


@given(st.data(), st.sampled_from([(64, [39, 40, 40]), (65, [0, 40, 40, 40]), (1, [16, 40])]))
def test_a_coin_shows_heads_exactly_below_its_weight(
    data: st.DataObject, shape: tuple[int, list[int]]
) -> None:
    floor_bits, widths = shape
    mechanism = PermuteAndFlip(epsilon=0.2, floor_bits=floor_bits)
    weights = mechanism._table.weights
    levels = data.draw(st.lists(st.integers(0, len(weights) - 1), min_size=1, max_size=5))
    numbers = [
        # Close to the weight, where digits agree, or anywhere.
        data.draw(
            st.one_of(
                st.integers(0, weights[0] - 1),
                st.integers(weights[k] - 3, weights[k] + 3).filter(lambda n: 0 <= n < weights[0]),
            )
            if k
            else st.integers(0, weights[0] - 1)
        )
        for k in levels
    ]
    heads = mechanism._flip(np.array(levels), Words(numbers, widths))  # type: ignore[arg-type]
    assert heads.tolist() == [n < weights[k] for n, k in zip(numbers, levels, strict=True)]


@pytest.mark.parametrize("excess", [(0, 1), (0, 0, 3), (2, 0, 1, 1)])
def test_a_random_head_has_the_law_of_the_first_head_in_random_order(
    excess: tuple[int, ...],
) -> None:
    weights = weight_table(Fraction(1, 2), 64).weights
    coins = [Fraction(weights[k], weights[0]) for k in excess]
    definition = [Fraction(0)] * len(coins)
    for order in permutations(range(len(coins))):
        reached = Fraction(1, math.factorial(len(coins)))
        for i in order:
            definition[i] += reached * coins[i]
            reached *= 1 - coins[i]
    assert law_of_a_random_head(coins) == definition


def law_of_a_random_head(coins: list[Fraction]) -> list[Fraction]:
    law = [Fraction(0)] * len(coins)
    for outcome in product((False, True), repeat=len(coins)):
        chance = math.prod(p if head else 1 - p for p, head in zip(coins, outcome, strict=True))
        for i, head in enumerate(outcome):
            if head and chance:
                law[i] += chance / sum(outcome)
    return law


def test_a_clear_winner_wins_and_ties_are_shared(rng: Randomness) -> None:
    mechanism = PermuteAndFlip(epsilon=2.0)
    assert {mechanism.draw([10**6, -5, 10**6], rng=rng) for _ in range(20)} == {1}
    assert {mechanism.draw([3, 3], rng=rng) for _ in range(200)} == {0, 1}


def test_bad_input_is_refused_before_any_coin_is_flipped() -> None:
    rng = seeded(1)
    before = rng.state()
    for scores in ([], [0.5], [[1]], [True]):
        with pytest.raises(ValueError, match="scores"):
            PermuteAndFlip(epsilon=1.0).draw(scores, rng=rng)
    assert rng.state() == before
    with pytest.raises(ValueError, match="epsilon"):
        PermuteAndFlip(epsilon=0.0)
