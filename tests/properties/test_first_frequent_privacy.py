"""The exact law of FirstFrequent on all short streams of two keys, compared between neighbours.

The noise of each key is summed out; what is left of floating point is far below every margin here.
Given the prefix before the first difference, the law of the release must be (epsilon, delta)-close.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, product

import pytest

from littlestone.privacy.mechanisms.first_frequent import FirstFrequent

KEYS = ("a", "b")
Key = str | None
Stream = tuple[Key, ...]
Law = dict[tuple[int, tuple[str, ...]] | None, float]
"""Probabilities of the round of the release with the keys released; None: no release."""


@cache
def survival(occurs: tuple[bool, ...], threshold: int, recipe: FirstFrequent) -> Sequence[float]:
    """P(a key that occurs in these rounds does not look frequent in the first t), for all t."""
    rate, totals = recipe.threshold_rate, [0.0] * (len(occurs) + 1)
    for noise in range(math.ceil(60 / rate)):
        weight, count = -math.expm1(-rate) * math.exp(-rate * noise), 0
        totals[0] += weight
        for t, counted in enumerate(occurs, start=1):
            count += counted
            gap = max(threshold + noise - count, 0)
            weight *= 1 - math.exp(-recipe.query_rate * gap) if count else 1.0
            totals[t] += weight
    return totals


def law(stream: Stream, prefix: int, threshold: int, recipe: FirstFrequent) -> Law:
    """The law of the release, given that the first ``prefix`` rounds had none."""
    quiet = {key: survival(tuple(one == key for one in stream), threshold, recipe) for key in KEYS}
    given = math.prod(quiet[key][prefix] for key in KEYS)
    found: Law = {None: math.prod(quiet[key][-1] for key in KEYS) / given}
    for t in range(prefix, len(stream)):
        for size in (1, 2):
            for released in combinations(KEYS, size):
                found[t, released] = (
                    math.prod(
                        quiet[key][t] - quiet[key][t + 1] if key in released else quiet[key][t + 1]
                        for key in KEYS
                    )
                    / given
                )
    return found


def with_key(stream: Stream, place: int | None, key: Key) -> Stream:
    return stream if place is None else (*stream[:place], key, *stream[place + 1 :])


def neighbours(rounds: int) -> Iterator[tuple[Stream, Stream, int]]:
    """All pairs with one key more each (or in one world only), and where they first differ."""
    for common in product((None, *KEYS), repeat=rounds):
        free = [t for t in range(rounds) if common[t] is None]
        extra: list[tuple[int | None, Key]] = [(None, None), *product(free, KEYS)]
        for (p, g), (q, h) in product(extra, repeat=2):
            one, other = with_key(common, p, g), with_key(common, q, h)
            if one != other:
                yield one, other, min(t for t in (p, q) if t is not None)


def largest_delta(recipe: FirstFrequent, threshold: int) -> float:
    known = lru_cache(maxsize=None)(lambda s, prefix: law(s, prefix, threshold, recipe))
    worst = 0.0
    for one, other, prefix in neighbours(recipe.rounds):
        first, second = known(one, prefix), known(other, prefix)
        excess = sum(max(0.0, p - math.exp(recipe.epsilon) * second[o]) for o, p in first.items())
        worst = max(worst, excess)
    return worst


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds"), [(1.0, 0.2, 4), (0.5, 0.3, 4), (3.0, 0.2, 4), (2.0, 0.1, 3)]
)
def test_every_pair_of_neighbours_is_within_the_promise(
    epsilon: float, delta: float, rounds: int
) -> None:
    recipe = FirstFrequent(epsilon=epsilon, delta=delta, rounds=rounds)
    assert largest_delta(recipe, recipe.threshold) <= delta


def test_a_threshold_that_is_too_low_breaks_it() -> None:
    recipe = FirstFrequent(epsilon=3.0, delta=0.2, rounds=4)
    assert largest_delta(recipe, recipe.threshold - 1) > 0.2
    recipe = FirstFrequent(epsilon=1.0, delta=0.2, rounds=4)
    assert largest_delta(recipe, recipe.threshold - 3) > 0.2
