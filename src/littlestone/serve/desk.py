"""What requests share: the runs, the tokens, and how bodies and answers are made."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from littlestone.learners.run import PrivateLearner
from littlestone.serve import wire
from littlestone.serve.hosted import Runs
from littlestone.serve.owner import RunOwner, Unavailable
from littlestone.serve.tokens import Role, Tokens
from littlestone.serve.visible import Shown
from littlestone.service.cells import Misfit
from littlestone.service.events import PointReader, point_reader
from littlestone.service.log.intake import Event

Decoded = TypeVar("Decoded")


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
            self._event_readers[name] = event_reader(self.runs.recipe(name))
        return self._event_readers[name]

    def role_of(self, request: Request, role: Role) -> None:
        """Refuse whoever may not act in this role."""
        token, run = token_of(request), request.path_params.get("run", "")
        if not self.tokens.allows(token, role, run):
            if self.tokens.known(token):
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
        if newest is None:
            raise Unavailable("what was published becomes visible when the clock strikes")
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


def event_reader(recipe: PrivateLearner) -> Reader:
    """How what was sent becomes an event of this run, or a ValueError that says what is wrong."""
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
        return Event(identity, point, sent.y, None, (canonical, sent.y))

    return read


def described(service: Service, name: str) -> wire.RunOut:
    """A run as readers see it now."""
    runs = service.runs
    return wire.run_out(runs.asked(name), runs.recipe(name), runs.owner(name).visible.newest)
