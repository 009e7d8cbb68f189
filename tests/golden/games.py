"""The games whose transcripts are kept.

Every learner without privacy meets every adversary. Private learners, with seeded noise, meet one
that adapts and one that is noisy; those that promise nothing against the first meet a random one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tests.battery import ADVERSARIES, NEED_A_DIMENSION

from littlestone.choose.catalogue import LEARNERS as CATALOGUE
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.adversaries.attacks import fits
from littlestone.game.adversaries.random_stream import random_concept
from littlestone.game.adversaries.replay import Replay
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.lab.private_teachers.plan import TeachersPlan
from littlestone.lab.private_teachers.recipe import PrivateTeachers
from littlestone.learners.experts.play_experts import play_predictions
from littlestone.learners.experts.prediction_plan import PredictionPlan
from littlestone.learners.experts.private_prediction import PrivatePrediction
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.linear import Perceptron, Winnow
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon
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
PRIVATE_ROUNDS = 400
# The forests of Golowich and Livni learn nothing in so few rounds without far larger budgets.
SIZES: dict[str, tuple[ConceptClass, int, float]] = {
    "private-keys": (SparseSets(2, 4), PRIVATE_ROUNDS, 8.0),
    "private-witnesses": (Conjunctions(2), PRIVATE_ROUNDS, 8.0),
    "eager-forest": (Points(4), PRIVATE_ROUNDS, 200.0),
    "fresh-copies": (Points(4), 100, 400.0),
}


def replayed(concepts: ConceptClass) -> Replay:
    """Random points with one wrong label in the middle."""
    concept = random_concept(concepts, np.random.default_rng(SEED))
    points = concepts.domain.sample(200, np.random.default_rng(SEED))
    stream = [(x, concept(x)) for x in points if fits(concepts, concept, x)][:40]
    x, y = stream[20]
    stream[20] = (x, 1 - y)
    return Replay(concepts, stream)


@dataclass(frozen=True)
class Game:
    """A learner against an adversary, told in the way that suits the learner."""

    learner: Any
    adversary: Adversary

    def text(self) -> str:
        """The totals and the first rounds."""
        return play(self.learner, self.adversary, rounds=40, rng=seeded(SEED), record=24).text()


@dataclass(frozen=True)
class PrivateGame(Game):
    name: str

    def text(self) -> str:
        """The rounds in which the hypothesis changed; then the totals of the game in blocks.

        The learner goes by its name: how a recipe prints is not how it behaves.
        """
        rounds = self.learner.rounds or PRIVATE_ROUNDS
        one_by_one, in_blocks = (
            play(self.learner, self.adversary, rounds=rounds, rng=seeded(SEED), record=record)
            for record in (rounds, 0)
        )
        changes = tuple(
            entry
            for before, entry in pairwise(one_by_one.record)
            if entry.hypothesis != before.hypothesis
        )
        told = replace(one_by_one, learner=self.name, record=one_by_one.record[:1] + changes)
        return "\n".join((told.text(), replace(in_blocks, learner=f"{self.name}, blocks").text()))


@dataclass(frozen=True)
class PredictionGame(Game):
    def text(self) -> str:
        """The totals: no hypothesis is published."""
        told = play_predictions(
            self.learner, self.adversary, rounds=self.learner.rounds, rng=seeded(SEED)
        )
        return replace(told, learner="private-prediction").text()


def games() -> Iterator[tuple[str, list[Game]]]:
    """The name of each file, and the games in it."""
    adversaries = {**ADVERSARIES, "replay": replayed}
    for learner, (build, classes) in LEARNERS.items():
        for foe, build_foe in adversaries.items():
            if learner in KNOW_NO_DIMENSION and foe in NEED_A_DIMENSION:
                continue
            pairs = [Game(build(concepts), build_foe(concepts)) for concepts in classes]
            yield f"{learner}--{foe}.txt", pairs
    for name, recipe in private_learners().items():
        for foe in ("random" if recipe.oblivious_only else "mistake-forcing", "noisy"):
            adversary = ADVERSARIES[foe](recipe.concepts)
            yield f"{name}--{foe}.txt", [PrivateGame(recipe, adversary, name)]
    yield "private-prediction--mistake-forcing.txt", [predictions()]


def predictions() -> PredictionGame:
    """Few copies, which the noise does not hide, and a cap that is soon reached."""
    concepts = Thresholds(3)
    plan = PredictionPlan(copies=30, rate=0.15, cap=20, cap_epsilon=1.0)
    recipe = PrivatePrediction(
        concepts=concepts, rounds=PRIVATE_ROUNDS, epsilon=4.0, delta=0.01, plan=plan
    )
    return PredictionGame(recipe, ADVERSARIES["mistake-forcing"](concepts))


def private_learners() -> dict[str, Any]:
    """Every private learner of the catalogue, on sizes at which its hypothesis changes."""
    built = {
        name: entry.build(concepts, rounds=rounds, epsilon=epsilon, delta=0.01)
        for name, entry in CATALOGUE.items()
        if entry.private
        for concepts, rounds, epsilon in [SIZES.get(name, (Thresholds(3), PRIVATE_ROUNDS, 8.0))]
    }
    return {
        **built,
        "private-majority-cumulative": replace(built["private-majority"], evidence="cumulative"),
        "lazy-forest-points": CATALOGUE["lazy-forest"].build(
            Points(4), rounds=PRIVATE_ROUNDS, epsilon=8.0, delta=0.01
        ),
        "private-teachers": small_teachers(),
        "restarting": Restarting(learner=built["lazy-forest"]),
        "unknown-horizon": UnknownHorizon(learner=built["private-majority"], first_rounds=16),
    }


def small_teachers() -> PrivateTeachers:
    """With numbers set by hand: planned ones end no phase in less than a billion rounds."""
    plan = TeachersPlan(
        teachers=20,
        tolerance=1,
        mistakes=20,
        phases=20,
        count_epsilon=2.0,
        watch_epsilon=2.0,
        draw_epsilon=8.0,
        draw_delta=1e-4,
    )
    return PrivateTeachers(
        concepts=Thresholds(3), rounds=PRIVATE_ROUNDS, epsilon=200.0, delta=0.01, plan=plan
    )


def text_of(played: list[Game]) -> str:
    return "\n".join(game.text() for game in played)
