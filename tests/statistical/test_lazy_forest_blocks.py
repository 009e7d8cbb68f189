"""Rounds taken in blocks have the law of rounds taken one by one.

Wrong with probability at most 1e-9 (tests/chance.py).
"""

from collections.abc import Callable

import numpy as np
import pytest
from tests.chance import agree, in_one_of_many

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.run import PrivateRun
from littlestone.randomness import Randomness

RUNS = 400
ROUNDS = 600


def labels(run: PrivateRun, quiet: int) -> np.ndarray:
    """A mistake at the point 1 after every ``quiet`` correct rounds."""
    right = np.full(ROUNDS, run.hypothesis(1), dtype=np.uint8)
    right[quiet :: quiet + 1] ^= 1
    return right


def one_by_one(run: PrivateRun) -> int:
    switched, published = 0, run.hypothesis
    given = labels(run, 2)
    while run.hypothesis is published and switched < ROUNDS:
        run.observe(1, int(given[switched]))
        switched += 1
    return switched


def in_blocks(run: PrivateRun) -> int:
    return run.observe_many(np.ones(ROUNDS, dtype=np.int64), labels(run, 2))


def with_fewer_mistakes(run: PrivateRun) -> int:
    return run.observe_many(np.ones(ROUNDS, dtype=np.int64), labels(run, 3))


def alike(
    concepts: ConceptClass,
    first: Callable[[PrivateRun], int],
    second: Callable[[PrivateRun], int],
    rng: Randomness,
) -> bool:
    """Whether the length of the first turn may have one law."""
    learner = LazyForest.calibrated(concepts=concepts, rounds=2000, epsilon=8.0, delta=0.01)
    return agree(*([take(learner.start(rng=rng)) for _ in range(RUNS)] for take in (first, second)))


@pytest.mark.statistical
@pytest.mark.parametrize("concepts", [Points(), Thresholds(6)])
def test_blocks_have_the_law_of_single_rounds(concepts: ConceptClass, rng: Randomness) -> None:
    assert alike(concepts, one_by_one, in_blocks, rng)


@pytest.mark.statistical
@pytest.mark.parametrize("concepts", [Points(), Thresholds(6)])
def test_a_slower_stream_of_mistakes_is_noticed(concepts: ConceptClass, rng: Randomness) -> None:
    # A turn is a third longer.
    assert in_one_of_many(lambda: not alike(concepts, one_by_one, with_fewer_mistakes, rng))
