"""What every deterministic, mistake-bounded learner owes."""

import pickle
from itertools import islice
from typing import Any

import pytest
from tests.battery import ADVERSARIES, CLASSES, REALIZABLE, adversaries_for, learners_for

from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.randomness import Randomness

NAMED = [
    (f"{name}-{concepts}", learner)
    for concepts in CLASSES
    for name, learner in learners_for(concepts).items()
]
LEARNERS = [pytest.param(learner, id=name) for name, learner in NAMED]
CONSISTENT = [
    pytest.param(learner, id=name) for name, learner in NAMED if learner.repeats_change_nothing
]
CONSERVATIVE = [pytest.param(learner, id=name) for name, learner in NAMED if learner.conservative]


GAMES = [(c, a) for c in CLASSES for a in adversaries_for(c) if a in REALIZABLE]


def points_of(learner: Any) -> list[Any]:
    return list(islice(learner.concepts.domain, 6))


@pytest.mark.parametrize(("concepts", "adversary"), GAMES)
def test_mistakes_stay_within_the_bound(concepts: str, adversary: str, rng: Randomness) -> None:
    for learner in learners_for(concepts).values():
        check_bound(learner, ADVERSARIES[adversary](learner.concepts), rng)


def check_bound(learner: Any, foe: Adversary, rng: Randomness) -> None:
    for peek, parties in zip((False, True), rng.spawn(2), strict=True):
        game = play(learner, foe, rounds=120, rng=parties, peek=peek)
        assert game.mistakes <= learner.mistake_bound
        assert game.regret == game.mistakes


@pytest.mark.parametrize("learner", LEARNERS)
def test_states_are_values(learner: Any) -> None:
    for state in (learner.start(), learner.start().after(points_of(learner)[0], 1)):
        assert pickle.loads(pickle.dumps(state)) == state
        with pytest.raises((AttributeError, TypeError)):
            state.hypothesis = None
    assert learner.start() == learner.start()
    assert hash(learner.start()) == hash(learner.start())


@pytest.mark.parametrize("learner", LEARNERS)
def test_learning_leaves_the_old_state_as_it_was(learner: Any) -> None:
    state = learner.start()
    before = state.hypothesis
    state.after(points_of(learner)[0], 1 - before(points_of(learner)[0]))
    assert state == learner.start()
    assert state.hypothesis == before


@pytest.mark.parametrize("learner", CONSISTENT)
def test_the_order_of_examples_does_not_matter(learner: Any) -> None:
    target = next(learner.concepts.concepts())
    examples = [(x, target(x)) for x in points_of(learner)]
    forwards, backwards = learner.start(), learner.start()
    for x, y in examples:
        forwards = forwards.after(x, y)
    for x, y in reversed(examples):
        backwards = backwards.after(x, y)
    assert forwards == backwards
    assert hash(forwards) == hash(backwards)
    assert all(forwards.hypothesis(x) == y for x, y in examples)


@pytest.mark.parametrize("learner", CONSISTENT)
def test_a_contradiction_fails_for_good(learner: Any) -> None:
    x = points_of(learner)[0]
    state = learner.start().after(x, 0).after(x, 1)
    assert state.failed
    assert state.after(x, 0).failed
    with pytest.raises(ValueError, match="no concept fits"):
        _ = state.hypothesis


@pytest.mark.parametrize("learner", CONSISTENT)
def test_an_example_taken_once_changes_no_later_state(learner: Any) -> None:
    target = next(learner.concepts.concepts())
    state = learner.start()
    for x in points_of(learner):
        state = state.after(x, target(x))
    assert all(state.after(x, target(x)) is state for x in points_of(learner))


@pytest.mark.parametrize("learner", CONSERVATIVE)
def test_only_mistakes_change_a_conservative_learner(learner: Any) -> None:
    state = learner.start()
    for x in points_of(learner) * 3:
        assert state.after(x, state.hypothesis(x)) is state
        state = state.after(x, 1 - state.hypothesis(x))
        if state.failed:
            break


def test_every_learner_says_how_blocks_may_be_skipped() -> None:
    assert len(CONSISTENT) + len(CONSERVATIVE) == len(LEARNERS)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("label", [2, -1, 0.5, "1", None, float("nan")])
def test_bad_labels_are_refused(learner: Any, label: Any) -> None:
    state = learner.start()
    with pytest.raises(ValueError, match="label"):
        state.after(points_of(learner)[0], label)
    assert state == learner.start()


@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_points_are_refused(learner: Any) -> None:
    state = learner.start()
    for bad in ([1], float("nan")):
        with pytest.raises(ValueError, match="x must"):
            state.after(bad, 1)
    assert state == learner.start()
