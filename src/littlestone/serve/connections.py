"""One connection: how long a request may be, how long it may take, and how many there may be.

Nobody has to be known here to open a connection, so each of them is bounded in what it keeps and in
how long it keeps it: a head must arrive in time, what follows an answer must end, and what was
answered must be read. Bodies are looked after where they are read (``guarding``).
"""

import asyncio
from typing import Any, Final

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from littlestone.serve.wire import ErrorOut, encode

MOST_CONNECTIONS: Final = 1_000
MOST_IDLE: Final = 32 << 10  # bytes that neither are a body nor end a request
MOST_AHEAD: Final = 100  # requests on a connection that one before them holds up
SPARE: Final = 50  # connections beyond the limit that are told so; more are closed without a word
PATIENCE: Final = 30.0  # seconds


class Bounded(HttpToolsProtocol):
    """Refuses what has no end: heads, lines after a body, requests, and waiting for any of them."""

    _useful, _idle = False, 0
    _awaited: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # uvicorn would say 503 without Retry-After, and count those that have asked for nothing.
        most, self.limit_concurrency = self.limit_concurrency, None
        if most is not None and len(self.connections) > most:
            self.app = crowded
            if len(self.connections) > most + SPARE:
                transport.abort()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._awaited, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # else there are others on this connection
            # The rest of a body that nobody wanted, and then another head. What uvicorn waits for
            # is silence, which a byte now and then would put off for ever.
            self._await_request()

    def on_body(self, body: bytes) -> None:
        self._useful = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._useful = True
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        self._useful = False
        super().data_received(data)
        self._idle = 0 if self._useful else self._idle + len(data)
        if self._idle > MOST_IDLE or len(self.pipeline) > MOST_AHEAD:
            self.send_400_response("The head of the request is too long.")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def _await_request(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
        self._awaited = self.loop.call_later(PATIENCE, self.transport.close)


async def crowded(scope: Scope, receive: Receive, send: Send) -> None:
    """What a connection beyond the limit is told, whatever it asks for."""
    del scope, receive
    body = encode(ErrorOut("too many connections are open; come back later"))
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
