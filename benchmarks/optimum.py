"""Certified values of tiny games: how many, how narrow, and that no floor is above.

``OPTIMUM`` is the largest number of histories up to symmetry of a game that is solved (13,000).
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from littlestone.choose.catalogue import class_from_spec
from littlestone.cli.optimum import with_silence
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.lab.tiny_games import floors_of
from littlestone.theory.optimum.mistakes import optimal_mistakes

Row = tuple[str, str, str, bool | None]

WANTED = 200
NARROW = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
DELTAS = (0.0, 0.001, 0.05)
LONGEST = {"points:1": 5, "points:2": 4, "thresholds:2": 3, "points:3": 3, "thresholds:3": 3}
"""Classes and how many rounds are played on them, from 2 on; others are played for two."""
TWO_ROUNDS = ("points:4", "points:5", "thresholds:4", "intervals:2", "conjunctions:1")
CUBES = {2: 3, 3: 3}
"""All functions on so many points, and how many rounds."""


@dataclass
class Found:
    """What came of all games."""

    certified: int = 0
    widest: float = 0.0
    above: list[str] = field(default_factory=list)
    sharpest: float = 0.0
    too_large: int = 0


def measure() -> Iterator[Row]:
    """One row for each question; the games are listed on the way."""
    found, started = Found(), time.perf_counter()
    for name, concepts, rounds in games():
        for epsilon, delta in product(EPSILONS, DELTAS):
            solve(found, name, concepts, rounds, epsilon, delta)
    seconds = time.perf_counter() - started
    wide, above = found.widest, len(found.above)
    count = found.certified
    yield "games with a certificate", f"{count} in {seconds:.0f} s", f"{WANTED}", count >= WANTED
    yield "widest interval", f"{wide:.1e}", f"{NARROW:.0e}", wide <= NARROW
    yield "floors above the value", f"{above} {found.above[:3] or ''}", "0", above == 0
    yield "largest floor / value", f"{found.sharpest:.4f}", "at most 1", found.sharpest <= 1
    yield "games that were too large", f"{found.too_large}", "", None


def games() -> Iterator[tuple[str, ConceptClass, int]]:
    """Every class without and with a point at which all concepts agree, and every horizon."""
    specs = {**LONGEST, **dict.fromkeys(TWO_ROUNDS, 2)}
    classes = {spec: (class_from_spec(spec), longest) for spec, longest in specs.items()}
    for points, longest in CUBES.items():
        cube = FiniteClass(list(product((0, 1), repeat=points)))
        classes[f"all functions on {points} points"] = cube, longest
    for name, (concepts, longest) in classes.items():
        for rounds in range(2, longest + 1):
            yield name, concepts, rounds
            yield f"{name} and silence", with_silence(concepts), rounds


def solve(
    found: Found, name: str, concepts: ConceptClass, rounds: int, epsilon: float, delta: float
) -> None:
    most = int(os.environ.get("OPTIMUM", "13000"))
    game = {"epsilon": epsilon, "delta": delta}
    try:
        value = optimal_mistakes(concepts, rounds=rounds, most=most, **game)
    except LittlestoneError:
        found.too_large += 1
        return
    found.certified += 1
    found.widest = max(found.widest, value.width)
    for floor in floors_of(concepts, rounds=rounds, **game):
        if Fraction(floor.mistakes) > value.high:
            found.above.append(f"{floor.name}: {name}, T = {rounds}, {epsilon}, {delta}")
        found.sharpest = max(found.sharpest, floor.mistakes / float(value.high))
