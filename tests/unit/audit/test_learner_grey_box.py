"""Private learners replayed on neighbouring streams: what reaches their mechanisms' doors.

Streams are arbitrary, so most of them fit no concept. Forests are replayed with the reference that
writes every sequence out (``forest_array.py``), since coupled worlds share slots, not counts;
packed ones of dimension 2 and 3 in ``test_packed_grey_box.py``.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.forest_array import ForestArray

from littlestone.audit.coins import Place
from littlestone.audit.controls import broken_forests as broken
from littlestone.audit.controls.broken_learners import CountsKept
from littlestone.audit.grey_box import (
    Difference,
    SensitivityError,
    check_sensitivity,
    differences,
    total_price,
)
from littlestone.audit.substitution import altered, with_engine
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.golowich_livni import eager_forest
from littlestone.learners.golowich_livni.eager_forest import EagerForest
from littlestone.learners.golowich_livni.fresh_copies import FreshCopies
from littlestone.learners.lazy_forest import algorithm as lazy_forest_engine
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.wrappers.restarting import Restarting
from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.frequent_release import FrequentRelease
from littlestone.online.protocols import OnlineState
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

Stream = list[tuple[int, int]]
# Mostly mistakes of one kind, so that sequences agree and lists have members.
EXAMPLES = st.one_of(
    st.just((2, 1)),
    st.just((2, 1)),
    st.sampled_from([(0, 1), (1, 0)]),
    st.tuples(st.integers(0, 5), st.integers(0, 1)),
)
# Long enough for the last list of a small forest, and with mistakes of what is on it.
LONG = [(2, 1)] * 34 + [(0, 1), (1, 0)] * 8 + [(1, 0), (0, 1), (1, 1)] * 8
# Another mistake of the same hypothesis, which leads elsewhere.
OTHER = {(2, 1): (3, 0), (0, 1): (1, 0), (1, 0): (0, 1), (1, 1): (1, 0)}


def streams(length: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Neighbouring streams and a seed for the coins."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        examples = given(
            stream=st.lists(EXAMPLES, min_size=length, max_size=length),
            changed=st.integers(0, length - 1),
            instead=EXAMPLES,
            seed=st.integers(0, 2**32),
        )
        return settings(max_examples=settings().max_examples // 2)(examples(test))

    return decorate


class Living(Counter[OnlineState]):
    """The children of a layer, still knowing their slots."""

    sequences: list[Any]


class ArrayForest(ForestArray):
    """The reference with the interface of the table, all slots in place."""

    def __init__(self, sequences: list[Any] | None = None, *, packed: bool = False) -> None:
        super().__init__(sequences or [], packed=packed)

    @classmethod
    def of_empty_sequences(cls, start: OnlineState, *, pairs: int, **_: Any) -> "ArrayForest":
        return cls([start] * (2 * pairs))

    @classmethod
    def placed(cls, children: Any, *, rng: Randomness, **_: Any) -> "ArrayForest":
        slots = cls.permutation(len(children.sequences), rng)
        sequences = [None] * len(slots)
        for child, slot in zip(children.sequences, slots, strict=True):
            sequences[slot] = child
        return cls(sequences)

    @staticmethod
    def permutation(count: int, rng: Randomness) -> list[int]:
        order: list[int] = rng.permutation(count).tolist()
        return order

    def insert(self, *arguments: Any, **named: Any) -> Any:
        return super().insert(*arguments, **named)

    def update(self, *, rng: Randomness) -> Any:
        sequences = super().update(rng=rng)
        living = Living(child for child in sequences if child is not None)
        living.sequences = sequences
        return living


class Unpermuted(ArrayForest):
    """Update without its permutation."""

    @staticmethod
    def permutation(count: int, rng: Randomness) -> list[int]:
        del rng
        return list(range(count))


PLACES: tuple[Place, ...] = (
    (ArrayForest, "insert"),
    (ArrayForest, "update"),
    (ArrayForest, "placed"),
)


@pytest.fixture(autouse=True, scope="module")
def array_forest() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_forest_engine, "ForestTable", ArrayForest)
        yield


def small_forest(**changes: Any) -> LazyForest:
    """Dimension 2, with so much budget that the lists of few pairs have members."""
    cost = PrivacyGuarantee(epsilon=6.0, delta=0.2)
    settings: dict[str, Any] = {
        "concepts": Thresholds(6),
        "rounds": 10_000,
        "epsilon": 16.0,
        "delta": 0.4,
        "base": StandardOptimal(Thresholds(6)),
        "slots": 32,
        "packed": False,
        "mistakes_per_layer": (24, 8, 2),
        "mistakes_per_slot": (4.0, 4.0),
        "margins": (1, 1, 1),
        "list_thresholds": (2, 2),
        "budgets": ForestBudgets.from_listing((cost, cost), epsilon=16.0),
        "early_release": False,
    }
    chosen = {**settings, **changes}
    numbers = {entry.name: chosen.pop(entry.name) for entry in fields(ForestPlan) if entry.init}
    return LazyForest(plan=ForestPlan(**numbers), **chosen)


def points_forest() -> LazyForest:
    """Early release: a key that occurred a few times is published."""
    cost = PrivacyGuarantee(epsilon=4.0, delta=0.3)
    return small_forest(
        concepts=Points(),
        base=StandardOptimal(Points()),
        rounds=100,
        epsilon=4.0,
        slots=16,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(1, 1),
        list_thresholds=(2,),
        budgets=ForestBudgets(switching=(0.0, 4.0), listing=(cost,)),
        early_release=True,
    )


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


def test_what_one_example_pays_adds_up_to_the_whole_promise_and_no_further() -> None:
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
        for changed in range(len(LONG))
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


# Majorities: their price is a maximum over two cases, so all differences are judged together.


def width(difference: Difference) -> Fraction:
    """How far apart the log-likelihood ratios of a draw can be."""
    recipe = difference.recipe
    assert isinstance(recipe, ExponentialMechanism)
    change = np.asarray(difference.after) - np.asarray(difference.before)
    return recipe.eta * int(change.max() - change.min())


def split(found: list[Difference]) -> tuple[Fraction, list[Fraction]]:
    """What AboveThreshold costs, and the widths of all draws."""
    bits = [d.recipe for d in found if isinstance(d.recipe, CountAboveThreshold)]
    assert len(bits) <= 1
    draws = [width(d) for d in found if not isinstance(d.recipe, CountAboveThreshold)]
    return sum((Fraction(recipe.epsilon) for recipe in bits), Fraction(0)), draws


def check_fresh(recipe: PrivateMajority, found: list[Difference]) -> None:
    pure, draws = split(found)
    assert pure + sum(draws) <= Fraction(recipe.guarantee().epsilon)


def check_sampled(recipe: PrivateMajority, found: list[Difference]) -> None:
    pure, draws = split(found)
    rho = ZeroConcentrated.rounded_up(rho=sum((w * w / 8 for w in draws), Fraction(0)))
    spent = pure + Fraction(rho.epsilon_upper_bound(recipe.delta))
    assert spent <= Fraction(recipe.guarantee().epsilon)


def fresh_majority(concepts: ConceptClass) -> PrivateMajority:
    plan = FreshPlan(threshold_epsilon=0.6, threshold=2, selection_rate=0.4)
    return PrivateMajority(concepts=concepts, rounds=1000, epsilon=1.0, plan=plan)


def sampled_majority(concepts: ConceptClass) -> PrivateMajority:
    epochs = (
        EpochPlan(votes=1, rate=0.05, weights=(1,), thresholds=(1, 2)),
        EpochPlan(votes=3, rate=0.01, weights=(1, 2, 4), thresholds=(2, 1, 2, 1)),
    )
    plan = SampledPlan(threshold_epsilon=0.5, epochs=epochs)
    cost = plan.guarantee(delta=1e-3)
    return PrivateMajority(
        concepts=concepts, rounds=1000, epsilon=cost.epsilon, delta=1e-3, plan=plan
    )


@pytest.mark.parametrize("concepts", [Thresholds(6), Points(6)], ids=repr)
@streams(60)
def test_fresh_evidence_keeps_to_its_price(
    concepts: ConceptClass, stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    recipe = fresh_majority(concepts)
    check_fresh(
        recipe, differences(recipe, stream, changed_round=changed, instead=instead, seed=seed)
    )


@pytest.mark.parametrize("concepts", [Thresholds(6), Points(6)], ids=repr)
@streams(60)
def test_sampled_votes_keep_to_their_price(
    concepts: ConceptClass, stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    recipe = sampled_majority(concepts)
    check_sampled(
        recipe, differences(recipe, stream, changed_round=changed, instead=instead, seed=seed)
    )


def test_counts_that_are_kept_cost_more_than_was_paid() -> None:
    recipe = with_engine(fresh_majority(Points(6)), CountsKept)
    stream = [(0, 1), (0, 0), (1, 1)] * 20
    found = differences(recipe, stream, changed_round=0, instead=(0, 0), seed=1)
    with pytest.raises(AssertionError):
        check_fresh(recipe, found)


def test_weights_that_are_not_paid_for_are_noticed() -> None:
    """The control of the account for sampled votes: mistakes weigh ten times what was planned."""
    recipe = sampled_majority(Thresholds(6))
    plan = recipe.planned
    assert isinstance(plan, SampledPlan)
    heavy = [replace(epoch, weights=tuple(10 * w for w in epoch.weights)) for epoch in plan.epochs]
    object.__setattr__(recipe, "planned", replace(plan, epochs=tuple(heavy)))
    stream = [(2, 1), (3, 0), (0, 1), (5, 0)] * 15
    paid = sampled_majority(Thresholds(6))
    with pytest.raises(AssertionError):
        for changed in range(20):
            found = differences(recipe, stream, changed_round=changed, instead=(4, 1), seed=changed)
            check_sampled(paid, found)


# Golowich and Livni's forests, and the wrappers.

INSERT: tuple[Place, ...] = ((eager_forest.Forest, "insert"),)


def eager() -> EagerForest:
    return EagerForest(
        concepts=Thresholds(6),
        rounds=10_000,
        epsilon=8.0,
        delta=0.1,
        trees=6,
        leaves=4,
        release=FrequentRelease(epsilon=8.0, delta=0.1, selections=6, rare_below=3),
        base=StandardOptimal(Thresholds(6)),
    )


def fresh() -> FreshCopies:
    return FreshCopies(
        concepts=Thresholds(6), rounds=30, epsilon=60.0, delta=0.1, trees=6, leaves=2
    )


@streams(60)
def test_the_eager_forest_keeps_to_its_prices(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    check_sensitivity(
        eager(), stream, changed_round=changed, instead=instead, seed=seed, places=INSERT
    )


@streams(12)
def test_fresh_copies_keep_to_their_prices(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    visits = check_sensitivity(
        fresh(), stream, changed_round=changed, instead=instead, seed=seed, places=INSERT
    )
    assert len(visits) == len(stream)  # one release in every round


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
