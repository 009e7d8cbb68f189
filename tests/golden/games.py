"""The games whose transcripts are kept: every learner without privacy against every adversary."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.battery import ADVERSARIES, LEARNERS

from littlestone.adversaries.replay import Replay
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.sparse_sets import SparseSets
from littlestone.concepts.thresholds import Thresholds
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.randomness import seeded

TRANSCRIPTS = Path(__file__).parent / "transcripts"
CLASSES: tuple[ConceptClass, ...] = (Thresholds(12), SparseSets(2, 5))
SEED = 2024


def replayed(concepts: ConceptClass) -> Replay:
    """A stream with one label that no concept fits with the others."""
    points = [1, 4, 2, 0, 3, 4, 1, 2, 3, 0] * 4
    stream = [(x, int(x == 4)) for x in points]
    stream[20] = (4, 0)
    return Replay(concepts, stream)


def games() -> Iterator[tuple[str, list[tuple[Any, Adversary]]]]:
    """The name of each file, and the games in it."""
    adversaries = {**ADVERSARIES, "replay": replayed}
    for learner, build in LEARNERS.items():
        for foe, build_foe in adversaries.items():
            pairs = [(build(concepts), build_foe(concepts)) for concepts in CLASSES]
            yield f"{learner}--{foe}.txt", pairs


def text_of(pairs: list[tuple[Any, Adversary]]) -> str:
    played = (
        play(learner, adversary, rounds=40, rng=seeded(SEED), record=24)
        for learner, adversary in pairs
    )
    return "\n".join(transcript.text() for transcript in played)
