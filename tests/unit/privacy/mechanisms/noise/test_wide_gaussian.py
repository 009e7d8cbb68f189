"""Strips and coins: what each word must become, and that the law follows from it exactly."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest

from littlestone.privacy.mechanisms.noise import gaussian
from littlestone.privacy.mechanisms.noise.gaussian import WideGaussian
from littlestone.randomness import Randomness, seeded

Script = Callable[..., Randomness]
VARIANCES = [Fraction(2**16), Fraction(10**7, 3), Fraction(2**41), Fraction(2**76)]


def chance(sampler: WideGaussian, k: int, strip: int) -> float:
    return sampler._chance(k, int(sampler._weights[strip]), 60)[0] / 2**60


@pytest.mark.parametrize("variance", VARIANCES)
def test_what_is_proposed_and_kept_has_the_law(variance: Fraction) -> None:
    sampler = WideGaussian(variance)
    width, strips = 1 << sampler._shift, sampler._strips
    assert sum(sampler._weights.tolist()) + 2 * sampler._tail == 2**32
    for strip in (0, 1, strips - 200, strips - 1, strips, strips + 1, strips + 300):
        for k in {(strip - strips) * width, (strip - strips + 1) * width - 1}:
            kept = chance(sampler, k, strip)
            assert 0 < kept <= 1
            # Weight times chance is unit * e**(-k**2 / 2v): the same unit in every strip.
            law = sampler._unit * exp(-(k**2) / float(2 * variance))
            assert sampler._weights[strip] * kept == pytest.approx(law, rel=1e-9)


def test_most_proposals_are_kept() -> None:
    for variance in VARIANCES:
        sampler = WideGaussian(variance)
        per_strip = sampler._unit / (1 << sampler._shift) / 2**32
        assert per_strip * sqrt(2 * pi * float(variance)) > 0.99


def test_words_choose_strip_number_and_coin(script: Script) -> None:
    variance = Fraction(10**7)
    sampler = WideGaussian(variance)
    shift, coin_bits = sampler._shift, 32 - sampler._shift
    strip = sampler._strips + 70
    for place in (int(sampler._ends[strip - 1]), int(sampler._ends[strip]) - 1):
        k = (70 << shift) + 3
        heads = int(chance(sampler, k, strip) * 2**coin_bits)
        for coin, expected in [(heads - 50, True), (heads + 50, False)]:
            word = place << 32 | 3 << coin_bits | coin
            values, kept = sampler._proposed(1, script(word))
            assert (values.tolist(), kept.tolist()) == ([k], [expected])


def test_close_coins_are_tossed_in_whole_numbers(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = WideGaussian(Fraction(10**9))
    words = np.random.default_rng(1).integers(2**63, size=2000).tolist()
    quickly = sampler._proposed(2000, script(*words))
    monkeypatch.setattr(gaussian, "_CLOSE", 2.0**40)  # everything is close
    exactly = sampler._proposed(2000, script(*words))
    assert (quickly[1] == exactly[1]).all()
    assert (quickly[0] == exactly[0]).all()
    assert not quickly[1].all()


@pytest.mark.parametrize("left", [False, True])
def test_what_lies_beyond_the_strips_has_the_law(left: bool) -> None:
    sampler = WideGaussian(Fraction(2**24))
    start = (sampler._strips << sampler._shift) + left
    step = 1 - exp(-start / 2**24)
    for further in (0, 1, 500):
        kept = sampler._tail_chance(start, further, 60)[0] / 2**60
        proposed = sampler._tail * step * (1 - step) ** further * kept
        law = sampler._unit / (1 << sampler._shift) * exp(-((start + further) ** 2) / 2**25)
        assert 0 < kept < 1
        assert proposed == pytest.approx(law, rel=1e-6)
    drawn = {sampler._beyond_strips(left, seeded(number))[0] for number in range(50)}
    assert all(abs(k) >= start and (k < 0) == left for k in drawn)
    assert len(drawn) > 40
