"""The recipes whose canonical forms are kept: every private learner, and variants of each kind."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.battery import CLASSES, built

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.forms import canonical_form
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.linear import Perceptron
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.restarting import Restarting
from littlestone.learners.sanitized.batches import SanitizedBatches
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease

FORMS = Path(__file__).parent / "recipe_forms.json"
BUDGET: dict[str, Any] = {"rounds": 1000, "epsilon": 1.0, "delta": 1e-6}
CONCEPTS = Thresholds(7)
SMALL = FiniteClass([[0, 1, 1], [1, 0, 1]])


def recipes() -> dict[str, Any]:
    """By the name that they have in the file."""
    private = built(CONCEPTS, **BUDGET)
    classes = {f"class {name}": concepts for name, concepts in CLASSES.items()}
    return {**private, **classes, **_variants(private)}


def _variants(private: dict[str, Any]) -> dict[str, Any]:
    majority, forest = private["private-majority"], private["lazy-forest"]
    release = FrequentRelease(
        epsilon=1.0, delta=1e-6, selections=4, rare_below=9, watching_share=Fraction(1, 3)
    )
    large = FiniteClass.from_class(Thresholds(99))
    return {
        "halving as base": replace(forest, base=Halving(CONCEPTS)),
        "sparse majority as base": EagerForest(
            concepts=Points(), base=SparseMajority(Points(), margin=0.0625), **BUDGET
        ),
        "perceptron as base": LazyForest.calibrated(
            concepts=MarginHalfspaces(2, 0.5), base=Perceptron(MarginHalfspaces(2, 0.5)), **BUDGET
        ),
        "a release by hand": EagerForest(concepts=CONCEPTS, release=release, trees=64, **BUDGET),
        "a plan by hand": PrivateMajority(
            concepts=CONCEPTS,
            rounds=1000,
            epsilon=1.0,
            plan=FreshPlan(threshold_epsilon=0.25, threshold=9, selection_rate=0.25),
        ),
        "places drawn by hand": PrivateWitnesses(
            concepts=Intervals(9),
            rounds=1000,
            epsilon=1.0,
            plan=WitnessPlan(
                query_rate=0.75,
                threshold_rate=0.25,
                threshold=9,
                again=9,
                drawing=FreshPlan(threshold_epsilon=0.5, threshold=20, selection_rate=0.5),
            ),
        ),
        "cumulative evidence": replace(majority, delta=1e-6, evidence="cumulative", votes=3),
        "many contributions": replace(majority, max_contributions=4),
        "a forest as proved": LazyForest.proved(concepts=CONCEPTS, **BUDGET),
        "experts given": AgnosticFinite(
            concepts=SMALL, experts=ExponentialWeights(experts=2, **BUDGET), **BUDGET
        ),
        # As it was planned when rates were twice those with the least bound.
        "noisy losses given": AgnosticFinite(
            concepts=CONCEPTS,
            adversary="oblivious",
            experts=NoisyLosses(
                concepts=CONCEPTS,
                oblivious_only=True,
                batch=3,
                epoch=334,
                rate=0.10197754686464446,
                **BUDGET,
            ),
            **BUDGET,
        ),
        "a sanitizer given": SanitizedBatches(
            concepts=CONCEPTS,
            sanitizer=TreeSanitizer(concepts=CONCEPTS, epsilon=1.0, delta=1e-6, labelled=True),
            batch=50,
            **BUDGET,
        ),
        "a large matrix": AgnosticFinite(concepts=large, **BUDGET),
        "rules": AgnosticFinite(concepts=Stumps(CLASSES["stumps"].domain, depth=1), **BUDGET),  # type: ignore[arg-type]
        "restarting": Restarting(learner=forest, restarts=3),
        "unknown horizon": UnknownHorizon(learner=majority, first_rounds=16),
    }


def text_of(known: dict[str, Any]) -> str:
    """The file: one form on a line."""
    forms = {name: json.loads(canonical_form(recipe)) for name, recipe in known.items()}
    lines = (
        f"{json.dumps(name)}: {json.dumps(form, sort_keys=True)}" for name, form in forms.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
