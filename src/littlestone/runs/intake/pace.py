"""Wait for rows with fixed publication times, and stop on a signal.

A thread waits for the rows, so that neither the clock nor a signal has to wait for the next row.
Everything private happens in the other thread, which owns the noise.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

Item = TypeVar("Item")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_AHEAD: Final = 4096  # rows that are read and not yet taken
_PUNCTUAL: Final = 0.01
_LONGEST: Final = 86_400.0


class Tick:
    """A publication time has come: publish what was learned before it."""


class Stopping(AbstractContextManager["Stopping"]):
    """Let the first SIGINT or SIGTERM end the rows; a second one has its usual effect.

    A step that has begun is never interrupted: that would leave the run in an unknown state.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._wake: Callable[[], None] = lambda: None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Stopping":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _note(self, number: int, frame: object) -> None:
        self.signal = number
        self.__exit__()
        self._wake()

    def until(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items of a file, which never wait."""
        for item in items:
            if self.signal is not None:
                return
            yield item

    def paced(self, items: Iterable[Item], every: float | None = None) -> Iterator[Item | Tick]:
        """Yield the items of a pipe as they arrive, and a tick each ``every`` seconds.

        All rows that were read before the signal are yielded. A tick that passes while the caller
        is busy is skipped: the next one is on time.
        """
        arrived: SimpleQueue[Any] = SimpleQueue()
        room = threading.Semaphore(_AHEAD)
        self._wake = lambda: arrived.put(_End())  # a put is safe in a signal handler
        threading.Thread(target=_fill, args=(items, arrived, room), daemon=True).start()
        began = waiting_since = time.monotonic()
        due = _next_multiple(every, began, began)
        while self.signal is None or not arrived.empty():
            try:
                item = arrived.get(timeout=min(max(due - time.monotonic(), 0.0), _LONGEST))
            except Empty:
                waiting_since = time.monotonic()
            else:
                if isinstance(item, _End):
                    if item.problem is not None:
                        raise item.problem
                    return
                room.release()
                waiting_since = time.monotonic()
                yield item
            now = time.monotonic()
            if now >= due:
                if now - waiting_since < _PUNCTUAL:
                    yield Tick()
                due = _next_multiple(every, began, time.monotonic())


class _End:
    """The end of what arrives, and its cause."""

    def __init__(self, problem: BaseException | None = None) -> None:
        self.problem = problem


def _fill(items: Iterable[Any], arrived: "SimpleQueue[Any]", room: threading.Semaphore) -> None:
    try:
        for item in items:
            room.acquire()
            arrived.put(item)
        arrived.put(_End())
    except BaseException as problem:  # raised where the items are consumed
        arrived.put(_End(problem))


def _next_multiple(every: float | None, began: float, now: float) -> float:
    return math.inf if every is None else began + (math.floor((now - began) / every) + 1) * every
