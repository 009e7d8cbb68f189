"""The planner of the calibrated forest, and what is proved about forests."""

import dataclasses
import itertools
import math
from fractions import Fraction
from statistics import mean
from typing import Any

import pytest

from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.play import play
from littlestone.learners.lazy_forest.bound import copy_failure_upper_bound
from littlestone.learners.lazy_forest.plan import ForestPlan, calibrated_plan, paper_plan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness, seeded
from littlestone.theory.realizable_bounds import mistakes_upper_bound, slots_upper_bound


def plan(
    depth: int,
    *,
    rounds: int = 10**6,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    failure_probability: float = 0.25,
) -> ForestPlan:
    return calibrated_plan(
        depth,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        failure_probability=failure_probability,
    )


def first_turn(planned: ForestPlan) -> int:
    return planned.mistakes_per_layer[0] + planned.margins[0]


def with_numbers(forest: LazyForest, **changed: Any) -> LazyForest:
    return dataclasses.replace(forest, plan=dataclasses.replace(forest.plan, **changed))


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_less_privacy_more_failures_and_shorter_streams_need_fewer_mistakes(depth: int) -> None:
    here = first_turn(plan(depth))
    assert first_turn(plan(depth, epsilon=2.0)) < here < first_turn(plan(depth, epsilon=0.5))
    assert first_turn(plan(depth, delta=1e-3)) < here < first_turn(plan(depth, delta=1e-12))
    assert first_turn(plan(depth, failure_probability=0.5)) < here
    assert first_turn(plan(depth, rounds=10**12)) > here
    assert first_turn(plan(depth, rounds=10**12)) < 2 * here  # log T, not T


def test_mistakes_grow_doubly_exponentially_in_the_dimension() -> None:
    needed = [plan(depth).mistakes_per_layer[0] for depth in range(2, 8)]
    ratios = [after / before for before, after in itertools.pairwise(needed)]
    assert all(after > 2 * before for before, after in itertools.pairwise(ratios))


@pytest.mark.parametrize(("n", "share"), [(3, 1), (8, Fraction(3, 4)), (16, Fraction(3, 4))])
def test_deep_calibrated_forests_begin_with_a_part_of_what_mean_values_ask_for(
    n: int, share: Fraction
) -> None:
    forest = LazyForest.calibrated(concepts=Thresholds(n), rounds=10**6, epsilon=1.0, delta=1e-6)
    drafted = plan(forest.depth, failure_probability=0.9999)
    assert forest.plan.mistakes_per_layer[0] == math.ceil(share * drafted.mistakes_per_layer[0])
    assert forest.plan.made_by == "calibrated"
    assert forest.for_rounds(10**6) == forest


def test_thresholds_of_dimension_three_cost_five_thousand_mistakes() -> None:
    concepts = Thresholds(8)
    forest = LazyForest.calibrated(concepts=concepts, rounds=10**6, epsilon=1.0, delta=1e-6)
    games = [
        play(forest, MistakeForcing(concepts), rounds=10**6, rng=seeded(seed)) for seed in (1, 2, 3)
    ]
    assert 3_900 < mean(game.mistakes for game in games) < 4_400


def test_the_same_plan_is_made_for_the_same_numbers() -> None:
    calibrated_plan.cache_clear()
    first = plan(3)
    calibrated_plan.cache_clear()
    assert plan(3) == first


def test_the_papers_plan_has_the_theorems_constants() -> None:
    needs = {"epsilon": 1.0, "delta": 1e-6, "failure_probability": 0.05}
    for depth in (1, 2, 3):
        planned = paper_plan(depth, rounds=10**6, **needs)
        assert planned.slots == slots_upper_bound(dimension=depth, **needs)
        assert planned.mistakes_per_layer[:-1] == tuple(planned.slots >> s for s in range(depth))
        assert not planned.packed


def test_the_papers_bound_is_the_theorems_when_there_are_enough_rounds() -> None:
    basics = {"rounds": 2**400, "epsilon": 1.0, "delta": 1e-6, "failure_probability": 0.05}
    learner = LazyForest.paper(concepts=Thresholds(6), **basics)  # type: ignore[arg-type]
    theorem = mistakes_upper_bound(dimension=2, **basics)  # type: ignore[arg-type]
    assert learner.mistake_bound(failure_probability=0.05) == float(theorem)
    chosen = with_numbers(learner, list_thresholds=(200, 200))
    assert chosen.mistake_bound(failure_probability=0.05) == float(2**400)
    stretched = dataclasses.replace(learner, rounds=2**401)  # a plan for fewer rounds
    assert stretched.mistake_bound(failure_probability=0.05) == float(2**401)


@pytest.mark.parametrize("concepts", [Points(), Thresholds(6), SparseSets(2)])
def test_a_proved_forest_stays_within_its_bound(concepts: object, rng: Randomness) -> None:
    learner = LazyForest.proved(
        concepts=concepts,  # type: ignore[arg-type]
        rounds=10**5,
        epsilon=1.0,
        delta=1e-6,
        failure_probability=1e-6,
    )
    bound = learner.mistake_bound(failure_probability=1e-6)
    assert learner.halting_probability < 1e-6
    assert bound < 20_000
    transcript = play(learner, MistakeForcing(learner.concepts), rounds=30_000, rng=rng)
    # Fails with probability 1e-6 at most by the bound itself, and in truth far less often.
    assert transcript.mistakes <= bound


def test_a_forest_about_which_nothing_is_proved_fails_with_probability_one() -> None:
    """One sequence is left below the last layer: no pair of them agrees, which is no error."""
    options: dict[str, Any] = {"rounds": 10**4, "epsilon": 4.0, "delta": 1e-6}
    forest = LazyForest.calibrated(concepts=SparseSets(3), **options)
    assert forest.halting_probability == 1.0
    assert forest.mistake_bound(failure_probability=0.05) == 10**4


def test_a_copy_fails_less_often_the_larger_it_is() -> None:
    draft = LazyForest.proved(concepts=Thresholds(6), rounds=10**6, epsilon=1.0, delta=1e-6)
    sizes = [draft.plan.mistakes_per_layer[0] * factor for factor in (1, 2, 4)]
    fails = [
        copy_failure_upper_bound(with_numbers(draft, mistakes_per_layer=(size, size, 1)))
        for size in sizes
    ]
    assert 1 > fails[0] > 0.99 * fails[1] > 0.9 * fails[2] > 0
    small = with_numbers(draft, mistakes_per_layer=(200, 200, 1))
    assert copy_failure_upper_bound(small) == 1
