"""SparseSample: the promise checked against exact laws, and broken by a smaller bottom."""

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.rounding import exp_upper_bound
from littlestone.randomness import Randomness, seeded

lists = st.lists(st.sets(st.integers(0, 5), max_size=3), min_size=4, max_size=4)


def exact_law(recipe: SparseSample, known: Any, bottom: int | None = None) -> dict[Any, Fraction]:
    scores = Counter(u for one in known for u in one)
    weights: dict[Any, int] = {u: recipe._weights[s] for u, s in scores.items()}
    weights[None] = recipe._weights[recipe.bottom if bottom is None else bottom]
    total = sum(weights.values())
    return {u: Fraction(w, total) for u, w in weights.items()}


def excess(one: dict[Any, Fraction], other: dict[Any, Fraction], epsilon: float) -> Fraction:
    """The smallest delta for which the first law is within (epsilon, delta) of the second."""
    factor = exp_upper_bound(Fraction(epsilon))
    return sum(
        (max(Fraction(0), p - factor * other.get(u, Fraction(0))) for u, p in one.items()),
        Fraction(0),
    )


@given(known=lists, other=st.sets(st.integers(0, 5), max_size=3))
def test_replacing_a_list_keeps_the_promise(known: list[set[int]], other: set[int]) -> None:
    recipe = SparseSample(epsilon=0.8, delta=0.01, lists=4, longest=3)
    one, two = exact_law(recipe, known), exact_law(recipe, [*known[:-1], other])
    assert excess(one, two, 0.8) <= Fraction(0.01)
    assert excess(two, one, 0.8) <= Fraction(0.01)


def test_the_bottom_is_nearly_as_small_as_it_can_be() -> None:
    recipe = SparseSample(epsilon=0.8, delta=0.01, lists=4, longest=3)
    known: list[set[int]] = [set(), set(), set(), {1, 2, 3}]
    nothing: list[set[int]] = [set()] * 4
    lower = recipe.bottom - 4  # ln(1 + e^0.4) / 0.4 is 2.3: what the proof may give away
    one, two = exact_law(recipe, known, lower), exact_law(recipe, nothing, lower)
    assert excess(one, two, 0.8) > Fraction(0.01)


def test_weights_rise_by_the_factor_that_the_proof_allows() -> None:
    recipe = SparseSample(epsilon=0.8, delta=1e-6, lists=300, longest=10)
    factor = exp_upper_bound(Fraction(0.8) / 2)
    weights = recipe._weights
    assert len(weights) == 301
    assert all(a <= b <= factor * a for a, b in itertools.pairwise(weights))
    assert weights[0] * 10**50 < weights[-1]  # the table's floor is not reached


def test_a_shared_element_beats_none() -> None:
    recipe = SparseSample(epsilon=1.0, delta=1e-6, lists=100, longest=10)
    assert recipe.none_bound(score=100) < 1e-9
    assert recipe.none_bound(score=0) > 0.99
    assert recipe.draw([{7, 8}] * 50 + [{7}] * 50, rng=seeded(2)) == 7
    with pytest.raises(ValueError, match="at most 100"):
        recipe.none_bound(score=101)


def test_every_collection_of_lists_has_an_answer(rng: Randomness) -> None:
    recipe = SparseSample(epsilon=1.0, delta=0.5, lists=2, longest=2)
    assert recipe.draw([set(), set()], rng=rng) is None
    for _ in range(20):  # a list that is too long loses elements, and nothing else happens
        assert recipe.draw([set(range(9)), set()], rng=rng) in (None, 0, 1)
    with pytest.raises(ValueError, match="2 in number"):
        recipe.draw([set()], rng=rng)
