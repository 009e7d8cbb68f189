"""Exact likelihood ratios of the selection mechanisms on all small neighbouring inputs."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.privacy.rounding import exp_upper_bound

EPSILONS = [0.3, 1.0, 3.0]
Weights = tuple[int, ...]
Law = Callable[[tuple[int, ...], Weights], list[Fraction]]


def weights_for(epsilon: float, width: int) -> Weights:
    return ExponentialMechanism(epsilon=epsilon, range_width=width, floor_bits=6)._table.weights


@cache
def exponential_law(scores: tuple[int, ...], weights: Weights) -> list[Fraction]:
    each = [weights[min(s - min(scores), len(weights) - 1)] for s in scores]
    return [Fraction(w, sum(each)) for w in each]


@cache
def permute_and_flip_law(scores: tuple[int, ...], weights: Weights) -> list[Fraction]:
    """A uniformly random one among the heads."""
    coins = [Fraction(weights[min(s - min(scores), len(weights) - 1)], weights[0]) for s in scores]
    law = [Fraction(0)] * len(coins)
    for outcome in product((False, True), repeat=len(coins)):
        chance = math.prod(p if head else 1 - p for p, head in zip(coins, outcome, strict=True))
        for i, head in enumerate(outcome):
            if head and chance:
                law[i] += chance / Fraction(sum(outcome))
    return law


def neighbours(width: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All score vectors of three elements up to 8, with all changes of this width."""
    changes = (0, 1) if width == 1 else (-1, 0, 1)
    for scores in product((0, 1, 2, 5, 8), repeat=3):
        for change in product(changes, repeat=3):
            yield scores, tuple(s + c for s, c in zip(scores, change, strict=True))


def largest_ratio(law: Law, weights: Weights, width: int) -> Fraction:
    return max(
        max(p / q, q / p)
        for scores, others in neighbours(width)
        for p, q in zip(law(scores, weights), law(others, weights), strict=True)
    )


def largest_span(law: Law, weights: Weights, width: int) -> Fraction:
    """The largest quotient of two likelihood ratios of one pair of neighbours."""
    spans = []
    for scores, others in neighbours(width):
        ratios = [p / q for p, q in zip(law(scores, weights), law(others, weights), strict=True)]
        spans.append(max(ratios) / min(ratios))
    return max(spans)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("width", [1, 2])
def test_the_exponential_mechanism_spans_at_most_epsilon(epsilon: float, width: int) -> None:
    weights = weights_for(epsilon, width)
    span = largest_span(exponential_law, weights, width)
    assert span <= exp_upper_bound(Fraction(epsilon))
    assert span >= exp_upper_bound(Fraction(epsilon) * Fraction(99, 100))  # nothing is given away
    assert largest_ratio(exponential_law, weights, width) <= exp_upper_bound(Fraction(epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("width", [1, 2])
def test_permute_and_flip_is_private(epsilon: float, width: int) -> None:
    weights = weights_for(epsilon, width)
    ratio = largest_ratio(permute_and_flip_law, weights, width)
    assert ratio <= exp_upper_bound(Fraction(epsilon))


def test_permute_and_flip_may_span_more_than_epsilon() -> None:
    # Which is why it is charged as pure privacy: an eighth of the square would be too little.
    span = largest_span(permute_and_flip_law, weights_for(1.0, 2), 2)
    assert span > exp_upper_bound(Fraction(1))


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
def test_a_table_made_for_one_way_changes_is_caught_on_replacements(law: Law) -> None:
    too_steep = weights_for(1.0, 1)
    assert largest_ratio(law, too_steep, 2) > exp_upper_bound(Fraction(11, 10))


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
def test_a_table_whose_tail_is_cut_to_nothing_is_caught(law: Law) -> None:
    # One step from a small weight to almost none, as truncation to whole numbers makes it.
    weights = weights_for(1.0, 2)
    broken = (*weights[:6], 1)
    assert largest_ratio(law, broken, 2) > exp_upper_bound(Fraction(2))


@pytest.mark.parametrize("mechanism", [ExponentialMechanism, PermuteAndFlip, LaplaceCount])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), np.float32(0.1), np.float64(0.7), 2])
def test_epsilons_of_any_kind_are_kept_or_rounded_down(mechanism: Any, epsilon: Any) -> None:
    promised = mechanism(epsilon=epsilon).guarantee().epsilon
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(float(epsilon))
    assert exact * (1 - Fraction(1, 2**52)) <= Fraction(promised) <= exact


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_permute_and_flip_is_never_worse_on_average(epsilon: float) -> None:
    weights = weights_for(epsilon, 2)
    for scores in product((0, 1, 2, 5, 8), repeat=3):
        means = [
            sum(p * s for p, s in zip(law(scores, weights), scores, strict=True))
            for law in (permute_and_flip_law, exponential_law)
        ]
        assert means[0] <= means[1]
