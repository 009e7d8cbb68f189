"""The library's learners in the two-world game."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from littlestone.audit.adversaries import learner_attacks as attacks
from littlestone.audit.adversaries.counter_attacks import OneMoreMistake, OneMoreReport
from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.subjects import small_learners as small
from littlestone.audit.subjects.fresh_releases import releases_of_all_rounds
from littlestone.audit.two_worlds import Audit, Subject, TwoWorldAdversary
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.points import Points
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.naive_recomposition import NaiveRecomposition
from littlestone.learners.wrappers.restarting import Restarting
from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon
from littlestone.randomness import seeded

# Of two concepts, apart on point 0 and alike on point 1.
TWO_AND_A_COMMON_POINT = FiniteClass([[0, 0], [1, 0]])
DRAWS = 30


def draws_of_all_rounds(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """Each round draws afresh; after the special one come examples on which all concepts agree."""
    rounds: int = subject.open(seeded(0))[0].recipe.rounds
    return privacy_curve(subject, adversary, rounds=1).times(rounds)


def _audit(
    name: str,
    recipe: Callable[[float, float], Any],
    adversary: TwoWorldAdversary,
    summary: str,
    *,
    negligible_bits: int = 24,
    **more: Any,
) -> Audit:
    return Audit(
        name=name,
        subject=lambda epsilon, delta: Subject.from_learner(recipe(epsilon, delta)),
        adversary=adversary,
        summary=summary,
        goal=0.6,
        negligible_bits=negligible_bits,
        **{"patience": 6.0, **more},
    )


def _halting_forest(epsilon: float, delta: float) -> Restarting:
    return Restarting(learner=replace(small.early_forest(epsilon, delta), restarts=False))


def _endless_majority(epsilon: float, delta: float) -> UnknownHorizon:
    del delta  # pure
    return UnknownHorizon(learner=small.fresh_majority(epsilon), first_rounds=1)


AUDITS = (
    _audit(
        "lazy-forest",
        small.listing_forest,
        attacks.ListMembership(),
        "LazyForest: one element exchanged on the last list, two keys at its threshold",
        epsilon=4.0,
        delta=1e-2,
    ),
    _audit(
        "lazy-forest-last-layer",
        small.one_concept_forest,
        attacks.FirstMistake(),
        "LazyForest of one concept: its only layer is the last one, which pays the whole budget",
        exact_rounds=1,
        negligible_bits=40,
    ),
    _audit(
        "lazy-forest-early",
        small.early_forest,
        attacks.TwoKeys(),
        "LazyForest with early release: one of two keys counted more, both about to be released",
        epsilon=4.0,
        delta=1e-2,
        exact_rounds=10,
        negligible_bits=20,
    ),
    _audit(
        "lazy-forest-switch",
        small.early_forest,
        attacks.LastSwitch(),
        "LazyForest: one mistake more or less when the last layer is about to switch",
        patience=3.0,
    ),
    _audit(
        "lazy-forest-deep",
        small.deep_forest,
        attacks.PairsOnTheFirstList(),
        "LazyForest of dimension 2: one pair more or less on the first list",
    ),
    _audit(
        "private-majority",
        lambda epsilon, _: small.fresh_majority(epsilon),
        attacks.FirstMistake(),
        "PrivateMajority with fresh evidence: a mistake or none, and which witness is drawn",
        exact_rounds=1,
    ),
    _audit(
        "private-majority-sampled",
        small.sampled_majority,
        attacks.FirstMistake(),
        "PrivateMajority with sampled votes: a mistake or none, and which concept is drawn",
        exact_rounds=1,
    ),
    _audit(
        "private-witnesses",
        lambda epsilon, _: small.two_literals(epsilon),
        OneMoreMistake(),
        "PrivateWitnesses: a witness that is about to be accepted is named once more or not",
    ),
    _audit(
        "private-witnesses-places",
        lambda epsilon, _: small.eight_places(epsilon),
        attacks.FirstMistake(),
        "PrivateWitnesses on intervals: a mistake or none, and which place is drawn",
    ),
    _audit(
        "private-teachers",
        small.many_teachers,
        attacks.FirstMistake(),
        "PrivateTeachers: a mistake or none, where one may end the phase",
    ),
    _audit(
        "private-keys",
        small.key_list,
        OneMoreReport(),
        "PrivateKeys: a key that is about to be listed is reported once more or not",
    ),
    _audit(
        "naive-recomposition",
        lambda epsilon, delta: NaiveRecomposition(
            concepts=TWO_AND_A_COMMON_POINT, rounds=DRAWS, epsilon=epsilon, delta=delta
        ),
        OneQuestion(zero=(0, 1), one=(0, 0), notice=lambda shown: shown.hypothesis(0)),
        "NaiveRecomposition: the draw after an example with one label or the other",
        witness=draws_of_all_rounds,
        remark=(
            "a game shows one draw, of a budget in zCDP for thirty; exact are all thirty, which "
            "are independent"
        ),
    ),
    _audit(
        "disjoint-batches",
        lambda epsilon, _: DisjointBatches(concepts=Points(12), epsilon=epsilon, first=1, window=0),
        attacks.FirstMistake(),
        "DisjointBatches: the draw after a batch of one example, with one label or the other",
        exact_rounds=1,
        negligible_bits=40,
    ),
    _audit(
        "private-linear",
        small.one_gradient,
        attacks.FirstWeights(),
        "PrivateLinear: the weights after one example, with a long gradient or its opposite",
        epsilon=2.0,
        delta=1e-2,
        remark=(
            "noise in five parts is not enumerated; `correlated-sums`, which pays for all, is. At "
            "a delta of a millionth, games would have to be hundreds of millions"
        ),
    ),
    _audit(
        "eager-forest",
        small.eager_forest,
        attacks.MistakesInOrder(),
        "EagerForest: one tree moves or not while the published hypothesis is about to be dropped",
        rivals=tuple(
            attacks.MistakesInOrder(before=before, after=after)
            for before, after in (((), (0,)), ((), (1,)), ((0,), ()), ((1,), ()))
        ),
        exact_rounds=2,
        remark=(
            "the watch is an AboveThreshold for queries that move either way; the example moves "
            "its counts one way, which shows half of the watch's 0.95, and of the lists only the "
            "first is drawn, before any example"
        ),
    ),
    _audit(
        "fresh-copies",
        small.fresh_copies,
        attacks.FirstRelease(),
        "FreshCopies: of two examples one is a mistake or not, and two of four trees may show it",
        epsilon=57.0,
        delta=1e-3,
        witness=releases_of_all_rounds,
        remark=(
            "at epsilon = 1 nothing is ever published, in neither world: no list is as long as "
            "delta asks for; a game shows one release, exact are both that the example meets"
        ),
    ),
    _audit(
        "restarting",
        _halting_forest,
        attacks.LastSwitch(copies=1),
        "Restarting a LazyForest: the last switch of the second copy",
        patience=3.0,
    ),
    _audit(
        "unknown-horizon",
        _endless_majority,
        attacks.FirstMistake(after=1),
        "UnknownHorizon of a PrivateMajority: the first mistake of the second epoch",
        exact_rounds=2,
        negligible_bits=20,
    ),
)
