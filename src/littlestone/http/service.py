"""Authorize requests, and hold what they share.

A token is 32 random bytes; the token file holds its SHA-256 and never the token. A token cannot be
guessed, so a fast hash is enough, and a lookup compares all entries in constant time. Each entry
has a holder: a name that stays when the token is rotated.
"""

import asyncio
import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from littlestone.errors import LittlestoneError
from littlestone.http import wire
from littlestone.http.hosted import Runs
from littlestone.http.limits import Headers
from littlestone.http.run_thread import Overloaded, RunThread, Unavailable
from littlestone.http.visible import Shown
from littlestone.learners.run import PrivateLearner

EVERY_RUN: Final = "*"
# No slash: it separates the holder from the event id.
HOLDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Role(StrEnum):
    """The rights of a token; an owner may do everything, each other role only its own part.

    An operator sees the counts and latencies of requests in ``/metrics/requests``, and no run.
    """

    OWNER = "owner"
    WRITER = "writer"
    READER = "reader"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """One line of the file: role, run (``*`` for every run), holder, and hash of the token.

    Event ids belong to the ``holder``: two tokens of one holder are the same writer.
    """

    role: Role
    run: str
    holder: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Tokens:
    """All valid tokens; ``open_reading`` lets clients without a token read what is published."""

    entries: tuple[TokenEntry, ...]
    open_reading: bool = False

    def __post_init__(self) -> None:
        holders = dict[bytes, str]()
        for entry in self.entries:
            if holders.setdefault(entry.digest, entry.holder) != entry.holder:
                raise ValueError(
                    f"a token must have one holder, got {holders[entry.digest]!r} and "
                    f"{entry.holder!r} with the same hash; make a token for each"
                )

    @classmethod
    def fresh(cls, *, open_reading: bool = False) -> tuple["Tokens", dict[Role, str]]:
        """Create one token for each role, for every run; each holder is named after its role.

        Returns:
            The hashes, and the tokens by role, which are shown once and not stored.
        """
        made = {role: secrets.token_urlsafe(32) for role in Role}
        entries = tuple(
            TokenEntry(role, EVERY_RUN, role.value, digest(token)) for role, token in made.items()
        )
        return cls(entries, open_reading), made

    @classmethod
    def from_file(cls, path: Path, *, open_reading: bool = False) -> "Tokens":
        """Read a file of lines ``role run holder sha256``; reject a file that others can read."""
        mode = path.stat().st_mode
        if mode & 0o077:
            raise ValueError(
                f"token-file must be readable by its owner only, got {path} with mode "
                f"{mode & 0o777:o}; run chmod 600 on it"
            )
        return cls(tuple(_entries(path)), open_reading)

    def save(self, path: Path) -> None:
        """Write the hashes to a new file with mode 0600."""
        text = "".join(
            f"{entry.role} {entry.run} {entry.holder} {entry.digest.hex()}\n"
            for entry in self.entries
        )
        _write_new(path, text)

    def allow(self, entries: Iterable[TokenEntry], role: Role, run: str) -> bool:
        """Return whether a token with these entries allows this role on this run."""
        return (role is Role.READER and self.open_reading) or any(
            one.role in (role, Role.OWNER) and one.run in (EVERY_RUN, run) for one in entries
        )

    def holder(self, token: str | None) -> str | None:
        """Return the holder of a token; None, for a 401 instead of a 403, if it is unknown."""
        return next((entry.holder for entry in self.entries_of(token)), None)

    def entries_of(self, token: str | None) -> list[TokenEntry]:
        """Return the entries of a token; every entry is compared, in constant time."""
        presented = hashlib.sha256((token or "").encode("utf-8", "surrogateescape")).digest()
        found = [one for one in self.entries if hmac.compare_digest(one.digest, presented)]
        return [] if token is None else found


def digest(token: str) -> bytes:
    """Return the hash of a token, as the file stores it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def save_each(tokens: Mapping[Role, str], folder: Path) -> None:
    """Write each token to a file named after its role, readable by its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for role, token in tokens.items():
        (folder / role).unlink(missing_ok=True)  # it may be a link, or others may read it
        _write_new(folder / role, token)


def _write_new(path: Path, text: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write(text)


def _entries(path: Path) -> Iterator[TokenEntry]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            role, run, holder, hashed = line.split()
            known = bytes.fromhex(hashed)
            if len(known) != hashlib.sha256().digest_size or not HOLDER.fullmatch(holder):
                raise ValueError
            yield TokenEntry(Role(role), run, holder, known)
        except ValueError:
            raise ValueError(
                f"line {number} of {path} must be 'role run holder sha256' with role "
                f"{', '.join(Role)}, run a name or *, and holder a name of letters, digits, '.', "
                f"'-', '_'"
            ) from None


_LOG: Final = logging.getLogger("littlestone.http")
REQUESTS: Final = logging.getLogger("littlestone.http.requests")
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Telemetry:
    """Count requests by route and status, and their latency, for those who operate the service.

    It holds no data: a request is its time, route, run, status and latency. How many events a run
    rejected is not published, so readers see neither these counts nor the log.
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._latencies: dict[tuple[str, str], list[int]] = {}
        self._seconds: Counter[tuple[str, str]] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float, run: str) -> None:
        """Count one answered request, and log it.

        The parameters of the route are open, as in ``/runs/{run}/events``; the seconds are those
        until the answer began; the name of the run is empty if the path has none.
        """
        self._requests[method, route, status] += 1
        counts = self._latencies.setdefault((method, route), [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[method, route] += seconds  # type: ignore[assignment]
        if REQUESTS.isEnabledFor(logging.INFO):
            REQUESTS.info(
                "request",
                extra={
                    "method": method,
                    "route": route,
                    "run": run,
                    "status": status,
                    "milliseconds": round(1000 * seconds, 2),
                },
            )

    def lines(self) -> Iterator[str]:
        """Yield the counts in the text format of Prometheus."""
        yield "# TYPE littlestone_requests_total counter"
        for (method, route, status), count in self._requests.items():
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"littlestone_requests_total{{{labels}}} {count}"
        yield "# TYPE littlestone_request_seconds histogram"
        for (method, route), counts in self._latencies.items():
            labels, total = f'method="{method}",route="{route}"', 0
            for edge, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield f'littlestone_request_seconds_bucket{{{labels},le="{edge}"}} {total}'
            yield f"littlestone_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"littlestone_request_seconds_count{{{labels}}} {total}"


@dataclass(slots=True)
class Service:
    """Hold everything that requests share."""

    runs: Runs
    tokens: Tokens
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    fleet: Any = None
    """A ``FleetRoutes``, whose module needs the extra 'fleet'."""
    loop: asyncio.AbstractEventLoop | None = None
    readers: int = 0
    telemetry: Telemetry = field(default_factory=Telemetry)

    def lock(self) -> None:
        """Lock the store, so that no second service uses it."""
        self.runs.lock()

    def stop(self) -> None:
        """Tell every stream to end; safe to call from a signal or another thread."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.stopping.set)

    def reread(self, path: Path | None) -> None:
        """Replace the tokens by those in the file; keep the current ones if it cannot be read."""
        if path is None:  # they do not come from a file
            return
        try:
            self.tokens = Tokens.from_file(path, open_reading=self.tokens.open_reading)
        except (OSError, ValueError) as problem:
            _LOG.error("the tokens are unchanged: %s", problem)

    def knows(self, headers: Headers) -> bool:
        """Return whether the head of a request shows a valid token."""
        request = Request({"type": "http", "headers": list(headers)})
        return bool(self.tokens.entries_of(token_of(request)))

    def may(self, request: Request, role: Role) -> bool:
        """Return whether the client may act in this role, by the current tokens."""
        found = self.tokens.entries_of(token_of(request))
        return self.tokens.allow(found, role, request.path_params.get("run", ""))

    def require_role(self, request: Request, role: Role) -> str:
        """Reject a client that may not act in this role.

        Returns:
            The holder of the token; empty if there is none.
        """
        run = request.path_params.get("run", "")
        found = self.tokens.entries_of(token_of(request))
        if not self.tokens.allow(found, role, run):
            if found:
                raise HTTPException(403, f"this token does not have the role {role}")
            raise HTTPException(
                401,
                f"a token with the role {role} is needed: send Authorization: Bearer TOKEN",
                CHALLENGE,
            )
        return found[0].holder if found else ""

    def run_thread(self, request: Request) -> RunThread:
        """Return the thread of the run that the path names; the run must be open."""
        name = request.path_params["run"]
        found = self.runs.hosted.get(name)
        if found is not None and found.thread.failure is None:
            return found.thread
        try:
            return self.runs.usable(name)
        except KeyError:
            raise HTTPException(404, "there is no run of this name; see GET /runs") from None

    def recipe(self, request: Request) -> PrivateLearner:
        """Return the learner of the run that the path names."""
        return self.runs.hosted[request.path_params["run"]].recipe

    def shown(self, request: Request) -> Shown:
        """Return the release that readers see."""
        newest = self.run_thread(request).visible.newest
        assert newest is not None  # the first release is visible before a run can be used
        return newest


CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


def token_of(request: Request) -> str | None:
    """Return the token of a request, from its header or its cookie; None if there is none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token:
        return token.strip()
    return request.cookies.get("token")


def described(service: Service, name: str) -> wire.RunOut:
    """Describe a run as readers see it; the terms of an unreadable run are unknown."""
    runs = service.runs
    if name in runs.unreadable:
        return wire.RunOut(name, "broken")
    terms, recipe, thread, adopted = runs.hosted[name]
    state: wire.State = "open" if thread.failure is None else "broken"
    state = "opening" if thread.opening else state
    return wire.run_out(terms, recipe, thread.visible.newest, state, adopted)


EXPECTED: Final = (HTTPException, Overloaded, Unavailable, LittlestoneError, ClientDisconnect)


def route(service: Service, method: str, path: str, role: Role | None, answer: Any) -> Route:
    """Create a route for clients with this role; None needs no token.

    ``answer`` takes the service and the request, whose state holds the ``holder`` of the token.
    """

    async def guarded(request: Request) -> Response:
        begun, status = time.perf_counter(), 500
        try:
            if role is not None:
                request.state.holder = service.require_role(request, role)
            if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
                advice = "the body must not be compressed: send no Content-Encoding"
                raise HTTPException(415, advice)
            response: Response = await answer(service, request)
            status = response.status_code
            return response
        except EXPECTED as refusal:
            status = _status_of(refusal)
            raise
        except Exception as bug:
            # The message may contain data, so neither the log nor the response includes it.
            _LOG.error("a bug: %s in %s %s", type(bug).__name__, method, path)
            return wire.answered(wire.ErrorOut("internal error of the service; see its log"), 500)
        finally:
            run = request.path_params.get("run", "")
            known = run if run in service.runs.hosted else ""  # a path may contain any text
            service.telemetry.observe(method, path, status, time.perf_counter() - begun, known)

    return Route(path, guarded, methods=[method])


def _status_of(refusal: Exception) -> int:
    if isinstance(refusal, HTTPException):
        return refusal.status_code
    if isinstance(refusal, Overloaded):
        return 429
    return 400 if isinstance(refusal, ClientDisconnect) else 503
