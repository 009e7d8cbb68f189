"""Rounds per second and regret of prediction from experts, from secure bits."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.exponential_weights import ExponentialWeights, Hedge
from littlestone.learners.experts.play_experts import ObliviousLosses, play_experts
from littlestone.learners.experts.protocols import ExpertsRecipe
from littlestone.learners.experts.run import ExpertsRun
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import Randomness, secure, seeded

Row = tuple[str, str, str, bool | None]

ROUNDS = 10**6
EPSILON, DELTA = 1.0, 1e-6
REGRET_EXPERTS = 100
GAP = 0.2
LARGE_CLASS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """Independent losses, 1 with a probability that rises evenly from 1/2 - ``gap`` to 1/2."""

    experts: int
    gap: float

    adaptive: ClassVar[bool] = False

    def start(self, *, rng: Randomness) -> ObliviousLosses:
        generator, chances = rng.generator(), np.linspace(0.5 - self.gap, 0.5, self.experts)
        return ObliviousLosses(
            lambda count: (generator.random((count, self.experts)) < chances).astype(np.uint8)
        )


def measure() -> Iterator[Row]:
    for experts, rounds, target in ((1024, 50_000, 3e4), (65_536, 5_000, 5e2)):
        rate = _one_by_one(_weights(experts), rounds)
        yield _rate_row(f"ExponentialWeights, {experts:,} experts", rate, target)
    board = _dartboard(1024)
    yield _rate_row("ShrinkingDartboard, 1,024 experts, in blocks", _in_blocks(board, 400_000), 1e5)
    rate = _one_by_one(board, 100_000)
    yield "ShrinkingDartboard, 1,024 experts, round by round", f"{rate:,.0f} rounds/s", "", None
    yield _planning()
    yield from _regrets()
    yield from _large_class()


def _weights(experts: int) -> ExponentialWeights:
    return ExponentialWeights(experts=experts, rounds=ROUNDS, epsilon=EPSILON, delta=DELTA)


def _dartboard(experts: int) -> ShrinkingDartboard:
    return ShrinkingDartboard(experts=experts, rounds=ROUNDS, epsilon=EPSILON, delta=DELTA)


def _losses(experts: int) -> np.ndarray:
    return (seeded(1).generator().random((512, experts)) < 0.5).astype(np.uint8)


def _one_by_one(recipe: ExpertsRecipe, rounds: int) -> float:
    run, rows = ExpertsRun(recipe, secure()), list(_losses(recipe.experts))
    begun = time.perf_counter()
    for number in range(rounds):
        run.play()
        run.observe(rows[number % 512])
    return rounds / (time.perf_counter() - begun)


def _in_blocks(recipe: ExpertsRecipe, rounds: int) -> float:
    run, rows, played = ExpertsRun(recipe, secure()), _losses(recipe.experts), 0
    begun = time.perf_counter()
    while played < rounds:
        run.play()
        played += run.observe_many(rows[played % 512 :])
    return played / (time.perf_counter() - begun)


def _planning() -> Row:
    begun = time.perf_counter()
    ShrinkingDartboard(experts=12_345, rounds=ROUNDS - 1, epsilon=EPSILON, delta=DELTA)
    return "plan of a ShrinkingDartboard", f"{time.perf_counter() - begun:.2f} s", "", None


def _regrets() -> Iterator[Row]:
    """A hundred experts, the best of which is better than the worst by a fifth.

    (Where only one of them is better, the bounds are met with equality.)
    """
    adversary = Graded(experts=REGRET_EXPERTS, gap=GAP)
    targets = (("ShrinkingDartboard", _dartboard, 2650), ("ExponentialWeights", _weights, 2.1e4))
    for name, make, target in targets:
        recipe = make(REGRET_EXPERTS)
        bound = recipe.expected_regret_bound()
        yield f"{name}: regret bound", f"{bound:,.0f}", f"<= {target:,.0f}", bound <= target
        regret = play_experts(recipe, adversary, rounds=ROUNDS, rng=secure()).known_regret
        yield f"{name}: measured regret", f"{regret:,}", f"<= {bound:,.0f}", regret <= bound
    plain = Hedge(experts=REGRET_EXPERTS, rounds=ROUNDS)
    regret = play_experts(plain, adversary, rounds=ROUNDS, rng=secure()).known_regret
    yield "Hedge, not private: measured regret", f"{regret:,}", "", None


def _large_class() -> Iterator[Row]:
    concepts = Thresholds(LARGE_CLASS - 1)
    generator = seeded(2).generator()
    xs = generator.integers(concepts.n, size=200_000)
    ys = ((xs > concepts.n // 3) ^ (generator.random(len(xs)) < 0.1)).astype(np.uint8)
    kinds: list[tuple[Literal["oblivious", "adaptive"], int]]
    kinds = [("oblivious", 200_000), ("adaptive", 20_000)]
    for adversary, rounds in kinds:
        run = AgnosticFinite(
            concepts=concepts, rounds=ROUNDS, epsilon=EPSILON, delta=DELTA, adversary=adversary
        ).start()
        begun, played = time.perf_counter(), 0
        while played < rounds:
            played += run.observe_many(xs[played : played + 64], ys[played : played + 64])
        rate = played / (time.perf_counter() - begun)
        yield f"AgnosticFinite, 10^6 thresholds, {adversary}", f"{rate:,.0f} rounds/s", "", None


def _rate_row(name: str, rate: float, target: float) -> Row:
    return name, f"{rate:,.0f} rounds/s", f">= {target:,.0f} rounds/s", rate >= target
