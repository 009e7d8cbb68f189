"""The classes, learners and adversaries that the tests of the game run through."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from littlestone.adversaries.boundary import Boundary
from littlestone.adversaries.drifting import Drifting
from littlestone.adversaries.frequent_killer import FrequentKiller
from littlestone.adversaries.keep_dimension import KeepDimension
from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.adversaries.random_stream import RandomStream
from littlestone.adversaries.shattered_tree import ShatteredTree
from littlestone.adversaries.spread_mistakes import SpreadMistakes
from littlestone.concepts.finite import FiniteClass
from littlestone.concepts.intervals import Intervals
from littlestone.concepts.points import Points
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.sparse_sets import SparseSets
from littlestone.concepts.thresholds import Thresholds
from littlestone.game.protocols import Adversary
from littlestone.online.halving import Halving
from littlestone.online.standard_optimal import StandardOptimal

SCATTERED = FiniteClass(np.random.default_rng(3).integers(2, size=(24, 9)))

CLASSES: dict[str, ConceptClass] = {
    "thresholds": Thresholds(21),
    "one-point": Thresholds(1),
    "many-thresholds": Thresholds(2**40),
    "intervals": Intervals(9),
    "many-intervals": Intervals(2**30),
    "points": Points(),
    "few-points": Points(5),
    "sparse-sets": SparseSets(3),
    "small-sparse-sets": SparseSets(2, 6),
    "scattered": SCATTERED,
    "single": FiniteClass([[0, 1, 1]]),
}

LEARNERS: dict[str, Callable[[ConceptClass], Any]] = {
    "standard-optimal": StandardOptimal,
    "halving": Halving,
}

ADVERSARIES: dict[str, Callable[[ConceptClass], Adversary]] = {
    "mistake-forcing": MistakeForcing,
    "shattered-tree": ShatteredTree,
    "spread-mistakes": SpreadMistakes,
    "keep-dimension": KeepDimension,
    "frequent-killer": FrequentKiller,
    "boundary": Boundary,
    "random": RandomStream,
    "noisy": lambda concepts: RandomStream(concepts, noise_rate=0.2),
    "drifting": lambda concepts: Drifting(concepts, period=30),
}

REALIZABLE = [name for name in ADVERSARIES if name not in ("noisy", "drifting")]


def learners_for(concepts: ConceptClass) -> Iterator[tuple[str, Any]]:
    """The learners that can learn ``concepts`` at all."""
    for name, build in LEARNERS.items():
        try:
            yield name, build(concepts)
        except ValueError:
            assert name == "halving"  # needs a class that fits in a table
