"""Generators are objected to no more often than their lemmas allow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.dual_generator import DualGenerator

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.generator import Generator, HedgeGenerator
from littlestone.learners.sanitizers.queries import FiniteQueries, queries_of
from littlestone.theory.sanitization import generator_rounds_upper_bound


def objections(generator: Generator, queries: FiniteQueries, truth: np.ndarray, gap: float) -> int:
    """How often a discriminator that sees everything objects, always to the worst concept."""
    state, count = generator.start(queries), 0
    wanted = queries.answers(truth)
    while True:
        surplus = wanted - queries.answers(state.weights)
        worst = int(np.abs(surplus).argmax())
        if abs(surplus[worst]) < gap:
            return count
        state = state.after(worst, 1 if surplus[worst] > 0 else -1)
        count += 1


@given(seed=st.integers(0, 10_000), gap=st.sampled_from([0.05, 0.1, 0.2, 0.4]))
def test_exponential_weights_are_objected_to_at_most_log_points_over_twice_gap_squared(
    seed: int, gap: float
) -> None:
    generator = np.random.default_rng(seed)
    queries = queries_of(FiniteClass(generator.integers(2, size=(12, 16))))
    truth = generator.dirichlet(np.full(16, 0.1))
    hedge = HedgeGenerator(step=4 * gap)
    count = objections(hedge, queries, truth, gap)
    assert count <= hedge.most_objections(queries, gap=gap)
    assert count <= generator_rounds_upper_bound(points=16, gap=gap)


@given(seed=st.integers(0, 10_000), step=st.floats(0.05, 1.0))
def test_each_objection_lowers_the_divergence_as_the_lemma_says(seed: int, step: float) -> None:
    generator = np.random.default_rng(seed)
    queries = queries_of(FiniteClass(generator.integers(2, size=(6, 8))))
    truth = generator.dirichlet(np.ones(8))
    state = HedgeGenerator(step=step).start(queries)
    number, sign = int(generator.integers(queries.concepts)), int(generator.choice([-1, 1]))
    surplus = sign * (queries.answers(truth) - queries.answers(state.weights))[number]
    moved = state.after(number, sign)
    fall = float(truth @ np.log(moved.weights / state.weights))
    assert fall >= step * surplus - step**2 / 8 - 1e-9


def test_too_long_a_step_promises_nothing() -> None:
    assert HedgeGenerator(step=8 * 0.1).most_objections(queries_of(Thresholds(4)), gap=0.1) == (
        math.inf
    )


@pytest.mark.parametrize("gap", [0.2, 0.35])
def test_the_dual_generator_ends_within_its_regret(gap: float) -> None:
    queries = queries_of(Points(12))
    generator = DualGenerator.for_gap(queries, gap=gap)
    truth = np.zeros(12)
    truth[[3, 7]] = 0.5
    count = objections(generator, queries, truth, gap)
    assert count <= generator.most_objections(queries, gap=gap) < generator.rounds


def test_the_dual_generator_puts_no_weight_on_copies_of_a_point() -> None:
    queries = queries_of(FiniteClass([[0, 1, 1], [0, 0, 0]]))
    state = DualGenerator(rounds=50).start(queries)
    for _ in range(20):
        state = state.after(1, 1)
    assert state.weights[2] == 0
    assert queries.answers(state.weights)[1] > 0.5


def test_the_dual_generator_works_with_labels() -> None:
    queries = queries_of(Thresholds(3), labelled=True)
    state = DualGenerator(rounds=20).start(queries)
    assert math.isclose(float(state.after(1, -1).weights.sum()), 1.0)


def test_a_gap_too_small_for_the_dual_generator_is_refused() -> None:
    with pytest.raises(ValueError, match="gap must lie"):
        DualGenerator.for_gap(queries_of(Points(3)), gap=0.0)
