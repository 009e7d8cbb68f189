"""[P, Theorem experts]: for every concept, some constructed expert is close to it."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import FALSE_FAILURE_PROBABILITY

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.game.protocols import OnlineLearner
from littlestone.lab.measuring import closest_expert, released_points
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.sanitized.families import HistogramFamily, error_class
from littlestone.learners.sanitized.paths import Released
from littlestone.learners.sanitized.plan import ConstructionPlan
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals
from littlestone.randomness import Randomness

POINTS = 4
matrices = st.lists(
    st.lists(st.integers(0, 1), min_size=POINTS, max_size=POINTS), min_size=1, max_size=8
)
streams = st.lists(st.integers(0, POINTS - 1), min_size=1, max_size=16)
learners = st.sampled_from([StandardOptimal, SparseMajority])


def without_noise(
    xs: Sequence[int], grid: int, *, at_least: int = 1, as_printed: bool = False
) -> Released:
    """Of each dyadic piece all points that occur in it at least so often.

    With ``as_printed`` the last of several pieces is dropped, as the paper's Algorithm 5 does.
    """
    dyadic = DyadicIntervals(rounds=len(xs))

    def released(first: int, last: int) -> Sequence[int]:
        pieces = dyadic.decompose((first - 1) * grid + 1, last * grid)
        kept = pieces[:-1] if as_printed and len(pieces) > 1 else pieces
        counts = (Counter(xs[left - 1 : right]) for left, right in kept)
        often = [x for each in counts for x, count in sorted(each.items()) if count >= at_least]
        return list(dict.fromkeys(often))

    return released


@given(matrix=matrices, xs=streams, learner=learners, grid=st.integers(1, 3), data=st.data())
def test_without_noise_an_expert_differs_at_most_once_per_switch_and_round_of_the_grid(
    matrix: list[list[int]],
    xs: list[int],
    learner: type[OnlineLearner],
    grid: int,
    data: st.DataObject,
) -> None:
    concepts = FiniteClass(matrix)
    base: OnlineLearner = learner(concepts)  # type: ignore[call-arg]
    concept = data.draw(st.sampled_from(list(concepts.concepts())))
    most = min(base.mistake_bound, 4)  # what the standard optimal algorithm needs, or more
    distance = closest_expert(
        base, concept, xs, without_noise(xs, grid), switch_grid=grid, most_switches=most
    )
    assert distance <= base.mistake_bound * grid


@given(xs=st.lists(st.integers(0, 5), min_size=1, max_size=40), at_least=st.integers(1, 6))
def test_what_the_sanitizer_misses_is_all_that_is_lost(xs: list[int], at_least: int) -> None:
    """Sets of two keys that hold more than 2 (c - 1) of a piece show one of them."""
    concepts, grid = SparseSets(2, 6), 4
    base = SparseMajority(concepts)
    assert error_class(base) == SparseSets(4, 6)
    pieces = 2 * DyadicIntervals(rounds=len(xs)).levels
    hidden = pieces * 4 * (at_least - 1)
    released = without_noise(xs, grid, at_least=at_least)
    for concept in concepts.concepts():
        distance = closest_expert(base, concept, xs, released, switch_grid=grid)
        assert distance <= base.mistake_bound * (hidden + grid)


def test_dropping_the_last_piece_as_printed_loses_the_theorem() -> None:
    """docs/ERRATA.md, X1: what happened last is not seen until more has happened."""
    xs = [0] * 8 + [1] * 8
    base, concept = SparseMajority(Points(2)), FiniteSupport.on(1)
    corrected, printed = (
        closest_expert(base, concept, xs, without_noise(xs, 1, as_printed=last), switch_grid=1)
        for last in (False, True)
    )
    assert corrected <= base.mistake_bound
    assert printed > base.mistake_bound


@pytest.mark.slow
def test_with_noise_the_bound_holds(rng: Randomness) -> None:
    # The histogram's errors are certain, so this cannot fail by chance.
    rounds = 8192
    recipe = SanitizedExperts(concepts=Points(), rounds=rounds, epsilon=8.0, delta=1e-3)
    construction = recipe.plan.construction
    bound = construction.construction_upper_bound(failure_probability=1e-9)
    assert bound < rounds / 2
    xs = rng.generator().zipf(1.5, rounds).tolist()
    released = released_points(construction, xs, rng=rng)
    for key in (1, 2, 3, 50):
        concept = FiniteSupport.on(key)
        grid = construction.switch_grid
        assert (
            closest_expert(SparseMajority(Points()), concept, xs, released, switch_grid=grid)
            <= bound
        )


@pytest.mark.slow
def test_without_any_release_the_bound_is_missed(rng: Randomness) -> None:
    recipe = SanitizedExperts(concepts=Points(), rounds=8192, epsilon=8.0, delta=1e-3)
    construction = recipe.plan.construction
    bound = construction.construction_upper_bound(failure_probability=1e-9)
    concept = FiniteSupport.on(1)
    missed = closest_expert(
        SparseMajority(Points()), concept, [1] * 8192, lambda *_: (), switch_grid=64
    )
    assert missed > bound


@pytest.mark.statistical
def test_thresholds_by_their_tree(rng: Randomness) -> None:
    # The tree's error bound fails with this probability at most.
    rounds, concepts = 16384, Thresholds(7)
    recipe = SanitizedExperts(
        concepts=concepts, rounds=rounds, epsilon=32.0, delta=1e-6, switch_grid=1024
    )
    construction = recipe.plan.construction
    bound = construction.construction_upper_bound(failure_probability=FALSE_FAILURE_PROBABILITY)
    assert bound < rounds
    xs = rng.below_many(7, rounds).tolist()
    released = released_points(construction, xs, rng=rng)
    for k in range(8):
        distance = closest_expert(
            SparseMajority(concepts),
            ThresholdHypothesis(7, k),
            xs,
            released,
            switch_grid=construction.switch_grid,
        )
        assert distance <= bound
    # Without any release, the farthest concept differs in every round from an expert that stays.
    hidden = closest_expert(
        SparseMajority(concepts),
        ThresholdHypothesis(7, 0),
        [0] * rounds,
        lambda *_: (),
        switch_grid=construction.switch_grid,
    )
    assert hidden > bound


def test_a_shorter_grid_sees_more_and_pays_more() -> None:
    family = HistogramFamily(concepts=SparseSets(2), epsilon=4.0, delta=1e-6)
    base = SparseMajority(Points())
    plans = [
        ConstructionPlan.of(family, base, rounds=4096, shortest=length, switch_grid=length)
        for length in (64, 1024)
    ]
    assert plans[0].intervals.levels > plans[1].intervals.levels
    assert plans[0].experts > plans[1].experts
    hidden = [plan.undetected_upper_bound(failure_probability=0.05) for plan in plans]
    assert hidden[0] > hidden[1]
