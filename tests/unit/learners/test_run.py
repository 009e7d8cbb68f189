"""The run that guards an engine: validation, horizon, wrappers."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from tests.unit.learners.coin_flipper import CONCEPTS, CoinFlipper, published

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.engine import round_at, single_rounds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.randomness import secure, seeded


@pytest.mark.parametrize(
    "example", [(8, 0), (-1, 0), (float("nan"), 1), (2, 2), (2, None), ("a", 0)]
)
def test_bad_input_is_refused_and_changes_nothing(example: tuple[Any, Any]) -> None:
    run, untouched = CoinFlipper().start(rng=seeded(1)), CoinFlipper().start(rng=seeded(1))
    with pytest.raises(ValueError):
        run.observe(*example)
    assert run.rounds_played == 0
    assert published(run, 50) == published(untouched, 50)


def test_a_bad_block_is_refused_whole() -> None:
    run = CoinFlipper().start(rng=seeded(1))
    with pytest.raises(ValueError, match="labels"):
        run.observe_many(np.array([1, 2, 3]), [0, 1, 2])
    with pytest.raises(ValueError, match="equally long"):
        run.observe_many([1, 2, 3], [0, 1])
    assert run.rounds_played == 0


@pytest.mark.parametrize("learner", [AgnosticFinite, PrivateMajority])
def test_a_table_of_labels_is_refused_before_a_round(learner: Any) -> None:
    """Each of its rows could pass for a label."""
    run = learner(concepts=Thresholds(8), rounds=9, epsilon=1.0, delta=1e-6).start(rng=seeded(1))
    with pytest.raises(ValueError, match="labels must be one-dimensional"):
        run.observe_many([1, 2, 3], np.array([[1], [1], [0]]))
    assert run.rounds_played == 0


@pytest.mark.parametrize("bad", [np.ma.masked, np.array(7), {"x": 0j}, ()])
def test_a_bad_record_takes_no_other_with_it(bad: Any) -> None:
    learner = DisjointBatches(
        concepts=Stumps(Schema.from_mapping({"x": {"grid": [1]}}), 1), epsilon=1.0
    )
    run, rows = learner.start(rng=seeded(1)), [{"x": 0}] * 6 + [bad] + [{"x": 1}] * 3
    seen = 0
    while seen < 6:
        seen += run.observe_many(rows[seen:], [1] * (10 - seen))
    with pytest.raises(ValueError):
        run.observe_many(rows[seen:], [1] * (10 - seen))
    assert run.rounds_played == seen == 6


def test_a_list_is_validated_as_far_as_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    run, checked = CoinFlipper(rounds=None, period=2).start(rng=seeded(1)), 0

    def counting(xs: Any) -> Any:
        nonlocal checked
        checked += len(xs)
        return CONCEPTS.domain.check_many(xs)

    monkeypatch.setattr(run, "_check_many", counting)
    taken = 0
    while taken < 1000:
        taken += run.observe_many([1] * 2048, [1] * 2048)
    assert run.rounds_played == taken
    assert checked < 8 * taken  # two rounds at a time, of pieces that begin with four


@pytest.mark.parametrize("before", [0, 1, 3, 7, 100])
def test_a_bad_row_is_refused_when_it_is_reached_and_takes_no_other_with_it(before: int) -> None:
    points, labels = [1] * before + [8] + [1] * 100, [1] * (before + 101)
    run = CoinFlipper(rounds=None, period=10**6).start(rng=seeded(1))
    seen = 0
    while seen < before:
        seen += run.observe_many(points[seen:], labels[seen:])
        assert run.rounds_played == seen
    with pytest.raises(ValueError, match="got x=8"):
        run.observe_many(points[seen:], labels[seen:])
    assert run.rounds_played == before


@pytest.mark.parametrize(
    "points",
    [["a", ("b", 1)], np.array([3, 4]), np.array([[3, 4], [5, 6]]), np.array(["a", 2**70], object)],
)
def test_one_round_of_a_block_is_what_all_of_them_are(points: Any) -> None:
    labels = np.array([1, 0], dtype=np.uint8)
    rounds = [round_at(points, labels, place) for place in range(2)]
    assert rounds == list(single_rounds(points, labels))
    assert [type(x) for x, _ in rounds] == [type(x) for x, _ in single_rounds(points, labels)]


def test_pieces_end_with_the_horizon() -> None:
    run = CoinFlipper(rounds=36, period=10**6).start(rng=seeded(1))
    assert run.observe_many([1] * 100, [1] * 100) == 36  # where a piece ends, too
    with pytest.raises(HorizonExceededError):
        run.observe_many([1] * 100, [1] * 100)


def test_the_horizon_is_refused_by_name_and_publishing_goes_on() -> None:
    run = CoinFlipper(rounds=5).start(rng=seeded(1))
    published(run, 5)
    last = run.hypothesis
    with pytest.raises(HorizonExceededError, match="all 5 rounds"):
        run.observe(1, 1)
    with pytest.raises(HorizonExceededError):
        run.observe_many([1], [1])
    assert run.hypothesis is last and run.rounds_played == 5
    assert "horizon used up" in run.status


def test_a_block_is_cut_at_the_horizon() -> None:
    run = CoinFlipper(rounds=5, period=100).start(rng=seeded(1))
    assert run.observe_many(np.zeros(9, dtype=int), np.zeros(9, dtype=int)) == 5


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("first_rounds", [1, 4])
def test_a_list_is_cut_at_the_horizon(
    rounds: int, first_rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = CoinFlipper(rounds=rounds, period=100).start(rng=seeded(1))
    monkeypatch.setattr(type(run._engine), "first_rounds", first_rounds)
    assert run.observe_many([1] * 9, [1] * 9) == rounds
    with pytest.raises(HorizonExceededError):
        run.observe_many([1] * 9, [1] * 9)
    assert run.rounds_played == rounds


def test_a_run_can_be_neither_copied_nor_pickled() -> None:
    run = CoinFlipper().start()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="snapshot"):
            attempt(run)


def test_restarting_runs_a_fresh_copy_after_a_halt() -> None:
    recipe = Restarting(learner=CoinFlipper(life=10))
    run = recipe.start(rng=secure())
    published(run, 35)
    assert "restarted 3 times" in run.status
    assert len(run.ledger.charges) == 4
    assert recipe.guarantee() == CoinFlipper().guarantee()
    assert run.ledger.spent().within(recipe.guarantee())


def test_restarting_charges_learners_without_the_prefix_property() -> None:
    learner = CoinFlipper(life=10, prefix_conditional=False)
    with pytest.raises(ValueError, match="restarts must be given"):
        Restarting(learner=learner)
    recipe = Restarting(learner=learner, restarts=2)
    assert recipe.guarantee().delta == pytest.approx(3e-6)
    run = recipe.start(rng=secure())
    published(run, 60)
    assert "restarted 2 times" in run.status
    assert run.ledger.spent().delta == pytest.approx(3e-6)


def test_the_epochs_of_an_unknown_horizon_double() -> None:
    recipe = UnknownHorizon(learner=CoinFlipper(), first_rounds=4)
    run = recipe.start(rng=secure())
    published(run, 4 + 8 + 1)
    assert [(charge.first, charge.last) for charge in run.ledger.charges] == [
        (1, 4),
        (5, 12),
        (13, 28),
    ]
    assert run.ledger.spent() == CoinFlipper().guarantee()


def test_an_unknown_horizon_charges_learners_without_the_prefix_property() -> None:
    learner = CoinFlipper(prefix_conditional=False)
    with pytest.raises(ValueError, match="epochs must be given"):
        UnknownHorizon(learner=learner)
    recipe = UnknownHorizon(learner=learner, first_rounds=4, epochs=2)
    assert recipe.guarantee().delta == pytest.approx(2e-6)
    run = recipe.start(rng=seeded(1))
    published(run, 20)
    assert "all 2 epochs" in run.status


@pytest.mark.parametrize(
    "recipe",
    [
        Restarting(learner=CoinFlipper(life=7)),
        UnknownHorizon(learner=CoinFlipper(), first_rounds=4),
        UnknownHorizon(learner=CoinFlipper(), first_rounds=4, epochs=2),
    ],
    ids=["restarting", "unknown-horizon", "epochs over"],
)
@pytest.mark.parametrize("rounds", [0, 6, 7, 12, 13, 30])
def test_wrapped_runs_continue_from_snapshots(recipe: Any, rounds: int) -> None:
    run = recipe.start(rng=seeded(2))
    published(run, rounds)
    restored = recipe.restore(run.snapshot())
    assert published(restored, 40) == published(run, 40)
    assert restored.status == run.status


def test_an_unknown_horizon_promises_the_budget_of_every_epoch() -> None:
    """What an epoch uses of it depends on its length; the promise must not."""
    learner = AgnosticFinite(concepts=CONCEPTS, rounds=64, epsilon=1.0, delta=1e-6)
    run = UnknownHorizon(learner=learner, first_rounds=4).start(rng=secure())
    published(run, 40)
    assert run.ledger.spent().within(run.recipe.guarantee())


def test_snapshots_tell_classes_apart_that_look_alike() -> None:
    one, other = FiniteClass([[0, 1], [1, 1]]), FiniteClass([[0, 0], [1, 1]])
    assert repr(one) == repr(other)
    budget: dict[str, Any] = {"rounds": 50, "epsilon": 1.0, "delta": 1e-6}
    saved = AgnosticFinite(concepts=one, **budget).start(rng=seeded(1)).snapshot()
    with pytest.raises(SnapshotError, match="another recipe"):
        AgnosticFinite(concepts=other, **budget).restore(saved)


def test_a_bad_row_does_not_use_up_the_rows_before_it() -> None:
    """Rows before a bad one are looked at twice."""
    learner = PrivateMajority(concepts=Conjunctions(2), rounds=9, epsilon=1.0, delta=1e-6)
    run = learner.start(rng=seeded(1))
    points: list[Any] = [(bit for bit in (1, 0)), (bit for bit in (0, 1))]
    for rows in (points, [*points, None]):
        with pytest.raises(ValueError, match="generator"):
            run.observe_many(rows, [0] * len(rows))
    assert run.rounds_played == 0
