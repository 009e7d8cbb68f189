"""Decide what readers see of a run: releases that are committed and, with a clock, due.

Without a clock a release is visible as soon as it is committed. With ``every`` seconds, committed
releases become visible at whole multiples of that interval only, so the time of a change says
nothing about the events. A long request may delay the clock; what is committed during the delay
waits for the next publication time. The number of the last visible release is written to disk
before readers see it, so a restart hides nothing.
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

from littlestone.concepts.hypotheses.vote import domain_of
from littlestone.concepts.hypotheses.weighted_vote import MOST
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import sync_folder
from littlestone.runs.journal.records import Release
from littlestone.runs.published import steady_rule

REMEMBERED: Final = 1_000  # newest releases; older ones are read from the store
LOOK: Final = 10.0  # seconds after which to check whether the system clock was changed
_LOG: Final = logging.getLogger("littlestone.http")


class Shown(NamedTuple):
    """A visible release, with the rule to predict by."""

    release: Release
    hypothesis: Hypothesis

    @property
    def tag(self) -> str:
        """Return an ETag that identifies the release and everything before it."""
        return f'"{self.release.number}-{self.release.chain.hex()[:16]}"'

    @property
    def rule(self) -> str:
        """Return the rule in words."""
        return str(json.loads(self.release.body)["rule"])


class Visible:
    """Hold the visible releases of one run, and wake those who wait for new ones."""

    def __init__(self, *, every: float | None = None, file: Path | None = None) -> None:
        """Create it; with a clock, ``file`` stores the number of the last visible release."""
        self._every, self._file = every, file
        self._loop = asyncio.get_running_loop()
        self._change: asyncio.Future[None] = self._loop.create_future()
        self._lock = threading.Lock()  # guards what the thread of the run has added
        self._committed: list[tuple[float, list[Release], Hypothesis]] = []
        self._seen = 0  # the newest release that the thread has added
        self.newest: Shown | None = None
        self.recent: deque[Release] = deque(maxlen=REMEMBERED)
        self._steady: tuple[int, Hypothesis] | None = None
        self._clock = None if every is None else self._loop.create_task(self._tick(every))

    # Called by the thread of the run.

    def opened(self, run: DurableRun) -> None:
        """Show what was visible before; the first release depends on no data and is always visible.

        With a clock, releases committed after the last publication time wait for the next one.
        When a run is opened again, only what was committed after the last call is added.
        """
        if not self._seen:
            last = run.newest.number if self._every is None else self._last_shown(run.newest.number)
            releases = run.releases(after=max(0, last - REMEMBERED))
            shown = list(takewhile(lambda release: release.number <= last, releases))
            rule = run.run.hypothesis
            if last < run.newest.number:
                rule = hypothesis_from_json(json.loads(shown[-1].body)["hypothesis"])
            with self._lock:
                self._committed.append((-math.inf, shown, rule))
            self._seen = last
            self._loop.call_soon_threadsafe(self.show, 0.0)
        self.published(run)

    def published(self, run: DurableRun) -> None:
        """Add what was committed after the last call."""
        if run.newest.number == self._seen:
            return
        # Before the lock: the event loop waits for it, and a server that holds the store may hang.
        fresh = list(run.releases(after=self._seen))
        with self._lock:
            self._committed.append((time.monotonic(), fresh, run.run.hypothesis))
        self._seen = run.newest.number
        if self._every is None:
            self._loop.call_soon_threadsafe(self.show)

    # Called by the event loop.

    def show(self, before: float = math.inf) -> None:
        """Make visible what was committed before this time, and wake those who wait."""
        with self._lock:
            due = list(takewhile(lambda one: one[0] < before, self._committed))
            del self._committed[: len(due)]
        for _, releases, rule in due:
            self.recent.extend(releases)
            if releases:
                self.newest = Shown(releases[-1], rule)
        if due:
            self._wake()

    def _wake(self) -> None:
        if not self._change.done():
            self._change.set_result(None)
        self._change = self._loop.create_future()

    async def change(self) -> None:
        """Wait until something may have changed."""
        await asyncio.shield(self._change)

    def steady(self) -> Hypothesis:
        """Return the vote of visible rules to predict by: a function of what is published."""
        newest = self.newest
        assert newest is not None
        if self._steady is None or self._steady[0] != newest.release.number:
            rule = newest.hypothesis
            if isinstance(domain_of(rule), Schema):  # for others it is the newest rule
                rule = steady_rule(json.loads(one.body) for one in list(self.recent)[-MOST:])
            self._steady = newest.release.number, rule
        return self._steady[1]

    def after(self, number: int) -> list[Release] | None:
        """Return the visible releases after this one; None if some are no longer in memory."""
        if self.newest is None or number >= self.newest.release.number:
            return []
        missing = self.newest.release.number - number
        return None if missing > len(self.recent) else list(self.recent)[-missing:]

    def stop(self) -> None:
        """Stop the clock, and wake everything that waits."""
        if self._clock is not None:
            self._clock.cancel()
        self._wake()

    async def _tick(self, every: float) -> None:
        """Publish at each whole multiple of the interval, even if the loop runs late."""
        period = time.time() // every
        while True:
            await asyncio.sleep(min(every - time.time() % every, LOOK))
            now, moment = time.time(), time.monotonic()
            if now // every != period:
                period = now // every
                await self._publish_due(moment - now % every)

    async def _publish_due(self, moment: float) -> None:
        """Store the number of the newest due release, then show it; a full disk delays it."""
        with self._lock:
            due = list(takewhile(lambda one: one[0] < moment, self._committed))
        numbers = [releases[-1].number for _, releases, _ in due if releases]
        try:
            if self._file is not None and numbers:
                await asyncio.to_thread(_store_number, self._file, max(numbers))
        except OSError as problem:
            _LOG.error("%s cannot be written, so nothing new is shown: %s", self._file, problem)
            return
        self.show(before=moment)

    def _last_shown(self, newest: int) -> int:
        """Return the number in the file, which may be missing or restored from a backup."""
        try:
            number = int(self._file.read_text(encoding="ascii")) if self._file is not None else 1
        except (OSError, ValueError):
            number = 1
        return max(1, min(number, newest))


def _store_number(path: Path, number: int) -> None:
    """Replace the number on disk, where it survives a power failure."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("w", encoding="ascii") as stream:
        stream.write(f"{number}\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    sync_folder(path.parent)
