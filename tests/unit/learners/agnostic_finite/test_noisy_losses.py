"""Noisy losses by batch: questions, noise in time, draws; fast code against the plain one."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.reference import plain_noisy_losses as plain

from littlestone.adversaries.random_stream import RandomStream
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.batch_queries import Lines, queries_about
from littlestone.learners.agnostic_finite.epoch_sums import EpochSums, time_weights
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.agnostic_finite.skew_circulant import SkewCirculant
from littlestone.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from littlestone.privacy.guarantee import PrivacyGuarantee
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
    answers = queries.asked(points, labels)
    assert (answers == np.rint(answers)).all()
    losses = LossTable(concepts)
    losses.add_many(points, labels)
    off = queries.estimates(answers) - losses.as_array()
    assert np.ptp(off) < 1e-9


@every_class
def test_no_replaced_example_moves_the_answers_further(concepts: ConceptClass) -> None:
    queries = queries_about(concepts, 20.0)
    points = concepts.domain.check_many(list(concepts.domain))
    moved = [queries.asked(points[i : i + 1], [y]) for i in range(len(points)) for y in (0, 1)]
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
    assert np.allclose(matrix.solve(expected), vectors)
    monkeypatch.setattr("littlestone.learners.agnostic_finite.skew_circulant._LARGEST_MATRIX", 0)
    again = SkewCirculant(np.array(column, dtype=float))
    assert (again.times(vectors) == expected).all()


def test_the_factors_of_prefix_sums_are_the_best_known() -> None:
    # γ₂ of the matrix of signs: the mean of 1/sin((2j+1)π/2X), half of which is asked for.
    width = 99
    best = np.mean(1 / np.sin((2 * np.arange(width) + 1) * math.pi / (2 * width))) / 2
    queries = queries_about(Thresholds(width), 200.0)
    assert best <= math.sqrt(queries.squared_sensitivity * queries.spread / 4) < 1.001 * best


@pytest.mark.parametrize("epoch", [1, 2, 7, 20])
def test_correlated_totals_are_those_of_the_plain_solution(epoch: int) -> None:
    concepts, batch, batches = Thresholds(3), 2, epoch + epoch // 2
    queries, rng = queries_about(concepts, 9.0), np.random.default_rng(epoch)
    assert isinstance(queries, Lines)
    sums = EpochSums(queries, epoch=epoch, batch=batch)
    sums.begin()
    points, labels = examples(concepts, batch * batches)
    noise = rng.integers(-50, 50, size=(batches, queries.cells))
    asked, got = [], []
    for b in range(batches):
        part = slice(b * batch, (b + 1) * batch)
        asked.append([int(a) for a in queries.asked(points[part], labels[part])])
        sums.release(points[part], labels[part], noise[b])
        got.append(sums.total)
    weights = _weights(epoch)
    first = plain.totals(asked[:epoch], noise[:epoch].tolist(), weights)
    rest = (
        plain.totals(asked[epoch:], noise[epoch:].tolist(), weights[: batches - epoch])
        if (batches > epoch)
        else []
    )
    expected = first + [[a + b for a, b in zip(first[-1], row, strict=True)] for row in rest]
    assert np.allclose(np.array(got), np.array(expected, dtype=float))


def _weights(epoch: int) -> list[int]:
    """Written out from where they change."""
    known = time_weights(epoch)
    weights = [known.first] * epoch
    for lag, jump in zip(known.lags.tolist(), known.jumps.tolist(), strict=True):
        weights = [w + int(jump) if k >= lag else w for k, w in enumerate(weights)]
    assert sum(w * w for w in weights) == known.squared_norm
    return weights


def test_the_error_of_totals_is_that_of_the_plain_solution() -> None:
    weights, known = _weights(12), time_weights(12)
    unit = [[int(j == i)] for i in range(12) for j in [0]]
    answers = plain.totals([[0]] * 12, unit, weights)  # noise 1 in the first batch alone
    squares = [float(row[0]) ** 2 for row in answers]
    assert np.allclose(np.diff(known.errors), squares)
    assert known.total_error(30) == pytest.approx(2 * known.errors[12] + known.errors[6])


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
        column=column, rate=0.05, batch=9, noise=noise, words=rng.words(rounds).tolist(),
    )  # fmt: skip
    published = []
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        published.append(run.hypothesis.describe())
        run.observe(x, y)
    assert published == [f"x >= {k}" for k in expected]
    assert len(set(published)) > 3


@every_class
@pytest.mark.parametrize("given", [{"batch": 7}, {"batch": 3, "oblivious_only": True}], ids=str)
def test_blocks_of_any_size_are_played_like_single_rounds(
    concepts: ConceptClass, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("littlestone.learners.agnostic_finite.noisy_losses_engine._ERA_ROUNDS", 40)
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


@pytest.mark.parametrize("given", [{"batch": 7}, {"batch": 3, "oblivious_only": True}], ids=str)
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


def test_the_smaller_bound_is_taken() -> None:
    budget: Any = {"rounds": 10**5, "delta": 1e-6}
    sizes = [(99, 1.0), (99, 0.1), (3, 8.0)]
    for n, epsilon in sizes:
        for adversary in ("adaptive", "oblivious"):
            concepts = Thresholds(n)
            chosen = AgnosticFinite(
                concepts=concepts, epsilon=epsilon, adversary=adversary, **budget
            )
            noisy = NoisyLosses(
                concepts=concepts,
                epsilon=epsilon,
                oblivious_only=adversary == "oblivious",
                **budget,
            )
            assert chosen.expected_regret_bound() <= noisy.expected_regret_bound()
    adaptive = AgnosticFinite(concepts=Thresholds(99), epsilon=1.0, **budget)
    assert isinstance(adaptive.prediction, NoisyLosses)
    assert adaptive.expected_regret_bound() < 6500  # fresh draws that are paid for: 6,607


def test_regret_stays_below_the_bound() -> None:
    # The bound is on the mean and far above what a random stream needs: a fixed seed suffices.
    concepts = Thresholds(31)
    for oblivious in (False, True):
        recipe = learner(concepts, rounds=4000, oblivious_only=oblivious)
        played = play(recipe, RandomStream(concepts, noise_rate=0.2), rounds=4000, rng=seeded(2))
        assert played.regret is not None and played.regret < recipe.expected_regret_bound()
        high = recipe.regret_bound(failure_probability=0.01)
        assert recipe.expected_regret_bound() < high <= 4000


def test_correlated_noise_is_for_oblivious_streams_and_stretches() -> None:
    for concepts, oblivious in [(Thresholds(9), False), (CLASSES["table"], True)]:
        with pytest.raises(ValueError, match="epoch must be 1"):
            learner(concepts, batch=5, epoch=4, oblivious_only=oblivious)
    with pytest.raises(ValueError, match="good against adaptive"):
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
