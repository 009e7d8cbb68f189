"""One thread owns a run: requests queue up for it, and each of its turns is one commit.

A run holds drawn noise, so nobody else ever touches it. Whoever has something for it leaves it in
the queue and waits; everything that arrived during a commit goes into the next one together. So a
commit is shared by as many clients as are waiting, and the slower the disk, the larger the groups.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from littlestone.errors import HorizonExceededError, LittlestoneError
from littlestone.serve.visible import Visible
from littlestone.service.durable import DifferentContentError, DurableRun
from littlestone.service.log.intake import Event, Receipt

MOST_WAITING: Final = 50_000  # events; beyond them a client is asked to come back later
MOST_IN_A_TURN: Final = 8_192
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds until a store is tried again
_LOG: Final = logging.getLogger("littlestone.serve")


class Overloaded(Exception):  # noqa: N818 (never leaves the service)
    """More events wait than the run takes in a moment."""


class Unavailable(Exception):  # noqa: N818
    """The run is being opened or closed, or could not be opened."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why one event was not taken; its neighbours were."""

    reason: str
    status: int


Outcome = Receipt | Refused
Question = Callable[[DurableRun], Any]


@dataclass(slots=True)
class _Waiting:
    """Events or a question, and where the answer goes."""

    content: Sequence[Event] | Question
    answer: "asyncio.Future[Any]"
    size: int


class RunOwner:
    """The thread of one run, seen from the event loop that all other methods are called from."""

    def __init__(
        self,
        name: str,
        opened: Callable[[], DurableRun],
        visible: Visible,
        *,
        begun: Callable[[DurableRun], None] | None = None,
    ) -> None:
        """``begun`` is called with a run that has read nothing, before it reads its first event."""
        self.name, self.visible = name, visible
        self._opened, self._begun = opened, begun
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._closing, self._retiring = False, False
        self._stop = threading.Event()  # for a thread that waits for a disk
        self._thread = threading.Thread(target=self._own, name=f"run {name}", daemon=True)
        self._thread.start()

    async def ready(self) -> None:
        """Wait until the run is open; raises what opening it raised."""
        await asyncio.shield(self._ready)

    @property
    def opening(self) -> bool:
        """Whether the run is being opened for the first time."""
        return not self._ready.done()

    @property
    def failure(self) -> str | None:
        """Why the run cannot be used, if so; for its owner."""
        if self.opening:
            return "is being opened"
        problem = self._ready.exception()
        return None if problem is None else str(problem)

    def unavailable(self) -> Unavailable:
        """For everybody: why it is so may hold somebody's data, and is in the log for its owner."""
        return Unavailable(f"run {self.name!r} is not open; look at the server, or wait")

    async def take(self, events: Sequence[Event]) -> list[Outcome]:
        """Each event's receipt, after the commit, or why it alone was refused."""
        outcomes: list[Outcome] = await self._put(events, len(events))
        return outcomes

    async def ask(self, question: Question) -> Any:
        """What the run answers between two turns."""
        return await self._put(question, 1)

    @property
    def closing(self) -> bool:
        return self._closing

    async def retire(self) -> bool:
        """Close the run if it has never read an event; False, and nothing changes, if it has."""
        rounds = self._put(lambda run: run.rounds, 1)
        self._retiring = True  # nothing comes behind the question
        try:
            if await rounds:
                return False
            await self.close()
            return True
        finally:
            self._retiring = False

    async def close(self) -> None:
        """Finish what is waiting, then close the store."""
        if not self._closing:
            self._closing = True
            self._stop.set()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _put(self, content: Sequence[Event] | Question, size: int) -> "asyncio.Future[Any]":
        if self._closing or self._retiring or self.failure is not None:
            raise self.unavailable()
        if self._waiting + size > MOST_WAITING:
            raise Overloaded(f"{self._waiting:,} events wait for run {self.name!r}; try again")
        waiting = _Waiting(content, self._loop.create_future(), size)
        self._waiting += size
        self._queue.put(waiting)
        return waiting.answer

    # What follows runs in the thread.

    def _own(self) -> None:
        run: DurableRun | None = None
        try:
            run = self._open()
            self.visible.opened(run)
            self._tell(self._succeed, None)
            while (turn := self._turn()) is not None:
                if not self._played(run, turn):
                    run.close()
                    run = None
                    run = self._open()
                    self._tell(self._succeed, None)
                    self.visible.published(run)
        except BaseException as problem:
            self._tell(self._fail, problem)
        finally:
            if run is not None:
                run.close()

    def _turn(self) -> list[_Waiting] | None:
        """Everything that waits, up to a commit of a decent size; None when the end is reached."""
        first = self._queue.get()
        if first is None:
            return None
        turn, size = [first], first.size
        while size < MOST_IN_A_TURN:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                self._queue.put(None)  # after this turn
                break
            turn.append(following)
            size += following.size
        return turn

    def _played(self, run: DurableRun, turn: list[_Waiting]) -> bool:
        """Answer all of a turn; False if an error has left the run in doubt."""
        answers: list[tuple[_Waiting, Any]] = []
        sure = True
        try:
            events = [event for one in turn if not callable(one.content) for event in one.content]
            if events and not run.rounds and self._begun is not None:
                self._begun(run)
            outcomes = iter(take_each(run, events))
            self.visible.published(run)  # before the questions: it waits for nobody's answer
            for one in turn:
                if callable(one.content):
                    answers.append((one, _answered(one.content, run)))
                else:
                    answers.append((one, [next(outcomes) for _ in one.content]))
        except Exception as problem:
            # What was committed of the turn has its receipt when it is sent again.
            _LOG.error("run %s: a turn failed with %s", self.name, type(problem).__name__)
            lost = Unavailable(f"run {self.name!r} is being opened again; send it once more")
            answers, sure = [(one, lost) for one in turn], False
        self._tell(self._deliver, answers)
        return sure

    def _open(self) -> DurableRun:
        """The run; a full or an absent disk is waited for, and nothing else."""
        pause = FIRST_PAUSE
        while True:
            try:
                return self._opened()
            except LittlestoneError as problem:
                if not isinstance(problem.__cause__, OSError | sqlite3.OperationalError):
                    raise
                self._tell(self._fail, problem)
                if self._stop.wait(pause):
                    raise
                pause = min(2 * pause, LONGEST_PAUSE)

    def _tell(self, receive: Callable[..., None], content: Any) -> None:
        self._loop.call_soon_threadsafe(receive, content)

    # And this in the loop again.

    def _deliver(self, answers: list[tuple[_Waiting, Any]]) -> None:
        for waiting, answer in answers:
            self._waiting -= waiting.size
            if waiting.answer.done():  # whoever asked has left
                continue
            if isinstance(answer, BaseException):
                waiting.answer.set_exception(answer)
            else:
                waiting.answer.set_result(answer)

    def _fail(self, problem: BaseException) -> None:
        """The store is not open: nobody else may wait, and those who do hear of it."""
        known = isinstance(problem, LittlestoneError)
        _LOG.error("run %s: %s", self.name, problem if known else type(problem).__name__)
        if self._ready.done():
            self._ready = self._loop.create_future()
        self._ready.set_exception(problem)
        self._ready.exception()  # looked at, so that the loop does not complain of it
        while not self._queue.empty():
            left = self._queue.get_nowait()
            if left is not None:
                self._deliver([(left, self.unavailable())])
        if self._closing:
            self._queue.put(None)

    def _succeed(self, _: None) -> None:
        """The store is open, for the first time or again."""
        if self._ready.done():
            self._ready = self._loop.create_future()
        self._ready.set_result(None)


def take_each(run: DurableRun, events: Sequence[Event]) -> list[Outcome]:
    """Take all that can be taken, in order; one that cannot be is found by halving."""
    if not events:
        return []
    try:
        return list(run.take(events))
    except (DifferentContentError, HorizonExceededError) as refusal:
        if len(events) > 1:
            middle = len(events) // 2
            return take_each(run, events[:middle]) + take_each(run, events[middle:])
        if isinstance(refusal, HorizonExceededError):
            return [Refused("all rounds of this run are played", 409)]
        return [Refused("this id was taken before, with another example or user", 409)]


def _answered(question: Question, run: DurableRun) -> Any:
    """An answer, or the exception that only whoever asked gets."""
    try:
        return question(run)
    except Exception as problem:
        return problem
