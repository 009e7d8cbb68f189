"""Littlestone dimensions by branch and bound, on classes given as plain matrices."""

import time
from collections.abc import Iterator

import numpy as np

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass

Row = tuple[str, str, str, bool | None]


def measure() -> Iterator[Row]:
    yield _matrix("Intervals(64) as a matrix", Intervals(64), 0.2)
    yield _matrix("Conjunctions(5) as a matrix", Conjunctions(5), 0.01)
    yield _unbalanced()
    started = time.perf_counter()
    found = Thresholds(2**40).littlestone_dimension
    seconds = time.perf_counter() - started
    yield (
        f"Thresholds(2**40) in closed form: {found}",
        f"{seconds * 1e6:.0f} µs",
        "at once (< 1 ms)",
        seconds < 1e-3,
    )


def _matrix(name: str, concepts: ConceptClass, target: float) -> Row:
    best = float("inf")
    for _ in range(3):
        table = FiniteClass.from_class(concepts)  # fresh: nothing is remembered from the last time
        started = time.perf_counter()
        found = table.littlestone_dimension
        best = min(best, time.perf_counter() - started)
    return (
        f"{name} ({table.size} concepts): {found}",
        f"{best:.4f} s",
        f"<= {target} s",
        best <= target,
    )


def _unbalanced() -> Row:
    """A random matrix in which three labels of ten are 1: many splits are nearly good enough."""
    labels = (np.random.default_rng(1).random((3000, 300)) < 0.3).astype(np.uint8)
    table = FiniteClass(np.unique(labels, axis=0))
    started = time.process_time()
    found = table.littlestone_dimension
    seconds = time.process_time() - started
    return (
        f"3,000 × 300 random labels, 30 % ones: {found}",
        f"{seconds:.2f} s",
        "<= 1 s",
        seconds <= 1,
    )
