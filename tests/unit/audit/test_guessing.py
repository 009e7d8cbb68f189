"""The bound from guesses fails as rarely as it says, whatever the player does; by exact sums."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from littlestone.audit.auditing import Guesses, guessing_lower_bound

FAILURE = 0.01


def chance(epsilon: float, delta: float = 0.0) -> float:
    """How often the best guess is right, where (epsilon, delta) is all that holds."""
    return (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))


def failing(guesses: int, epsilon: float, delta: float, *, believed: float) -> float:
    """How often the bound exceeds the true epsilon, at the delta that it believes in."""
    return sum(
        float(binom.pmf(right, guesses, chance(epsilon, delta)))
        for right in range(guesses + 1)
        if guessing_lower_bound(
            right, guesses, games=guesses, failure_probability=FAILURE, delta=believed
        )
        > epsilon
    )


@pytest.mark.parametrize("guesses", [1, 10, 40, 160])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_it_fails_as_rarely_as_it_says(guesses: int, epsilon: float) -> None:
    assert failing(guesses, epsilon, 0.0, believed=0.0) <= FAILURE


@pytest.mark.parametrize("delta", [1e-3, 0.05, 0.3])
def test_luck_of_probability_delta_is_paid_for(delta: float) -> None:
    assert failing(200, 1.0, delta, believed=delta) <= FAILURE


def test_a_bound_that_forgets_delta_would_be_noticed() -> None:
    assert failing(200, 1.0, 0.3, believed=0.0) > 0.5


@pytest.mark.slow
def test_whoever_stops_when_it_suits_them_gains_nothing() -> None:
    """The chance that any look up to 600 guesses exceeds epsilon, summed over all paths."""
    epsilon = 1.0
    standing, failed, looks = np.array([1.0]), 0.0, Guesses(delta=0.0, failure_probability=FAILURE)
    for guesses in range(1, 600):
        standing = np.convolve(standing, [1 - chance(epsilon), chance(epsilon)])
        if guesses == looks.next_look:
            exceeds = [_bound_at(looks, right, guesses) > epsilon for right in range(guesses + 1)]
            failed += float(standing[exceeds].sum())
            standing[exceeds] = 0.0
            _bound_at(looks, 0, guesses, go_on=True)
    assert 0 < failed <= FAILURE


def _bound_at(looks: Guesses, right: int, guesses: int, *, go_on: bool = False) -> float:
    """What the next look would find; ``go_on`` takes it."""
    asked = Guesses(delta=0.0, failure_probability=FAILURE)
    asked.right, asked.wrong, asked.games = right, guesses - right, guesses
    asked.next_look, asked._looks = looks.next_look, looks._looks
    asked._look()
    if go_on:
        looks.next_look, looks._looks = asked.next_look, asked._looks
    return asked.bound


def test_passing_is_free_and_wrong_guesses_are_not() -> None:
    passing, wrong = (Guesses(delta=0.0, failure_probability=FAILURE) for _ in range(2))
    for _ in range(31):
        for _ in range(5):
            passing.add(None)
        passing.add(True)
        wrong.add(True)
        wrong.add(False)
    assert passing.bound > 1.0 and passing.games == 186
    assert wrong.bound == 0.0


@pytest.mark.parametrize(
    "counts",
    [{"right": 3, "guesses": 2, "games": 5}, {"right": 1, "guesses": 2, "games": 1}],
)
def test_impossible_counts_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        guessing_lower_bound(**counts, failure_probability=FAILURE)
