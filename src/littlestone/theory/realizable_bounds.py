"""Bounds of Theorem realizable2: slots and mistakes with the paper's own constants.

Numbers are exact integers, since they exceed every float from dimension 5 on. The printed
M_s = 128·2^(−6·2^s)·N_s cannot hold at s = 0, where it asks for 2N_0 of N_0/2 pairs; the recurrence
M_{s+1} = M_s²/(512·N_{s+1}) admits any exponent c in place of 6, and c = 8 is the smallest that
gives M_0 ≤ N_0/2 (docs/ERRATA.md, R1 to R4).

Lemma update: if at least M pairs of siblings are consistent with f and collide (the standard
optimal algorithm answers them differently), then afterwards many pairs collide again or agree on
one hypothesis.
"""

import math
from fractions import Fraction
from typing import Final

from littlestone import require
from littlestone.theory.above_threshold_bounds import paper_overshoot_upper_bound
from littlestone.theory.outwards import log_upwards, upwards

EXPONENT: Final = 8
PRINTED_EXPONENT: Final = 6
MOST_DIMENSION: Final = 12
"""Each further dimension doubles the digits of every number; at this one there are 40,000."""


def frequent_pairs_lower_bound(*, layer: int, slots: int, exponent: int = EXPONENT) -> Fraction:
    """M_s = 128·2^(−c·2^s)·N_s: pairs that collide or agree, for each consistent concept.

    [P, Lemma realizable_utility]

    >>> frequent_pairs_lower_bound(layer=0, slots=2**20) <= 2**20 // 2
    True
    >>> frequent_pairs_lower_bound(layer=0, slots=2**20, exponent=PRINTED_EXPONENT) <= 2**20 // 2
    False
    """
    require.integer(layer=layer, at_least=0)
    require.integer(slots=slots, exponent=exponent, at_least=1)
    return Fraction(128 * slots, 2 ** (exponent * 2**layer + layer))


def list_length_upper_bound(*, layer: int) -> int:
    """|L_s| ≤ 2^(8·2^s)/128 with probability 1; the list of layer 0 has one element.

    Every listed hypothesis has at least M_s/2 of the N_s/2 pairs [P, Lemma realizable_utility].

    >>> [list_length_upper_bound(layer=s) for s in range(3)]
    [1, 512, 33554432]
    """
    require.integer(layer=layer, at_least=0)
    return 1 if layer == 0 else int(2 ** (EXPONENT * 2**layer - 7))


def instances_upper_bound(*, dimension: int) -> int:
    """K = Σ_s |L_s|: how many AboveThreshold instances can end (docs/ERRATA.md, R4)."""
    require.integer(dimension=dimension, at_least=0)
    return sum(list_length_upper_bound(layer=layer) for layer in range(dimension + 1))


def printed_slots_lower_bound(*, dimension: int) -> int:
    """2^(24·2^d + d): the printed proof asks for more slots [P, Theorem realizable2].

    >>> math.log2(printed_slots_lower_bound(dimension=3))
    195.0
    """
    require.integer(dimension=dimension, at_least=1)
    return int(2 ** (4 * PRINTED_EXPONENT * 2**dimension + dimension))


def slots_upper_bound(
    *, dimension: int, epsilon: float, delta: float, failure_probability: float
) -> int:
    """Return an N_0 that suffices, by the proof with c = 8 instead of 6 [P, Theorem realizable2].

    With A = 2^(32·2^d + d): 4A·d·ln(2A·d) + 2A(d·ln 7 + ln(6d/β)), raised to what the histogram
    and the coupons need, and to a multiple of 2^(d+1).

    >>> needs = dict(epsilon=1.0, delta=1e-6, failure_probability=0.05)
    >>> [round(math.log2(slots_upper_bound(dimension=d, **needs)), 1) for d in (1, 2, 3, 4)]
    [72.6, 139.6, 270.1, 528.5]
    """
    _check(dimension, epsilon, delta, failure_probability)
    if dimension == 0:
        return 2
    scale = int(2 ** (4 * EXPONENT * 2**dimension + dimension))
    slots = 4 * scale * dimension * log_upwards(2 * scale * dimension) + 2 * scale * (
        dimension * log_upwards(7) + log_upwards(6 * dimension / failure_probability)
    )
    multiple = int(2 ** (dimension + 1))
    candidate = math.ceil(slots / multiple) * multiple
    while not _suffice(candidate, dimension, epsilon, delta, failure_probability):
        candidate *= 2
    return candidate


def sharp_slots_upper_bound(
    *, dimension: int, epsilon: float, delta: float, failure_probability: float
) -> int:
    """Return the smallest power of two that satisfies every condition of the proof.

    [P, Theorem realizable2] About 2^(16·2^d): transitions start from layers below d only
    (docs/ERRATA.md, R17).

    >>> needs = dict(epsilon=1.0, delta=1e-6, failure_probability=0.05)
    >>> [round(math.log2(sharp_slots_upper_bound(dimension=d, **needs))) for d in (1, 2, 3)]
    [30, 64, 131]
    """
    _check(dimension, epsilon, delta, failure_probability)
    slots = int(2 ** (dimension + 1))
    while not _suffice(slots, dimension, epsilon, delta, failure_probability):
        slots *= 2
    return slots


def mistakes_upper_bound(
    *,
    dimension: int,
    rounds: int,
    epsilon: float,
    delta: float,
    failure_probability: float,
    slots: int | None = None,
) -> int:
    """Σ_s |L_s|·(N_s + 16(ln T + ln(6T/β))/ε₀ + 1), ε₀ = ε/2, with probability 1 − β.

    [P, Theorem realizable2 and Lemma realizable_utility]

    >>> bound = mistakes_upper_bound(
    ...     dimension=2, rounds=10**6, epsilon=1.0, delta=1e-6, failure_probability=0.05
    ... )
    >>> round(math.log2(bound))
    163
    """
    _check(dimension, epsilon, delta, failure_probability)
    if dimension == 0:
        return 0  # the only concept is the first hypothesis
    if slots is None:
        slots = slots_upper_bound(
            dimension=dimension,
            epsilon=epsilon,
            delta=delta,
            failure_probability=failure_probability,
        )
    require.integer(slots=slots, at_least=1)
    if not _suffice(slots, dimension, epsilon, delta, failure_probability):
        raise ValueError("slots are too few for the theorem (privacy holds); use slots_upper_bound")
    overshoot = math.ceil(
        paper_overshoot_upper_bound(
            rounds=rounds, epsilon=epsilon / 2, failure_probability=failure_probability
        )
    )
    return sum(
        list_length_upper_bound(layer=layer) * (slots // 2**layer + overshoot)
        for layer in range(dimension + 1)
    )


def _suffice(
    slots: int, dimension: int, epsilon: float, delta: float, failure_probability: float
) -> bool:
    """Return whether N_0 satisfies every condition of the corrected proof."""
    if slots % 2 ** (dimension + 1):
        return False
    histogram = 16 * dimension * log_upwards(8 * max(dimension, 1) / delta) / Fraction(epsilon)
    if any(
        4 * histogram > frequent_pairs_lower_bound(layer=layer, slots=slots)
        for layer in range(1, dimension + 1)
    ):
        return False
    return all(
        _transition_holds(layer, slots, dimension, failure_probability)
        for layer in range(dimension)
    )


def _transition_holds(layer: int, slots: int, dimension: int, failure_probability: float) -> bool:
    """Conditions under which layer s + 1 inherits the event E_4 from layer s."""
    pairs = frequent_pairs_lower_bound(layer=layer, slots=slots)
    here, above = slots >> layer, slots >> (layer + 1)
    coupons = log_upwards(3 * instances_upper_bound(dimension=dimension)) + log_upwards(
        1 / failure_probability
    )
    if layer:
        # One index set for each labeling of the points in the sequences (R3, R9).
        points = here * min(2 * layer, dimension)
        coupons += dimension * (1 + log_upwards(points) - Fraction(math.log(dimension)))
    if pairs < 48 or pairs < 4 * coupons:
        return False
    guesses = pairs / 16
    matching = pairs**4 / (72 * 384**2 * above**3)
    wanted = (
        dimension * log_upwards(7 * slots)
        + log_upwards(2)
        + log_upwards(3 * dimension / failure_probability)
    )
    return min(guesses, matching) >= wanted


def _check(dimension: int, epsilon: float, delta: float, failure_probability: float) -> None:
    require.usual(dimension=dimension, epsilon=epsilon, delta=delta)
    require.integer(dimension=dimension, at_most=MOST_DIMENSION)
    require.usual(failure_probability=failure_probability)


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
    # The paper's sizes exceed every float; beyond this size the bound is 0 in any case.
    exponent = log_labelings + math.log(2) - float(min(guesses, matching, Fraction(10**9)))
    return min(1.0, upwards(math.exp(min(0.0, upwards(exponent)))))
