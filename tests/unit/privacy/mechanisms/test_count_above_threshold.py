"""AboveThreshold: its interface, its state, its numbers, and that both runs agree in detail."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.errors import HaltedError, SnapshotError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
)
from littlestone.randomness import Randomness, secure, seeded


def test_the_promise_is_epsilon() -> None:
    recipe = CountAboveThreshold(epsilon=0.3, threshold=5)
    assert recipe.guarantee() == PrivacyGuarantee(epsilon=0.3, delta=0.0)


def test_the_error_bounds_are_those_of_the_proof() -> None:
    recipe = CountAboveThreshold(epsilon=0.5, threshold=0)
    early = recipe.early_error_bound(rounds=10**5, failure_probability=0.025)
    late = recipe.late_error_bound(instances=1, failure_probability=0.025)
    assert (round(early, 1), round(late, 1)) == (30.4, 7.4)
    both = recipe.error_bound(rounds=10**5, instances=1, failure_probability=0.05)
    assert both == early + late
    assert early >= math.log(10**5 / 0.025) / 0.5


def test_the_paper_needs_this_much_more() -> None:
    rounds, failure, epsilon = 10**5, 0.05, 0.5
    theorem = 8 * (math.log(rounds) + math.log(2 / failure)) / epsilon
    algorithm = 8 * (math.log(rounds) + math.log(6 * rounds / failure)) / epsilon
    assert (round(theorem, 1), round(algorithm, 1)) == (243.2, 445.0)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1", None, True, 1e-13])
def test_bad_epsilons_are_refused(epsilon: Any) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        CountAboveThreshold(epsilon=epsilon, threshold=3)


@pytest.mark.parametrize("threshold", [1.0, 2.5, math.nan, "3", None, True, 2**61])
def test_thresholds_are_whole_numbers(threshold: Any) -> None:
    with pytest.raises(ValueError, match="threshold"):
        CountAboveThreshold(epsilon=1.0, threshold=threshold)


@pytest.mark.parametrize(
    "arguments",
    [
        {"rounds": 0, "failure_probability": 0.1},
        {"rounds": 10, "failure_probability": 0.0},
        {"rounds": 10, "failure_probability": 1.5},
        {"rounds": 10, "instances": 0, "failure_probability": 0.1},
    ],
)
def test_bounds_refuse_what_makes_no_sense(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rounds|failure_probability|instances"):
        CountAboveThreshold(epsilon=1.0, threshold=3).error_bound(**arguments)


@pytest.mark.parametrize("bit", [2, -1, 0.5, "1", None, math.nan, np.array([0, 1])])
def test_bits_that_are_not_bits_are_refused_and_change_nothing(bit: Any) -> None:
    recipe = CountAboveThreshold(epsilon=1.0, threshold=50)
    for run in (recipe.start(rng=seeded(1)), recipe.start_plain(rng=seeded(1))):
        with pytest.raises(ValueError, match="label"):
            run.observe(bit)
        assert run.rounds == 0


@pytest.mark.parametrize(
    ("ones", "length"),
    [
        ([3], 3),
        ([-1], 5),
        ([2, 1], 5),
        ([1, 1], 5),
        ([0.5], 5),
        ([[1]], 5),
        ([True, False], 5),
        ([], -1),
        ([], 1.5),
        ([], 2**32 + 1),
    ],
)
def test_bad_blocks_are_refused_and_change_nothing(ones: Any, length: Any) -> None:
    recipe = CountAboveThreshold(epsilon=1.0, threshold=50)
    run = recipe.start(rng=seeded(1))
    before = run.state()
    for refusing in (run, recipe.start_plain(rng=seeded(1))):
        with pytest.raises(ValueError, match=r"ones|length"):
            refusing.observe_block(ones, length)
    assert run.state() == before


def halted_run() -> CountAboveThresholdRun:
    run = CountAboveThreshold(epsilon=1.0, threshold=-1000).start(rng=seeded(1))
    assert run.observe(0)
    return run


def test_after_the_yes_nothing_is_answered_and_nothing_changes() -> None:
    run = halted_run()
    before = run.state()
    for ask in (
        lambda: run.observe(1),
        lambda: run.observe_zeros(3),
        lambda: run.observe_block([0], 3),
    ):
        with pytest.raises(HaltedError):
            ask()
    assert run.halted
    assert run.state() == before


def test_the_plain_run_halts_too() -> None:
    recipe = CountAboveThreshold(epsilon=1.0, threshold=-1000)
    for ask in ("observe", "observe_block"):
        run = recipe.start_plain(rng=seeded(1))
        assert run.observe(0)
        assert run.halted
        with pytest.raises(HaltedError):
            run.observe(0) if ask == "observe" else run.observe_block([], 1)


def test_a_halted_run_forgets_its_noisy_threshold() -> None:
    state = halted_run().state()
    assert (state["gap"], state["quiet"], state["fires"]) == (0, 0, False)


def test_rounds_after_the_yes_are_not_played() -> None:
    recipe = CountAboveThreshold(epsilon=5.0, threshold=10)
    for run in (recipe.start(rng=seeded(3)), recipe.start_plain(rng=seeded(3))):
        yes = run.observe_block(np.arange(100), 100)
        assert yes is not None
        assert yes < 60
        assert run.rounds == yes + 1


def test_an_empty_block_is_no_round() -> None:
    run = CountAboveThreshold(epsilon=1.0, threshold=-5).start(rng=seeded(3))
    assert run.observe_zeros(0) is None
    assert run.observe_block([], 0) is None
    assert run.rounds == 0


def test_secure_runs_work_the_same() -> None:
    run = CountAboveThreshold(epsilon=1.0, threshold=1000).start(rng=secure())
    assert run.observe_block([1, 5], 100) is None
    assert run.rounds == 100


@given(
    epsilon=st.sampled_from([0.1, 1.0, 5.0]),
    threshold=st.integers(-2, 20),
    bits=st.lists(st.integers(0, 1), max_size=40),
    cut=st.integers(0, 40),
    seed=st.integers(0, 2**32),
)
def test_a_restored_run_continues_as_the_saved_one(
    epsilon: float, threshold: int, bits: list[int], cut: int, seed: int
) -> None:
    recipe = CountAboveThreshold(epsilon=epsilon, threshold=threshold)
    rng = seeded(seed)
    run = recipe.start(rng=rng)
    run.observe_block(np.flatnonzero(bits[:cut]), len(bits[:cut]))
    state = json.loads(json.dumps(run.state()))
    restored = recipe.restore(state, rng=Randomness.from_state(rng.state()))
    assert restored.state() == run.state()
    if not run.halted:
        rest = np.flatnonzero(bits[cut:])
        yes = run.observe_block(rest, len(bits[cut:]))
        assert restored.observe_block(rest, len(bits[cut:])) == yes
        assert restored.state() == run.state()


@given(
    epsilon=st.sampled_from([0.1, 1.0, 5.0]),
    threshold=st.integers(-2, 6),
    pieces=st.lists(st.integers(0, 300), max_size=10),
    seed=st.integers(0, 2**32),
)
def test_zeros_may_be_played_in_pieces(
    epsilon: float, threshold: int, pieces: list[int], seed: int
) -> None:
    recipe = CountAboveThreshold(epsilon=epsilon, threshold=threshold)
    whole, parts = recipe.start(rng=seeded(seed)), recipe.start(rng=seeded(seed))
    yes = whole.observe_zeros(sum(pieces))
    for piece in pieces:
        if not parts.halted:
            parts.observe_block([], piece)
    assert parts.halted == (yes is not None)
    assert parts.state() == whole.state()


def test_states_of_other_recipes_are_refused() -> None:
    state = CountAboveThreshold(epsilon=1.0, threshold=3).start(rng=seeded(1)).state()
    for other in (
        CountAboveThreshold(epsilon=2.0, threshold=3),
        CountAboveThreshold(epsilon=1.0, threshold=4),
    ):
        with pytest.raises(SnapshotError, match="another recipe"):
            other.restore(state, rng=seeded(1))


@pytest.mark.parametrize("damage", [{"gap": "x"}, {"gap": 1.5}, {"quiet": None}, None, {"more": 1}])
def test_damaged_states_are_refused(damage: Any) -> None:
    recipe = CountAboveThreshold(epsilon=1.0, threshold=3)
    state = {**recipe.start(rng=seeded(1)).state(), **damage} if damage else "nonsense"
    with pytest.raises(SnapshotError):
        recipe.restore(state, rng=seeded(1))


def test_the_state_says_that_it_is_secret() -> None:
    state = CountAboveThreshold(epsilon=1.0, threshold=3).start(rng=seeded(1)).state()
    assert "secret" in state["kind"]
    assert "once" in state["kind"]


def test_a_recipe_is_a_value() -> None:
    recipe = CountAboveThreshold(epsilon=0.5, threshold=3)
    assert recipe == CountAboveThreshold(epsilon=0.5, threshold=np.int64(3))  # type: ignore[arg-type]
    assert hash(recipe) == hash(CountAboveThreshold(epsilon=0.5, threshold=3))
    assert repr(recipe) == "CountAboveThreshold(epsilon=0.5, threshold=3)"
