"""A valid call of everything public, to be spoiled: constructors, functions, methods, runs.

Values and functions are listed by hand; methods are found by inspection, and their arguments by
the names of their parameters, so a new method is called without a change here. What has a ``start``
is started, and the methods of the run are called as well.
"""

import inspect
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.conformance.test_plain_numbers import _given
from tests.conformance.test_refusals import subjects
from tests.golden.games import small_teachers

import littlestone as ls
from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.privacy.charge import Charge
from littlestone.word_sources import Seeded

PAIR: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3}
LONG: dict[str, Any] = {"rounds": 120, **PAIR}
LINE = ls.Thresholds(3)
TABLE = ls.FiniteClass([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
SCHEMA = ls.Schema.from_mapping(
    {"delay": {"grid": [0, 15, 60]}, "carrier": {"values": ["UA", "AA", "B6"]}}
)
RECORDS = [{"delay": 20, "carrier": "UA"}, {"delay": 3, "carrier": "AA"}]
GUARANTEE = ls.PrivacyGuarantee(**PAIR)
MAJORITY = ls.PrivateMajority(concepts=LINE, rounds=120, epsilon=1.0)
SELECTION = ls.ProperSelection(concepts=LINE, epsilon=1.0)
TREE = ls.TreeSanitizer(concepts=LINE, epsilon=1.0)
EPOCH = ls.EpochPlan(votes=3, rate=1.0, weights=(1, 2), thresholds=(1, 1, 2))
QUESTION = OneQuestion(zero=[1, 1], one=[1, 2])
EXAMPLES = [(0, 0), (1, 1), (2, 1)]
NUMBERS = count()
FOLDER = tempfile.TemporaryDirectory(prefix="littlestone-hostile-")


def trees(size: int, parts: int) -> ls.Sanitizer:
    return ls.TreeSanitizer(concepts=LINE, epsilon=1.0 / parts)


def new_path() -> Path:
    return Path(FOLDER.name) / f"{next(NUMBERS)}.store"


def a_ledger() -> ls.Ledger:
    ledger = ls.Ledger(budget=GUARANTEE, private=True)
    ledger.charge("first", ls.PrivacyGuarantee(epsilon=0.25), first=1)
    return ledger


@cache
def a_curve() -> ls.PrivacyCurve:
    subject = ls.Subject.from_release(ls.PermuteAndFlip(epsilon=1.0), ls.PermuteAndFlip(epsilon=1.0).draw)
    return ls.privacy_curve(subject, QUESTION, rounds=1)


@cache
def a_schema_file() -> Path:
    path = Path(FOLDER.name) / "schema.toml"
    path.write_text('[delay]\ngrid = [0, 15]\n[carrier]\nvalues = ["UA", "AA"]\n', encoding="utf-8")
    return path


VALUES: list[Callable[[], Any]] = [
    lambda: ls.AgnosticEmpirical(learner=SELECTION, size=40, sampled=10, epsilon=0.3),
    lambda: ls.AuditReport(
        subject="a", adversary="b", claimed=GUARANTEE, epsilon_lower_bound=0.5,
        failure_probability=0.01, runs=100, seconds=1.0,
    ),
    lambda: ls.Batches(first=2, growth=1.5),
    lambda: ls.BernoulliExp(exponent=0.5),
    lambda: ls.Boxes(2, 4),
    lambda: ls.Candidate(name="a", recipe=MAJORITY, bound=3.0, expected=2.0, calibrated=False),
    lambda: ls.Category("carrier", ("UA", "AA"), missing="UA"),
    lambda: ls.ConsistencyTracker(LINE),
    lambda: ls.CorrelatedSums(releases=4, width=2, longest_squared=4, rho=0.5),
    lambda: ls.DartboardPlan(rate=0.01, fake=0.5, batch=2, cap=30),
    lambda: ls.DecisionTree(SCHEMA, ((0, 2, 2), ((1, 0, 0), 1, 0), 0)),
    lambda: ls.DecisionTrees(SCHEMA, 2),
    lambda: ls.DiscreteLaplace(rate=0.5),
    lambda: EPOCH,
    lambda: ls.Event("a", 1, 1),
    lambda: ls.Examples([0, 1], [0, 1]),
    lambda: TABLE,
    lambda: ls.ForestBudgets(switching=(0.5, 0.5), listing=(GUARANTEE,)),
    lambda: ls.Geometric(rate=0.5, size=9),
    lambda: ls.IntervalSanitizer(rounds=16, family=trees, domain=LINE.domain, shortest=2),
    lambda: ls.KeySets(),
    lambda: ls.LabelConversion(sanitizer=TREE, domain=LINE.domain, anchor=2, count_epsilon=0.25),
    lambda: ls.Leaf(LINE.concept(1)),
    a_ledger,
    lambda: ls.MajorityVote([LINE.concept(1), LINE.concept(2), LINE.concept(2)]),
    lambda: ls.MarginHalfspaces(2, 0.5),
    lambda: ls.NoisyLosses(concepts=LINE, **LONG),
    lambda: ls.Numeric("delay", (0.0, 15.0), missing=-1.0),
    lambda: ls.PerKey(learner=MAJORITY, max_keys=2),
    lambda: ls.PredictionPlan(copies=30, rate=0.15, cap=20, cap_epsilon=1.0),
    a_curve,
    lambda: ls.PrivatePrediction(concepts=LINE, **LONG),
    lambda: MAJORITY.start(rng=ls.seeded(1)),
    small_teachers,
    lambda: small_teachers().plan,
    lambda: ls.seeded(1),
    lambda: ls.keyed(bytes(32), label=f"hostile {next(NUMBERS)}"),
    lambda: ls.RationalBall(2),
    lambda: ls.Receipt(1, 1),
    lambda: ls.Recommendation(candidates=(), refused={}, rounds=9, explanation="none"),
    lambda: ls.Round(number=1, hypothesis=LINE.concept(1), x=1, y=1, mistake=False),
    lambda: ls.Rule(SCHEMA, ((0, 1, 2),)),
    lambda: ls.SampledPlan(threshold_epsilon=0.5, epochs=(EPOCH,)),
    lambda: SCHEMA,
    lambda: ls.Scorecard(SCHEMA, -5, ((10,), (0, -30, 1))),
    lambda: ls.SparseSets(2, 9),
    lambda: ls.Stumps(SCHEMA, 2),
    lambda: ls.Subject.from_learner(MAJORITY),
    lambda: ls.TableHypothesis(bytes([0, 1, 1])),
    lambda: ls.play(ls.Halving(LINE), ls.Boundary(LINE), rounds=5, rng=ls.seeded(1), record=2),
    lambda: ls.TruncatedLaplace(rate=0.5, bound=9),
    lambda: ls.shattered_tree(LINE),
    lambda: ls.Visit("a", MAJORITY, 1, 2),
    lambda: ls.WitnessPlan(query_rate=1.5, threshold_rate=1.5, threshold=1, again=1),
    lambda: ls.DurableRun.start(MAJORITY, new_path()),
    lambda: ls.Client("http://127.0.0.1:9", patience=0.0, timeout=0.5),
    lambda: ls.PrivateKeys(**LONG),
    lambda: ls.PrivateMajority(concepts=LINE, **LONG),
]  # fmt: skip

# What constructors that keep no fields are given.
GIVEN: dict[str, Callable[[], dict[str, Any]]] = {
    "Client": lambda: {"url": "http://127.0.0.1:9", "token": "t"},
    "ConsistencyTracker": lambda: {"concepts": LINE},
    "DurableRun": lambda: {"recipe": MAJORITY, "store": None, "run": None},
    "Examples": lambda: {"points": [0, 1], "labels": [0, 1]},
    "FiniteClass": lambda: {"matrix": [[0, 1], [1, 1]]},
    "Ledger": lambda: {"budget": GUARANTEE, "private": True},
    "MajorityVote": lambda: {"members": [LINE.concept(1), LINE.concept(2)]},
    "MarginHalfspaces": lambda: {"dimension": 2, "margin": 0.5},
    "PrivateRun": lambda: {
        "recipe": MAJORITY, "engine": MAJORITY.engine(ls.seeded(1)), "rng": ls.seeded(1),
        "identity": "a",
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
    "keyed": lambda: {"key": bytes(32), "label": f"hostile {next(NUMBERS)}"},
    "majority": lambda: {"concepts": TABLE, "members": 3},
    "optimal_composition": lambda: {"cost": GUARANTEE, "count": 3, "extra_delta": 1e-6},
    "parallel_composition": lambda: {"costs": [GUARANTEE], "prefix_conditional": True},
    "play": lambda: {
        "learner": ls.Halving(LINE), "adversary": ls.Boundary(LINE), "rounds": 9,
        "rng": ls.seeded(1),
    },
    "play_predictions": lambda: {
        "learner": ls.PrivatePrediction(concepts=LINE, **LONG), "adversary": ls.Boundary(LINE),
        "rounds": 9, "rng": ls.seeded(1),
    },
    "points_floor": lambda: dict(LONG),
    "privacy_curve": lambda: {
        "subject": ls.Subject.from_release(ls.PermuteAndFlip(epsilon=1.0), ls.PermuteAndFlip(epsilon=1.0).draw), "adversary": QUESTION,
        "rounds": 1,
    },
    "recommend": lambda: {"concepts": LINE, **LONG},
    "sanitizer_for": lambda: {"concepts": LINE, "size": 200, **PAIR},
    "secure": dict,
    "seeded": lambda: {"seed": 1},
    "union": lambda: {"left": TABLE, "right": TABLE},
    "user_level": lambda: {"guarantee": GUARANTEE, "max_contributions": 2},
    "xor": lambda: {"left": TABLE, "right": TABLE},
}  # fmt: skip

REFUSALS_MADE: dict[str, dict[str, Any]] = {
    "AlteredError": {"args": ("a",)},
    "BudgetExceededError": {"message": "a", "requested": 1, "spent": 1, "budget": 1},
    "HorizonExceededError": {"rounds": 9},
    "SequenceGapError": {"expected": 1, "got": 2},
    "NotRealizableError": {"message": "a", "round_number": 1},
    "TooFewExamplesError": {"size": 1, "needed": 2, "error": 0.5, "failure_probability": 0.5},
}

# Valid arguments of methods, by the names of their parameters.
BY_NAME: dict[str, Callable[[], Any]] = {
    "after": lambda: 0, "at_least": lambda: 1, "asked": lambda: {**PAIR, "error": 0.5, "failure_probability": 0.1},
    "base_mistakes": lambda: 2, "batch": lambda: 1, "bit": lambda: 1, "bound": lambda: 9,
    "cells": lambda: SCHEMA.check_many(RECORDS), "charge": lambda: Charge(mechanism="a", cost=GUARANTEE, first=1),
    "charges": tuple, "chosen": lambda: [0, 1], "concentrated": lambda: ls.ZeroConcentrated(rho=0.1),
    "concentrated_delta": lambda: 1e-6, "concept": lambda: LINE.concept(1), "concepts": lambda: LINE,
    "copies": lambda: 2, "copy": lambda: "copy", "cost": lambda: ls.PrivacyGuarantee(epsilon=0.5),
    "count": lambda: 3, "counts": lambda: Counter({LINE.concept(1): 5}), "data": lambda: LINE.concept(1).to_json(),
    "dataset": lambda: list(EXAMPLES), "declared": lambda: {"a": {"grid": [0, 1]}}, "deepest": lambda: 9,
    "delta": lambda: 1e-4, "dimension": lambda: 1, "domain": lambda: LINE.domain, "draws": lambda: 9,
    "dtype": lambda: np.int64, "each": lambda: GUARANTEE, "epsilon": lambda: 0.5, "error": lambda: 0.5,
    "eta": lambda: 0.5, "events": lambda: [ls.Event("a", 1, 1)], "exponent": lambda: 3,
    "failure_probability": lambda: 0.1, "family": lambda: trees, "first": lambda: 2,
    "generator": lambda: np.random.default_rng(1), "high": lambda: 2, "instances": lambda: 2, "keys": lambda: 3,
    "label": lambda: 1, "labels": lambda: np.array([0, 1], dtype=np.uint8), "last": lambda: 5, "layer": lambda: 1,
    "learner": lambda: SELECTION, "left": lambda: 1, "listing": lambda: [GUARANTEE], "low": lambda: 1,
    "mechanism": lambda: "again", "member_from_json": lambda: ls.hypothesis_from_json, "mistakes_moved": lambda: 1,
    "most": lambda: 2, "number": lambda: 1, "other": lambda: LINE.concept(2), "part": lambda: 1, "parts": lambda: 2,
    "path": new_path, "played": lambda: 1, "point": lambda: 1, "points": lambda: [0, 1], "position": lambda: 1,
    "private": lambda: True, "probabilities": lambda: {"failure_probability": 0.1}, "queries": lambda: 9,
    "read": lambda: a_ledger, "reason": lambda: "was retired", "recipe": lambda: MAJORITY, "released": lambda: [(1, 2)],
    "rho": lambda: 0.5, "right": lambda: 5, "rng": lambda: ls.seeded(1), "round_number": lambda: 4, "rounds": lambda: 64,
    "rule": lambda: "proved", "run": lambda: "a", "scores": lambda: [1, 2, 3], "secret": lambda: next(NUMBERS).to_bytes(32, "big"),
    "seed": lambda: 1, "share": lambda: 0.5, "size": lambda: 50, "slots": lambda: 3, "stage": lambda: 1,
    "tally": lambda: {0: (1, 2), 1: (0, 3)}, "text": lambda: a_ledger().to_json(), "threshold": lambda: 3, "total": lambda: GUARANTEE,
    "value": lambda: 1, "values": lambda: [1, 2], "whole": lambda: 3, "width": lambda: 0.5, "x": lambda: 1, "xs": lambda: [0, 1],
    "y": lambda: 1, "ys": lambda: [0, 1], "name": lambda: "a", "key": lambda: "a", "predicate": lambda: (lambda x: x > 1), "element": lambda: 1,
    "losses": lambda: [0, 1, 0, 1], "published": lambda: None, "hypothesis": lambda: LINE.concept(1), "example": lambda: (1, 1),
}  # fmt: skip

FOR: dict[str, dict[str, Callable[[], Any]]] = {}


class Target(NamedTuple):
    """Something to call, and arguments it takes, all made anew for each call."""

    name: str
    called: Callable[[], Callable[..., Any]]
    given: Callable[[], dict[str, Any]]


def is_made(member: Any) -> bool:
    return (
        inspect.isclass(member)
        and not getattr(member, "_is_protocol", False)
        and not issubclass(member, Exception)
        and not inspect.isabstract(member)
    )


@cache
def makers() -> dict[str, Callable[[], Any]]:
    """How to make one value of each public class, by its name."""
    found: dict[str, Callable[[], Any]] = {
        type(value).__name__: partial(lambda value: value, value) for value in subjects()
    }
    for make in VALUES:
        found[type(make()).__name__] = make
    return {name: found[name] for name in sorted(found) if name in ls.__all__}


def started() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The runs of what can be started, except for attacks, and the domains of concept classes."""
    for name, make in makers().items():
        value = make()
        if hasattr(value, "start") and not hasattr(value, "realizable") and name != "DurableRun":
            yield f"{name}.start()", partial(_run_of, make, f"{name}.start")
        if hasattr(value, "domain") and hasattr(value, "version_space"):
            yield f"{name}.domain", partial(_part_of, make, "domain")


def _run_of(make: Callable[[], Any], name: str) -> Any:
    start = make().start
    return start(**arguments_of(start, name))


def _part_of(make: Callable[[], Any], part: str) -> Any:
    found = getattr(make(), part)
    return found() if callable(found) else found


def arguments_of(method: Any, name: str) -> dict[str, Any]:
    special = FOR.get(name, {})
    given = {}
    for each in inspect.signature(method).parameters.values():
        if each.name in special:
            given[each.name] = special[each.name]()
        elif each.default is each.empty or each.name == "rng":
            given[each.name] = BY_NAME[each.name]() if each.name in BY_NAME else None
    return given


# Doors for callers who have validated what they hand over, as their documentation says.
TRUSTED = ("observe_canonical", "observe_many_canonical", "restored", "resumed", "switch")


def methods_of(name: str, make: Callable[[], Any]) -> Iterator[Target]:
    try:
        value = make()
    except ValueError:  # a class too large to have a version space, say
        return
    for attribute, member in inspect.getmembers_static(type(value)):
        plain = isinstance(member, property)
        if attribute in TRUSTED or attribute.startswith("_") or plain or not callable(getattr(value, attribute, None)):
            continue
        method = getattr(value, attribute)
        if not (inspect.isfunction(method) or inspect.ismethod(method)):
            continue
        full = f"{name}.{attribute}"
        yield Target(
            full,
            partial(lambda make, attribute: getattr(make(), attribute), make, attribute),
            partial(arguments_of, method, full),
        )


@cache
def targets() -> tuple[Target, ...]:
    found = []
    for name, make in makers().items():
        kind = getattr(ls, name)
        given = GIVEN.get(name) or (lambda make=make: _given(make()) if hasattr(make(), "__dataclass_fields__") else make()._asdict() if hasattr(make(), "_asdict") else {})
        found.append(Target(name, partial(lambda kind: kind, kind), given))
        found += methods_of(name, make)
    for name, make in started():
        found += methods_of(name, make)
    for name in ls.__all__:
        member = getattr(ls, name)
        if inspect.isfunction(member):
            given = FUNCTIONS.get(name, lambda: {"concepts": TABLE})
            found.append(Target(name, partial(lambda f: f, member), given))
    return tuple(found)


def call(target: Target, given: dict[str, Any]) -> Any:
    called = target.called()
    signature = inspect.signature(called)
    bound = inspect.BoundArguments(signature, {})
    for each in signature.parameters.values():
        if each.name in given:
            bound.arguments[each.name] = given[each.name]
    return called(*bound.args, **bound.kwargs)
