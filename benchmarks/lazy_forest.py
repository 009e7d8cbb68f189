"""LazyForest: mistakes against the worst adversary, rounds per second, and what slots cost."""

import dataclasses
import statistics
import time
import tracemalloc
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from river.linear_model import LogisticRegression

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.mistake_forcing import FrequentKiller, MistakeForcing
from littlestone.game.adversaries.spreading import KeepDimension, SpreadMistakes
from littlestone.game.play import play
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

ADVERSARIES = (MistakeForcing, SpreadMistakes, FrequentKiller, KeepDimension)
RUNS = 50
SETTINGS: tuple[tuple[Any, int, int, int | None], ...] = (
    (Points(), 10**6, 160, 70),
    (Thresholds(6), 10**6, 620, None),
    (Thresholds(8), 10**6, 5_300, None),
    (Thresholds(16), 10**7, 450_000, None),
)


def measure() -> Iterator[Row]:
    """Mistakes first, then speed."""
    for concepts, rounds, target, stretch in SETTINGS:
        yield from mistakes(concepts, rounds, target, stretch)
    yield sequential_rounds()
    yield block_rounds()
    yield river_rounds()
    yield from cost_of_slots()


def mistakes(concepts: Any, rounds: int, target: int, stretch: int | None) -> Iterator[Row]:
    """The mean over RUNS runs for each adversary, restarts included; the worst is judged."""
    learner = LazyForest.calibrated(concepts=concepts, rounds=rounds, epsilon=1.0, delta=1e-6)
    means = {}
    for adversary in ADVERSARIES:
        plays = [
            play(learner, adversary(concepts), rounds=rounds, rng=secure()) for _ in range(RUNS)
        ]
        counts = [transcript.mistakes for transcript in plays]
        means[adversary.__name__] = statistics.mean(counts)
        error = statistics.stdev(counts) / RUNS**0.5
        what = f"mistakes on {concepts!r}, {adversary.__name__}"
        yield what, f"{means[adversary.__name__]:,.1f} ± {error:.1f}", "", None
    worst = max(means.values())
    asked = f"≤ {target:,}" + ("" if stretch is None else f" (stretch {stretch:,})")
    yield f"mistakes on {concepts!r}, worst", f"{worst:,.1f}", asked, worst <= target


def sequential_rounds(rounds: int = 400_000) -> Row:
    """An adaptive adversary that reads every hypothesis; one round in a hundred is a mistake."""
    learner = LazyForest.calibrated(concepts=Thresholds(16), rounds=rounds, epsilon=1.0, delta=1e-6)
    run = learner.start()
    began = time.perf_counter()
    for number in range(rounds):
        label = run.hypothesis(7)
        run.observe(7, label if number % 100 else 1 - label)
    return _rate("sequential, adaptive", rounds, began, 200_000)


def block_rounds(rounds: int = 1 << 24) -> Row:
    """One round in a thousand is a mistake."""
    learner = LazyForest.calibrated(concepts=Thresholds(16), rounds=rounds, epsilon=1.0, delta=1e-6)
    run = learner.start()
    generator = np.random.default_rng(1)
    points = generator.integers(16, size=1 << 20)
    labels = run.hypothesis.many(points) ^ (generator.random(len(points)) < 1e-3)
    labels = labels.astype(np.uint8)
    began, taken = time.perf_counter(), 0
    while taken < rounds:
        taken += run.observe_many(points, labels)
    return _rate("observe_many, 0.1 % mistakes", rounds, began, 20_000_000)


def river_rounds(rounds: int = 100_000) -> Row:
    """The peer, in the same run, for scale."""
    model = LogisticRegression()
    examples: list[tuple[dict[Hashable, Any], bool]]
    examples = [({"x": number % 16}, number % 16 >= 8) for number in range(rounds)]
    began = time.perf_counter()
    for x, y in examples:
        model.predict_one(x)
        model.learn_one(x, y)
    return _rate("River LogisticRegression, predict and learn", rounds, began, None)


def cost_of_slots() -> Iterator[Row]:
    """The same rounds with 2**20 and with 2**40 slots."""
    small, large = (_cost(2**exponent) for exponent in (20, 40))
    for what, before, after in zip(("time", "peak memory"), small, large, strict=True):
        ratio = after / before
        yield f"{what} at 2^40 slots over 2^20", f"{ratio:.2f}×", "≤ 1.5×", ratio <= 1.5


def _cost(slots: int) -> tuple[float, float]:
    concepts = Thresholds(8)
    calibrated = LazyForest.calibrated(concepts=concepts, rounds=10**6, epsilon=1.0, delta=1e-6)
    plan = dataclasses.replace(calibrated.plan, slots=slots)
    learner = dataclasses.replace(calibrated, plan=plan)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        play(learner, MistakeForcing(concepts), rounds=200_000, rng=secure())
        times.append(time.perf_counter() - began)
    tracemalloc.start()
    play(learner, MistakeForcing(concepts), rounds=20_000, rng=secure())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(times), float(peak)


def _rate(what: str, rounds: int, began: float, target: int | None) -> Row:
    rate = rounds / (time.perf_counter() - began)
    asked = "" if target is None else f"≥ {target:,}/s"
    return f"rounds, {what}", f"{rate:,.0f}/s", asked, None if target is None else rate >= target
