"""Synthetic datasets stay as close to their distribution as promised."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.queries import (
    best_rounding,
    greedy,
    queries_of,
    rounding_error,
    systematic,
)

positive = st.lists(st.floats(0.001, 1.0), min_size=2, max_size=12).map(np.array)


@given(weights=positive, size=st.integers(1, 40))
def test_systematic_rounding_keeps_every_prefix_within_half_an_example(
    weights: np.ndarray, size: int
) -> None:
    counts = systematic(weights, size)
    assert counts.sum() == size
    off = np.cumsum(counts) - np.cumsum(weights / weights.sum()) * size
    assert np.abs(off).max() <= 0.5 + 1e-9


@given(seed=st.integers(0, 200), size=st.integers(1, 60))
def test_greedy_rounding_is_as_good_as_a_random_sample_can_be(seed: int, size: int) -> None:
    generator = np.random.default_rng(seed)
    queries = queries_of(FiniteClass(generator.integers(2, size=(30, 12))))
    weights = generator.random(12)
    counts = greedy(queries, weights, size)
    rest = size - int(np.floor(weights / weights.sum() * size).sum())
    assert counts.sum() == size
    bound = math.sqrt(rest * math.log(2 * queries.concepts) / 2) / size
    assert rounding_error(queries, weights, counts) <= bound + 1e-9


def test_the_better_rounding_is_taken() -> None:
    generator = np.random.default_rng(4)
    queries = queries_of(FiniteClass(generator.integers(2, size=(200, 64))))
    weights = generator.random(64)
    best = rounding_error(queries, weights, best_rounding(queries, weights, 20))
    assert best < rounding_error(queries, weights, systematic(weights, 20))
    thresholds = queries_of(Thresholds(64))
    assert rounding_error(thresholds, weights, best_rounding(thresholds, weights, 20)) <= 0.025
