"""PrivateKeys: mistakes for each key, events per second in blocks, bytes for each reported key."""

import statistics
import time
import tracemalloc
from collections.abc import Iterator

import numpy as np

from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.game.adversaries.mistake_forcing import FrequentKiller, MistakeForcing
from littlestone.game.adversaries.spreading import KeepDimension, SpreadMistakes
from littlestone.game.play import play
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.run import PrivateRun
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

ADVERSARIES = (MistakeForcing, SpreadMistakes, FrequentKiller, KeepDimension)
RUNS = 50
EVENTS = 10**7
LISTED = 1000
_BLOCK = 1 << 20


def measure() -> Iterator[Row]:
    """Mistakes first, then speed and memory."""
    for keys in (1, 3, 10):
        yield from mistakes(keys)
    yield from blocks("every report is true", stray=0.0)
    yield from blocks("one report in a hundred events is not", stray=0.01)
    yield memory()


def mistakes(keys: int) -> Iterator[Row]:
    """The mean over RUNS runs for each adversary; the worst is judged."""
    concepts = SparseSets(keys)
    learner = PrivateKeys(concepts=concepts, rounds=10**6, epsilon=1.0, delta=1e-6)
    worst = 0.0
    for adversary in ADVERSARIES:
        counts = [
            play(learner, adversary(concepts), rounds=10**6, rng=secure()).mistakes / keys
            for _ in range(RUNS)
        ]
        mean, error = statistics.mean(counts), statistics.stdev(counts) / RUNS**0.5
        worst = max(worst, mean)
        yield (
            f"mistakes per key, {keys} keys, {adversary.__name__}",
            f"{mean:.1f} ± {error:.1f}",
            "",
            None,
        )
    yield f"mistakes per key, {keys} keys, worst", f"{worst:.1f}", "≤ 45", worst <= 45
    if keys == 1:
        forest = LazyForest.calibrated(concepts=concepts, rounds=10**6, epsilon=1.0, delta=1e-6)
        counts = [
            play(forest, MistakeForcing(concepts), rounds=10**6, rng=secure()).mistakes
            for _ in range(RUNS)
        ]
        yield "LazyForest on one key, in the same run", f"{statistics.mean(counts):.1f}", "", None


def stream(stray: float) -> tuple[np.ndarray, np.ndarray]:
    """Ten million events over more than a million keys, a thousand of which are reported."""
    generator = np.random.default_rng(1)
    weights = 1 / np.arange(1, 4_000_001) ** 0.9
    bounds = np.cumsum(weights / weights.sum())
    keys = np.searchsorted(bounds, generator.random(EVENTS)).astype(np.int64)
    reported = np.sort(generator.choice(20_000, size=LISTED, replace=False))
    labels = np.isin(keys, reported) | (generator.random(EVENTS) < stray)
    return keys, labels.astype(np.uint8)


def fed(run: PrivateRun, keys: np.ndarray, labels: np.ndarray) -> float:
    """Feeds all events in blocks; the seconds it took."""
    began, start = time.perf_counter(), 0
    points, marks = run.validated(keys, labels)
    while start < len(marks):
        end = start + _BLOCK
        start += run.take(points[start:end], marks[start:end])
    return time.perf_counter() - began


def blocks(what: str, *, stray: float) -> Iterator[Row]:
    keys, labels = stream(stray)
    run = PrivateKeys(rounds=EVENTS, epsilon=1.0, delta=1e-6).start()
    rate = EVENTS / fed(run, keys, labels)
    yield f"distinct keys among {EVENTS:,} events", f"{len(np.unique(keys)):,}", "≥ 1,000,000", None
    yield f"keys listed, {what}", f"{len(run.hypothesis.positives):,}", f"{LISTED:,}", None  # type: ignore[attr-defined]
    yield f"events/s in blocks, {what}", f"{rate:,.0f}", "≥ 1,000,000", rate >= 1e6


def memory(keys: int = 200_000) -> Row:
    """Live bytes for each key that was reported once."""
    run = PrivateKeys(rounds=EVENTS, epsilon=1.0, delta=1e-6).start()
    run.observe(-1, 1)
    points, labels = run.validated(np.arange(keys), np.ones(keys, dtype=np.uint8))
    tracemalloc.start()
    run.take(points, labels)
    each = tracemalloc.get_traced_memory()[0] / keys
    tracemalloc.stop()
    saved = len(run.snapshot()) / keys
    return (
        "bytes of state per reported key (in a snapshot)",
        f"{each:.0f} ({saved:.0f})",
        "≤ 200",
        each <= 200,
    )
