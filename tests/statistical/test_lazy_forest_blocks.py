"""Rounds taken in blocks have the law of rounds taken one by one."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.run import PrivateRun
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9
RUNS = 400
ROUNDS = 600
CELLS = 6


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


def agreement(
    concepts: ConceptClass,
    first: Callable[[PrivateRun], int],
    second: Callable[[PrivateRun], int],
    rng: Randomness,
) -> float:
    """The p-value for one law of the length of the first turn."""
    learner = LazyForest.calibrated(concepts=concepts, rounds=2000, epsilon=8.0, delta=0.01)
    turns = [[take(learner.start(rng=rng)) for _ in range(RUNS)] for take in (first, second)]
    edges = np.unique(np.quantile(np.concatenate(turns), np.linspace(0, 1, CELLS + 1)[1:-1]))
    rows = [np.bincount(np.searchsorted(edges, turn), minlength=len(edges) + 1) for turn in turns]
    table = np.array(rows)
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] > 2, "this sample cannot tell anything"
    return float(stats.chi2_contingency(table, correction=False).pvalue)


@pytest.mark.statistical
@pytest.mark.parametrize("concepts", [Points(), Thresholds(6)])
def test_blocks_have_the_law_of_single_rounds(concepts: ConceptClass, rng: Randomness) -> None:
    assert agreement(concepts, one_by_one, in_blocks, rng) > FALSE_FAILURE_PROBABILITY


@pytest.mark.statistical
@pytest.mark.parametrize("concepts", [Points(), Thresholds(6)])
def test_a_slower_stream_of_mistakes_is_noticed(concepts: ConceptClass, rng: Randomness) -> None:
    # A turn is a third longer. The p-values of twenty trial runs were all below 1e-30.
    assert agreement(concepts, one_by_one, with_fewer_mistakes, rng) < FALSE_FAILURE_PROBABILITY
