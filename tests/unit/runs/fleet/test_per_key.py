"""An independent run for each key: its promise, what is public, and what cannot be done twice."""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.learners.coin_flipper import CoinFlipper

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import (
    HorizonExceededError,
    LittlestoneError,
    RetiredError,
    SnapshotError,
)
from littlestone.learners import snapshots
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.snapshots import FileRegister
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.fleet import per_key
from littlestone.runs.fleet.keyed import KeyedRun, advance, key_name
from littlestone.runs.fleet.per_key import PerKey

LEARNER = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=1.0)
FOREST = LazyForest.calibrated(concepts=Points(), rounds=500, epsilon=1.0, delta=1e-6)


def events(count: int) -> list[tuple[Any, int, int]]:
    return [(f"shop {n * 7 % 5}", n * 37 % 64, int(n * 37 % 64 > 20)) for n in range(count)]


def test_each_key_has_the_run_that_it_would_have_alone() -> None:
    secret = os.urandom(32)
    run, state = PerKey(learner=LEARNER).start(secret=secret), None
    mine = [(x, y) for key, x, y in events(400) if key == "shop 3"]
    for key, x, y in events(400):
        run.observe(key, x, y)
    xs, ys = zip(*mine, strict=True)
    state, releases = advance(LEARNER, secret, "shop 3", state, range(1, 81), list(xs), list(ys))
    assert run.rounds_played("shop 3") == len(mine) == 80
    assert run.switches("shop 3") == len(releases) - 1
    alone = KeyedRun.at(LEARNER, secret, key_name("shop 3"), state)
    assert run.hypothesis("shop 3") == alone.engine.hypothesis
    assert run.ledger("shop 3").charges == alone.engine.ledger.charges
    assert list(run) == ["shop 0", "shop 2", "shop 4", "shop 1", "shop 3"] and len(run) == 5


def test_runs_that_sleep_in_between_go_on_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    secret, ends = os.urandom(32), []
    for awake in (1024, 1):
        monkeypatch.setattr(per_key, "_MOST_AWAKE", awake)
        run = PerKey(learner=FOREST).start(secret=secret, replay=True)
        for key, x, y in events(120):
            run.observe(key, x, y)
        assert len(run._awake) <= awake
        ends.append(snapshots.unpack(run.snapshot()).engine)
    assert ends[0] == ends[1]


def test_the_promise_for_several_keys_is_that_of_a_group() -> None:
    assert PerKey(learner=LEARNER).guarantee() == PrivacyGuarantee(epsilon=1.0)
    assert PerKey(learner=LEARNER, max_keys=3).guarantee() == PrivacyGuarantee(epsilon=3.0)
    two = PerKey(learner=FOREST, max_keys=2).guarantee()
    assert two.epsilon == 2.0 and 1e-6 * (1 + 2.718) < two.delta < 1e-6 * (1 + 2.72)
    assert "at most 3 keys" in PerKey(learner=LEARNER, max_keys=3).promise
    assert "is public" in PerKey(learner=LEARNER).promise
    with pytest.raises(ValueError, match="max_keys"):
        PerKey(learner=LEARNER, max_keys=0)


def test_nobody_waits_for_a_key_in_a_bad_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other counterexample of per_key.md: the key of the special round is chosen by a flag."""
    flagged = CoinFlipper(prefix_conditional=False)
    with pytest.raises(ValueError, match="on every prefix"):
        PerKey(learner=flagged)
    pure = PrivacyGuarantee(epsilon=1.0)
    monkeypatch.setattr(CoinFlipper, "per_example", property(lambda _: pure))
    assert PerKey(learner=flagged).guarantee() == pure


def test_a_key_that_changes_is_seen_with_certainty() -> None:
    """The counterexample of per_key.md: one event moves to another key, and rounds show it."""
    worlds = []
    for clinic in ("A", "B"):
        run = PerKey(learner=LEARNER).start()
        for key in ("A", "B", clinic):
            run.observe(key, 3, 1)
        worlds.append((run.rounds_played("A"), run.rounds_played("B")))
    assert worlds == [(2, 1), (1, 2)]


def test_two_starts_have_different_noise() -> None:
    one, two = (PerKey(learner=FOREST).start() for _ in range(2))
    for run in (one, two):
        run.observe("a", 1, 1)
    assert one.identity != two.identity and one.snapshot() != two.snapshot()


def test_a_snapshot_is_continued_once_with_its_secret_and_recipe() -> None:
    secret, recipe = os.urandom(32), PerKey(learner=LEARNER)
    run = recipe.start(secret=secret)
    for event in events(50):
        run.observe(*event)
    saved = run.snapshot()
    assert secret not in saved
    with pytest.raises(SnapshotError, match="another secret"):
        recipe.restore(saved, secret=os.urandom(32))
    with pytest.raises(SnapshotError, match="another recipe"):
        PerKey(learner=LEARNER, max_keys=2).restore(saved, secret=secret)
    again = recipe.restore(saved, secret=secret)
    assert list(again) == list(run) and again.rounds_played("shop 0") == 10
    with pytest.raises(SnapshotError, match="already continued"):
        recipe.restore(saved, secret=secret)
    with pytest.raises(SnapshotError, match="continued elsewhere"):
        run.observe("shop 0", 1, 1)
    again.observe("shop 0", 1, 1)


def test_going_on_uses_a_snapshot_up(tmp_path: Any) -> None:
    secret, recipe = os.urandom(32), PerKey(learner=LEARNER)
    run = recipe.start(secret=secret)
    run.observe("a", 1, 1)
    saved = run.snapshot()
    run.observe("a", 2, 1)
    with pytest.raises(SnapshotError):
        recipe.restore(saved, secret=secret)
    newer = run.snapshot()
    register = FileRegister(tmp_path / "register")
    recipe.restore(newer, secret=secret, register=register).observe("a", 3, 1)
    with pytest.raises(SnapshotError):
        recipe.restore(newer, secret=secret, register=register)


def test_bad_input_and_the_horizon_change_nothing() -> None:
    run = PerKey(learner=LEARNER.for_rounds(2)).start()
    for bad in (("a", 64, 0), ("a", 1, 2), (1j, 1, 0)):
        with pytest.raises(ValueError):
            run.observe(*bad)
    run.observe("a", 1, 0)
    run.observe("a", 1, 0)
    with pytest.raises(HorizonExceededError):
        run.observe("a", 1, 0)
    run.observe("b", 1, 0)
    assert (run.rounds_played("a"), run.rounds_played("b")) == (2, 1)


def test_a_run_that_is_retired_refuses() -> None:
    run = PerKey(learner=LEARNER).start()
    run.retire("is over")
    with pytest.raises(RetiredError, match="is over"):
        run.observe("a", 1, 1)
    with pytest.raises(TypeError, match="cannot be copied"):
        run.__reduce__()


def test_one_secret_starts_one_run_whatever_else_the_recipe_says() -> None:
    """The noise follows from the secret, the learner and the key: two runs would share it."""
    secret = os.urandom(32)
    run = PerKey(learner=LEARNER).start(secret=secret)
    for other in (PerKey(learner=LEARNER), PerKey(learner=LEARNER, max_keys=2)):
        with pytest.raises(ValueError, match="the same noise"):
            other.start(secret=secret)
    run.observe("a", 3, 1)
    saved = run.snapshot()
    replayed = PerKey(learner=LEARNER).start(secret=secret, replay=True)
    with pytest.raises(LittlestoneError, match="continued elsewhere"):
        run.observe("a", 3, 1)
    with pytest.raises(SnapshotError, match="already continued"):  # by the replay
        PerKey(learner=LEARNER).restore(saved, secret=secret)
    replayed.observe("a", 3, 1)
    PerKey(learner=FOREST).start(secret=secret)  # another learner has noise of its own


def test_a_secret_whose_snapshot_was_restored_starts_nothing_anew() -> None:
    secret, recipe = os.urandom(32), PerKey(learner=LEARNER)
    saved = recipe.start(secret=secret).snapshot()
    per_key._STARTED.clear()  # as if in another process
    recipe.restore(saved, secret=secret)
    with pytest.raises(ValueError, match="the same noise"):
        recipe.start(secret=secret)


def test_users_are_counted_over_all_keys() -> None:
    secret, learner = os.urandom(32), replace(LEARNER, max_contributions=2)
    run = PerKey(learner=learner, users="customer").start(secret=secret)
    had, over_limit = Counter[str](), dict[str, set[int]]()
    by_key = dict[str, list[tuple[int, int]]]()
    for n, (key, x, y) in enumerate(events(400)):
        user = f"user {n % 61 % 50}"
        if n == 200:  # and a run that goes on elsewhere counts on
            run = PerKey(learner=learner, users="customer").restore(run.snapshot(), secret=secret)
        run.observe(key, x, y, user.upper() if n % 2 else user)
        by_key.setdefault(key, []).append((x, y))
        if had[user] >= 2:
            over_limit.setdefault(key, set()).add(len(by_key[key]))
        had[user] += 1
    assert 200 < sum(map(len, over_limit.values())) < 400
    for key, examples in by_key.items():
        xs, ys = map(list, zip(*examples, strict=True))
        numbers = range(1, len(xs) + 1)
        state, _ = advance(learner, secret, key, None, numbers, xs, ys, over_limit=over_limit[key])
        assert run._run_of(key).state() == state
        everything, _ = advance(learner, secret, key, None, numbers, xs, ys)
        assert everything != state
        assert run.rounds_played(key) == len(xs)


def test_who_is_counted_is_promised_the_limit_for_all_keys_together() -> None:
    learner = replace(LEARNER, max_contributions=3)
    fleet = PerKey(learner=learner, users="customer")
    assert fleet.guarantee() == PrivacyGuarantee(epsilon=3.0)
    assert "to each 'customer', of whose events at most 3 are read under all keys" in fleet.promise
    with pytest.raises(ValueError, match="max_keys must be 1"):
        PerKey(learner=learner, users="customer", max_keys=2)
    with pytest.raises(ValueError, match="users must be the name"):
        PerKey(learner=learner, users="")
    with pytest.raises(ValueError, match="at most 1000"):
        PerKey(learner=replace(LEARNER, max_contributions=1001), users="customer")
    run = fleet.start()
    with pytest.raises(ValueError, match="user must be given"):
        run.observe("shop", 3, 0)
    with pytest.raises(ValueError, match="user must be text or a number"):
        run.observe("shop", 3, 0, user=b"ann")
    with pytest.raises(ValueError, match="user must be given"):
        PerKey(learner=learner).start().observe("shop", 3, 0, user="ann")
    assert len(run) == 0
