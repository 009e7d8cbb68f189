"""Mistakes of private learners beside what no private learner can avoid.

First the default learners at ε = 1, T = 10⁶, then every private learner of the catalogue in games
of 200 rounds. The adversary always answers the published hypothesis (``peek=True``), as in the
floors.
"""

import os
import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks._opponents import opponents

from littlestone.choose.auto import auto
from littlestone.choose.catalogue import LEARNERS, class_from_spec
from littlestone.game.play import play
from littlestone.lab.class_floors import mistakes_floor
from littlestone.randomness import secure

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
SHORT: Any = {"rounds": 200, "epsilon": EPSILON, "delta": 1e-3}
SHORT_CLASSES = ("points:16", "thresholds:4")


def measure() -> Iterator[Row]:
    for spec, delta, floor, ratio in SETTINGS:
        yield from measured_beside_floor(spec, delta, floor, ratio)
    for spec in SHORT_CLASSES:
        for name, entry in LEARNERS.items():
            if entry.private:
                yield from every_learner(spec, name)


def measured_beside_floor(
    spec: str, delta: float, target: float | None, ratio: float | None
) -> Iterator[Row]:
    """The floor, what is proved, and the worst mean over the adversaries."""
    concepts = class_from_spec(spec)
    budget: Any = {"rounds": ROUNDS, "epsilon": EPSILON, "delta": delta}
    found = mistakes_floor(concepts, **budget)
    assert found is not None
    reached = None if target is None else found.mistakes >= target
    wanted = "" if target is None else f"≥ {target:g}"
    yield f"{spec}, floor: {found.structure}", found.text, wanted, reached
    learner: Any = auto(concepts, setting="realizable", adversary="adaptive", **budget)
    name = type(learner).__name__
    if hasattr(learner, "expected_mistake_bound"):
        yield f"{spec}, {name}: proved mean", f"{learner.expected_mistake_bound():.1f}", "", None
    worst, spread = 0.0, 0.0
    for foe, _ in opponents(concepts, **budget):
        mean, error = mean_and_error(learner, foe, ROUNDS)
        worst, spread = max((worst, spread), (mean, error))
        yield f"{spec}, {type(foe).__name__}", f"{mean:.1f} ± {error:.1f}", "", None
    share = worst / found.mistakes
    # The largest of six means is above its expectation: two standard errors are allowed.
    judged = None if ratio is None else (worst - 2 * spread) / found.mistakes <= ratio
    wanted = "" if ratio is None else f"≤ {ratio:g}"
    yield f"{spec}, {name}: worst mean {worst:.1f} / floor", f"{share:.2f}", wanted, judged


def every_learner(spec: str, name: str) -> Iterator[Row]:
    """One learner of the catalogue against the adversaries of the floors: never below."""
    concepts = class_from_spec(spec)
    try:
        learner = LEARNERS[name].build(concepts, **SHORT)
    except ValueError:  # not for this class
        return
    for foe, game in opponents(concepts, **SHORT):
        if game is None:
            continue
        levels = getattr(foe, "stage", 0) and concepts.littlestone_dimension
        floor, most = max(1, levels) * game.mistakes, max(1, levels) * game.counted
        mean, error = mean_and_error(learner, foe, SHORT["rounds"], most)
        # The floor is on the mean of min(mistakes, most).
        what = f"{spec}, {name}, {type(foe).__name__}: mean of min(mistakes, {most})"
        yield what, f"{mean:.1f} ± {error:.1f}", f"≥ {floor:.1f}", mean + 4 * error >= floor


def mean_and_error(
    learner: Any, foe: Any, rounds: int, most: int | None = None
) -> tuple[float, float]:
    """Mean mistakes and their standard error; mistakes beyond ``most`` are not counted."""
    options: Any = {"peek": True, "even_if_oblivious_only": True}
    games = [play(learner, foe, rounds=rounds, rng=secure(), **options) for _ in range(RUNS)]
    counts = [game.mistakes if most is None else min(most, game.mistakes) for game in games]
    return statistics.mean(counts), statistics.stdev(counts) / RUNS**0.5
