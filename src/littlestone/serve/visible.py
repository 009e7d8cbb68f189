"""What readers see of a run: releases that are committed and, with a clock, due.

Without a clock a release is seen as soon as it is committed. With ``every`` seconds, what was
committed becomes visible at whole multiples of them and at no other moment: then the time at which
readers see something tells them the time, and nothing about the events. Somebody's long request may
delay the clock; what was committed meanwhile waits for its next stroke all the same. How far the
last stroke came is on disk before anybody sees it, so that a restart hides nothing.
"""

import asyncio
import json
import logging
import math
import os
import threading
import time
from collections import deque
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import Hypothesis
from littlestone.service.durable import DurableRun
from littlestone.service.entries import Release

REMEMBERED: Final = 1_000  # newest releases; older ones are read from the store
LOOK: Final = 10.0  # seconds after which a clock may have been set
_LOG: Final = logging.getLogger("littlestone.serve")


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

    def __init__(self, *, every: float | None = None, kept: Path | None = None) -> None:
        """With a clock, ``kept`` is the file that holds the number of the last visible release."""
        self._every, self._kept = every, kept
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
        """Show at once what was visible before; the first release has read nothing, and always is.

        With a clock, what was committed since the last stroke waits for the next one.
        """
        last = run.newest.number if self._every is None else self._last_shown(run.newest.number)
        releases = run.releases(after=max(0, last - REMEMBERED))
        shown = list(takewhile(lambda release: release.number <= last, releases))
        rule = run.run.hypothesis
        if last < run.newest.number:
            rule = hypothesis_from_json(json.loads(shown[-1].body)["hypothesis"])
        with self._lock:
            self._committed.append((-math.inf, shown, rule))
        self._seen = last
        self.published(run)
        self._loop.call_soon_threadsafe(self.show, 0.0)

    def published(self, run: DurableRun) -> None:
        """Leave what was committed since the last time."""
        if run.newest.number == self._seen:
            return
        with self._lock:
            fresh = list(run.releases(after=self._seen))
            self._committed.append((time.monotonic(), fresh, run.run.hypothesis))
            self._seen = run.newest.number
        if self._every is None:
            self._loop.call_soon_threadsafe(self.show)

    # Called by the loop.

    def show(self, before: float = math.inf) -> None:
        """Make visible what was committed before this time, and ring if there is any."""
        with self._lock:
            due = list(takewhile(lambda one: one[0] < before, self._committed))
            del self._committed[: len(due)]
        for _, releases, rule in due:
            self.recent.extend(releases)
            if releases:
                self.newest = Shown(releases[-1], rule)
        if due:
            self._ring()

    def _ring(self) -> None:
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
        """Stop the clock, and wake everybody who waits for the bell."""
        if self._clock is not None:
            self._clock.cancel()
        self._ring()

    async def _tick(self, every: float) -> None:
        """Strike at each whole multiple, however late the loop gets to it."""
        period = time.time() // every
        while True:
            await asyncio.sleep(min(every - time.time() % every, LOOK))
            now, moment = time.time(), time.monotonic()
            if now // every != period:
                period = now // every
                await self._strike(moment - now % every)

    async def _strike(self, moment: float) -> None:
        """Write down how far this stroke comes, then show it; a full disk puts it off."""
        with self._lock:
            due = list(takewhile(lambda one: one[0] < moment, self._committed))
        numbers = [releases[-1].number for _, releases, _ in due if releases]
        try:
            if self._kept is not None and numbers:
                await asyncio.to_thread(_keep, self._kept, max(numbers))
        except OSError as problem:
            _LOG.error("%s cannot be written, so nothing new is shown: %s", self._kept, problem)
            return
        self.show(before=moment)

    def _last_shown(self, newest: int) -> int:
        """The number in the file, which may have been put back or be missing."""
        try:
            number = int(self._kept.read_text(encoding="ascii")) if self._kept is not None else 1
        except (OSError, ValueError):
            number = 1
        return max(1, min(number, newest))


def _keep(path: Path, number: int) -> None:
    """Replace the number on disk; a crash leaves the old one or the new one."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("w", encoding="ascii") as stream:
        stream.write(f"{number}\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
