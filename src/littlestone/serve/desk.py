"""What requests share: the runs, the tokens, and how bodies and answers are made."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from littlestone.learners.run import PrivateLearner
from littlestone.serve import wire
from littlestone.serve.connections import Headers
from littlestone.serve.hosted import Runs
from littlestone.serve.owner import RunOwner
from littlestone.serve.tokens import Role, Tokens
from littlestone.serve.visible import Shown
from littlestone.service.cells import Misfit
from littlestone.service.events import PointReader, point_reader
from littlestone.service.log.intake import Event
from littlestone.service.promises.users import NAMELESS, canonical_user

Decoded = TypeVar("Decoded")
_LOG: Final = logging.getLogger("littlestone.serve")


@dataclass(slots=True)
class Service:
    """Everything that requests share."""

    runs: Runs
    tokens: Tokens
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    fleet: Any = None
    """A ``FleetDesk``, whose module needs the extra 'fleet'."""
    loop: asyncio.AbstractEventLoop | None = None
    readers: int = 0
    _event_readers: dict[str, "Reader"] = field(default_factory=dict)

    def stop(self) -> None:
        """Tell every stream to end; may be called from a signal or another thread."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.stopping.set)

    def reader(self, request: Request) -> "Reader":
        """How what is sent to this run becomes an event; it remembers the texts it has seen."""
        name = request.path_params["run"]
        if name not in self._event_readers:
            users = self.runs.asked(name).request.user is not None
            self._event_readers[name] = event_reader(self.runs.recipe(name), users=users)
        return self._event_readers[name]

    async def remove(self, name: str) -> bool:
        """Delete a run that never read an event; False if it did."""
        removed = await self.runs.remove(name)
        if removed:
            self._event_readers.pop(name, None)
        return removed

    def reread(self, path: Path) -> None:
        """Replace the tokens by those in the file; one that cannot be read changes nothing."""
        try:
            self.tokens = Tokens.from_file(path, open_reading=self.tokens.open_reading)
        except (OSError, ValueError) as problem:
            _LOG.error("the tokens stay as they were: %s", problem)

    def knows(self, headers: Headers) -> bool:
        """Whether the head of a request shows a token of anybody."""
        request = Request({"type": "http", "headers": list(headers)})
        return self.tokens.holder(token_of(request)) is not None

    def may(self, request: Request, role: Role) -> bool:
        """Whether the bearer may act in this role, by the tokens as they are now."""
        return self.tokens.allows(token_of(request), role, request.path_params.get("run", ""))

    def role_of(self, request: Request, role: Role) -> None:
        """Refuse whoever may not act in this role."""
        if not self.may(request, role):
            if self.tokens.holder(token_of(request)) is not None:
                raise HTTPException(403, f"this token is not one of a {role}")
            raise HTTPException(401, f"a token of a {role} is needed", CHALLENGE)

    def owner(self, request: Request) -> RunOwner:
        try:
            return self.runs.usable(request.path_params["run"])
        except KeyError:
            raise HTTPException(404, "there is no run of this name") from None

    def recipe(self, request: Request) -> PrivateLearner:
        return self.runs.recipe(request.path_params["run"])

    def shown(self, request: Request) -> Shown:
        """The release that readers see now."""
        newest = self.owner(request).visible.newest
        assert newest is not None  # the first release is shown before a run can be used
        return newest


CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


def token_of(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token:
        return token.strip()
    return request.cookies.get("token")


def answered(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = content if isinstance(content, bytes) else wire.encode(content)
    return Response(body, status, headers, media_type="application/json")


def decoded(body: bytes, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        reason = "is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise HTTPException(422, f"the body does not fit: {reason}") from None


Reader = Callable[[str, wire.EventIn], Event]


def event_reader(recipe: PrivateLearner, *, users: bool = False) -> Reader:
    """How what was sent becomes an event of this run, or a ValueError that says what is wrong.

    With ``users`` each event says whose it is.
    """
    points: PointReader = point_reader(recipe.concepts.domain, "x")
    names = wire.record_fields(recipe)

    def read(identity: str, sent: wire.EventIn) -> Event:
        if names is None:
            values = [sent.x]
        elif isinstance(sent.x, dict):
            values = [sent.x.get(name) for name in names]
        else:
            raise ValueError(f"x must be an object with the fields {', '.join(names)}")
        try:
            point, canonical, misfit = points(values)
        except Misfit as problem:
            misfit = problem
        if misfit is not None:
            raise ValueError(f"{misfit.field} {misfit.reason}, got {misfit.got}")
        user = user_of(sent) if users else None
        if not users and sent.user is not None:
            raise ValueError("user must be left out: this run counts no users")
        return Event(identity, point, sent.y, None, (canonical, sent.y), user)

    return read


def user_of(sent: wire.EventIn) -> str:
    """The name of the event's user, in the form in which it is counted."""
    user = canonical_user(sent.user)
    if user == NAMELESS:
        raise ValueError("user must be given: this run counts the events of each user")
    return user


def described(service: Service, name: str) -> wire.RunOut:
    """A run as readers see it now; what was asked for is unknown of one that cannot be read."""
    runs = service.runs
    if name in runs.unreadable:
        return wire.RunOut(name, "broken")
    asked, recipe, owner = runs.asked(name), runs.recipe(name), runs.owner(name)
    state: wire.State = "open" if owner.failure is None else "broken"
    state = "opening" if owner.opening else state
    return wire.run_out(asked, recipe, owner.visible.newest, state, runs.adopted(name))
