"""Every number of every recipe is a plain one: numpy's wrap around where a plan would not."""

import dataclasses
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.battery import built
from tests.public import public

from littlestone.choose.catalogue import ADVERSARIES
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import BudgetExceededError
from littlestone.learners.experts.exponential_weights import ExponentialWeights, Hedge
from littlestone.learners.experts.lazy_switching import LazySwitching
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.plan import EpochPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.restarting import Restarting
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelection
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.privacy.zcdp import ZeroConcentrated

LINE = Thresholds(3)
BUDGET: dict[str, Any] = {"rounds": 120, "epsilon": 1.0, "delta": 0.0009765625}
PAIR: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0009765625}
SELECTION = ExponentialMechanism(epsilon=1.0)


@cache
def recipes() -> list[Any]:
    """One of each kind."""
    learners = built(LINE, private=False, **BUDGET).values()
    lazy = LazyForest.calibrated(concepts=LINE, **BUDGET)
    size: dict[str, Any] = {"experts": 4, **BUDGET}
    return [
        *learners,
        *(entry.build(LINE) for entry in ADVERSARIES.values()),
        replace(lazy.plan),
        Restarting(learner=lazy),
        UnknownHorizon(learner=PrivateMajority(concepts=LINE, **BUDGET), first_rounds=16),
        LINE,
        SparseSets(2, 9),
        AboveThreshold(epsilon=1.0, threshold=5),
        CountAboveThreshold(epsilon=1.0, threshold=5),
        DyadicIntervals(rounds=16),
        SELECTION,
        FirstFrequent(**BUDGET),
        FrequentRelease(selections=2, rare_below=3, **PAIR),
        PrivateHistogram(**PAIR),
        IncrementalSelection(mechanism=SELECTION, refresh=3),
        LaplaceCount(epsilon=1.0),
        PermuteAndFlip(epsilon=1.0),
        SparseSample(lists=4, longest=3, **PAIR),
        PrivacyGuarantee(**PAIR),
        ZeroConcentrated(rho=0.5),
        MixedBudget.split(**PAIR),
        ExponentialWeights(**size),
        ShrinkingDartboard(**size),
        LazySwitching(**size),
        RealizableExperts(**size),
        Hedge(experts=4, rounds=120),
        FoolingSanitizer.planned(concepts=LINE, size=200, **PAIR),
        RealizableSanitizer.planned(concepts=LINE, size=200, **PAIR),
        HistogramSanitizer(concepts=Points(5), **PAIR),
        TreeSanitizer(concepts=LINE, epsilon=1.0, delta=0.0009765625),
    ]


def _numpy_for(value: Any) -> Any:
    """The same number, or numbers, as numpy would have them."""
    if type(value) is int:
        return np.int64(value) if abs(value) < 2**62 else value
    if type(value) is float:
        return np.float64(value)
    if type(value) is tuple and all(type(part) in (int, float) for part in value):
        return [_numpy_for(part) for part in value]
    return value


def _given(recipe: Any) -> dict[str, Any]:
    return {
        field.name: getattr(recipe, field.name)
        for field in dataclasses.fields(recipe)
        if field.init
    }


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    if isinstance(value, Fraction):
        return type(value.numerator) is int and type(value.denominator) is int
    return not isinstance(value, np.generic | np.ndarray | list)


def test_numbers_become_plain_and_sequences_tuples() -> None:
    for recipe in recipes():
        given = {name: _numpy_for(value) for name, value in _given(recipe).items()}
        again = type(recipe)(**given)
        assert all(_is_plain(getattr(again, name)) for name in given), recipe
        assert again == recipe and hash(again) == hash(recipe)
        assert repr(again) == repr(recipe)


def test_no_public_recipe_with_a_number_is_left_out() -> None:
    known = {type(recipe) for recipe in recipes()}
    # Results are made by the library; MarginHalfspaces has a constructor of its own, see below.
    results = {"AuditReport", "Receipt", "Recommendation", "Transcript", "Event"}
    results |= {"MarginHalfspaces", "Candidate", "PrivacyCurve"}
    missing = []
    for name, member in public().items():
        if not isinstance(member, type) or not dataclasses.is_dataclass(member):
            continue
        numeric = [f for f in dataclasses.fields(member) if f.init and f.type in (int, float)]
        recipe = hasattr(member, "start") or hasattr(member, "guarantee")
        if numeric and recipe and member not in known and name not in results:
            missing.append(name)
    checks = {name: _calls_plain(public()[name]) for name in missing}
    assert all(checks.values()), [n for n in checks if not checks[n]]


def _calls_plain(kind: Any) -> bool:
    # ``_check_sizes`` is how recipes for experts do it.
    doors = {"plain", "fields_fit", "usual_fields", "_check_sizes"}
    return not doors.isdisjoint(kind.__post_init__.__code__.co_names)


def test_eight_bits_do_not_empty_a_ledger() -> None:
    """Five charges of 0.75 on int8 rounds fitted a budget of 1 and added up to nothing."""
    ledger = Ledger(budget=PrivacyGuarantee(epsilon=1.0), private=True)
    cost = PrivacyGuarantee(epsilon=0.75)
    ledger.charge("one", cost, first=np.int8(100), last=np.int8(127))  # type: ignore[arg-type]
    for last in (np.int8(127), 127):
        with pytest.raises(BudgetExceededError):
            ledger.charge("two", cost, first=np.int8(100), last=last)  # type: ignore[arg-type]
    assert ledger.spent() == cost
    opened = Ledger(budget=PrivacyGuarantee(epsilon=1.0), private=True)
    opened.close(opened.charge("open", cost, first=1), last=np.int8(127))  # type: ignore[arg-type]
    with pytest.raises(BudgetExceededError):
        opened.charge("two", cost, first=127, last=127)
    opened.charge("later", cost, first=128, last=200)


def test_eight_bits_do_not_halve_a_guarantee() -> None:
    plan = EpochPlan(votes=5, rate=0.01, weights=(100, 100), thresholds=(5, 5, 5))
    given: dict[str, Any] = {
        "votes": np.uint8(5),
        "rate": np.float32(0.01),
        "weights": (np.int8(100), np.int8(100)),
        "thresholds": np.array([5, 5, 5], dtype=np.int8),
    }
    small = EpochPlan(**given)
    assert small.weights == plan.weights and small.thresholds == plan.thresholds
    assert all(type(weight) is int for weight in small.weights)
    assert sum(small.weights) == 200


@pytest.mark.parametrize("rounds", [np.uint8(200), np.int16(200), np.float64(200).astype(int)])
def test_rounds_of_few_bits_change_no_plan(rounds: Any) -> None:
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3}
    for make in (LazyForest.calibrated, LazyForest.proved, PrivateMajority):
        assert make(concepts=LINE, rounds=rounds, **budget) == make(
            concepts=LINE, rounds=200, **budget
        )


def test_a_short_float_is_its_exact_value() -> None:
    short: Any = np.float32(0.1)
    for make in (PrivateMajority, LazyForest.calibrated):
        promised = make(concepts=LINE, rounds=200, epsilon=short, delta=1e-3).guarantee()
        assert promised.epsilon <= float(short)
    assert PrivacyGuarantee(epsilon=short) == PrivacyGuarantee(epsilon=float(short))


def test_a_margin_is_a_fraction_of_plain_numbers() -> None:
    concepts = MarginHalfspaces(np.int8(3), np.float32(0.25))  # type: ignore[arg-type]
    assert type(concepts.dimension) is int
    assert concepts.margin == Fraction(1, 4) and _is_plain(concepts.margin)
