"""Start the service on an address, log its requests, stop it without losing acknowledged events."""

import asyncio
import errno
import ipaddress
import json
import logging
import resource
import socket
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette

from littlestone import require
from littlestone.http.limits import (
    MOST_CONNECTIONS,
    PATIENCE,
    SPARE,
    Admission,
    Handshake,
    bounded_by,
)
from littlestone.http.service import REQUESTS

OTHER_FILES: Final = 200  # stores, logs and libraries
MOST_FILES: Final = 1 << 16
BACKLOG: Final = 2048
PAUSE: Final = 0.1  # seconds after a connection that could not be accepted


class Server(uvicorn.Server):
    """Listen from the start, and end streams when the server stops."""

    def __init__(
        self, config: uvicorn.Config, sockets: Sequence[socket.socket], admission: Admission
    ) -> None:
        super().__init__(config)
        self.sockets = sockets
        self._admission = admission
        self._accepting = list[asyncio.Task[None]]()
        self._encrypting = set[asyncio.Task[None]]()

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        return int(self.sockets[0].getsockname()[1])

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until stopped."""
        super().run(sockets or list(self.sockets))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; with TLS accept here: uvicorn sees no connection before its handshake is done."""
        context = self.config.ssl
        await super().startup(sockets if context is None else [])
        if context is not None:
            accepting = [self._accept(one, context) for one in sockets or ()]
            self._accepting = list(map(asyncio.get_running_loop().create_task, accepting))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to accept, then finish the connections."""
        ending = [*self._accepting, *self._encrypting]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket, context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        while True:
            try:
                line, _ = await loop.sock_accept(listener)
            except OSError:  # the client is gone, or there is no file for it
                await asyncio.sleep(PAUSE)
                continue
            task = loop.create_task(self._encrypt(line, context))
            self._encrypting.add(task)
            task.add_done_callback(self._encrypting.discard)

    async def _encrypt(self, line: socket.socket, context: ssl.SSLContext) -> None:
        """Make the handshake of a connection, which the admission may end."""
        task = asyncio.current_task()
        assert task is not None
        handshake = Handshake(task)
        self._admission.wait(handshake)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol, line, ssl=context, ssl_handshake_timeout=PATIENCE
            )
        except OSError:  # the client speaks no TLS, or is gone
            pass
        finally:
            self._admission.forget(handshake)

    def _protocol(self) -> asyncio.Protocol:
        made: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = made(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the service on a signal."""
        self.stop()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """End every stream, finish every request, close every store."""
        app: Any = self.config.app
        app.state.service.stop()
        self.should_exit = True


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server(
    app: Starlette,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    certificate: Path | None = None,
    private_key: Path | None = None,
    connections: int = MOST_CONNECTIONS,
) -> Server:
    """Create a server that listens and is ready to run.

    The ``state.service`` of the application is locked, and notified of the stop. Port 0 chooses a
    free one. Beyond this number of connections the server answers 503.
    """
    if (certificate is None) != (private_key is None):
        raise ValueError("tls-cert and tls-key must be given together, got one of them")
    _allow_files(connections)
    admission = Admission(connections, app.state.service.knows)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=private_key,
        log_config=None,  # the process configures its log
        log_level="warning",
        access_log=False,  # it would record the addresses of writers and when they wrote
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=10,
        backlog=BACKLOG,
        http=bounded_by(admission),
        ws="none",  # no route uses WebSockets, and these limits would not hold for them
    )
    made = Server(config, bound(host, port), admission)
    try:
        app.state.service.lock()
    except BaseException:
        _close(made.sockets)
        raise
    return made


def bound(host: str, port: int) -> list[socket.socket]:
    """Listen on every address of a host, so that no other process can.

    Clients that connect before the server runs wait for it.

    Raises:
        ValueError: The port is in use.
    """
    sockets = list[socket.socket]()
    try:
        for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            chosen = sockets[0].getsockname()[1] if sockets else port
            place: Any = (address[0], chosen, *address[2:])
            try:
                sockets.append(socket.create_server(place, family=family, backlog=BACKLOG))
            except OSError as problem:  # localhost may have an address that is missing here
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
    """Raise the limit of open files to the maximum that the system allows.

    Each connection and each store is an open file, and most systems allow 1,024 by default.
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


class JsonLines(logging.Formatter):
    """Format a log record as one line of JSON."""

    FIELDS: Final = ("method", "route", "run", "status", "milliseconds")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON: time, level, logger, message, and a request's fields."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in self.FIELDS if hasattr(record, name)}
        return json.dumps(line, ensure_ascii=False)


def log_as_json() -> None:
    """Write the log of this process to standard error as lines of JSON, requests included."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    REQUESTS.setLevel(logging.INFO)
