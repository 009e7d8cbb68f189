"""The arena alone, without a service: for one's own machine, where no token is needed."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from littlestone.serve import pages, wire
from littlestone.serve.arena.arena_routes import Arena, arena_routes
from littlestone.serve.desk import answered
from littlestone.serve.guarding import Guarded


def arena_application() -> Starlette:
    """For whoever can reach it, which is this machine only."""
    arena = Arena()
    app = Starlette(
        routes=[
            Route("/", _to_the_arena),
            *arena_routes(arena, lambda _: None),
            Route("/static/{name}", pages.asset),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1", "[::1]"]),
            Middleware(Guarded),
        ],
        exception_handlers={HTTPException: _refusal},
    )
    app.state.service = arena
    return app


async def _to_the_arena(_: Request) -> Response:
    return RedirectResponse("/arena")


async def _refusal(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return answered(wire.ErrorOut(str(problem.detail)), problem.status_code)
