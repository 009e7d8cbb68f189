"""The exact law of CountAboveThreshold's answers on all small streams, compared between neighbours.

Everything is computed in fractions: e**(-epsilon) is replaced by a rational number, of which the
proof uses nothing but that it lies between 0 and 1. So the ratios are exact and no sampling is
involved; tests/statistical/test_above_threshold_law.py ties the runs to this law.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

Answers = tuple[bool, ...]
Gap = int | None  # the whole number that noise must reach on top of the threshold's; None: never


def probability_of_answers(
    shifts: Sequence[Gap], answers: Answers, threshold_base: Fraction, query_base: Fraction
) -> Fraction:
    """P(answers) when round t says yes if noise_t >= shifts[t] + rho.

    rho has P(k) = (1 - b) * b**k with b = threshold_base, and each noise_t is >= a with
    probability query_base**max(a, 0). From some rho on all gaps are positive and each factor is a
    polynomial in query_base**rho, so that the sum over rho is a finite sum of geometric series.
    """
    first_regular = max([0, *(1 - shift for shift in shifts if shift is not None)])
    total = Fraction(0)
    for rho in range(first_regular):
        factor = (1 - threshold_base) * threshold_base**rho
        for shift, yes in zip(shifts, answers, strict=True):
            reach = Fraction(0) if shift is None else query_base ** max(shift + rho, 0)
            factor *= reach if yes else 1 - reach
        total += factor
    polynomial = [Fraction(1)]
    for shift, yes in zip(shifts, answers, strict=True):
        slope = Fraction(0) if shift is None else query_base**shift
        shifted = [Fraction(0), *(slope * c for c in polynomial)]
        padded = [*polynomial, Fraction(0)]
        polynomial = shifted if yes else [a - b for a, b in zip(padded, shifted, strict=True)]
    for power, coefficient in enumerate(polynomial):
        ratio = threshold_base * query_base**power
        total += coefficient * (1 - threshold_base) * ratio**first_regular / (1 - ratio)
    return total


def neighbours(length: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of bit streams that differ in one round, in both orders."""
    for bits in product((0, 1), repeat=length):
        for place in range(length):
            yield bits, (*bits[:place], 1 - bits[place], *bits[place + 1 :])


def largest_ratio(
    law: Callable[[tuple[int, ...], Answers], Fraction],
    pairs: Iterator[tuple[tuple[int, ...], tuple[int, ...]]],
    outcomes: Sequence[Answers],
) -> Fraction | None:
    """The largest P(answers) / P'(answers); None if it is infinite."""
    worst, law = Fraction(0), cache(law)  # a stream has many neighbours
    for one, other in pairs:
        for answers in outcomes:
            here, there = law(one, answers), law(other, answers)
            if there == 0 and here > 0:
                return None
            if there > 0:
                worst = max(worst, here / there)
    return worst


def until_the_yes(length: int) -> list[Answers]:
    """No, …, no, yes in every round, and no yes at all."""
    return [*((False,) * k + (True,) for k in range(length)), (False,) * length]


def running_gaps(bits: Sequence[int], threshold: int) -> list[int]:
    return [threshold - sum(bits[: t + 1]) for t in range(len(bits))]


def one_instance(q: Fraction, threshold: int) -> Callable[[tuple[int, ...], Answers], Fraction]:
    def law(bits: tuple[int, ...], answers: Answers) -> Fraction:
        return probability_of_answers(running_gaps(bits[: len(answers)], threshold), answers, q, q)

    return law


BASES = [Fraction(1, 2), Fraction(4, 5)]


@pytest.mark.parametrize("q", BASES)
@pytest.mark.parametrize("threshold", [0, 1, 3])
def test_one_instance_keeps_its_promise_exactly(q: Fraction, threshold: int) -> None:
    law = one_instance(q, threshold)
    for length in range(1, 6):
        outcomes = until_the_yes(length)
        assert sum(law((1, 0) * (length // 2) + (1,) * (length % 2), o) for o in outcomes) == 1
        ratio = largest_ratio(law, neighbours(length), outcomes)
        assert ratio is not None
        assert ratio <= 1 / q


def test_the_promise_is_tight() -> None:
    # A yes in the first round, at a threshold that one bit reaches: exactly e**epsilon.
    q = Fraction(1, 2)
    assert largest_ratio(one_instance(q, 1), neighbours(1), until_the_yes(1)) == 1 / q


def segments(answers: Answers) -> Iterator[slice]:
    """The rounds of each instance: up to and including its yes."""
    start = 0
    for t, yes in enumerate(answers):
        if yes or t == len(answers) - 1:
            yield slice(start, t + 1)
            start = t + 1


@pytest.mark.parametrize("q", BASES)
def test_instances_on_disjoint_rounds_cost_epsilon_together(q: Fraction) -> None:
    instance = one_instance(q, 1)

    def law(bits: tuple[int, ...], answers: Answers) -> Fraction:
        total = Fraction(1)
        for rounds in segments(answers):
            total *= instance(bits[rounds], answers[rounds])
        return total

    ratio = largest_ratio(law, neighbours(4), list(product((False, True), repeat=4)))
    assert ratio is not None
    assert ratio <= 1 / q


@pytest.mark.parametrize("q", BASES)
def test_threshold_noise_that_is_reused_after_a_yes_is_caught(q: Fraction) -> None:
    def law(bits: tuple[int, ...], answers: Answers) -> Fraction:
        gaps: list[int] = []
        for rounds in segments(answers):
            gaps += running_gaps(bits[rounds], 1)
        return probability_of_answers(gaps, answers, q, q)

    ratio = largest_ratio(law, neighbours(4), list(product((False, True), repeat=4)))
    assert ratio is not None
    assert ratio > 1 / q


@pytest.mark.parametrize("q", BASES)
def test_counts_that_survive_a_yes_are_caught(q: Fraction) -> None:
    def law(bits: tuple[int, ...], answers: Answers) -> Fraction:
        gaps, total = running_gaps(bits, 1), Fraction(1)
        for rounds in segments(answers):
            total *= probability_of_answers(gaps[rounds], answers[rounds], q, q)
        return total

    ratio = largest_ratio(law, neighbours(4), list(product((False, True), repeat=4)))
    assert ratio is not None
    assert ratio > 1 / q


def test_skipping_the_noise_of_rounds_with_bit_zero_is_caught() -> None:
    q = Fraction(1, 2)

    def law(bits: tuple[int, ...], answers: Answers) -> Fraction:
        gaps = running_gaps(bits[: len(answers)], 3)
        # Without noise a round says yes only at gap 0 or less, which rho >= 0 can prevent; at
        # threshold 3 and up to two ones it never does.
        silent = [gap if bit else None for gap, bit in zip(gaps, bits, strict=False)]
        return probability_of_answers(silent, answers, q, q)

    assert largest_ratio(law, neighbours(2), until_the_yes(2)) is None


def test_halves_fed_as_bits_cost_twice_epsilon() -> None:
    # The first number is 1/2 or 1. Whole-number noise reaches a gap g iff it reaches ceil(g), so
    # the gap differs by one until another half arrives, and then not at all: no constant shift.
    q = Fraction(1, 2)

    def law(halves: tuple[int, ...], answers: Answers) -> Fraction:
        gaps = [-(-gap // 2) for gap in running_gaps(halves[: len(answers)], 2 * 2)]
        return probability_of_answers(gaps, answers, q, q)

    silence = (0,) * 30
    pair = (1, *silence, 1), (2, *silence, 1)
    ratio = largest_ratio(law, iter([pair]), until_the_yes(32))
    assert ratio is not None
    assert 0.999 / q**2 < ratio <= 1 / q**2


@pytest.mark.parametrize("u", [Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("monotone", [False, True])
def test_general_queries_keep_their_promise_exactly(u: Fraction, monotone: bool) -> None:
    # u = e**(-epsilon / 4): threshold noise of rate epsilon/2, query noise of rate epsilon/4,
    # or epsilon/2 if the queries are monotone.
    query_base = u**2 if monotone else u
    moves = (0, 1) if monotone else (-1, 0, 1)

    def law(values: tuple[int, ...], answers: Answers) -> Fraction:
        gaps = [2 - value for value in values[: len(answers)]]
        return probability_of_answers(gaps, answers, u**2, query_base)

    pairs = [
        (values, tuple(v + m for v, m in zip(values, move, strict=True)))
        for values in product((0, 2, 3), repeat=3)
        for move in product(moves, repeat=3)
    ]
    both_ways = pairs + [(other, one) for one, other in pairs]
    ratio = largest_ratio(law, iter(both_ways), until_the_yes(3))
    assert ratio is not None
    assert ratio <= 1 / u**4


def test_monotone_noise_for_queries_that_are_not_is_caught() -> None:
    # The queries that say no rise and the one that says yes sinks: e**(3/2 epsilon) in the limit.
    u = Fraction(1, 2)

    def law(values: tuple[int, ...], answers: Answers) -> Fraction:
        gaps = [2 - value for value in values[: len(answers)]]
        return probability_of_answers(gaps, answers, u**2, u**2)

    up_then_down = (2,) * 20 + (1,), (3,) * 20 + (0,)
    outcomes = until_the_yes(21)
    ratios = [
        largest_ratio(law, iter([pair]), outcomes) for pair in (up_then_down, up_then_down[::-1])
    ]
    assert any(ratio is not None and ratio > 1 / u**4 for ratio in ratios)
