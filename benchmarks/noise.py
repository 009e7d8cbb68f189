"""Time per draw of every sampler, from secure bits, beside OpenDP's in the same run."""

import timeit
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import opendp.prelude as dp

from littlestone.privacy.mechanisms.noise.coins import BernoulliExp
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)
from littlestone.privacy.mechanisms.noise.waiting_time import WaitingTime
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

BLOCK = 100_000
SCALAR_LIMIT, BLOCK_LIMIT = 15.0, 1.0  # microseconds


def microseconds(call: Callable[[], object], *, number: int, draws: int = 1) -> float:
    """The fastest of five repetitions, per draw."""
    return min(timeit.repeat(call, number=number, repeat=5)) / (number * draws) * 1e6


def measure() -> Iterator[Row]:
    rng = secure()
    scalar, block = {}, {}
    samplers: dict[str, Any] = {
        "Bernoulli(e^-1/3)": BernoulliExp(exponent=Fraction(1, 3)),
        "geometric, rate 1": Geometric(rate=1.0),
        "geometric, rate 0.001": Geometric(rate=0.001),
        "discrete Laplace, scale 2": DiscreteLaplace(rate=Fraction(1, 2)),
        "discrete Laplace, scale 100": DiscreteLaplace(rate=Fraction(1, 100)),
        "truncated Laplace, rate 1 on ±14": TruncatedLaplace(rate=1.0, bound=14),
        "truncated Laplace, rate 0.01 on ±1000": TruncatedLaplace(rate=0.01, bound=1000),
    }
    for name, sampler in samplers.items():
        scalar[name] = microseconds(partial(sampler.draw, rng), number=5000)
        many = partial(sampler.draw_many, BLOCK, rng)
        block[name] = microseconds(many, number=1, draws=BLOCK)
        yield _row(f"{name}, one by one", scalar[name], SCALAR_LIMIT)
        yield _row(f"{name}, in blocks", block[name], BLOCK_LIMIT)
    waiting = WaitingTime(rate=0.5)
    yield _row(
        "waiting time at gap 20, one by one",
        microseconds(lambda: waiting.draw(20, rng), number=5000),
        SCALAR_LIMIT,
    )
    yield from _against_opendp(
        scalar["discrete Laplace, scale 2"], block["discrete Laplace, scale 2"]
    )


def _against_opendp(scalar: float, block: float) -> Iterator[Row]:
    dp.enable_features("contrib")
    one = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)
    space = dp.vector_domain(dp.atom_domain(T=int), size=1000), dp.l1_distance(T=int)
    many, zeros = dp.m.make_laplace(*space, scale=2.0), [0] * 1000
    their_scalar = microseconds(lambda: one(0), number=300)
    their_block = microseconds(lambda: many(zeros), number=2, draws=1000)
    for name, ours, theirs in (
        ("one by one", scalar, their_scalar),
        ("in blocks", block, their_block),
    ):
        yield (
            f"OpenDP discrete Laplace, scale 2, {name}",
            f"{theirs:.2f} µs ({theirs / ours:.0f} times ours)",
            "slower than ours",
            theirs > ours,
        )


def _row(name: str, measured: float, limit: float) -> Row:
    rate = 1 / measured
    return name, f"{measured:.3f} µs ({rate:.1f} M/s)", f"<= {limit:g} µs", measured <= limit
