"""The learner from constructed experts: budget, runs, saving, accuracy."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.chance import FALSE_FAILURE_PROBABILITY, fewest_successes

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import HorizonExceededError
from littlestone.game.protocols import OnlineLearner
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.sanitized.families import (
    HistogramFamily,
    RealizableFamily,
    TreeFamily,
    error_class,
    family_named,
)
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.privacy.composition import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, seeded

ROUNDS = 1500
SINGLETONS = FiniteClass(np.eye(4, dtype=int))


def recipe(concepts: ConceptClass, **more: Any) -> SanitizedExperts:
    settings = {"rounds": ROUNDS, "epsilon": 8.0, "delta": 1e-3, "switch_grid": 256, **more}
    return SanitizedExperts(concepts=concepts, **settings)


SETTINGS: dict[str, tuple[ConceptClass, dict[str, Any]]] = {
    "points": (Points(), {}),
    "paper-sanitizer": (SINGLETONS, {"sanitizer": "realizable"}),
    "histogram-of-all": (SINGLETONS, {}),
    "thresholds": (Thresholds(5), {}),
    "standard-optimal": (Thresholds(5), {"base": StandardOptimal(Thresholds(5))}),
    "halving": (SINGLETONS, {"base": Halving(SINGLETONS)}),
    "dartboard": (Points(), {"experts": "shrinking-dartboard"}),
    "lazy": (Thresholds(5), {"experts": "lazy-switching"}),
    "sparse-sets": (SparseSets(2), {}),
    "planned-grid": (Points(), {"switch_grid": None}),
    "every-7th-round": (Points(3), {"switch_grid": 7, "rounds": 60}),
}


@cache
def recipe_of(name: str) -> SanitizedExperts:
    """Planned when it is first asked for, not when tests are collected."""
    concepts, more = SETTINGS[name]
    return recipe(concepts, **more)


def stream(concepts: ConceptClass, rounds: int) -> list[tuple[Any, int]]:
    generator = np.random.Generator(np.random.PCG64DXSM(5))
    xs = np.minimum(generator.geometric(0.4, rounds) - 1, (concepts.domain.size or 5) - 1)
    noisy = generator.random(rounds) < 0.2
    return [(x, int((x >= 2) ^ flip)) for x, flip in zip(xs.tolist(), noisy.tolist(), strict=True)]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_budget_is_kept(name: str) -> None:
    learner = recipe_of(name)
    budget = PrivacyGuarantee(epsilon=learner.epsilon, delta=learner.delta)
    assert learner.guarantee().within(budget)
    # No more is left over than rounding and the conversion of the sanitizer's share cost.
    assert learner.guarantee().epsilon > 0.7 * learner.epsilon
    run = learner.start(rng=seeded(1))
    for x, y in stream(learner.concepts, learner.rounds):
        run.observe(x, y)
    assert run.ledger.spent().within(budget)
    names = {charge.mechanism for charge in run.ledger.charges}
    assert len(names) == 2  # the sanitizer and the experts algorithm
    with pytest.raises(HorizonExceededError):
        run.observe(0, 1)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_snapshot_continues_identically(name: str) -> None:
    learner = recipe_of(name)
    examples = stream(learner.concepts, learner.rounds)
    whole, saved = learner.start(rng=seeded(7)), learner.start(rng=seeded(7))
    for number, (x, y) in enumerate(examples):
        if number in (3, 50, 300, 700, 1400):
            saved = learner.restore(saved.snapshot())
        whole.observe(x, y)
        saved.observe(x, y)
        assert whole.hypothesis == saved.hypothesis
    assert whole.ledger.spent() == saved.ledger.spent()
    assert whole.switches == saved.switches


@pytest.mark.parametrize("name", ["points", "thresholds", "dartboard"])
def test_blocks_are_rounds(name: str) -> None:
    learner = recipe_of(name)
    examples = stream(learner.concepts, learner.rounds)
    single, block = learner.start(rng=seeded(3)), learner.start(rng=seeded(3))
    published = []
    for x, y in examples:
        single.observe(x, y)
        published.append(single.hypothesis)
    taken = 0
    while taken < len(examples):
        xs, ys = zip(*examples[taken:], strict=True)
        taken += block.observe_many(list(xs), list(ys))
        assert block.hypothesis == published[taken - 1]
    assert single.switches == block.switches


def test_bad_input_is_refused_and_changes_nothing() -> None:
    learner = recipe_of("thresholds")
    run, same = learner.start(rng=seeded(1)), learner.start(rng=seeded(1))
    for bad in [(9, 1), (2, 2), ("a", 0)]:
        with pytest.raises(ValueError):
            run.observe(*bad)
    for x, y in stream(learner.concepts, 600):
        run.observe(x, y)
        same.observe(x, y)
        assert run.hypothesis == same.hypothesis


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"rounds": 1}, "rounds"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"switch_grid": 0}, "switch_grid"),
        ({"switch_grid": ROUNDS}, "switch_grid"),
        ({"experts": "oracle"}, "experts"),
        ({"sanitizer": "none"}, "sanitizer"),
        ({"sanitizer": "tree"}, "sanitizer"),
        ({"sanitizer_share": 1.0}, "sanitizer_share"),
        ({"max_contributions": 0}, "max_contributions"),
        ({"most_groups": 0}, "most_groups"),
    ],
)
def test_bad_parameters_are_refused_by_name(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        recipe(Points(), **wrong)


def test_a_base_for_other_points_is_refused() -> None:
    """It would raise at the first example outside its domain: an error that depends on data."""
    with pytest.raises(ValueError, match="base must learn over the domain of concepts"):
        recipe(Points(9), base=StandardOptimal(Points(3)))


def test_a_sanitizer_that_spends_everything_is_refused() -> None:
    family = HistogramFamily(concepts=SparseSets(2), epsilon=9.0, delta=1e-4)
    with pytest.raises(ValueError, match="sanitizer must leave"):
        recipe(Points(), sanitizer=family)


def test_a_given_family_is_used() -> None:
    family = HistogramFamily(concepts=SparseSets(2), epsilon=6.0, delta=1e-4)
    learner = recipe(Points(), sanitizer=family)
    assert learner.plan.construction.intervals.family is family
    assert learner.plan.prediction.guarantee().epsilon < 2.01


def test_the_promise_is_per_user() -> None:
    one, three = recipe(Points()), recipe(Points(), max_contributions=3)
    assert three.guarantee() == user_level(one.guarantee(), max_contributions=3)


def test_adversaries_that_accuracy_is_promised_against() -> None:
    assert not recipe_of("points").oblivious_only
    assert recipe_of("dartboard").oblivious_only and recipe_of("lazy").oblivious_only


def test_another_horizon_is_planned_anew() -> None:
    longer = recipe_of("planned-grid").for_rounds(10**6)
    assert isinstance(longer, SanitizedExperts)
    assert longer.rounds == 10**6
    assert (
        longer.plan.construction.switch_grid
        > recipe_of("planned-grid").plan.construction.switch_grid
    )


def test_reaching_the_limit_of_groups_is_told_and_learning_goes_on() -> None:
    learner = recipe(Thresholds(5), most_groups=2)
    run = learner.start(rng=seeded(2))
    for x, y in stream(learner.concepts, ROUNDS - 1):
        run.observe(x, y)
    assert "no new experts" in run.status


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["exponential-weights", "shrinking-dartboard"])
def test_regret_stays_below_the_bound(name: str, rng: Randomness) -> None:
    rounds = 12_000
    learner = SanitizedExperts(
        concepts=Points(), rounds=rounds, epsilon=16.0, delta=1e-3, experts=name, switch_grid=512
    )
    bound = learner.regret_bound(failure_probability=FALSE_FAILURE_PROBABILITY)
    keys = rng.below_many(3, rounds).tolist()
    run, mistakes = learner.start(rng=rng), 0
    for x in keys:
        y = int(x == 1)
        mistakes += run.hypothesis(x) != y
        run.observe(x, y)
    assert mistakes <= bound
    if name == "exponential-weights":
        # Who says 1 all the time errs on two thirds of the rounds.
        assert bound < fewest_successes(rounds, 2 / 3)


@pytest.mark.parametrize(
    "base",
    [
        SparseMajority(SINGLETONS),
        StandardOptimal(FiniteClass([[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]])),
        SparseMajority(Thresholds(6)),
        SparseMajority(Points(5)),
        SparseMajority(SparseSets(2, 4)),
        Halving(Thresholds(4)),
    ],
    ids=repr,
)
def test_the_error_class_holds_every_difference(base: OnlineLearner) -> None:
    points = np.arange(base.concepts.domain.size or 0)
    errors = {h.many(points).tobytes() for h in error_class(base).concepts()}
    concepts = [h.many(points) for h in base.concepts.concepts()]
    states, seen = [base.start()], set()
    while states:
        state = states.pop()
        if state in seen or state.failed:
            continue
        seen.add(state)
        predicted = state.hypothesis.many(points)
        assert all(
            (predicted != concept).astype(np.uint8).tobytes() in errors for concept in concepts
        )
        states += [state.after(x, 1 - int(predicted[x])) for x in points.tolist()]
    assert len(seen) > 1


def test_the_sanitizer_that_misses_least_is_taken() -> None:
    def chosen(concepts: ConceptClass, name: str = "auto") -> Any:
        return family_named(
            name,
            SparseMajority(concepts),
            rounds=10**5,
            epsilon=1.0,
            delta=1e-6,
            failure_probability=0.05,
        )

    assert isinstance(chosen(Points()), HistogramFamily)
    assert isinstance(chosen(Thresholds(100)), TreeFamily)
    assert isinstance(chosen(SINGLETONS), HistogramFamily)
    assert isinstance(chosen(Thresholds(100), "realizable"), RealizableFamily)
    with pytest.raises(ValueError, match="sanitizer must be given"):
        chosen(Conjunctions(2))


def test_the_bound_has_the_parts_that_it_says() -> None:
    learner = SanitizedExperts(
        concepts=Points(), rounds=10**5, epsilon=8.0, delta=1e-6, sanitizer_share=0.25
    )
    plan, prediction = learner.plan, learner.plan.prediction
    assert isinstance(prediction, ExponentialWeights)
    parts = (
        plan.construction.construction_upper_bound(failure_probability=0.025)
        + math.log(plan.construction.experts) / prediction.rate
        + prediction.rate * 10**5 / 8
        + math.sqrt(10**5 * math.log(40) / 2)
    )
    assert parts <= learner.regret_bound(failure_probability=0.05) <= parts + 2
