"""Waiting times: floating point never decides what it cannot be sure of."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.noise.exact import Uniform
from littlestone.privacy.mechanisms.noise.waiting_time import (
    _EXTREME,
    _MARGIN,
    _WORTH_A_BLOCK,
    LIMIT,
    WaitingTime,
    _hazard,
    _surprise,
)
from littlestone.randomness import Randomness, seeded

Script = Callable[..., Randomness]
WORDS = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**50),
    st.integers(2**64 - 2**50, 2**64 - 1),
)
RATES = st.floats(min_value=2.0**-40, max_value=40)


def quotient(rate: float, gap: int, word: int) -> Decimal:
    """ln(word / 2**64) / ln(1 - e**(-rate * gap)), to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        exact = Fraction(rate) * gap
        hazard = -(1 - (-Decimal(exact.numerator) / Decimal(exact.denominator)).exp()).ln()
        return -(Decimal(word) / 2**64).ln() / hazard


@given(rate=RATES, gap=st.integers(1, 10**6), word=st.integers(_EXTREME, 2**64 - _EXTREME))
def test_the_margin_is_far_above_the_error_of_floating_point(
    rate: float, gap: int, word: int
) -> None:
    exact = quotient(rate, gap, word) if rate * gap < 60 else Decimal("Infinity")
    if exact < 2 * LIMIT:
        estimate = _surprise(word) / _hazard(rate * gap)
        assert abs(Decimal(estimate) / exact - 1) < Decimal(_MARGIN / 32)


@given(rate=RATES, gap=st.integers(1, 1000), word=WORDS)
def test_the_quick_answer_is_the_exact_one(
    rate: float, gap: int, word: int, script: Script
) -> None:
    waiting = WaitingTime(rate=rate)
    exact = waiting._settle_exactly(gap, Uniform(script(5, 5, 5), word))
    assert waiting._settle(gap, word, script(5, 5, 5)) == exact


@given(rate=st.floats(min_value=0.01, max_value=2), gap=st.integers(1, 10), word=WORDS)
def test_the_answer_is_the_logarithm_rounded_up(
    rate: float, gap: int, word: int, script: Script
) -> None:
    if word == 0:
        return
    # The uniform number continues with zeros, so it is word / 2**64 exactly.
    expected = min(int(quotient(rate, gap, word).to_integral_value("ROUND_CEILING")), LIMIT + 1)
    assert WaitingTime(rate=rate).draw(gap, script(word)) == expected


@pytest.mark.parametrize("wait", [1, 2, 3, 1000, 10**6])
def test_words_at_a_border_are_settled_by_the_next_word(wait: int, script: Script) -> None:
    # U = (1 - p)**wait to 128 bits, a unit less or more: less has not ended after ``wait`` rounds.
    with localcontext() as context:
        context.prec = 80
        miss = 1 - (-Decimal(20)).exp()
        first, second = divmod(int(miss**wait * 2**128), 2**64)
    waiting = WaitingTime(rate=Fraction(1, 2))
    assert waiting.draw(40, script(first, second - 1)) == wait + 1
    assert waiting.draw(40, script(first, second + 1)) == wait


def test_an_open_gap_is_crossed_at_once(script: Script) -> None:
    assert WaitingTime(rate=1).draw(0, script()) == 1
    assert WaitingTime(rate=1).draw(-5, script()) == 1


def test_waits_beyond_the_limit_are_not_told_apart(script: Script) -> None:
    assert WaitingTime(rate=1).draw(10**9, script(2**63)) == LIMIT + 1
    assert WaitingTime(rate=1).draw(10**9, script(0)) == LIMIT + 1


@given(
    rate=st.floats(min_value=0.01, max_value=3),
    gap=st.integers(-2, 100),
    lengths=st.one_of(
        st.lists(st.integers(1, 1000), max_size=10),
        st.lists(st.integers(1, 1000), min_size=_WORTH_A_BLOCK, max_size=80),
    ),
    seed=st.integers(0, 2**32),
)
def test_a_block_of_stretches_is_as_if_drawn_one_by_one(
    rate: float, gap: int, lengths: list[int], seed: int, script: Script
) -> None:
    waiting, words = WaitingTime(rate=rate), seeded(seed).words(80).tolist()
    expected = None
    for index, (length, word) in enumerate(zip(lengths, words, strict=False)):
        wait = 1 if gap - index <= 0 else waiting._settle(gap - index, word, script())
        if wait <= length:
            expected = index, wait
            break
    assert waiting.first(gap, np.array(lengths, dtype=np.int64), script(*words)) == expected


def test_longer_gaps_wait_longer_on_the_same_word(script: Script) -> None:
    waits = [WaitingTime(rate=0.5).draw(gap, script(2**62)) for gap in range(100)]
    assert all(shorter <= longer for shorter, longer in pairwise(waits))
