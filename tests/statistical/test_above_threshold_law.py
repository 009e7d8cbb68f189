"""The plain and the fast AboveThreshold stop in rounds of one and the same law, the computed one.

A correct run fails with probability at most 1e-9, and so often at most a wrong one, whose law is
computed, too, is missed (tests/chance.py).
"""

import math
from collections.abc import Callable
from itertools import accumulate

import numpy as np
import pytest
from tests.chance import fits, is_told_apart, most_failures

from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
    PlainAboveThresholdRun,
)
from littlestone.randomness import Randomness

pytestmark = pytest.mark.statistical

RUNS = 20_000

Play = Callable[[CountAboveThresholdRun, list[int]], int]


def stopping_law(
    values: list[int], threshold: int, threshold_rate: float, query_rate: float
) -> dict[int, float]:
    """P(yes in round k) for running values; len(values) stands for no yes."""
    law = dict.fromkeys(range(len(values) + 1), 0.0)
    for rho in range(int(60 / threshold_rate) + 1):
        weight = -math.expm1(-threshold_rate) * math.exp(-threshold_rate * rho)
        for k, value in enumerate(values):
            reach = math.exp(-query_rate * max(threshold + rho - value, 0))
            law[k] += weight * reach
            weight *= 1 - reach
        law[len(values)] += weight
    return law


def round_by_round(run: CountAboveThresholdRun | PlainAboveThresholdRun, bits: list[int]) -> int:
    return next((k for k, bit in enumerate(bits) if run.observe(bit)), len(bits))


def in_blocks(sizes: list[int]) -> Play:
    def play(run: CountAboveThresholdRun, bits: list[int]) -> int:
        start = 0
        for size in sizes:
            yes = run.observe_block(np.flatnonzero(bits[start : start + size]), size)
            if yes is not None:
                return start + yes
            start += size
        return start

    return play


def zeros_in_one_go(run: CountAboveThresholdRun, bits: list[int]) -> int:
    """Each 1 as a round of its own, the zeros after it together."""
    start = 0
    while start < len(bits):
        if run.observe(bits[start]):
            return start
        zeros = next((k for k, bit in enumerate(bits[start + 1 :]) if bit), len(bits) - start - 1)
        yes = run.observe_zeros(zeros)
        if yes is not None:
            return start + 1 + yes
        start += 1 + zeros
    return start


# Thirty rounds: a stretch without ones, a burst, single ones.
BITS = [0] * 6 + [1, 1, 0, 1] + [0] * 5 + [1] + [0] * 9 + [1, 0, 1, 0, 0]
RECIPE = CountAboveThreshold(epsilon=0.5, threshold=4)
VALUES = list(accumulate(BITS))
LAW = stopping_law(VALUES, 4, 0.5, 0.5)


@pytest.mark.parametrize(
    "play",
    [
        round_by_round,
        zeros_in_one_go,
        in_blocks([30]),
        in_blocks([7, 1, 2, 20]),
    ],
    ids=["round by round", "zeros in one go", "one block", "four blocks"],
)
def test_the_fast_run_has_the_computed_law(play: Play, rng: Randomness) -> None:
    assert fits((play(RECIPE.start(rng=rng), BITS) for _ in range(RUNS)), LAW)


def test_the_fast_run_has_the_computed_law_where_ones_are_many(rng: Randomness) -> None:
    # Ninety ones, so that their waiting times are drawn as one block.
    bits = [1, 0, 1, 1] * 30
    recipe, play = CountAboveThreshold(epsilon=0.2, threshold=60), in_blocks([120])
    law = stopping_law(list(accumulate(bits)), 60, 0.2, 0.2)
    stops = [play(recipe.start(rng=rng), bits) for _ in range(RUNS)]
    assert fits(stops, law)
    one_step = stopping_law(list(accumulate(bits)), 61, 0.2, 0.2)
    assert is_told_apart(stops, one_step, actual=law)


def test_the_plain_run_has_the_computed_law(rng: Randomness) -> None:
    stops = [round_by_round(RECIPE.start_plain(rng=rng), BITS) for _ in range(RUNS)]
    assert fits(stops, LAW)


def test_the_plain_run_has_the_computed_law_in_blocks(rng: Randomness) -> None:
    play = in_blocks([7, 23])
    stops = [play(RECIPE.start_plain(rng=rng), BITS) for _ in range(RUNS)]  # type: ignore[arg-type]
    assert fits(stops, LAW)


def test_one_step_of_the_threshold_is_noticed(rng: Randomness) -> None:
    wrong = CountAboveThreshold(epsilon=0.5, threshold=5)
    stops = [round_by_round(wrong.start(rng=rng), BITS) for _ in range(RUNS)]
    assert is_told_apart(stops, LAW, actual=stopping_law(VALUES, 5, 0.5, 0.5))


def test_a_wait_that_is_kept_when_the_count_rises_is_noticed(rng: Randomness) -> None:
    def play(run: CountAboveThresholdRun, bits: list[int]) -> int:
        for k, bit in enumerate(bits):
            run._gap -= bit  # without drawing the waiting time anew
            if run.observe(0):
                return k
        return len(bits)

    stops = [play(RECIPE.start(rng=rng), BITS) for _ in range(RUNS)]
    # So the only waiting time is the first one, drawn as if the count never rose.
    assert is_told_apart(stops, LAW, actual=stopping_law([0] * len(BITS), 4, 0.5, 0.5))


def test_a_round_with_a_one_that_is_not_tested_itself_is_noticed(rng: Randomness) -> None:
    late = [0, *BITS[:-1]]  # each 1 counts from the next round on
    stops = [round_by_round(RECIPE.start(rng=rng), late) for _ in range(RUNS)]
    actual = stopping_law(list(accumulate(late)), 4, 0.5, 0.5)
    assert is_told_apart(stops, LAW, actual=actual)


@pytest.mark.parametrize("monotone", [False, True])
def test_general_queries_have_the_computed_law(monotone: bool, rng: Randomness) -> None:
    values = [3, 0, 5, -2, 7, 1, 4, 6]
    recipe = AboveThreshold(epsilon=1.0, threshold=6, monotone=monotone)
    law = stopping_law(values, 6, 0.5, 0.5 if monotone else 0.25)
    other = stopping_law(values, 6, 0.5, 0.25 if monotone else 0.5)

    def stop() -> int:
        run = recipe.start(rng=rng)
        return next((k for k, value in enumerate(values) if run.ask(value)), len(values))

    stops = [stop() for _ in range(RUNS)]
    assert fits(stops, law)
    assert is_told_apart(stops, other, actual=law)


def test_the_error_bounds_hold_as_often_as_promised(rng: Randomness) -> None:
    # Each run fails with probability at most 1/5.
    recipe = CountAboveThreshold(epsilon=0.5, threshold=40)
    early = recipe.early_error_bound(rounds=2000, failure_probability=0.1)
    late = recipe.late_error_bound(instances=1, failure_probability=0.1)
    failures = 0
    for _ in range(2000):
        yes = recipe.start(rng=rng).observe_block(np.arange(0, 2000, 10), 2000)
        ones = 200 if yes is None else yes // 10 + 1
        # The last no had one count less at most.
        failures += not 40 - early <= ones <= 40 + late + 1
    assert failures <= most_failures(2000, 0.2)
