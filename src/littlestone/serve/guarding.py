"""What stands between the network and the routes: limits on bodies, and headers for browsers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY: Final = 4 << 20  # bytes
MOST_LINE: Final = 64 << 10
MOST_FORM: Final = 4 << 10
PATIENCE: Final = 60.0  # seconds for a body, or from one part of a stream of lines to the next

# Nothing is loaded from elsewhere, nothing is framed, nothing runs that is not a file of ours.
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # to others nothing, to ourselves where a form came from
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SENT: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Guarded:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                more = [header for header in _SENT if header[0] not in known]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self._app(scope, receive, guarded if scope["type"] == "http" else send)


async def body_of(request: Request) -> bytes:
    """The whole body, unless it is too long; only JSON, which no other site's form can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "Content-Type must be application/json")
    return await bounded(request)


async def bounded(request: Request, most: int = MOST_BODY) -> bytes:
    """The whole body, of any kind, unless it is too long or too slow."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise HTTPException(413, f"a body may have {most:,} bytes; send smaller groups")
                parts.append(part)
    except TimeoutError:
        raise _slow() from None
    return b"".join(parts)


async def lines_of(request: Request) -> AsyncIterator[bytes]:
    """The lines of a body of any length, none of them too long, none of its parts too late."""
    rest, parts = b"", aiter(request.stream())
    while (part := await _next(parts)) is not None:
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > MOST_LINE or any(len(line) > MOST_LINE for line in lines):
            raise HTTPException(413, f"a line may have {MOST_LINE:,} bytes")
        for line in lines:
            if line.strip():
                yield line
    if rest.strip():
        yield rest


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(PATIENCE):
            return await anext(parts, None)
    except TimeoutError:
        raise _slow() from None


def _slow() -> HTTPException:
    return HTTPException(408, f"nothing came for too long: a body has {PATIENCE:g} seconds")
