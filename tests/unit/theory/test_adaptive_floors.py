"""Floors of adversaries that answer: the formulas, the documented numbers, and the exact games."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from tests.reference.private_game import PrivateGame

from littlestone.theory.adaptive_floors import (
    WaitingGame,
    burst_and_wait_lower_bound,
    burst_lower_bound,
    dimension_lower_bound,
    key_sets_lower_bound,
    wait_down_tree_lower_bound,
    wait_lower_bound,
)

MILLION: dict[str, Any] = {"rounds": 10**6}


class Plain:
    """The formulas of docs/theory/floors.md, term by term, with fifty digits."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.growth, self.delta = Decimal(epsilon).exp(), Decimal(delta)

    def step(self, p: Decimal) -> Decimal:
        bent = 1 - (1 - p - self.delta) / self.growth
        return min(self.growth * p + self.delta, bent, Decimal(1))

    def steps(self, p: Decimal, times: int) -> Decimal:
        for _ in range(times):
            p = self.step(p)
        return p

    def late(self, p: Decimal, i: int) -> Decimal:
        def after(k: int) -> Decimal:
            grown = sum((self.growth ** min(j, k) * p for j in range(1, i + 1)), Decimal(0))
            slack = self.delta * (self.growth**k - 1) / (self.growth - 1)
            return self.steps(grown + slack, i - k)

        return min(after(k) for k in range(i + 1)) if i else Decimal(0)

    def game(self, share: Decimal, burst: int, starts: int, longest: int) -> Decimal:
        first = sum((1 - self.steps(share, j) for j in range(burst)), Decimal(0))
        right = self.steps(share, burst) if burst else Decimal(0)
        each = (right or share) / starts
        late = (self.late(each, i) for i in range(longest + 1))
        return first + sum((max(Decimal(0), 1 - right - u) for u in late), Decimal(0))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("delta", [0.0, 1e-4, 0.05])
@pytest.mark.parametrize("rounds", [5, 40, 2000])
def test_the_floors_are_their_formulas_rounded_downwards(
    epsilon: float, delta: float, rounds: int
) -> None:
    with localcontext() as digits:
        digits.prec = 50
        plain = Plain(epsilon, delta)
        for concepts in (2, 7):
            game = WaitingGame.without_burst(
                concepts=concepts, rounds=rounds, epsilon=epsilon, delta=delta
            )
            exact = plain.game(Decimal(1) / (concepts - 1), 0, game.within, game.counted - 1)
            assert 0 <= exact - Decimal(game.mistakes) < Decimal("1e-9")
        game = WaitingGame.after_burst(concepts=9, rounds=rounds, epsilon=epsilon, delta=delta)
        if 0 < game.burst < min(rounds, game.counted):
            longest = game.counted - game.burst - 1
            exact = plain.game(Decimal(1) / 9, game.burst, game.within, longest)
            assert 0 <= exact - Decimal(game.mistakes) < Decimal("1e-9")
        steps = min(rounds, 200)
        exact = sum((1 - plain.steps(Decimal(1) / 9, j) for j in range(steps)), Decimal(0))
        found = burst_lower_bound(concepts=9, rounds=steps, epsilon=epsilon, delta=delta)
        assert 0 <= exact - Decimal(found) < Decimal("1e-9")


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds", "documented"),
    [
        (1.0, 1e-6, 10**4, 22.29),
        (1.0, 1e-6, 10**6, 24.32),
        (1.0, 1e-9, 10**6, 34.07),
        (0.5, 1e-6, 10**6, 44.77),
        (2.0, 1e-6, 10**6, 13.60),
        (0.1, 1e-6, 10**6, 186.9),
    ],
)
def test_the_documented_floors_of_points(
    epsilon: float, delta: float, rounds: int, documented: float
) -> None:
    found = burst_and_wait_lower_bound(rounds=rounds, epsilon=epsilon, delta=delta)
    assert documented <= found < documented * 1.001


def test_the_documented_floors_of_other_classes() -> None:
    pure: dict[str, Any] = {**MILLION, "epsilon": 1.0, "delta": 0.0}
    assert 12.96 <= wait_lower_bound(concepts=2, **pure) < 12.97
    assert 19.88 <= wait_lower_bound(concepts=1024, **pure) < 19.89
    depths = {8: 86.94, 10: 106.53, 19: 190.64, 38: 355.01}
    for depth, documented in depths.items():
        assert documented <= wait_down_tree_lower_bound(depth=depth, **pure) < documented + 0.01
    assert 87.94 <= dimension_lower_bound(littlestone_dimension=9, **pure) < 87.95
    assert 53.04 <= key_sets_lower_bound(keys=3, universe=1024, **pure) < 53.05
    some: dict[str, Any] = {**MILLION, "epsilon": 1.0, "delta": 1e-6}
    assert 72.61 <= key_sets_lower_bound(keys=3, **some) < 72.62


@pytest.mark.parametrize(("rounds", "points"), [(1, 1), (2, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 0.05), (0.1, 0.02)])
def test_no_floor_is_above_the_value_of_the_game(
    rounds: int, points: int, epsilon: float, delta: float
) -> None:
    value = PrivateGame(rounds, points, epsilon, delta).value()
    budget: dict[str, Any] = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    floors = [
        function(concepts=points + 1, **budget)
        for function in (wait_lower_bound, burst_lower_bound, burst_and_wait_lower_bound)
    ]
    assert max(floors) <= value + 1e-7
    # With one concept more than there are, or one round more, a floor would be above some value.
    if (rounds, points, delta) == (3, 1, 0.0):
        assert wait_lower_bound(concepts=2, **budget) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5, 1.0, 3.0])
def test_the_closed_form_of_theorem_a_is_below(epsilon: float) -> None:
    for concepts, rounds in ((2, 10**6), (1000, 10**4)):
        found = wait_lower_bound(concepts=concepts, rounds=rounds, epsilon=epsilon, delta=0.0)
        longest = 0
        while 2 * longest < rounds:
            mass = (concepts - 1) * (rounds - 2 * longest + 1) * -math.expm1(-epsilon)
            if longest * epsilon > math.log(mass):
                break
            longest += 1
        assert found >= longest - 1 / -math.expm1(-epsilon)


def test_floors_grow_with_what_makes_learning_harder() -> None:
    for delta in (0.0, 1e-6):
        by_budget = [
            wait_lower_bound(concepts=64, rounds=10**5, epsilon=e, delta=delta)
            for e in (4.0, 2.0, 1.0, 0.5, 0.1, 0.01)
        ]
        by_rounds = [
            wait_lower_bound(concepts=2, rounds=10**k, epsilon=0.5, delta=delta)
            for k in range(1, 8)
        ]
        by_depth = [
            wait_down_tree_lower_bound(depth=d, rounds=10**5, epsilon=0.5, delta=delta)
            for d in (1, 2, 5, 20, 100)
        ]
        for numbers in (by_budget, by_rounds, by_depth):
            assert all(a < b for a, b in pairwise(numbers))


def test_each_level_pays_the_logarithm() -> None:
    pure: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0}
    one = wait_lower_bound(concepts=2, rounds=10**5, **pure)
    assert wait_down_tree_lower_bound(depth=10, rounds=10**6, **pure) == pytest.approx(10 * one)
    slope = wait_lower_bound(concepts=2, rounds=10**12, **pure) - wait_lower_bound(
        concepts=2, rounds=10**6, **pure
    )
    assert slope == pytest.approx(6 * math.log(10), rel=0.02)


def test_of_infinitely_many_keys_nothing_is_learned_without_delta() -> None:
    assert burst_lower_bound(rounds=500, epsilon=1.0, delta=0.0) == 500
    assert key_sets_lower_bound(keys=2, rounds=500, epsilon=1.0, delta=0.0) == pytest.approx(500)


def test_small_cases() -> None:
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0}
    assert wait_lower_bound(concepts=1, rounds=9, **budget) == 0
    assert wait_lower_bound(concepts=2, rounds=1, **budget) == pytest.approx(1)
    assert dimension_lower_bound(littlestone_dimension=0, rounds=9, **budget) == 0
    assert dimension_lower_bound(littlestone_dimension=1, rounds=9, **budget) == 1
    assert wait_down_tree_lower_bound(depth=0, rounds=9, **budget) == 0
    # Every learner, private or not, errs once a level in this order of a round.
    assert wait_down_tree_lower_bound(
        depth=5, rounds=10**6, epsilon=800.0, delta=0.0
    ) == pytest.approx(5)
    assert key_sets_lower_bound(keys=4, universe=4, rounds=99, **budget) > 0
    with pytest.raises(ValueError, match="rounds"):
        wait_lower_bound(concepts=2, rounds=0, **budget)
    with pytest.raises(ValueError, match="depth"):
        wait_down_tree_lower_bound(depth=-1, rounds=9, **budget)


@cache
def long_floor(delta: Any) -> float:
    return burst_and_wait_lower_bound(rounds=10**6, epsilon=1.0, delta=delta)


@pytest.mark.parametrize("delta", [Fraction(1, 10**400), 5e-324])
def test_a_delta_below_every_float_stays_positive(delta: Any) -> None:
    """With δ = 0 unbounded points are never learned, and the floor is the number of rounds."""
    assert long_floor(delta) == long_floor(5e-324) < 1000
    assert wait_lower_bound(concepts=8, rounds=1000, epsilon=0.5, delta=delta) > 14
