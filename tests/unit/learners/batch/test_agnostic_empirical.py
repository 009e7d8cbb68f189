"""Algorithm 4: its exact law against its exact accounting, scores by definition, and bounds."""

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.agnostic_plan import AgnosticPlan

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.losses.loss_runs import project
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.batch.agnostic_empirical import (
    AgnosticEmpirical,
    planned_agnostic,
)
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.randomness import Randomness
from littlestone.theory.sanitization import empirical_epsilon_upper_bound

CLASSES: list[ConceptClass] = [
    Thresholds(6),
    Points(6),
    Points(),
    Intervals(6),
    SparseSets(2),
    FiniteClass(np.random.default_rng(4).integers(2, size=(8, 6))),
]
Data = tuple[tuple[int, int], ...]
datasets = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=12)


def selection_law(losses: list[int], epsilon: float) -> list[float]:
    weights = weight_table(Fraction(epsilon) / 2, 64).weights
    drawn = [weights[min(loss - min(losses), len(weights) - 1)] for loss in losses]
    return [w / sum(drawn) for w in drawn]


def exact_law(recipe: AgnosticEmpirical, dataset: Data) -> list[float]:
    """Algorithm 4 line by line, over all samples and all choices."""
    concepts = list(recipe.concepts.concepts())
    inner: ProperSelection = recipe.learner  # type: ignore[assignment]
    law = [0.0] * len(concepts)
    samples = list(combinations(range(len(dataset)), recipe.sampled))
    for chosen in samples:
        points = [dataset[i][0] for i in chosen]
        first = {tuple(h(x) for x in points): h for h in reversed(concepts)}
        labellings = list(first.values())
        scores = [
            min(
                recipe.weight * sum(h(x) != f(x) for x in points)
                + sum(f(x) != y for x, y in dataset)
                for f in concepts
            )
            for h in labellings
        ]
        for h, chance in zip(labellings, selection_law(scores, recipe.epsilon), strict=True):
            losses = [sum(g(x) != h(x) for x in points) for g in concepts]
            for place, p in enumerate(selection_law(losses, inner.epsilon)):
                law[place] += chance * p / len(samples)
    return law


TINY = [
    FiniteClass([[0, 0], [0, 1], [1, 0], [1, 1]]),
    FiniteClass([[0, 0], [0, 1], [1, 1]]),
]


def worst_ratio(recipe: AgnosticEmpirical) -> float:
    """The largest log-likelihood ratio over all pairs of neighbours, exactly."""
    examples = list(product((0, 1), (0, 1)))
    laws = {d: exact_law(recipe, d) for d in product(examples, repeat=recipe.size)}
    return max(
        math.log(p / q)
        for dataset, law in laws.items()
        for other in examples
        for p, q in zip(law, laws[(other, *dataset[1:])], strict=True)
    )


@pytest.mark.parametrize("concepts", TINY, ids=repr)
@pytest.mark.parametrize(("sampled", "epsilon"), [(1, 0.05), (1, 1.0), (2, 0.1)])
def test_no_two_neighbours_are_told_apart_better_than_accounted(
    concepts: FiniteClass, sampled: int, epsilon: float
) -> None:
    inner = ProperSelection(concepts=concepts, epsilon=6.0)
    recipe = AgnosticEmpirical(learner=inner, size=4, sampled=sampled, epsilon=epsilon)
    assert 0 < worst_ratio(recipe) <= recipe.guarantee().epsilon


def test_the_epsilon_of_the_choice_alone_would_be_a_false_promise() -> None:
    inner = ProperSelection(concepts=TINY[1], epsilon=6.0)
    recipe = AgnosticEmpirical(learner=inner, size=4, sampled=1, epsilon=0.05)
    assert worst_ratio(recipe) > 0.05


def test_the_accounting_is_sharper_than_the_paper_s() -> None:
    for size, sampled, epsilon in ((1000, 100, 0.1), (10**6, 2000, 0.002), (40, 10, 0.3)):
        inner = ProperSelection(concepts=TINY[0], epsilon=1.0)
        recipe = AgnosticEmpirical(learner=inner, size=size, sampled=sampled, epsilon=epsilon)
        printed = empirical_epsilon_upper_bound(
            share=sampled / size, epsilon=epsilon, inner_epsilon=1.0
        )
        assert epsilon < recipe.guarantee().epsilon < printed
    assert recipe.guarantee().delta == 0


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@given(dataset=datasets, seed=st.integers(0, 10))
def test_scores_are_those_of_the_definition(
    concepts: ConceptClass, dataset: list[tuple[int, int]], seed: int
) -> None:
    points = [x for x, _ in dataset][: 1 + seed % len(dataset)]
    tally = tallied(concepts, dataset)
    sample = tallied(concepts, [(x, 0) for x in points])
    labellings = project(concepts, sample.points)
    if concepts.size is None:  # the same class on the points that matter, and two more
        listed: Any = Points(8) if isinstance(concepts, Points) else SparseSets(2, 8)
    else:
        listed = concepts
    best: dict[tuple[int, ...], int] = {}
    for f in listed.concepts():
        row = tuple(f(x) for x in sample.points)
        errors = sum(f(x) != y for x, y in dataset)
        best[row] = min(errors, best.get(row, errors))
    found = labellings.fewest_errors(tally)
    rows = [tuple(row) for row in labellings.labels.tolist()]
    assert dict(zip(rows, found.tolist(), strict=True)) == best
    for place, row in enumerate(rows):
        assert tuple(labellings.concept(place)(x) for x in sample.points) == row


def test_an_arbitrary_concept_is_always_the_same_one() -> None:
    for concepts in CLASSES:
        points = tallied(concepts, [(x, 0) for x in (1, 4, 2)]).points
        one, two = project(concepts, points), project(concepts, points)
        for place in range(len(one.labels)):
            assert one.concept(place) == two.concept(place)


@pytest.mark.parametrize("concepts", [c for c in CLASSES if c.size is not None], ids=repr)
def test_it_is_total_and_proper(concepts: ConceptClass, rng: Randomness) -> None:
    inner = ProperSelection(concepts=concepts, epsilon=1.0)
    recipe = AgnosticEmpirical(learner=inner, size=30, sampled=7, epsilon=0.3)
    members = set(concepts.concepts())
    for dataset in ([(x % 6, x // 6 % 2) for x in range(30)], [(2, 1)] * 30):
        assert recipe.learn(dataset, rng=rng) in members
    with pytest.raises(ValueError, match="30 examples"):
        recipe.learn([(0, 0)] * 29, rng=rng)


def test_bounds_say_what_the_parts_allow() -> None:
    inner = ProperSelection(concepts=Thresholds(63), epsilon=1.0)
    recipe = AgnosticEmpirical(learner=inner, size=100_000, sampled=1000, epsilon=0.01)
    sharp = recipe.error_bound(size=100_000, failure_probability=0.05)
    assert sharp < recipe.paper_error_bound(failure_probability=0.05) < 0.25
    assert recipe.error_bound(size=99_999, failure_probability=0.05) == 1
    assert recipe.needed(error=0.1, failure_probability=0.05) == 100_000
    with pytest.raises(ValueError, match="does not reach"):
        recipe.needed(error=0.01, failure_probability=0.05)
    tiny = AgnosticEmpirical(learner=inner, size=20, sampled=2, epsilon=0.01)
    assert tiny.error_bound(size=20, failure_probability=0.05) == 1


def test_plans_keep_to_their_epsilon() -> None:
    for epsilon in (0.3, 1.0):
        recipe = planned_agnostic(concepts=Thresholds(63), size=30_000, epsilon=epsilon)
        assert recipe.guarantee().epsilon <= epsilon
        assert recipe.error_bound(size=30_000, failure_probability=0.05) < 0.3
    with pytest.raises(ValueError, match="too small"):
        planned_agnostic(concepts=Thresholds(63), size=100, epsilon=0.001)
    with pytest.raises(ValueError, match="too many labellings"):
        AgnosticEmpirical(
            learner=ProperSelection(concepts=Intervals(2000), epsilon=1.0),
            size=10**4,
            sampled=10**3,
            epsilon=0.1,
        )


def test_a_pac_learner_becomes_agnostic(rng: Randomness) -> None:
    pac = ProperSelection(concepts=Thresholds(5), epsilon=0.5)
    recipe = AgnosticEmpirical.from_pac(pac, draws=200, share=0.1)
    assert recipe.sampled == 251  # 2.5 * epsilon * draws, and one for rounding
    assert recipe.size == 2510
    assert recipe.learn([(x % 5, 1) for x in range(2510)], rng=rng) in set(Thresholds(5).concepts())
    assert recipe.guarantee().epsilon < 2


def test_the_corollary_in_numbers_scales_as_it_says() -> None:
    def size(error: float) -> int:
        plan = AgnosticPlan.of(
            Points(), epsilon=1.0, delta=1e-6, error=error, failure_probability=0.05
        )
        assert plan.guarantee.epsilon <= 1
        return plan.size

    assert 8 <= size(0.01) / size(0.1) <= 14
