"""Talk to the service from Python; a demonstration feeds two runs through it."""

import http.client
import json
import secrets
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import count
from typing import Any, Final
from urllib.parse import quote, urlsplit

from littlestone import require
from littlestone.errors import LittlestoneError
from littlestone.randomness import Randomness, secure

_PASSING: Final = (429, 503)


class ServiceError(LittlestoneError):
    """The service rejected a request; ``status`` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} (status {status})")
        self.status = status


@require.checked
class Client:
    """Hold one connection to a service, for one thread.

    Each event gets an id before it is sent. The client can therefore send events again after a lost
    response, or when the service is busy, and none is counted twice.

    Args:
        url: The address of the service, with http:// or https://.
        token: The bearer token; None sends none.
        timeout: Seconds to wait for one response.
        patience: Seconds during which a busy or restarting service is tried again.
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

    def create(self, name: str, **terms: Any) -> Any:
        """Create a run from ``concepts`` or ``schema``, ``rounds``, ``epsilon`` and other terms."""
        if "concepts" in terms:
            terms["class"] = terms.pop("concepts")
        return self._json("POST", "/runs", {"name": name, **terms})

    def remove(self, name: str) -> Any:
        """Delete a run that has read no event."""
        return self._json("DELETE", _path(name))

    def send(
        self,
        run: str,
        x: Any,
        y: int | str,
        *,
        id: str | None = None,
        user: str | int | None = None,
    ) -> Any:
        """Send one event and return its receipt once the event is on disk.

        Args:
            run: The name of the run.
            x: The point: an object with the fields of the schema, or what the class of the run
                takes.
            y: The label.
            id: The id of the event; a random one unless given.
            user: The user whose event it is, if the run counts users.
        """
        body = {"id": id or secrets.token_hex(16), "x": x, "y": y}
        body |= {} if user is None else {"user": user}
        return self._json("POST", f"{_path(run)}/events", body)

    def send_many(
        self, run: str, events: Iterable[tuple[Any, int | str] | tuple[Any, int | str, str | int]]
    ) -> Any:
        """Send events (x, y) or (x, y, user) in one request; each is accepted or rejected alone.

        Raises:
            ValueError: An event is not valid JSON (NaN is not); nothing is sent.
        """
        fields = ("x", "y", "user")
        every = require.listed(tuple | list, events=events)
        sent = [{"id": secrets.token_hex(16), **dict(zip(fields, one))} for one in every]  # noqa: B905
        return self._json("POST", f"{_path(run)}/events", {"events": sent})

    def hypothesis(self, run: str) -> Any:
        """Return the newest visible release."""
        return self._json("GET", f"{_path(run)}/hypothesis")

    def keys(self, run: str) -> Any:
        """Return the published list of keys."""
        return self._json("GET", f"{_path(run)}/keys")

    def guarantee(self, run: str) -> Any:
        """Return the privacy guarantee of a run."""
        return self._json("GET", f"{_path(run)}/guarantee")

    def predict(self, run: str, points: Sequence[Any], *, last: bool = False) -> list[int | str]:
        """Predict labels by the steady rule: visible rules vote by how long each was in force.

        Args:
            run: The name of the run.
            points: Objects with the fields of the schema, or what the class of the run takes.
            last: Use the newest visible rule instead.
        """
        path = f"{_path(run)}/predict{'?last=true' if last else ''}"
        answer = self._json("POST", path, {"points": list(points)})
        return list(answer["labels"])

    def releases(self, run: str, *, after: int = 0) -> Iterator[Any]:
        """Yield the visible releases after the number ``after``, page by page."""
        while True:
            page = self._json("GET", f"{_path(run)}/releases?after={after}")
            yield from page["releases"]
            after = page["next"]
            if after >= page["newest"]:
                return

    def follow(self, run: str, *, after: int = 0) -> Generator[Any]:
        """Yield every release after ``after`` as it is published; reconnect when disconnected."""
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
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        """Return the response; retry while the service is busy, restarting or disconnected."""
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
                # The service may have received the request, unless the connection was refused.
                # Retrying is safe except for creating or deleting a run: events have ids, and the
                # rest only reads.
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
    except Exception as problem:  # raised by a value itself, for example
        raise ValueError(f"the body must be valid JSON: {problem}; nothing was sent") from None


def _path(run: str) -> str:
    return f"/runs/{quote(run, safe='')}"


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace") or "no reason given"


PAUSE = 0.05
SPAMMERS, SENDERS, WORDS = 3, 5_000, 1_000


def start_demo(url: str, token: str) -> threading.Thread:
    """Start a thread that creates the demo runs if they are missing and feeds them forever."""
    thread = threading.Thread(target=_feed, args=(url, token), name="demo", daemon=True)
    thread.start()
    return thread


def _feed(url: str, token: str) -> None:
    with Client(url, token) as client:
        budget = {"rounds": 10**7, "epsilon": 1.0, "delta": 1e-6, "publish_every": 1.0}
        for name, concepts in (("blocklist", "keys"), ("price-limit", f"thresholds:{WORDS}")):
            try:
                client.create(name, concepts=concepts, setting="realizable", **budget)
            except ServiceError as refused:
                if refused.status != 409:
                    raise
        rng = secure()
        for report in _reports(rng):
            client.send_many("blocklist", [report])
            x = rng.below(WORDS)
            client.send("price-limit", x, int(x >= 618))
            time.sleep(PAUSE)


def _reports(rng: Randomness) -> Iterator[tuple[str, int]]:
    """Simulate reports: often of spammers, who sometimes change names; of others by mistake."""
    for number in count():
        generation = number // 600
        if rng.below(4):
            yield f"spam{rng.below(SPAMMERS)}-{generation}.example", 1
        else:
            yield f"sender{rng.below(SENDERS)}.example", int(rng.below(50) == 0)
