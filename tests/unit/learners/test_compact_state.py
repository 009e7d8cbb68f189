"""States of runs are small, the same for the same events, and read in a time that does not grow."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners import snapshots
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.forms import cached_by_identity
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.randomness import Randomness, secure, seeded
from littlestone.randomness.word_sources import Keyed

BUDGET: dict[str, Any] = {"rounds": 10_000, "epsilon": 1.0, "delta": 1e-6}
MAJORITY = PrivateMajority(concepts=Thresholds(1024), **BUDGET)
ADAPTIVE = AgnosticFinite(
    concepts=Thresholds(15), experts=ExponentialWeights(experts=16, **BUDGET), **BUDGET
)
SIZES: dict[str, tuple[PrivateLearner, int]] = {
    "PrivateMajority": (MAJORITY, 2_100),
    "LazyForest": (LazyForest.calibrated(concepts=Points(), **BUDGET), 1_300),
    "AgnosticFinite": (
        AgnosticFinite(
            concepts=Thresholds(998),
            adversary="oblivious",
            experts=ShrinkingDartboard(experts=999, **BUDGET),
            **BUDGET,
        ),
        17_000,
    ),
}


@pytest.fixture(autouse=True)
def another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test starts the same keys anew."""
    monkeypatch.setattr(snapshots, "_newest", {})


def started(recipe: PrivateLearner, number: int = 1) -> PrivateRun:
    return recipe.start(rng=Randomness(Keyed(number.to_bytes(32, "big"))))


def fed(run: PrivateRun, events: int) -> PrivateRun:
    for event in range(run.rounds_played, run.rounds_played + events):
        x = event * 37 % 15
        run.observe(x, int(x == 14))
    return run


@pytest.mark.parametrize("name", SIZES)
def test_a_state_is_small_whatever_was_read_ahead(name: str) -> None:
    recipe, most = SIZES[name]
    assert len(fed(started(recipe), 200).snapshot()) <= most


@pytest.mark.parametrize("name", SIZES)
def test_equal_events_and_keys_make_equal_states(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two processes, and wherever the run was saved and restored on the way."""
    recipe, _ = SIZES[name]
    at_once = fed(started(recipe), 120).snapshot()
    monkeypatch.setattr(snapshots, "_newest", {})  # another process
    state = started(recipe).snapshot()
    for piece in (1, 40, 79):
        state = fed(recipe.restore(state), piece).snapshot()
    assert state == at_once
    monkeypatch.setattr(snapshots, "_newest", {})
    assert fed(started(recipe, number=2), 120).snapshot() != at_once


def test_secure_runs_have_an_identity_of_their_own() -> None:
    one, other = (snapshots.unpack(MAJORITY.start(rng=secure()).snapshot()) for _ in range(2))
    assert one.identity != other.identity


def calls(what: Callable[[], object]) -> int:
    """How many functions were called and iterators resumed."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        what()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("recipe", "early", "late"),
    [(MAJORITY, 2_000, 4_000), (ADAPTIVE, 20, 2_000)],
    ids=["majority, once it has learned", "exponential weights"],
)
def test_restoring_does_not_take_longer_after_more_rounds(
    recipe: PrivateLearner, early: int, late: int
) -> None:
    saved = [fed(started(recipe, number), number).snapshot() for number in (1, early, late)]
    _, few, many = (calls(lambda one=one: recipe.restore(one)) for one in saved)  # type: ignore[misc]
    assert many <= 1.1 * few


def test_the_register_has_one_entry_for_a_run_and_none_for_a_seeded_one() -> None:
    for number in range(5):
        state = MAJORITY.start(rng=seeded(number)).snapshot()
        fed(MAJORITY.restore(state), 1).snapshot()
    assert len(snapshots._newest) == 0
    state = started(MAJORITY).snapshot()
    for _ in range(20):
        state = fed(MAJORITY.restore(state), 1).snapshot()
    assert len(snapshots._newest) == 1


def test_only_the_last_few_objects_are_remembered() -> None:
    told: list[object] = []

    @cached_by_identity
    def tell(value: Any) -> str:
        told.append(value)
        return repr(value)

    first: list[int] = [1]
    assert tell(first) == tell(first) == "[1]" and len(told) == 1
    assert tell([1.0]) == "[1.0]"  # equal, but another object
    for number in range(100):
        tell([number])
    tell(first)
    assert len(told) == 103
