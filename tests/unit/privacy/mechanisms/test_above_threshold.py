"""AboveThreshold: its interface; its law and its privacy are tested exactly elsewhere."""

import math
from typing import Any

import numpy as np
import pytest

from littlestone.errors import HaltedError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.randomness import Randomness, seeded


def test_the_promise_is_epsilon() -> None:
    recipe = AboveThreshold(epsilon=0.3, threshold=5)
    assert recipe.guarantee() == PrivacyGuarantee(epsilon=0.3, delta=0.0)


def test_far_below_is_no_and_far_above_is_yes() -> None:
    run = AboveThreshold(epsilon=1.0, threshold=0).start(rng=seeded(1))
    assert not any(run.ask(-(10**6)) for _ in range(1000))
    assert run.ask(np.int64(10**6))  # type: ignore[arg-type]
    assert run.halted


def test_after_the_yes_nothing_is_answered() -> None:
    run = AboveThreshold(epsilon=1.0, threshold=0).start(rng=seeded(1))
    run.ask(10**6)
    with pytest.raises(HaltedError):
        run.ask(0)


@pytest.mark.parametrize("value", [0.5, 1.0, math.nan, None, "1", True])
def test_values_that_are_not_whole_are_refused_before_any_noise(value: Any) -> None:
    rng = seeded(1)
    run = AboveThreshold(epsilon=1.0, threshold=0).start(rng=rng)
    before = rng.state()
    with pytest.raises(ValueError, match="value"):
        run.ask(value)
    assert rng.state() == before


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 0, "threshold": 1},
        {"epsilon": math.inf, "threshold": 1},
        {"epsilon": 1.0, "threshold": 1.5},
        {"epsilon": 1.0, "threshold": 1, "monotone": 1},
    ],
)
def test_bad_recipes_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"epsilon|threshold|monotone"):
        AboveThreshold(**arguments)


def test_monotone_queries_need_half_the_noise() -> None:
    general = AboveThreshold(epsilon=1.0, threshold=0)
    monotone = AboveThreshold(epsilon=1.0, threshold=0, monotone=True)
    bounds = [r.error_bound(queries=10**5, failure_probability=0.05) for r in (general, monotone)]
    assert bounds[0] == pytest.approx(4 * math.log(2 * 10**5 / 0.05))
    assert bounds[1] == pytest.approx(bounds[0] / 2)
    with pytest.raises(ValueError, match="queries"):
        general.error_bound(queries=0, failure_probability=0.05)


def test_a_restored_run_continues_as_the_saved_one() -> None:
    recipe = AboveThreshold(epsilon=0.5, threshold=12)
    for seed in range(20):
        rng = seeded(seed)
        run = recipe.start(rng=rng)
        run.ask(-20)
        again = Randomness.from_state(rng.state())
        restored = recipe.restore(run.state(), rng=again)
        while not run.halted:
            assert restored.ask(3) == run.ask(3)
        assert restored.halted and again.state() == rng.state()
