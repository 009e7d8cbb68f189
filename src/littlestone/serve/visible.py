"""What readers see of a run: releases that are committed and, with a clock, due.

Without a clock a release is seen as soon as it is committed. With ``every`` seconds, what was
committed becomes visible at whole multiples of them and at no other moment: then the time at which
readers see something tells them the time, and nothing about the events. Somebody's long request may
delay the clock; what was committed meanwhile waits for its next stroke all the same.
"""

import asyncio
import json
import math
import threading
import time
from collections import deque
from itertools import takewhile
from typing import Final, NamedTuple

from littlestone.concepts.protocols import Hypothesis
from littlestone.service.durable import DurableRun
from littlestone.service.entries import Release

REMEMBERED: Final = 1_000  # newest releases; older ones are read from the store
LOOK: Final = 10.0  # seconds after which a clock may have been set


class Shown(NamedTuple):
    """A release that may be read, with the rule to predict by."""

    release: Release
    hypothesis: Hypothesis

    @property
    def tag(self) -> str:
        """Names the release and everything before it."""
        return f'"{self.release.number}-{self.release.chain.hex()[:16]}"'

    @property
    def rule(self) -> str:
        return str(json.loads(self.release.body)["rule"])


class Visible:
    """The releases of one run that may be read, and a bell that rings for new ones."""

    def __init__(self, *, every: float | None = None, fresh: bool = False) -> None:
        self._every, self._fresh = every, fresh
        self._loop = asyncio.get_running_loop()
        self._bell: asyncio.Future[None] = self._loop.create_future()
        self._lock = threading.Lock()  # of what the run's thread leaves behind
        self._committed: list[tuple[float, list[Release], Hypothesis]] = []
        self._seen = 0  # the newest release that was left here
        self.newest: Shown | None = None
        self.recent: deque[Release] = deque(maxlen=REMEMBERED)
        self._clock = None if every is None else self._loop.create_task(self._tick(every))

    # Called by the run's thread.

    def opened(self, run: DurableRun) -> None:
        """What a store has published; with a clock it is shown when it strikes.

        The first release of a run that was just created has read nothing, and is shown at once.
        """
        self._seen = max(0, run.newest.number - REMEMBERED)
        self.published(run, now=self._fresh)

    def published(self, run: DurableRun, *, now: bool = False) -> None:
        """Leave what was committed since the last time."""
        if run.newest.number == self._seen and not now:
            return
        with self._lock:
            fresh = list(run.releases(after=self._seen))
            self._committed.append((time.monotonic(), fresh, run.run.hypothesis))
            self._seen = run.newest.number
        if now or self._every is None:
            self._loop.call_soon_threadsafe(self.show)

    # Called by the loop.

    def show(self, before: float = math.inf) -> None:
        """Make visible what was committed before this time, and ring."""
        with self._lock:
            due = list(takewhile(lambda one: one[0] < before, self._committed))
            del self._committed[: len(due)]
        for _, releases, rule in due:
            self.recent.extend(releases)
            if releases:
                self.newest = Shown(releases[-1], rule)
        if not self._bell.done():
            self._bell.set_result(None)
        self._bell = self._loop.create_future()

    async def bell(self) -> None:
        """Wait until something may have changed."""
        await asyncio.shield(self._bell)

    def after(self, number: int) -> list[Release] | None:
        """The visible releases after this one; None if some of them are not remembered."""
        if self.newest is None or number >= self.newest.release.number:
            return []
        missing = self.newest.release.number - number
        return None if missing > len(self.recent) else list(self.recent)[-missing:]

    def stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()

    async def _tick(self, every: float) -> None:
        while True:
            left = every - time.time() % every
            strikes = time.monotonic() + left
            await asyncio.sleep(min(left, LOOK))
            if left <= LOOK:
                self.show(before=strikes)
