"""Regret of worst-case agnostic learning against four adversaries, and its rounds per second.

Thresholds on 99 points, (epsilon, 1e-6); the target concept of random and attacking streams is
x >= 59, each label wrong with probability 0.1. Regrets are means over a few games from secure bits.
"""

import time
from collections.abc import Iterator
from statistics import mean
from typing import Any, Final

import numpy as np

from littlestone.adversaries.contradiction import Contradiction, FreeLabels, NoisyBoundary
from littlestone.adversaries.random_stream import RandomStream
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

CONCEPTS: Final = Thresholds(99)
TARGET: Final = CONCEPTS.concept(59)
DELTA: Final = 1e-6
GAMES: Final = 3
ADVERSARIES: Final[dict[str, Any]] = {
    "random": RandomStream(CONCEPTS, concept=TARGET, noise_rate=0.1),
    "attack": NoisyBoundary(CONCEPTS, target=TARGET, noise_rate=0.1),
    "free labels": FreeLabels(CONCEPTS),
    "mid": Contradiction(CONCEPTS),
}


def measure() -> Iterator[Row]:
    for epsilon, most in ((1.0, 2300), (0.1, 7000)):
        yield _worst(epsilon, most)
    yield from _oblivious(10**5, 300, 850)
    yield from _oblivious(10**6, 450, None)
    yield from _attacked()
    yield from _rates()


def _learner(rounds: int, epsilon: float = 1.0, **given: Any) -> AgnosticFinite:
    return AgnosticFinite(concepts=CONCEPTS, rounds=rounds, epsilon=epsilon, delta=DELTA, **given)


def _regret(learner: AgnosticFinite, adversary: Any, games: int = GAMES) -> float:
    played = [
        play(learner, adversary, rounds=learner.rounds, rng=secure(), even_if_oblivious_only=True)
        for _ in range(games)
    ]
    return mean(game.regret or 0 for game in played)


def _worst(epsilon: float, most: int) -> Row:
    learner = _learner(10**5, epsilon)
    regrets = {name: _regret(learner, adversary) for name, adversary in ADVERSARIES.items()}
    told = ", ".join(f"{name} {regret:,.0f}" for name, regret in regrets.items())
    bound = learner.expected_regret_bound()
    return (
        f"adaptive, 10⁵ rounds, ε = {epsilon:g}: worst of four",
        f"{max(regrets.values()):,.0f} ({told}; bound {bound:,.0f})",
        f"at most {most:,}",
        max(regrets.values()) <= most,
    )


def _oblivious(rounds: int, most: int, most_bound: int | None) -> Iterator[Row]:
    learner = _learner(rounds, adversary="oblivious")
    began = time.perf_counter()
    regret = _regret(learner, ADVERSARIES["random"], GAMES if rounds < 10**6 else 1)
    seconds = time.perf_counter() - began
    what = f"oblivious, {rounds:,} rounds, ε = 1"
    yield f"{what}: regret", f"{regret:,.0f} in {seconds:.0f} s", f"at most {most}", regret <= most
    bound = learner.expected_regret_bound()
    reached = None if most_bound is None else bound <= most_bound
    yield f"{what}: bound", f"{bound:,.0f}", f"at most {most_bound}" if most_bound else "", reached


def _attacked() -> Iterator[Row]:
    """What holding a rule, and correlated noise, come to against who attacks what is shown."""
    board = ShrinkingDartboard(experts=CONCEPTS.size, rounds=10**5, epsilon=1.0, delta=DELTA)
    kept = _learner(10**5, adversary="oblivious", experts=board)
    regret = _regret(kept, ADVERSARIES["free labels"], 1)
    yield "shrinking dartboard against free labels, 10⁵ rounds", f"{regret:,.0f}", "", None
    correlated = _learner(10**5, adversary="oblivious")
    regret = _regret(correlated, ADVERSARIES["mid"], 1)
    yield "oblivious noisy losses against mid, 10⁵ rounds", f"{regret:,.0f}", "", None


def _rates() -> Iterator[Row]:
    generator = np.random.default_rng(1)
    rounds = 4 * 10**6
    points = generator.integers(99, size=rounds)
    labels = ((points >= 59) ^ (generator.random(rounds) < 0.1)).astype(np.uint8)
    run = _learner(rounds).start()
    run.follow(points[: 10**5], labels[: 10**5])
    began = time.perf_counter()
    run.follow(points[10**5 :], labels[10**5 :])
    yield _rate_row("adaptive, one block", (rounds - 10**5) / (time.perf_counter() - began), 1e7)
    run = _learner(2 * 10**5).start()
    examples = list(zip(points[: 2 * 10**5].tolist(), labels[: 2 * 10**5].tolist(), strict=True))
    began = time.perf_counter()
    for x, y in examples:
        run.hypothesis(x)
        run.observe(x, y)
    yield _rate_row("adaptive, singly", len(examples) / (time.perf_counter() - began), 3e5)


def _rate_row(what: str, rate: float, target: float) -> Row:
    return what, f"{rate:,.0f} rounds/s", f"{target:,.0f}", rate >= target
