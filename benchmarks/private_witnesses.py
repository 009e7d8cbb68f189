"""PrivateWitnesses: mistakes against the worst of four adversaries beside what is proved."""

import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np

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
_BLOCK, _SHOWN = 50_000, 2_000
RUNS = 20  # of which one may lose an epoch, which doubles its mistakes


def measure() -> Iterator[Row]:
    yield from mistakes(Conjunctions(8), measured=400, proved=450)
    counts = [denied(8) for _ in range(2 * RUNS)]
    error = statistics.stdev(counts) / len(counts) ** 0.5
    yield "Conjunctions(8), denied", f"{statistics.mean(counts):.1f} ± {error:.1f}", "", None
    yield from mistakes(Thresholds(1024), measured=None, proved=None)
    yield from mistakes(Intervals(64), measured=400, proved=400)
    counts = [patient(64, ROUNDS // 12) for _ in range(2 * RUNS)]
    error = statistics.stdev(counts) / len(counts) ** 0.5
    yield "Intervals(64), patient", f"{statistics.mean(counts):.1f} ± {error:.1f}", "", None
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


def denied(features: int) -> int:
    """Mistakes against an adversary that waits and denies what fires by chance, then shows all.

    Of a conjunction over so many features; which of them it has is decided while waiting.
    """
    learner = PrivateWitnesses(concepts=Conjunctions(features), rounds=ROUNDS, epsilon=1.0)
    run, mistakes, sought = learner.start(rng=secure()), 0, set[int]()
    ones = (1,) * features
    beside = [(*ones[:f], 0, *ones[f + 1 :]) for f in range(features)]
    silent = np.ones((_BLOCK, features), dtype=np.uint8), np.ones(_BLOCK, dtype=np.uint8)
    while run.rounds_played < ROUNDS:
        rule, left = run.hypothesis, ROUNDS - _SHOWN - run.rounds_played
        if left > 0 and rule(ones):
            sought |= {f for f, x in enumerate(beside) if rule(x)}
        shown = [(ones, 1), *((x, int(f not in sought)) for f, x in enumerate(beside))]
        shown = [shown[0]] + [one for one in shown[1:] if left <= 0 or not one[1]]
        wrong = next(((x, y) for x, y in shown if rule(x) != y), None)
        if wrong is not None:
            run.observe(*wrong)
            mistakes += 1
        else:
            size = min(_BLOCK, max(left, 1))
            run.observe_many(silent[0][:size], silent[1][:size])
    return mistakes


def patient(points: int, wait: int) -> int:
    """Mistakes against an adversary that waits in every state, then keeps most dimensions.

    Of an interval on so many points; whatever fires by chance may be denied.
    """
    concepts = Intervals(points)
    learner = PrivateWitnesses(concepts=concepts, rounds=ROUNDS, epsilon=1.0)
    engine: Any = learner.engine(secure())
    engine.begin()
    space: Any = concepts.version_space()
    seen: Any = None
    shown: Any = None
    mistakes = 0
    while engine._round < ROUNDS:
        rule = engine.hypothesis
        if rule is not seen:  # rounds without a mistake, whatever they show
            seen = rule
            engine.passes(min(engine._round + wait, ROUNDS), rule)
            continue
        if shown is None or rule(shown[0]) == shown[1]:
            kept = [((x, 1 - rule(x)), space.restrict(x, 1 - rule(x))) for x in range(points)]
            possible = [pair for pair in kept if pair[1].dimension >= 0]
            if not possible:
                break
            shown, space = max(possible, key=lambda pair: pair[1].dimension)
        engine.step(*shown)
        mistakes += 1
    return mistakes


def _judged(what: str, value: float, target: float | None) -> Row:
    if target is None:
        return what, f"{value:.0f}", "", None
    return what, f"{value:.0f}", f"≤ {target:.0f}", value <= target
