"""PrivateWitnesses: mistakes against the worst of four adversaries beside what is proved."""

import statistics
from collections.abc import Iterator
from typing import Any

from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.mistake_forcing import FrequentKiller, MistakeForcing
from littlestone.game.adversaries.spreading import KeepDimension, SpreadMistakes
from littlestone.game.play import play
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

ADVERSARIES = (MistakeForcing, SpreadMistakes, FrequentKiller, KeepDimension)
ROUNDS = 10**6
RUNS = 20  # of which one may lose an epoch, which doubles its mistakes


def measure() -> Iterator[Row]:
    yield from mistakes(Conjunctions(8), measured=400, proved=450)
    yield from mistakes(Thresholds(1024), measured=None, proved=None)
    yield from mistakes(Intervals(64), measured=400, proved=400)
    yield from mistakes(Intervals(2**20), measured=1200, proved=1200)
    for k in (2, 3, 4):
        yield from mistakes(Boxes(k, 64), measured=None, proved=None, runs=2)


def mistakes(
    concepts: Any, *, measured: float | None, proved: float | None, runs: int = RUNS
) -> Iterator[Row]:
    """The mean over the runs for each adversary; the worst is judged."""
    learner = PrivateWitnesses(concepts=concepts, rounds=ROUNDS, epsilon=1.0)
    worst = 0.0
    suite = [foe for foe in ADVERSARIES if foe is not KeepDimension or type(concepts) is not Boxes]
    for adversary in suite:
        counts = [
            play(learner, adversary(concepts), rounds=ROUNDS, rng=secure()).mistakes
            for _ in range(runs)
        ]
        worst = max(worst, statistics.mean(counts))
        spread = f"{statistics.mean(counts):.0f} ({min(counts)}–{max(counts)})"
        yield f"{concepts}, {adversary.__name__}", spread, "", None
    yield _judged(f"{concepts}, worst", worst, measured)
    yield _judged(f"{concepts}, proved mean", learner.expected_mistake_bound(), proved)
    with_probability = learner.mistake_bound(failure_probability=0.05)
    yield _judged(f"{concepts}, proved with 95 %", with_probability, None)


def _judged(what: str, value: float, target: float | None) -> Row:
    if target is None:
        return what, f"{value:.0f}", "", None
    return what, f"{value:.0f}", f"≤ {target:.0f}", value <= target
