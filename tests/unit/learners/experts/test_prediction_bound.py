"""The bound on updates holds where they can be played out, and moves the right way."""

import numpy as np
import pytest

from littlestone.learners.experts.prediction_plan import updates_upper_bound


def bound(**changed: float) -> float:
    given = {"copies": 200, "rate": 0.1, "rounds": 10_000, "base_mistakes": 1}
    return updates_upper_bound(**{**given, "failure_probability": 0.05, **changed})  # type: ignore[arg-type]


def updates(rng: np.random.Generator, *, copies: int, rate: float, rounds: int) -> int:
    """One point, all copies wrong at first: every copy learns it with its first example."""
    erring, count = copies, 0
    for _ in range(rounds):
        wrong = 1 / (1 + np.exp(-rate * (erring - copies / 2)))
        if rng.random() < 1 - (1 - wrong) ** 2:
            count += 1
            erring -= rng.random() < erring / copies
    return count


def test_what_is_played_stays_below_it() -> None:
    rng = np.random.default_rng(1)
    played = [updates(rng, copies=200, rate=0.1, rounds=2000) for _ in range(5)]
    assert 100 < max(played) <= bound(rounds=2000)


@pytest.mark.parametrize("more", ["rounds", "base_mistakes"])
def test_more_to_do_is_more(more: str) -> None:
    given = {"rounds": 10_000, "base_mistakes": 1}
    assert bound(**{more: 3 * given[more]}) > bound()


def test_a_steadier_majority_strays_less() -> None:
    assert bound(rate=0.2) < bound() < bound(rate=0.05)
    assert bound(failure_probability=0.001) > bound()


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="copies"):
        bound(copies=0)
    with pytest.raises(ValueError, match="rate"):
        bound(rate=0.0)
