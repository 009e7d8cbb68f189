"""Rounds per second of AboveThreshold and the time of a large histogram, from secure bits."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
    PlainAboveThresholdRun,
)
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import secure, seeded

Row = tuple[str, str, str, bool | None]
Start = Callable[[], CountAboveThresholdRun | PlainAboveThresholdRun]

ROUNDS = 4_000_000
BLOCK = 10_000
BLOCK_TARGET = 5e6  # rounds per second
RECIPE = CountAboveThreshold(epsilon=0.5, threshold=100)


def measure() -> Iterator[Row]:
    rng = secure()
    fast, plain = partial(RECIPE.start, rng=rng), partial(RECIPE.start_plain, rng=rng)
    by_hand = _by_hand_over_opendp(3000)
    yield "AboveThreshold by hand over OpenDP noise", f"{by_hand:,.0f} rounds/s", "", None
    for name, start in (("CountAboveThreshold", fast), ("plain CountAboveThreshold", plain)):
        rate = _one_by_one(start, _bits(300_000, 0.01))
        yield _rate_row(f"{name}, 1 % ones, round by round", rate, by_hand)
    for share in (0.0, 0.001, 0.01, 0.1):
        rate = _in_blocks(fast, _bits(ROUNDS, share))
        yield _rate_row(f"AboveThreshold, {share:.1%} ones, in blocks", rate, BLOCK_TARGET)
    rate = _in_blocks(plain, _bits(ROUNDS // 4, 0.01))
    yield _rate_row("plain AboveThreshold, 1.0% ones, in blocks", rate, BLOCK_TARGET)
    yield _rate_row("AboveThreshold", _queries(100_000), by_hand)
    yield from _histograms()


def _bits(rounds: int, share: float) -> NDArray[np.bool_]:
    """Which rounds carry a mistake."""
    return seeded(1).generator().random(rounds) < share


def _one_by_one(start: Start, bits: NDArray[np.bool_]) -> float:
    stream, run = bits.astype(int).tolist(), start()
    begun = time.perf_counter()
    for bit in stream:
        if run.observe(bit):
            run = start()
    return len(stream) / (time.perf_counter() - begun)


def _in_blocks(start: Start, bits: NDArray[np.bool_]) -> float:
    """Finding the ones of each block and restarting after each yes are part of the work."""
    run, position = start(), 0
    begun = time.perf_counter()
    while position < len(bits):
        block = bits[position : position + BLOCK]
        yes = run.observe_block(np.flatnonzero(block), len(block))
        if yes is None:
            position += len(block)
        else:
            position += yes + 1
            run = start()
    return len(bits) / (time.perf_counter() - begun)


def _queries(count: int) -> float:
    run = AboveThreshold(epsilon=1.0, threshold=10**6).start(rng=secure())
    begun = time.perf_counter()
    for _ in range(count):
        run.ask(0)
    return count / (time.perf_counter() - begun)


def _by_hand_over_opendp(rounds: int) -> float:
    """What one would write today: two Laplace noises of OpenDP and a comparison."""
    dp.enable_features("contrib")
    noise = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=8.0)
    noisy_threshold, count = noise(10_000), 0
    begun = time.perf_counter()
    for round_number in range(rounds):
        count += round_number % 100 == 0
        if noise(count) >= noisy_threshold:
            noisy_threshold, count = noise(10_000), 0
    return rounds / (time.perf_counter() - begun)


def _histograms() -> Iterator[Row]:
    recipe = PrivateHistogram(epsilon=1.0, delta=1e-6)
    array = seeded(2).below_many(10_000, 1_000_000)
    numbers = array.tolist()
    texts = [f"user {number}" for number in numbers]
    for name, data in (
        ("an array", array),
        ("a list of numbers", numbers),
        ("a list of texts", texts),
    ):
        begun = time.perf_counter()
        recipe.release(data, rng=secure())
        seconds = time.perf_counter() - begun
        what = f"PrivateHistogram of 10^6 elements, 10^4 keys, {name}"
        yield what, f"{seconds:.3f} s", "< 1 s", seconds < 1
    yield _inclusion()


def _inclusion() -> Row:
    recipe = PrivateHistogram(epsilon=1.0, delta=1e-6, neighbours="add-remove")
    included = recipe.certain_inclusion
    return "certain inclusion at epsilon 1, delta 1e-6", str(included), "<= 29", included <= 29


def _rate_row(name: str, rate: float, target: float) -> Row:
    return name, f"{rate:,.0f} rounds/s", f">= {target:,.0f} rounds/s", rate >= target
