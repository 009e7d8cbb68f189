"""WideGaussian as it runs: what each of the 2**64 words of a proposal becomes.

The code's answer is constant on stretches of words, and monotone in the coin; it is run at the ends
of each stretch, and where the coin turns from heads to tails. So all words are accounted for, and
the law that comes of them is compared with the discrete Gaussian one in whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import Dart, Law, Memoryless, Tape, law_of
from littlestone.audit.substitution import replaced
from littlestone.privacy.mechanisms.noise import gaussian
from littlestone.privacy.mechanisms.noise.exact import exp_bounds, fraction
from littlestone.privacy.mechanisms.noise.gaussian import WideGaussian
from littlestone.privacy.mechanisms.noise.geometric import Geometric

VARIANCE = Fraction(2**16)
"""The smallest that it draws for: every value within the strips is gone through."""
PLACES = 1 << 32
FAR = 20
"""Coins this far from the chance are settled by floats."""
Words = NDArray[np.uint64]


class Given:
    """Gives the words that it was given, and the further bits of those coins that ask for them."""

    def __init__(self, words: Words, bits: Any) -> None:
        self._words, self._bits = words, bits
        self.asked = 0

    def words(self, count: int) -> Words:
        assert count == len(self._words)
        return self._words

    def bits(self, count: int) -> int:
        self.asked += 1
        given = self._bits
        return int(given) if np.ndim(given) == 0 else int(given[self.asked - 1])

    def word(self) -> int:
        return 0  # of a coin that begins as its chance does: the least that it can be


def proposed(
    sampler: WideGaussian, places: Any, within: Any, coins: Any, bits: Any = 0
) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
    """Values, which are kept, and how many coins asked for more bits."""
    places, within, coins = np.broadcast_arrays(places, within, coins)
    low = within.astype(np.uint64) << np.uint64(sampler._coin_bits) | coins.astype(np.uint64)
    given: Any = Given(places.astype(np.uint64) << np.uint64(32) | low, bits)
    values, kept = sampler._proposed(len(low), given)
    return values, kept, given.asked


def places_of(sampler: WideGaussian) -> tuple[dict[int, int], dict[int, int]]:
    """By the first value of a strip: how many places lead to it, and the first of them."""
    ends = sampler._ends[:-1].astype(np.int64)
    cells = np.arange(1 << 16, dtype=np.int64) << 16
    cuts = np.unique(np.concatenate([cells, ends[ends < ends[-1]], [int(ends[-1])]]))
    cuts = cuts[cuts <= ends[-1]]
    first, last = cuts[:-1], cuts[1:] - 1
    strips = [proposed(sampler, edge, 0, 0)[0] for edge in (first, last)]
    assert (strips[0] == strips[1]).all()
    counts: dict[int, int] = {}
    starts: dict[int, int] = {}
    for value, start, end in zip(strips[0].tolist(), first.tolist(), last.tolist(), strict=True):
        counts[value] = counts.get(value, 0) + end - start + 1
        starts.setdefault(value, start)
    return counts, starts


@dataclass(frozen=True)
class Kept:
    """How much of a coin keeps a value: between low and low + 1, of 2**64."""

    values: list[int]
    low: list[int]


def coins_of(sampler: WideGaussian, starts: dict[int, int], step: int) -> Kept:
    """Of every ``step``-th value within the strips."""
    width, coin_bits = 1 << sampler._shift, sampler._coin_bits
    chosen = [(start, i) for start in sorted(starts) for i in range(width)][::step]
    places = np.array([starts[start] for start, _ in chosen])
    within = np.array([i for _, i in chosen])
    values, _, _ = proposed(sampler, places, within, 0)
    turn = _turning_points(sampler, places, within)
    missing, most = 64 - coin_bits, (1 << coin_bits) - 1
    for off in (-FAR, *range(-12, 0), *range(1, 13), FAR):
        coins = turn + off
        fits = np.flatnonzero((coins >= 0) & (coins <= most))
        for bits in (0, (1 << missing) - 1):
            _, kept, _ = proposed(sampler, places[fits], within[fits], coins[fits], bits)
            assert (kept == (off < 0)).all()
    for coin, fits in ((0, np.flatnonzero(turn > FAR)), (most, np.flatnonzero(turn < most - FAR))):
        _, kept, asked = proposed(sampler, places[fits], within[fits], coin)
        assert asked == 0 and (kept == (coin == 0)).all()
    low, high = np.zeros(len(turn), dtype=object), np.full(len(turn), 1 << missing, dtype=object)
    for _ in range(missing):
        middle = (low + high) // 2
        _, kept, asked = proposed(sampler, places, within, turn, middle)
        assert asked == len(turn)  # each coin there is tossed in whole numbers
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return Kept(
        values.tolist(), [(int(t) << missing) + int(m) for t, m in zip(turn, low, strict=True)]
    )


def _turning_points(
    sampler: WideGaussian, places: NDArray[np.int64], within: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The last coins that are kept for some further bits."""
    low = np.zeros(len(places), dtype=np.int64)
    high = np.full(len(places), 1 << sampler._coin_bits, dtype=np.int64)
    for _ in range(sampler._coin_bits):
        middle = (low + high) // 2
        _, kept, _ = proposed(sampler, places, within, middle)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return low


def faults(sampler: WideGaussian, *, step: int = 1) -> int:
    """How many values have a law that is not proportional to e**(-k**2 / 2v)."""
    counts, starts = places_of(sampler)
    found = coins_of(sampler, starts, step)
    wrong = 0
    for value, kept in zip(found.values, found.low, strict=True):
        count = counts[value >> sampler._shift << sampler._shift]
        low, high = exp_bounds(value**2 / (2 * sampler.variance), 160)
        # places · (kept of 2**64) is unit · e**(-k**2 / 2v), the same unit for all values.
        wanted = (sampler._unit * low << 64, sampler._unit * high << 64)
        wrong += not (count * kept << 160 <= wanted[1] and wanted[0] <= count * (kept + 1) << 160)
    return wrong


def test_every_word_has_its_place() -> None:
    sampler = WideGaussian(VARIANCE)
    counts, _ = places_of(sampler)
    assert sum(counts.values()) + 2 * sampler._tail == PLACES
    assert sorted(counts) == list(range(-sampler._strips << 1, sampler._strips << 1, 2))


def test_the_law_of_all_words_is_the_gaussian_one() -> None:
    assert faults(WideGaussian(VARIANCE), step=29) == 0


@pytest.mark.slow
def test_the_law_of_all_words_and_all_values_is_the_gaussian_one() -> None:
    assert faults(WideGaussian(VARIANCE)) == 0


@pytest.mark.parametrize("left", [False, True])
def test_the_law_beyond_the_strips_is_the_gaussian_one(left: bool) -> None:
    sampler = WideGaussian(VARIANCE)

    def play(tape: Tape) -> Any:
        return sampler._beyond_strips(left, tape)

    with replaced(Geometric, draw=settled):
        law: Law = law_of(play, rounds=1, negligible=UNIT >> 20, most=100_000)
    kept = {view[0]: mass for view, mass in law.views.items() if view[1]}  # type: ignore[index]
    assert len(kept) > 50
    for value, mass in kept.items():
        # Of all words tail / 2**32 come here; as in the strips, the law is unit · e**(-k**2 / 2v).
        unit = Fraction(sampler._unit, sampler._tail << sampler._shift)
        low, high = (unit * end / (1 << 400) for end in exp_bounds(value**2 / (2 * VARIANCE), 400))
        # Coins that agree with their chance in 64 bits are negligible and left out.
        assert low <= Fraction(mass.high, UNIT) + Fraction(1, 1 << 64)
        assert Fraction(mass.low, UNIT) <= high


def settled(noise: Geometric, rng: Tape) -> int:
    """Its law; a number that is squared has to be decided."""
    return int(Dart(Memoryless(rng, fraction(noise.rate), high=noise.size)))


def _heavier_strip(sampler: WideGaussian) -> None:
    sampler._unit -= 1


def _guide_ahead(sampler: WideGaussian) -> None:
    sampler._guide = np.minimum(sampler._guide + 1, len(sampler._weights) - 1).astype(np.int16)


def _coin_of_another_strip(sampler: WideGaussian) -> None:
    sampler._chances = np.roll(sampler._chances, 1)


@pytest.mark.parametrize("broken", [_heavier_strip, _guide_ahead, _coin_of_another_strip])
def test_a_wrong_sampler_is_noticed(broken: Callable[[WideGaussian], None]) -> None:
    sampler = WideGaussian(VARIANCE)
    broken(sampler)
    try:
        wrong = faults(sampler, step=29)
    except AssertionError:
        return
    assert wrong > 0


def test_coins_that_floats_decide_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian, "_CLOSE", -1.0)
    with pytest.raises(AssertionError):
        faults(WideGaussian(VARIANCE), step=29)
