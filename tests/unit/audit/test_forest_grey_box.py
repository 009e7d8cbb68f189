"""Forests replayed on neighbouring streams, written out: what reaches their mechanisms' doors.

Packed ones of dimension 2 and 3 are replayed in ``test_packed_grey_box.py``.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.unit.audit.replays import (
    PLACES,
    ArrayForest,
    Stream,
    points_forest,
    small_forest,
    streams,
)

from littlestone.audit.controls import broken_forests as broken
from littlestone.audit.grey_box import check_sensitivity, differences, total_price
from littlestone.audit.substitution import Place, altered, with_engine
from littlestone.audit.visits import SensitivityError
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.lazy_forest import algorithm as lazy_forest_engine
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.lazy_forest.plan import ForestBudgets
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

# Long enough for the last list of a small forest, and with mistakes of what is on it.
LONG = [(2, 1)] * 34 + [(0, 1), (1, 0)] * 8 + [(1, 0), (0, 1), (1, 1)] * 8
# Another mistake of the same hypothesis, which leads elsewhere.
OTHER = {(2, 1): (3, 0), (0, 1): (1, 0), (1, 0): (0, 1), (1, 1): (1, 0)}


class Unpermuted(ArrayForest):
    """Update without its permutation."""

    @staticmethod
    def permutation(count: int, rng: Randomness) -> list[int]:
        del rng
        return list(range(count))


@pytest.fixture(autouse=True, scope="module")
def array_forest() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_forest_engine, "ForestTable", ArrayForest)
        yield


@streams(70)
def test_the_forest_of_layers_keeps_to_its_prices(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    check_sensitivity(
        small_forest(), stream, changed_round=changed, instead=instead, seed=seed, places=PLACES
    )


@streams(60)
def test_the_forest_that_releases_early_keeps_to_its_prices(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    check_sensitivity(
        points_forest(), stream, changed_round=changed, instead=instead, seed=seed, places=PLACES
    )


def test_the_replays_reach_every_layer_and_every_door() -> None:
    doors: Counter[str] = Counter()
    for seed in range(10):
        for recipe in (small_forest(), points_forest()):
            visits = check_sensitivity(
                recipe, LONG, changed_round=0, instead=(2, 0), seed=seed, places=PLACES
            )
            doors.update(
                f"{visit.door} {getattr(visit.recipe, 'neighbours', '')}"
                for visit in visits
                if visit.answered
            )
    assert {door.strip() for door in doors} == {
        "CountAboveThreshold",
        "FirstFrequent",
        "PrivateHistogram add-remove",
        "PrivateHistogram replace",
    }


@streams(70)
def test_leaving_out_the_permutation_of_whole_layers_costs_no_privacy(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_forest_engine, "ForestTable", Unpermuted)
        check_sensitivity(
            small_forest(),
            stream,
            changed_round=changed,
            instead=instead,
            seed=seed,
            places=PLACES,
        )


@pytest.mark.parametrize(
    "recipe",
    [
        with_engine(small_forest(), broken._WatchesTheWholeListAtOnce),
        with_engine(small_forest(), broken._JudgesAgain),
        with_engine(small_forest(), broken._NoNoiseWhenCorrect),
        with_engine(small_forest(), broken._TimedByTrueCount),
        altered(small_forest(), histogram=broken.add_remove),
    ],
    ids=[
        "whole list",
        "judged again",
        "no noise",
        "true count",
        "add-remove",
    ],
)
def test_a_broken_forest_is_noticed(recipe: LazyForest) -> None:
    with pytest.raises(SensitivityError):
        for seed in range(2 * len(LONG)):
            changed = seed % len(LONG)
            x, y = LONG[changed]
            instead = (x, 1 - y) if seed % 2 else OTHER[x, y]
            check_sensitivity(
                recipe, LONG, changed_round=changed, instead=instead, seed=seed, places=PLACES
            )


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_what_one_example_pays_adds_up_to_the_whole_promise_and_no_further(every: int) -> None:
    """An early example pays for a switch and for lists, one of the last layer 16 for a switch."""
    forest = small_forest()
    prices = {
        changed: total_price(
            differences(
                forest,
                LONG,
                changed_round=changed,
                instead=(LONG[changed][0], 1 - LONG[changed][1]),
                seed=3,
                places=PLACES,
            )
        )
        for changed in range(0, len(LONG), every)
    }
    assert max(prices.values()) == 16 == forest.guarantee().epsilon
    assert {Fraction(4), Fraction(10)} <= set(prices.values())


def test_a_forest_kept_across_restarts_is_noticed_by_the_sum_only() -> None:
    """Each release is priced rightly, but old examples are in the lists of every later copy."""
    recipe = with_engine(small_forest(), broken._KeepsTheForest)
    stream = LONG * 3
    paid = Fraction(0)
    for seed in range(20):
        found = differences(
            recipe, stream, changed_round=seed, instead=(2, 0), seed=seed, places=PLACES
        )
        paid = max(paid, total_price(found))
    assert paid > recipe.guarantee().epsilon
    with pytest.raises(SensitivityError, match="one example pays"):
        for seed in range(20):
            check_sensitivity(
                recipe, stream, changed_round=seed, instead=(2, 0), seed=seed, places=PLACES
            )


@pytest.mark.parametrize("early", [True, False])
@streams(60)
def test_the_packed_forest_that_is_run_keeps_to_its_prices(
    early: bool, stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    """The table itself, as ``calibrated`` plans it; its slots are so many that no two meet."""
    recipe = LazyForest.calibrated(concepts=Points(), rounds=1000, epsilon=8.0, delta=0.3)
    if not early:
        numbers = replace(
            recipe.plan,
            early_release=False,
            mistakes_per_layer=(12, 2),
            margins=(1, 1),
            list_thresholds=(recipe.histogram(1).noise_bound + 1,),
            budgets=ForestBudgets.from_listing(
                (PrivacyGuarantee(epsilon=6.0, delta=0.3),), epsilon=8.0
            ),
        )
        recipe = replace(recipe, plan=numbers)
    assert recipe.plan.packed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_forest_engine, "ForestTable", ForestTable)
        check_sensitivity(
            recipe, stream, changed_round=changed, instead=instead, seed=seed, places=TABLE
        )


TABLE: tuple[Place, ...] = ((ForestTable, "insert"), (ForestTable, "update"))


def test_a_second_key_is_noticed() -> None:
    """The control of the door of FirstFrequent: every mistake is counted twice."""

    class Twice(lazy_forest_engine.LazyForestEngine):
        def step(self, x: Any, y: int) -> None:
            super().step(x, y)
            super().step(x, y)

    with pytest.raises(SensitivityError, match="key"):
        for seed in range(20):
            check_sensitivity(
                with_engine(points_forest(), Twice),
                [(1, 1), (2, 1), (3, 1)] * 5,
                changed_round=1,
                instead=(4, 1),
                seed=seed,
                places=PLACES,
            )


@streams(60)
def test_restarts_and_epochs_add_nothing(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    halting = replace(points_forest(), restarts=False)
    for recipe in (
        Restarting(learner=halting),
        UnknownHorizon(learner=points_forest(), first_rounds=4),
    ):
        check_sensitivity(
            recipe, stream, changed_round=changed, instead=instead, seed=seed, places=PLACES
        )


def test_an_epoch_that_reads_the_last_one_again_is_noticed() -> None:
    """The control of the wrappers: a new epoch is fed the last example of the old one."""
    recipe = UnknownHorizon(learner=points_forest(), first_rounds=4)

    class Overlapping:
        def start(self, *, rng: Randomness) -> Any:
            run = recipe.start(rng=rng)
            real = run._engine._start_copy  # type: ignore[attr-defined]
            past: list[Any] = []

            def start_epoch() -> None:
                real()
                run._engine._copy.step(*past[-1])  # type: ignore[attr-defined]

            run._engine._start_copy = start_epoch  # type: ignore[attr-defined]
            observe = run._engine.step

            def step(x: Any, y: int) -> None:
                past.append((x, y))
                observe(x, y)

            run._engine.step = step  # type: ignore[method-assign]
            return run

    with pytest.raises(SensitivityError):
        for seed in range(10):
            check_sensitivity(
                Overlapping(),
                [(1, 1), (2, 1)] * 8,
                changed_round=3,
                instead=(3, 0),
                seed=seed,
                places=PLACES,
            )
