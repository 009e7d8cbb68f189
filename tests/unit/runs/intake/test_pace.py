"""Ticks come at fixed times, and what is published at one was ready before it."""

import io
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.pace import Stopping, Tick
from littlestone.runs.learning import Publisher, learn

RECIPE = PrivateMajority(concepts=Thresholds(8), rounds=10_000, epsilon=20.0)


def test_a_tick_that_passes_while_something_is_done_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("littlestone.runs.intake.pace.time.monotonic", lambda: now)
    told = []
    for item in Stopping().paced("abcdef", every=10.0):
        told.append("tick" if isinstance(item, Tick) else item)
        # Steps end just after a tick, at 10 and 30; the one after "c" takes long, across 20.
        now = {"a": 9.995, "b": 10.001, "c": 25.0, "d": 29.995, "e": 30.001}.get(str(item), now)
    assert told == ["a", "b", "tick", "c", "d", "e", "tick", "f"]


def test_ticks_come_while_nothing_arrives() -> None:
    end = threading.Event()

    def silent() -> Iterator[str]:
        end.wait()
        yield "late"

    told = []
    for item in Stopping().paced(silent(), every=0.02):
        told.append(item)
        if len(told) == 3:
            end.set()
    assert [type(item) for item in told[:3]] == [Tick] * 3
    assert told[-1] == "late"


def test_what_goes_wrong_while_reading_is_told_where_the_rows_are_asked_for() -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise ValueError("damaged")

    items = Stopping().paced(broken())
    assert next(items) == "a"
    with pytest.raises(ValueError, match="damaged"):
        next(items)


@pytest.mark.parametrize("waits", [False, True])
def test_the_first_signal_ends_the_rows_and_the_second_acts_as_ever(waits: bool) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Stopping() as stopping:
        items = stopping.paced("abc") if waits else stopping.until("abc")
        assert next(items) == "a"
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is before
        # What a pipe had given when the signal came is lost unless it is taken; a file keeps it.
        assert len(list(items)) in ((0, 1, 2) if waits else (0,))
        assert stopping.signal == signal.SIGTERM


def test_what_is_published_at_a_tick_was_learned_before_it(tmp_path: Path) -> None:
    rules = io.BytesIO()
    run = DurableRun.start(RECIPE, tmp_path / "run.db")
    changes = []

    def items() -> Iterator[Event | Tick]:
        for number in range(3000):
            if number % 100 == 0:
                before = len(rules.getvalue().splitlines())
                logged = run.newest.number
                yield Tick()
                changes.append(
                    (before, logged, len(rules.getvalue().splitlines()), run.newest.number)
                )
            yield Event(str(number), number % 8, int(number % 8 >= 3))

    learn(run, items(), Publisher(rules), group=1000, at_ticks=True)
    # Between ticks nothing is published; at a tick what was logged before, not what it adds.
    assert all(published == logged for _, logged, published, _ in changes)
    assert any(newest > published for _, _, published, newest in changes)
    assert [before for before, *_ in changes[1:]] == [
        published for _, _, published, _ in changes[:-1]
    ]
    numbers = [json.loads(line)["release"] for line in rules.getvalue().splitlines()]
    assert numbers == list(range(1, run.newest.number + 1))
    run.close()
