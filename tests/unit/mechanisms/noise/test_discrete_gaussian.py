"""Discrete Gaussian noise fed with chosen words: what each word must become."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from littlestone.mechanisms.noise import discrete_gaussian
from littlestone.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from littlestone.randomness import Randomness, seeded

Script = Callable[..., Randomness]
VARIANCES = [Fraction(1, 3), Fraction(2), Fraction(50)]


def edge(variance: Fraction, k: int, bits: int = 64) -> int:
    """The first bits of P(value <= k), from an independent computation to 100 digits."""
    with localcontext() as context:
        context.prec = 100
        v = Decimal(variance.numerator) / Decimal(variance.denominator)
        end = 40 + 40 * int(variance)
        weights = {i: (-Decimal(i * i) / (2 * v)).exp() for i in range(-end, end + 1)}
        below = sum(weight for i, weight in weights.items() if i <= k)
        return int(below / sum(weights.values()) * 2**bits)


@pytest.mark.parametrize("variance", VARIANCES)
def test_it_inverts_its_distribution_function(variance: Fraction, script: Script) -> None:
    sampler = DiscreteGaussian(variance=variance)
    for k in (-2, -1, 0, 1, 3):
        border = edge(variance, k)
        for word, expected in [(border - 1, k), (border + 1, k + 1)]:
            assert sampler.draw(script(word)) == expected
            assert sampler.draw_many(1, script(word)).tolist() == [expected]


@pytest.mark.parametrize("variance", VARIANCES)
def test_it_reads_on_where_64_bits_cannot_decide(variance: Fraction, script: Script) -> None:
    sampler = DiscreteGaussian(variance=variance)
    for k in (-2, 0, 1):
        first, second = divmod(edge(variance, k, 128), 2**64)
        for word, expected in [(second - 1, k), (second + 1, k + 1)]:
            assert sampler.draw(script(first, word)) == expected
            assert sampler.draw_many(1, script(first, word)).tolist() == [expected]


def test_values_beyond_the_table_are_settled_on_both_sides(script: Script) -> None:
    variance = Fraction(2)
    sampler = DiscreteGaussian(variance=variance)
    far = next(k for k in range(100) if edge(variance, -k, 64) == 0)
    low, high = edge(variance, -far, 128), edge(variance, far, 128) - ((2**64 - 1) << 64)
    for words, expected in [((0, low - 1), -far), ((2**64 - 1, high + 1), far + 1)]:
        assert sampler.draw(script(*words)) == expected
        assert sampler.draw_many(1, script(*words)).tolist() == [expected]


def test_thinning_tosses_close_coins_exactly(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", 2.0)  # everything is close
    variance, proposed = Fraction(1000), np.array([3, -40, 90, 0], dtype=np.int64)
    words = [2**64 * 99 // 100, 2**62, 2**60, 2**50]
    exact = discrete_gaussian._kept(proposed, variance, 32, script(*words))
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", 2.0**-30)
    assert exact.tolist() == [False, True, True, True]
    assert discrete_gaussian._kept(proposed, variance, 32, script(*words)).tolist() == [
        False,
        True,
        True,
        True,
    ]


def test_table_and_thinning_have_one_variance() -> None:
    # 2**22 is the last that has a table. Fixed seeds; 3 % are more than nine deviations.
    for variance in (2**22, 2**22 + 1):
        drawn = DiscreteGaussian(variance=variance).draw_many(50_000, seeded(3))
        assert abs(drawn.var() / variance - 1) < 0.03


def test_variances_that_cannot_be_drawn_are_refused() -> None:
    for variance in (0, 0.01, 2.0**77, float("nan")):
        with pytest.raises(ValueError, match="variance must"):
            DiscreteGaussian(variance=variance)
