"""ProperSelection: the law that is proved, on classes of any size, and its promises."""

import math
import time
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import hoeffding

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.batch.proper_selection import LARGEST_FLIP, ProperSelection
from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.randomness import Randomness, seeded

CLASSES: list[ConceptClass] = [
    Thresholds(6),
    Points(6),
    Intervals(5),
    FiniteClass(np.random.default_rng(2).integers(2, size=(7, 6))),
]
DRAWS = 2500
SLACK = hoeffding(DRAWS, frequencies=100)  # of all concepts of all classes together


def errors_of(concepts: ConceptClass, dataset: list[tuple[Any, int]]) -> dict[Any, int]:
    return {h: sum(h(x) != y for x, y in dataset) for h in concepts.concepts()}


def exact_law(concepts: ConceptClass, dataset: Any, epsilon: float) -> dict[Any, Fraction]:
    """The exponential mechanism over the list of all concepts, in rationals."""
    weights = weight_table(Fraction(epsilon) / 2, 64).weights
    errors = errors_of(concepts, dataset)
    least = min(errors.values())
    drawn = {h: weights[min(e - least, len(weights) - 1)] for h, e in errors.items()}
    total = sum(drawn.values())
    return {h: Fraction(w, total) for h, w in drawn.items()}


def some_data(concepts: ConceptClass) -> list[tuple[Any, int]]:
    points = list(concepts.domain)
    return [(points[i * i % len(points)], int(i % 3 == 0)) for i in range(9)]


@pytest.mark.statistical
@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_concepts_are_drawn_with_the_law_of_the_list(
    concepts: ConceptClass, rng: Randomness
) -> None:
    dataset = some_data(concepts)
    learner = ProperSelection(concepts=concepts, epsilon=0.8)
    drawn = Counter(learner.learn(dataset, rng=rng) for _ in range(DRAWS))
    for h, chance in exact_law(concepts, dataset, 0.8).items():
        assert abs(drawn[h] / DRAWS - float(chance)) <= SLACK


@pytest.mark.statistical
def test_another_epsilon_is_noticed(rng: Randomness) -> None:
    dataset = [(3, 1)] * 8
    learner = ProperSelection(concepts=Points(6), epsilon=0.4)
    drawn = Counter(learner.learn(dataset, rng=rng) for _ in range(DRAWS))
    law, actual = (exact_law(Points(6), dataset, epsilon) for epsilon in (0.8, 0.4))
    assert max(abs(law[h] - actual[h]) for h in law) > 2 * SLACK  # 0.45 against 0.79
    assert any(abs(drawn[h] / DRAWS - float(p)) > SLACK for h, p in law.items())


@given(
    dataset=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=8),
    other=st.tuples(st.integers(0, 4), st.integers(0, 1)),
)
def test_replacing_an_example_changes_no_probability_by_more_than_epsilon(
    dataset: list[tuple[int, int]], other: tuple[int, int]
) -> None:
    for concepts in (Thresholds(5), Points(5), Intervals(5)):
        before = exact_law(concepts, dataset, 0.5)
        after = exact_law(concepts, [other, *dataset[1:]], 0.5)
        for h, chance in before.items():
            assert abs(math.log(chance / after[h])) <= 0.5 * (1 + 1e-12)


def test_errors_stay_within_the_bound_as_often_as_promised() -> None:
    # P(excess > bound) is computed from the exact law: no chance is involved.
    dataset = [(x % 6, int(x % 6 >= 2)) for x in range(60)]
    for failure_probability in (0.3, 0.01):
        learner = ProperSelection(concepts=Thresholds(6), epsilon=0.5)
        bound = learner.excess_bound(failure_probability=failure_probability)
        errors = errors_of(Thresholds(6), dataset)
        law = exact_law(Thresholds(6), dataset, 0.5)
        least = min(errors.values())
        missed = sum(float(law[h]) for h, e in errors.items() if e - least > bound)
        assert missed <= failure_probability
    size = learner.needed(error=0.1, failure_probability=0.05)
    assert learner.error_bound(size=size, failure_probability=0.05) <= 0.1
    assert learner.error_bound(size=size - 1, failure_probability=0.05) > 0.1
    assert learner.pac_error_bound(size=size, failure_probability=0.05) > 0.1
    assert learner.error_bound(size=1, failure_probability=0.05) == 1


@pytest.mark.parametrize("kind", [Thresholds, Points, Intervals])
def test_a_million_concepts_cost_no_more_than_the_examples(kind: Any) -> None:
    concepts = kind(2**20)
    generator = np.random.default_rng(1)
    points = generator.integers(2**20, size=5000)
    dataset = [(int(x), int(x >= 300_000)) for x in points]
    learner = ProperSelection(concepts=concepts, epsilon=1.0)
    learner.learn(dataset[:2], rng=seeded(1))
    began = time.process_time()
    rule = learner.learn(dataset, rng=seeded(2))
    assert time.process_time() - began < 60  # listing 2**39 intervals would take days
    if kind is not Points:
        assert sum(rule(x) != y for x, y in dataset) <= learner.excess_bound(
            failure_probability=1e-9
        )


def test_permute_and_flip_is_offered_on_small_classes(rng: Randomness) -> None:
    learner = ProperSelection(concepts=Thresholds(63), epsilon=1.0, selection="permute-and-flip")
    dataset = [(x, int(x >= 20)) for x in range(64 - 1)] * 3
    assert learner.learn(dataset, rng=rng) in set(Thresholds(63).concepts())
    other = ProperSelection(concepts=Thresholds(63), epsilon=1.0)
    assert learner.excess_bound(failure_probability=0.05) < other.excess_bound(
        failure_probability=0.05
    )
    assert learner.zero_concentrated().rho == 4 * other.zero_concentrated().rho
    with pytest.raises(ValueError, match="at most"):
        ProperSelection(
            concepts=Thresholds(LARGEST_FLIP), epsilon=1.0, selection="permute-and-flip"
        )
    with pytest.raises(ValueError, match="selection must be"):
        ProperSelection(concepts=Thresholds(3), epsilon=1.0, selection="best")  # type: ignore[arg-type]


def test_no_data_are_refused_for_what_they_are(rng: Randomness) -> None:
    learner = ProperSelection(concepts=FiniteClass([[0, 0], [1, 1]]), epsilon=1.0)
    for dataset in ([], [(0, 0), (0, 1)], [(0, 1), (1, 0)] * 3):
        assert learner.learn(dataset, rng=rng) in set(learner.concepts.concepts())
    with pytest.raises(ValueError, match="x must be"):
        learner.learn([(0, 0), (2, 0)], rng=rng)
