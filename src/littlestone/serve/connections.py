"""One connection: how long a request may be, how long it may take, and how many there may be.

Nobody has to be known here to open a connection, so each of them is bounded in what it keeps and in
how long it keeps it: a head must arrive in time, what follows an answer must end, and what was
answered must be read. Bodies are looked after where they are read (``guarding``). Connections that
have shown no token are *strangers*: they never fill the share that is reserved for those who have,
and of those that wait for a head the oldest gives way to a new one.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from littlestone.serve.wire import ErrorOut, encode

MOST_CONNECTIONS: Final = 1_000
MOST_IDLE: Final = 32 << 10  # bytes that neither are a body nor end a request
MOST_AHEAD: Final = 100  # requests on a connection that one before them holds up
SPARE: Final = 50  # connections beyond the limit that are listened to, and told so
RESERVED: Final = 4  # one of so many is kept for those with a token
PATIENCE: Final = 30.0  # seconds

Headers = Sequence[tuple[bytes, bytes]]


class Admission:
    """Which connections of a server may be served; ``known`` says whether a head shows a token."""

    def __init__(self, most: int, known: Callable[[Headers], bool] | None = None) -> None:
        self._most, self._known = most, known
        self._strangers = most if known is None else most - most // RESERVED
        self._waiting: dict[Bounded, None] = {}  # strangers without a request, the oldest first
        self._busy: set[Bounded] = set()  # strangers with one
        self._trusted: set[Bounded] = set()

    def wait(self, connection: "Bounded") -> None:
        """Let it wait for a head; the oldest stranger that waits makes room if there is none."""
        if connection in self._trusted:
            return
        self._busy.discard(connection)
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if len(self._waiting) + len(self._busy) + len(self._trusted) > self._most + SPARE:
            self._evict()

    def admit(self, connection: "Bounded", headers: Headers) -> bool:
        """Whether the request with this head is served; else it is asked to come back."""
        if connection not in self._trusted:
            self._waiting.pop(connection, None)
            if self._known is not None and self._known(headers):
                self._trusted.add(connection)
            else:
                self._busy.add(connection)
        if connection in self._trusted:
            return len(self._trusted) <= self._most - min(len(self._busy), self._strangers)
        return len(self._busy) <= min(self._strangers, self._most - len(self._trusted))

    def forget(self, connection: "Bounded") -> None:
        self._waiting.pop(connection, None)
        self._busy.discard(connection)
        self._trusted.discard(connection)

    def _evict(self) -> None:
        oldest = next(iter(self._waiting))
        self.forget(oldest)
        oldest.transport.abort()


class Bounded(HttpToolsProtocol):
    """Refuses what has no end: heads, lines after a body, requests, and waiting for any of them."""

    admission: Admission  # of the server: see ``bounded_by``
    _useful, _idle = False, 0
    _awaited: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._awaited, self._unread):
            if timer is not None:
                timer.cancel()
        self.admission.forget(self)
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        if self._awaited is not None and not self.transport.is_closing():
            self._awaited.cancel()
            self._awaited = None
            if not self.admission.admit(self, self.headers):
                self.app = crowded
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
        if not self.transport.is_closing():
            self._awaited = self.loop.call_later(PATIENCE, self.transport.close)
            self.admission.wait(self)


def bounded_by(admission: Admission) -> type[Bounded]:
    """The protocol of one server, whose connections share what it admits."""
    return type("Bounded", (Bounded,), {"admission": admission})


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
