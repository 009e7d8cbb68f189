"""Whatever is handed over, only refusals come back, and a refusal changes nothing.

Constructors of all public recipes get fields of the wrong kind, runs get bad examples, readers get
mangled JSON and snapshots. ValueError, TypeError and the library's own errors are refusals;
anything else is a defect.
"""

import copy
import inspect
import json
import math
import os
import pickle
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.battery import TAKES
from tests.conformance.test_plain_numbers import LINE, PAIR, _given, recipes

from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.keys import key_from_json
from littlestone.errors import LittlestoneError, SnapshotError
from littlestone.game.adversaries.replay import Replay
from littlestone.learners.batch.irreducible import IrreducibleLearner
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.learners.batch.subsampling import Subsampled
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.linear import Perceptron, Winnow
from littlestone.learners.online.proper_agnostic import ProperAgnostic
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.randomness import seeded

REFUSALS = (ValueError, TypeError, LittlestoneError)
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
SPOILED = int(os.environ.get("SPOILED", "600"))
MANY = settings(max_examples=SPOILED, deadline=None, suppress_health_check=list(HealthCheck))
# A number of the right kind that only makes a plan long is left out: epsilons of 1e-9, say.
WRONG: list[Any] = [
    None, object(), "x", "", b"", -1, 0, 1, 2, 2**70, -(2**70), math.nan, math.inf, -math.inf,
    1e-300, 5e-324, 1e308, 1e9, True, [], (), {}, 1j, Decimal(1), np.array([1.0]), int, len,
    Fraction(1, 10**400), np.int8(3), 0.5, (1, 2), [0.5], "replace", Thresholds(5), seeded(1),
    Points(), MonotoneDisjunctions(1, 4), MarginHalfspaces(2, 0.5), StandardOptimal(Points()),
    LaplaceCount(epsilon=1.0), ProperSelection(concepts=LINE, epsilon=1.0), (None,), (object(),),
]  # fmt: skip


@cache
def subjects() -> list[Any]:
    """One of each kind with numbers, and of those that hold other recipes."""
    chooser = ProperSelection(concepts=LINE, epsilon=1.0)
    sizes: dict[str, Any] = {"blocks": 60, "samples": 600, "error": 0.5, "failure_probability": 0.1}
    return [
        *recipes(),
        *(Conjunctions(3), Intervals(5), Points(4), MonotoneDisjunctions(1, 4)),
        *(Winnow(MonotoneDisjunctions(1, 4)), Perceptron(MarginHalfspaces(2, 0.5))),
        *(SparseMajority(LINE), ProperAgnostic(concepts=LINE, rounds=100)),
        *(chooser, Subsampled(learner=chooser, draws=10, size=100)),
        IrreducibleLearner(concepts=FiniteClass.from_class(Points(4)), **PAIR, **sizes),
        *(
            Replay(LINE, [(0, 1)]),
            FreshPlan(threshold_epsilon=0.5, threshold=5, selection_rate=0.5),
        ),
    ]


def fields() -> list[tuple[int, str]]:
    return [(index, name) for index, recipe in enumerate(subjects()) for name in _given(recipe)]


SLOW = {
    ("RealizableExperts", "epsilon"),
    ("PrivateMajority", "epsilon"),
    ("SanitizedExperts", "rounds"),
}


def a_wrong_field_is_refused(place: tuple[int, str], wrong: Any, second: Any) -> None:
    recipe, name = subjects()[place[0]], place[1]
    if (type(recipe).__name__, name) in SLOW and isinstance(wrong, float | int):
        return
    before = repr(recipe)
    fields = {**_given(recipe), name: wrong}
    if second is not None:
        fields[sorted(fields)[second % len(fields)]] = "x"
    try:
        made = type(recipe)(**fields)
        assert repr(made)
        if hasattr(made, "guarantee"):
            made.guarantee()
        if hasattr(made, "start"):
            start_of(made)
    except REFUSALS:
        pass
    assert repr(recipe) == before


def start_of(made: Any) -> Any:
    needs_coins = "rng" in inspect.signature(made.start).parameters
    return made.start(rng=seeded(1)) if needs_coins else made.start()


PLACES = st.deferred(lambda: st.sampled_from(fields()))
ANY_WRONG = st.sampled_from(WRONG)
SECOND = st.none() | st.integers(0, 9)


@FEW
@given(PLACES, ANY_WRONG, SECOND)
def test_constructors_refuse(place: tuple[int, str], wrong: Any, second: int | None) -> None:
    a_wrong_field_is_refused(place, wrong, second)


@pytest.mark.slow
@MANY
@given(PLACES, ANY_WRONG, SECOND)
def test_constructors_refuse_thousands(
    place: tuple[int, str], wrong: Any, second: int | None
) -> None:
    a_wrong_field_is_refused(place, wrong, second)


@pytest.mark.parametrize("concepts", [Thresholds(4), Points(), Points(4), None, object()])
def test_the_irreducibility_learner_takes_tables_only(concepts: Any) -> None:
    sizes: dict[str, Any] = {"blocks": 60, "samples": 600, "error": 0.5, "failure_probability": 0.1}
    with pytest.raises(ValueError, match="concepts must be of the kind FiniteClass"):
        IrreducibleLearner(concepts=concepts, **PAIR, **sizes)


def test_strange_keys_are_refused_at_the_door_and_good_ones_are_not() -> None:
    """Sanitized experts met ``object()`` keys in a batch's end, with the ledger advanced."""
    recipe = SanitizedExperts(concepts=Points(), rounds=1000, epsilon=1.0, delta=1e-6)
    run = recipe.start(rng=seeded(1))
    before = run.ledger.to_json()
    for _ in range(20):
        with pytest.raises(ValueError, match="x must be made of"):
            run.observe(object(), 1)
    assert run.rounds_played == 0 and run.ledger.to_json() == before
    for number in range(40):
        run.observe(("key", number, None), number % 2)
    assert run.rounds_played == 40


LEARNER_NAMES = sorted(name for name, entry in LEARNERS.items() if entry.private)


@cache
def run_of(name: str) -> Any:
    """One run for all examples, of this learner over thresholds, or of a forest over points."""
    long: dict[str, Any] = {"rounds": 10**5, "epsilon": 1.0, "delta": 1e-3}
    if name == "points":
        return LazyForest.calibrated(concepts=Points(), **long).start(rng=seeded(1))
    return LEARNERS[name].build(TAKES.get(name, Thresholds(3)), **long).start(rng=seeded(1))


def a_bad_example_changes_nothing(name: str, x: Any, y: Any, block: bool) -> None:
    run = run_of(name)
    before = (run.rounds_played, run.switches, repr(run.hypothesis), run.ledger.spent())
    try:
        if block:
            run.observe_many([x, x], [y, y])
        else:
            run.observe(x, y)
    except REFUSALS:
        after = (run.rounds_played, run.switches, repr(run.hypothesis), run.ledger.spent())
        assert after == before
    else:
        assert run.rounds_played > before[0]


EXAMPLES = (st.sampled_from([*LEARNER_NAMES, "points"]), ANY_WRONG, ANY_WRONG, st.booleans())


@FEW
@given(*EXAMPLES)
def test_examples_are_refused_without_effect(name: str, x: Any, y: Any, block: bool) -> None:
    a_bad_example_changes_nothing(name, x, y, block)


@pytest.mark.slow
@MANY
@given(*EXAMPLES)
def test_thousands_of_examples_are_refused_without_effect(
    name: str, x: Any, y: Any, block: bool
) -> None:
    a_bad_example_changes_nothing(name, x, y, block)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["kind", "positives", "members", "n", "k", "tuple", "bytes", "date"])
            | st.text(max_size=4),
            inner | st.sampled_from(["support", "threshold", "majority_vote", "table", "steps"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)


def json_is_read_or_refused(data: Any) -> None:
    outcomes = []
    for read in (
        hypothesis_from_json,
        key_from_json,
        lambda data: Ledger.from_json(json.dumps(data)),
    ):
        try:
            outcomes.append(repr(read(copy.deepcopy(data))))
        except REFUSALS as refusal:
            outcomes.append(str(refusal))
    assert all(outcomes) and len(outcomes) == 3


@FEW
@given(JSON)
def test_json_is_refused(data: Any) -> None:
    json_is_read_or_refused(data)


@pytest.mark.slow
@MANY
@given(JSON)
def test_thousands_of_json_values_are_refused(data: Any) -> None:
    json_is_read_or_refused(data)


SNAPSHOT_OF = LazyForest.calibrated(concepts=Thresholds(3), rounds=100, epsilon=1.0, delta=1e-3)
SNAPSHOT = SNAPSHOT_OF.start(rng=seeded(1)).snapshot()


def a_mangled_snapshot_is_refused(cut: int, noise: bytes, whole: bool) -> None:
    cut %= len(SNAPSHOT)
    mangled = SNAPSHOT[:cut] + noise + (SNAPSHOT[cut + len(noise) :] if whole else b"")
    if mangled == SNAPSHOT:
        return
    with pytest.raises(SnapshotError):
        SNAPSHOT_OF.restore(mangled)


MANGLED = (st.integers(0, 10**6), st.binary(max_size=9), st.booleans())


@FEW
@given(*MANGLED)
def test_mangled_snapshots_are_refused(cut: int, noise: bytes, whole: bool) -> None:
    a_mangled_snapshot_is_refused(cut, noise, whole)


@pytest.mark.slow
@MANY
@given(*MANGLED)
def test_thousands_of_mangled_snapshots_are_refused(cut: int, noise: bytes, whole: bool) -> None:
    a_mangled_snapshot_is_refused(cut, noise, whole)


def test_a_pickle_is_no_snapshot() -> None:
    with pytest.raises(SnapshotError):
        SNAPSHOT_OF.restore(pickle.dumps({"recipe": "x"}))
