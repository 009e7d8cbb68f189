"""Whatever holds drawn noise: no copies, no use after a fork, no retry of a step that broke off."""

import copy
import importlib
import itertools
import os
import pickle
import pkgutil
import signal
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.threads import together

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HaltedError, HorizonExceededError, RetiredError
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.run import Totals
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.interval_sanitizer import IntervalSanitizer
from littlestone.privacy import mechanisms
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelection
from littlestone.privacy.mechanisms.saved_run import fields_of
from littlestone.randomness import Randomness, keyed, secure, seeded
from littlestone.randomness.noise_owner import NoiseOwner, live_owners


@dataclass(frozen=True)
class Owner:
    """How to make one, and a step of it that draws noise."""

    name: str
    start: Callable[[Randomness], Any]
    step: Callable[[Any], object]
    save: Callable[[Any], object] | None = None

    def __repr__(self) -> str:
        return self.name


def _frequent(rng: Randomness) -> Any:
    recipe = FrequentRelease(epsilon=1.0, delta=1e-6, selections=2, rare_below=1)
    return recipe.start(Counter(), rng=rng)


def _selection(rng: Randomness) -> Any:
    recipe = IncrementalSelection(mechanism=ExponentialMechanism(epsilon=1.0), refresh=2)
    return recipe.start(Totals(3), rng=rng)


def _intervals(rng: Randomness, rounds: int = 2**13) -> Any:
    def family(size: int, parts: int) -> HistogramSanitizer:
        return HistogramSanitizer(concepts=Points(), epsilon=1 / parts, delta=1e-6 / parts)

    recipe = IntervalSanitizer(rounds=rounds, family=family, domain=Points().domain, shortest=2**4)
    return recipe.start(rng=rng)


_FRESH = itertools.count()
_COUNTING = CountAboveThreshold(epsilon=0.5, threshold=10**6)
OWNERS = [
    Owner(
        "CountAboveThreshold",
        lambda rng: _COUNTING.start(rng=rng),
        lambda run: run.observe(1),
        lambda run: run.state(),
    ),
    Owner(
        "CountAboveThreshold in blocks",
        lambda rng: _COUNTING.start(rng=rng),
        lambda run: run.observe_block([3], 10),
    ),
    Owner(
        "CountAboveThreshold, plain",
        lambda rng: _COUNTING.start_plain(rng=rng),
        lambda run: run.observe(1),
    ),
    Owner(
        "AboveThreshold",
        lambda rng: AboveThreshold(epsilon=0.5, threshold=10**6).start(rng=rng),
        lambda run: run.ask(1),
        lambda run: run.state(),
    ),
    Owner(
        "FirstFrequent",
        lambda rng: FirstFrequent(epsilon=1.0, delta=1e-6, rounds=10**9).start(rng=rng),
        lambda run: run.observe(next(_FRESH)),  # the same one again would soon be released
        lambda run: run.state(),
    ),
    Owner(
        "FrequentRelease",
        _frequent,
        lambda run: run.step(Counter()),
        lambda run: run.state(),
    ),
    Owner("IncrementalSelection", _selection, lambda run: run.draw(), fields_of),
    Owner(
        "PrivateRun",
        lambda rng: NaiveRecomposition(
            concepts=Thresholds(3), rounds=10**5, epsilon=1.0, delta=1e-6
        ).start(rng=rng),
        lambda run: run.observe(1, 1),
        lambda run: run.snapshot(),
    ),
    Owner(
        "PrivateRun in blocks",
        lambda rng: LazyForest.calibrated(
            concepts=Thresholds(3), rounds=10**6, epsilon=1.0, delta=1e-6
        ).start(rng=rng),
        lambda run: run.observe_many([1, 1], [1, 1]),
        lambda run: run.snapshot(),
    ),
    Owner(
        "ExpertsRun",
        lambda rng: ExponentialWeights(experts=3, rounds=10**6, epsilon=1.0, delta=1e-6).start(
            rng=rng
        ),
        lambda run: run.observe([1, 0, 1]),
    ),
    Owner("IntervalSanitizerRun", _intervals, lambda run: run.observe("key")),
]
SOURCES = [
    Owner("secure", lambda _: secure(), lambda rng: rng.word()),
    Owner("seeded", lambda _: seeded(1), lambda rng: rng.word()),
    Owner("keyed", lambda _: keyed(os.urandom(32), label="test"), lambda rng: rng.word()),
]
owners = pytest.mark.parametrize("owner", OWNERS, ids=str)
owners_and_sources = pytest.mark.parametrize("owner", OWNERS + SOURCES, ids=str)


@owners_and_sources
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_cannot_be_duplicated(owner: Owner, duplicate: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="two copies would reuse the same noise"):
        duplicate(owner.start(secure()))


@owners_and_sources
def test_a_forked_child_cannot_use_it_and_the_parent_can(owner: Owner) -> None:
    held = owner.start(secure())
    owner.step(held)
    uses = [owner.step] if owner.save is None else [owner.step, owner.save]
    assert _refused_in_a_fork(lambda: [use(held) for use in uses]) == 1
    assert all(_refused_in_a_fork(lambda use=use: use(held)) for use in uses)  # type: ignore[misc]
    owner.step(held)


def test_a_forked_child_starts_runs_of_its_own() -> None:
    assert not _refused_in_a_fork(lambda: _COUNTING.start(rng=secure()).observe(1))


def _refused_in_a_fork(use: Callable[[], object]) -> bool:
    child = os.fork()
    if child == 0:
        code = 9
        try:
            use()
            code = 0
        except RetiredError as refusal:
            code = 7 if "belongs to the process that made it" in str(refusal) else 8
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 7), code
    return code == 7


@owners
def test_a_step_that_broke_off_is_never_tried_again(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = owner.start(secure())

    def interrupted(*_: object) -> Any:
        raise KeyboardInterrupt  # a signal arrives while noise is drawn

    with monkeypatch.context() as patch:
        for method in ("word", "words", "below", "permutation", "spawn"):
            patch.setattr(Randomness, method, interrupted)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):  # until a step draws noise
                owner.step(held)
    for use in filter(None, (owner.step, owner.save)):
        with pytest.raises(RetiredError, match="in the middle of a step"):
            use(held)


def test_an_example_is_never_counted_twice_because_of_an_alarm() -> None:
    """The alarm strikes at random moments; whoever tries again is told, not counted twice."""
    recipe = NaiveRecomposition(concepts=Thresholds(3), rounds=10**6, epsilon=1.0, delta=1e-6)

    def ring(*_: object) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, ring)
    broken = 0
    try:
        for trial in range(40):
            run = recipe.start(rng=seeded(trial))
            taken = 0
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.00005 * trial)
                while True:
                    run.observe(1, 1)
                    taken += 1
            except TimeoutError:
                signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                run.observe(1, 1)
            except RetiredError:
                broken += 1
            else:  # it struck between two steps, or before anything of one was done
                assert run.rounds_played - taken in (1, 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert broken > 0


def test_bad_input_breaks_nothing_off() -> None:
    counting, asking = _COUNTING.start(rng=seeded(1)), _COUNTING.start_plain(rng=seeded(1))
    for run in (counting, asking):
        with pytest.raises(ValueError, match="label"):
            run.observe(2)
        with pytest.raises(ValueError, match="ones"):
            run.observe_block([4], 2)
        assert run.observe(1) is False


@owners
def test_threads_that_meet_in_a_step_are_refused_and_nothing_else_goes_wrong(owner: Owner) -> None:
    held = owner.start(seeded(5))
    problems: list[BaseException] = []
    done: list[int] = []

    def work() -> None:
        for _ in range(1500 if "Run" not in owner.name else 300):
            try:
                owner.step(held)
                done.append(1)
            except RetiredError:
                pass
            except BaseException as problem:
                problems.append(problem)

    together(work)
    assert problems == []
    if owner.name in ("CountAboveThreshold", "CountAboveThreshold, plain", "IntervalSanitizerRun"):
        assert held.rounds == len(done)  # each step counts once, a refused one not at all
    if owner.name in ("PrivateRun", "ExpertsRun"):
        assert held.rounds_played == len(done)
    owner.step(held)  # the refused threads have broken nothing


def _before_the_last_round(rng: Randomness) -> Any:
    run = ExponentialWeights(experts=3, rounds=20, epsilon=1.0, delta=1e-6).start(rng=rng)
    for _ in range(19):
        run.observe([1, 0, 1])
    return run


def _before_the_last_of_three(rng: Randomness) -> Any:
    run = _intervals(rng, rounds=3)
    run.observe("key"), run.observe("key")
    return run


LAST_STEPS: list[tuple[Owner, type[Exception]]] = [
    (
        Owner(
            "AboveThreshold",
            lambda rng: AboveThreshold(epsilon=1.0, threshold=-(10**6)).start(rng=rng),
            lambda run: run.ask(0),
        ),
        HaltedError,
    ),
    (
        Owner("ExpertsRun", _before_the_last_round, lambda run: run.observe([1, 0, 1])),
        HorizonExceededError,
    ),
    (
        Owner("IntervalSanitizerRun", _before_the_last_of_three, lambda run: run.observe("key")),
        HorizonExceededError,
    ),
]


@pytest.mark.parametrize("owner,refusal", LAST_STEPS, ids=str)
def test_two_threads_never_both_take_the_last_step(
    owner: Owner, refusal: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has looked whether there is a step left; before it begins another one takes that."""
    held, begin = owner.start(seeded(1)), NoiseOwner._begin
    taken: list[object] = []

    def late(self: NoiseOwner) -> None:
        if self is held and not taken:
            taken.append(None)
            owner.step(held)
        begin(self)

    monkeypatch.setattr(NoiseOwner, "_begin", late)
    for _ in range(2):
        with pytest.raises(refusal):
            owner.step(held)


def test_a_watch_that_another_thread_has_used_up_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = FrequentRelease(epsilon=1.0, delta=1e-6, selections=1, rare_below=10**6)
    held, begin = recipe.start(Counter(), rng=seeded(1)), NoiseOwner._begin

    def late(self: NoiseOwner) -> None:
        if self is held and not held.exhausted:
            monkeypatch.setattr(NoiseOwner, "_begin", begin)
            held.step(Counter())
        begin(self)

    monkeypatch.setattr(NoiseOwner, "_begin", late)
    held.step(Counter())
    held.step(Counter())
    assert held.exhausted and held.selections == 1


def test_a_thread_in_the_middle_of_anothers_step_is_told_so() -> None:
    held = _COUNTING.start(rng=seeded(1))
    held._begin()
    refusals: list[str] = []

    def intrude() -> None:
        try:
            held.observe(0)
        except RetiredError as refusal:
            refusals.append(str(refusal))

    thread = threading.Thread(target=intrude)
    thread.start()
    thread.join()
    held._end()
    assert "another thread is at it" in refusals[0]
    assert held.observe(0) is False


def test_what_was_retired_in_the_middle_of_a_step_stays_retired() -> None:
    held = _COUNTING.start(rng=seeded(1))
    held._begin()
    held._retire("is over")
    held._end()
    with pytest.raises(RetiredError, match="this CountAboveThresholdRun is over"):
        held.observe(0)


def test_a_count_that_was_retired_in_the_middle_of_a_quick_step_stays_retired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = _COUNTING.start(rng=seeded(1))
    held.observe(0)  # from now on it knows for how long nothing will happen
    monkeypatch.setattr(type(held), "_count_ones", lambda self, _: self._retire("is over"))
    held.observe(1)
    with pytest.raises(RetiredError, match="this CountAboveThresholdRun is over"):
        held.observe(0)


def test_an_owner_that_is_dropped_is_forgotten() -> None:
    held = _COUNTING.start(rng=seeded(1))
    assert any(owner is held for owner in live_owners())
    number = id(held)
    del held
    assert all(id(owner) != number for owner in live_owners())


def test_every_run_of_a_mechanism_is_an_owner() -> None:
    modules = [
        importlib.import_module(f"littlestone.privacy.mechanisms.{module.name}")
        for module in pkgutil.iter_modules(mechanisms.__path__)
    ]
    runs = {
        member
        for module in modules
        for name, member in vars(module).items()
        if isinstance(member, type) and name.endswith("Run")
    }
    assert len(runs) >= 6
    assert all(issubclass(run, NoiseOwner) for run in runs)
