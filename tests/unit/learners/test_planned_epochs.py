"""An epoch goes on as it was planned when it began, whatever a later version would plan."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import SnapshotError
from littlestone.learners.agnostic_finite import noisy_losses, noisy_losses_engine
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.unknown_horizon import UnknownHorizon, UnknownHorizonEngine
from littlestone.learners.wrapper import CopiesEngine
from littlestone.randomness import seeded

BUDGET: Any = {"concepts": Thresholds(9), "rounds": 100, "epsilon": 2.0, "delta": 1e-4}
GIVEN = NoisyLosses(batch=5, rate=0.1, **BUDGET)  # so that no version gives it another form
ENDLESS = UnknownHorizon(learner=AgnosticFinite(experts=GIVEN, **BUDGET), first_rounds=300)
XS = np.arange(300) % 9
YS = (XS > 4).astype(np.uint8)


def planning(length: int) -> Callable[..., Any]:
    return lambda *_, batch=None, **__: (batch or length, 1)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Batches of 13 rounds at first, of 8 after this is called; eras of a few batches."""
    monkeypatch.setattr(noisy_losses_engine, "_ERA_ROUNDS", 64)
    monkeypatch.setattr(noisy_losses, "best_sizes", planning(13))
    return lambda: monkeypatch.setattr(noisy_losses, "best_sizes", planning(8))


def test_a_saved_epoch_goes_on_as_it_was_planned(later: Callable[[], None]) -> None:
    run, kept = ENDLESS.start(rng=seeded(5)), ENDLESS.start(rng=seeded(5))
    for one in (run, kept):
        one.follow(XS[:120], YS[:120])
    saved = kept.snapshot()
    later()
    restored = ENDLESS.restore(saved)
    again = restored.follow(XS[120:], YS[120:])
    assert again.tolist() == run.follow(XS[120:], YS[120:]).tolist()
    engine: Any = restored._engine
    assert engine._copy._length == 8  # the next epoch, which began after the change


def test_noise_is_never_taken_from_a_plan_that_it_was_not_drawn_for(
    later: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the plan in its state, rows of noise would be used a second time."""
    for name in ("state", "load"):
        monkeypatch.setattr(UnknownHorizonEngine, name, getattr(CopiesEngine, name))
    run, same = ENDLESS.start(rng=seeded(5)), ENDLESS.start(rng=seeded(5))
    for one in (run, same):
        one.follow(XS[:120], YS[:120])
    saved = run.snapshot()
    restored = ENDLESS.restore(same.snapshot())
    assert restored.follow(XS[120:], YS[120:]).tolist() == run.follow(XS[120:], YS[120:]).tolist()
    later()
    with pytest.raises(SnapshotError, match="another plan"):
        ENDLESS.restore(saved)


@pytest.mark.parametrize(
    ("before", "after"),
    [('"epsilon":2.0', '"epsilon":20.0'), ('"rounds":300', '"rounds":600'), ('"n":9', '"n":8')],
)
def test_an_altered_plan_is_refused(before: str, after: str, monkeypatch: Any) -> None:
    run = ENDLESS.start(rng=seeded(5))
    told = UnknownHorizonEngine.state
    monkeypatch.setattr(
        UnknownHorizonEngine,
        "state",
        lambda self: (*told(self)[:-1], told(self)[-1].replace(before, after)),
    )
    with pytest.raises(SnapshotError, match="no epoch"):
        ENDLESS.restore(run.snapshot())
