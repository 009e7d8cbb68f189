"""The private linear rule: whole-number sensitivity, blocks, snapshots, what it learns."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run

from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.schema import Schema
from littlestone.learners.private_linear import algorithm
from littlestone.learners.private_linear.algorithm import (
    GRID,
    PrivateLinearEngine,
    gradients,
)
from littlestone.learners.private_linear.features import Features
from littlestone.learners.private_linear.recipe import PrivateLinear
from littlestone.mechanisms.correlated_sums import MOST_RELEASES, CorrelatedSums
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping(
    {
        **{f"x{i}": {"grid": [-1.0, 0.0, 1.0]} for i in range(4)},
        "kind": {"values": ["a", "b", "c"]},
    }
)
RULES = Stumps(SCHEMA, 1)
LEARNER = PrivateLinear(concepts=RULES, rounds=600, epsilon=1.0, delta=1e-6)
LONG = (3, 3, 3, 3, 0)  # its gradient is clipped for either label


def stream(count: int, seed: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Labels nearly linear in the cells."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, [4, 4, 4, 4, 3], size=(count, 5))
    score = cells[:, 0] + cells[:, 1] - cells[:, 2] - 1.5 + (cells[:, 4] == 1)
    labels = (score + rng.normal(size=count) > 0).astype(int)
    return [tuple(row) for row in cells.tolist()], labels.tolist()


def whole_cost(learner: PrivateLinear, zero: Any, one: Any) -> Fraction:
    """What replacing the first example costs, given a common public past, in whole numbers.

    The same coins in both worlds, and what the first one released is told to the second one, so
    that all later gradients are those of the same weights.
    """
    engines = [PrivateLinearEngine(learner, seeded(1)) for _ in range(2)]
    shift = 0
    for engine in engines:
        engine.begin()
    xs, ys = stream(learner.rounds, 3)
    for number, example in enumerate(zip(xs, ys, strict=True)):
        for engine, special in zip(engines, (zero, one), strict=True):
            engine.step(*(example if number else special))
        first, second = engines
        if len(first._released) and first._in_batch == 0 and first._released != second._released:
            pairs = zip(first._released[-1], second._released[-1], strict=True)
            shift += sum((a - b) ** 2 for a, b in pairs)
            second._released = list(first._released)
            second._follow()
    return Fraction(shift) / (2 * Fraction(learner.sums.noise.variance))


class WithoutTheFactorTwo(CorrelatedSums):
    """Broken: priced for an example that comes or goes."""

    @property
    def _shift_squared(self) -> int:
        return self.longest_squared * sum(weight * weight for weight in self.mix)


def test_replacing_an_example_costs_rho_at_most_in_whole_numbers() -> None:
    rho = Fraction(LEARNER.sums.zero_concentrated().rho)
    assert whole_cost(LEARNER, (LONG, 1), (LONG, 1)) == 0
    for other in ((LONG, 0), ((0, 0, 0, 0, 2), 1), ((1, 2, 1, 2, 1), 0)):
        assert 0 < whole_cost(LEARNER, (LONG, 1), other) <= rho
    # Opposite gradients of length 1 in the first batch: the whole price, but for rounding.
    assert whole_cost(LEARNER, (LONG, 1), (LONG, 0)) > Fraction(99, 100) * rho
    assert LEARNER.sums.guarantee(delta=1e-6).within(LEARNER.guarantee())


def test_a_price_without_the_factor_two_is_noticed() -> None:
    broken, given = replace(LEARNER), LEARNER.sums
    kept = {name: getattr(given, name) for name in ("releases", "width", "longest_squared", "rho")}
    object.__setattr__(broken, "sums", WithoutTheFactorTwo(**kept))
    assert whole_cost(broken, (LONG, 1), (LONG, 0)) > 3 * Fraction(given.rho)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6, 1e300, np.inf, np.nan])
def test_no_gradient_is_longer_than_it_may_be_whatever_the_weights(scale: float) -> None:
    rng = np.random.default_rng(2)
    rows = Features.from_domain(SCHEMA).rows(stream(300, 1)[0])
    weights = np.full(rows.shape[1], scale) * rng.choice([-1.0, 1.0], size=rows.shape[1])
    longest = LEARNER.sums.longest_squared
    whole = gradients(rows, rng.integers(0, 2, size=300), weights, longest)
    assert int((whole * whole).sum(axis=1).max()) <= longest
    assert scale != 0.0 or int((whole * whole).sum(axis=1).max()) > 0.99 * GRID * GRID


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

    monkeypatch.setattr(algorithm, "_dots", dots)
    assert moved_gradients() > 100


def test_it_learns_what_is_linear() -> None:
    xs, ys = stream(3000, 5)
    run = PrivateLinear(concepts=RULES, rounds=3000, epsilon=1.0, delta=1e-6).start(rng=seeded(1))
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
    assert single.hypothesis == block.hypothesis and single.switches == block.switches > 10


def test_a_saved_run_goes_on_identically() -> None:
    xs, ys = stream(600, 7)
    check_a_saved_run(LEARNER, xs, ys, at=300)


def test_batches_grow_and_fit_into_the_rounds() -> None:
    sizes = PrivateLinear(concepts=RULES, rounds=10**6, epsilon=0.5, delta=1e-6).batch_sizes
    assert sizes[0] == 16 and sum(sizes) <= 10**6 < sum(sizes) * 1.2
    assert all(small <= large for small, large in pairwise(sizes))
    few = PrivateLinear(concepts=RULES, rounds=3, epsilon=1.0, delta=1e-6)
    run = few.start(rng=seeded(1))
    for _ in range(3):
        run.observe(LONG, 1)
    assert few.batch_sizes == (8,) and run.switches == 0


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
    budget: dict[str, Any] = {"rounds": 100, "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(ValueError, match="concepts must be over records"):
        PrivateLinear(concepts=Points(), **budget)
    with pytest.raises(ValueError, match="growth"):
        PrivateLinear(concepts=Thresholds(3), growth=0.0, **budget)
    with pytest.raises(ValueError, match="make one of them larger"):
        PrivateLinear(concepts=Thresholds(3), growth=0.01, **{**budget, "rounds": 10**9})
    with pytest.raises(ValueError, match="delta"):
        PrivateLinear(concepts=Thresholds(3), **{**budget, "delta": 0.0})


def test_as_many_batches_as_the_sums_allow_are_taken_and_no_more() -> None:
    played = 0
    for _ in range(MOST_RELEASES):
        played += max(1, math.ceil(0.01 * played))
    one_more = played + math.ceil(0.01 * played)
    numbers: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "first": 1, "growth": 0.01}
    learner = PrivateLinear(concepts=Thresholds(5), rounds=one_more - 1, **numbers)
    assert len(learner.batch_sizes) == MOST_RELEASES and sum(learner.batch_sizes) == played
    with pytest.raises(ValueError, match="more than 1024 batches"):
        PrivateLinear(concepts=Thresholds(5), rounds=one_more, **numbers)


def test_too_small_a_budget_is_refused_by_the_name_it_was_given() -> None:
    with pytest.raises(ValueError, match=r"epsilon=1e-09 at delta=1e-06 .* larger"):
        PrivateLinear(concepts=Thresholds(5), rounds=100, epsilon=1e-9, delta=1e-6)
