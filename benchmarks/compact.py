"""What one run of a fleet costs: bytes at rest, time to go on by one event, memory while it lives.

Times are of the processor, the least of many; the targets are those of a prototype on an idle
machine that wrote its states by ``pickle``.
"""

import gc
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.randomness import Randomness
from littlestone.randomness.word_sources import Keyed
from littlestone.runs.fleet.keyed import advance

Row = tuple[str, str, str, bool | None]

_BUDGET: dict[str, Any] = {"rounds": 10_000, "epsilon": 1.0, "delta": 1e-6}
_LIVE = 20
_EVENTS = 300
_SECRET = bytes(range(32))

RECIPES: dict[str, tuple[PrivateLearner, int, float]] = {
    "PrivateMajority, Thresholds(1024)": (
        PrivateMajority(concepts=Thresholds(1024), **_BUDGET),
        2_100,
        87e-6,
    ),
    "LazyForest, Points()": (LazyForest.calibrated(concepts=Points(), **_BUDGET), 1_300, 345e-6),
    "AgnosticFinite, 999 rules, dartboard": (
        AgnosticFinite(
            concepts=Thresholds(998),
            adversary="oblivious",
            experts=ShrinkingDartboard(experts=999, **_BUDGET),
            **_BUDGET,
        ),
        17_000,
        586e-6,
    ),
}
"""With the most bytes of a state and the most seconds to restore, take an event and save."""


def measure() -> Iterator[Row]:
    for name, (recipe, most_bytes, most_seconds) in RECIPES.items():
        state, _ = advance(recipe, _SECRET, "key", None, range(1, _EVENTS + 1), *_events(1))
        size = len(state)
        yield f"{name}: state", f"{size:,} bytes", f"<= {most_bytes:,} bytes", size <= most_bytes
        seconds = _one_event(recipe, state)
        yield (
            f"{name}: restore, one event, save",
            f"{seconds * 1e6:,.0f} µs",
            f"<= {most_seconds * 1e6:,.0f} µs",
            seconds <= most_seconds,
        )
    live = _live_bytes(RECIPES["PrivateMajority, Thresholds(1024)"][0])
    yield "PrivateMajority: live run in memory", f"{live:,.0f} bytes", "<= 6,300", live <= 6_300


def started(recipe: PrivateLearner, number: int) -> PrivateRun:
    """A run from the key of this number."""
    return recipe.start(rng=Randomness(Keyed(number.to_bytes(32, "big"))))


def fed(run: PrivateRun, events: int) -> PrivateRun:
    """After so many more events of a stream that repeats itself."""
    for event in range(run.rounds_played, run.rounds_played + events):
        x = event * 37 % 50
        run.observe(x, int(x == 49))
    return run


def _events(first: int, count: int = _EVENTS) -> tuple[list[int], list[int]]:
    xs = [event * 37 % 50 for event in range(first - 1, first - 1 + count)]
    return xs, [int(x == 49) for x in xs]


def _one_event(recipe: PrivateLearner, state: bytes) -> float:
    least = float("inf")
    for number in range(_EVENTS + 1, 2 * _EVENTS + 1):
        xs, ys = _events(number, 1)
        begun = time.process_time()
        state, _ = advance(recipe, _SECRET, "key", state, [number], xs, ys)
        least = min(least, time.process_time() - begun)
    return least


def _live_bytes(recipe: PrivateLearner) -> float:
    fed(started(recipe, 2), 1)  # what is shared by all runs is there already
    gc.collect()
    tracemalloc.start()
    runs = [fed(started(recipe, 3 + number), 1) for number in range(_LIVE)]
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / len(runs)
