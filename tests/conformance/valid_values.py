"""One valid value of every public class, and valid arguments of every public function.

Recipes that other tests list already are left out here.
"""

import tempfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.golden.games import small_teachers

import littlestone as ls
from littlestone.audit.attacks import OneQuestion
from littlestone.concepts.hypotheses.layered_tree import with_label_before
from littlestone.concepts.losses.label_counts import tallied
from littlestone.learners.forms import canonical_form
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingPlan
from littlestone.learners.sanitizers.realizable_sanitizer import RealizablePlan
from littlestone.privacy.ledger import Charge
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.randomness.word_sources import Seeded

PAIR: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3}
LONG: dict[str, Any] = {"rounds": 120, **PAIR}
LINE = ls.Thresholds(3)
TABLE = ls.FiniteClass([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
SCHEMA = ls.Schema.from_mapping(
    {"delay": {"grid": [0, 15, 60]}, "carrier": {"values": ["UA", "AA", "B6"]}}
)
RECORDS = [{"delay": 20, "carrier": "UA"}, {"delay": 3, "carrier": "AA"}]
GUARANTEE = ls.PrivacyGuarantee(**PAIR)
REQUEST = ls.Request(over="thresholds:3", rounds=120)
MAJORITY = ls.PrivateMajority(concepts=LINE, rounds=120, epsilon=1.0)
SELECTION = ls.learners.batch.ProperSelection(concepts=LINE, epsilon=1.0)
TREE = ls.learners.sanitizers.TreeSanitizer(concepts=LINE, epsilon=1.0)
EPOCH = ls.learners.EpochPlan(votes=3, rate=1.0, weights=(1, 2), thresholds=(1, 1, 2))
FLIP = ls.mechanisms.PermuteAndFlip(epsilon=1.0)
QUESTION = OneQuestion(zero=[1, 1], one=[1, 2])
EXAMPLES = [(0, 0), (1, 1), (2, 1)]
LABELLED = ls.Schema.from_mapping(
    {"delay": {"grid": [0, 15]}, "label": {"values": ["ok", "late", "cancelled"]}}
)
COMPARED = ls.game.compare(
    [ls.learners.online.Halving(LINE)],
    [ls.adversaries.Boundary(LINE)],
    rounds=5,
    rng=ls.seeded(1),
)
MIXED = MixedBudget.split(**PAIR)
FOOLING = FoolingPlan(budget=MIXED, rounds=3, error=0.5, gap=0.2, threshold=0.3)
REALIZABLE = RealizablePlan(
    budget=MIXED, rounds=3, error=0.5, low=0.1, high=0.6, lower=0.2, upper=0.5
)
CHARGE = Charge(mechanism="first", cost=ls.PrivacyGuarantee(epsilon=0.25), first=1)
SECRET = bytes(range(32))
NUMBERS = count()
FOLDER = tempfile.TemporaryDirectory(prefix="littlestone-hostile-")


def trees(size: int, parts: int) -> ls.learners.sanitizers.Sanitizer:
    return ls.learners.sanitizers.TreeSanitizer(concepts=LINE, epsilon=1.0 / parts)


class Scores:
    """Three scores, and what draws by them."""

    def as_array(self) -> Any:
        return np.array([1, 2, 3])

    def of(self, element: int, /) -> int:
        return element + 1

    def draw(self) -> int:
        return 1

    def passed(self, rounds: int) -> None:
        del rounds


def new_path() -> Path:
    return Path(FOLDER.name) / f"{next(NUMBERS)}.store"


def a_ledger() -> ls.Ledger:
    ledger = ls.Ledger(budget=GUARANTEE, private=True)
    ledger.charge("first", CHARGE.cost, first=1)
    return ledger


def a_begun_engine() -> Any:
    engine = MAJORITY.engine(ls.seeded(1))
    engine.begin()
    return engine


def a_durable_run() -> dict[str, Any]:
    durable = ls.DurableRun.start(MAJORITY, new_path())
    return {"recipe": MAJORITY, "log": durable._log, "run": durable.run}


def a_closed_store() -> Path:
    path = new_path()
    ls.DurableRun.start(MAJORITY, path).close()
    return path


def a_fleet_snapshot() -> bytes:
    return ls.PerKey(learner=MAJORITY, max_keys=2).start(secret=SECRET, replay=True).snapshot()


@cache
def a_curve() -> ls.audit.PrivacyCurve:
    subject = ls.audit.Subject.from_release(FLIP, FLIP.draw)
    return ls.audit.privacy_curve(subject, QUESTION, rounds=1)


@cache
def a_schema_file() -> Path:
    path = Path(FOLDER.name) / "schema.toml"
    path.write_text('[delay]\ngrid = [0, 15]\n[carrier]\nvalues = ["UA", "AA"]\n', encoding="utf-8")
    return path


VALUES: list[Callable[[], Any]] = [
    lambda: ls.learners.batch.AgnosticEmpirical(learner=SELECTION, size=40, sampled=10,
        epsilon=0.3),
    lambda: ls.audit.AuditReport(
        subject="a", adversary="b", claimed=GUARANTEE, epsilon_lower_bound=0.5,
        failure_probability=0.01, runs=100, seconds=1.0,
    ),
    lambda: ls.learners.experts.Batches(first=2, growth=1.5),
    lambda: REQUEST,
    lambda: ls.mechanisms.BernoulliExp(exponent=0.5),
    lambda: ls.concepts.Boxes(2, 4),
    lambda: COMPARED,
    lambda: COMPARED.games["Halving", "Boundary"],
    lambda: ls.game.Failure(game=1, error="none"),
    lambda: ls.game.Workers(),
    lambda: LABELLED,
    lambda: ls.concepts.LayeredTree(
        ls.concepts.DecisionTree(LABELLED, ((0, 2, 2), 1, 0)),
        (ls.concepts.DecisionTree(with_label_before(LABELLED), ((0, 0, 0), 2, 3)),),
    ),
    lambda: ls.choose.Candidate(name="a", recipe=MAJORITY, bound=3.0, expected=2.0,
        calibrated=False),
    lambda: ls.concepts.Category("carrier", ("UA", "AA"), missing="UA"),
    lambda: ls.game.ConsistencyTracker(LINE),
    lambda: ls.mechanisms.CorrelatedSums(releases=4, width=2, longest_squared=4, rho=0.5),
    lambda: ls.learners.experts.DartboardPlan(rate=0.01, fake=0.5, batch=2, cap=30),
    lambda: ls.concepts.DecisionTree(SCHEMA, ((0, 2, 2), ((1, 0, 0), 1, 0), 0)),
    lambda: ls.DecisionTrees(SCHEMA, 2),
    lambda: ls.mechanisms.DiscreteLaplace(rate=0.5),
    lambda: EPOCH,
    lambda: ls.Event("a", 1, 1),
    lambda: ls.adversaries.Examples([0, 1], [0, 1]),
    lambda: TABLE,
    lambda: ls.learners.ForestBudgets(switching=(0.5, 0.5), listing=(GUARANTEE,)),
    lambda: ls.mechanisms.Geometric(rate=0.5, size=9),
    lambda: ls.learners.sanitizers.IntervalSanitizer(rounds=16, family=trees,
        domain=LINE.domain, shortest=2),
    lambda: ls.KeySets(),
    lambda: ls.learners.sanitizers.LabelConversion(sanitizer=TREE, domain=LINE.domain,
        anchor=2, count_epsilon=0.25),
    lambda: ls.concepts.Leaf(LINE.concept(1)),
    a_ledger,
    lambda: ls.concepts.MajorityVote([LINE.concept(1), LINE.concept(2), LINE.concept(2)]),
    lambda: ls.concepts.MarginHalfspaces(2, 0.5),
    lambda: ls.concepts.MulticlassTable([[0, 2], [1, 1]]),
    lambda: ls.learners.NoisyLosses(concepts=LINE, **LONG),
    lambda: ls.concepts.Numeric("delay", (0.0, 15.0), missing=-1.0),
    lambda: ls.PerKey(learner=MAJORITY, max_keys=2),
    lambda: ls.learners.PredictionPlan(copies=30, rate=0.15, cap=20, cap_epsilon=1.0),
    a_curve,
    lambda: ls.learners.PrivatePrediction(concepts=LINE, **LONG),
    lambda: MAJORITY.start(rng=ls.seeded(1)),
    small_teachers,
    lambda: small_teachers().plan,
    lambda: ls.seeded(1),
    lambda: ls.keyed(bytes(32), label=f"hostile {next(NUMBERS)}"),
    lambda: ls.concepts.RationalBall(2),
    lambda: ls.runs.Receipt(1, 1),
    lambda: ls.choose.Recommendation(candidates=(), refused={}, rounds=9, explanation="none"),
    lambda: ls.game.Round(number=1, hypothesis=LINE.concept(1), x=1, y=1, mistake=False),
    lambda: ls.concepts.Rule(SCHEMA, ((0, 1, 2),)),
    lambda: ls.learners.SampledPlan(threshold_epsilon=0.5, epochs=(EPOCH,)),
    lambda: SCHEMA,
    lambda: ls.concepts.Scorecard(SCHEMA, -5, ((10,), (0, -30, 1))),
    lambda: ls.concepts.Scorecards(SCHEMA, (1, -5), (((0,), (0, 0, 0)), ((10,), (0, -30, 1)))),
    lambda: ls.concepts.SparseSets(2, 9),
    lambda: ls.concepts.Stumps(SCHEMA, 2),
    lambda: ls.audit.Subject.from_learner(MAJORITY),
    lambda: ls.concepts.LabelTable((0, 2, 1), 3),
    lambda: ls.concepts.TableHypothesis(bytes([0, 1, 1])),
    lambda: ls.play(ls.learners.online.Halving(LINE), ls.adversaries.Boundary(LINE), rounds=5,
        rng=ls.seeded(1), record=2),
    lambda: ls.mechanisms.TruncatedLaplace(rate=0.5, bound=9),
    lambda: ls.concepts.shattered_tree(LINE),
    lambda: ls.audit.Visit("a", MAJORITY, 1, 2),
    lambda: ls.learners.WitnessPlan(query_rate=1.5, threshold_rate=1.5, threshold=1, again=1),
    lambda: ls.DurableRun.start(MAJORITY, new_path()),
    lambda: ls.Client("http://127.0.0.1:9", patience=0.1, timeout=0.5),
    lambda: ls.PrivateKeys(**LONG),
    lambda: ls.PrivateMajority(concepts=LINE, **LONG),
]  # fmt: skip

# What constructors that keep no fields are given.
GIVEN: dict[str, Callable[[], dict[str, Any]]] = {
    "Client": lambda: {"url": "http://127.0.0.1:9", "token": "t"},
    "ConsistencyTracker": lambda: {"concepts": LINE},
    "DurableRun": lambda: a_durable_run(),
    "Stumps": lambda: {"schema": SCHEMA, "depth": 1},
    "Examples": lambda: {"points": [0, 1], "labels": [0, 1]},
    "FiniteClass": lambda: {"matrix": [[0, 1], [1, 1]]},
    "Ledger": lambda: {"budget": GUARANTEE, "private": True},
    "MajorityVote": lambda: {"members": [LINE.concept(1)] * 3},
    "MarginHalfspaces": lambda: {"dimension": 2, "margin": 0.5},
    "MulticlassTable": lambda: {"matrix": [[0, 2], [1, 1]]},
    "PrivateRun": lambda: {
        "recipe": MAJORITY, "engine": a_begun_engine(), "rng": ls.seeded(1), "identity": "a",
    },
    "Randomness": lambda: {"source": Seeded(np.random.SeedSequence(1))},
}  # fmt: skip

FUNCTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "advance": lambda: {
        "recipe": MAJORITY, "secret": bytes(32), "key": "a", "state": None, "seqs": [1, 2],
        "xs": [0, 1], "ys": [0, 1],
    },
    "advanced_composition": lambda: {"costs": [GUARANTEE], "extra_delta": 1e-6},
    "aggregate": lambda: {"combine": lambda a, b: a or b, "classes": (TABLE, TABLE)},
    "basic_composition": lambda: {"costs": [GUARANTEE]},
    "check_sensitivity": lambda: {
        "recipe": MAJORITY, "stream": EXAMPLES, "changed_round": 1, "instead": (1, 0), "seed": 1,
    },
    "covering_number": lambda: {"concepts": TABLE, "depth": 1},
    "growth_function": lambda: {"concepts": TABLE, "points": 2},
    "hypothesis_from_json": lambda: {"data": LINE.concept(1).to_json()},
    "compare": lambda: {
        "learners": [ls.learners.online.Halving(LINE)],
        "adversaries": [ls.adversaries.Boundary(LINE)], "rounds": 9, "rng": ls.seeded(1),
    },
    "learner": lambda: {"recipe": MAJORITY, "runs": 8_000, "rng": ls.seeded(1)},
    "learn_frame": lambda: {
        "frame": pd.DataFrame({"x": [1, 2], "y": [0, 1]}), "learner": MAJORITY, "label": "y",
        "feature": "x", "source": "May", "store": new_path(), "out": new_path(),
    },
    "keyed": lambda: {"key": bytes(32), "label": f"hostile {next(NUMBERS)}"},
    "majority": lambda: {"concepts": TABLE, "members": 3},
    "mistakes_floor": lambda: {"concepts": LINE, **LONG},
    "optimal_mistakes": lambda: {
        "concepts": [[0, 0], [0, 1]], "rounds": 2, "epsilon": 1.0, "most": 2000,
    },
    "optimal_composition": lambda: {"cost": GUARANTEE, "count": 3, "extra_delta": 1e-6},
    "parallel_composition": lambda: {"costs": [GUARANTEE], "prefix_conditional": True},
    "play": lambda: {
        "learner": ls.learners.online.Halving(LINE),
        "adversary": ls.adversaries.Boundary(LINE), "rounds": 9,
        "rng": ls.seeded(1),
    },
    "play_predictions": lambda: {
        "learner": ls.learners.PrivatePrediction(concepts=LINE, **LONG),
        "adversary": ls.adversaries.Boundary(LINE),
        "rounds": 9, "rng": ls.seeded(1),
    },
    "privacy_curve": lambda: {
        "subject": ls.audit.Subject.from_release(FLIP, FLIP.draw), "adversary": QUESTION,
        "rounds": 1,
    },
    "recommend": lambda: {"over": LINE, "fields": LONG},
    "sanitizer_for": lambda: {"concepts": LINE, "size": 200, **PAIR},
    "secure": dict,
    "seeded": lambda: {"seed": 1},
    "union": lambda: {"left": TABLE, "right": TABLE},
    "user_level": lambda: {"guarantee": GUARANTEE, "max_contributions": 2},
    "worst_mistakes": lambda: {
        "recipe": ls.StandardOptimal(ls.Thresholds(2)), "rounds": 2, "most": 500,
    },
    "xor": lambda: {"left": TABLE, "right": TABLE},
}  # fmt: skip

# Valid arguments of methods, by the names of their parameters: values, and how to make others.
PLAIN: dict[str, Any] = {
    "after": 0,
    "at_least": 1,
    "base_mistakes": 2,
    "batch": 1,
    "bit": 1,
    "bound": 9,
    "concentrated_delta": 1e-06,
    "copies": 2,
    "copy": "copy",
    "count": 3,
    "deepest": 9,
    "delta": 0.0001,
    "dimension": 1,
    "draws": 9,
    "epsilon": 0.5,
    "error": 0.5,
    "eta": 0.5,
    "example": (1, 1),
    "failure_probability": 0.1,
    "first": 2,
    "high": 2,
    "instances": 2,
    "key": "a",
    "keys": 3,
    "label": 1,
    "last": 5,
    "layer": 1,
    "left": 1,
    "low": 1,
    "mechanism": "again",
    "mistakes_moved": 1,
    "most": 2,
    "name": "a",
    "number": 1,
    "parts": 2,
    "played": 1,
    "point": 1,
    "position": 1,
    "private": True,
    "queries": 9,
    "reason": "was retired",
    "rho": 0.5,
    "right": 5,
    "round_number": 4,
    "rounds": 64,
    "rule": "proved",
    "run": "a",
    "seed": 1,
    "share": 0.5,
    "size": 50,
    "slots": 3,
    "stage": 1,
    "threshold": 3,
    "value": 1,
    "width": 0.5,
    "x": 1,
    "y": 1,
}
MADE: dict[str, Callable[[], Any]] = {
    "required": lambda: {**PAIR, "error": 0.5, "failure_probability": 0.1},
    "asked": lambda: {**PAIR, "error": 0.5, "failure_probability": 0.1},
    "cells": lambda: SCHEMA.check_many(RECORDS),
    "charge": lambda: CHARGE,
    "charges": tuple,
    "chosen": lambda: [0, 1],
    "concentrated": lambda: ls.privacy.ZeroConcentrated(rho=0.1),
    "concept": lambda: LINE.concept(1),
    "concepts": lambda: LINE,
    "cost": lambda: ls.PrivacyGuarantee(epsilon=0.5),
    "counts": lambda: Counter({LINE.concept(1): 5}),
    "data": lambda: LINE.concept(1).to_json(),
    "dataset": lambda: list(EXAMPLES),
    "declared": lambda: {"a": {"grid": [0, 1]}},
    "domain": lambda: LINE.domain,
    "dtype": lambda: np.int64,
    "each": lambda: GUARANTEE,
    "events": lambda: [ls.Event("a", 1, 1)],
    "family": lambda: trees,
    "frame": lambda: pd.DataFrame({"a": [0.5], "b": ["UA"]}),
    "generator": lambda: np.random.default_rng(1),
    "hypothesis": lambda: LINE.concept(1),
    "labels": lambda: np.array([0, 1], dtype=np.uint8),
    "learner": lambda: SELECTION,
    "listing": lambda: [GUARANTEE],
    "losses": lambda: [0, 1, 0, 1],
    "member_from_json": lambda: ls.hypothesis_from_json,
    "other": lambda: LINE.concept(2),
    "path": new_path,
    "points": lambda: [0, 1],
    "probabilities": lambda: {"failure_probability": 0.1},
    "read": lambda: a_ledger,
    "recipe": lambda: MAJORITY,
    "released": lambda: [(1, 2)],
    "rng": lambda: ls.seeded(1),
    "scores": lambda: [1, 2, 3],
    "stated": lambda: {"a": (0, 1), "b": ["UA", "AA"]},
    "secret": lambda: next(NUMBERS).to_bytes(32, "big"),
    "tally": lambda: {0: (1, 2), 1: (0, 3)},
    "text": lambda: a_ledger().to_json(),
    "total": lambda: GUARANTEE,
    "values": lambda: [1, 2],
    "column": lambda: [1, 2],
    "xs": lambda: [0, 1],
    "ys": lambda: [0, 1],
}

# Where a name means something else.
SIZES: dict[str, Any] = {"concepts": LINE, **LONG}
DATASET = [1, 2, 0] * 400
OF_METHODS: dict[str, dict[str, Callable[[], Any]]] = {
    "AgnosticEmpirical.learn": {"dataset": lambda: [(1, 1)] * 40},
    "AgnosticEmpirical.needed": {"error": lambda: 1.0},
    "IrreducibleLearner.learn": {"dataset": lambda: [(1, 1)] * 600},
    "IrreducibleLearner.planned": {"concepts": lambda: TABLE},
    "LabelConversion.release": {"dataset": lambda: [(1, 1)] * 50},
    "Subsampled.learn": {"dataset": lambda: [(1, 1)] * 100},
    "Subsampled.error_bound": {"size": lambda: 100},
    "Subsampled.needed": {"error": lambda: 1.0},
    "ProperSelection.learn": {"dataset": lambda: list(EXAMPLES)},
    "Request.from_json": {"asked": lambda: {"class": "thresholds:3", "rounds": 9}},
    "Request.stored_recipe": {"form": lambda: canonical_form(REQUEST.recipe())},
    "Request.differences": {"other": lambda: REQUEST},
    ".release": {
        "dataset": lambda: DATASET, "count": lambda: 3, "data": lambda: {1: 2, 2: 3},
        "total": lambda: [1, 2],
    },
    ".release_many": {"counts": lambda: np.array([1, 2])},
    ".check_within_budget": {"named": lambda: {"plan": CHARGE.cost}},
    ".check_copies": {"named": lambda: {"restarts": 2}},
    "Category.declared_cell": {"value": lambda: "UA"},
    "Category.describe": {"low": lambda: 1, "high": lambda: 1},
    "Client.send_many": {"events": lambda: [(1, 1)]},
    "Comparison.mistakes": {"learner": lambda: "Halving", "adversary": lambda: "Boundary"},
    "Comparison.plot": {"axes": lambda: None},
    "LabelledSchema.label_number": {"value": lambda: "ok"},
    "Sweep.summary": {"quantity": lambda: "mistakes"},
    "Workers.each": {"task": lambda: abs, "arguments": lambda: [1, -2]},
    "Client.create": {"terms": lambda: {"rounds": 9}},
    "DurableRun.resume": {"store": a_closed_store},
    "DurableRun.start": {"store": new_path},
    "FoolingSanitizer.from_plan": {"plan": lambda: FOOLING, "labelled": lambda: False},
    "RealizableSanitizer.from_plan": {"plan": lambda: REALIZABLE, "labelled": lambda: False},
    ".planned": {"epsilon": lambda: 1.0, "delta": lambda: 1e-3, "size": lambda: 200},
    ".loss_runs": {"tally": lambda: tallied(LINE, EXAMPLES)},
    ".calibrated": {"options": lambda: dict(SIZES)},
    ".paper": {"options": lambda: dict(SIZES)},
    ".proved": {"options": lambda: dict(SIZES)},
    "Ledger.close": {"charge": lambda: CHARGE},
    "Ledger.from_state": {"budget": lambda: ls.PrivacyGuarantee(epsilon=9.0, delta=0.1)},
    "MajorityVote.from_json": {"member_from_json": lambda: ls.hypothesis_from_json},
    "PrivacyCurve.then": {"other": a_curve},
    "PrivacyGuarantee.within": {"budget": lambda: GUARANTEE},
    "PerKey.restore": {"snapshot": a_fleet_snapshot, "secret": lambda: SECRET},
    "Randomness.from_state": {"state": lambda: ls.seeded(1).state()},
    "Schema.from_toml": {"path": a_schema_file},
    "domain.from_toml": {"path": a_schema_file},
    "WitnessPlan.bound": {"system": lambda: LINE.witness_system()},
    "WitnessPlan.expected": {"system": lambda: LINE.witness_system()},
    "WitnessPlan.risk": {"system": lambda: LINE.witness_system()},
    "WitnessPlan.roughly_expected": {"system": lambda: LINE.witness_system()},
    ".observe_block": {"ones": lambda: [1], "length": lambda: 3},
    ".observe_many": {"losses": lambda: [[0, 1, 0, 1]], "labels": lambda: [1]},
    "IntervalSanitizer.start().observe": {"example": lambda: 1},
    "Subject.from_release": {"recipe": lambda: ls.mechanisms.LaplaceCount(epsilon=1.0)},
    "ZeroConcentrated.rounded_up": {"rho": lambda: Fraction(1, 3)},
    "Perceptron.start().after": {"x": lambda: (0.5, 0.5)},
    "Winnow.start().after": {"x": lambda: (0, 1, 0, 1)},
    ".strategy": {"totals": lambda: Scores()},
    ".strategy_of": {"drawing": lambda: Scores()},
}  # fmt: skip
