"""Coins with odds of e to a power: their exact law, and how often they show."""

import math
from fractions import Fraction

import pytest

from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import law_of
from littlestone.privacy.mechanisms.noise.coins import LogisticCoin, unlikely_bounds
from littlestone.randomness import seeded


@pytest.mark.parametrize("log_odds", [-3, -0.5, 0, Fraction(1, 3), 1, 20])
def test_the_exact_law(log_odds: Fraction) -> None:
    coin = LogisticCoin(log_odds=log_odds)
    law = law_of(coin.draw, rounds=1, negligible=UNIT >> 60, most=10)
    shown = law.views[True]
    assert shown.low / UNIT == pytest.approx(1 / (1 + math.exp(-log_odds)), rel=1e-12)


@pytest.mark.parametrize("against", [Fraction(0), Fraction(1, 7), Fraction(5), Fraction(90)])
@pytest.mark.parametrize("bits", [8, 64, 200])
def test_bounds_enclose(against: Fraction, bits: int) -> None:
    low, high = unlikely_bounds(against, bits)
    finer, coarser = unlikely_bounds(against, 2 * bits)
    assert low << bits <= finer <= coarser <= high << bits
    assert high - low <= 2


def test_a_tie_of_words_is_settled_by_more_bits() -> None:
    coin = LogisticCoin(log_odds=-1)

    class Tied:
        """The word that settles nothing, and then the smallest one."""

        def __init__(self) -> None:
            self.words = [0, coin._leading]

        def word(self) -> int:
            return self.words.pop()

    assert coin.draw(Tied()) is True  # type: ignore[arg-type]


def test_bad_odds_are_refused() -> None:
    with pytest.raises(ValueError, match="log_odds"):
        LogisticCoin(log_odds=math.nan)
    assert isinstance(LogisticCoin(log_odds=0).draw(seeded(1)), bool)
