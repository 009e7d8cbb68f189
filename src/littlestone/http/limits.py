"""Limit connections, request heads and bodies, and add headers to every response.

Opening a connection needs no token, so each one is bounded in memory and in time: a head must
arrive in time, data after a response must end, and the client must read the response. Bodies are
bounded where they are read. Connections that have shown no token are *strangers*: they never fill
the share that is reserved for clients with a token, and of the strangers that wait for a head the
oldest gives way to a new one. A stranger in its TLS handshake waits, too.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from littlestone.http.wire import ErrorOut, encode

MOST_BODY: Final = 4 << 20  # bytes
MOST_LINE: Final = 64 << 10
MOST_FORM: Final = 4 << 10
BODY_PATIENCE: Final = 60.0  # seconds for a body, or between two parts of a stream of lines

# Nothing is loaded from other hosts or framed, and only our own scripts run.
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # other sites learn nothing; we learn where a form came from
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SENT: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Guarded:
    """Add the headers to every response."""

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


def guards(hosts: Sequence[str] = ()) -> list[Middleware]:
    """Return what surrounds every application: no request for another host, and the headers."""
    allowed = ["localhost", "127.0.0.1", "[::1]", *hosts]
    return [Middleware(TrustedHostMiddleware, allowed_hosts=allowed), Middleware(Guarded)]


async def body_of(request: Request) -> bytes:
    """Return the whole body, up to a limit; JSON only, which no form of another site can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "Content-Type must be application/json")
    return await bounded(request)


async def bounded(request: Request, most: int = MOST_BODY) -> bytes:
    """Return the whole body, of any type, unless it is too long or too slow."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise HTTPException(
                        413, f"the body exceeds {most:,} bytes; send smaller groups"
                    )
                parts.append(part)
    except TimeoutError:
        raise _slow() from None
    return b"".join(parts)


async def lines_of(request: Request) -> AsyncIterator[bytes | None]:
    """Yield the lines of a body of any length, None for a line that is too long.

    Such a line is not stored, and the lines after it are not affected. A late part is rejected.
    """
    rest, too_long, parts = b"", False, aiter(request.stream())
    while (part := await _next(parts)) is not None:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if too_long or len(line) > MOST_LINE:
                yield None
            elif line.strip():
                yield line
            too_long = False
        if len(rest) > MOST_LINE:
            rest, too_long = b"", True
    if too_long:
        yield None
    elif rest.strip():
        yield rest


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            return await anext(parts, None)
    except TimeoutError:
        raise _slow() from None


def _slow() -> HTTPException:
    return HTTPException(408, f"the body is too slow: it must arrive in {BODY_PATIENCE:g} seconds")


MOST_CONNECTIONS: Final = 1_000
MOST_IDLE: Final = 32 << 10  # bytes that belong to no body and end no head
MOST_AHEAD: Final = 100  # requests on a connection that wait for an earlier one
SPARE: Final = 50  # connections beyond the limit that are accepted in order to reject them
RESERVED: Final = 4  # one connection in four is reserved for clients with a token
PATIENCE: Final = 30.0  # seconds

Headers = Sequence[tuple[bytes, bytes]]


class Admission:
    """Decide which connections are served; ``known`` tells whether a head shows a token."""

    def __init__(self, most: int, known: Callable[[Headers], bool] | None = None) -> None:
        self._most, self._known = most, known
        self._strangers = most if known is None else most - most // RESERVED
        # Strangers without a request, the oldest first.
        self._waiting: dict[Bounded | Handshake, None] = {}
        self._busy: set[Bounded] = set()  # strangers with a request
        self._trusted: set[Bounded] = set()

    def wait(self, connection: "Bounded | Handshake") -> None:
        """Add a connection that waits for a head; drop the oldest stranger if there is no room."""
        if isinstance(connection, Bounded):
            if connection in self._trusted:
                return
            self._busy.discard(connection)
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if len(self._waiting) + len(self._busy) + len(self._trusted) > self._most + SPARE:
            self._evict()

    def admit(self, connection: "Bounded", headers: Headers) -> bool:
        """Return whether to serve the request with this head; otherwise the client must retry."""
        if connection not in self._trusted:
            self._waiting.pop(connection, None)
            if self._known is not None and self._known(headers):
                self._trusted.add(connection)
            else:
                self._busy.add(connection)
        if connection in self._trusted:
            return len(self._trusted) <= self._most - min(len(self._busy), self._strangers)
        return len(self._busy) <= min(self._strangers, self._most - len(self._trusted))

    def forget(self, connection: "Bounded | Handshake") -> None:
        """Remove a closed connection, or a handshake that has ended."""
        self._waiting.pop(connection, None)
        if isinstance(connection, Bounded):
            self._busy.discard(connection)
            self._trusted.discard(connection)

    def _evict(self) -> None:
        oldest = next(iter(self._waiting))
        self.forget(oldest)
        oldest.abort()


class Handshake:
    """A connection in its TLS handshake, which a task makes."""

    def __init__(self, task: "asyncio.Task[None]") -> None:
        self._task = task

    def abort(self) -> None:
        """Close the connection."""
        self._task.cancel()


class Bounded(HttpToolsProtocol):
    """Bound heads, data after a body, pipelined requests, and the time to wait for each."""

    admission: Admission  # of the server: see ``bounded_by``
    _useful, _idle = False, 0
    _awaited: asyncio.TimerHandle | None = None
    _read_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to wait for a request."""
        super().connection_made(transport)
        self._await_request()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers and leave the admission."""
        for timer in (self._awaited, self._read_deadline):
            if timer is not None:
                timer.cancel()
        self.admission.forget(self)
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Admit the request, or answer that the server is full."""
        self._useful = True
        if self._awaited is not None and not self.transport.is_closing():
            self._awaited.cancel()
            self._awaited = None
            if not self.admission.admit(self, self.headers):
                self.app = answer_full
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, for a limited time."""
        super().on_response_complete()
        if self.cycle.response_complete:  # otherwise other requests wait on this connection
            # The rest of an unread body may follow, then another head. uvicorn waits for silence,
            # which a byte from time to time would postpone forever.
            self._await_request()

    def on_body(self, body: bytes) -> None:
        """Note that the data belongs to a body."""
        self._useful = True
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        """Count the bytes that belong to no request, and reject too many of them."""
        self._useful = False
        super().data_received(data)
        self._idle = 0 if self._useful else self._idle + len(data)
        if self._idle > MOST_IDLE or len(self.pipeline) > MOST_AHEAD:
            self.send_400_response("The head of the request is too long.")

    def pause_writing(self) -> None:
        """Give the client limited time to read the response."""
        super().pause_writing()
        self._read_deadline = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client reads again."""
        super().resume_writing()
        if self._read_deadline is not None:
            self._read_deadline.cancel()

    def _await_request(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
        if not self.transport.is_closing():
            self._awaited = self.loop.call_later(PATIENCE, self.transport.close)
            self.admission.wait(self)


def bounded_by(admission: Admission) -> type[Bounded]:
    """Return the protocol class of one server, whose connections share an admission."""
    return type("Bounded", (Bounded,), {"admission": admission})


async def answer_full(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 503 to a connection beyond the limit, whatever it requests."""
    del scope, receive
    body = encode(ErrorOut("too many connections are open; try again later"))
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "retry-after": "1",
        "connection": "close",
    }
    await send(
        {
            "type": "http.response.start",
            "status": 503,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})
