"""The run that guards an engine: validation, horizon, snapshots, wrappers."""

import copy
import fcntl
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners import snapshots
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.engine import Engine
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.wrappers.restarting import Restarting
from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness, secure, seeded

CONCEPTS = Thresholds(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinFlipper(PrivateLearner):
    """A toy: publishes a random threshold every ``period`` rounds, halts after ``life`` rounds."""

    rounds: int | None = 100
    period: int = 3
    life: int = 1000
    prefix_conditional: bool = True
    concepts: Thresholds = CONCEPTS
    max_contributions: int = 1
    oblivious_only: bool = False

    @property
    def per_example(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=1.0, delta=1e-6)

    def engine(self, rng: Randomness) -> "CoinFlipperEngine":
        return CoinFlipperEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class CoinFlipperEngine(Engine):
    taken: int
    hypothesis: Hypothesis
    ledger: Ledger

    def __init__(self, recipe: CoinFlipper, rng: Randomness) -> None:
        self.recipe, self.rng = recipe, rng

    def begin(self) -> None:
        self.taken = 0
        self.hypothesis = list(CONCEPTS.concepts())[self.rng.below(9)]
        self.ledger = Ledger(budget=self.recipe.per_example, private=self.rng.private)

    @property
    def halted(self) -> bool:
        return self.taken >= self.recipe.life

    @property
    def status(self) -> str:
        return "halted" if self.halted else "learning"

    def step(self, x: Any, y: Label) -> None:
        self.taken += 1
        if self.taken % self.recipe.period == 0:
            self.hypothesis = list(CONCEPTS.concepts())[self.rng.below(9)]

    def steps(self, xs: Any, ys: Any) -> int:
        before = self.hypothesis
        for taken, (x, y) in enumerate(zip(xs, ys, strict=True), start=1):
            self.step(x, y)
            if self.hypothesis != before or self.halted:
                return taken
        return len(ys)


def published(run: PrivateRun, rounds: int) -> list[Hypothesis]:
    seen = []
    for x in range(rounds):
        run.observe(x % 8, x % 2)
        seen.append(run.hypothesis)
    return seen


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
        run.observe_many([1, 2, 3], [0, 1, 2])
    with pytest.raises(ValueError, match="equally long"):
        run.observe_many([1, 2, 3], [0, 1])
    assert run.rounds_played == 0


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


def test_a_bad_row_is_refused_when_it_is_reached_and_changes_nothing() -> None:
    points, labels = [1] * 100 + [8] + [1] * 100, [1] * 201
    run = CoinFlipper(rounds=None, period=10**6).start(rng=seeded(1))
    seen = 0
    with pytest.raises(ValueError, match="got x=8"):
        while True:
            before = run.rounds_played
            seen += run.observe_many(points[seen:], labels[seen:])
            assert run.rounds_played == seen > before
    assert run.rounds_played == seen > 0
    while seen < 100:
        seen += run.observe_many(points[seen:100], labels[seen:100])
    with pytest.raises(ValueError, match="got x=8"):
        run.observe_many(points[seen:], labels[seen:])
    assert run.rounds_played == 100


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


def test_a_snapshot_continues_identically() -> None:
    recipe = CoinFlipper()
    run = recipe.start(rng=seeded(3))
    published(run, 20)
    restored = recipe.restore(run.snapshot())
    assert restored.rounds_played == 20 and restored.switches == run.switches
    assert published(restored, 80) == published(run, 80)


def test_a_secure_snapshot_is_continued_once_and_retires_its_run() -> None:
    recipe = CoinFlipper()
    run = recipe.start()
    old = run.snapshot()
    assert run.snapshot() == old  # nothing has happened in between
    run.observe(1, 1)
    new = run.snapshot()
    with pytest.raises(SnapshotError, match="newer"):
        recipe.restore(old)
    restored = recipe.restore(new)
    with pytest.raises(SnapshotError, match="continued elsewhere"):
        run.observe(1, 1)
    restored.observe(1, 1)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(new)


def test_a_snapshot_is_continued_once_also_if_the_run_then_stood_still() -> None:
    recipe = CoinFlipper()
    first = recipe.start().snapshot()
    second = recipe.restore(first).snapshot()
    recipe.restore(second)
    for used in (first, second):
        with pytest.raises(SnapshotError, match="already continued"):
            recipe.restore(used)


def test_a_run_that_goes_on_uses_its_snapshot_up() -> None:
    """Else both futures would be answered with the same noisy threshold."""
    recipe = CoinFlipper()
    run = recipe.start()
    saved = run.snapshot()
    run.observe(1, 1)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved)
    run.observe(1, 1)
    restored = recipe.restore(run.snapshot())
    restored.observe_many([1], [1])
    assert restored.rounds_played == 3


def test_processes_that_claim_at_the_same_time_take_turns(tmp_path: Path) -> None:
    """Whoever holds the file's lock decides; the others wait, then read what it wrote."""
    path = tmp_path / "continued"
    saved = snapshots.unpack(CoinFlipper().start().snapshot())
    with ThreadPoolExecutor(1) as pool, path.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)  # of another opening, as another process would have it
        claim = pool.submit(snapshots.FileRegister(path).claim, saved)
        with pytest.raises(TimeoutError):
            claim.result(timeout=0.3)
        other.write(f"{saved.identity} {saved.number + 1}\n")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_UN)
        with pytest.raises(SnapshotError, match="already continued"):
            claim.result(timeout=10)


def test_a_register_remembers_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    saved = recipe.start().snapshot()
    recipe.restore(saved, register)
    monkeypatch.setattr(snapshots, "_newest", {})  # another process remembers nothing
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved, register)


def _another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which remembers nothing and knows no live run."""
    monkeypatch.setattr(snapshots, "_newest", {})
    monkeypatch.setattr(snapshots, "_runs", {})


def test_going_on_is_recorded_in_the_register_of_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    run = recipe.start()
    saved = run.snapshot(register)
    run.observe(1, 1)
    _another_process(monkeypatch)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved, register)


def test_a_run_that_was_continued_in_another_process_cannot_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, register = CoinFlipper(), snapshots.FileRegister(tmp_path / "continued")
    run = recipe.start()
    saved = run.snapshot(register)
    _another_process(monkeypatch)
    restored = recipe.restore(saved, register)
    for _ in range(2):
        with pytest.raises(SnapshotError, match="continued"):
            run.observe(1, 1)
    assert run.rounds_played == 0
    restored.observe(1, 1)
    again = restored.snapshot()  # the register is remembered
    restored.observe(1, 1)
    _another_process(monkeypatch)
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(again, register)


def test_a_register_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    recipe = CoinFlipper()
    folder = tmp_path / "folder"
    run = recipe.start()
    run.snapshot(snapshots.FileRegister(folder / "continued"))
    with pytest.raises(FileNotFoundError):
        run.observe(1, 1)
    assert run.rounds_played == 0
    folder.mkdir()
    run.observe(1, 1)
    assert run.rounds_played == 1


def test_threads_that_claim_one_snapshot_cannot_both_have_it() -> None:
    saved = snapshots.unpack(CoinFlipper().start().snapshot())
    snapshot_of = [replace(saved, identity=str(number)) for number in range(40_000)]
    won: list[str] = []
    ready = threading.Barrier(4)

    def claim() -> None:
        ready.wait()
        for one in snapshot_of:
            try:
                snapshots.ProcessRegister().claim(one)
                won.append(one.identity)
            except SnapshotError:
                pass

    threads = [threading.Thread(target=claim) for _ in range(4)]
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(patience)
    assert sorted(won) == sorted(one.identity for one in snapshot_of)


def test_damaged_snapshots_are_refused() -> None:
    recipe = CoinFlipper()
    saved = recipe.start(rng=seeded(1)).snapshot()
    damaged = bytearray(saved)
    damaged[-3] ^= 1
    for bad in (b"", saved[:40], saved[:-1], bytes(damaged), b"x" + saved):
        with pytest.raises(SnapshotError):
            recipe.restore(bad)
    with pytest.raises(SnapshotError, match="another recipe"):
        CoinFlipper(period=4).restore(saved)


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
