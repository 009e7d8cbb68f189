"""A service on a free port of this machine, in a thread, for one test."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn.server
from tests.patience import PATIENCE, until

from littlestone.http.app import application
from littlestone.http.client import Client
from littlestone.http.limits import MOST_CONNECTIONS
from littlestone.http.server import Server, server
from littlestone.http.service import Role, Tokens
from littlestone.runs.book import Book

EVENTS = "/runs/abuse/events"
BUDGET = {"rounds": 10_000, "epsilon": 5.0, "delta": 1e-2}


class Served:
    """The address, the tokens and the server itself."""

    def __init__(self, running: Server, tokens: dict[Role, str]) -> None:
        self.running, self.tokens = running, tokens
        self._clients: list[Client] = []
        self.port: int = running.servers[0].sockets[0].getsockname()[1]

    @property
    def service(self) -> Any:
        app: Any = self.running.config.app
        return app.state.service

    def client(self, role: Role = Role.OWNER, **more: Any) -> Client:
        made = Client(
            f"http://127.0.0.1:{self.port}", self.tokens[role], **{"timeout": PATIENCE, **more}
        )
        self._clients.append(made)
        return made

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        role: Role | None = Role.OWNER,
        **headers: str,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one request."""
        with closing(self._asked(method, path, body, role, headers)) as connection:
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()

    def answer(
        self, method: str, path: str, body: bytes | None, role: Role | None, **headers: str
    ) -> int:
        """The status of one request whose answer may have no end."""
        with closing(self._asked(method, path, body, role, headers)) as connection:
            return connection.getresponse().status

    def _asked(
        self, method: str, path: str, body: bytes | None, role: Role | None, more: dict[str, str]
    ) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in more.items()}
        if role is not None:
            named["Authorization"] = f"Bearer {self.tokens[role]}"
        if body is not None:
            named.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, named)
        return connection


class Brisk:
    """``asyncio`` as uvicorn sees it, whose waits of a tenth of a second would be most of a test.

    It waits so long between two looks at whether it should stop, and as often while it stops.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 20)


setattr(uvicorn.server, "asyncio", Brisk())  # noqa: B010 -- it is not exported


@contextmanager
def serving(
    folder: str | Path,
    *,
    fleet: Any = None,
    connections: int = MOST_CONNECTIONS,
    book: Book | None = None,
    known: tuple[Tokens, dict[Role, str]] | None = None,
    open_reading: bool = False,
    **more: Any,
) -> Iterator[Served]:
    """Start the service, and stop it gracefully."""
    fresh, made = known or Tokens.fresh(open_reading=open_reading)
    app = application(folder, fresh, fleet=fleet, book=book, **more)
    running = server(app, port=0, connections=connections)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until(lambda: running.started or not thread.is_alive())
    served = Served(running, made)
    try:
        until(lambda: served.raw("GET", "/health")[0] != 503)  # stores are being opened
        yield served
    finally:
        served.close()
        running.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def body(**content: Any) -> bytes:
    return json.dumps(content).encode()


def with_keys(served: Served, **more: Any) -> Client:
    client = served.client()
    client.create("abuse", concepts="keys", **(BUDGET | more))
    return client
