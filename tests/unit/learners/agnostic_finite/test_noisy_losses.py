"""Noisy losses by batch: questions, noise in time, draws; fast code against the plain one."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from tests.reference import plain_noisy_losses as plain

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.batch_queries import _ALL, Lines, _ends, queries_about
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.agnostic_finite.running_totals import (
    CorrelatedTotals,
    IndependentTotals,
    SkewCirculant,
    squared_shift,
    time_weights,
    total_error,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping(
    {"delay": {"grid": [0, 15, 30]}, "hour": {"grid": [12]}, "carrier": {"values": ["A", "B", "C"]}}
)
CLASSES: dict[str, ConceptClass] = {
    "one-point": Thresholds(1),
    "two-points": Thresholds(2),
    "thresholds": Thresholds(9),
    "points": Points(7),
    "intervals": Intervals(6),
    "stumps": Stumps(SCHEMA, 1),
    "table": FiniteClass(np.random.default_rng(3).integers(2, size=(12, 6))),
}
GIVEN: list[dict[str, Any]] = [
    {"batch": 7},
    {"batch": 3, "oblivious_only": True},
    {"batch": 3, "oblivious_only": True, "epoch": 4},
]
every_class = pytest.mark.parametrize("concepts", CLASSES.values(), ids=CLASSES)


def examples(concepts: ConceptClass, count: int, seed: int = 1) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    points = concepts.domain.check_many(concepts.domain.sample(count, generator))
    return points, generator.integers(2, size=count).astype(np.uint8)


def learner(concepts: ConceptClass, *, rounds: int = 300, **given: Any) -> AgnosticFinite:
    budget: Any = {"concepts": concepts, "rounds": rounds, "epsilon": 2.0, "delta": 1e-4}
    adversary: Any = "oblivious" if given.get("oblivious_only") else "adaptive"
    return AgnosticFinite(adversary=adversary, experts=NoisyLosses(**budget, **given), **budget)


@every_class
def test_answers_without_noise_give_the_losses(concepts: ConceptClass) -> None:
    queries = queries_about(concepts, 20.0)
    points, labels = examples(concepts, 80)
    answers = queries.true_answers(points, labels)
    assert (answers == np.rint(answers)).all()
    losses = LossTable(concepts)
    losses.add_many(points, labels)
    off = queries.estimates(answers) - losses.as_array()
    assert np.ptp(off) < 1e-9


@every_class
def test_no_replaced_example_moves_the_answers_further(concepts: ConceptClass) -> None:
    queries = queries_about(concepts, 20.0)
    points = concepts.domain.check_many(list(concepts.domain))
    moved = [
        queries.true_answers(points[i : i + 1], [y]) for i in range(len(points)) for y in (0, 1)
    ]
    furthest = max(((u - v) @ (u - v) for u, v in product(moved, moved)), default=0)
    assert furthest <= queries.squared_sensitivity
    if isinstance(queries, Lines) and len(queries.stretches.widths) == 1:
        assert furthest == queries.squared_sensitivity


@every_class
def test_the_spread_is_that_of_the_worst_estimate(concepts: ConceptClass) -> None:
    queries = queries_about(concepts, 20.0)
    weights = queries.estimates(np.eye(queries.cells))
    assert (weights**2).sum(axis=0).max() == pytest.approx(queries.spread, rel=1e-9)


@pytest.mark.parametrize("column", [[3], [2, -1], [5, 1, 0, 2]])
def test_skew_circulant_matrices(column: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, dense = SkewCirculant(np.array(column, dtype=float)), plain.skew_circulant(column)
    vectors = np.arange(3.0 * len(column)).reshape(3, -1) - 2
    expected = vectors @ np.array(dense).T
    assert (matrix.times(vectors) == expected).all()
    for at_most in (20, 1 << 22, 1 << 40):
        assert (matrix.times(vectors, at_most=at_most) == expected).all()
    assert np.allclose(matrix.solve(expected), vectors)
    monkeypatch.setattr("littlestone.learners.agnostic_finite.running_totals._LARGEST_MATRIX", 0)
    again = SkewCirculant(np.array(column, dtype=float))
    assert (again.times(vectors) == expected).all()


def test_short_floats_are_for_sums_that_they_hold() -> None:
    matrix, ones = SkewCirculant(np.array([1000.0, 1.0, 7.0])), np.array([[1.0, 0.0, 0.0]])
    for at_most, kind in ((16777, np.float32), (16778, np.float64)):
        assert matrix.times(ones, at_most=at_most).dtype == kind
        most = matrix.times(at_most * ones, at_most=at_most)
        assert most.tolist() == [[1000.0 * at_most, 1.0 * at_most, 7.0 * at_most]]


def test_the_factors_of_prefix_sums_are_the_best_known() -> None:
    # γ₂ of the matrix of signs: the mean of 1/sin((2j+1)π/2X), half of which is asked for.
    width = 99
    best = np.mean(1 / np.sin((2 * np.arange(width) + 1) * math.pi / (2 * width))) / 2
    queries = queries_about(Thresholds(width), 200.0)
    assert best <= math.sqrt(queries.squared_sensitivity * queries.spread / 4) < 1.001 * best


EPOCHS = [(2, 11), (3, 30), (7, 20), (20, 25)]
epochs = pytest.mark.parametrize(("epoch", "batches"), EPOCHS)


def weights_of(epoch: int) -> list[int]:
    return [int(weight) for weight in time_weights(epoch).mix[:, 0]]


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 5000.0])
def test_words_choose_positions_by_their_weights(spread: float) -> None:
    """To 2**-38, as the proof beside the engine says of classes of this size."""
    costs = np.random.default_rng(1).random((3, 100)) * spread + 1e6
    ends = _ends(costs).reshape(3, 100) - np.arange(3)[:, None] * _ALL
    assert (np.diff(ends, axis=1) >= 0).all() and (ends[:, -1] == _ALL).all() and ends.min() >= 0
    with localcontext() as context:
        context.prec = 60
        for row, counts in zip(costs, np.diff(ends, prepend=0), strict=True):
            weights = [(-Decimal(cost)).exp() for cost in row.tolist()]
            whole = sum(weights)
            for weight, count in zip(weights, counts.tolist(), strict=True):
                assert abs(weight / whole - Decimal(count) / _ALL) < Decimal(2) ** -38


@pytest.mark.parametrize("experts", [1, 2, 3, 1 << 16])
def test_rounded_weights_never_add_up_to_more_words_than_there_are(experts: int) -> None:
    for costs in (np.zeros((1, experts)), np.random.default_rng(1).random((4, experts))):
        ends = _ends(costs).reshape(costs.shape) - np.arange(len(costs))[:, None] * _ALL
        assert (np.diff(ends, axis=1) >= 0).all() and (ends[:, -1] == _ALL).all()


@epochs
def test_correlated_totals_are_those_of_the_plain_solution(epoch: int, batches: int) -> None:
    rng = np.random.default_rng(epoch)
    asked, noise = rng.integers(-50, 50, size=(2, batches, 3))
    sums = CorrelatedTotals(3, epoch=epoch, releases=batches)
    got = []
    for a, z in zip(asked, noise, strict=True):
        sums.release(a.astype(float), z)
        got.append(sums.total)
    expected = plain.totals_by_levels(asked.tolist(), noise.tolist(), weights_of(epoch))
    assert np.allclose(np.array(got), np.array(expected, dtype=float))


@pytest.mark.parametrize("epoch", [1, 3, 7])
def test_batches_may_be_released_together(epoch: int) -> None:
    rng = np.random.default_rng(epoch)
    asked, noise = rng.integers(-50, 50, size=(2, 20, 3))

    def made() -> Any:
        if epoch == 1:
            return IndependentTotals(3)
        sums = CorrelatedTotals(3, epoch=epoch, releases=20)
        sums.pad(np.ones(sums.missing, dtype=np.int64))
        return sums

    singly, together, at = made(), made(), 0
    while at < 20:
        count = max(1, min(together.room, 4, 20 - at))
        part = slice(at, at + count)
        if together.room:
            totals = together.release_many(asked[part].astype(float), noise[part])
        else:
            together.release(asked[at].astype(float), noise[at])
            totals = together.total[None]
        for row in range(count):
            singly.release(asked[at + row].astype(float), noise[at + row])
            assert np.allclose(totals[row], singly.total, rtol=1e-12)
        at += count


def errors_of(epoch: int, batches: int, *, padded: bool) -> list[list[float]]:
    """After each batch: what each noise counts in the total, a cell for each noise."""
    sums = CorrelatedTotals(0, epoch=epoch, releases=batches)
    padding = math.prod(sums.missing[:2])
    sums = CorrelatedTotals(batches + padding, epoch=epoch, releases=batches)
    units = np.eye(batches + padding, dtype=np.int64)
    if padded:
        sums.pad(units[batches:].reshape(sums.missing))
    found = []
    for batch in range(batches):
        sums.release(np.zeros(len(units)), units[batch])
        found.append(sorted(np.round(sums.total[sums.total != 0], 12).tolist()))
    return found


@epochs
def test_errors_only_ever_gain_a_part(epoch: int, batches: int) -> None:
    # Their law is that of the sum of these weights times independent noises of one law.
    found = errors_of(epoch, batches, padded=True)
    for before, after in pairwise(found):
        assert not Counter(before) - Counter(after)
    assert sum(w * w for w in found[-1]) == pytest.approx(total_error(batches, epoch))
    unpadded = errors_of(epoch, batches, padded=False)
    assert any(Counter(before) - Counter(after) for before, after in pairwise(unpadded))


@epochs
def test_one_batch_moves_all_answers_as_far_as_is_charged(epoch: int, batches: int) -> None:
    sums = CorrelatedTotals(batches, epoch=epoch, releases=batches)
    moved = np.zeros(batches)
    for batch, unit in enumerate(np.eye(batches)):
        before = sums._answers.copy()
        sums.release(unit, np.zeros(batches, dtype=np.int64))
        changed = np.argwhere((sums._answers != before).any(axis=2)).tolist()
        assert len(changed) == 1, "one answer is released for each batch"
        moved += sums._answers[tuple(changed[0])] ** 2
        assert sums._answers[tuple(changed[0])][batch] == weights_of(epoch)[0]
    assert moved.max() <= squared_shift(batches, epoch)
    assert moved.max() > 0.5 * squared_shift(batches, epoch)


def test_thresholds_are_drawn_as_the_plain_learner_draws() -> None:
    n, rounds = 5, 120
    recipe = learner(Thresholds(n), rounds=rounds, batch=9, rate=0.05)
    plan = recipe.prediction
    assert isinstance(plan, NoisyLosses) and isinstance(plan.queries, Lines)
    xs, ys = examples(recipe.concepts, rounds)
    run, rng = recipe.start(rng=seeded(4)), seeded(4)
    noise = DiscreteGaussian(variance=plan.variance).draw_many(13 * n, rng).reshape(13, n)
    column = [int(c) for c in plan.queries._lines[0].matrix.column]
    expected = plain.threshold_positions(
        n, xs.tolist(), ys.tolist(),
        column=column, rate=0.05, batch=9, noise=noise,
        words=(rng.short_words(rounds).astype(np.int64) << 32).tolist(),
    )  # fmt: skip
    published = []
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        published.append(run.hypothesis.describe())
        run.observe(x, y)
    assert published == [f"x >= {k}" for k in expected]
    assert len(set(published)) > 3


@every_class
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_blocks_of_any_size_are_played_like_single_rounds(
    concepts: ConceptClass, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("littlestone.learners.agnostic_finite.noisy_losses_engine._ERA_ROUNDS", 40)
    if concepts is CLASSES["table"]:  # not of stretches
        given = {**given, "epoch": 1}
    recipe = learner(concepts, **given)
    points, labels = examples(concepts, 300)
    singly, blocks = recipe.start(rng=seeded(5)), recipe.start(rng=seeded(5))
    said = []
    for at in range(300):
        said.append(singly.hypothesis(points[at]))
        singly.observe(points[at], int(labels[at]))
    again: list[int] = []
    for size in (1, 5, 100, 3, 90, 200):
        part = slice(len(again), len(again) + size)
        again += blocks.follow(points[part], labels[part]).tolist()
    assert again == said
    assert blocks.switches == singly.switches
    assert blocks.hypothesis == singly.hypothesis
    assert blocks.rounds_played == 300


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_a_saved_run_goes_on_identically(given: dict[str, Any]) -> None:
    recipe = learner(Thresholds(9), **given)
    points, labels = examples(recipe.concepts, 300)
    run = recipe.start(rng=seeded(6))
    run.follow(points[:121], labels[:121])
    restored = recipe.restore(run.snapshot())
    assert restored.hypothesis == run.hypothesis
    again = restored.follow(points[121:], labels[121:])
    assert again.tolist() == run.follow(points[121:], labels[121:]).tolist()
    assert restored.ledger.spent() == run.ledger.spent()


@every_class
@pytest.mark.parametrize("oblivious", [False, True])
@pytest.mark.parametrize("rounds", [1, 2, 1000])
def test_plans_cost_what_was_asked_for(
    concepts: ConceptClass, oblivious: bool, rounds: int
) -> None:
    for epsilon in (0.05, 1.0, 30.0):
        plan = NoisyLosses(
            concepts=concepts, rounds=rounds, epsilon=epsilon, delta=1e-6, oblivious_only=oblivious
        )
        cost, budget = plan.guarantee(), PrivacyGuarantee(epsilon=epsilon, delta=1e-6)
        assert cost.within(budget)
        assert cost.epsilon > 0.95 * epsilon or plan.releases == 0
        assert plan.for_rounds(50).rounds == 50


def test_correlated_noise_is_for_oblivious_streams_and_stretches() -> None:
    for concepts, oblivious in [(Thresholds(9), False), (CLASSES["table"], True)]:
        with pytest.raises(ValueError, match="epoch must be 1"):
            learner(concepts, batch=5, epoch=4, oblivious_only=oblivious)
    with pytest.raises(ValueError, match="promise regret against adaptive"):
        AgnosticFinite(
            concepts=Thresholds(9), rounds=300, epsilon=2.0, delta=1e-4,
            experts=NoisyLosses(
                concepts=Thresholds(9), rounds=300, epsilon=2.0, delta=1e-4, oblivious_only=True
            ),
        )  # fmt: skip


def test_too_many_questions_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="concepts must be stretches"):
        NoisyLosses(concepts=Thresholds(2**20), rounds=100, epsilon=1.0, delta=1e-6)


def test_nothing_of_the_last_batch_is_released() -> None:
    plan = NoisyLosses(concepts=Thresholds(4), rounds=10, epsilon=1.0, delta=1e-6, batch=5)
    engine = NoisyLossesEngine(plan, seeded(1))
    engine.begin()
    for _ in range(5):
        engine.step(0, 1)
    after_one = engine._sums.total.tolist()
    for _ in range(5):
        engine.step(0, 1)
    assert engine._sums.total.tolist() == after_one
