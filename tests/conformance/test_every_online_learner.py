"""What every deterministic, mistake-bounded learner owes."""

import pickle
from itertools import islice
from typing import Any

import pytest
from tests.battery import ADVERSARIES, CLASSES, REALIZABLE, adversaries_for, learners_for

from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.randomness import Randomness

LEARNERS = {
    f"{name}-{concepts}": learner
    for concepts in CLASSES
    for name, learner in learners_for(concepts).items()
}


def points_of(learner: Any) -> list[Any]:
    return list(islice(learner.concepts.domain, 6))


@pytest.mark.parametrize("concepts", CLASSES)
def test_mistakes_stay_within_the_bound(concepts: str, rng: Randomness) -> None:
    for adversary in adversaries_for(concepts):
        for learner in learners_for(concepts).values() if adversary in REALIZABLE else ():
            check_bound(learner, ADVERSARIES[adversary](learner.concepts), rng)


def check_bound(learner: Any, foe: Adversary, rng: Randomness) -> None:
    for peek, parties in zip((False, True), rng.spawn(2), strict=True):
        game = play(learner, foe, rounds=60, rng=parties, peek=peek)
        assert game.mistakes <= learner.mistake_bound
        assert game.regret == game.mistakes


def states_are_values(learner: Any) -> None:
    for state in (learner.start(), learner.start().after(points_of(learner)[0], 1)):
        assert pickle.loads(pickle.dumps(state)) == state
        with pytest.raises((AttributeError, TypeError)):
            state.hypothesis = None
    assert learner.start() == learner.start()
    assert hash(learner.start()) == hash(learner.start())


def learning_leaves_the_old_state_as_it_was(learner: Any) -> None:
    state = learner.start()
    before = state.hypothesis
    state.after(points_of(learner)[0], 1 - before(points_of(learner)[0]))
    assert state == learner.start()
    assert state.hypothesis == before


def the_order_of_examples_does_not_matter(learner: Any) -> None:
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


def a_contradiction_fails_for_good(learner: Any) -> None:
    x = points_of(learner)[0]
    state = learner.start().after(x, 0).after(x, 1)
    assert state.failed
    assert state.after(x, 0).failed
    with pytest.raises(ValueError, match="no concept fits"):
        _ = state.hypothesis


def an_example_taken_once_changes_no_later_state(learner: Any) -> None:
    target = next(learner.concepts.concepts())
    state = learner.start()
    for x in points_of(learner):
        state = state.after(x, target(x))
    assert all(state.after(x, target(x)) is state for x in points_of(learner))


def only_mistakes_change_a_conservative_learner(learner: Any) -> None:
    state = learner.start()
    for x in points_of(learner) * 3:
        assert state.after(x, state.hypothesis(x)) is state
        state = state.after(x, 1 - state.hypothesis(x))
        if state.failed:
            break


def bad_labels_are_refused(learner: Any) -> None:
    state = learner.start()
    for bad in (2, -1, 0.5, "1", None, float("nan")):
        with pytest.raises(ValueError, match="label"):
            state.after(points_of(learner)[0], bad)
    assert state == learner.start()


def bad_points_are_refused(learner: Any) -> None:
    state = learner.start()
    for bad in ([1], float("nan")):
        with pytest.raises(ValueError, match="x must"):
            state.after(bad, 1)
    assert state == learner.start()


OWED = (
    states_are_values,
    learning_leaves_the_old_state_as_it_was,
    bad_labels_are_refused,
    bad_points_are_refused,
)
OWED_BY_THE_CONSISTENT = (
    the_order_of_examples_does_not_matter,
    a_contradiction_fails_for_good,
    an_example_taken_once_changes_no_later_state,
)


def check_learner(learner: Any) -> None:
    # Every learner says how blocks may be skipped.
    assert learner.repeats_change_nothing != learner.conservative
    skipped = [only_mistakes_change_a_conservative_learner]
    for check in (*OWED, *(skipped if learner.conservative else OWED_BY_THE_CONSISTENT)):
        check(learner)


@pytest.mark.parametrize("name", LEARNERS)
def test_learner(name: str) -> None:
    check_learner(LEARNERS[name])
