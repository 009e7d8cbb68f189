"""What a mechanism's run remembers can be saved, continued once, and not be tampered with."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import SnapshotError
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.randomness import Randomness, seeded

ONE, OTHER = list(Thresholds(2).concepts())[:2]
RELEASE = FrequentRelease(epsilon=8.0, delta=0.1, selections=3, rare_below=5)
STEPS: dict[Any, Any] = {
    AboveThreshold(epsilon=0.5, threshold=12): lambda run, t: run.halted or run.ask(t),
    CountAboveThreshold(epsilon=0.5, threshold=12): lambda run, t: run.halted or run.observe(1),
    FirstFrequent(epsilon=0.5, delta=0.1, rounds=100): lambda run, t: (
        run.released or run.observe(t % 2)
    ),
    RELEASE: lambda run, t: run.step(Counter({ONE: max(0, 20 - t), OTHER: 2 * t})),
}


def start(recipe: Any, rng: Randomness) -> Any:
    first = (Counter({ONE: 20}),) if recipe is RELEASE else ()
    return recipe.start(*first, rng=rng)


@pytest.mark.parametrize("recipe", STEPS, ids=lambda recipe: type(recipe).__name__)
def test_a_state_goes_on_like_its_run_and_does_not_change_with_it(recipe: Any) -> None:
    rng = seeded(7)
    run, step = start(recipe, rng), STEPS[recipe]
    first = run.state()
    for t in range(100):
        state, again = run.state(), Randomness.from_state(rng.state())
        before = deepcopy(state)
        step(run, t)
        assert state == before
        copy = recipe.restore(state, rng=again)
        step(copy, t)
        assert copy.state() == run.state() and state == before
    assert run.state() != first


@pytest.mark.parametrize("recipe", STEPS, ids=lambda recipe: type(recipe).__name__)
def test_whatever_is_wrong_with_a_state_is_refused(recipe: Any) -> None:
    state = start(recipe, seeded(7)).state()
    damaged: list[Any] = ["nonsense", {}, {**state, "more": 1}]
    damaged += [{key: state[key] for key in state if key != left_out} for left_out in state]
    damaged += [{**state, name: 1.5} for name in state]
    for bad in damaged:
        with pytest.raises(SnapshotError):
            recipe.restore(bad, rng=seeded(7))
    recipe.restore(state, rng=seeded(7))
