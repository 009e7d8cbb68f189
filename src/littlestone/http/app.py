"""Build the web application: each route, the role it needs, what it takes and what it returns."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from littlestone.errors import BudgetExceededError, LittlestoneError
from littlestone.http import pages, routes, wire
from littlestone.http.hosted import Runs
from littlestone.http.limits import body_of, guards
from littlestone.http.openapi import Endpoint, document, rendered
from littlestone.http.run_thread import Overloaded, Unavailable
from littlestone.http.service import Role, Service, Tokens, described, route
from littlestone.http.wire import answered, decoded
from littlestone.runs.book import Book


class ArenaOnDemand:
    """Serve the routes of the arena to clients that ``admit`` accepts.

    The arena is imported on the first request: it loads the auditor and all of its controls, and a
    service that restarts after a crash should not wait for them.
    """

    def __init__(self, admit: Callable[[Request], object]) -> None:
        self._admit = admit
        self._router: ASGIApp | None = None

    async def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes of the arena, for the OpenAPI document."""
        found: tuple[Endpoint, ...] = (await _imported()).ENDPOINTS
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._router is None:
            arena = await _imported()
            if self._router is None:  # another request may have created it during the import
                self._router = Router(arena.arena_routes(arena.Arena(), self._admit))
        await self._router(scope, receive, send)


async def _imported() -> Any:
    return await run_in_threadpool(import_module, "littlestone.http.arena")


async def create_run(service: Service, request: Request) -> Response:
    """Create a run from the terms in the body."""
    wanted = decoded(await body_of(request), wire.RunIn)
    try:
        terms = wanted.terms()
        await service.runs.create(terms)
    except FileExistsError:
        raise HTTPException(
            409, f"run {wanted.name!r} exists already; choose another name"
        ) from None
    except BudgetExceededError as problem:
        raise HTTPException(409, str(problem)) from None
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise HTTPException(422, str(problem)) from None
    content = described(service, terms.name)
    return answered(content, 201, {"Location": f"/runs/{terms.name}"})


async def remove_run(service: Service, request: Request) -> Response:
    """Delete a run that has read no event, and return its reservation to the book."""
    name = request.path_params["run"]
    try:
        if await service.runs.remove(name):
            return answered(wire.RemovedOut(name))
    except KeyError:
        raise HTTPException(404, "there is no run of this name; see GET /runs") from None
    raise HTTPException(
        409, "this run has read events, so it cannot be deleted; stop sending to it instead"
    )


async def ledger(service: Service, request: Request) -> Response:
    """Return the privacy ledger of a run as JSON."""
    text = await service.run_thread(request).ask(lambda run: run.run.ledger.to_json())
    return answered(text.encode())


async def curve(service: Service, request: Request) -> Response:
    """Return the learning curve of a run, for its owner."""
    points = await service.run_thread(request).ask(lambda run: run.curve())
    return answered([{"round": place, "mistakes": mistakes} for place, mistakes in points])


async def request_metrics(service: Service, _: Request) -> Response:
    """Count requests and their latency for Prometheus; operators alone may see them."""
    return PlainTextResponse("".join(f"{line}\n" for line in service.telemetry.lines()))


READER, WRITER, OWNER, OPERATOR = Role.READER, Role.WRITER, Role.OWNER, Role.OPERATOR
ENDPOINTS: Final = (
    Endpoint("GET", "/runs", READER, routes.list_runs, gives=list[wire.RunOut]),
    Endpoint("POST", "/runs", OWNER, create_run, wire.RunIn, wire.RunOut, (409,), success=201),
    Endpoint("GET", "/runs/{run}", READER, routes.show_run, gives=wire.RunOut),
    Endpoint("DELETE", "/runs/{run}", OWNER, remove_run, gives=wire.RemovedOut, statuses=(409,)),
    Endpoint(
        "POST",
        "/runs/{run}/events",
        WRITER,
        routes.add_events,
        wire.Sent,
        wire.Receipts,
        (409, 429),
        also_takes=("application/x-ndjson",),
    ),
    Endpoint("GET", "/runs/{run}/hypothesis", READER, routes.hypothesis, statuses=(304,)),
    Endpoint(
        "GET",
        "/runs/{run}/keys",
        READER,
        routes.keys,
        gives=list[Any],
        statuses=(304,),
        also_gives=("text/plain",),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/releases",
        READER,
        routes.releases,
        also_gives=("text/event-stream",),
        query=("after",),
    ),
    Endpoint("GET", "/runs/{run}/guarantee", READER, routes.guarantee, gives=wire.GuaranteeOut),
    Endpoint("GET", "/runs/{run}/chain", READER, routes.chain, gives=wire.ChainOut),
    Endpoint(
        "POST",
        "/runs/{run}/predict",
        READER,
        routes.predict,
        wire.PointsIn,
        wire.PredictionsOut,
        query=("last",),
    ),
    Endpoint("GET", "/runs/{run}/ledger", OWNER, ledger),
    Endpoint("GET", "/runs/{run}/curve", OWNER, curve),
    Endpoint("GET", "/metrics", READER, routes.metrics, also_gives=("text/plain",)),
    Endpoint("GET", "/metrics/requests", OPERATOR, request_metrics, also_gives=("text/plain",)),
    Endpoint("GET", "/health", None, routes.health),
)


def application(
    store: str | Path,
    tokens: Tokens,
    *,
    hosts: tuple[str, ...] = (),
    fleet: Any = None,
    book: Book | None = None,
    adopt: Collection[str] = (),
) -> Starlette:
    """Build the service over the runs of a store.

    Args:
        store: The folder of the runs, or the address of a database.
        tokens: Who may do what.
        hosts: The host names that the service answers to.
        fleet: A ``FleetRoutes``; None serves no fleet.
        book: The book in which the promises of new runs are entered.
        adopt: Names of runs whose files were copied, where the owner confirms that no other copy is
            in use.
    """
    service = Service(Runs(store, book, adopt=adopt), tokens, fleet=fleet)
    endpoints = ENDPOINTS if fleet is None else ENDPOINTS + fleet.endpoints

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.loop = asyncio.get_running_loop()
        service.runs.open_all()
        yield
        service.stopping.set()
        await service.runs.close()
        if service.fleet is not None:
            service.fleet.close()

    arena = ArenaOnDemand(lambda request: service.require_role(request, Role.READER))

    async def openapi(_: Request) -> Response:
        return answered(document((*endpoints, *await arena.endpoints())))

    async def described_routes(_: Request) -> Response:
        return pages.page("API", rendered(document((*endpoints, *await arena.endpoints()))))

    app = Starlette(
        routes=[
            *(route(service, one.method, one.path, one.role, one.answer) for one in endpoints),
            Route("/openapi.json", openapi),
            Route("/docs", described_routes),
            *(route(service, *page) for page in pages.PAGES),
            Route("/arena{rest:path}", arena),
            Route("/static/{name}", pages.asset),
        ],
        middleware=guards(hosts),
        exception_handlers={
            HTTPException: wire.refused,
            Overloaded: _overloaded,
            Unavailable: _unavailable,
            LittlestoneError: _unavailable,
            ClientDisconnect: _gone,
        },
        lifespan=lifespan,
    )
    app.state.service = service
    return app


async def _overloaded(_: Request, problem: Exception) -> Response:
    return answered(wire.ErrorOut(str(problem)), 429, {"Retry-After": "1"})


async def _unavailable(_: Request, problem: Exception) -> Response:
    words = str(problem) if isinstance(problem, Unavailable) else "look at the server"
    return answered(wire.ErrorOut(words), 503, {"Retry-After": "1"})


async def _gone(_: Request, problem: Exception) -> Response:
    del problem
    return Response(status_code=400)
