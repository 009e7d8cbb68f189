"""PrivateWitnesses: learns what it says, within its bounds, and blocks are single rounds."""

import math
from typing import Any

import numpy as np
import pytest

import littlestone as ls
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.play import play
from littlestone.learners.private_witnesses.bound import Counted, rough_upper_bound, sum_upper_bound
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.randomness import seeded

RECIPE = PrivateWitnesses(concepts=ls.Conjunctions(8), rounds=10**6, epsilon=1.0)


def test_the_numbers_that_the_issue_asks_for() -> None:
    assert RECIPE.guarantee() == ls.PrivacyGuarantee(epsilon=1.0)
    assert RECIPE.expected_mistake_bound() <= 300
    assert RECIPE.expected_mistake_bound() <= RECIPE.mistake_bound(failure_probability=0.05)
    wide = PrivateWitnesses(concepts=ls.Conjunctions(64), rounds=10**6, epsilon=1.0)
    assert ls.Conjunctions(64).size > 2**100 and wide.expected_mistake_bound() < 3900
    old = ls.PrivateMajority(concepts=ls.Thresholds(1023), rounds=10**6, epsilon=1.0)
    new = PrivateWitnesses(concepts=ls.Thresholds(1023), rounds=10**6, epsilon=1.0)
    assert new.expected_mistake_bound() < old.expected_mistake_bound()
    failure = {"failure_probability": 0.05}
    assert new.mistake_bound(**failure) < old.mistake_bound(**failure) / 2


@pytest.mark.parametrize(
    "concepts",
    [
        ls.Conjunctions(3),
        MonotoneDisjunctions(2, 4),
        ls.Thresholds(100),
        ls.Intervals(50),
        ls.concepts.Boxes(2, 6),
    ],
    ids=repr,
)
def test_it_learns_within_its_bound(concepts: Any) -> None:
    # The bound fails with probability 1e-9 at most; the seed is fixed all the same.
    recipe = PrivateWitnesses(concepts=concepts, rounds=20_000, epsilon=1.0)
    game = play(recipe, MistakeForcing(concepts), rounds=20_000, rng=seeded(3))
    assert 0 < game.mistakes <= recipe.mistake_bound(failure_probability=1e-9)


def test_sixty_four_features_are_learned() -> None:
    concepts = ls.Conjunctions(64)
    recipe = PrivateWitnesses(concepts=concepts, rounds=10**5, epsilon=8.0)
    run = recipe.start(rng=seeded(3))
    points = np.random.default_rng(3).integers(2, size=(20_000, 64)).astype(np.uint8)
    points[::2, :3] = 1
    labels = points[:, :3].all(axis=1).astype(np.uint8)
    said = run.follow(points, labels)
    assert (said != labels).sum() <= recipe.mistake_bound(failure_probability=1e-9)
    assert run.hypothesis.describe() == "x0 and x1 and x2"


@pytest.mark.parametrize(
    "concepts",
    [
        ls.Conjunctions(2),
        MonotoneDisjunctions(1, 3),
        ls.Thresholds(20),
        ls.Intervals(20),
        ls.concepts.Boxes(3, 5),
    ],
    ids=repr,
)
def test_blocks_are_single_rounds(concepts: Any) -> None:
    recipe = PrivateWitnesses(concepts=concepts, rounds=3000, epsilon=4.0)
    generator = np.random.default_rng(5)
    points = concepts.domain.sample(3000, generator)
    labels = generator.integers(2, size=3000).tolist()  # that no concept fits: all starts again
    single, block = recipe.start(rng=seeded(1)), recipe.start(rng=seeded(1))
    taken, shown = 0, 0
    while taken < 3000:
        count = block.observe_many(points[taken:], labels[taken:])
        for x, y in zip(points[taken : taken + count], labels[taken : taken + count], strict=True):
            single.observe(x, y)
        taken += count
        assert single.hypothesis == block.hypothesis
        shown += 1
    assert single.switches == block.switches > 10 and shown > 10


def test_a_wrong_state_starts_again() -> None:
    recipe = PrivateWitnesses(concepts=ls.Conjunctions(1), rounds=2000, epsilon=2.0)
    run = recipe.start(rng=seeded(1))
    for _ in range(2):
        while not run.hypothesis((1,)):
            run.observe((1,), 1)
        assert run.hypothesis.describe() == "x0"
        while run.hypothesis((1,)):
            run.observe((1,), 0)
        assert run.hypothesis.describe() == "0 everywhere"


@pytest.mark.parametrize(("rates", "threshold"), [((0.8, 0.2), 6), ((0.3, 0.7), 3)])
def test_the_count_at_which_a_counter_fires_by_definition(
    rates: tuple[float, float], threshold: int
) -> None:
    law, (query, noise) = Counted(*rates, threshold).law(), rates
    survive = np.zeros(len(law) + 1)
    for rho in range(2000):
        likely, alive = -math.expm1(-noise) * math.exp(-noise * rho), 1.0
        for count in range(len(survive)):
            if count:
                alive *= 1 - math.exp(-query * max(threshold + rho - count, 0))
            survive[count] += likely * alive
    tail = np.cumsum(law[::-1])[::-1]
    # At least the exact tail: what is left out counts as late.
    assert (tail[1:] >= survive[:-2][: len(tail) - 1] - 1e-9).all()
    assert survive.sum() <= Counted(*rates, threshold).mean() <= 1.3 * survive.sum()


def test_quantiles_of_sums() -> None:
    one = Counted(0.78, 0.22, 20)
    for times in (1, 5):
        law = np.array([1.0])
        for _ in range(times):
            law = np.convolve(law, one.law())
        for failure in (0.5, 0.05, 1e-6):
            bound = sum_upper_bound(((one, times),), failure)
            assert law[int(bound) + 1 :].sum() <= failure + 1e-10
            assert law[int(bound) :].sum() >= failure - 1e-10
            assert bound <= rough_upper_bound(((one, times),), failure)


def test_a_plan_of_ones_own_must_stay_within_the_budget() -> None:
    plan = WitnessPlan(query_rate=0.8, threshold_rate=0.4, threshold=20, again=30)
    with pytest.raises(ValueError, match="plan must stay within the budget"):
        PrivateWitnesses(concepts=ls.Conjunctions(2), rounds=100, epsilon=1.0, plan=plan)
    taken = PrivateWitnesses(concepts=ls.Conjunctions(2), rounds=100, epsilon=1.3, plan=plan)
    assert taken.planned is plan and taken.guarantee().epsilon == pytest.approx(1.2)
    assert taken.guarantee().epsilon >= 1.2


def test_other_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="concepts must have a witness system"):
        PrivateWitnesses(concepts=ls.Points(), rounds=100, epsilon=1.0)


@pytest.mark.parametrize(
    "concepts", [ls.Conjunctions(64), ls.Thresholds(1023), ls.Intervals(64)], ids=repr
)
def test_it_is_recommended_where_it_is_best(concepts: Any) -> None:
    budget: dict[str, Any] = {"rounds": 10**6, "epsilon": 1.0, "delta": 1e-6}
    advice = ls.recommend(concepts, setting="realizable", adversary="adaptive", **budget)
    assert advice.best is not None and advice.best.name == "private-witnesses"
