"""The arena inside a service, imported when somebody goes there.

It brings the auditor and all of its controls along, which a service should not wait for when it
starts again after a crash.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from littlestone.serve.openapi import Endpoint


class ArenaOnDemand:
    """All routes of the arena, for those whom ``admit`` does not refuse."""

    def __init__(self, admit: Callable[[Request], None]) -> None:
        self._admit = admit
        self._router: ASGIApp | None = None

    async def endpoints(self) -> tuple[Endpoint, ...]:
        """Its routes, for the document that describes all."""
        found: tuple[Endpoint, ...] = (await _imported()).ENDPOINTS
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._router is None:
            routes = await _imported()
            if self._router is None:  # nobody else has made one meanwhile
                self._router = Router(routes.arena_routes(routes.Arena(), self._admit))
        await self._router(scope, receive, send)


async def _imported() -> Any:
    return await run_in_threadpool(import_module, "littlestone.serve.arena.arena_routes")
