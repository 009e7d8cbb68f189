"""Every private learner can be continued from a store: the checkpoint publishes what was logged."""

from pathlib import Path
from typing import Any

import pytest

from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.run import PrivateLearner
from littlestone.runs import durable
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event

BUDGET: dict[str, Any] = {"rounds": 200, "epsilon": 8.0, "delta": 1e-3}
STREAM = [Event(str(n), 5 * n % 7, int(5 * n % 7 >= 3)) for n in range(140)]


def recipe_of(name: str) -> PrivateLearner:
    """For thresholds, or for points where a learner is about those."""
    try:
        return LEARNERS[name].build(Thresholds(7), **BUDGET)
    except ValueError:
        return LEARNERS[name].build(Points(7), **BUDGET)


@pytest.mark.parametrize("name", [name for name, entry in LEARNERS.items() if entry.private])
def test_a_store_opens_at_a_checkpoint_and_between(
    name: str, folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 40)
    recipe = recipe_of(name)
    run = DurableRun.start(recipe, folder_in_memory / "run.db")
    for first in range(0, len(STREAM), 20):
        run.take(STREAM[first : first + 20])
        before = (run.rounds, run.mistakes, run.newest, run.curve())
        run.close()
        run = DurableRun.resume(recipe, folder_in_memory / "run.db")
        assert (run.rounds, run.mistakes, run.newest, run.curve()) == before
    run.close()
