"""Exact coins for keeping an expert."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.learners.experts.dartboard_plan import KeepCoin
from littlestone.randomness import Randomness, seeded


@given(
    st.fractions(0, 1, max_denominator=1000),
    st.fractions(0, 2, max_denominator=1000),
    st.integers(0, 50),
    st.integers(8, 200),
)
def test_bounds_enclose_the_probability(
    fake: Fraction, rate: Fraction, loss: int, bits: int
) -> None:
    low, high = KeepCoin(fake=fake, rate=rate)._bounds(loss, bits)
    assert 0 <= high - low <= 2
    value = float(1 - fake) * math.exp(-float(rate * loss))
    assert low / 2**bits <= value * (1 + 1e-12) and value <= high / 2**bits * (1 + 1e-12)


def test_certain_coins_are_certain(rng: Randomness) -> None:
    always, never = (
        KeepCoin(fake=Fraction(0), rate=Fraction(1)),
        KeepCoin(fake=Fraction(1), rate=Fraction(1)),
    )
    assert all(always.draw(0, rng) for _ in range(1000))
    assert not any(never.draw(0, rng) for _ in range(1000))


class Word:
    """A source whose first word is given; the rest are zeros, or ones."""

    def __init__(self, first: int, rest: int) -> None:
        self.first: int | None = first
        self.rest = rest

    def word(self) -> int:
        value, self.first = (self.rest if self.first is None else self.first), None
        return value


@pytest.mark.parametrize(("rest", "keeps"), [(0, True), (2**64 - 1, False)])
def test_a_tie_in_the_first_word_is_settled_by_the_next(rest: int, keeps: bool) -> None:
    coin = KeepCoin(fake=Fraction(1, 3), rate=Fraction(1, 7))
    low, high = coin._bounds(2, 64)
    assert high == low + 1
    assert coin.draw(2, Word(low, rest)) is keeps  # type: ignore[arg-type]
    assert coin.draw(2, Word(low - 1, rest)) is True  # type: ignore[arg-type]
    assert coin.draw(2, Word(high, rest)) is False  # type: ignore[arg-type]


def test_two_coins_with_one_seed_agree() -> None:
    coin = KeepCoin(fake=Fraction(1, 3), rate=Fraction(1, 7))
    one, two = seeded(4), seeded(4)
    assert [coin.draw(3, one) for _ in range(99)] == [coin.draw(3, two) for _ in range(99)]
