"""Blocks of rounds: read as far as they are taken, keys of all kinds, and deep pools of rules.

Times are of the processor. Beside tuples stands what nobody can do without: each is asked for its
type, each of its parts is read once, and each is compared with the one key that is known.
"""

import time
from collections.abc import Callable, Iterator
from itertools import chain
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
    "whole numbers": (int, 39e6),
    "strings": (lambda i: f"user {i}", 10e6),
    "tuples": (lambda i: ("user", i), 10e6),
}


def measure() -> Iterator[Row]:
    yield from validation(2_000)
    for name, (key, target) in KEYS.items():
        keys = [key(i) for i in range(1000)]
        chosen = np.random.default_rng(1).integers(len(keys), size=65_536)
        points = [keys[i] for i in chosen]
        rate = keys_rate(keys[0], points, chosen == 0)
        told = f"{rate / 1e6:,.1f} M/s"
        if name == "tuples":
            told += f" (at most {least_work_rate(keys[0], points) / 1e6:,.1f})"
        what = f"LazyForest on Points(), a list of {name} in blocks of 65,536"
        yield what, told, f"≥ {target / 1e6:.0f} M/s", rate >= target
    rate = keys_rate(0, chosen, chosen == 0, 400_000_000)
    what = "LazyForest on Points(), arrays of int64 in blocks of 65,536"
    yield what, f"{rate / 1e6:,.0f} M/s", "≥ 39 M/s", rate >= 39e6
    yield from deep_pool(4_096)


def validation(rounds: int) -> Iterator[Row]:
    """A learner that publishes something new in almost every round."""
    numbers = {f"n{i}": {"grid": list(range(20))} for i in range(8)}
    pool = Stumps(Schema.from_mapping(numbers), depth=1)
    values = np.random.default_rng(1).uniform(0, 20, size=(rounds, 8)).tolist()
    records = [dict(zip(numbers, row, strict=True)) for row in values]
    labels = [int(record["n3"] > 10) for record in records]
    recipe = AgnosticFinite(concepts=pool, rounds=rounds, epsilon=1.0, delta=1e-6)
    run, began = recipe.start(rng=seeded(1)), time.process_time()
    for x, y in zip(records, labels, strict=True):
        run.observe(x, y)
    singly = time.process_time() - began
    run, began, taken = recipe.start(rng=seeded(1)), time.process_time(), 0
    while taken < rounds:
        taken += run.observe_many(records[taken : taken + 2048], labels[taken : taken + 2048])
    blocks = time.process_time() - began
    began = time.process_time()
    for start in range(rounds):
        records[start : start + 2048], labels[start : start + 2048]
    cutting = time.process_time() - began
    what = f"{rounds:,} rounds of stumps in blocks of 2,048 records, {run.switches:,} switches"
    told = f"{blocks:.3f} s, {cutting:.3f} s of it cutting lists (singly {singly:.3f} s)"
    yield what, told, "≤ 1.1 × singly, and the cutting", blocks <= 1.1 * singly + cutting
    run, began = recipe.start(rng=seeded(1)), time.process_time()
    run.follow(records, labels)
    whole = time.process_time() - began
    what = f"{rounds:,} rounds of stumps in one block that is followed"
    yield what, f"{whole:.3f} s (singly {singly:.3f} s)", "≤ 1 × singly", whole <= singly


def keys_rate(known: Any, points: Any, ones: Any, rounds: int = 8_000_000) -> float:
    """Rounds in a second, once the learner knows its key."""
    recipe = LazyForest.calibrated(concepts=Points(), rounds=10**9, epsilon=1.0, delta=1e-6)
    run, labels = recipe.start(rng=seeded(1)), ones.astype(np.uint8)
    while not run.hypothesis(known):
        run.observe(known, 1)
    taken, began = 0, time.process_time()
    while taken < rounds:
        taken += run.observe_many(points, labels)
    return taken / (time.process_time() - began)


def least_work_rate(known: Any, points: list[Any], times: int = 50) -> float:
    began = time.process_time()
    for _ in range(times):
        list(map(type, points)), list(chain.from_iterable(points)), points.count(known)
    return times * len(points) / (time.process_time() - began)


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
