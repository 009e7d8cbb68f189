"""Starts the service on an address, and stops it without losing anything that was acknowledged."""

import ipaddress
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from littlestone.serve.app import application
from littlestone.serve.tokens import Tokens

MOST_IDLE: Final = 32 << 10  # bytes that neither are a body nor end a request
MOST_AHEAD: Final = 100  # requests on a connection that one before them holds up


class Bounded(HttpToolsProtocol):
    """Refuses a head, lines after a body, or requests without end: all would be kept."""

    _useful, _idle = False, 0

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


class Server(uvicorn.Server):
    """Tells streams that they end, so that a graceful stop need not wait for their readers."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stop()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """End every stream, finish every request, close every store."""
        app: Any = self.config.app
        app.state.service.stop()
        self.should_exit = True


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server(
    folder: Path,
    tokens: Tokens,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    certificate: Path | None = None,
    private_key: Path | None = None,
    hosts: tuple[str, ...] = (),
    fleet: Any = None,
) -> Server:
    """A server that is ready to run; ``hosts`` are further names by which it may be called.

    With a ``FleetDesk`` it serves that fleet, too.
    """
    if (certificate is None) != (private_key is None):
        raise ValueError("tls-cert and tls-key must be given together")
    app = application(folder, tokens, hosts=(host, *hosts), fleet=fleet)
    return listening(app, host=host, port=port, certificate=certificate, private_key=private_key)


def listening(
    app: Starlette,
    *,
    host: str,
    port: int,
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> Server:
    """The application at an address; its ``state.service`` is told when to stop."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=private_key,
        log_level="warning",
        access_log=False,  # addresses of writers, and when they wrote
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=10,
        backlog=2048,
        http=Bounded,
    )
    return Server(config)
