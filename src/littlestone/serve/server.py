"""Starts the service on an address, and stops it without losing anything that was acknowledged."""

import errno
import ipaddress
import resource
import socket
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette

from littlestone import require
from littlestone.serve.app import application
from littlestone.serve.connections import (
    MOST_CONNECTIONS,
    SPARE,
    Admission,
    Headers,
    bounded_by,
)
from littlestone.serve.tokens import Tokens
from littlestone.service.promises.book import Book

OTHER_FILES: Final = 200  # stores, logs and libraries
MOST_FILES: Final = 1 << 16
BACKLOG: Final = 2048


class Server(uvicorn.Server):
    """Listens at an address from the start, and tells streams that they end when it stops."""

    def __init__(self, config: uvicorn.Config, sockets: Sequence[socket.socket]) -> None:
        super().__init__(config)
        self.sockets = sockets

    @property
    def port(self) -> int:
        return int(self.sockets[0].getsockname()[1])

    def reread(self, token_file: Path | None) -> None:
        """Read the tokens again, where they are in a file."""
        app: Any = self.config.app
        if token_file is not None:
            app.state.service.reread(token_file)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        super().run(sockets or list(self.sockets))

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
    adopt: Collection[str] = (),
) -> Server:
    """A server that listens and is ready to run; ``hosts`` are further names that it answers to.

    With a ``FleetDesk`` it serves that fleet, too. Beyond so many ``connections`` it answers 503.
    The promises of its runs are entered into ``book``; ``adopt`` names runs of which their owner
    says that no other copy went on.
    """
    if (certificate is None) != (private_key is None):
        raise ValueError("tls-cert and tls-key must be given together")
    app = application(folder, tokens, hosts=(host, *hosts), fleet=fleet, book=book, adopt=adopt)
    service = app.state.service
    made = listening(
        app,
        host=host,
        port=port,
        certificate=certificate,
        private_key=private_key,
        connections=connections,
        known=service.knows,
    )
    try:
        service.runs.lock()
    except BaseException:
        _close(made.sockets)
        raise
    return made


def listening(
    app: Starlette,
    *,
    host: str,
    port: int,
    certificate: Path | None = None,
    private_key: Path | None = None,
    connections: int = MOST_CONNECTIONS,
    known: Callable[[Headers], bool] | None = None,
) -> Server:
    """The application at an address; its ``state.service`` is told when to stop.

    ``known`` says whether a request shows a token: a share of the connections is for those.
    """
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
        backlog=BACKLOG,
        http=bounded_by(Admission(connections, known)),
        ws="none",  # nothing here speaks it, and it would have none of these bounds
    )
    return Server(config, bound(host, port))


def bound(host: str, port: int) -> list[socket.socket]:
    """Listen at every address of a host, so that nobody else can; ValueError if it is taken.

    Clients that come before the server runs wait for it.
    """
    sockets = list[socket.socket]()
    try:
        for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            chosen = sockets[0].getsockname()[1] if sockets else port
            place: Any = (address[0], chosen, *address[2:])
            try:
                sockets.append(socket.create_server(place, family=family, backlog=BACKLOG))
            except OSError as problem:  # localhost has an address that this machine may lack
                absent = problem.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
                if not sockets or not absent or not is_loopback(str(address[0])):
                    raise
    except OSError as problem:
        _close(sockets)
        raise ValueError(
            f"port must be free at {host}, got port={port}: {problem.strerror or problem}; choose "
            f"another, or 0 for any"
        ) from None
    return sockets


def _close(sockets: Sequence[socket.socket]) -> None:
    for one in sockets:
        one.close()


def _allow_files(connections: int) -> None:
    """Each connection is an open file, of which most systems allow 1,024 unless they are asked.

    So are stores, of which there may be many: as many files as the system allows are asked for.
    """
    require.integer(connections=connections, at_least=1)
    needed = connections + SPARE + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ValueError(
            f"connections must be at most {hard - SPARE - OTHER_FILES:,} where this system allows "
            f"{hard:,} open files, got connections={connections}; see ulimit -n"
        )
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < max(needed, wanted):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(needed, wanted), hard))
