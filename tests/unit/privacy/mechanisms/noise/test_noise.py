"""Samplers fed with chosen words: what each word must become."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.noise.coins import BernoulliExp
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)
from littlestone.randomness import Randomness

TOP = 2**64 - 1


Script = Callable[..., Randomness]


def edge(rate: Fraction, i: int, size: int | None, bits: int = 64) -> int:
    """The first bits of P(value < i), from an independent computation to 100 digits."""
    with localcontext() as context:
        context.prec = 100
        q = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        whole = 1 - q**size if size is not None else Decimal(1)
        return int((1 - q**i) / whole * 2**bits)


RATES = [Fraction(1), Fraction(1, 3), Fraction(7, 2), Fraction(1, 8)]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("size", [None, 2, 5])
def test_geometric_inverts_its_distribution_function(
    rate: Fraction, size: int | None, script: Script
) -> None:
    sampler = Geometric(rate=rate, size=size)
    for i in range(1, 5 if size is None else size):
        border = edge(rate, i, size)
        for word, expected in [(border - 1, i - 1), (border + 1, i)]:
            assert sampler.draw(script(word)) == expected
            assert sampler.draw_many(1, script(word)).tolist() == [expected]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("size", [None, 5])
def test_geometric_reads_on_where_64_bits_cannot_decide(
    rate: Fraction, size: int | None, script: Script
) -> None:
    sampler = Geometric(rate=rate, size=size)
    for i in range(1, 5):
        first, second = divmod(edge(rate, i, size, 128), 2**64)
        for word, expected in [(second - 1, i - 1), (second + 1, i)]:
            assert sampler.draw(script(first, word)) == expected
            assert sampler.draw_many(1, script(first, word)).tolist() == [expected]


def test_geometric_beyond_the_table_starts_anew_from_its_end(script: Script) -> None:
    sampler = Geometric(rate=1)
    entries = len(sampler._digits[0].leading)
    # All bits of the first number are 1, so it is beyond every entry; the next number says 2.
    beyond = [TOP, TOP, edge(Fraction(1), 2, None) + 1]
    assert sampler.draw(script(*beyond)) == entries + 2
    assert sampler.draw_many(1, script(*beyond)).tolist() == [entries + 2]


def test_entries_that_share_their_leading_bits_are_told_apart(script: Script) -> None:
    # P(value < 1) and P(value < 2) both start with 64 ones at this rate.
    sampler = Geometric(rate=60)
    second = edge(Fraction(60), 1, None, 128) % 2**64
    assert sampler.draw(script(TOP, second - 1)) == 0
    assert sampler.draw(script(TOP, second + 1)) == 1


def test_digits_make_up_the_value(script: Script) -> None:
    rate = Fraction(1, 1000)
    low = edge(rate, 7, 256) + 1
    high = edge(rate * 256, 3, None) + 1
    assert Geometric(rate=rate).draw(script(high, low)) == 3 * 256 + 7


@given(
    rate=st.floats(min_value=2.0**-40, max_value=1e6),
    size=st.one_of(st.none(), st.integers(1, 10**7)),
    seed=st.integers(0, 2**32),
)
def test_every_rate_and_size_can_be_drawn(
    rate: float, size: int | None, seed: int, script: Script
) -> None:
    sampler = Geometric(rate=rate, size=size)
    rng = script(*(seed * k * 0x9E3779B97F4A7C15 % 2**64 for k in range(1, 400)))
    values = [*sampler.draw_many(20, rng).tolist(), sampler.draw(rng)]
    assert all(value >= 0 and (size is None or value < size) for value in values)


def test_laplace_is_the_difference_of_two_geometric_values(script: Script) -> None:
    words = [edge(Fraction(1), i, None) + 1 for i in (2, 5)]
    assert DiscreteLaplace(rate=1).draw(script(*words)) == -3
    assert DiscreteLaplace(rate=1).draw_many(1, script(*words)).tolist() == [-3]


def test_minus_zero_is_drawn_again(script: Script) -> None:
    sampler = TruncatedLaplace(rate=1, bound=2)
    size_two = edge(Fraction(1), 2, 3) + 1
    assert sampler.draw(script(0, 1, size_two, 1)) == -2
    assert sampler.draw(script(0, 0)) == 0
    # In blocks the sign is the first bit of its octet: here 1, so 0 is rejected.
    assert sampler.draw_many(1, script(0, 0x80, size_two, 0)).tolist() == [2]


@given(
    rate=st.floats(min_value=1e-6, max_value=50),
    bound=st.integers(0, 5000),
    seed=st.integers(0, 2**32),
)
def test_truncated_noise_never_exceeds_its_bound(
    rate: float, bound: int, seed: int, script: Script
) -> None:
    rng = script(*(seed * k * 0x9E3779B97F4A7C15 % 2**64 for k in range(1, 2000)))
    sampler = TruncatedLaplace(rate=rate, bound=bound)
    assert all(abs(v) <= bound for v in [*sampler.draw_many(50, rng).tolist(), sampler.draw(rng)])


def test_bernoulli_compares_with_the_exponential(script: Script) -> None:
    coin = BernoulliExp(exponent=Fraction(1, 3))
    with localcontext() as context:
        context.prec = 100
        probability = (-Decimal(1) / 3).exp()
        first, second = divmod(int(probability * 2**128), 2**64)
    assert coin.draw(script(first - 1))
    assert not coin.draw(script(first + 1))
    assert coin.draw(script(first, second - 1))
    assert not coin.draw(script(first, second + 1))
    many = coin.draw_many(4, script(first - 1, first, first + 1, first, second - 1, 0))
    assert many.tolist() == [True, True, False, True]


def test_bernoulli_of_exponent_zero_is_certain(script: Script) -> None:
    assert BernoulliExp(exponent=0).draw(script(TOP))
    assert BernoulliExp(exponent=0).draw_many(3, script(TOP, TOP, TOP)).all()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, 1e-13])
def test_bad_rates_are_refused(bad: Any) -> None:
    for make in (
        lambda: Geometric(rate=bad),
        lambda: DiscreteLaplace(rate=bad),
        lambda: TruncatedLaplace(rate=bad, bound=3),
    ):
        with pytest.raises(ValueError, match="rate"):
            make()


@pytest.mark.parametrize("bad", [-1, 1.5, True])
def test_bad_sizes_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="bound"):
        TruncatedLaplace(rate=1, bound=bad)
    with pytest.raises(ValueError, match="size"):
        Geometric(rate=1, size=bad)
    with pytest.raises(ValueError, match="exponent"):
        BernoulliExp(exponent=-1)


def test_samplers_are_values() -> None:
    assert DiscreteLaplace(rate=0.5) == DiscreteLaplace(rate=Fraction(1, 2))
    assert len({Geometric(rate=1), Geometric(rate=1, size=None), Geometric(rate=2)}) == 2
    assert repr(TruncatedLaplace(rate=0.5, bound=3)) == "TruncatedLaplace(rate=0.5, bound=3)"
