"""With a clock: what is seen at a stroke was committed before it, however late the stroke comes."""

import asyncio
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from littlestone.http.visible import Visible
from littlestone.runs.journal.records import Release

EVERY = 0.25


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


async def _seen_at_a_late_stroke() -> list[int | None]:
    visible, run, seen = Visible(every=EVERY), Publishing(), list[int | None]()
    await asyncio.sleep(EVERY - time.time() % EVERY + 0.05)  # a stroke, and a little more
    run.publish(visible)
    late = threading.Timer(EVERY + 0.02, lambda: run.publish(visible))
    late.start()
    time.sleep(EVERY + 0.05)  # somebody's request holds the loop beyond the next stroke
    late.join()
    for _ in range(2):
        with suppress(TimeoutError):  # it rings for news only
            await asyncio.wait_for(visible.bell(), 8 * EVERY)
        seen.append(None if visible.newest is None else visible.newest.release.number)
    visible.stop()
    return seen


def test_a_late_stroke_shows_what_a_punctual_one_would_have() -> None:
    assert asyncio.run(_seen_at_a_late_stroke()) == [1, 2]


def test_a_clock_that_shows_all_there_is_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    show = Visible.show
    monkeypatch.setattr(Visible, "show", lambda visible, before=0.0: show(visible))
    assert asyncio.run(_seen_at_a_late_stroke())[0] == 2


async def _seen_when_the_loop_was_late(monkeypatch: pytest.MonkeyPatch) -> int:
    """The loop looks at the clock before a stroke, and again only behind it."""
    told, day = time.time, 86_400.0
    midnight = told() + 0.3
    monkeypatch.setattr(time, "time", lambda: day + told() - midnight)
    visible, run = Visible(every=day), Publishing()
    run.publish(visible)
    await asyncio.sleep(0.05)
    time.sleep(0.4)
    await asyncio.wait_for(visible.bell(), 5)
    visible.stop()
    assert visible.newest is not None
    return visible.newest.release.number


def test_no_stroke_is_missed_when_the_loop_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("littlestone.http.visible.LOOK", 0.2)
    assert asyncio.run(_seen_when_the_loop_was_late(monkeypatch)) == 1


async def _seen_after_the_clock_was_set(monkeypatch: pytest.MonkeyPatch) -> int:
    told, day = time.time, 86_400.0
    visible, run = Visible(every=day), Publishing()
    run.publish(visible)
    await asyncio.sleep(0.05)
    assert visible.newest is None
    midnight = told() + 0.2
    monkeypatch.setattr(time, "time", lambda: day + told() - midnight)
    await asyncio.wait_for(visible.bell(), 5)
    assert visible.newest is not None and told() >= midnight
    visible.stop()
    return visible.newest.release.number


def test_a_clock_that_is_set_strikes_by_its_new_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("littlestone.http.visible.LOOK", 0.02)
    assert asyncio.run(_seen_after_the_clock_was_set(monkeypatch)) == 1
