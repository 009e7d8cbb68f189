"""The game loop: rounds per second beside River on the same stream, and memory."""

import time
import tracemalloc
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from river import linear_model

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.random_stream import Drifting
from littlestone.game.adversaries.replay import Examples, Replay
from littlestone.game.play import play
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]

CONCEPTS = Thresholds(1024)
LEARNER = StandardOptimal(CONCEPTS)
TARGET_THRESHOLD = 300


def measure() -> Iterator[Row]:
    river = river_rate(100_000)
    yield "River LogisticRegression, predict and learn", f"{river / 1e3:,.0f} k/s", "", None

    scalar = replay_rate(1_000_000, blocks=False)
    yield (
        "SOA on Thresholds(1024) against a replayed stream, one round at a time",
        f"{scalar / 1e3:,.0f} k/s ({scalar / river:.1f} × River)",
        "≥ 400 k/s and faster than River",
        scalar >= max(400_000, river),
    )

    block = replay_rate(10_000_000, blocks=True)
    yield (
        "the same in blocks",
        f"{block / 1e6:,.0f} M/s ({block / river:,.0f} × River)",
        "≥ 20 M/s",
        block >= 20e6,
    )

    adaptive = 1e6 / forcing_rate(1_000_000, blocks=False)
    yield (
        "MistakeForcing, adversary, learner and loop, when nothing changes",
        f"{adaptive:.2f} µs a round",
        "≤ 2 µs",
        adaptive <= 2,
    )

    forcing = forcing_rate(100_000_000, blocks=True)
    yield "the same in blocks, 10⁸ rounds", f"{forcing / 1e6:,.0f} M/s", "≥ 20 M/s", forcing >= 20e6

    few, many = peak_memory(1_000_000), peak_memory(10_000_000)
    yield (
        "peak memory of 10⁷ rounds against that of 10⁶",
        f"{many / 1e6:.2f} MB against {few / 1e6:.2f} MB",
        "flat: ≤ 1 MB more",
        many <= few + 1_000_000,
    )


def stream(rounds: int) -> Examples:
    points = np.random.default_rng(7).integers(CONCEPTS.n, size=rounds)
    return Examples(points, (points >= TARGET_THRESHOLD).astype(np.uint8))


def river_rate(rounds: int) -> float:
    """Rounds per second; the point is scaled to [0, 1), as River likes it."""
    examples = stream(rounds)
    model = linear_model.LogisticRegression()
    points, labels = list(examples.points), examples.labels.tolist()
    began = time.perf_counter()
    for x, y in zip(points, labels, strict=True):
        record: dict[Hashable, Any] = {"x": x / CONCEPTS.n}
        model.predict_one(record)
        model.learn_one(record, y)
    return rounds / (time.perf_counter() - began)


def replay_rate(rounds: int, *, blocks: bool) -> float:
    adversary = Replay(CONCEPTS, stream(rounds), realizable=True)
    return rounds / play(LEARNER, adversary, rounds=rounds, rng=seeded(1), blocks=blocks).seconds


def forcing_rate(rounds: int, *, blocks: bool) -> float:
    adversary = MistakeForcing(CONCEPTS)
    return rounds / play(LEARNER, adversary, rounds=rounds, rng=seeded(1), blocks=blocks).seconds


def peak_memory(rounds: int) -> int:
    tracemalloc.start()
    try:
        play(LEARNER, Drifting(CONCEPTS, period=100_000), rounds=rounds, rng=seeded(1))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
