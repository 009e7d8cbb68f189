"""A small client of ``littlestone serve``; it needs nothing but Python."""

import http.client
import json
import secrets
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, Final
from urllib.parse import quote, urlsplit

from littlestone import require
from littlestone.errors import LittlestoneError

_PASSING: Final = (429, 503)


class ServiceError(LittlestoneError):
    """The service refused; ``status`` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} (status {status})")
        self.status = status


@require.checked
class Client:
    """One connection to a service, for one thread.

    Events get an id before they are sent, so that sending them again after a lost answer, or when
    the service is busy, takes none of them twice.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 30.0, patience: float = 60.0
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"url must begin with http:// or https://, got {url!r}")
        self._secure = address.scheme == "https"
        self._place = address.hostname, address.port or (443 if self._secure else 80)
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout, self._patience = timeout, patience
        self._connection: http.client.HTTPConnection | None = None

    def create(self, name: str, **asked: Any) -> Any:
        """A new run; ``concepts`` or ``schema``, ``rounds``, ``epsilon`` and so on."""
        if "concepts" in asked:
            asked["class"] = asked.pop("concepts")
        return self._json("POST", "/runs", {"name": name, **asked})

    def remove(self, name: str) -> Any:
        """Delete a run that never read an event."""
        return self._json("DELETE", _path(name))

    def send(
        self, run: str, x: Any, y: int, *, id: str | None = None, user: str | int | None = None
    ) -> Any:
        """One event; returns its receipt, when it is on disk. ``user``: where users are counted."""
        body = {"id": id or secrets.token_hex(16), "x": x, "y": y}
        body |= {} if user is None else {"user": user}
        return self._json("POST", f"{_path(run)}/events", body)

    def send_many(
        self, run: str, events: Iterable[tuple[Any, int] | tuple[Any, int, str | int]]
    ) -> Any:
        """Many events (x, y), or (x, y, user), in one request; each is taken or refused alone.

        If one of them is no JSON (NaN is none) nothing is sent.
        """
        fields = ("x", "y", "user")
        every = require.listed(tuple | list, events=events)
        sent = [{"id": secrets.token_hex(16), **dict(zip(fields, one))} for one in every]  # noqa: B905
        return self._json("POST", f"{_path(run)}/events", {"events": sent})

    def hypothesis(self, run: str) -> Any:
        """The newest visible release."""
        return self._json("GET", f"{_path(run)}/hypothesis")

    def keys(self, run: str) -> Any:
        """The published list of keys."""
        return self._json("GET", f"{_path(run)}/keys")

    def guarantee(self, run: str) -> Any:
        return self._json("GET", f"{_path(run)}/guarantee")

    def predict(self, run: str, points: Sequence[Any]) -> list[int]:
        """Labels by the newest visible rule."""
        answer = self._json("POST", f"{_path(run)}/predict", {"points": list(points)})
        return list(answer["labels"])

    def releases(self, run: str, *, after: int = 0) -> Iterator[Any]:
        """Everything that is published after a release, page by page, up to now."""
        while True:
            page = self._json("GET", f"{_path(run)}/releases?after={after}")
            yield from page["releases"]
            after = page["next"]
            if after >= page["newest"]:
                return

    def follow(self, run: str, *, after: int = 0) -> Generator[Any]:
        """Everything after a release, as it is published; comes back by itself after a break."""
        while True:
            try:
                for release in self._events(run, after):
                    after = release["release"]
                    yield release
            except ServiceError as refused:
                if refused.status not in _PASSING:
                    raise
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(1.0)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        """The answer; what may pass (busy, restarting, a broken connection) is tried again."""
        content = None if body is None else _written(body)
        headers = self._headers | ({} if body is None else {"Content-Type": "application/json"})
        until, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                status, answer = self._once(method, path, content, headers)
                if status < 400:
                    return json.loads(answer) if answer else None
                problem: Exception = ServiceError(status, _reason(answer))
                passing = status in _PASSING
            except (OSError, http.client.HTTPException) as broken:
                # Whether it was heard is unknown, unless nobody listened. Everything but making or
                # deleting a run may be said twice: events have ids, the rest only reads.
                problem = broken
                changes = path == "/runs" or method == "DELETE"
                passing = not changes or isinstance(broken, ConnectionRefusedError)
                self.close()
            if not passing or time.monotonic() + pause > until:
                raise problem
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def _once(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connected()
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def _connected(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(*self._place, timeout=self._timeout)

    def _events(self, run: str, after: int) -> Iterator[Any]:
        connection = self._connected()
        headers = self._headers | {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        with closing(connection):
            connection.request("GET", f"{_path(run)}/releases", headers=headers)
            with connection.getresponse() as response:
                if response.status != 200:
                    raise ServiceError(response.status, _reason(response.read()))
                for line in response:
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])


def _written(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise ValueError(f"what is sent must be JSON: {problem}; nothing was sent") from None


def _path(run: str) -> str:
    return f"/runs/{quote(run, safe='')}"


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace") or "no reason given"
