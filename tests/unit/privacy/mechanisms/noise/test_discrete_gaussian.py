"""Discrete Gaussian noise fed with chosen words: what each word must become."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from littlestone.privacy.mechanisms.noise.gaussian import _OPEN, DiscreteGaussian, _table
from littlestone.randomness import Randomness, seeded

Script = Callable[..., Randomness]
VARIANCES = [Fraction(1, 3), Fraction(2), Fraction(50)]


@cache
def all_weights(variance: Fraction) -> dict[int, Decimal]:
    """To 100 digits, which the context of the caller has."""
    v = Decimal(variance.numerator) / Decimal(variance.denominator)
    end = 40 + 40 * int(variance)
    return {i: (-Decimal(i * i) / (2 * v)).exp() for i in range(-end, end + 1)}


def edge(variance: Fraction, k: int, bits: int = 64) -> int:
    """The first bits of P(value <= k), from an independent computation to 100 digits."""
    with localcontext() as context:
        context.prec = 100
        weights = all_weights(variance)
        below = sum(weight for i, weight in weights.items() if i <= k)
        return int(below / sum(weights.values()) * 2**bits)


def in_parts(bits: int, number: int) -> tuple[int, ...]:
    """The words for ``draw_many``: 16 bits, 48 bits, then 64."""
    return number >> (bits - 16), (number >> (bits - 64)) % 2**48 << 16, number % 2 ** (bits - 64)


@pytest.mark.parametrize("variance", VARIANCES)
def test_it_inverts_its_distribution_function(variance: Fraction, script: Script) -> None:
    sampler = DiscreteGaussian(variance=variance)
    for k in (-2, -1, 0, 1, 3):
        border = edge(variance, k)
        for word, expected in [(border - 1, k), (border + 1, k + 1)]:
            assert sampler.draw(script(word)) == expected
            assert sampler.draw_many(1, script(*in_parts(64, word))).tolist() == [expected]


@pytest.mark.parametrize("variance", VARIANCES)
def test_it_reads_on_where_64_bits_cannot_decide(variance: Fraction, script: Script) -> None:
    sampler = DiscreteGaussian(variance=variance)
    for k in (-2, 0, 1):
        border = edge(variance, k, 128)
        for number, expected in [(border - 1, k), (border + 1, k + 1)]:
            assert sampler.draw(script(*divmod(number, 2**64))) == expected
            assert sampler.draw_many(1, script(*in_parts(128, number))).tolist() == [expected]


def test_values_beyond_the_table_are_settled_on_both_sides(script: Script) -> None:
    variance = Fraction(2)
    sampler = DiscreteGaussian(variance=variance)
    far = next(k for k in range(100) if edge(variance, -k, 64) == 0)
    low, high = edge(variance, -far, 128), edge(variance, far, 128)
    for number, expected in [(low - 1, -far), (high + 1, far + 1)]:
        assert sampler.draw(script(*divmod(number, 2**64))) == expected
        assert sampler.draw_many(1, script(*in_parts(128, number))).tolist() == [expected]


def test_table_and_strips_have_one_variance() -> None:
    # 2**22 is the last that has a table. Fixed seeds; 3 % are more than nine deviations.
    for variance in (2**22, 2**22 + 1):
        drawn = DiscreteGaussian(variance=variance).draw_many(50_000, seeded(3))
        assert abs(drawn.var() / variance - 1) < 0.03


@pytest.mark.parametrize("variance", [Fraction(1, 7), Fraction(90), Fraction(1 << 22)])
def test_a_word_is_found_where_a_search_would_find_it(variance: Fraction) -> None:
    table = _table(*variance.as_integer_ratio())
    entries = table.words[np.linspace(0, len(table.words) - 1, 500).astype(np.int64)]
    one = np.uint64(1)
    words = np.concatenate(
        [
            entries,
            entries + one,
            entries - one,
            seeded(1).words(2000),
            np.arange(3, dtype=np.uint64),
        ]
    )
    found = table._below[(words >> np.uint64(48)).astype(np.int64)].astype(np.int64)
    table._search(found, words)
    assert (found == np.searchsorted(table.words, words, side="right")).all()
    decided = np.flatnonzero(table._guide != _OPEN)
    edges = decided.astype(np.uint64) << np.uint64(48)
    for word in (edges, edges | np.uint64((1 << 48) - 1)):
        value = np.searchsorted(table.words, word, side="right") - table.reach
        assert (value == table._guide[decided]).all()


def test_variances_that_cannot_be_drawn_are_refused() -> None:
    for variance in (0, 0.01, 2.0**77, float("nan")):
        with pytest.raises(ValueError, match="variance must"):
            DiscreteGaussian(variance=variance)
