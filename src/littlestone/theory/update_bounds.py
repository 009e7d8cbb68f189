"""One Update leaves many pairs for every concept that is still consistent (Lemma update).

Before it, at least M pairs of siblings are consistent with f and collide, that is, the standard
optimal algorithm answers them differently; after it, many pairs either collide again or agree on
one hypothesis.
"""

import math
from fractions import Fraction

from littlestone import require
from littlestone.theory.outwards import upwards


def surviving_pairs_lower_bound(
    *, collisions: int, next_slots: int, guess_slack: float, matching_slack: float
) -> Fraction:
    """(M/2 − r₁)²/(6·N_{s+1}) − r₂ pairs that collide, or that agree on one h₀ [P, Lemma update].

    r₁ (``guess_slack``) allows for unlucky labels of the tournament examples, r₂
    (``matching_slack``) for an unlucky permutation.

    >>> surviving_pairs_lower_bound(
    ...     collisions=1000, next_slots=1000, guess_slack=100, matching_slack=5
    ... )
    Fraction(65, 3)
    """
    require.integer(collisions=collisions, next_slots=next_slots, at_least=1)
    require.non_negative(guess_slack=guess_slack, matching_slack=matching_slack)
    survivors = Fraction(collisions, 2) - Fraction(guess_slack)
    if survivors < 6:
        raise ValueError(
            f"guess_slack must be at most collisions/2 - 6, got guess_slack={guess_slack!r}"
        )
    return survivors**2 / (6 * next_slots) - Fraction(matching_slack)


def update_failure_upper_bound(
    *,
    dimension: int,
    slots: int,
    collisions: int,
    guess_slack: float,
    matching_slack: float,
    labelings: int | None = None,
) -> float:
    """U·(exp(−2r₁²/M) + exp(−2r₂²/(9·N_{s+1}))) [P, Lemma update], at most 1.

    U counts the labelings that consistent concepts give to the points in the forest: by default
    Sauer's (e(4d + 1)N_s/(2d))^d, or fewer when the class is known to have fewer.

    >>> bound = update_failure_upper_bound(
    ...     dimension=1, slots=2**20, collisions=2**18,
    ...     guess_slack=2**16, matching_slack=2**13,
    ... )
    >>> bound < 1e-5
    True
    """
    require.integer(dimension=dimension, slots=slots, collisions=collisions, at_least=1)
    require.non_negative(guess_slack=guess_slack, matching_slack=matching_slack)
    if labelings is None:
        log_labelings = dimension * (
            1 + math.log(4 * dimension + 1) + math.log(slots) - math.log(2 * dimension)
        )
    else:
        require.integer(labelings=labelings, at_least=1)
        log_labelings = math.log(labelings)
    guesses = 2 * Fraction(guess_slack) ** 2 / collisions
    matching = 4 * Fraction(matching_slack) ** 2 / (9 * slots)
    # The paper's own sizes exceed every float; beyond this one the bound is 0 in any case.
    exponent = log_labelings + math.log(2) - float(min(guesses, matching, Fraction(10**9)))
    return min(1.0, upwards(math.exp(min(0.0, upwards(exponent)))))
