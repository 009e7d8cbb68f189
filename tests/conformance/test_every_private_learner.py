"""What every private learner owes its user, applied to all of them."""

import json
import math
from collections.abc import Callable
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from tests.battery import TAKES

from littlestone.audit.subjects.small_learners import places
from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.lab.private_teachers.plan import TeachersPlan
from littlestone.lab.private_teachers.recipe import PrivateTeachers
from littlestone.learners import codec
from littlestone.learners.forms import form_digest
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.restarting import Restarting
from littlestone.learners.run import PrivateRun
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, labelled, secure, seeded
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet.keyed import advance
from littlestone.runs.journal.records import Release

CONCEPTS = Thresholds(3)
BUDGET: dict[str, Any] = {"rounds": 120, "epsilon": 1.0, "delta": 1e-3}


NEEDS_A_POINT = ("SanitizedBatches", "SanitizedExperts")
"""A sanitizer's dataset has a fixed size: a public point stands where there is no example."""

FEW_TEACHERS = TeachersPlan(
    teachers=40,
    tolerance=1,
    mistakes=1,
    phases=2,
    count_epsilon=0.5,
    watch_epsilon=0.05,
    draw_epsilon=0.15,
    draw_delta=2.0**-12,
)
"""Planned recipes have 15,000 copies: as private, and too many to play."""

PRIVATE = [name for name, entry in LEARNERS.items() if entry.private]


@cache
def recipe_of(name: str) -> Any:
    """Planned when it is first asked for, not when tests are collected."""
    if name == "restarting":
        return Restarting(learner=recipe_of("lazy-forest"))
    if name == "unknown-horizon":
        return UnknownHorizon(learner=recipe_of("private-majority"), first_rounds=16)
    if name == "places":
        return PrivateWitnesses(**places(3, 1.0, rounds=BUDGET["rounds"]))
    if name == "teachers":
        return PrivateTeachers(concepts=CONCEPTS, plan=FEW_TEACHERS, **BUDGET)
    return LEARNERS[name].build(TAKES.get(name, CONCEPTS), **BUDGET)


def stream(rng: Randomness, count: int) -> list[tuple[int, int]]:
    """Arbitrary examples: no concept needs to fit them."""
    generator = rng.generator()
    points, labels = generator.integers(3, size=count), generator.integers(2, size=count)
    return list(zip(points.tolist(), labels.tolist(), strict=True))


def published(run: PrivateRun, examples: list[tuple[int, int]]) -> list[Hypothesis]:
    seen = []
    for x, y in examples:
        run.observe(x, y)
        seen.append(run.hypothesis)
    return seen


def a_recipe_is_a_value(recipe: Any, rng: Randomness) -> None:
    assert recipe == recipe and repr(recipe)
    with pytest.raises((AttributeError, TypeError)):
        recipe.rounds = 7


def the_promise_is_within_the_budget(recipe: Any, rng: Randomness) -> None:
    budget = PrivacyGuarantee(epsilon=BUDGET["epsilon"], delta=BUDGET["delta"])
    assert recipe.guarantee().within(budget)


def bounds_are_ordered_and_end_at_the_rounds(recipe: Any, rng: Randomness) -> None:
    """With the probability; mistakes on realizable streams are a kind of regret; means between."""
    most = recipe.rounds or math.inf
    for bound in (recipe.mistake_bound, recipe.regret_bound):
        values = [bound(failure_probability=b) for b in (0.5, 0.05, 1e-6)]
        assert 0 < values[0] <= values[1] <= values[2] <= most
        for wrong in (0.0, 1.0):
            with pytest.raises(ValueError, match="failure_probability"):
                bound(failure_probability=wrong)
    assert recipe.mistake_bound(failure_probability=0.05) <= recipe.regret_bound(
        failure_probability=0.05
    )
    assert 0 < recipe.expected_mistake_bound() <= recipe.expected_regret_bound() <= most


def reading_changes_nothing(recipe: Any, rng: Randomness) -> None:
    examples = stream(rng, 40)
    one, two = recipe.start(rng=seeded(1)), recipe.start(rng=seeded(1))
    for x, y in examples:
        for _ in range(3):
            assert one.hypothesis == one.hypothesis
            _ = (one.switches, one.status, one.ledger.explain(), one.rounds_played)
        one.observe(x, y)
        two.observe(x, y)
        assert one.hypothesis == two.hypothesis


def the_seed_decides_the_run(recipe: Any, rng: Randomness) -> None:
    examples = stream(rng, 60)
    runs = [published(recipe.start(rng=seeded(5)), examples) for _ in range(2)]
    assert runs[0] == runs[1]


def data_never_raises_and_the_ledger_stays_within_the_promise(recipe: Any, rng: Randomness) -> None:
    run = recipe.start(rng=secure())
    published(run, stream(rng, BUDGET["rounds"]))
    assert run.ledger.spent().within(recipe.guarantee())
    assert run.private and run.ledger.private
    assert isinstance(run.status, str) and run.switches >= 0


def a_fleet_may_cut_its_batches_anywhere(recipe: Any, rng: Randomness) -> None:
    """Bytes are the same however events are batched, and those of one run fed singly."""
    examples, secret = stream(rng, 60), rng.bits(256).to_bytes(32, "big")
    xs, ys = map(list, zip(*examples, strict=True))
    whole, logged = advance(recipe, secret, "key", None, range(1, 61), xs, ys)
    state, pieces, at = None, list[Release](), 0
    while at < 60:
        end = min(60, at + 1 + rng.below(9))
        state, new = advance(
            recipe, secret, "key", state, range(at + 1, end + 1), xs[at:end], ys[at:end]
        )
        pieces, at = pieces + new, end
    assert state == whole and pieces == logged
    [noise, _] = labelled_keys(
        secret, bytes.fromhex(form_digest(recipe)) + codec.dumps("key"), count=2
    )
    run = recipe.start(rng=labelled(noise))
    rules = [run.hypothesis, *published(run, examples)]
    changes = [t for t, (before, after) in enumerate(pairwise(rules), start=1) if before != after]
    assert [release.round for release in logged] == [0, *changes]
    assert [json.loads(release.body)["rule"] for release in logged] == [
        rules[release.round].describe() for release in logged
    ]


def blocks_take_every_round_once(recipe: Any, rng: Randomness) -> None:
    points, labels = map(np.array, zip(*stream(rng, 100), strict=True))
    run, taken = recipe.start(rng=secure()), 0
    while taken < 100:
        before = run.hypothesis
        took = run.observe_many(points[taken:], labels[taken:])
        assert took >= 1
        taken += took
        assert taken == 100 or run.hypothesis is not before
    assert run.rounds_played == 100


def bad_input_changes_nothing(recipe: Any, rng: Randomness) -> None:
    examples = stream(rng, 30)
    run, untouched = recipe.start(rng=seeded(2)), recipe.start(rng=seeded(2))
    for x, y in ((3, 0), (-1, 1), (0, 2), (0.5, 0), (None, 1), (1, float("nan"))):
        with pytest.raises(ValueError):
            run.observe(x, y)
        # A list is looked at as far as it is taken, anything else as a whole.
        with pytest.raises(ValueError):
            run.observe_many([x, 0], [y, 0])
        with pytest.raises(ValueError):
            run.observe_many((0, x), (0, y))
    assert run.rounds_played == 0
    assert published(run, examples) == published(untouched, examples)


def the_horizon_is_refused_and_publishing_goes_on(recipe: Any, rng: Randomness) -> None:
    if recipe.rounds is None:
        return  # there is none
    run = recipe.start(rng=seeded(3))
    published(run, stream(rng, recipe.rounds))
    last = run.hypothesis
    with pytest.raises(HorizonExceededError):
        run.observe(0, 1)
    assert run.hypothesis is last and "horizon" in run.status


def a_snapshot_continues_identically(recipe: Any, rng: Randomness) -> None:
    before, after = stream(rng, 37), stream(rng, 50)
    run = recipe.start(rng=seeded(4))
    published(run, before)
    restored = recipe.restore(run.snapshot())
    assert restored.hypothesis == run.hypothesis and restored.switches == run.switches
    assert published(restored, after) == published(run, after)
    assert restored.ledger.spent() == run.ledger.spent()


def a_round_without_an_example_reads_none(recipe: Any, rng: Randomness) -> None:
    """It does not even matter which public point is handed over; but it is a round."""
    examples, points = stream(rng, 20), list(islice(recipe.concepts.domain, 2))
    seen: list[list[Hypothesis]] = [[], []]
    for point, shown in zip(points, seen, strict=True):
        run = recipe.start(rng=seeded(2))
        for x, y in examples:
            run._engine.step(x, y)
            for _ in range(3):
                run._engine.idle(point)
            shown.append(run._engine.hypothesis)
    if type(recipe).__name__ not in NEEDS_A_POINT:
        assert seen[0] == seen[1]
    run = recipe.start(rng=seeded(2))
    rounds = recipe.rounds or 50
    for _ in range(rounds):
        run.pass_round()
    assert run.rounds_played == rounds and run.ledger.spent().within(recipe.per_example)
    if recipe.rounds is not None:
        with pytest.raises(HorizonExceededError):
            run.pass_round()


def a_secure_snapshot_is_continued_once(recipe: Any, rng: Randomness) -> None:
    run = recipe.start()
    published(run, stream(rng, 10))
    saved = run.snapshot()
    recipe.restore(saved)
    with pytest.raises(SnapshotError):
        recipe.restore(saved)
    with pytest.raises(SnapshotError):
        run.observe(0, 1)


def a_seeded_run_says_that_it_is_not_private(recipe: Any, rng: Randomness) -> None:
    run = recipe.start(rng=seeded(1))
    assert not run.private
    assert "NOT PRIVATE" in run.ledger.explain()


CHECKS: tuple[Callable[[Any, Randomness], None], ...] = (
    a_recipe_is_a_value,
    the_promise_is_within_the_budget,
    bounds_are_ordered_and_end_at_the_rounds,
    reading_changes_nothing,
    the_seed_decides_the_run,
    data_never_raises_and_the_ledger_stays_within_the_promise,
    blocks_take_every_round_once,
    a_fleet_may_cut_its_batches_anywhere,
    bad_input_changes_nothing,
    the_horizon_is_refused_and_publishing_goes_on,
    a_snapshot_continues_identically,
    a_round_without_an_example_reads_none,
    a_secure_snapshot_is_continued_once,
    a_seeded_run_says_that_it_is_not_private,
)


@pytest.mark.parametrize("name", [*PRIVATE, "restarting", "unknown-horizon", "places", "teachers"])
def test_learner(name: str, rng: Randomness) -> None:
    for check in CHECKS:
        check(recipe_of(name), rng)
