"""Run one thread per run: requests queue up for it, and each turn is one commit.

A run holds drawn noise, so no other thread touches it. Clients put requests into the queue and
wait; everything that arrives during a commit goes into the next one. All waiting clients share a
commit, so a slower disk leads to larger groups.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from typing import Any, Final, Protocol

from littlestone.concepts.capabilities import Records
from littlestone.concepts.schema import label_number, label_values
from littlestone.errors import HorizonExceededError, InUseError, LittlestoneError, UnreachableError
from littlestone.http.visible import Visible
from littlestone.learners.run import PrivateLearner
from littlestone.runs.durable import REFUSALS, DurableRun
from littlestone.runs.intake.cells import Misfit
from littlestone.runs.intake.event import Event, Receipt, by_halving
from littlestone.runs.intake.readers import PointReader, point_reader
from littlestone.runs.intake.users import NAMELESS, canonical_user, canonical_users
from littlestone.runs.journal.records import Release

MOST_WAITING: Final = 50_000  # events; beyond them a client is asked to try again later
MOST_IN_A_TURN: Final = 8_192
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds until the store is tried again
_PLAIN: Final = frozenset({int, str})
_LOG: Final = logging.getLogger("littlestone.http")


class Overloaded(Exception):  # noqa: N818 (never leaves the service)
    """More events wait than the run accepts at a time."""


class Unavailable(Exception):  # noqa: N818
    """The run is being opened or closed, or could not be opened."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why one event was rejected; the others in the request are not affected."""

    reason: str
    status: int


Outcome = Receipt | Refused
Question = Callable[[DurableRun], Any]


@dataclass(slots=True)
class _Waiting:
    """Events or a question, and the future that gets the answer."""

    content: Sequence[Event] | Question
    answer: "asyncio.Future[Any]"
    size: int


class RunThread:
    """Own the thread of one run; call its methods from the event loop."""

    def __init__(
        self,
        name: str,
        opened: Callable[[], DurableRun],
        visible: Visible,
        *,
        read: "Reader",
        begun: Callable[[DurableRun], None] | None = None,
    ) -> None:
        """Start the thread, which begins to open the run.

        ``begun`` is called with a run that has read nothing, before its first event.
        """
        self.name, self.visible, self.read = name, visible, read
        self.failure: str | None = "is being opened"
        """Why the run cannot be used, for its owner; None if it can."""
        self._opened, self._begun = opened, begun
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self.closing, self._retiring = False, False
        self._stop = threading.Event()  # wakes a thread that waits for a disk
        self._thread = threading.Thread(target=self._own, name=f"run {name}", daemon=True)
        self._thread.start()

    async def ready(self) -> None:
        """Wait until the run is open; raise what opening it raised."""
        await asyncio.shield(self._ready)

    @property
    def opening(self) -> bool:
        """Return whether the run is being opened for the first time."""
        return not self._ready.done()

    def unavailable(self) -> Unavailable:
        """Return an error without the reason, which may contain data and goes to the log only."""
        return Unavailable(
            f"run {self.name!r} is not open; try again, or see the log of the service"
        )

    async def retire(self) -> bool:
        """Close the run if it has read no event; otherwise change nothing and return False."""
        rounds = self.ask(lambda run: run.rounds)
        self._retiring = True  # no event can follow the question
        try:
            if await rounds:
                return False
            await self.close()
            return True
        finally:
            self._retiring = False

    async def close(self) -> None:
        """Finish what is waiting, then close the store."""
        if not self.closing:
            self.closing = True
            self._stop.set()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def ask(self, content: Sequence[Event] | Question, sent: int = 0) -> "asyncio.Future[Any]":
        """Queue events or a question for the next turn.

        Args:
            content: The events that fit, or a question.
            sent: The number of events that were sent. Those that do not fit take room, too, so that
                no event decides whether there is room for another.

        Returns:
            A future: for events the receipt of each after the commit, or why it was rejected; for a
            question the answer.
        """
        size = 1 if callable(content) else max(sent, len(content))
        if self.closing or self._retiring or self.failure is not None:
            raise self.unavailable()
        if self._waiting + size > MOST_WAITING:
            raise Overloaded(f"{self._waiting:,} events wait for run {self.name!r}; try again")
        waiting = _Waiting(content, self._loop.create_future(), size)
        self._waiting += size
        self._queue.put(waiting)
        return waiting.answer

    # The methods below run in the thread.

    def _own(self) -> None:
        run: DurableRun | None = None
        try:
            run = self._open()
            self._loop.call_soon_threadsafe(self._succeed, None)
            while (turn := self._turn()) is not None:
                if not self._played(run, turn):
                    run.close()
                    run = None
                    run = self._open()
                    self._loop.call_soon_threadsafe(self._succeed, None)
        except BaseException as problem:
            self._loop.call_soon_threadsafe(self._fail, problem)
        finally:
            if run is not None:
                run.close()

    def _turn(self) -> list[_Waiting] | None:
        """Collect everything that waits, up to a commit of moderate size; None at the end."""
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
                self._queue.put(None)  # for the next turn
                break
            turn.append(following)
            size += following.size
        return turn

    def _played(self, run: DurableRun, turn: list[_Waiting]) -> bool:
        """Answer all of a turn; return False if an error has left the run in an unknown state."""
        answers: list[tuple[_Waiting, Any]] = []
        sure = True
        try:
            events = [event for one in turn if not callable(one.content) for event in one.content]
            if events and self._begun is not None:
                if not run.rounds:
                    self._begun(run)
                self._begun = None
            released, outcomes = list[Release](), iter(list[Outcome]())
            if events:
                try:
                    outcomes = iter(run.take(events, released.append))
                except REFUSALS:
                    take = partial(run.take, publish=released.append)
                    outcomes = iter(list(by_halving(events, take, _refused, refusals=REFUSALS)))
            if released:  # before the questions: releases do not wait for answers
                self.visible.published(run)
            for one in turn:
                if callable(one.content):
                    answers.append((one, _answered(one.content, run)))
                else:
                    answers.append((one, [next(outcomes) for _ in one.content]))
        except Exception as problem:
            # Committed events get their receipt when the client sends them again.
            _LOG.error("run %s: a turn failed with %s", self.name, type(problem).__name__)
            lost = Unavailable(f"run {self.name!r} is being opened again; send it once more")
            answers, sure = [(one, lost) for one in turn], False
        self._loop.call_soon_threadsafe(self._deliver, answers)
        return sure

    def _open(self) -> DurableRun:
        """Open and show the run; wait for an absent or full disk or server, and raise most errors.

        The store and the book may be in use for a moment: by a command, by a session that a server
        still holds, by other runs.
        """
        pause = FIRST_PAUSE
        while True:
            run: DurableRun | None = None
            try:
                run = self._opened()
                self.visible.opened(run)
                return run
            except BaseException as problem:
                if run is not None:
                    run.close()
                if not isinstance(problem, LittlestoneError):
                    raise
                absent = isinstance(problem.__cause__, OSError | sqlite3.OperationalError)
                if not absent and not isinstance(problem, UnreachableError | InUseError):
                    raise
                self._loop.call_soon_threadsafe(self._fail, problem)
                if self._stop.wait(pause):
                    raise
                pause = min(2 * pause, LONGEST_PAUSE)

    # The methods below run in the event loop.

    def _deliver(self, answers: list[tuple[_Waiting, Any]]) -> None:
        for waiting, answer in answers:
            self._waiting -= waiting.size
            if waiting.answer.done():  # the client has disconnected
                continue
            if isinstance(answer, BaseException):
                waiting.answer.set_exception(answer)
            else:
                waiting.answer.set_result(answer)

    def _fail(self, problem: BaseException) -> None:
        """Mark the run as not open, and fail everything that waits for it."""
        known = isinstance(problem, LittlestoneError)
        _LOG.error("run %s: %s", self.name, problem if known else type(problem).__name__)
        self.failure = str(problem)
        if self._ready.done():
            self._ready = self._loop.create_future()
        self._ready.set_exception(problem)
        self._ready.exception()  # mark the exception as retrieved, so that asyncio does not log it
        while not self._queue.empty():
            left = self._queue.get_nowait()
            if left is not None:
                self._deliver([(left, self.unavailable())])
        if self.closing:
            self._queue.put(None)

    def _succeed(self, _: None) -> None:
        """Mark the run as open, for the first time or again."""
        self.failure = None
        if self._ready.done():
            self._ready = self._loop.create_future()
        self._ready.set_result(None)


def _refused(events: Sequence[Event], refusal: Exception) -> list[Outcome]:
    if isinstance(refusal, HorizonExceededError):
        return [Refused("all rounds of this run are played", 409)]
    return [Refused("this id was used before, with another example or user; send a new id", 409)]


def _answered(question: Question, run: DurableRun) -> Any:
    """Return the answer, or the exception, which goes to the client that asked and to no other."""
    try:
        return question(run)
    except Exception as problem:
        return problem


def record_columns(recipe: PrivateLearner) -> list[str] | None:
    """Return where the values of a record's fields come from; None if a point is no record.

    Several parts of one date have the same column.
    """
    domain = recipe.concepts.domain
    return [part.column for part in domain.fields] if isinstance(domain, Records) else None


class Sent(Protocol):
    """An event as the client sent it."""

    x: Any
    y: int | str
    user: Any


Reader = Callable[[Sequence[str], Sequence[Sent | str]], list[Event | Refused]]
"""Convert what was sent under some ids to events; text says why something could not be decoded."""


def event_reader(recipe: PrivateLearner, *, users: bool = False) -> Reader:
    """Return a function that converts what a client sent to an event of this run.

    With ``users`` each event must name its user, and else none.
    """
    points: PointReader = point_reader(recipe.concepts.domain, "x")
    names, domain = record_columns(recipe), recipe.concepts.domain
    declared = dict(zip(label_values(domain), count(), strict=False))

    def read(identities: Sequence[str], sent: Sequence[Sent | str]) -> list[Event | Refused]:
        owners: Iterable[str | None] = _owners(sent) if users else repeat(None, len(sent))
        found = list[Event | Refused]()
        for identity, one, user in zip(identities, sent, owners, strict=True):
            try:
                if isinstance(one, str):
                    raise ValueError(one)
                if names is None:
                    values = [one.x]
                elif isinstance(one.x, dict):
                    values = [one.x.get(name) for name in names]
                else:
                    fields = ", ".join(dict.fromkeys(names))
                    raise ValueError(f"x must be an object with the fields {fields}")
                point, canonical, misfit = points(values)
                if misfit is not None:
                    raise misfit
                if users and user is None:
                    user = canonical_user(one.user)
                    if user == NAMELESS:
                        raise ValueError(
                            "user must be given: this run counts the events of each user"
                        )
                elif not users and one.user is not None:
                    raise ValueError("user must be omitted: this run does not count users")
                # Most labels are sent as declared; ``label_number`` says the same of these.
                label = declared.get(one.y) if type(one.y) in _PLAIN else None
                label = label_number(domain, one.y) if label is None else label
                found.append(Event(identity, point, label, None, (canonical, label), user))
            except Misfit as problem:
                reason = f"{problem.field} {problem.reason}, got {problem.got}"
                found.append(Refused(reason, 422))
            except ValueError as problem:
                found.append(Refused(str(problem), 422))
        return found

    return read


def _owners(sent: Sequence[Sent | str]) -> Iterable[str | None]:
    """Return the canonical names of the users, or None for each if they need a look one by one."""
    try:
        owners = canonical_users([one.user for one in sent])  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return repeat(None, len(sent))
    return owners if all(owners) else repeat(None, len(sent))
