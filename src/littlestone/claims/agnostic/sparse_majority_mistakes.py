"""Majorities of few concepts predict with O(d) mistakes [P, Lemma online_majority]."""

import numpy as np

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.adversaries.shattered_tree import ShatteredTree
from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.rows import Row, tabulate
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.online.sparse_majority.recipe import SparseMajority
from littlestone.randomness import Randomness

QUICK: tuple[ConceptClass, ...] = (
    Thresholds(100),
    Points(),
    SparseSets(3),
    FiniteClass(np.eye(5, dtype=int)),
    FiniteClass(np.eye(30, dtype=int)),
    Intervals(6),
    Conjunctions(3),
)
FULL: tuple[ConceptClass, ...] = (*QUICK, Thresholds(2**40), Intervals(12), Conjunctions(4))
RANDOM = {False: (4, 16, 7), True: (20, 40, 10)}
"""How many random classes, with how many concepts and points: quick and full."""


def predicted(learner: SparseMajority) -> float:
    """c(margin) times the Littlestone dimension."""
    return learner.mistake_factor * learner.concepts.littlestone_dimension


def measured(learner: SparseMajority, rng: Randomness) -> Row:
    """Mistakes against the adversaries that force most, and the largest jury on the way."""
    concepts = learner.concepts
    foes: dict[str, Adversary] = {
        "shattered tree": ShatteredTree(concepts=concepts),
        "mistake forcing": MistakeForcing(concepts=concepts),
    }
    rounds = 8 * concepts.littlestone_dimension + 4
    games = {
        name: play(learner, foe, rounds=rounds, record=rounds, rng=rng)
        for name, foe in foes.items()
    }
    return {
        "class": repr(concepts),
        "dimension": concepts.littlestone_dimension,
        "c(1/8)·d": round(predicted(learner), 1),
        **{name: game.mistakes for name, game in games.items()},
        "largest jury": max(_jury(r.hypothesis) for game in games.values() for r in game.record),
        "votes allowed": learner.votes,
    }


def _jury(hypothesis: Hypothesis) -> int:
    """How many concepts a predictor is a majority of."""
    return len(hypothesis.members) if isinstance(hypothesis, MajorityVote) else 1


def classes(full: bool, rng: Randomness) -> list[ConceptClass]:
    """The named classes, and random ones."""
    count, concepts, points = RANDOM[full]
    generator = rng.generator()
    random = [FiniteClass(generator.integers(2, size=(concepts, points))) for _ in range(count)]
    return [*(FULL if full else QUICK), *random]


@claimed(
    says="Majorities of few concepts predict with at most c·d mistakes; here c(1/8) = 7.2.",
    source="[P], Lemma E.9 (lem:online_majority), after [HLM21]; constants of our proof",
    setting="ten structured and twenty random classes, two adaptive adversaries (quick: 7 and 4)",
    judged="a mistake above c·d or a vote above m refutes it; no run confirms it",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Compare on every class; one mistake too many, or one vote, refutes the claim."""
    learners = [SparseMajority(concepts) for concepts in classes(full, rng)]
    rows = tabulate(learners, lambda learner: measured(learner, rng), progress)
    kept = all(
        max(row["shattered tree"], row["mistake forcing"]) <= row["c(1/8)·d"]
        and row["largest jury"] <= row["votes allowed"]
        for row in rows
    )
    excess = max(row["mistake forcing"] / max(row["dimension"], 1) for row in rows)
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept else Verdict.REFUTED,
        false_refutation=0.0,
        summary=f"at most {excess:.2g}·d mistakes forced; c = {learners[-1].mistake_factor:.3g}",
        rows=rows,
    )
