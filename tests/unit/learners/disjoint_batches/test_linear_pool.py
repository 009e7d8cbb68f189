"""Linear rules besides trees: their errors are exact, and they are found where fields add up."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches import linear_pool
from littlestone.learners.disjoint_batches.drawing import Batch
from littlestone.learners.disjoint_batches.linear_pool import (
    THRESHOLDS,
    LinearPool,
    LinearRules,
)
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping(
    {"a": {"grid": [0, 1, 2, 3]}, "b": {"values": ["x", "y", "z"]}, "c": {"grid": [0]}}
)
POOL = LinearPool(SCHEMA, 12)
NOTHING = DecisionTree(SCHEMA, 0)
SUM = Scorecard(SCHEMA, 0, ((1000,), (0, 2000, -3000), (4000,)))


@pytest.fixture(params=[0, 1 << 60], ids=["in bytes", "by products"])
def _counted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_pool, "_MANY_SCORES", request.param)
    monkeypatch.setattr(linear_pool, "_SCORES_AT_ONCE", 100)


@pytest.mark.usefixtures("_counted")
@pytest.mark.parametrize("near", [NOTHING, SUM])
def test_errors_are_those_of_the_published_rules(near: DecisionTree | Scorecard) -> None:
    rng = np.random.default_rng(1)
    tally: dict[Hashable, tuple[int, int]] = {
        (a, b, c): (int(rng.integers(0, 5)), int(rng.integers(0, 5)))
        for a in range(0, 5, 2)
        for b in range(3)
        for c in range(2)
    }
    rules = POOL.draw(near, rng=seeded(2))
    errors = rules.errors(Sample.of(tally))
    assert len(errors) == POOL.size == 12 * len(THRESHOLDS)
    for number, found in enumerate(errors):
        rule = rules.rule(number)
        assert found == sum(zeros if rule(x) else ones for x, (zeros, ones) in tally.items())
    assert len({rules.rule(number) for number in range(POOL.size)}) > POOL.size // 2


@pytest.mark.usefixtures("_counted")
@pytest.mark.parametrize("large", [1, 10**3, 10**6])
def test_errors_are_exact_whatever_the_points_and_the_counts(large: int) -> None:
    """Beyond 16 bits and single precision, and with more equal records than a byte counts."""
    rng = np.random.default_rng(3)
    schema = Schema.from_mapping({name: {"grid": list(range(40))} for name in "ab"})
    tally: dict[Hashable, tuple[int, int]] = {
        (a, b): (int(rng.integers(0, 2)), 1) for a in range(41) for b in range(41)
    }
    tally |= {(0, 0): (0, 0), (5, 5): (700, 3), (6, 6): (2, 900)}
    pool = LinearPool(schema, 3)
    points = large * np.array([[1, -1], [17, 3], [-16, 11]]) + 1
    rules = LinearRules(pool, points.astype(np.float64))
    for number, found in enumerate(rules.errors(Sample.of(tally))):
        said = rules.rule(number).many(list(tally))
        wrong = [
            zeros if one else ones for one, (zeros, ones) in zip(said, tally.values(), strict=True)
        ]
        assert found == sum(wrong)


def test_a_third_of_the_rules_is_near_the_last_one() -> None:
    rows = POOL.draw(SUM, rng=seeded(3)).points * POOL.steps
    last = np.array([4000, 0, 2000, -3000, 4000])
    lengths = np.maximum(1, np.linalg.norm(rows, axis=1))  # some ask for no field at all
    cosines = rows @ last / lengths / np.linalg.norm(last)
    # A direction by chance has a mean cosine of 0, neighbours at most 2 away one of at least 1/2.
    assert cosines[:4].mean() > 0.6 > 0.4 > cosines[4:].mean()
    far = POOL.draw(NOTHING, rng=seeded(3)).points * POOL.steps
    assert np.array_equal(far[4:], rows[4:]) and not np.array_equal(far[:4], rows[:4])


def test_a_third_of_the_rules_counts_numbers_equally_and_in_the_same_way() -> None:
    """Numbers stand in the first and the last column; words have a weight each, of either sign."""
    rows = LinearPool(SCHEMA, 300, alike=True).draw(NOTHING, rng=seeded(3)).points * POOL.steps
    anywhere, alike = rows[:200], rows[200:]
    both = (alike[:, 0] != 0) & (alike[:, 4] != 0)
    apart = np.abs(alike[both, 0] - alike[both, 4])
    assert both.sum() > 20 and apart.max() <= POOL.steps.max()  # equal, but for rounding
    assert (alike[:, 0] > 0).any() and (alike[:, 0] < 0).any()
    words = alike[:, 1:4]
    assert (words[:, 0] * words[:, 1] < 0).any() and (words[:, 0] * words[:, 1] > 0).any()
    sizes = np.where(words == 0, np.abs(alike).max(axis=1, keepdims=True), np.abs(words))
    assert np.abs(sizes - np.abs(alike).max(axis=1, keepdims=True)).max() <= POOL.steps.max()
    assert (anywhere[:, 0] * anywhere[:, 4] < 0).sum() > 30


def test_rules_do_not_depend_on_the_batch_but_on_coins() -> None:
    one, same, other = (POOL.draw(SUM, rng=seeded(seed)).points for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


BATCHES: list[Batch] = [{(0, 0, 0): (1, 0)}, {(1, 1, 1): (0, 9), (2, 2, 1): (5, 0)}]


def test_a_long_batch_has_fewer_directions_by_its_public_size_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = replace(POOL, directions=4096)
    assert [len(pool.draw(SUM, rng=seeded(1), most=most).points) for most in (64, 9999)] == [
        64,
        4096,
    ]
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=0.5, directions=4096)
    drawing, drawn, sizes = learner.drawing(), LinearPool.draw, list[int]()

    def counted(self: LinearPool, near: Hypothesis, **given: Any) -> LinearRules:
        rules = drawn(self, near, **given)
        sizes.append(len(rules.points))
        return rules

    monkeypatch.setattr(LinearPool, "draw", counted)
    for rounds in (100, 2048, 1 << 20):
        for batch in BATCHES:
            drawing.draw(batch, rounds=rounds, near=NOTHING, rng=seeded(1))
    assert sizes == [4096, 4096, 1024, 1024, 64, 64]


def adding_up(count: int) -> tuple[list[tuple[int, ...]], list[int]]:
    rng = np.random.default_rng(4)
    cells = rng.integers(0, 5, size=(count, 8))
    return [tuple(row) for row in cells.tolist()], (cells.sum(axis=1) > 16).astype(int).tolist()


def test_where_fields_add_up_linear_rules_are_drawn_and_err_less() -> None:
    schema = Schema.from_mapping({f"f{i}": {"grid": [0, 1, 2, 3]} for i in range(8)})
    trees = DisjointBatches(concepts=DecisionTrees(schema, 1), epsilon=2.0)
    xs, ys = adding_up(1500)

    def mistakes(learner: DisjointBatches) -> tuple[int, object]:
        run, wrong = learner.start(rng=seeded(5)), 0
        for x, y in zip(xs, ys, strict=True):
            wrong += run.hypothesis(x) != y
            run.observe(x, y)
        return wrong, run.hypothesis

    alone, _ = mistakes(replace(trees, directions=0, alike=False))
    joined, rule = mistakes(replace(trees, directions=256))
    assert joined < 0.8 * alone and isinstance(rule, Scorecard)


def test_a_saved_run_with_linear_rules_goes_on_identically() -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, directions=30)
    rng = np.random.default_rng(6)
    xs = [(int(a), int(b), int(c)) for a, b, c in rng.integers(0, (5, 3, 2), size=(200, 3))]
    ys = [int(a + 2 * c > 3) for a, _, c in xs]
    check_a_saved_run(learner, xs, ys, at=120)


def test_other_classes_have_no_linear_rules() -> None:
    with pytest.raises(ValueError, match="directions and asking are for decision trees"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, directions=1)
    with pytest.raises(ValueError, match="alike is for directions"):
        DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, alike=True)
    with pytest.raises(ValueError, match="directions must be at most 65536"):
        DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, directions=1 << 17)


def test_the_bound_counts_linear_rules_as_candidates() -> None:
    trees = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0)
    alone = trees.excess_bound(size=10**4, failure_probability=0.05)
    joined = replace(trees, directions=4096).excess_bound(size=10**4, failure_probability=0.05)
    assert alone < joined < 1.5 * alone
