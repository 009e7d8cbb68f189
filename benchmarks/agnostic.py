"""Regret of worst-case agnostic learning against four adversaries, and its rounds per second.

Thresholds on 99 points, (epsilon, 1e-6); the target concept of random and attacking streams is
x >= 59, each label wrong with probability 0.1. Regrets are means over a few games from secure bits,
with the standard error of the mean. Rates and times are of the processor, not of the clock on the
wall. The whole takes about seven minutes of one processor, most of them for adaptive adversaries,
who play round by round.
"""

import time
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any, Final

import numpy as np

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.boundary import Contradiction, FreeLabels, NoisyBoundary
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

CONCEPTS: Final = Thresholds(99)
TARGET: Final = CONCEPTS.concept(59)
DELTA: Final = 1e-6
GAMES: Final = 5
ADVERSARIES: Final[dict[str, Any]] = {
    "random": RandomStream(CONCEPTS, concept=TARGET, noise_rate=0.1),
    "attack": NoisyBoundary(CONCEPTS, target=TARGET, noise_rate=0.1),
    "free labels": FreeLabels(CONCEPTS),
    "mid": Contradiction(CONCEPTS),
}


def measure() -> Iterator[Row]:
    for epsilon, most in ((1.0, 2300), (0.1, 7000)):
        yield from _worst(epsilon, most)
    yield from _oblivious(10**5, 300, 850)
    yield from _oblivious(10**6, 450, None)
    yield from _attacked()
    yield from _rates()


def _learner(rounds: int, epsilon: float = 1.0, **given: Any) -> AgnosticFinite:
    return AgnosticFinite(concepts=CONCEPTS, rounds=rounds, epsilon=epsilon, delta=DELTA, **given)


def _regrets(learner: AgnosticFinite, adversary: Any, games: int = GAMES) -> list[int]:
    played = [
        play(learner, adversary, rounds=learner.rounds, rng=secure(), even_if_oblivious_only=True)
        for _ in range(games)
    ]
    return [game.regret or 0 for game in played]


def _told(regrets: list[int]) -> str:
    return f"{mean(regrets):,.0f} ± {stdev(regrets) / len(regrets) ** 0.5:,.0f}"


def _worst(epsilon: float, most: int) -> Iterator[Row]:
    learner, worst = _learner(10**5, epsilon), 0.0
    what = f"adaptive, 10⁵ rounds, ε = {epsilon:g}"
    for name, adversary in ADVERSARIES.items():
        regrets = _regrets(learner, adversary, 3 * GAMES)  # they differ by a sixth of their mean
        worst = max(worst, mean(regrets))
        yield f"{what}: {name}", _told(regrets), "", None
    bound = learner.expected_regret_bound()
    told = f"{worst:,.0f} (bound {bound:,.0f})"
    yield f"{what}: worst of four", told, f"at most {most:,}", worst <= most


def _oblivious(rounds: int, most: int, most_bound: int | None) -> Iterator[Row]:
    learner = _learner(rounds, adversary="oblivious")
    began = time.process_time()
    regrets = _regrets(learner, ADVERSARIES["random"])
    each = (time.process_time() - began) / len(regrets) / rounds
    what = f"oblivious, {rounds:,} rounds, ε = 1"
    yield f"{what}: regret", _told(regrets), f"at most {most}", mean(regrets) <= most
    yield f"{what}: time of a round", f"{each * 1e6:.1f} µs", "at most 15 µs", each <= 15e-6
    bound = learner.expected_regret_bound()
    reached = None if most_bound is None else bound <= most_bound
    yield f"{what}: bound", f"{bound:,.0f}", f"at most {most_bound}" if most_bound else "", reached
    run, few = learner.start(), 10**4
    run.follow([0] * few, [0] * few)
    size = len(run.snapshot())
    yield f"{what}: state", f"{size / 1e6:.2f} MB", "at most 2 MB", size <= 2 * 10**6


def _attacked() -> Iterator[Row]:
    """What holding a rule, and correlated noise, come to against who attacks what is shown."""
    board = ShrinkingDartboard(experts=CONCEPTS.size, rounds=10**5, epsilon=1.0, delta=DELTA)
    kept = _learner(10**5, adversary="oblivious", experts=board)
    (regret,) = _regrets(kept, ADVERSARIES["free labels"], 1)
    yield "shrinking dartboard against free labels, 10⁵ rounds", f"{regret:,.0f}", "", None
    correlated = _learner(10**5, adversary="oblivious")
    (regret,) = _regrets(correlated, ADVERSARIES["mid"], 1)
    yield "oblivious noisy losses against mid, 10⁵ rounds", f"{regret:,.0f}", "", None


def _rates() -> Iterator[Row]:
    generator = np.random.default_rng(1)
    rounds = 4 * 10**6
    points = generator.integers(99, size=rounds)
    labels = ((points >= 59) ^ (generator.random(rounds) < 0.1)).astype(np.uint8)
    run = _learner(rounds).start()
    run.follow(points[: 10**5], labels[: 10**5])
    began = time.process_time()
    run.follow(points[10**5 :], labels[10**5 :])
    yield _rate_row("adaptive, one block", (rounds - 10**5) / (time.process_time() - began), 1e7)
    run = _learner(2 * 10**5).start()
    examples = list(zip(points[: 2 * 10**5].tolist(), labels[: 2 * 10**5].tolist(), strict=True))
    began = time.process_time()
    for x, y in examples:
        run.hypothesis(x)
        run.observe(x, y)
    yield _rate_row("adaptive, singly", len(examples) / (time.process_time() - began), 3e5)


def _rate_row(what: str, rate: float, target: float) -> Row:
    return what, f"{rate:,.0f} rounds/s", f"{target:,.0f}", rate >= target
