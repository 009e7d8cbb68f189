"""The classes, learners and adversaries that the tests of the game run through."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from littlestone.choose import catalogue
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.game.adversaries.boundary import Boundary, Contradiction, FreeLabels, NoisyBoundary
from littlestone.game.adversaries.mistake_forcing import (
    CoinTree,
    FrequentKiller,
    MistakeForcing,
    ShatteredTree,
)
from littlestone.game.adversaries.random_stream import Drifting, HiddenOnes, RandomStream
from littlestone.game.adversaries.spreading import KeepDimension, SpreadMistakes
from littlestone.game.adversaries.waiting import BurstAndWait, Wait, WaitDownTree
from littlestone.game.protocols import Adversary
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.linear import Perceptron, Winnow
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded

SCATTERED = FiniteClass(np.random.default_rng(3).integers(2, size=(24, 9)))
SCHEMA = Schema.from_mapping(
    {"delay": {"grid": [0, 15, 60]}, "carrier": {"values": ["UA", "AA", "B6"]}}
)

CLASSES: dict[str, ConceptClass] = {
    "thresholds": Thresholds(21),
    "one-point": Thresholds(1),
    "many-thresholds": Thresholds(2**40),
    "intervals": Intervals(9),
    "many-intervals": Intervals(2**30),
    "boxes": Boxes(2, 4),
    "many-boxes": Boxes(3, 2**20),
    "points": Points(),
    "few-points": Points(5),
    "sparse-sets": SparseSets(3),
    "small-sparse-sets": SparseSets(2, 6),
    "conjunctions": Conjunctions(3),
    "stumps": Stumps(SCHEMA, depth=2),
    "disjunctions": MonotoneDisjunctions(2, 4),
    "halfspaces": MarginHalfspaces(2, 0.25),
    "scattered": SCATTERED,
    "single": FiniteClass([[0, 1, 1]]),
}
WITHOUT_DIMENSION = ("halfspaces", "disjunctions", "boxes", "many-boxes")

ADVERSARIES: dict[str, Callable[[Any], Adversary]] = {
    "mistake-forcing": MistakeForcing,
    "shattered-tree": ShatteredTree,
    "spread-mistakes": SpreadMistakes,
    "keep-dimension": KeepDimension,
    "frequent-killer": FrequentKiller,
    "coin-tree": CoinTree,
    "hidden-ones": lambda concepts: HiddenOnes(concepts, within=40, length=8),
    "wait": lambda concepts: Wait(concepts, within=20, most=64),
    "burst-and-wait": lambda concepts: BurstAndWait(concepts, burst=5, within=20, most=64),
    "wait-down-tree": lambda concepts: WaitDownTree(concepts, stage=20, within=10),
    "boundary": Boundary,
    "random": RandomStream,
    "noisy": lambda concepts: RandomStream(concepts, noise_rate=0.2),
    "drifting": lambda concepts: Drifting(concepts, period=30),
    "noisy-boundary": NoisyBoundary,
    "free-labels": FreeLabels,
    "contradiction": Contradiction,
}
AGNOSTIC = ("noisy", "drifting", "noisy-boundary", "free-labels", "contradiction")
REALIZABLE = [name for name in ADVERSARIES if name not in AGNOSTIC]
NEED_A_DIMENSION = ("shattered-tree", "keep-dimension", "coin-tree", "wait-down-tree")


# Learners that are not for every finite class, and a class that they take.
TAKES: dict[str, ConceptClass] = {
    "private-keys": SparseSets(3, 3),
    "private-witnesses": Thresholds(3),
}


def built(concepts: ConceptClass, *, private: bool = True, **budget: Any) -> dict[str, Any]:
    """The learners of the catalogue by name, for this class or for the one that they take."""
    return {
        name: entry.build(TAKES.get(name, concepts), **budget)
        for name, entry in catalogue.LEARNERS.items()
        if entry.private or not private
    }


def adversaries_for(concepts: str) -> list[str]:
    """The names of the adversaries that can play over a class."""
    known = concepts not in WITHOUT_DIMENSION
    return [name for name in ADVERSARIES if known or name not in NEED_A_DIMENSION]


def learners_for(concepts: str) -> dict[str, Any]:
    """The deterministic learners of a class."""
    space = CLASSES[concepts]
    learners: dict[str, Any] = {}
    if concepts not in WITHOUT_DIMENSION:
        learners["standard-optimal"] = StandardOptimal(space)
    if space.size is not None and space.domain.size is not None and space.size < 2**10:
        learners["halving"] = Halving(space)
    if concepts in ("thresholds", "few-points", "single"):
        learners["sparse-majority"] = SparseMajority(space)
    if isinstance(space, MarginHalfspaces):
        learners["perceptron"] = Perceptron(space)
    if isinstance(space, MonotoneDisjunctions):
        learners["winnow"] = Winnow(space)
    return learners


def check_a_saved_run(learner: Any, xs: Sequence[Any], ys: Sequence[int], *, at: int) -> None:
    """Saved after ``at`` rounds and restored, it goes on like one that was never saved."""
    run, other = (learner.start(rng=seeded(2)) for _ in range(2))
    for x, y in zip(xs[:at], ys[:at], strict=True):
        run.observe(x, y)
        other.observe(x, y)
    restored = learner.restore(run.snapshot())
    for x, y in zip(xs[at:], ys[at:], strict=True):
        restored.observe(x, y)
        other.observe(x, y)
    assert restored.hypothesis == other.hypothesis and restored.switches == other.switches
