"""Learning from constructed experts: whole runs, and the learner that the experts follow."""

import time
from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.randomness import secure, seeded

Row = tuple[str, str, str, bool | None]


def measure() -> Iterator[Row]:
    yield run(Points(), 100_000, 1.0, target=60.0)
    yield run(Points(), 100_000, 1.0, experts="shrinking-dartboard")
    yield run(Thresholds(7), 20_000, 8.0)
    yield majorities()


def run(
    concepts: ConceptClass,
    rounds: int,
    epsilon: float,
    *,
    experts: str = "exponential-weights",
    target: float | None = None,
) -> Row:
    """A whole game with labels that are wrong one time in ten."""
    recipe = SanitizedExperts(
        concepts=concepts, rounds=rounds, epsilon=epsilon, delta=1e-6, experts=experts
    )
    xs, ys = stream(concepts, rounds)
    learning, mistakes = recipe.start(rng=secure()), 0
    began = time.perf_counter()
    for x, y in zip(xs, ys, strict=True):
        mistakes += learning.hypothesis(x) != y
        learning.observe(x, y)
    taken = time.perf_counter() - began
    counts = Counter(zip(xs, ys, strict=True))
    tally: dict[Hashable, tuple[int, int]] = {x: (counts[x, 0], counts[x, 1]) for x in set(xs)}
    regret = mistakes - concepts.fewest_mistakes(tally)
    bound = recipe.regret_bound(failure_probability=0.05)
    return (
        f"SanitizedExperts, {concepts!r}, T = {rounds:,}, ε = {epsilon:g}, {experts}",
        f"{taken:.1f} s, regret {regret:,} (bound {bound:,.0f})",
        "" if target is None else f"≤ {target:g} s",
        None if target is None else taken <= target,
    )


def stream(concepts: ConceptClass, rounds: int) -> tuple[list[int], list[int]]:
    """Few keys that come often and many that do not; the labels of one concept, mostly."""
    generator = np.random.Generator(np.random.PCG64DXSM(1))
    size = concepts.domain.size
    keys = generator.zipf(1.3, rounds) if size is None else generator.integers(size, size=rounds)
    ones = keys == 1 if size is None else keys >= size // 3
    return keys.tolist(), (ones ^ (generator.random(rounds) < 0.1)).astype(int).tolist()


def majorities() -> Row:
    """Mistakes of the sparse-majority learner on random labels, without any memo to begin with."""
    matrix = seeded(1).generator().integers(2, size=(60, 12))
    learner = SparseMajority(FiniteClass(matrix))
    generator = np.random.Generator(np.random.PCG64DXSM(2))
    began, count, state = time.perf_counter(), 0, learner.start()
    for x in generator.integers(12, size=200).tolist():
        state = learner.start() if state.exhausted else state
        state = state.after(x, 1 - state.hypothesis(x))
        count += 1
    each = (time.perf_counter() - began) / count
    return "SparseMajority, 60 concepts, 12 points", f"{1e3 * each:.1f} ms per mistake", "", None
