"""Blocks of rounds: read as far as they are taken, keys of all kinds, and deep pools of rules."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]

KEYS: dict[str, tuple[Callable[[int], Any], float]] = {
    "whole numbers": (int, 30e6),
    "strings": (lambda i: f"user {i}", 10e6),
    "tuples": (lambda i: ("user", i), 10e6),
}


def measure() -> Iterator[Row]:
    yield from validation(2_000)
    for name, (key, target) in KEYS.items():
        rate = keys_rate([key(i) for i in range(1000)], 4_000_000)
        what = f"LazyForest on Points(), a list of {name} in blocks of 65,536"
        yield what, f"{rate / 1e6:,.1f} M/s", f"≥ {target / 1e6:.0f} M/s", rate >= target
    yield from deep_pool(4_096)


def validation(rounds: int) -> Iterator[Row]:
    """A learner that publishes something new in almost every round."""
    numbers = {f"n{i}": {"grid": list(range(20))} for i in range(8)}
    pool = Stumps(Schema.from_mapping(numbers), depth=1)
    values = np.random.default_rng(1).uniform(0, 20, size=(rounds, 8)).tolist()
    records = [dict(zip(numbers, row, strict=True)) for row in values]
    labels = [int(record["n3"] > 10) for record in records]
    recipe = AgnosticFinite(concepts=pool, rounds=rounds, epsilon=1.0, delta=1e-6)
    run, began = recipe.start(rng=seeded(1)), time.perf_counter()
    for x, y in zip(records, labels, strict=True):
        run.observe(x, y)
    singly = time.perf_counter() - began
    run, began, taken = recipe.start(rng=seeded(1)), time.perf_counter(), 0
    while taken < rounds:
        taken += run.observe_many(records[taken : taken + 2048], labels[taken : taken + 2048])
    blocks = time.perf_counter() - began
    what = f"{rounds:,} rounds of stumps in blocks of 2,048 records, {run.switches:,} switches"
    told = f"{blocks:.2f} s (singly {singly:.2f} s)"
    yield what, told, "≤ 2 × singly", blocks <= 2 * singly


def keys_rate(keys: list[Any], rounds: int) -> float:
    """Rounds in a second of processor time, once the learner knows its key, the first."""
    recipe = LazyForest.calibrated(concepts=Points(), rounds=10**9, epsilon=1.0, delta=1e-6)
    run, block = recipe.start(rng=seeded(1)), 65_536
    while not run.hypothesis(keys[0]):
        run.observe(keys[0], 1)
    chosen = np.random.default_rng(1).integers(len(keys), size=block)
    points, labels = [keys[i] for i in chosen], (chosen == 0).astype(np.uint8)
    taken, began = 0, time.process_time()
    while taken < rounds:
        taken += run.observe_many(points, labels)
    return taken / (time.process_time() - began)


def deep_pool(rounds: int) -> Iterator[Row]:
    """Losses of all rules of two conditions, against asking every rule about every record."""
    numbers = {f"n{i}": {"grid": list(range(20))} for i in range(10)}
    pool = Stumps(Schema.from_mapping(numbers), depth=2)
    rows = np.array(pool.schema.sample(rounds, np.random.default_rng(1)))
    labels = (rows[:, 3] >= 8).astype(np.uint8)
    losses, began = LossTable(pool), time.perf_counter()
    losses.add_many(rows, labels)
    found = losses.as_array()
    fast = rounds / (time.perf_counter() - began)
    few, began = 64, time.perf_counter()
    ones = labels[:few].astype(np.int64)
    plain = Tallied(None, 1 - ones, ones).losses_of(pool.labels_at(rows[:few]))
    slow = few / (time.perf_counter() - began)
    assert len(plain) == len(found)
    what = f"losses of {pool.size:,} rules, rounds a second (plainly {slow:,.0f}/s)"
    yield what, f"{fast:,.0f}/s ({fast / slow:,.0f} ×)", "≥ 40 ×", fast >= 40 * slow
