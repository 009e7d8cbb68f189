"""Rows are taken in groups; what is decided about a whole file waits for enough of its rows."""

import io
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.pace import Tick
from littlestone.runs.learning import Item, Publisher, learn

RECIPE = PrivateMajority(concepts=Thresholds(60), rounds=200, epsilon=1.0)
POINTS = [7 * place % 60 for place in range(40)]


def rows(name: str) -> list[Event]:
    return [Event(f"{name}{line}", x, x % 2, line) for line, x in enumerate(POINTS, start=2)]


@pytest.mark.parametrize("before", [0, 1, 15])
def test_a_publication_time_does_not_hide_what_was_read_by_its_lines(
    before: int, folder_in_memory: Path
) -> None:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db")
    publisher = Publisher(io.BytesIO())
    learn(run, rows("a.csv line "), publisher, named_by_line=True)
    again: list[Item] = [*rows("id")[:before], Tick(), *rows("id")[before:]]
    with pytest.raises(StoreError, match="read before"):
        learn(run, again, publisher, renamed=True, at_ticks=True)
    assert run.rounds == len(POINTS)
    few: list[Item] = [*rows("id")[:before], Tick()]  # they may be alike by chance
    assert learn(run, few, publisher, renamed=True, at_ticks=True).taken == before
    run.close()
