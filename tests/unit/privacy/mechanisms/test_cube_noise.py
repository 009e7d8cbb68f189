"""Noise that is uniform in cubes: its law as fractions, its privacy with all coins enumerated."""

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.chance import fits

from littlestone.privacy.mechanisms.noise.geometric import CubeNoise, Geometric, acceptance
from littlestone.randomness import Randomness, seeded


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20])
def test_what_is_accepted_has_the_law_of_the_cubes(width: int) -> None:
    """C(k + d, d) * a(k) is (2k + 1)^d, up to one factor for all k."""
    for reach in (*range(40), 10**6):
        chance = acceptance(reach, width)
        assert 0 < chance <= 1
        proposed = math.comb(reach + width, width)
        factor = Fraction(1, 2**width * math.factorial(width))
        assert proposed * chance == (2 * reach + 1) ** width * factor


class Coins:
    """Answers as it is told, and notices that nothing more may be asked."""

    def __init__(self, answers: list[int]) -> None:
        self._answers = answers

    def below(self, bound: int) -> int:
        answer = self._answers.pop(0)
        assert answer < bound
        return answer

    def draw(self, rng: Any) -> int:
        del rng
        return self._answers.pop(0)


class Narrow:
    """Broken: a cube's size of one geometric number, so that small ones are too frequent."""

    def __init__(self, noise: CubeNoise) -> None:
        self._noise = noise

    def draw(self, rng: Randomness) -> list[int]:
        reach = self._noise._side.draw(rng)
        return [rng.below(2 * reach + 1) - reach for _ in range(self._noise.width)]


RATE, MOST = 1.0, 24


def drawn(noise: Any, answers: list[int]) -> list[int] | None:
    """What these coins make of it, None if it asks for more: the first try was rejected."""
    coins, rng = Coins(answers), seeded(0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Geometric, "draw", lambda _, rng: coins.draw(rng))
        patched.setattr(type(rng), "below", lambda _, bound: coins.below(bound))
        try:
            vector: list[int] = noise.draw(rng)
        except IndexError:
            return None
    return vector


def law(noise: Any, numbers: int, *, accepts: bool) -> dict[tuple[int, int], float]:
    """Of two parts, with all coins enumerated but where symmetry says the rest."""
    weights: dict[int, float] = {}
    for reach in range(MOST):
        sums = math.comb(reach + numbers - 1, numbers - 1) * math.exp(-RATE * reach)
        sides = [reach, *[0] * (numbers - 1)]
        share, begin = 1.0, sides
        if accepts:
            bound = acceptance(reach, 2).denominator
            accepted = [v for v in range(bound) if drawn(noise, [*sides, v, 0, 0])]
            share, begin = len(accepted) / bound, [*sides, accepted[-1]]
        places = range(2 * reach + 1)
        made = {tuple(drawn(noise, [*begin, i, j]) or ()) for i in places for j in places}
        assert len(made) == len(places) ** 2 and max(max(pair) for pair in made) == reach
        weights[reach] = sums * share / len(made)
    whole = sum(weight * (2 * reach + 1) ** 2 for reach, weight in weights.items())
    tails = [sum(weights[k] for k in range(reach, MOST)) / whole for reach in range(MOST)]
    parts = range(1 - MOST, MOST)
    return {(i, j): tails[max(abs(i), abs(j))] for i in parts for j in parts}


def exact_epsilon(law: dict[tuple[int, int], float]) -> float:
    """For vectors that differ by (1, -1), as far out as nothing was cut off."""
    near = [(i, j) for i, j in law if max(abs(i), abs(j)) < MOST // 3]
    return max(abs(math.log(law[i, j] / law[i - 1, j + 1])) for i, j in near)


@pytest.mark.slow
def test_vectors_whose_parts_differ_by_one_cost_the_rate() -> None:
    noise = CubeNoise(rate=RATE, width=2)
    enumerated = law(noise, 3, accepts=True)
    assert exact_epsilon(enumerated) == pytest.approx(RATE, abs=1e-6)
    factor = enumerated[0, 0]
    for (i, j), chance in enumerated.items():
        assert chance == pytest.approx(factor * math.exp(-RATE * max(abs(i), abs(j))), abs=1e-9)
    assert exact_epsilon(law(Narrow(noise), 1, accepts=False)) > 1.05


def test_the_largest_part_has_its_law() -> None:
    """P(max|z| = m) is ((2m + 1)^d - (2m - 1)^d) * q^m, up to one factor."""
    rate, width, count = 0.7, 3, 20_000
    noise, rng = CubeNoise(rate=rate, width=width), seeded(5)
    shells = {
        m: ((2 * m + 1) ** width - (max(0, 2 * m - 1) ** width if m else 0)) * math.exp(-rate * m)
        for m in range(120)
    }
    total = sum(shells.values())
    seen = [max(map(abs, noise.draw(rng))) for _ in range(count)]
    law = {m: weight / total for m, weight in shells.items()}
    assert fits(seen, law)
    narrow = Narrow(noise)
    assert not fits([max(map(abs, narrow.draw(rng))) for _ in range(count)], law)
