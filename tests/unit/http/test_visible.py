"""With a clock: what is seen at a stroke was committed before it, however late the stroke comes."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from tests.patience import PATIENCE

from littlestone.http.visible import Visible
from littlestone.runs.journal.records import Release

EVERY = 1000.0


class Clock:
    """The time of day, which may be set, and a clock that nobody sets; both stand still."""

    def __init__(self, day: float) -> None:
        self.day = self.steady = day

    def go(self, seconds: float) -> None:
        self.day += seconds
        self.steady += seconds

    def time(self) -> float:
        return self.day

    def monotonic(self) -> float:
        return self.steady


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Half-way between two strokes; it is looked at often."""
    made = Clock(EVERY / 2)
    monkeypatch.setattr("littlestone.http.visible.time", made)
    monkeypatch.setattr("littlestone.http.visible.LOOK", 0.005)
    return made


class Publishing:
    """As much of a run as readers hear of."""

    def __init__(self) -> None:
        self.log: list[Release] = []
        self.run = SimpleNamespace(hypothesis=lambda x: 0)

    @property
    def newest(self) -> Release:
        return self.log[-1]

    def publish(self, visible: Visible) -> None:
        number = len(self.log) + 1
        self.log.append(Release(number, number, b'{"rule": "r"}', bytes(32)))
        visible.published(self)  # type: ignore[arg-type]

    def releases(self, *, after: int = 0) -> Any:
        return iter(self.log[after:])


async def looked_at() -> None:
    """Let the loop look at the clock, at least once."""
    await asyncio.sleep(0.02)


async def listening(visible: Visible) -> "asyncio.Task[None]":
    """Somebody who hears the next stroke; the clock goes on afterwards."""
    ear = asyncio.create_task(visible.change())
    await asyncio.sleep(0)
    return ear


async def rung(visible: Visible, ear: "asyncio.Task[None]") -> int | None:
    await asyncio.wait_for(ear, PATIENCE)
    return None if visible.newest is None else visible.newest.release.number


async def _seen_at_a_late_stroke(clock: Clock, strokes: int) -> list[int | None]:
    visible, run = Visible(every=EVERY), Publishing()
    await looked_at()
    run.publish(visible)
    ear = await listening(visible)
    clock.go(EVERY / 2 + 1)  # somebody's request holds the loop beyond the next stroke
    run.publish(visible)
    clock.go(1)
    seen = [await rung(visible, ear)]
    for _ in range(strokes - 1):
        ear = await listening(visible)
        clock.go(EVERY)
        seen.append(await rung(visible, ear))
    visible.stop()
    return seen


def test_a_late_stroke_shows_what_a_punctual_one_would_have(clock: Clock) -> None:
    assert asyncio.run(_seen_at_a_late_stroke(clock, 2)) == [1, 2]


def test_a_clock_that_shows_all_there_is_would_be_found(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = Visible.show
    monkeypatch.setattr(Visible, "show", lambda visible, before=0.0: show(visible))
    assert asyncio.run(_seen_at_a_late_stroke(clock, 1)) == [2]


async def _seen_when_the_loop_was_late(clock: Clock) -> int | None:
    """The loop looks at the clock before a stroke, and again only behind it."""
    visible, run = Visible(every=EVERY), Publishing()
    run.publish(visible)
    clock.go(EVERY / 2 - 0.001)
    await looked_at()
    assert visible.newest is None
    ear = await listening(visible)
    clock.go(EVERY / 2)
    seen = await rung(visible, ear)
    visible.stop()
    return seen


def test_no_stroke_is_missed_when_the_loop_is_late(clock: Clock) -> None:
    assert asyncio.run(_seen_when_the_loop_was_late(clock)) == 1


async def _seen_after_the_clock_was_set(clock: Clock) -> int | None:
    visible, run = Visible(every=EVERY), Publishing()
    run.publish(visible)
    await looked_at()
    clock.day = EVERY - 0.2
    await looked_at()
    assert visible.newest is None
    ear = await listening(visible)
    clock.go(0.4)
    seen = await rung(visible, ear)
    visible.stop()
    return seen


def test_a_clock_that_is_set_strikes_by_its_new_time(clock: Clock) -> None:
    assert asyncio.run(_seen_after_the_clock_was_set(clock)) == 1


def test_a_store_that_does_not_answer_holds_up_no_other_run(clock: Clock) -> None:
    """The server of one run may hang in the middle of an answer; the loop is that of all runs."""
    reading, go = threading.Event(), threading.Event()

    class Hanging(Publishing):
        def releases(self, *, after: int = 0) -> Any:
            reading.set()
            assert go.wait(PATIENCE)
            return super().releases(after=after)

    async def played() -> None:
        visible = Visible(every=EVERY)
        publishing = asyncio.ensure_future(asyncio.to_thread(Hanging().publish, visible))
        try:
            assert await asyncio.to_thread(reading.wait, PATIENCE)
            assert not visible._lock.locked()  # for which the next stroke would wait
            visible.show()
        finally:
            go.set()
            await publishing
            visible.stop()
        assert len(visible._committed) == 1

    asyncio.run(played())
