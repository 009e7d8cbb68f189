"""Starts the service on an address, and stops it without losing anything that was acknowledged."""

import ipaddress
import resource
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette

from littlestone import require
from littlestone.serve.app import application
from littlestone.serve.connections import MOST_CONNECTIONS, SPARE, Bounded
from littlestone.serve.tokens import Tokens
from littlestone.service.promises.book import Book

OTHER_FILES: Final = 200  # stores, logs and libraries


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
    connections: int = MOST_CONNECTIONS,
    book: Book | None = None,
) -> Server:
    """A server that is ready to run; ``hosts`` are further names by which it may be called.

    With a ``FleetDesk`` it serves that fleet, too. Beyond so many ``connections`` it answers 503.
    The promises of its runs are entered into ``book``.
    """
    if (certificate is None) != (private_key is None):
        raise ValueError("tls-cert and tls-key must be given together")
    app = application(folder, tokens, hosts=(host, *hosts), fleet=fleet, book=book)
    app.state.service.runs.lock()
    return listening(
        app,
        host=host,
        port=port,
        certificate=certificate,
        private_key=private_key,
        connections=connections,
    )


def listening(
    app: Starlette,
    *,
    host: str,
    port: int,
    certificate: Path | None = None,
    private_key: Path | None = None,
    connections: int = MOST_CONNECTIONS,
) -> Server:
    """The application at an address; its ``state.service`` is told when to stop."""
    _allow_files(connections)
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
        ws="none",  # nothing here speaks it, and it would have none of these bounds
        limit_concurrency=connections,
    )
    return Server(config)


def _allow_files(connections: int) -> None:
    """Each connection is an open file, of which most systems allow 1,024 unless they are asked."""
    require.integer(connections=connections, at_least=1)
    needed = connections + SPARE + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ValueError(
            f"connections must be at most {hard - SPARE - OTHER_FILES:,} where this system allows "
            f"{hard:,} open files, got connections={connections}; see ulimit -n"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
