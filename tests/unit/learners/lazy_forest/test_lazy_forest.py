"""LazyForest: recipes, budgets, runs, snapshots, refusals."""

import dataclasses
import math
import tracemalloc
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.spreading import SpreadMistakes
from littlestone.game.play import play
from littlestone.learners.lazy_forest.plan import ForestBudgets
from littlestone.learners.lazy_forest.recipe import ForestTooLargeError, LazyForest
from littlestone.learners.online.halving import Halving
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, seeded

SIX_POINTS = Thresholds(6)
BASICS: dict[str, Any] = {"rounds": 10**6, "epsilon": 1.0, "delta": 1e-6}


def calibrated(concepts: Any, **changed: Any) -> LazyForest:
    return LazyForest.calibrated(concepts=concepts, **{**BASICS, **changed})


def with_numbers(forest: LazyForest, **changed: Any) -> LazyForest:
    """``forest`` with numbers of its plan chosen by hand."""
    return dataclasses.replace(forest, plan=dataclasses.replace(forest.plan, **changed))


def small_forest(concepts: Any = SIX_POINTS, **changed: Any) -> LazyForest:
    """So weakly private that turns take a few dozen mistakes: for going through all branches."""
    return calibrated(concepts, **{"epsilon": 20.0, "delta": 0.1, "rounds": 5000, **changed})


def unpacked_forest() -> LazyForest:
    """Algorithm 2 with all slots, small enough to run."""
    return with_numbers(
        small_forest(),
        packed=False,
        slots=128,
        mistakes_per_layer=(80, 20, 1),
        mistakes_per_slot=(2.0, 2.0),
    )


@pytest.mark.parametrize("concepts", [Points(), Thresholds(1), Thresholds(6), SparseSets(2)])
def test_the_target_is_found_against_the_greedy_adversary(concepts: Any, rng: Randomness) -> None:
    learner = calibrated(concepts, rounds=20_000)
    for adversary in (MistakeForcing(concepts), SpreadMistakes(concepts)):
        transcript = play(learner, adversary, rounds=20_000, rng=rng)
        # Ten times the usual number: all of ten copies in a row would have to fail.
        assert 0 < transcript.mistakes < 10 * sum(learner.plan.mistakes_per_layer) + 2000
        late = transcript.curve[-1][1] - transcript.curve[-2][1]
        assert late == 0


def test_points_are_learned_within_the_proved_bound(rng: Randomness) -> None:
    learner = calibrated(Points())
    bound = learner.mistake_bound(failure_probability=1e-9)
    assert bound < 250
    transcript = play(learner, MistakeForcing(Points()), rounds=2000, rng=rng)
    assert transcript.mistakes <= bound


def test_keys_may_be_of_any_plain_type(rng: Randomness) -> None:
    target = ("customer", UUID(int=7))
    run = calibrated(Points(), rounds=500).start(rng=rng)
    mistakes = 0
    for number in range(500):
        x = target if number % 2 else ("customer", UUID(int=number))
        y = int(x == target)
        mistakes += run.hypothesis(x) != y
        run.observe(x, y)
    assert run.hypothesis(target) == 1
    assert mistakes < 250


def test_a_key_that_nobody_knows_how_to_publish_is_refused(rng: Randomness) -> None:
    run = calibrated(Points(), rounds=500).start(rng=rng)
    with pytest.raises(ValueError, match="x must be made of"):
        run.observe(object(), 1)
    assert run.rounds_played == 0


def test_equal_keys_are_published_in_one_form(rng: Randomness) -> None:
    run = calibrated(Points(), rounds=300).start(rng=rng)
    for _ in range(300):
        run.observe(True, 1)
    (key,) = run.hypothesis.positives  # type: ignore[attr-defined]
    assert key == 1 and type(key) is int


@pytest.mark.parametrize(
    "learner",
    [small_forest(), small_forest(Points()), unpacked_forest(), small_forest(SparseSets(2))],
    ids=lambda learner: f"{learner.concepts!r}, packed={learner.plan.packed}",
)
def test_no_stream_makes_it_raise_and_no_example_overpays(
    learner: LazyForest, rng: Randomness
) -> None:
    run = learner.start(rng=rng)
    generator = rng.generator()
    for x in generator.integers(6, size=2000).tolist():
        run.observe(x, 1 - run.hypothesis(x) if generator.integers(2) else 0)
    for _ in range(100):
        xs = generator.integers(6, size=30)
        run.observe_many(xs, generator.integers(2, size=30))
    assert run.switches > 5
    assert run.ledger.spent().within(learner.per_example)
    assert "NOT PRIVATE" in run.ledger.text()


@pytest.mark.parametrize("learner", [small_forest(), small_forest(Points()), unpacked_forest()])
def test_a_restored_run_continues_identically(learner: LazyForest) -> None:
    run = learner.start(rng=seeded(5))
    stream = seeded(6).generator()
    for number in range(800):
        x = int(stream.integers(6))
        run.observe(x, 1 - run.hypothesis(x) if number % 2 else run.hypothesis(x))
        if number % 97 == 0:
            restored = learner.restore(run.snapshot())
            probe = stream.integers(2, size=60)
            futures = []
            for copy in (restored, learner.restore(run.snapshot())):
                published = []
                for y in probe:
                    copy.observe(int(y) * 3, int(y))
                    published.append(copy.hypothesis)
                futures.append(published)
            assert futures[0] == futures[1]
    assert run.switches > 3


def test_the_horizon_is_kept_and_nothing_is_lost(rng: Randomness) -> None:
    run = calibrated(Points(), rounds=3).start(rng=rng)
    for _ in range(3):
        run.observe("a", 1)
    before = run.hypothesis
    with pytest.raises(HorizonExceededError):
        run.observe("a", 1)
    assert run.hypothesis is before and run.rounds_played == 3
    assert "horizon" in run.status


def test_a_copy_without_restarts_halts_and_keeps_publishing(rng: Randomness) -> None:
    learner = dataclasses.replace(small_forest(), restarts=False)
    run = learner.start(rng=rng)
    while "halted" not in run.status:
        x = run.rounds_played % 6
        run.observe(x, 1 - run.hypothesis(x))
    last = run.hypothesis
    run.observe(0, 1 - last(0))
    assert run.observe_many([0, 1], [1 - last(0), 0]) == 2
    assert run.hypothesis is last


def test_every_example_pays_for_its_own_layer_and_those_above() -> None:
    for concepts in (Thresholds(6), Thresholds(8), Thresholds(16)):
        learner = calibrated(concepts)
        switching, listing = learner.plan.budgets.switching, learner.plan.budgets.listing
        for layer, share in enumerate(switching):
            paid = Fraction(share) + sum(Fraction(cost.epsilon) for cost in listing[layer:])
            assert 0.999 < paid <= 1
        assert sum(Fraction(cost.delta) for cost in listing) <= Fraction(1e-6)


def test_budgets_beyond_the_promise_are_refused() -> None:
    learner = calibrated(Thresholds(6))
    half = PrivacyGuarantee(epsilon=0.5, delta=5e-7)
    quarter = PrivacyGuarantee(epsilon=0.25, delta=6e-7)
    for budgets, message in (
        (ForestBudgets(switching=(0.1, 0.5, 1.0), listing=(half, half)), "layer 0 would pay 1.1"),
        (
            ForestBudgets(switching=(0.1, 0.6, 1.0), listing=(quarter, half)),
            "layer 1 would pay 1.1",
        ),
        (ForestBudgets(switching=(0.1, 0.5, 1.0), listing=(quarter, half)), "delta"),
        (ForestBudgets(switching=(0.0, 0.5, 1.0), listing=(half, half)), "switching"),
        (ForestBudgets(switching=(0.1, 0.5), listing=(half, half)), "3 entries"),
    ):
        with pytest.raises(ValueError, match=message):
            with_numbers(learner, budgets=budgets)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"list_thresholds": (45, 49)}, "threshold must be at least"),
        ({"list_thresholds": (45,)}, "2 entries"),
        ({"slots": 7}, "multiple of 2"),
        ({"packed": False, "slots": 20}, "multiple of 8"),
        ({"mistakes_per_layer": (500, 0, 1)}, r"mistakes_per_layer\[1\]"),
        ({"mistakes_per_slot": (1.0, math.nan)}, r"mistakes_per_slot\[1\]"),
        ({"early_release": True}, "errs at most once"),
    ],
)
def test_numbers_that_describe_no_forest_are_refused(changed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_numbers(calibrated(Thresholds(6)), **changed)


@pytest.mark.parametrize("name", ["epsilon", "delta", "rounds", "max_contributions"])
def test_a_forest_without_rounds_or_budget_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(calibrated(Thresholds(6)), **{name: 0})  # type: ignore[arg-type]


def test_the_papers_forest_refuses_to_start_and_says_what_it_needs() -> None:
    for concepts, power in ((Points(), 72.6), (Thresholds(6), 139.6), (Thresholds(16), 528.5)):
        learner = LazyForest.paper(concepts=concepts, failure_probability=0.05, **BASICS)
        with pytest.raises(ForestTooLargeError, match=rf"2\^{power}") as refusal:
            learner.start()
        assert refusal.value.rounds == 10**6
        assert round(math.log2(refusal.value.slots), 1) == power
        assert learner.mistake_bound(failure_probability=0.05) == 10**6


def test_the_papers_forest_runs_once_its_numbers_are_replaced(rng: Randomness) -> None:
    paper = LazyForest.paper(concepts=Thresholds(1), failure_probability=0.05, **BASICS)
    smaller = with_numbers(paper, slots=2**40, mistakes_per_layer=(600, 1), list_thresholds=(100,))
    transcript = play(smaller, MistakeForcing(Thresholds(1)), rounds=10**4, rng=rng)
    assert 600 < transcript.mistakes < 2500


def test_a_forest_that_will_never_climb_says_so(rng: Randomness) -> None:
    run = calibrated(Thresholds(16), rounds=1000).start(rng=rng)
    assert run.status.startswith("waiting: the first layer needs")


def test_a_class_of_high_dimension_is_refused_at_the_start_only() -> None:
    learner = calibrated(Thresholds(2**40))
    with pytest.raises(ForestTooLargeError):
        learner.start()
    assert learner.guarantee() == PrivacyGuarantee(epsilon=1.0, delta=1e-6)


def test_another_base_learner_sets_the_depth(rng: Randomness) -> None:
    concepts = FiniteClass([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
    learner = calibrated(concepts, base=Halving(concepts))
    assert learner.depth == learner.base.mistake_bound == 1
    transcript = play(learner, MistakeForcing(concepts), rounds=3000, rng=rng)
    assert transcript.mistakes < 500
    assert (
        learner.mistake_bound(failure_probability=0.05) == learner.rounds
    )  # nothing is proved for it


def test_a_class_with_one_concept_makes_no_mistake(rng: Randomness) -> None:
    concepts = FiniteClass([[0, 1, 0]])
    learner = calibrated(concepts)
    assert learner.depth == 0 and learner.mistake_bound(failure_probability=0.05) == 0
    assert play(learner, MistakeForcing(concepts), rounds=3000, rng=rng).mistakes == 0


def test_another_horizon_is_planned_anew() -> None:
    learner = calibrated(Thresholds(6))
    assert learner.for_rounds(10**9) == calibrated(Thresholds(6), rounds=10**9)
    paper = LazyForest.paper(concepts=Thresholds(6), failure_probability=0.05, **BASICS)
    longer = LazyForest.paper(
        concepts=Thresholds(6), failure_probability=0.05, **{**BASICS, "rounds": 10**9}
    )
    assert paper.for_rounds(10**9) == longer != paper


def test_a_proved_forest_stays_proved_for_another_horizon() -> None:
    learner = LazyForest.proved(concepts=Thresholds(6), **BASICS)
    longer = learner.for_rounds(10**9)
    assert longer == LazyForest.proved(concepts=Thresholds(6), **{**BASICS, "rounds": 10**9})
    assert longer.mistake_bound(failure_probability=0.05) < 10_000


def test_a_plan_changed_by_hand_is_kept_for_another_horizon() -> None:
    for learner in (
        calibrated(Thresholds(6)),
        LazyForest.proved(concepts=Thresholds(6), **BASICS),
        LazyForest.paper(concepts=Thresholds(6), failure_probability=0.05, **BASICS),
    ):
        assert learner.plan.made_by is not None
        chosen = with_numbers(learner, slots=2**30)
        assert chosen.plan.made_by is None
        assert chosen.for_rounds(10**3) == dataclasses.replace(chosen, rounds=10**3)


def test_whatever_else_was_chosen_is_kept_for_another_horizon() -> None:
    concepts = FiniteClass([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
    learner = dataclasses.replace(
        calibrated(concepts, base=Halving(concepts), max_contributions=2, failure_probability=0.1),
        restarts=False,
    )
    longer = learner.for_rounds(10**9)
    assert dataclasses.replace(longer, rounds=10**6, plan=learner.plan) == learner
    assert longer.plan != learner.plan


def test_a_user_with_several_examples_gets_a_weaker_promise() -> None:
    learner = calibrated(Points(), max_contributions=3)
    assert learner.guarantee().epsilon == 3.0
    assert learner.guarantee().delta > 3e-6


def test_time_and_memory_do_not_depend_on_the_slots() -> None:
    peaks = []
    for exponent in (20, 40, 80):
        learner = with_numbers(calibrated(Thresholds(8)), slots=2**exponent)
        tracemalloc.start()
        run = learner.start(rng=seeded(1))
        xs = np.zeros(4000, dtype=np.int64)
        while run.rounds_played < 8000:
            run.observe_many(xs, np.full(4000, 1 - run.hypothesis(0), dtype=np.uint8))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 1.5 * min(peaks)
