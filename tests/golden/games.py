"""The games whose transcripts are kept: every learner without privacy against every adversary."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.battery import ADVERSARIES, NEED_A_DIMENSION

from littlestone.adversaries.fitting import fits
from littlestone.adversaries.random_concept import random_concept
from littlestone.adversaries.replay import Replay
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.online.halving import Halving
from littlestone.online.perceptron import Perceptron
from littlestone.online.sparse_majority.recipe import SparseMajority
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.online.winnow import Winnow
from littlestone.randomness import seeded

TRANSCRIPTS = Path(__file__).parent / "transcripts"
SEED = 2024

SMALL = FiniteClass([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]])
FINITE = (Thresholds(12), SparseSets(2, 5))
LEARNERS: dict[str, tuple[Callable[[Any], Any], tuple[ConceptClass, ...]]] = {
    "standard-optimal": (StandardOptimal, FINITE),
    "halving": (Halving, FINITE),
    "sparse-majority": (SparseMajority, (Thresholds(12), SMALL)),
    "perceptron": (Perceptron, (MarginHalfspaces(2, 0.5),)),
    "winnow": (Winnow, (MonotoneDisjunctions(2, 4),)),
}
KNOW_NO_DIMENSION = ("perceptron", "winnow")


def replayed(concepts: ConceptClass) -> Replay:
    """Random points with one wrong label in the middle."""
    concept = random_concept(concepts, np.random.default_rng(SEED))
    points = concepts.domain.sample(200, np.random.default_rng(SEED))
    stream = [(x, concept(x)) for x in points if fits(concepts, concept, x)][:40]
    x, y = stream[20]
    stream[20] = (x, 1 - y)
    return Replay(concepts, stream)


def games() -> Iterator[tuple[str, list[tuple[Any, Adversary]]]]:
    """The name of each file, and the games in it."""
    adversaries = {**ADVERSARIES, "replay": replayed}
    for learner, (build, classes) in LEARNERS.items():
        for foe, build_foe in adversaries.items():
            if learner in KNOW_NO_DIMENSION and foe in NEED_A_DIMENSION:
                continue
            pairs = [(build(concepts), build_foe(concepts)) for concepts in classes]
            yield f"{learner}--{foe}.txt", pairs


def text_of(pairs: list[tuple[Any, Adversary]]) -> str:
    played = (
        play(learner, adversary, rounds=40, rng=seeded(SEED), record=24)
        for learner, adversary in pairs
    )
    return "\n".join(transcript.text() for transcript in played)
