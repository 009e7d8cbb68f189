"""PrivateMajority: what it refuses, what it promises, how it runs."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.errors import HorizonExceededError
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.spreading import SpreadMistakes
from littlestone.game.play import play
from littlestone.learners.private_majority.plan import (
    EpochPlan,
    FreshPlan,
    SampledPlan,
    epoch_plan,
    split_budget,
)
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, seeded

RECORDS = Schema.from_mapping({"delay": {"grid": [0, 5, 9]}, "carrier": {"values": ["UA", "AA"]}})
SIXTEEN = Thresholds(16)
ZERO = ThresholdHypothesis(100, 100)
BUDGET: dict[str, Any] = {"rounds": 2000, "epsilon": 1.0, "delta": 1e-6}
LEARNERS = [
    PrivateMajority(concepts=Thresholds(16), **BUDGET),
    PrivateMajority(concepts=SparseSets(2, 30), **BUDGET),
    PrivateMajority(concepts=Thresholds(16), evidence="cumulative", **BUDGET),
    PrivateMajority(concepts=Intervals(8), votes=1, phases=6, **BUDGET),
    PrivateMajority(concepts=Stumps(RECORDS, depth=2), **BUDGET),
]


def learner(concepts: ConceptClass = SIXTEEN, **changed: Any) -> PrivateMajority:
    return PrivateMajority(concepts=concepts, **{**BUDGET, **changed})


def noise_stream(concepts: ConceptClass, count: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(3)
    points = concepts.domain.check_many(concepts.domain.sample(count, generator))
    return points, generator.integers(2, size=count)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"delta": 1.0}, "delta must lie"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"max_contributions": 0}, "max_contributions must be"),
        ({"evidence": "rumours"}, "evidence must be 'fresh'"),
        ({"votes": 2}, "votes must be odd"),
        ({"votes": 0}, "votes must be at least 1"),
        ({"phases": 2.5}, "phases must be a whole number"),
        ({"evidence": "fresh", "votes": 3}, "belong to cumulative evidence"),
        ({"evidence": "cumulative", "delta": 0.0}, "delta must be above 0"),
        ({"concepts": Intervals(8), "evidence": "fresh"}, "fresh evidence needs"),
        ({"concepts": Points()}, "infinitely many"),
        ({"concepts": Points(2**21), "evidence": "fresh"}, "1048576 keys"),
    ],
)
def test_bad_recipes_are_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(**wrong)


def test_a_plan_that_overspends_is_refused() -> None:
    exact = FreshPlan(threshold_epsilon=0.5, threshold=20, selection_rate=0.5)
    assert learner(delta=0.0, plan=exact).guarantee() == PrivacyGuarantee(epsilon=1.0)
    for dearer in (
        replace(exact, threshold_epsilon=0.5000001),
        replace(exact, selection_rate=0.5000001),
    ):
        with pytest.raises(ValueError, match="plan must stay within the budget"):
            learner(plan=dearer)
    planned = learner(Intervals(8)).planned
    assert isinstance(planned, SampledPlan)
    first = planned.epochs[0]
    for worse in (
        replace(first, rate=first.rate * 1.01),
        replace(first, votes=first.votes + 2),
        replace(first, weights=(*first.weights[:-1], first.weights[-1] + 1)),
    ):
        with pytest.raises(ValueError, match="plan must stay within the budget"):
            learner(Intervals(8), plan=replace(planned, epochs=(worse,)))
    for other in ({"votes": first.votes + 2}, {"phases": 99}, {"evidence": "fresh"}):
        with pytest.raises(ValueError, match=next(iter(other))):
            learner(Intervals(8), plan=planned, **other)


def test_epochs_spend_the_budget_to_the_last_digits() -> None:
    rho, threshold_epsilon = split_budget(epsilon=1.0, delta=1e-6)
    quarter = ZeroConcentrated(rho=rho / 4).epsilon_upper_bound(1e-6)
    assert 1 - 1e-9 < threshold_epsilon + quarter <= 1
    epoch = epoch_plan(rho=rho, votes=3, phases=12, charge=1.0, margin=10.0)
    assert 0.97 * rho < epoch.concentrated(mistakes_moved=2).rho <= rho
    # What each phase's example pays, by the definition: draws that follow, times range²/8.
    costs = [
        3 * (12 - j) * Fraction(2 * weight * Fraction(epoch.rate)) ** 2 / 8
        for j, weight in enumerate(epoch.weights, start=1)
    ]
    assert float(max(costs)) <= epoch.concentrated(mistakes_moved=2).rho
    assert list(epoch.weights) == sorted(epoch.weights) and epoch.weights[-1] > epoch.weights[0]


def test_an_epoch_plan_checks_its_shape() -> None:
    with pytest.raises(ValueError, match="one entry more than weights"):
        EpochPlan(votes=1, rate=0.1, weights=(1, 1), thresholds=(5, 5))
    with pytest.raises(ValueError, match="epochs must not be empty"):
        SampledPlan(threshold_epsilon=0.5, epochs=())


def test_fresh_evidence_is_pure_and_the_rest_is_not() -> None:
    assert learner().guarantee() == PrivacyGuarantee(epsilon=1.0)
    cumulative = learner(evidence="cumulative").guarantee()
    assert cumulative.delta == 1e-6 and 0.99 < cumulative.epsilon <= 1.0


def test_the_guarantee_is_per_user() -> None:
    assert learner(max_contributions=3).guarantee() == PrivacyGuarantee(epsilon=3.0)


@pytest.mark.parametrize("recipe", LEARNERS, ids=repr)
def test_any_data_are_taken_and_the_ledger_stays_within_the_budget(
    recipe: PrivateMajority,
) -> None:
    run = recipe.start(rng=seeded(1))
    xs, ys = noise_stream(recipe.concepts, recipe.rounds)
    for x, y in zip(xs[:1000], ys[:1000].tolist(), strict=True):
        run.observe(recipe.concepts.domain.check(x), y)
    taken = 1000
    while taken < recipe.rounds:
        taken += run.observe_many(xs[taken:], ys[taken:])
    assert run.rounds_played == recipe.rounds and run.switches > 0
    assert run.ledger.spent().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    assert len(run.ledger.charges) > 1
    published = run.hypothesis
    with pytest.raises(HorizonExceededError):
        run.observe(recipe.concepts.domain.check(xs[0]), 0)
    assert run.hypothesis == published and "used up" in run.status


@pytest.mark.parametrize("recipe", LEARNERS, ids=repr)
def test_a_snapshot_continues_identically(recipe: PrivateMajority) -> None:
    run = recipe.start(rng=seeded(2))
    xs, ys = noise_stream(recipe.concepts, 600)
    points = [recipe.concepts.domain.check(x) for x in xs]
    for x, y in zip(points[:150], ys[:150].tolist(), strict=True):
        run.observe(x, y)
    restored = recipe.restore(run.snapshot())
    for x, y in zip(points[150:], ys[150:].tolist(), strict=True):
        run.observe(x, y)
        restored.observe(x, y)
        assert run.hypothesis == restored.hypothesis
    assert run.switches == restored.switches > 2
    assert [c.rounds for c in run.ledger.charges] == [c.rounds for c in restored.ledger.charges]


@pytest.mark.parametrize("recipe", LEARNERS, ids=repr)
def test_it_learns(recipe: PrivateMajority, rng: Randomness) -> None:
    easy = replace(recipe, epsilon=20.0, plan=None)
    transcript = play(easy, MistakeForcing(easy.concepts), rounds=2000, rng=rng)
    # At this budget noise hardly matters; a run that never learned would err in every round.
    assert transcript.mistakes < 500


def test_published_thresholds_follow_the_golden_run() -> None:
    recipe = PrivateMajority(concepts=Thresholds(100), rounds=500, epsilon=1.0)
    adversary = SpreadMistakes(recipe.concepts)
    transcript = play(recipe, adversary, rounds=500, rng=seeded(11), record=500)
    published = [round_.hypothesis.disagreement(ZERO) for round_ in transcript.record]
    changes = [k for k, before in zip(published, [None, *published], strict=False) if k != before]
    # A false witness after threshold 3 costs three phases more and then everything again.
    assert changes == [63, 31, 15, 7, 3, 5, 4, 63, 31, 15, 7, 3, 1, 0]
    assert transcript.mistakes == 209


def test_votes_follow_the_golden_run() -> None:
    table = FiniteClass([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]])
    recipe = PrivateMajority(concepts=table, rounds=3000, epsilon=1.0, delta=1e-6)
    transcript = play(recipe, MistakeForcing(table), rounds=3000, rng=seeded(12))
    assert (transcript.mistakes, transcript.switches) == (61, 2)


def test_more_rounds_are_planned_for() -> None:
    short, long = learner(rounds=1000), learner(rounds=1000).for_rounds(10**9)
    assert isinstance(long, PrivateMajority)
    assert isinstance(short.planned, FreshPlan) and isinstance(long.planned, FreshPlan)
    assert long.planned.threshold > short.planned.threshold
    assert long == learner(rounds=10**9)


def test_small_budgets_can_be_planned() -> None:
    for concepts in (Thresholds(64), Intervals(8)):
        recipe = PrivateMajority(concepts=concepts, rounds=10**6, epsilon=0.01, delta=1e-9)
        assert recipe.guarantee().within(PrivacyGuarantee(epsilon=0.01, delta=1e-9))
        recipe.start(rng=seeded(1)).observe(3, 1)


@pytest.mark.parametrize("concepts", [Thresholds(8), Points(50), Intervals(8)], ids=repr)
def test_bounds_are_proved_and_grow_as_they_should(concepts: ConceptClass) -> None:
    def bound(failure_probability: float, **changed: Any) -> float:
        recipe = learner(concepts, **{"rounds": 10**6, **changed})
        return recipe.mistake_bound(failure_probability=failure_probability)

    assert bound(0.5) < bound(0.05) < bound(1e-6) < 10**6
    assert bound(0.05) < bound(0.05, epsilon=0.5)
    assert bound(0.05) < bound(0.05, rounds=10**9)
    assert bound(0.05, rounds=100) <= 100
    with pytest.raises(ValueError, match="failure_probability"):
        bound(0.0)


def test_nothing_is_proved_about_too_few_votes() -> None:
    assert learner(Intervals(8), votes=3, phases=8).mistake_bound(failure_probability=0.05) == 2000


def test_the_bound_of_sampled_votes_counts_every_epoch() -> None:
    recipe = learner(Intervals(8), rounds=10**6)
    assert isinstance(recipe.planned, SampledPlan)
    lost = sum(sum(epoch.thresholds) for epoch in recipe.planned.epochs[:-1])
    last = recipe.planned.epochs[-1].thresholds
    assert lost + last[0] < recipe.mistake_bound(failure_probability=0.5) < 2 * (lost + sum(last))
    # Four failures of the last kind in a row are as unlikely as 1e-6 / 2; they are paid for.
    assert recipe.mistake_bound(failure_probability=1e-6) > lost + 4 * sum(last)
