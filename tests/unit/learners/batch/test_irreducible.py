"""The irreducibility learner: planner, totality, sensitivity, and what it learns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import TooFewExamplesError
from littlestone.learners.batch.irreducible import IrreducibleLearner, IrreduciblePlan, longest_list
from littlestone.learners.batch.proper_step import (
    ProperStep,
    irreducible_gap_bound,
    step_excess_bound,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, seeded

SCATTERED = FiniteClass(np.random.default_rng(3).integers(2, size=(9, 5)))
BUDGET = {"epsilon": 6.0, "delta": 1e-3, "error": 0.9, "failure_probability": 0.2}


def calibrated(concepts: FiniteClass, blocks: int = 50, samples: int = 500) -> IrreducibleLearner:
    return IrreducibleLearner(concepts=concepts, **BUDGET, blocks=blocks, samples=samples)


def test_it_finds_a_concept_that_fits(rng: Randomness) -> None:
    for concepts in (
        FiniteClass.from_class(Points(5)),
        FiniteClass.from_class(Thresholds(5)),
        SCATTERED,
    ):
        target = list(concepts.concepts())[2]
        points = len(concepts.sides)
        dataset = [(x % points, target(x % points)) for x in range(1000)]
        learned = calibrated(concepts).learn(dataset, rng=rng)
        # None, or a wrong concept, is drawn with probability far below 1e-9 here.
        assert learned == target


def test_it_is_total_on_data_that_nothing_fits(rng: Randomness) -> None:
    members = set(SCATTERED.concepts())
    contradictions = [(x % 5, x // 5 % 2) for x in range(500)]
    assert calibrated(SCATTERED).learn(contradictions, rng=rng) in members
    alone = FiniteClass([[0, 1]])
    assert calibrated(alone).learn([(0, 1)] * 500, rng=rng) == next(alone.concepts())


@given(
    seed=st.integers(0, 1000),
    place=st.integers(0, 119),
    other=st.tuples(st.integers(0, 4), st.integers(0, 1)),
)
def test_a_replaced_example_changes_one_list_in_every_stage(
    seed: int, place: int, other: tuple[int, int]
) -> None:
    learner = calibrated(SCATTERED, blocks=12, samples=120)
    dataset = [(x * 7 % 5, x * x % 2) for x in range(120)]
    changed = [*dataset]
    changed[place] = other
    worlds = []
    for data in (dataset, changed):
        points, labels = (np.array(part) for part in zip(*data, strict=True))
        tallies = learner._tallies(points, labels.astype(np.uint8), seeded(seed))
        worlds.append(learner._errors(*tallies))
    for stage in range(SCATTERED.littlestone_dimension + 1):
        one, two = (learner._lists(errors, stage, 120) for errors in worlds)
        assert sum(a != b for a, b in zip(one, two, strict=True)) <= 1
        assert all(len(known) <= longest_list(SCATTERED, 120) for known in one)


def test_errors_are_counted_block_by_block() -> None:
    learner = calibrated(SCATTERED, blocks=4, samples=40)
    points = np.arange(40) * 3 % 5
    labels = (np.arange(40) % 2).astype(np.uint8)
    zeros, ones = learner._tallies(points, labels, seeded(5))
    assert zeros.sum() + ones.sum() == 40
    assert (zeros.sum(axis=1) + ones.sum(axis=1) == 10).all()
    errors = learner._errors(zeros, ones).sum(axis=0)
    for h, count in zip(SCATTERED.concepts(), errors.tolist(), strict=True):
        assert count == sum(h(x) != y for x, y in zip(points.tolist(), labels, strict=True))


def test_the_guarantee_is_what_the_parts_cost() -> None:
    assert calibrated(SCATTERED).guarantee() == PrivacyGuarantee(epsilon=6.0, delta=1e-3)


def test_fewer_examples_than_planned_are_refused() -> None:
    learner = IrreducibleLearner.planned(concepts=SCATTERED, **BUDGET)
    with pytest.raises(TooFewExamplesError) as refusal:
        learner.learn([(0, 0)] * 10, rng=seeded(1))
    assert refusal.value.needed == learner.samples > 10**6
    assert learner.needed(error=0.9, failure_probability=0.2) == learner.samples
    assert learner.error_bound(size=learner.samples, failure_probability=0.2) == 0.9
    assert learner.error_bound(size=learner.samples - 1, failure_probability=0.2) == 1
    assert learner.error_bound(size=learner.samples, failure_probability=0.1) == 1
    assert calibrated(SCATTERED).error_bound(size=10**5, failure_probability=0.2) == 1


def test_it_works_at_the_planned_size(rng: Randomness) -> None:
    concepts = FiniteClass.from_class(Points(2))
    learner = IrreducibleLearner.planned(
        concepts=concepts, epsilon=16.0, delta=0.01, error=0.9, failure_probability=0.3
    )
    target = list(concepts.concepts())[1]
    dataset = [(x % 2, target(x % 2)) for x in range(learner.samples)]
    assert learner.learn(dataset, rng=rng) == target  # errs with probability below exp(-100)


@pytest.mark.parametrize("concepts", [Points(), Thresholds(15), Thresholds(1023)], ids=repr)
def test_samples_grow_like_one_over_the_error_and_epsilon(concepts: ConceptClass) -> None:
    def samples(error: float, epsilon: float) -> int:
        return IrreduciblePlan.of(
            concepts, epsilon=epsilon, delta=1e-6, error=error, failure_probability=0.05
        ).samples

    assert 9 <= samples(0.01, 1.0) / samples(0.1, 1.0) <= 14  # up to logarithms
    assert 9 <= samples(0.1, 0.1) / samples(0.1, 1.0) <= 14


def test_the_watch_and_the_sample_have_room_in_the_plan() -> None:
    plan = IrreduciblePlan.of(
        Points(), epsilon=1.0, delta=1e-6, error=0.1, failure_probability=0.05
    )
    assert plan.samples == plan.blocks * plan.block_size
    assert plan.longest == longest_list(Points(), plan.samples)


def test_the_proper_step_stays_near_the_function(rng: Randomness) -> None:
    nine = FiniteClass(np.eye(9, dtype=int))
    step = ProperStep(concepts=nine, epsilon=1.0, failure_probability=1e-3)
    zero = bytes(9)  # not a concept; the uniform distribution is 1/9 away from it
    assert step.gap(zero) == pytest.approx(1 / 9)
    tally = tallied(nine, [(3, 0)] * 400 + [(4, 1)] * 40)
    chosen = step.choose(zero, tally, rng=rng)
    assert chosen in set(nine.concepts())
    own = nine.matrix[2].tobytes()
    assert step.gap(own) == 0
    assert step.choose(own, tally, rng=rng).to_json() == list(nine.concepts())[2].to_json()
    assert step.proposals == 11
    bound = step_excess_bound(epsilon=1.0, size=440, gap=step.gap(zero), failure_probability=1e-3)
    errors = 400 * chosen(3) + 40 * (1 - chosen(4))
    # The function errs 40 times. Only if all eleven proposals are the fourth concept, with
    # probability 9**-11, does the chosen one err more than that.
    assert errors <= 40 + 440 * bound < 200


def test_irreducible_parts_have_a_small_gap() -> None:
    """Points without "0 everywhere" are 7-irreducible on nine points; the value is 1/9."""
    nine = FiniteClass(np.eye(9, dtype=int))
    step = ProperStep(concepts=nine, epsilon=1.0, failure_probability=0.1)
    growth = np.log2(9)
    assert step.gap(bytes(9)) <= irreducible_gap_bound(reach=7, log2_growth=growth)
    assert irreducible_gap_bound(reach=10**6, log2_growth=20) < 1e-4
