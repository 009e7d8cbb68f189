"""Blocks of rounds: read as far as they are taken, keys of all kinds, and deep pools of rules.

Times are of the processor; what is compared takes turns, and the least of several counts.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from benchmarks._river import logistic_rate
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from littlestone.choose.catalogue import LEARNERS
from littlestone.choose.request import Request
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]

TAKES: dict[str, ConceptClass] = {
    "private-keys": SparseSets(8, 3),
    "private-witnesses": Thresholds(16),
}
IMPOSSIBLE = ("eager-forest", "fresh-copies")
"""Rivals that have too many trees to be played."""
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
        what = f"LazyForest on Points(), a list of {name} in blocks of 65,536"
        yield what, f"{rate / 1e6:,.1f} M/s", f"≥ {target / 1e6:.0f} M/s", rate >= target
    rate = keys_rate(0, chosen, chosen == 0, 400_000_000)
    what = "LazyForest on Points(), arrays of int64 in blocks of 65,536"
    yield what, f"{rate / 1e6:,.0f} M/s", "≥ 39 M/s", rate >= 39e6
    yield from deep_pool(4_096)
    yield from every_learner(3_000)
    yield from default_rates(100_000)


def validation(rounds: int) -> Iterator[Row]:
    """A learner that publishes something new in almost every round."""
    numbers = {f"n{i}": {"grid": list(range(20))} for i in range(8)}
    pool = Stumps(Schema.from_mapping(numbers), depth=1)
    values = np.random.default_rng(1).uniform(0, 20, size=(rounds, 8)).tolist()
    records = [dict(zip(numbers, row, strict=True)) for row in values]
    labels = [int(record["n3"] > 10) for record in records]
    recipe = AgnosticFinite(concepts=pool, rounds=rounds, epsilon=1.0, delta=1e-6)
    seconds: dict[Callable[..., None], list[float]] = {feed: [] for feed in WAYS}
    for _ in range(7):
        for feed, times in seconds.items():
            run, began = recipe.start(rng=seeded(1)), time.process_time()
            feed(run, records, labels)
            times.append(time.process_time() - began)
    what = f"{rounds:,} rounds of stumps, {run.switches:,} switches, "
    for feed, (words, plain, most) in WAYS.items():
        ours, theirs = min(seconds[feed]), min(seconds[plain])
        if feed is not plain:
            told = f"{ours:.3f} s ({theirs:.3f} s {WAYS[plain][0]})"
            yield what + words, told, f"≤ {most:g} ×", ours <= most * theirs


def singly(run: Any, records: list[Any], labels: list[int]) -> None:
    for x, y in zip(records, labels, strict=True):
        run.observe(x, y)


def singly_from_slices(run: Any, records: list[Any], labels: list[int]) -> None:
    """What whoever cuts lists pays for that."""
    for taken in range(len(records)):
        xs, ys = records[taken : taken + 2048], labels[taken : taken + 2048]
        run.observe(xs[0], ys[0])


def in_slices(run: Any, records: list[Any], labels: list[int]) -> None:
    taken = 0
    while taken < len(records):
        taken += run.observe_many(records[taken : taken + 2048], labels[taken : taken + 2048])


def validated_once(run: Any, records: list[Any], labels: list[int]) -> None:
    points, bits = run.validated(records, labels)
    while len(bits):
        taken = run.take(points, bits)
        points, bits = points[taken:], bits[taken:]


def predicted_singly(run: Any, records: list[Any], labels: list[int]) -> None:
    for x, y in zip(records, labels, strict=True):
        run.hypothesis(x)
        run.observe(x, y)


def followed(run: Any, records: list[Any], labels: list[int]) -> None:
    run.follow(records, labels)


WAYS: dict[Callable[..., None], tuple[str, Callable[..., None], float]] = {
    singly: ("singly", singly, 1),
    singly_from_slices: ("singly from the same slices", singly_from_slices, 1),
    predicted_singly: ("singly, predicted", predicted_singly, 1),
    validated_once: ("one block, validated once", singly, 1),
    followed: ("one block, followed", predicted_singly, 1),
    in_slices: ("slices of 2,048 records", singly_from_slices, 1.1),
}
"""How rounds are fed, against which other way, and how often as long it may take."""


def keys_rate(known: Any, points: Any, ones: Any, rounds: int = 8_000_000) -> float:
    """Rounds in a second, once the learner knows its key."""
    recipe = LazyForest.calibrated(concepts=Points(), rounds=10**9, epsilon=1.0, delta=1e-6)
    run, labels = recipe.start(rng=seeded(1)), ones.astype(np.uint8)
    while not run.hypothesis(known):
        run.observe(known, 1)
    return max(_rate(run, points, labels, rounds // 8) for _ in range(8))


def _rate(run: Any, points: Any, labels: Any, rounds: int) -> float:
    taken, began = 0, time.process_time()
    while taken < rounds:
        taken += run.observe_many(points, labels)
    return taken / (time.process_time() - began)


def every_learner(rounds: int) -> Iterator[Row]:
    """Each private learner of the catalogue: a block that is followed, against single rounds."""
    generator, space = np.random.default_rng(1), Thresholds(64)
    points = generator.integers(64, size=rounds)
    labels = ((points >= 32) ^ (generator.random(rounds) < 0.1)).astype(np.uint8)
    for name, entry in LEARNERS.items():
        if not entry.private or name in IMPOSSIBLE:
            continue
        concepts = TAKES.get(name, space)
        xs, ys = (points % (concepts.domain.size or rounds)).tolist(), labels.tolist()
        recipe = entry.build(concepts, rounds=rounds, epsilon=1.0, delta=1e-6)
        seconds: dict[Callable[..., None], list[float]] = {predicted_singly: [], followed: []}
        for feed, times in 5 * list(seconds.items()):
            run, began = recipe.start(rng=seeded(1)), time.process_time()
            feed(run, xs, ys)
            times.append(time.process_time() - began)
        ours, theirs = min(seconds[followed]), min(seconds[predicted_singly])
        what = f"{name}, {rounds:,} rounds with {run.switches:,} switches, one block, followed"
        told = f"{ours:.3f} s ({theirs:.3f} s singly, predicted)"
        yield what, told, "≤ 1.1 ×", ours <= 1.1 * theirs


def default_rates(rounds: int) -> Iterator[Row]:
    """The default learner over six numbers, fed singly and in blocks of 10,000 rows."""
    names = [f"x{place}" for place in range(6)]
    schema = Schema.from_mapping({name: {"range": [0, 100]} for name in names})
    generator = np.random.default_rng(1)
    columns = {name: generator.uniform(0, 100, rounds).round(1) for name in names}
    labels = ((columns["x0"] > 50) ^ (generator.random(rounds) < 0.1)).astype(np.uint8)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    records, bits = [dict(zip(names, row, strict=True)) for row in rows], labels.tolist()
    recipe = Request(over=schema, rounds=rounds).recipe()

    def in_blocks(run: Any) -> None:
        points, ys = run.validated(columns, labels)
        while len(ys):
            taken = run.take(points[:10_000], ys[:10_000])
            points, ys = points[taken:], ys[taken:]

    # 150 k/s and 600 k/s where River's logistic regression takes 228 k rounds a second.
    ways = {
        "singly": (lambda run: singly(run, records, bits), 150 / 228),
        "in blocks": (in_blocks, 600 / 228),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    river = 0.0
    with threadpool_limits(1):  # threads of BLAS that wait would count
        for way, (feed, _) in 5 * list(ways.items()):
            river = max(river, logistic_rate(1))
            run, began = recipe.start(rng=seeded(1)), time.process_time()
            feed(run)
            seconds[way].append(time.process_time() - began)
    yield "River LogisticRegression, predict and learn", f"{river / 1e3:,.0f} k/s", "", None
    for way, (_, target) in ways.items():
        rate = rounds / min(seconds[way])
        what = f"the default over six numbers, {rounds:,} rounds {way}"
        told = f"{rate / 1e3:,.0f} k/s, {rate / river:.2f} × River"
        yield what, told, f"≥ {target:.2f} × River", rate >= target * river


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
