"""Private learners replayed on neighbouring streams: what reaches their mechanisms' doors.

Forests of layers have files of their own, ``test_forest_grey_box.py`` and
``test_packed_grey_box.py``.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.unit.audit.replays import Stream, streams

from littlestone.audit.controls.broken_learners import CountsKept
from littlestone.audit.grey_box import check_sensitivity, differences
from littlestone.audit.substitution import Place, replaced, with_engine
from littlestone.audit.visits import Difference, SensitivityError
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.disjoint_batches.linear_pool import LinearPool
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.lazy_forest import eager_forest
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_linear.recipe import PrivateLinear, PrivateLinearEngine
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.privacy.zcdp import ZeroConcentrated

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


# Golowich and Livni's forests.

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


# Sums with noise of WideGaussian: what an example adds to a batch is cut off.

WIDE = PrivateLinear(
    concepts=Stumps(
        Schema.from_mapping({f"x{i}": {"grid": [-1.0, 0.0, 1.0]} for i in range(30)}), 1
    ),
    epsilon=1.0,
    delta=1e-6,
)
FIRST = ((0,) * 30, 1)
OTHER = ((2,) * 30, 1)


class _NotCutOff(PrivateLinearEngine):
    def summands(self, rows: Any, labels: Any) -> Any:
        return 3 * super().summands(rows, labels)


def test_a_gradient_keeps_to_its_length() -> None:
    assert isinstance(WIDE.sums, CorrelatedSums)
    assert WIDE.sums.noise.variance >= 1 << 16  # so that WideGaussian draws it
    visits = check_sensitivity(
        WIDE, [FIRST] * 45, changed_round=5, instead=OTHER, seed=1, adds_up=False
    )
    assert [visit.door for visit in visits] == ["CorrelatedSums"] * 2


def test_a_gradient_that_is_not_cut_off_is_noticed() -> None:
    broken = with_engine(WIDE, _NotCutOff)
    with pytest.raises(SensitivityError, match="a sum moved by"):
        check_sensitivity(
            broken, [FIRST] * 45, changed_round=5, instead=OTHER, seed=1, adds_up=False
        )


# Draws that read scores as they grow (IncrementalSelection).


def weighted() -> AgnosticFinite:
    budget: Any = {"rounds": 40, "epsilon": 1.0, "delta": 1e-6}
    experts = ExponentialWeights(experts=7, **budget)
    return AgnosticFinite(concepts=Thresholds(6), experts=experts, **budget)


@streams(40)
def test_growing_scores_move_by_one_example(
    stream: Stream, changed: int, instead: tuple[int, int], seed: int
) -> None:
    visits = check_sensitivity(
        weighted(), stream, changed_round=changed, instead=instead, seed=seed, adds_up=False
    )
    assert {visit.door for visit in visits} == {"IncrementalSelection"}


def test_a_loss_that_is_counted_twice_is_noticed() -> None:
    once = LossTable.add

    def twice(table: LossTable, x: Any, y: int, count: int = 1) -> None:
        once(table, x, y, 2 * count)

    stream = [(2, 1), (3, 0)] * 20
    with replaced(LossTable, add=twice), pytest.raises(SensitivityError, match="scores changed"):
        check_sensitivity(
            weighted(), stream, changed_round=3, instead=(5, 1), seed=1, adds_up=False
        )


# Trees and linear rules (TreeSelection, LinearPool).

RECORDS = DecisionTrees(
    Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y"]}}), 1
)
ROWS = [((i % 3, i // 2 % 2), int(i % 5 < 2)) for i in range(40)]


def trees() -> DisjointBatches:
    return DisjointBatches(concepts=RECORDS, epsilon=1.0, first=4, directions=6, alike=True)


@pytest.mark.parametrize("changed", range(0, 40, 3))
@pytest.mark.parametrize("instead", [((0, 0), 1), ((2, 1), 0)])
def test_a_record_is_read_by_one_draw(changed: int, instead: Any) -> None:
    visits = check_sensitivity(trees(), ROWS, changed_round=changed, instead=instead, seed=changed)
    doors = {visit.door for visit in visits}
    assert (
        {"LinearPool", "TreeSelection"}
        <= doors
        <= {
            "ExponentialMechanism",
            "LinearPool",
            "TreeSelection",
        }
    )


class _KeepsTheBatch(DisjointBatchesEngine):
    """Every draw reads all earlier batches, too."""

    _kept: Any = ([], [])

    def _draw(self) -> None:
        points, labels = self._kept
        self._points, self._labels = points + self._points, labels + self._labels
        self._kept = self._points, self._labels
        super()._draw()


def test_a_batch_that_is_read_again_is_noticed() -> None:
    broken = with_engine(trees(), _KeepsTheBatch)
    with pytest.raises(SensitivityError, match="where 1 is promised"):
        check_sensitivity(broken, ROWS, changed_round=0, instead=((2, 1), 0), seed=1)


class _Aimed(DisjointBatchesEngine):
    """Directions are drawn near a rule that the batch decides."""

    def _draw(self) -> None:
        ones = sum(map(int, self._labels))
        aim = Scorecard(RECORDS.schema, 0, ((1000 * ones,), (3000, 0)))
        draw = LinearPool.draw
        with replaced(LinearPool, draw=lambda pool, near, **how: draw(pool, aim, **how)):
            super()._draw()


def test_directions_that_depend_on_the_batch_are_noticed() -> None:
    broken = with_engine(trees(), _Aimed)
    with pytest.raises(SensitivityError, match="directions"):
        check_sensitivity(broken, ROWS, changed_round=2, instead=((0, 0), 1 - ROWS[2][1]), seed=1)
