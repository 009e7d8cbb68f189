"""What a wrapper promises follows from what the learner in it promises."""

import math
from dataclasses import dataclass

import pytest
from tests.unit.learners.coin_flipper import CoinFlipper

from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon


@dataclass(frozen=True, slots=True, kw_only=True)
class Promising(CoinFlipper):
    """Knows how often it errs and how likely it is to halt."""

    halting_probability: float = 0.0

    def mistake_bound(self, *, failure_probability: float) -> float:
        return (self.rounds or math.inf) / 50 + math.log(1 / failure_probability)

    def regret_bound(self, *, failure_probability: float) -> float:
        return 2 * self.mistake_bound(failure_probability=failure_probability)


@pytest.mark.parametrize(("halts", "copies"), [(0.0, 1), (0.5, 7), (0.09, 2)])
def test_as_many_copies_err_as_may_halt(halts: float, copies: int) -> None:
    learner = Promising(halting_probability=halts)
    each = learner.mistake_bound(failure_probability=0.01 / copies)
    wrapped = Restarting(learner=learner)
    assert wrapped.mistake_bound(failure_probability=0.02) == min(100, copies * each)
    assert wrapped.regret_bound(failure_probability=0.02) == min(100, copies * 2 * each)


def test_copies_that_halt_without_end_may_err_in_every_round() -> None:
    learner = Promising(halting_probability=1.0)
    assert Restarting(learner=learner).mistake_bound(failure_probability=0.02) == 100
    few = Restarting(learner=learner, restarts=2).mistake_bound(failure_probability=0.02)
    assert few == 3 * learner.mistake_bound(failure_probability=0.01 / 3)


@pytest.mark.parametrize("name", ["mistake_bound", "regret_bound"])
def test_the_bounds_of_the_epochs_that_are_reached_add_up(name: str) -> None:
    learner = Promising()
    wrapped = UnknownHorizon(learner=learner, first_rounds=4)
    assert wrapped.for_rounds(7) is wrapped
    expected = sum(
        getattr(learner.for_rounds(4 << k), name)(failure_probability=0.1 / (k + 1) / (k + 2))
        for k in range(3)
    )
    found = getattr(wrapped, name)
    assert found(failure_probability=0.1, rounds=28) == pytest.approx(expected)
    assert found(failure_probability=0.1, rounds=29) > expected
    assert found(failure_probability=0.1) == math.inf
    only_two = UnknownHorizon(learner=learner, first_rounds=4, epochs=2)
    assert getattr(only_two, name)(failure_probability=0.1, rounds=28) == math.inf
