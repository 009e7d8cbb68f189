"""Permute-and-flip: exact coins, and the law of the definition."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.randomness import Randomness, seeded


class OneNumber:
    """Randomness that yields a given number: its sixteen leading bits, then the others."""

    def __init__(self, number: int, total_bits: int) -> None:
        self.number = number
        self.rest = total_bits - 16

    def words(self, count: int) -> NDArray[np.uint64]:
        assert count == 1
        return np.array([self.number >> self.rest, 0, 0, 0], dtype=np.uint16).view(np.uint64)

    def bits(self, count: int) -> int:
        assert count == self.rest
        return self.number & (1 << count) - 1


@given(st.data(), st.sampled_from([1, 64, 65]))
def test_a_coin_shows_heads_exactly_below_its_weight(data: st.DataObject, floor_bits: int) -> None:
    mechanism = PermuteAndFlip(epsilon=0.2, floor_bits=floor_bits)
    weights = mechanism._table.weights
    total_bits = floor_bits + 55
    assert weights[0] == 1 << total_bits
    level = data.draw(st.integers(0, len(weights) - 1))
    number = data.draw(  # anywhere, or so close that the leading bits agree
        st.one_of(
            st.integers(0, weights[0] - 1),
            st.integers(weights[level] - 3, weights[level] + 3),
        ).filter(lambda n: 0 <= n < weights[0])
    )
    heads = mechanism._flip(np.array([level]), OneNumber(number, total_bits))  # type: ignore[arg-type]
    assert heads.tolist() == [number < weights[level]]


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
                law[i] += chance / Fraction(sum(outcome))
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
