"""PrivateKeys: lists, unlists, counts what it says, and blocks are single rounds."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import littlestone as ls
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.randomness import seeded

RECIPE = PrivateKeys(rounds=10**6, epsilon=1.0, delta=1e-6)


def test_a_key_that_is_reported_is_listed_and_one_that_is_complained_about_is_not() -> None:
    run = RECIPE.start(rng=seeded(3))
    reports = 0
    while not run.hypothesis("spammer@example.org"):
        run.observe("spammer@example.org", 1)
        reports += 1
    assert reports <= RECIPE.mistake_bound_for(1, failure_probability=1e-9)
    complaints = 0
    while run.hypothesis("spammer@example.org"):
        run.observe("spammer@example.org", 0)
        complaints += 1
    assert complaints <= RECIPE.complaints + 200
    assert run.hypothesis == FiniteSupport.on()


def test_a_rare_key_is_not_listed() -> None:
    run = RECIPE.start(rng=seeded(4))
    run.observe_many(list(range(5000)), [1] * 5000)  # once each
    assert run.hypothesis == FiniteSupport.on()


@pytest.mark.parametrize("words", [False, True])
def test_blocks_are_single_rounds_to_the_bit(words: bool) -> None:
    generator = np.random.default_rng(7)
    xs = (generator.zipf(1.3, 30_000) % 1000).tolist()
    ys = ((np.array(xs) % 3 == 0) ^ (generator.random(30_000) < 0.05)).astype(int).tolist()
    points = [f"key {x}" for x in xs] if words else xs
    recipe = PrivateKeys(rounds=30_000, epsilon=2.0, delta=1e-4)
    single, blocks = recipe.start(rng=seeded(1)), recipe.start(rng=seeded(1))
    seen = []
    for t, (x, y) in enumerate(zip(points, ys, strict=True), start=1):
        before = single.hypothesis
        single.observe(x, y)
        if single.hypothesis != before:
            seen.append((t, single.hypothesis))
    told, start = [], 0
    block = np.array(points) if not words else points
    while start < len(points):
        before = blocks.hypothesis
        start += blocks.observe_many(block[start : start + 9_999], ys[start : start + 9_999])
        if blocks.hypothesis != before:
            told.append((start, blocks.hypothesis))
    assert told == seen and len(seen) > 30
    assert blocks._engine.state()[2:] == single._engine.state()[2:]


def test_the_mean_and_the_bound_hold() -> None:
    """False failures: a mean of 400 with a standard deviation below 9, and a binomial tail."""
    recipe = PrivateKeys(rounds=10**5, epsilon=1.0, delta=1e-6, concepts=ls.concepts.SparseSets(1))
    counts = []
    for seed in range(400):
        run = recipe.start(rng=seeded(seed))
        mistakes = 0
        while not run.hypothesis("a"):
            run.observe("a", 1)
            mistakes += 1
        counts.append(mistakes)
    deviation = 6.2 * np.std(counts) / 20
    assert np.mean(counts) <= recipe.expected_mistake_bound() + deviation
    assert np.mean(counts) >= recipe.reports - 10  # and not by listing too early
    over = sum(count > recipe.mistake_bound(failure_probability=0.05) for count in counts)
    assert binom.sf(over - 1, 400, 0.05) > 1e-9


def test_nothing_is_bounded_where_any_number_of_keys_may_come() -> None:
    assert RECIPE.mistake_bound(failure_probability=0.05) == RECIPE.rounds
    assert RECIPE.mistake_bound_for(1000, failure_probability=0.05) < 41_000
    assert RECIPE.mistake_bound_for(0, failure_probability=0.05) == 0


def test_other_classes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"concepts must be sets of keys .* got concepts=Thresh"):
        PrivateKeys(concepts=ls.Thresholds(3), rounds=10, epsilon=1.0, delta=1e-6)


def test_it_is_the_default_for_sets_of_keys_without_a_bound() -> None:
    budget: dict[str, Any] = {"rounds": 10**6, "epsilon": 1.0, "delta": 1e-6}
    assert isinstance(ls.Request(over="keys", **budget).recipe(), PrivateKeys)
    for concepts in (ls.Points(), ls.concepts.SparseSets(3)):
        advice = ls.recommend(concepts, **budget)
        assert advice.best is not None and advice.best.name == "private-keys"


def test_the_set_does_not_show_which_of_two_keys_was_reported_last() -> None:
    """0 and 8 meet in one cell of a small table: the first to come is shown first."""
    shown = set()
    for order in ((0, 8), (8, 0)):
        run = RECIPE.start(rng=seeded(1))
        engine: Any = run._engine
        for number, key in enumerate(order, start=1):
            engine._gaps[key], engine._newest[key] = 1, number
            engine._turns.append((1, number, True, key))
        run.observe("nobody", 0)
        assert run.hypothesis == FiniteSupport.on(0, 8)
        shown.add(repr(run.hypothesis))
    assert len(shown) == 1
