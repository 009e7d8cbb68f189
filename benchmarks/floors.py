"""Mistakes of the default learners beside what no private learner can avoid, at ε = 1, T = 10⁶.

In every game the adversary answers the published hypothesis (``peek=True``), as in the floors.
"""

import os
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from littlestone.choose.auto import auto
from littlestone.choose.catalogue import class_from_spec
from littlestone.game.adversaries.mistake_forcing import FrequentKiller, MistakeForcing
from littlestone.game.adversaries.spreading import SpreadMistakes
from littlestone.game.adversaries.waiting import BurstAndWait, Wait, WaitDownTree
from littlestone.game.play import play
from littlestone.lab.bounds.class_floors import mistakes_floor
from littlestone.randomness import secure
from littlestone.theory.adaptive_floors import WaitingGame

Row = tuple[str, str, str, bool | None]

ROUNDS, EPSILON = 10**6, 1.0
RUNS = int(os.environ.get("FLOOR_RUNS", "20"))  # of which one may lose an epoch
# Class, delta, the floor and the ratio that are to be reached.
SETTINGS: tuple[tuple[str, float, float | None, float | None], ...] = (
    ("points", 1e-6, 24.3, 1.6),
    ("points:1024", 0.0, None, 1.7),
    ("sparse-sets:3", 1e-6, None, None),
    ("sparse-sets:3,1024", 0.0, None, None),
    ("thresholds:1024", 0.0, 106.0, 2.2),
    ("thresholds:1048575", 0.0, None, None),
    ("intervals:64", 0.0, 106.0, 2.7),
    ("intervals:1048576", 0.0, None, None),
    ("conjunctions:8", 0.0, 86.0, 3.5),
)


def measure() -> Iterator[Row]:
    for spec, delta, floor, ratio in SETTINGS:
        yield from measured_beside_floor(spec, delta, floor, ratio)


def measured_beside_floor(
    spec: str, delta: float, target: float | None, ratio: float | None
) -> Iterator[Row]:
    """The floor, what is proved, and the worst mean over the adversaries."""
    concepts = class_from_spec(spec)
    found = mistakes_floor(concepts, rounds=ROUNDS, epsilon=EPSILON, delta=delta)
    assert found is not None
    reached = None if target is None else found.mistakes >= target
    wanted = "" if target is None else f"≥ {target:g}"
    yield f"{spec}, floor: {found.structure}", found.text, wanted, reached
    learner: Any = auto(
        concepts,
        rounds=ROUNDS,
        epsilon=EPSILON,
        delta=delta,
        setting="realizable",
        adversary="adaptive",
    )
    name = type(learner).__name__
    if hasattr(learner, "expected_mistake_bound"):
        yield f"{spec}, {name}: proved mean", f"{learner.expected_mistake_bound():.1f}", "", None
    worst, spread = 0.0, 0.0
    for foe in adversaries(concepts, delta):
        counts = [
            play(learner, foe, rounds=ROUNDS, rng=secure(), peek=True).mistakes for _ in range(RUNS)
        ]
        mean, error = statistics.mean(counts), statistics.stdev(counts) / RUNS**0.5
        worst, spread = max((worst, spread), (mean, error))
        yield f"{spec}, {type(foe).__name__}", f"{mean:.1f} ± {error:.1f}", "", None
    share = worst / found.mistakes
    # The largest of six means is above its expectation: two standard errors are allowed.
    judged = None if ratio is None else (worst - 2 * spread) / found.mistakes <= ratio
    wanted = "" if ratio is None else f"≤ {ratio:g}"
    yield f"{spec}, {name}: worst mean {worst:.1f} / floor", f"{share:.2f}", wanted, judged


def adversaries(concepts: Any, delta: float) -> Iterator[Any]:
    """The greedy ones, and those of the proofs with the times that prove most."""
    yield from (kind(concepts) for kind in (MistakeForcing, SpreadMistakes, FrequentKiller))
    budget: Any = {"epsilon": EPSILON, "delta": delta}
    foe = Wait(concepts)
    game = WaitingGame.without_burst(concepts=foe.candidates, rounds=ROUNDS, **budget)
    yield replace(foe, within=game.within)
    game = WaitingGame.after_burst(concepts=foe.candidates, rounds=ROUNDS, **budget)
    yield BurstAndWait(concepts, burst=game.burst, within=game.within)
    depth = concepts.littlestone_dimension
    game = WaitingGame.without_burst(concepts=2, rounds=(ROUNDS - 1) // depth, **budget)
    yield WaitDownTree(concepts, stage=(ROUNDS - 1) // depth, within=game.within)
