"""Realizable sanitization: flags, rounds, hitting sets, and the paper's generator at toy sizes."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.multiset_generator import MultisetGenerator, multiset_class

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.queries import queries_of
from littlestone.learners.sanitizers.realizable_sanitizer import (
    RealizableSanitizer,
    hitting_set,
    smallest_high,
)
from littlestone.learners.sanitizers.winnow_generator import (
    WinnowGenerator,
    identric_mean,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, seeded
from littlestone.theory.dimension_bounds import majority_upper_bound

SPARSE = FiniteClass(np.random.default_rng(6).random((80, 40)) < 0.08)
SIZE = 40_000


def planned(size: int = SIZE, *, failure_probability: float = 1e-10) -> RealizableSanitizer:
    return RealizableSanitizer.planned(
        concepts=SPARSE,
        size=size,
        epsilon=2.0,
        delta=1e-6,
        failure_probability=failure_probability,
    )


def test_frequent_concepts_are_flagged_and_absent_ones_are_not(rng: Randomness) -> None:
    # Each release may fail with probability 1e-10.
    recipe = planned()
    bound = recipe.error_bound(size=SIZE, failure_probability=1e-10)
    assert bound < 0.3
    for seed in range(5):
        generator = np.random.default_rng(seed)
        data = generator.choice(40, size=SIZE, p=generator.dirichlet(np.full(40, 0.05)))
        released = recipe.release(data, rng=rng)
        shares = recipe.queries.counts(recipe.queries.tally(data)) / SIZE
        assert released.won
        assert released.flags[shares >= bound].all()
        assert not released.flags[shares == 0].any()
        for number, concept in enumerate(SPARSE.concepts()):
            assert released.estimate(concept) == released.flags[number]


def test_every_flagged_concept_is_hit_by_few_points(rng: Randomness) -> None:
    recipe = replace(planned(), generator=WinnowGenerator.between(low=0.01, high=0.05))
    data = np.random.default_rng(1).integers(40, size=SIZE)
    released = recipe.release(data, rng=rng)
    points = released.hitting_set
    assert released.flags.any()
    rows = SPARSE.matrix[:, points]
    assert rows[released.flags].any(axis=1).all()
    cut = identric_mean(0.01, 0.05)
    assert len(points) <= math.ceil(math.log(80) / cut)
    assert set(released.dataset(500)) == set(points)
    with pytest.raises(ValueError, match="to hit all"):
        released.dataset(1)
    assert sum(released.distribution().values()) == pytest.approx(1)


def test_nothing_flagged_means_any_dataset_will_do() -> None:
    recipe = RealizableSanitizer.planned(concepts=Points(5), size=100, epsilon=1.0, delta=1e-6)
    released = recipe.release([0, 1, 2, 3, 4] * 20, rng=seeded(3))
    assert not released.flags.any()
    assert released.hitting_set == []
    assert len(released.dataset(2)) == 2


@given(seed=st.integers(0, 5000), low=st.floats(0.01, 0.2), factor=st.floats(1.5, 20.0))
def test_each_objection_lowers_the_divergence_as_the_lemma_says(
    seed: int, low: float, factor: float
) -> None:
    high = min(0.95, low * factor)
    generator = np.random.default_rng(seed)
    queries = queries_of(FiniteClass(generator.integers(2, size=(10, 12))))
    recipe = WinnowGenerator.between(low=low, high=high)
    truth = generator.dirichlet(np.full(12, 0.2))
    shares = queries.answers(truth)
    state = recipe.start(queries)
    for _ in range(30):
        wrong = np.where(state.flags, shares <= low, shares >= high)
        if not wrong.any():
            break
        moved = state.after(int(np.flatnonzero(wrong)[0]))
        fall = float(truth @ np.log(moved.weights / state.weights))
        assert fall >= recipe.drop(low=low, high=high) - 1e-9
        state = moved


@given(seed=st.integers(0, 5000))
def test_winnow_is_objected_to_no_more_than_its_bound(seed: int) -> None:
    generator = np.random.default_rng(seed)
    queries = queries_of(FiniteClass(generator.random((20, 16)) < 0.2))
    low, high = 0.02, 0.3
    recipe = WinnowGenerator.between(low=low, high=high)
    shares = queries.answers(generator.dirichlet(np.full(16, 0.1)))
    state, count = recipe.start(queries), 0
    while True:
        wrong = np.flatnonzero(np.where(state.flags, shares <= low, shares >= high))
        if len(wrong) == 0:
            break
        state, count = state.after(int(wrong[-1])), count + 1
    assert count <= recipe.most_objections(queries, low=low, high=high)


def test_constants_of_the_specification() -> None:
    # C(gamma) of rounds <= C ln|X| / alpha, for (lo, hi) in units of alpha.
    for low, high, expected in [(4 / 9, 5 / 9, 324), (1 / 3, 2 / 3, 35.2), (0.1, 0.9, 5.3)]:
        drop = WinnowGenerator.between(low=low, high=high).drop(low=low, high=high)
        assert 1 / drop == pytest.approx(expected, rel=0.01)


def test_the_smallest_high_share_is_just_enough() -> None:
    high = smallest_high(0.01, 0.004)
    generator = WinnowGenerator.between(low=0.01, high=high)
    assert generator.drop(low=0.01, high=high) == pytest.approx(0.004)


def test_the_budget_is_kept_and_the_error_needs_so_many_examples() -> None:
    recipe = planned(failure_probability=0.05)
    assert recipe.guarantee().within(PrivacyGuarantee(epsilon=2.0, delta=1e-6))
    needed = recipe.needed(error=0.1, failure_probability=0.05)
    again = planned(needed, failure_probability=0.05)
    assert again.error_bound(size=needed, failure_probability=0.05) <= 0.1 + 1e-3
    four_times_smaller = recipe.needed(error=0.025, failure_probability=0.05) / needed
    assert 4**1.4 < four_times_smaller < 4**1.7  # alpha^-1.5 up to logarithms


def test_optimism_promises_nothing_but_a_win_is_right(rng: Randomness) -> None:
    recipe = RealizableSanitizer.planned(
        concepts=SPARSE,
        size=SIZE,
        epsilon=2.0,
        delta=1e-6,
        failure_probability=1e-10,
        optimism=8.0,
    )
    assert recipe.error_bound(size=SIZE, failure_probability=1e-10) == 1.0
    bound = recipe.error_if_won(size=SIZE, failure_probability=1e-10)
    assert bound < planned().error_bound(size=SIZE, failure_probability=1e-10)
    data = np.repeat([3, 9], [SIZE // 2, SIZE // 2])
    released = recipe.release(data, rng=rng)
    shares = recipe.queries.counts(recipe.queries.tally(data)) / SIZE
    if released.won:
        assert released.flags[shares >= bound].all()
        assert not released.flags[shares == 0].any()


def test_labelled_concepts_are_flagged_by_their_errors(rng: Randomness) -> None:
    data = [(x, int(x >= 3)) for x in (1, 2, 4, 5)] * 10_000
    recipe = RealizableSanitizer.planned(
        concepts=Thresholds(7),
        size=len(data),
        epsilon=2.0,
        delta=1e-6,
        labelled=True,
        failure_probability=1e-10,
    )
    released = recipe.release(data, rng=rng)
    errors = [sum(h(x) != y for x, y in data) / len(data) for h in Thresholds(7).concepts()]
    bound = recipe.error_bound(size=len(data), failure_probability=1e-10)
    for concept, share in zip(Thresholds(7).concepts(), errors, strict=True):
        if share == 0 or share >= bound:
            assert released.estimate(concept) == (share > 0)
    assert all(y in (0, 1) for _, y in released.hitting_set)


@pytest.mark.parametrize("concepts", [Thresholds(5), Points(5), Intervals(4)], ids=repr)
@pytest.mark.parametrize("members", [1, 2, 3])
def test_multisets_have_the_dimension_that_the_claim_allows(
    concepts: Thresholds | Points | Intervals, members: int
) -> None:
    multisets = multiset_class(queries_of(concepts), members=members, share=Fraction(1, 3))
    allowed = majority_upper_bound(concepts.dual_littlestone_dimension, members)
    assert multisets.littlestone_dimension <= allowed


def test_the_papers_generator_finds_the_flags_of_a_toy(rng: Randomness) -> None:
    # The data are 10,000 copies of a multiset of 4, which is then the concept to be learned.
    error = 0.5
    data = [0, 0, 2, 3] * 10_000
    generator = MultisetGenerator(members=4, error=error)
    queries = queries_of(Points(4))
    rounds = generator.multisets(queries).littlestone_dimension + 1
    recipe = RealizableSanitizer(
        concepts=Points(4),
        generator=generator,
        rounds=rounds,
        lower=error / 3,
        upper=2 * error / 3,
        choose_epsilon=0.5,
        test_epsilon=0.5,
        delta=1e-6,
    )
    # 4 alpha / 9 < 1 / 4 < 5 alpha / 9: either flag is right for a point of share 1 / 4.
    released = recipe.release(data, rng=rng)
    shares = queries.counts(queries.tally(data)) / len(data)
    assert released.won
    assert released.flags[shares >= error].all()
    assert not released.flags[shares == 0].any()


def test_the_papers_generator_promises_only_with_its_huge_multisets() -> None:
    queries = queries_of(Points(4))
    assert MultisetGenerator(members=4, error=0.5).most_objections(queries, low=0.2, high=0.3) == (
        math.inf
    )
    with pytest.raises(ValueError, match="WinnowGenerator"):
        MultisetGenerator(members=60, error=0.5).start(queries_of(Points(40)))


def test_contradictions_leave_the_papers_generator_where_it_is() -> None:
    state = MultisetGenerator(members=1, error=0.9).start(queries_of(Thresholds(2)))
    for _ in range(10):
        state = state.after(0)
    assert len(state.flags) == 3


def test_a_concept_that_holds_nowhere_is_not_hit() -> None:
    queries = queries_of(Points(3))
    assert hitting_set(queries, np.array([True, True, False, True])) == [0, 2]


@pytest.mark.parametrize("bad", [{"raised": 0.9}, {"lowered": 1.1}, {"cut": 0.0}])
def test_winnow_refuses_factors_on_the_wrong_side(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        WinnowGenerator(**{"cut": 0.1, "raised": 2.0, "lowered": 0.5, **bad})


def test_low_must_be_below_high() -> None:
    with pytest.raises(ValueError, match="low must be below"):
        identric_mean(0.5, 0.5)
