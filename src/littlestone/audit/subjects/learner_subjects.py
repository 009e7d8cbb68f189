"""Learners and private prediction in the two-world game."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from littlestone.audit import learner_attacks as attacks
from littlestone.audit.attacks import AskAgain, OneQuestion
from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import NOTHING, ONE, UNIT, Mass
from littlestone.audit.exact.privacy_curve import PrivacyCurve, curve_between, privacy_curve
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.learner_attacks import OneMoreMistake, OneMoreReport
from littlestone.audit.subjects import small_learners as small
from littlestone.audit.two_worlds import Audit, Subject, TwoWorldAdversary
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.experts.prediction_plan import PredictionPlan
from littlestone.learners.experts.private_prediction import PrivatePrediction
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.randomness import seeded

KEY = "a"
NEGLIGIBLE = Fraction(1, 1 << 90)
"""Far below e**-epsilon."""


def releases_of_all_rounds(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """Return the curve of all releases after a mistake, then a mistake or none.

    The first release depends on one example. Each later one grows a new forest from the same two,
    so releases are independent; one that lists nothing leaves the published hypothesis.
    """
    del adversary  # plays the first two of these rounds
    recipe: FreshCopies = subject.open(seeded(0))[0].recipe
    with enumerable():
        first = _release(recipe, (1,))
        zero, one = (
            _shown([first] + [_release(recipe, (1, label))] * (recipe.rounds - 1))
            for label in (1, 0)
        )
    return curve_between(zero, one)


def _release(recipe: FreshCopies, labels: tuple[int, ...]) -> Law:
    """Return the law of the first listed key after these examples: the key, none, or another."""

    def play(tape: Tape) -> Hashable:
        engine = recipe.engine(tape)
        engine.begin()
        engine._examples.extend((KEY, label) for label in labels[:-1])
        nothing: Any = object()
        engine.hypothesis = nothing
        engine.step(KEY, labels[-1])
        return None if engine.hypothesis is nothing else engine.hypothesis(KEY)

    return law_of(play, rounds=1, negligible=int(NEGLIGIBLE * UNIT), most=100_000)


def _shown(releases: Sequence[Law]) -> Law:
    """Return the published hypothesis after each of these releases."""
    views: dict[Hashable, Mass] = {}
    for answers in product(*(release.views.items() for release in releases)):
        shown, mass, view = 0, ONE, []
        for answer, part in answers:
            shown, mass = shown if answer is None else answer, mass.times(part)  # type: ignore[assignment]
            view.append(shown)
        views[tuple(view)] = views.get(tuple(view), NOTHING).plus(mass)
    missing = sum(release.missing for release in releases)
    return Law(views, missing, sum(release.runs for release in releases))


def few_copies(
    epsilon: float, delta: float, *, copies: int = 1, cap: int = 20
) -> PrivatePrediction:
    """Return a recipe of copies over a single point; counting gets a quarter of epsilon."""
    plan = PredictionPlan(copies=copies, rate=epsilon / 8, cap=cap, cap_epsilon=epsilon / 4)
    return PrivatePrediction(
        concepts=Points(1),
        rounds=small.ROUNDS,
        epsilon=epsilon,
        delta=delta,
        plan=plan.within(epsilon=epsilon, delta=delta),
    )


# Two concepts that differ on point 0 and agree on point 1.
TWO_AND_A_COMMON_POINT = FiniteClass([[0, 0], [1, 0]])
DRAWS = 30


def draws_of_all_rounds(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """Return the curve of one draw per round; after the challenge all concepts agree."""
    rounds: int = subject.open(seeded(0))[0].recipe.rounds
    return privacy_curve(subject, adversary, rounds=1).times(rounds)


def audit_of(
    name: str,
    recipe: Callable[[float, float], Any],
    adversary: TwoWorldAdversary,
    summary: str,
    *,
    negligible_bits: int = 24,
    **more: Any,
) -> Audit:
    """Return an audit of a learner: the recipe at a budget, and its adversary."""
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
    Audit(
        name="private-prediction",
        subject=lambda epsilon, delta: Subject.from_predictor(few_copies(epsilon, delta)),
        adversary=AskAgain(most=200, width=4),
        summary="private prediction: whether one copy has learned a point, from many answers on it",
        epsilon=4.0,
        delta=1e-2,
        goal=0.05,
        remark=(
            "loose: the promise also covers the second coin of each round, which is never shown, "
            "and games of any length, by a bound on moments"
        ),
    ),
    audit_of(
        "lazy-forest",
        small.listing_forest,
        attacks.ListMembership(),
        "LazyForest: one element exchanged on the last list, two keys at its threshold",
        epsilon=4.0,
        delta=1e-2,
    ),
    audit_of(
        "lazy-forest-last-layer",
        small.one_concept_forest,
        attacks.FirstMistake(),
        "LazyForest of one concept: its only layer is the last one, which pays the whole budget",
        exact_rounds=1,
        negligible_bits=40,
    ),
    audit_of(
        "lazy-forest-early",
        small.early_forest,
        attacks.TwoKeys(),
        "LazyForest with early release: one of two keys counted more, both about to be released",
        epsilon=4.0,
        delta=1e-2,
        exact_rounds=10,
        negligible_bits=20,
    ),
    audit_of(
        "lazy-forest-switch",
        small.early_forest,
        attacks.LastSwitch(),
        "LazyForest: one mistake more or less when the last layer is about to switch",
        patience=3.0,
    ),
    audit_of(
        "lazy-forest-deep",
        small.deep_forest,
        attacks.PairsOnTheFirstList(),
        "LazyForest of dimension 2: one pair more or less on the first list",
    ),
    audit_of(
        "private-majority",
        lambda epsilon, _: small.fresh_majority(epsilon),
        attacks.FirstMistake(),
        "PrivateMajority with fresh evidence: a mistake or none, and which witness is drawn",
        exact_rounds=1,
    ),
    audit_of(
        "private-majority-sampled",
        small.sampled_majority,
        attacks.FirstMistake(),
        "PrivateMajority with sampled votes: a mistake or none, and which concept is drawn",
        exact_rounds=1,
    ),
    audit_of(
        "private-witnesses",
        lambda epsilon, _: small.two_literals(epsilon),
        OneMoreMistake(),
        "PrivateWitnesses: a witness that is about to be accepted is named once more or not",
    ),
    audit_of(
        "private-witnesses-places",
        lambda epsilon, _: small.eight_places(epsilon),
        attacks.FirstMistake(),
        "PrivateWitnesses on intervals: a mistake or none, and which place is drawn",
    ),
    audit_of(
        "private-keys",
        small.key_list,
        OneMoreReport(),
        "PrivateKeys: a key that is about to be listed is reported once more or not",
    ),
    audit_of(
        "naive-recomposition",
        lambda epsilon, delta: NaiveRecomposition(
            concepts=TWO_AND_A_COMMON_POINT, rounds=DRAWS, epsilon=epsilon, delta=delta
        ),
        OneQuestion(zero=(0, 1), one=(0, 0), notice=lambda shown: shown.hypothesis(0)),
        "NaiveRecomposition: the draw after an example with one label or the other",
        witness=draws_of_all_rounds,
        remark=(
            "a game shows one draw, and the zCDP budget is for thirty; the exact number is for "
            "all, which are independent"
        ),
    ),
    audit_of(
        "disjoint-batches",
        lambda epsilon, _: DisjointBatches(concepts=Points(12), epsilon=epsilon, first=1),
        attacks.FirstMistake(),
        "DisjointBatches: the draw after a batch of one example, with one label or the other",
        exact_rounds=1,
        negligible_bits=40,
    ),
    audit_of(
        "linear",
        small.one_gradient,
        attacks.FirstWeights(),
        "PrivateLinear: the weights after one example, with a gradient or its opposite",
        epsilon=2.0,
        remark="noise with five components is not enumerated; a test enumerates it with two",
    ),
    audit_of(
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
            "its counts one way, which shows half of the watch's 0.95; only the first list is "
            "drawn, before any example"
        ),
    ),
    audit_of(
        "fresh-copies",
        small.fresh_copies,
        attacks.FirstRelease(),
        "FreshCopies: of two examples one is a mistake or not, and two of four trees may show it",
        epsilon=57.0,
        delta=1e-3,
        witness=releases_of_all_rounds,
        remark=(
            "at epsilon = 1 nothing is published in either world: no list is as long as delta "
            "requires; a game shows one release, the exact number is for both that read the example"
        ),
    ),
    audit_of(
        "restarting",
        _halting_forest,
        attacks.LastSwitch(copies=1),
        "Restarting a LazyForest: the last switch of the second copy",
        patience=3.0,
    ),
    audit_of(
        "unknown-horizon",
        _endless_majority,
        attacks.FirstMistake(after=1),
        "UnknownHorizon of a PrivateMajority: the first mistake of the second epoch",
        exact_rounds=2,
        negligible_bits=20,
    ),
)
