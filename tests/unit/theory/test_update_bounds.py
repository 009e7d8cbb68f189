"""Lemma update: its arithmetic, and its probability against exact and simulated matchings."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.chance import FALSE_FAILURE_PROBABILITY

from littlestone.randomness import Randomness
from littlestone.theory.realizable_bounds import (
    surviving_pairs_lower_bound,
    update_failure_upper_bound,
)


def test_the_setting_of_the_proof_gives_its_recurrence() -> None:
    # M = M_s/2, r₁ = M/4, r₂ = M²/(384·N_{s+1}) leave M_s²/(512·N_{s+1}).
    pairs, next_slots = 3 * 2**12, 2**14
    collisions = pairs // 2
    survivors = surviving_pairs_lower_bound(
        collisions=collisions,
        next_slots=next_slots,
        guess_slack=collisions / 4,
        matching_slack=collisions**2 / (384 * next_slots),
    )
    assert survivors == Fraction(pairs**2, 512 * next_slots)


def test_too_much_slack_is_refused() -> None:
    with pytest.raises(ValueError, match="guess_slack"):
        surviving_pairs_lower_bound(
            collisions=20, next_slots=100, guess_slack=4.5, matching_slack=1
        )


@pytest.mark.parametrize("survivors", ["aabb", "aaab", "aaaa", "aabc"])
def test_one_alternative_has_a_third_of_the_pairs_on_average(survivors: str) -> None:
    # The heart of the lemma, over all matchings: the better alternative has at least 1/3 of the
    # expected surviving pairs u²/(2N), for any composition (u ≥ 6 is needed for whole numbers).
    slots = 6
    order = survivors + "." * (slots - len(survivors))
    orders = list(itertools.permutations(order))
    collide = Fraction(
        sum(
            a != b and "." not in a + b
            for o in orders
            for a, b in zip(o[::2], o[1::2], strict=True)
        ),
        len(orders),
    )
    letters = {
        letter: Fraction(
            sum(a == b == letter for o in orders for a, b in zip(o[::2], o[1::2], strict=True)),
            len(orders),
        )
        for letter in set(survivors)
    }
    assert max(collide, *letters.values()) > Fraction(len(survivors) ** 2, 6 * slots)


COLLISIONS, NEXT_SLOTS, RUNS = 800_000, 1_000_000, 4
SLACKS = {"guess_slack": 3500.0, "matching_slack": 12_000.0}
BOUND = surviving_pairs_lower_bound(collisions=COLLISIONS, next_slots=NEXT_SLOTS, **SLACKS)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.34, 0.5, 2 / 3, 1.0])
def test_simulated_updates_leave_what_the_lemma_says(rng: Randomness, share: float) -> None:
    # The lemma itself bounds the false-failure probability of this test.
    failure = update_failure_upper_bound(
        dimension=1, slots=2 * NEXT_SLOTS, collisions=COLLISIONS, labelings=1, **SLACKS
    )
    assert failure * RUNS < FALSE_FAILURE_PROBABILITY
    generator = rng.generator()
    for _ in range(RUNS):
        assert better_alternative(generator.permutation(guessed(generator, share))) > BOUND


@pytest.mark.statistical
def test_without_the_permutation_the_lemma_fails(rng: Randomness) -> None:
    letters = guessed(rng.generator(), share=0.5)
    # No more than half of the slots are alive, so that each pair has a dead one.
    assert stats.binom.sf(NEXT_SLOTS // 2, COLLISIONS, 0.5) < FALSE_FAILURE_PROBABILITY
    apart = np.zeros(NEXT_SLOTS, dtype=np.int64)
    apart[::2], apart[1::2] = letters[: NEXT_SLOTS // 2], letters[NEXT_SLOTS // 2 :]
    assert better_alternative(apart) <= BOUND


def guessed(generator: np.random.Generator, share: float) -> NDArray[np.int64]:
    """Survivors of the guesses first, ``share`` of them with one hypothesis, the rest dead."""
    alive = int(generator.binomial(COLLISIONS, 0.5))
    first = round(share * alive)
    letters = np.zeros(NEXT_SLOTS, dtype=np.int64)
    letters[:first], letters[first:alive] = 1, 2
    return letters


def better_alternative(letters: NDArray[np.int64]) -> int:
    pairs = letters.reshape(-1, 2)
    both = (pairs > 0).all(axis=1)
    collide = int((both & (pairs[:, 0] != pairs[:, 1])).sum())
    agree = max(int((pairs == letter).all(axis=1).sum()) for letter in (1, 2))
    return max(collide, agree)


def test_the_failure_probability_grows_with_the_labelings() -> None:
    def failure(labelings: int | None) -> float:
        return update_failure_upper_bound(
            dimension=2,
            slots=2**22,
            collisions=2**20,
            guess_slack=2**17,
            matching_slack=2**15,
            labelings=labelings,
        )

    assert failure(1) < failure(1000) < failure(None) <= 1


def test_sizes_of_the_paper_do_not_overflow() -> None:
    # Dimension 6: N_0 has more than 2000 bits.
    slots = 2**2300
    tiny = update_failure_upper_bound(
        dimension=6, slots=slots, collisions=slots // 8, guess_slack=2.0**1000, matching_slack=1.0
    )
    assert tiny == 1.0
