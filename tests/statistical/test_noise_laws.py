"""Every sampler against its closed form and against OpenDP, each beside one wrong by one step.

A correct sampler fails with probability at most 1e-9, and so often at most a wrong one, whose law
is known, is missed (tests/chance.py).
"""

import importlib
import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.chance import FALSE_FAILURE_PROBABILITY, agree, differ, fits, is_told_apart

from littlestone.privacy.mechanisms.noise import gaussian
from littlestone.privacy.mechanisms.noise.coins import BernoulliExp
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian, WideGaussian
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)
from littlestone.privacy.mechanisms.noise.waiting_time import WaitingTime
from littlestone.randomness import Randomness, secure

pytestmark = pytest.mark.statistical

BLOCK = 200_000
SCALARS = 20_000

Law = dict[int, float]


def geometric_law(rate: float, size: int | None = None) -> Law:
    end = size or int(60 / rate) + 2
    weights = [math.exp(-rate * k) for k in range(end)]
    whole = sum(weights)
    return {k: weight / whole for k, weight in enumerate(weights)}


def laplace_law(rate: float, bound: int | None = None) -> Law:
    end = int(60 / rate) + 2 if bound is None else bound
    weights = {k: math.exp(-rate * abs(k)) for k in range(-end, end + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def gaussian_law(variance: float) -> Law:
    end = int(10 * math.sqrt(variance)) + 2
    weights = {k: math.exp(-k * k / (2 * variance)) for k in range(-end, end + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def moved(law: Law, to: Callable[[int], int]) -> Law:
    """The law of what the values are turned into."""
    other = defaultdict[int, float](float)
    for value, share in law.items():
        other[to(value)] += share
    return dict(other)


def given(law: Law, which: Callable[[int], bool]) -> Law:
    """The law of those values alone."""
    whole = sum(share for value, share in law.items() if which(value))
    return {value: share / whole for value, share in law.items() if which(value)}


def waiting_law(rate: float, gap: int) -> Law:
    miss = -math.expm1(-rate * gap)
    return {n: miss ** (n - 1) * (1 - miss) for n in range(1, int(60 / -math.log(miss)) + 2)}


GEOMETRICS = [
    (1.0, None),
    (0.3, None),
    (0.01, None),  # two digits
    (2.5, None),
    (1.0, 3),
    (0.01, 700),
    (0.001, 3000),  # two digits, and values beyond the end rejected
    (2.0, 400),  # a table that ends before the size does
]


@pytest.mark.parametrize(("rate", "size"), GEOMETRICS)
def test_geometric_has_its_law(rate: float, size: int | None, rng: Randomness) -> None:
    sampler = Geometric(rate=rate, size=size)
    law = geometric_law(rate, size)
    assert fits(sampler.draw_many(BLOCK, rng), law)
    assert fits((sampler.draw(rng) for _ in range(SCALARS)), law)


@pytest.mark.parametrize("rate", [1.0, Fraction(1, 3), 0.05])
def test_discrete_laplace_has_its_law(rate: Fraction | float, rng: Randomness) -> None:
    sampler, law = DiscreteLaplace(rate=rate), laplace_law(float(rate))
    assert fits(sampler.draw_many(BLOCK, rng), law)
    assert fits((sampler.draw(rng) for _ in range(SCALARS)), law)


def test_discrete_laplace_has_its_law_on_secure_bits() -> None:
    values = DiscreteLaplace(rate=0.5).draw_many(BLOCK, secure())
    assert fits(values, laplace_law(0.5))


@pytest.mark.parametrize(("rate", "bound"), [(1.0, 14), (0.2, 3), (0.5, 0), (0.004, 2000)])
def test_truncated_laplace_has_its_law(rate: float, bound: int, rng: Randomness) -> None:
    sampler, law = TruncatedLaplace(rate=rate, bound=bound), laplace_law(rate, bound)
    if bound == 0:
        assert not sampler.draw_many(1000, rng).any()
        return
    assert fits(sampler.draw_many(BLOCK, rng), law)
    assert fits((sampler.draw(rng) for _ in range(SCALARS)), law)


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(7, 2), 0.7])
def test_bernoulli_has_its_law(exponent: Fraction | float, rng: Randomness) -> None:
    coin, heads = BernoulliExp(exponent=exponent), math.exp(-exponent)
    law = {0: 1 - heads, 1: heads}
    assert fits(coin.draw_many(BLOCK, rng).astype(int), law)
    assert fits((int(coin.draw(rng)) for _ in range(50_000)), law)


@pytest.mark.parametrize(("rate", "gap"), [(0.5, 1), (0.5, 5), (1.0, 4)])
def test_waiting_time_has_its_law(rate: float, gap: int, rng: Randomness) -> None:
    sampler = WaitingTime(rate=rate)
    waits = (sampler.draw(gap, rng) for _ in range(50_000))
    assert fits(waits, waiting_law(rate, gap))


@pytest.mark.parametrize("variance", [Fraction(1, 3), 5, 700, 2.0**23])
def test_discrete_gaussian_has_its_law(variance: Fraction | float, rng: Randomness) -> None:
    sampler, law = DiscreteGaussian(variance=variance), gaussian_law(float(variance))
    values = sampler.draw_many(BLOCK, rng)
    assert fits(values, law)
    # One step off, or two of 26 to a deviation, and a variance that is a tenth too small.
    if variance < 1000:
        steps = 1 if variance < 100 else 2
        assert is_told_apart(values + steps, law, actual=moved(law, lambda k: k + steps))
        assert fits((sampler.draw(rng) for _ in range(SCALARS)), law)
    narrow = gaussian_law(0.9 * float(variance))
    # Where only three values are likely, a tenth less is a smaller change.
    assert variance < 1 or is_told_apart(values, narrow, actual=law)


def test_wide_gaussian_noise_has_its_law_beyond_the_strips(
    rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian, "_REACH", 1)  # one value of three lies beyond
    values, law = WideGaussian(Fraction(2**16)).draw_many(SCALARS, rng), gaussian_law(2.0**16)
    assert fits(values, law)
    inside = values[np.abs(values) < 256]
    assert is_told_apart(inside, law, actual=given(law, lambda k: abs(k) < 256))


def test_samplers_wrong_by_one_step_are_rejected(rng: Randomness) -> None:
    geometric, law = Geometric(rate=0.3).draw_many(BLOCK, rng), geometric_law(0.3)
    assert is_told_apart(geometric + 1, law, actual=moved(law, lambda k: k + 1))
    less = moved(law, lambda k: max(k - 1, 0))
    assert is_told_apart(np.maximum(geometric - 1, 0), law, actual=less)
    # The entry for 0 missing from the table, and a rate that is a tenth too small.
    assert is_told_apart(geometric[geometric > 0], law, actual=given(law, lambda k: k > 0))
    assert is_told_apart(geometric, geometric_law(0.3 * 11 / 10), actual=law)


def test_laplace_that_keeps_minus_zero_is_rejected(rng: Randomness) -> None:
    sizes = Geometric(rate=0.2).draw_many(BLOCK, rng)
    signs = 1 - 2 * rng.below_many(2, BLOCK)
    law = geometric_law(0.2)
    both = {k: law[abs(k)] / (2 if k else 1) for k in range(1 - len(law), len(law))}
    assert is_told_apart(sizes * signs, laplace_law(0.2), actual=both)


def test_truncation_one_step_too_early_or_too_late_is_rejected(rng: Randomness) -> None:
    for wrong in (2, 4):
        values = TruncatedLaplace(rate=0.2, bound=wrong).draw_many(BLOCK, rng)
        assert is_told_apart(values, laplace_law(0.2, 3), actual=laplace_law(0.2, wrong))


def test_a_waiting_time_that_counts_from_zero_is_rejected(rng: Randomness) -> None:
    waits = [max(WaitingTime(rate=0.5).draw(5, rng) - 1, 1) for _ in range(50_000)]
    law = waiting_law(0.5, 5)
    assert is_told_apart(waits, law, actual=moved(law, lambda n: max(n - 1, 1)))


def opendp() -> Any:
    """Imported late: it takes two seconds, and the quick suite goes without."""
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude


def opendp_laplace(scale: float, count: int) -> NDArray[np.int64]:
    """Exact discrete Laplace noise from an independent implementation."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=int), size=count), dp.l1_distance(T=int)
    return np.array(dp.m.make_laplace(*space, scale=scale)([0] * count))


def test_discrete_laplace_agrees_with_opendp(rng: Randomness) -> None:
    oracle = opendp_laplace(2.0, SCALARS)
    ours = DiscreteLaplace(rate=Fraction(1, 2)).draw_many(BLOCK, rng)
    assert agree(ours.tolist(), oracle.tolist())
    law = laplace_law(0.5)
    laws = moved(law, lambda k: k + 1), law
    assert differ((ours + 1).tolist(), oracle.tolist(), laws=laws, cells=law)


def test_truncated_laplace_agrees_with_opendp_conditioned(rng: Randomness) -> None:
    oracle = opendp_laplace(2.0, SCALARS)
    ours = TruncatedLaplace(rate=Fraction(1, 2), bound=3).draw_many(BLOCK, rng)
    assert agree(ours.tolist(), oracle[abs(oracle) <= 3].tolist())
    laws = laplace_law(0.5, 3), laplace_law(0.5, 4)
    assert differ(ours.tolist(), oracle[abs(oracle) <= 4].tolist(), laws=laws, cells=laws[1])


def test_opendp_under_reports_delta_on_whole_numbers() -> None:
    # It releases counts that reach the threshold and reports the probability of exceeding it.
    dp = opendp()
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
    )
    measurement = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=10)
    _, reported = measurement.map((1, 1, 1))
    q = math.exp(-1)
    reaches, exceeds = q**9 / (1 + q), q**10 / (1 + q)  # 1 + noise, against 10
    assert reported == pytest.approx(exceeds, rel=1e-9)
    assert reaches / reported == pytest.approx(math.e, rel=1e-9)
    # With almost no noise one sees which event is tested: each count moves with this probability.
    assert 2 * math.exp(-1 / 0.001) < FALSE_FAILURE_PROBABILITY
    sharp = dp.m.make_laplace_threshold(*space, scale=0.001, threshold=10)
    assert sharp({"at": 10, "below": 9}) == {"at": 10}
