"""Whatever deterministic learner a forest is grown from, and whatever comes, it never raises.

Sequences of a small forest meet often, so that hypotheses of every look are compared, counted and
published: an error would tell which of them had come up.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest
from tests.battery import CLASSES

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import ConceptClass, OnlineClass
from littlestone.game.protocols import OnlineLearner
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.linear import Perceptron, Winnow
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.randomness import seeded

SPACES: dict[str, ConceptClass] = {
    **CLASSES,
    "one-of-four": MonotoneDisjunctions(1, 4),
    "two-of-eight": MonotoneDisjunctions(2, 8),
    "conjunctions-of-two": Conjunctions(2),
    "steep-halfspaces": MarginHalfspaces(1, 0.7),
}
BASES: dict[str, Callable[[Any], OnlineLearner]] = {
    "standard-optimal": StandardOptimal,
    "halving": Halving,
    "sparse-majority": SparseMajority,
    "winnow": Winnow,
    "perceptron": Perceptron,
}
ROUNDS = 70
EPSILON, DELTA = 2000.0, 0.5
LARGEST_DEPTH = 16


@cache
def learners(base: str) -> list[OnlineLearner]:
    """This learner of every class that it takes, if it errs seldom enough for a small forest."""
    taken = []
    for concepts in SPACES.values():
        try:
            learner = BASES[base](concepts)
            _ = learner.start().hypothesis
            shallow = learner.mistake_bound <= LARGEST_DEPTH
        except (ValueError, AttributeError):  # not a class for it
            continue
        if shallow:
            taken.append(learner)
    return taken


def lazy(base: OnlineLearner, *, packed: bool) -> LazyForest:
    """Layers end after a few mistakes, and whatever occurs twice is listed."""
    depth = base.mistake_bound
    each = PrivacyGuarantee(epsilon=EPSILON / (2 * depth + 2), delta=DELTA / (depth + 1))
    plan = ForestPlan(
        slots=max(64, 2 ** (depth + 1)),
        packed=packed,
        mistakes_per_layer=(*(12,) * depth, 1),
        mistakes_per_slot=(2.0,) * depth,
        margins=(1,) * (depth + 1),
        list_thresholds=(2,) * depth,
        budgets=ForestBudgets.from_listing((each,) * depth, epsilon=EPSILON),
    )
    return LazyForest(**promise(base), plan=plan)


def eager(base: OnlineLearner) -> EagerForest:
    release = FrequentRelease(epsilon=EPSILON, delta=DELTA, selections=40, rare_below=6)
    return EagerForest(**promise(base), trees=6, leaves=4, release=release)


def fresh(base: OnlineLearner) -> FreshCopies:
    return FreshCopies(**promise(base), trees=6, leaves=4)


def promise(base: OnlineLearner) -> dict[str, Any]:
    numbers = {"rounds": ROUNDS, "epsilon": EPSILON, "delta": DELTA}
    return {"concepts": base.concepts, "base": base, **numbers}


FORESTS: dict[str, tuple[Callable[[Any], PrivateLearner], int]] = {
    "array": (lambda base: lazy(base, packed=False), ROUNDS),
    "packed": (lambda base: lazy(base, packed=True), ROUNDS),
    "eager": (eager, 40),
    "fresh": (fresh, 12),
}


def stream(concepts: OnlineClass, seed: int) -> Iterator[tuple[Any, int]]:
    """Few points, so that they repeat and sequences meet; any labels."""
    generator, few = seeded(seed).generator(), 1 + 2 * (seed % 3)
    points = list(concepts.domain.sample(few, generator))
    for place, label in generator.integers((few, 2), size=(ROUNDS, 2)).tolist():
        yield points[place], label


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize("part", ["half", pytest.param("rest", marks=pytest.mark.slow)])
def test_a_forest_of_any_base_never_raises(part: str, forest: str, base: str) -> None:
    build, rounds = FORESTS[forest]
    published = set()
    for place, learner in enumerate(learners(base)):
        recipe = build(learner)
        # Three and five points for every other class each.
        for seed in (0, 1 + place % 2) if part == "half" else (2 - place % 2,):
            run = recipe.start(rng=seeded(seed))
            shown = None
            # A single point, seed 0, has soon shown all that can come of it.
            for x, y in islice(stream(learner.concepts, seed), rounds if seed else rounds // 4):
                run.observe(x, y)
                if run.hypothesis is not shown:
                    shown = run.hypothesis
                    published.add(json.dumps(shown.to_json()))
            assert hypothesis_from_json(run.hypothesis.to_json()) == run.hypothesis
            recipe.restore(run.snapshot())
    assert len(published) > 1, "too dull to notice anything"


def test_bases_are_tried_on_many_classes() -> None:
    tried = {base: len(learners(base)) for base in BASES}
    assert tried == {
        "standard-optimal": 12,
        "halving": 14,
        "sparse-majority": 15,
        "winnow": 3,
        "perceptron": 2,
    }
