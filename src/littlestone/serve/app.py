"""The routes: each says who may use it, what it takes and what it answers."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from littlestone import __version__
from littlestone.errors import LittlestoneError
from littlestone.learners.run import PrivateLearner
from littlestone.serve import wire
from littlestone.serve.guarding import Guarded, body_of, lines_of
from littlestone.serve.hosted import Runs
from littlestone.serve.openapi import Endpoint, document
from littlestone.serve.owner import Overloaded, RunOwner, Unavailable
from littlestone.serve.tokens import Role, Tokens
from littlestone.serve.visible import Shown
from littlestone.service.cells import Misfit
from littlestone.service.durable import Event
from littlestone.service.events import PointReader, point_reader
from littlestone.service.published import release_line

PAGE: Final = 1_000  # releases in one answer
TURN: Final = 1_000  # events of a stream that wait together
KEEP_ALIVE: Final = 15.0  # seconds between signs of life
Decoded = TypeVar("Decoded")


@dataclass(slots=True)
class Service:
    """Everything that requests share."""

    runs: Runs
    tokens: Tokens
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
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
            self._event_readers[name] = _reader(self.runs.recipe(name))
        return self._event_readers[name]

    def role_of(self, request: Request, role: Role) -> None:
        """Refuse whoever may not act in this role."""
        token, run = _token(request), request.path_params.get("run", "")
        if not self.tokens.allows(token, role, run):
            if self.tokens.known(token):
                raise HTTPException(403, f"this token is not one of a {role}")
            raise HTTPException(401, f"a token of a {role} is needed", _CHALLENGE)

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


_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


def _token(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token:
        return token.strip()
    return request.cookies.get("token")


def _answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = content if isinstance(content, bytes) else wire.encode(content)
    return Response(body, status, headers, media_type="application/json")


def _decoded(body: bytes, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        reason = "is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise HTTPException(422, f"the body does not fit: {reason}") from None


# What owners do.


async def create_run(service: Service, request: Request) -> Response:
    wanted = _decoded(await body_of(request), wire.RunIn)
    try:
        asked = wanted.asked()
        await service.runs.create(asked)
    except FileExistsError:
        raise HTTPException(409, f"run {wanted.name!r} exists already") from None
    except (ValueError, TypeError, OverflowError) as problem:
        raise HTTPException(422, str(problem)) from None
    owner = service.runs.owner(asked.name)
    content = wire.run_out(asked, service.runs.recipe(asked.name), owner.visible.newest)
    return _answer(content, 201, {"Location": f"/runs/{asked.name}"})


async def ledger(service: Service, request: Request) -> Response:
    text = await service.owner(request).ask(lambda run: run.run.ledger.to_json())
    return _answer(text.encode())


async def curve(service: Service, request: Request) -> Response:
    points = await service.owner(request).ask(lambda run: run.curve())
    return _answer([{"round": place, "mistakes": mistakes} for place, mistakes in points])


# What writers do.


async def add_events(service: Service, request: Request) -> Response:
    owner, reader = service.owner(request), service.reader(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-ndjson":
        return await _stream_in(owner, reader, request)
    if kind != "application/json":
        raise HTTPException(415, "Content-Type must be application/json or application/x-ndjson")
    body = await body_of(request)
    many = body.lstrip()[:200].startswith(b'{"events"')
    sent = _decoded(body, wire.EventsIn).events if many else [_decoded(body, wire.EventIn)]
    receipts, worst = await _taken(owner, reader, sent)
    if not many:
        return _answer(receipts[0], worst or 200)
    refused = sum(one.error is not None for one in receipts)
    status = worst if refused == len(receipts) else 200
    return _answer(wire.EventsOut(len(receipts) - refused, refused, receipts), status or 200)


async def _taken(
    owner: RunOwner, reader: "Reader", sent: list[wire.EventIn]
) -> tuple[list[wire.EventOut], int]:
    """The receipts of all, and the status that the last refusal would have alone, or 0."""
    events, receipts, worst = list[Event](), list[wire.EventOut | None](), 0
    for one in sent:
        identity = one.id or secrets.token_hex(16)
        try:
            events.append(reader(identity, one))
            receipts.append(None)
        except ValueError as problem:
            receipts.append(wire.EventOut(identity, error=str(problem)))
            worst = 422
    outcomes = iter(zip(events, await owner.take(events), strict=True)) if events else iter(())
    filled = []
    for known in receipts:
        if known is None:
            event, outcome = next(outcomes)
            known = wire.receipt(event.id, outcome)
            worst = getattr(outcome, "status", worst)
        filled.append(known)
    return filled, worst


async def _stream_in(owner: RunOwner, reader: "Reader", request: Request) -> Response:
    """Events line by line, taken in groups while they arrive; the answer is a summary."""
    taken, refused, first = 0, 0, list[wire.EventOut]()
    waiting = list[wire.EventIn]()

    async def flush() -> None:
        nonlocal taken, refused
        if not waiting:
            return
        receipts, _ = await _patiently(owner, reader, waiting)
        bad = [one for one in receipts if one.error is not None]
        taken, refused = taken + len(receipts) - len(bad), refused + len(bad)
        first.extend(bad[: 100 - len(first)])
        waiting.clear()

    async for line in lines_of(request):
        try:
            waiting.append(_decoded(line, wire.EventIn))
        except HTTPException as problem:
            refused += 1
            if len(first) < 100:
                first.append(wire.EventOut("", error=str(problem.detail)))
        if len(waiting) >= TURN:
            await flush()
    await flush()
    return _answer(wire.EventsOut(taken, refused, first), 200 if taken or not refused else 422)


async def _patiently(
    owner: RunOwner, reader: "Reader", sent: list[wire.EventIn]
) -> tuple[list[wire.EventOut], int]:
    """A stream waits where a single request is sent away."""
    while True:
        try:
            return await _taken(owner, reader, sent)
        except Overloaded:
            await asyncio.sleep(0.05)


Reader = Callable[[str, wire.EventIn], Event]


def _reader(recipe: PrivateLearner) -> Reader:
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


# What readers do.


async def list_runs(service: Service, _: Request) -> Response:
    return _answer([_described(service, name) for name in service.runs])


async def show_run(service: Service, request: Request) -> Response:
    service.owner(request)
    return _answer(_described(service, request.path_params["run"]))


def _described(service: Service, name: str) -> wire.RunOut:
    runs = service.runs
    return wire.run_out(runs.asked(name), runs.recipe(name), runs.owner(name).visible.newest)


async def hypothesis(service: Service, request: Request) -> Response:
    shown = service.shown(request)
    line = release_line(shown.release)
    return _tagged(request, shown, lambda: _answer(line))


async def keys(service: Service, request: Request) -> Response:
    """The list as a blocklist's consumer wants it; plain text if it is asked for."""
    shown = service.shown(request)
    listed = wire.listed_keys(shown)
    if listed is None:
        raise HTTPException(404, "this run publishes no list of keys; see hypothesis")
    if "text/plain" in request.headers.get("accept", ""):
        text = "".join(f"{key if isinstance(key, str) else json.dumps(key)}\n" for key in listed)
        return _tagged(request, shown, lambda: PlainTextResponse(text))
    return _tagged(request, shown, lambda: _answer(listed))


def _tagged(request: Request, shown: Shown, made: Callable[[], Response]) -> Response:
    """The answer, or that it has not changed."""
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    response = Response(status_code=304) if shown.tag in known else made()
    response.headers["ETag"] = shown.tag
    response.headers["Cache-Control"] = "no-cache"
    return response


async def releases(service: Service, request: Request) -> Response:
    """A page of releases after a number; or, to an event source, all that follow, for ever."""
    owner = service.owner(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        after = _number(request.headers.get("last-event-id"), request.query_params.get("after"))
        stream = _sent(service, owner, after)
        return StreamingResponse(stream, media_type="text/event-stream")
    after = _number(request.query_params.get("after"))
    found = await _visible_after(owner, after)
    newest = owner.visible.newest
    return _answer(wire.release_page(found, 0 if newest is None else newest.release.number))


def _number(*texts: str | None) -> int:
    text = next((text for text in texts if text), "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise HTTPException(422, f"after must be the number of a release, got {text[:40]!r}")
    return int(text)


async def _visible_after(owner: RunOwner, after: int) -> list[Any]:
    """At most a page of what is visible after a number, from memory or from the store."""
    found = owner.visible.after(after)
    if found is None:
        newest = owner.visible.newest
        assert newest is not None
        most = min(PAGE, newest.release.number - after)
        found = await owner.ask(partial(_logged, after=after, most=most))
    return found[:PAGE]


def _logged(run: Any, *, after: int, most: int) -> list[Any]:
    return [release for _, release in zip(range(most), run.releases(after=after), strict=False)]


async def _sent(service: Service, owner: RunOwner, after: int) -> AsyncIterator[bytes]:
    service.readers += 1
    try:
        yield b": littlestone\n\n"
        while not service.stopping.is_set():
            bell = asyncio.ensure_future(owner.visible.bell())
            found = await _visible_after(owner, after)
            if found:
                bell.cancel()
                after = found[-1].number
                yield b"".join(map(wire.server_sent, found))
                continue
            stop = asyncio.ensure_future(service.stopping.wait())
            done, left = await asyncio.wait(
                (bell, stop), timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED
            )
            for task in left:
                task.cancel()
            if not done:
                yield b": alive\n\n"
    finally:
        service.readers -= 1


async def guarantee(service: Service, request: Request) -> Response:
    service.owner(request)
    return _answer(wire.guarantee_out(service.recipe(request)))


async def chain(service: Service, request: Request) -> Response:
    release = service.shown(request).release
    return _answer(wire.ChainOut(release.number, release.chain.hex()))


async def predict(service: Service, request: Request) -> Response:
    """By the visible rule alone: this is a function of what is published."""
    shown, domain = service.shown(request), service.recipe(request).concepts.domain
    asked = _decoded(await body_of(request), wire.PointsIn).points
    reader, names = point_reader(domain, "x"), wire.record_fields(service.recipe(request))
    canonical = []
    for place, point in enumerate(asked):
        if names is not None and not isinstance(point, dict):
            raise HTTPException(422, f"point {place} must be an object with {', '.join(names)}")
        try:
            values = [point] if names is None else [point.get(name) for name in names]
            _, known, misfit = reader(values)
        except Misfit as problem:
            misfit = problem
        if misfit is not None:
            raise HTTPException(422, f"point {place}: {misfit.field} {misfit.reason}")
        canonical.append(known)
    labels = [int(shown.hypothesis(point)) for point in canonical]
    return _answer(wire.PredictionsOut(shown.release.number, labels))


async def health(service: Service, _: Request) -> Response:
    waiting = [name for name in service.runs if service.runs.owner(name).failure is not None]
    return _answer({"ok": not waiting, "version": __version__}, 503 if waiting else 200)


async def metrics(service: Service, _: Request) -> Response:
    """For Prometheus; only what readers may know."""
    lines = [
        "# TYPE littlestone_runs gauge",
        f"littlestone_runs {len(list(service.runs))}",
        "# TYPE littlestone_event_streams gauge",
        f"littlestone_event_streams {service.readers}",
        "# TYPE littlestone_release counter",
        "# TYPE littlestone_round counter",
    ]
    for name in service.runs:
        newest = service.runs.owner(name).visible.newest
        if newest is not None:
            lines.append(f'littlestone_release{{run="{name}"}} {newest.release.number}')
            lines.append(f'littlestone_round{{run="{name}"}} {newest.release.round}')
    return PlainTextResponse("\n".join(lines) + "\n")


READER, WRITER, OWNER = Role.READER, Role.WRITER, Role.OWNER
ENDPOINTS: Final = (
    Endpoint("GET", "/runs", READER, list_runs, gives=list[wire.RunOut]),
    Endpoint(
        "POST",
        "/runs",
        OWNER,
        create_run,
        wire.RunIn,
        wire.RunOut,
        (409, 413, 415, 422),
        success=201,
    ),
    Endpoint("GET", "/runs/{run}", READER, show_run, gives=wire.RunOut, statuses=(404,)),
    Endpoint(
        "POST",
        "/runs/{run}/events",
        WRITER,
        add_events,
        wire.Sent,
        wire.Receipts,
        (404, 409, 413, 415, 422, 429),
        also_takes=("application/x-ndjson",),
    ),
    Endpoint("GET", "/runs/{run}/hypothesis", READER, hypothesis, statuses=(304, 404)),
    Endpoint(
        "GET",
        "/runs/{run}/keys",
        READER,
        keys,
        gives=list[Any],
        statuses=(304, 404),
        also_gives=("text/plain",),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/releases",
        READER,
        releases,
        statuses=(404, 422),
        also_gives=("text/event-stream",),
        query=("after",),
    ),
    Endpoint(
        "GET", "/runs/{run}/guarantee", READER, guarantee, gives=wire.GuaranteeOut, statuses=(404,)
    ),
    Endpoint("GET", "/runs/{run}/chain", READER, chain, gives=wire.ChainOut, statuses=(404,)),
    Endpoint(
        "POST",
        "/runs/{run}/predict",
        READER,
        predict,
        wire.PointsIn,
        wire.PredictionsOut,
        (404, 413, 415, 422),
    ),
    Endpoint("GET", "/runs/{run}/ledger", OWNER, ledger, statuses=(404,)),
    Endpoint("GET", "/runs/{run}/curve", OWNER, curve, statuses=(404,)),
    Endpoint("GET", "/metrics", READER, metrics, also_gives=("text/plain",)),
    Endpoint("GET", "/health", None, health),
)


def application(folder: Path, tokens: Tokens, *, hosts: tuple[str, ...] = ()) -> Starlette:
    """The service over the runs of a folder; ``hosts`` are the names that it answers to."""
    service = Service(Runs(folder), tokens)

    def route(endpoint: Endpoint) -> Route:
        async def answer(request: Request) -> Response:
            if endpoint.role is not None:
                service.role_of(request, endpoint.role)
            response: Response = await endpoint.answer(service, request)
            return response

        return Route(endpoint.path, answer, methods=[endpoint.method])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.loop = asyncio.get_running_loop()
        service.runs.open_all()
        yield
        service.stopping.set()
        await service.runs.close()

    described = wire.encode(document(ENDPOINTS))

    async def openapi(_: Request) -> Response:
        return _answer(described)

    allowed = ["localhost", "127.0.0.1", "[::1]", *hosts]
    app = Starlette(
        routes=[*map(route, ENDPOINTS), Route("/openapi.json", openapi)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=allowed), Middleware(Guarded)],
        exception_handlers={
            HTTPException: _refusal,
            Overloaded: _overloaded,
            Unavailable: _unavailable,
            LittlestoneError: _unavailable,
            ClientDisconnect: _gone,
        },
        lifespan=lifespan,
    )
    app.state.service = service
    return app


async def _refusal(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    headers = dict(problem.headers or {})
    return _answer(wire.ErrorOut(str(problem.detail)), problem.status_code, headers)


async def _overloaded(_: Request, problem: Exception) -> Response:
    return _answer(wire.ErrorOut(str(problem)), 429, {"Retry-After": "1"})


async def _unavailable(_: Request, problem: Exception) -> Response:
    words = str(problem) if isinstance(problem, Unavailable) else "look at the server"
    return _answer(wire.ErrorOut(words), 503, {"Retry-After": "1"})


async def _gone(_: Request, problem: Exception) -> Response:
    del problem
    return Response(status_code=400)
