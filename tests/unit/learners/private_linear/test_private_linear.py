"""The private linear rule: whole-number sensitivity, blocks, snapshots, what it learns."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.schema import Schema
from littlestone.learners.private_linear import recipe
from littlestone.learners.private_linear.features import Features
from littlestone.learners.private_linear.recipe import (
    GRID,
    LARGEST,
    PrivateLinear,
    PrivateLinearEngine,
    gradients,
)
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping(
    {
        **{f"x{i}": {"grid": [-1.0, 0.0, 1.0]} for i in range(4)},
        "kind": {"values": ["a", "b", "c"]},
    }
)
RULES = Stumps(SCHEMA, 1)
LEARNER = PrivateLinear(concepts=RULES, epsilon=1.0)
WIDE_SCHEMA = Schema.from_mapping({f"x{i}": {"grid": [-1.0, 0.0, 1.0]} for i in range(30)})
WIDE = PrivateLinear(concepts=Stumps(WIDE_SCHEMA, 1), epsilon=1.0, delta=1e-6)
LONG = (3, 3, 3, 3, 0)  # its gradient has parts of 1/2


def stream(count: int, seed: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Labels nearly linear in the cells."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, [4, 4, 4, 4, 3], size=(count, 5))
    score = cells[:, 0] + cells[:, 1] - cells[:, 2] - 1.5 + (cells[:, 4] == 1)
    labels = (score + rng.normal(size=count) > 0).astype(int)
    return [tuple(row) for row in cells.tolist()], labels.tolist()


def rows_of(*points: tuple[int, ...], schema: Schema = SCHEMA) -> Any:
    return Features.from_domain(schema).rows(list(points))


def whole_cost(engine: PrivateLinearEngine, zero: Any, one: Any) -> Fraction:
    """What replacing an example costs, given a common public past, in whole numbers."""
    both = [engine.summands(rows_of(x), np.array([y]))[0].tolist() for x, y in (zero, one)]
    assert engine._recipe.cube is not None
    moved = max(abs(a - b) for a, b in zip(*both, strict=True))
    return moved * Fraction(engine._recipe.cube.rate)


def begun(
    learner: PrivateLinear = LEARNER, kind: Any = PrivateLinearEngine, rounds: int = 0
) -> Any:
    engine = kind(learner, seeded(1))
    engine.begin()
    for x, y in zip(*stream(rounds, 3), strict=True):
        engine.step(x, y)
    return engine


class ClippedToOne(PrivateLinearEngine):
    """Broken: parts are clipped to 1 instead of 1/2, and priced as before."""

    def summands(self, rows: Any, labels: Any) -> Any:
        return np.rint(GRID * rows * (0.5 - labels)[:, None] * 2).astype(np.int64)


@pytest.mark.parametrize("rounds", [0, 16, 400])
def test_replacing_an_example_costs_epsilon_at_most_in_whole_numbers(rounds: int) -> None:
    engine = begun(rounds=rounds)
    assert whole_cost(engine, (LONG, 1), (LONG, 1)) == 0
    for other in ((LONG, 0), ((0, 0, 0, 0, 2), 1), ((1, 2, 1, 2, 1), 0)):
        assert 0 < whole_cost(engine, (LONG, 1), other) <= 1
    # Opposite parts of 1/2 before anything was learned: the whole price.
    assert rounds or whole_cost(engine, (LONG, 1), (LONG, 0)) == 1


def test_parts_that_are_clipped_too_late_are_noticed() -> None:
    assert whole_cost(begun(kind=ClippedToOne), (LONG, 1), (LONG, 0)) == 2


def test_each_example_is_in_one_sum() -> None:
    """Sums of the same batch differ by the example that was replaced, later ones not at all."""
    sums: list[list[Any]] = []
    for special in ((LONG, 1), (LONG, 0)):
        engine, added = begun(), list[Any]()
        sums.append(added)

        def noted(rows: Any, labels: Any, added: list[Any] = added) -> Any:
            added.append(gradients(rows, labels, np.zeros(rows.shape[1]), None))
            return added[-1]

        engine.summands = noted
        for number, example in enumerate(zip(*stream(300, 3), strict=True)):
            engine.step(*(special if number == 20 else example))
    differ = [not np.array_equal(a, b) for a, b in zip(*sums, strict=True)]
    assert differ == [False, True, *[False] * (len(differ) - 2)] and len(differ) > 3
    assert ((sums[0][1] != sums[1][1]).any(axis=1)).sum() == 1


def test_many_weights_cost_delta_and_few_do_not() -> None:
    assert LEARNER.guarantee().delta == 0 and LEARNER.concentrated is None
    assert WIDE.guarantee().delta == 1e-6 and WIDE.sums is not None
    assert WIDE.sums.guarantee(delta=1e-6).within(WIDE.guarantee())
    assert replace(LEARNER, delta=0.0).guarantee() == LEARNER.guarantee()
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 4, size=(4000, 30))
    labels = (cells[:, 0] + cells[:, 1] > cells[:, 2] + 1).astype(int)
    wrong = WIDE.start(rng=seeded(1)).follow(cells, labels) != labels
    assert wrong[2000:].mean() < 0.7 * min(labels.mean(), 1 - labels.mean())


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6, 1e300, np.inf, np.nan])
def test_no_gradient_is_longer_than_it_may_be_whatever_the_weights(scale: float) -> None:
    rng = np.random.default_rng(2)
    rows = Features.from_domain(SCHEMA).rows(stream(300, 1)[0])
    weights = np.full(rows.shape[1], scale) * rng.choice([-1.0, 1.0], size=rows.shape[1])
    labels, longest = rng.integers(0, 2, size=300), 2**25
    whole = gradients(rows, labels, weights, longest)
    assert int((whole * whole).sum(axis=1).max()) <= longest
    assert scale != 0.0 or int((whole * whole).sum(axis=1).max()) > 0.99 * GRID * GRID
    parts = np.abs(gradients(rows, labels, weights, None))
    assert int(parts.max()) <= LARGEST and (scale != 0.0 or int(parts.max()) == LARGEST)


def test_a_gradient_depends_on_its_own_example_only() -> None:
    rows = Features.from_domain(SCHEMA).rows(stream(256, 1)[0])
    labels, weights = np.random.default_rng(3).integers(0, 2, size=256), np.linspace(-1, 1, 8)
    whole = gradients(rows, labels, weights, 2**24 * 2)
    labels[17] = 1 - labels[17]
    changed = (gradients(rows, labels, weights, 2**24 * 2) != whole).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [17]


def moved_gradients(trials: int = 300) -> int:
    """How many gradients are others when some rows of their batch are left out.

    Large weights cancel here, so that the order in which terms are added decides the sum.
    """
    rng, width, moved = np.random.default_rng(4), 20, 0
    for _ in range(trials):
        count = int(rng.integers(2, 256))
        rows, labels = rng.uniform(-1, 1, (count, width)), rng.integers(0, 2, size=count)
        weights, large = rng.uniform(-1, 1, width), rng.permutation(width)[:10]
        weights[large[::2]], weights[large[1::2]], rows[:, large] = 1e16, -1e16, 1.0
        kept = np.sort(rng.permutation(count)[: int(rng.integers(1, count))])
        whole = gradients(rows, labels, weights, 2**25)[kept]
        fewer = gradients(rows[kept], labels[kept], weights, 2**25)
        moved += int((fewer != whole).any(axis=1).sum())
    return moved


def test_a_gradient_is_the_same_whoever_else_is_in_the_batch() -> None:
    """As where further rows of a user are passed over; a product of matrices does not pass."""
    assert moved_gradients() == 0


def test_an_order_that_depends_on_the_other_rows_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dots(rows: Any, others: Any) -> Any:
        terms = np.broadcast_to(others, rows.shape) * rows
        return np.add.accumulate(terms[:, :: 1 if len(rows) % 2 else -1], axis=1)[:, -1]

    monkeypatch.setattr(recipe, "_dots", dots)
    assert moved_gradients() > 100


def test_it_learns_what_is_linear() -> None:
    xs, ys = stream(3000, 5)
    run = LEARNER.start(rng=seeded(1))
    wrong = 0
    for x, y in zip(xs, ys, strict=True):
        wrong += run.hypothesis(x) != y
        run.observe(x, y)
    # A constant errs 1,300 times, the best linear rule 500 times.
    assert wrong < 900
    assert "x0" in run.hypothesis.describe() and run.hypothesis.to_json()["kind"] == "scorecard"


def test_blocks_are_the_same_rounds() -> None:
    xs, ys = stream(600, 6)
    single, block = LEARNER.start(rng=seeded(1)), LEARNER.start(rng=seeded(1))
    for x, y in zip(xs, ys, strict=True):
        single.observe(x, y)
    taken = 0
    while taken < len(ys):
        taken += block.observe_many(xs[taken : taken + 97], ys[taken : taken + 97])
    assert single.hypothesis == block.hypothesis and single.switches == block.switches > 5


def test_a_saved_run_goes_on_identically() -> None:
    xs, ys = stream(600, 7)
    check_a_saved_run(LEARNER, xs, ys, at=300)


def test_batches_grow_and_have_a_least_size() -> None:
    assert [LEARNER.batch_size(number) for number in (0, 1, 2, 50)] == [16, 24, 36, 128]
    tenth, tenfold = replace(LEARNER, epsilon=0.1), replace(LEARNER, epsilon=10.0)
    assert (tenth.batch_size(0), tenth.batch_size(10**6)) == (160, 1280)
    assert (tenfold.batch_size(0), tenfold.batch_size(10**6)) == (16, 64)


def test_a_change_of_the_law_is_followed() -> None:
    xs, ys = stream(12_000, 8)
    turned = [y if number < 6000 else 1 - y for number, y in enumerate(ys)]
    wrong = LEARNER.start(rng=seeded(2)).follow(np.array(xs), np.array(turned)) != turned
    # Who does not follow errs on more than three quarters of the second half.
    assert wrong[9000:].mean() < 0.35


@pytest.mark.parametrize("n", [1, 2, 3, 10, 17])
def test_a_rule_over_a_range_is_a_threshold(n: int) -> None:
    features = Features.from_domain(IntegerRange(n))
    rows = features.rows(list(range(n)))
    for constant in (-1.5, -1.0, -0.3, 0.0, 0.4, 1.0):
        for slope in (-1.0, -0.5, 0.0, 0.25, 1.0):
            rule = features.rule(np.array([constant, slope]))
            wanted = rows @ np.array([constant, slope]) > 1e-9
            assert rule.many(np.arange(n)).tolist() == wanted.astype(int).tolist()


def test_points_of_other_kinds_and_bad_numbers_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="concepts must be over records"):
        PrivateLinear(concepts=Points(), epsilon=1.0)
    with pytest.raises(ValueError, match="delta"):
        replace(WIDE, delta=0.0)
    with pytest.raises(ValueError, match="rounds"):
        replace(LEARNER, rounds=0)


def test_too_small_a_budget_is_refused_by_the_name_it_was_given() -> None:
    with pytest.raises(ValueError, match=r"epsilon=1e-09 at delta=1e-06 .* increase"):
        replace(WIDE, epsilon=1e-9)
