"""The enumerated coins have the laws of the drawn ones, and what is left out is accounted for."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.errors import LittlestoneError
from littlestone.privacy.mechanisms.noise.exact import exp_bounds
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)

CLOSE = UNIT >> 200
NEGLIGIBLE = UNIT >> 40


def law(play: Callable[[Tape], Any], *, most: int = 10_000) -> Law:
    return law_of(play, rounds=5, negligible=NEGLIGIBLE, most=most)


def close(known: Law, view: Any, part: int | Fraction, *, within: int = CLOSE) -> bool:
    low, high = known.views[view]
    wanted = part * UNIT
    return low - within <= wanted <= high + within


def e_to_minus(x: Fraction) -> Fraction:
    return Fraction(exp_bounds(x, 300)[0], 1 << 300)


def test_whole_numbers_and_coins_are_uniform() -> None:
    known = law(lambda tape: (tape.below(3), tape.coin()))
    assert len(known.views) == known.runs == 6
    assert all(close(known, view, Fraction(1, 6)) for view in known.views)
    assert known.missing <= CLOSE


def test_all_orders_are_equally_likely() -> None:
    known = law(lambda tape: tuple(tape.permutation(3).tolist()))
    assert len(known.views) == 6
    assert all(close(known, view, Fraction(1, 6)) for view in known.views)


def test_of_an_order_only_the_wanted_part_is_decided() -> None:
    known = law(lambda tape: int(tape.permutation(20)[:1][0]))
    assert known.runs == 20
    assert all(close(known, first, Fraction(1, 20)) for first in range(20))
    seats = law(lambda tape: tuple(np.arange(3)[np.asarray(tape.permutation(3))].tolist()))
    assert len(seats.views) == 6


def test_a_large_number_is_cut_where_it_is_compared() -> None:
    size = 10**30

    def play(tape: Tape) -> Any:
        dart = tape.below(size)
        if dart < size // 4:
            return "low"
        return "middle" if size - 1 - dart >= size // 4 else "high"

    known = law(play)
    assert known.runs == 3
    assert close(known, "low", Fraction(1, 4))
    assert close(known, "middle", Fraction(1, 2))


def test_a_quotient_tells_stretches_apart() -> None:
    known = law(lambda tape: (3 * 10**20 - 1 - tape.below(3 * 10**20)) // 10**20)
    assert [close(known, quotient, Fraction(1, 3)) for quotient in range(3)] == [True] * 3


def test_the_bits_of_a_number_are_counted() -> None:
    known = law(lambda tape: tape.bits(70).bit_count())
    assert close(known, 35, Fraction(112186277816662845432, 1 << 70))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 3)])
def test_the_sampler_of_geometric_noise_has_its_law_word_by_word(rate: Fraction) -> None:
    """The real sampler, whose comparisons with 64-bit words are enumerated; ties are negligible."""
    noise, q = Geometric(rate=rate), e_to_minus(rate)
    known = law(noise.draw)
    tie = UNIT >> 60
    assert all(close(known, k, (1 - q) * q**k, within=tie) for k in range(20))


def test_noise_that_is_only_compared_makes_two_cases() -> None:
    with enumerable():
        known = law(lambda tape: 2 + Geometric(rate=Fraction(1, 2)).draw(tape) >= 7)
    assert known.runs == 2
    assert close(known, True, e_to_minus(Fraction(5, 2)))


def test_geometric_noise_between_comparisons_has_its_conditional_law() -> None:
    q = e_to_minus(Fraction(1))

    def play(tape: Tape) -> int | None:
        noise = Geometric(rate=1).draw(tape)
        return int(noise) if 2 <= noise < 5 else None

    with enumerable():
        known = law(play)
    assert known.runs == 5
    assert all(close(known, k, (1 - q) * q**k) for k in (2, 3, 4))


def test_two_sided_noise_has_its_law() -> None:
    q = e_to_minus(Fraction(1))
    with enumerable():
        plain = law(DiscreteLaplace(rate=1).draw)
        cut = law(TruncatedLaplace(rate=1, bound=3).draw)
        normal = law(DiscreteGaussian(variance=Fraction(1, 2)).draw)
    whole = 1 + 2 * (q + q**2 + q**3)
    assert all(close(plain, k, (1 - q) / (1 + q) * q ** abs(k)) for k in range(-9, 10))
    assert all(close(cut, k, q ** abs(k) / whole) for k in range(-3, 4))
    assert len(cut.views) == 7
    whole = sum((q ** (k * k) for k in range(-14, 15)), Fraction(0))
    assert all(close(normal, k, q ** (k * k) / whole) for k in range(-5, 6))


def test_what_is_left_out_is_missing() -> None:
    with enumerable():
        known = law(lambda tape: int(Geometric(rate=1).draw(tape)))
    values = len(known.views)
    assert set(known.views) == set(range(values))
    tail = e_to_minus(Fraction(values)) * UNIT
    assert 0 < tail <= known.missing <= tail + CLOSE
    assert known.missing <= 2 * NEGLIGIBLE


def test_too_many_runs_and_unreadable_words_are_refused() -> None:
    with pytest.raises(LittlestoneError, match="smaller instance"):
        law(lambda tape: [tape.coin() for _ in range(10)].count(1), most=1000)
    with pytest.raises(LittlestoneError, match="raw words"):
        law(lambda tape: int(tape.words(1)[0]))
