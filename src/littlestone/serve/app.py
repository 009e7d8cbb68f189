"""The service as a whole: each route, who may use it, what it takes and what it gives."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from littlestone.errors import BudgetExceededError, LittlestoneError
from littlestone.serve import pages, wire
from littlestone.serve.arena.on_demand import ArenaOnDemand
from littlestone.serve.desk import Service, answered, decoded, described
from littlestone.serve.guarding import Guarded, body_of
from littlestone.serve.hosted import Runs
from littlestone.serve.openapi import Endpoint, document
from littlestone.serve.owner import Overloaded, Unavailable
from littlestone.serve.routes import readers, writers
from littlestone.serve.tokens import Role, Tokens
from littlestone.service.promises.book import Book


async def create_run(service: Service, request: Request) -> Response:
    wanted = decoded(await body_of(request), wire.RunIn)
    try:
        asked = wanted.asked()
        await service.runs.create(asked)
    except FileExistsError:
        raise HTTPException(409, f"run {wanted.name!r} exists already") from None
    except BudgetExceededError as problem:
        raise HTTPException(409, str(problem)) from None
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise HTTPException(422, str(problem)) from None
    content = described(service, asked.name)
    return answered(content, 201, {"Location": f"/runs/{asked.name}"})


async def remove_run(service: Service, request: Request) -> Response:
    """Delete a run that never read an event; what the book reserved for it is given back."""
    name = request.path_params["run"]
    try:
        if await service.remove(name):
            return answered(wire.RemovedOut(name))
    except KeyError:
        raise HTTPException(404, "there is no run of this name") from None
    raise HTTPException(409, "this run has read events: what it published cannot be taken back")


async def ledger(service: Service, request: Request) -> Response:
    text = await service.owner(request).ask(lambda run: run.run.ledger.to_json())
    return answered(text.encode())


async def curve(service: Service, request: Request) -> Response:
    points = await service.owner(request).ask(lambda run: run.curve())
    return answered([{"round": place, "mistakes": mistakes} for place, mistakes in points])


READER, WRITER, OWNER = Role.READER, Role.WRITER, Role.OWNER
ENDPOINTS: Final = (
    Endpoint("GET", "/runs", READER, readers.list_runs, gives=list[wire.RunOut]),
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
    Endpoint("GET", "/runs/{run}", READER, readers.show_run, gives=wire.RunOut, statuses=(404,)),
    Endpoint(
        "DELETE", "/runs/{run}", OWNER, remove_run, gives=wire.RemovedOut, statuses=(404, 409)
    ),
    Endpoint(
        "POST",
        "/runs/{run}/events",
        WRITER,
        writers.add_events,
        wire.Sent,
        wire.Receipts,
        (404, 409, 413, 415, 422, 429),
        also_takes=("application/x-ndjson",),
    ),
    Endpoint("GET", "/runs/{run}/hypothesis", READER, readers.hypothesis, statuses=(304, 404)),
    Endpoint(
        "GET",
        "/runs/{run}/keys",
        READER,
        readers.keys,
        gives=list[Any],
        statuses=(304, 404),
        also_gives=("text/plain",),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/releases",
        READER,
        readers.releases,
        statuses=(404, 422),
        also_gives=("text/event-stream",),
        query=("after",),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/guarantee",
        READER,
        readers.guarantee,
        gives=wire.GuaranteeOut,
        statuses=(404,),
    ),
    Endpoint(
        "GET", "/runs/{run}/chain", READER, readers.chain, gives=wire.ChainOut, statuses=(404,)
    ),
    Endpoint(
        "POST",
        "/runs/{run}/predict",
        READER,
        readers.predict,
        wire.PointsIn,
        wire.PredictionsOut,
        (404, 413, 415, 422),
    ),
    Endpoint("GET", "/runs/{run}/ledger", OWNER, ledger, statuses=(404,)),
    Endpoint("GET", "/runs/{run}/curve", OWNER, curve, statuses=(404,)),
    Endpoint("GET", "/metrics", READER, readers.metrics, also_gives=("text/plain",)),
    Endpoint("GET", "/health", None, readers.health),
)


EXPECTED: Final = (HTTPException, Overloaded, Unavailable, LittlestoneError, ClientDisconnect)
_LOG: Final = logging.getLogger("littlestone.serve")


def application(
    folder: Path,
    tokens: Tokens,
    *,
    hosts: tuple[str, ...] = (),
    fleet: Any = None,
    book: Book | None = None,
    adopt: Collection[str] = (),
) -> Starlette:
    """The service over the runs of a folder, and over a fleet if its ``FleetDesk`` is given.

    ``hosts`` are the names that it answers to; the promises of its runs are entered into ``book``.
    ``adopt`` names runs of which their owner says that no other copy went on.
    """
    service = Service(Runs(folder, book, adopt=adopt), tokens, fleet=fleet)
    endpoints = ENDPOINTS if fleet is None else ENDPOINTS + fleet.endpoints

    def route(endpoint: Endpoint) -> Route:
        async def allowed(service: Service, request: Request) -> Response:
            if endpoint.role is not None:
                service.role_of(request, endpoint.role)
            response: Response = await endpoint.answer(service, request)
            return response

        return page(endpoint.method, endpoint.path, allowed)

    def page(method: str, path: str, made: Any) -> Route:
        async def answer(request: Request) -> Response:
            try:
                response: Response = await made(service, request)
                return response
            except EXPECTED:
                raise
            except Exception as bug:
                # Its words may hold somebody's data: neither the log nor the answer gets them.
                _LOG.error("a bug: %s in %s %s", type(bug).__name__, method, path)
                return answered(wire.ErrorOut("this is a bug of the service"), 500)

        return Route(path, answer, methods=[method])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.loop = asyncio.get_running_loop()
        service.runs.open_all()
        yield
        service.stopping.set()
        await service.runs.close()
        if service.fleet is not None:
            service.fleet.close()

    arena = ArenaOnDemand(lambda request: service.role_of(request, Role.READER))

    async def openapi(_: Request) -> Response:
        return answered(document((*endpoints, *await arena.endpoints())))

    allowed = ["localhost", "127.0.0.1", "[::1]", *hosts]
    app = Starlette(
        routes=[
            *map(route, endpoints),
            Route("/openapi.json", openapi),
            *starmap(page, pages.PAGES),
            Route("/arena{rest:path}", arena),
            Route("/static/{name}", pages.asset),
        ],
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
    return answered(wire.ErrorOut(str(problem.detail)), problem.status_code, headers)


async def _overloaded(_: Request, problem: Exception) -> Response:
    return answered(wire.ErrorOut(str(problem)), 429, {"Retry-After": "1"})


async def _unavailable(_: Request, problem: Exception) -> Response:
    words = str(problem) if isinstance(problem, Unavailable) else "look at the server"
    return answered(wire.ErrorOut(words), 503, {"Retry-After": "1"})


async def _gone(_: Request, problem: Exception) -> Response:
    del problem
    return Response(status_code=400)
