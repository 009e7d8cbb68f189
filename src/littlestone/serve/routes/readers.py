"""What readers do: everything here is a function of visible releases and of the recipe."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from littlestone import __version__
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.run import PrivateLearner
from littlestone.serve import wire
from littlestone.serve.desk import Service, answered, decoded, described
from littlestone.serve.guarding import body_of
from littlestone.serve.owner import RunOwner
from littlestone.serve.tokens import Role
from littlestone.service.cells import Misfit
from littlestone.service.events import point_reader
from littlestone.service.published import release_line

PAGE: Final = 1_000  # releases in one answer
AHEAD: Final = 50  # releases that wait in memory for one reader of a stream
KEEP_ALIVE: Final = 15.0  # seconds between signs of life


async def list_runs(service: Service, _: Request) -> Response:
    named = sorted([*service.runs, *service.runs.unreadable])
    return answered([described(service, name) for name in named])


async def show_run(service: Service, request: Request) -> Response:
    service.owner(request)
    return answered(described(service, request.path_params["run"]))


async def hypothesis(service: Service, request: Request) -> Response:
    shown = service.shown(request)
    line = release_line(shown.release)
    return tagged(request, shown.tag, lambda: answered(line))


async def keys(service: Service, request: Request) -> Response:
    """The list as a blocklist's consumer wants it; plain text if it is asked for."""
    shown = service.shown(request)
    listed = wire.listed_keys(shown)
    if listed is None:
        raise HTTPException(404, "this run publishes no list of keys; see hypothesis")
    if "text/plain" in request.headers.get("accept", ""):
        text = "".join(f"{_one_line(key)}\n" for key in listed)
        return tagged(request, shown.tag, lambda: PlainTextResponse(text))
    return tagged(request, shown.tag, lambda: answered(listed))


def _one_line(key: Any) -> str:
    """A key is chosen by whoever reports it, and shall not make two lines."""
    return key if isinstance(key, str) and key.isprintable() else json.dumps(key)


def tagged(request: Request, tag: str, made: Callable[[], Response]) -> Response:
    """The answer, or that it has not changed."""
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    response = Response(status_code=304) if tag in known else made()
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "no-cache"
    return response


async def releases(service: Service, request: Request) -> Response:
    """A page of releases after a number; or, to an event source, all that follow, for ever."""
    owner = service.owner(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        after = number_of(request.headers.get("last-event-id"), request.query_params.get("after"))
        stream = _sent(service, owner, after, partial(service.may, request, Role.READER))
        return StreamingResponse(stream, media_type="text/event-stream")
    after = number_of(request.query_params.get("after"))
    found = await _visible_after(owner, after, PAGE)
    newest = owner.visible.newest
    return answered(wire.release_page(found, 0 if newest is None else newest.release.number))


def number_of(*texts: str | None) -> int:
    text = next((text for text in texts if text), "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise HTTPException(422, f"after must be the number of a release, got {text[:40]!r}")
    return int(text)


async def _visible_after(owner: RunOwner, after: int, page: int) -> list[Any]:
    """At most a page of what is visible after a number, from memory or from the store."""
    found = owner.visible.after(after)
    if found is None:
        newest = owner.visible.newest
        assert newest is not None
        most = min(page, newest.release.number - after)
        found = await owner.ask(partial(_logged, after=after, most=most))
    return found[:page]


def _logged(run: Any, *, after: int, most: int) -> list[Any]:
    return [release for _, release in zip(range(most), run.releases(after=after), strict=False)]


async def _sent(
    service: Service, owner: RunOwner, after: int, allowed: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """Until the service stops, the run is removed, or the token is revoked."""
    service.readers += 1
    try:
        yield b": littlestone\n\n"
        while not service.stopping.is_set() and not owner.closing and allowed():
            bell = asyncio.ensure_future(owner.visible.bell())
            found = await _visible_after(owner, after, AHEAD)
            if found:
                bell.cancel()
                for release in found:  # one by one: each waits until the reader has room
                    yield wire.server_sent(release)
                after = found[-1].number
                continue
            stop = asyncio.ensure_future(service.stopping.wait())
            done, left = await asyncio.wait(
                (bell, stop), timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED
            )
            for task in left:
                task.cancel()
            if not done:
                yield b": alive\n\n"
    finally:
        service.readers -= 1


async def guarantee(service: Service, request: Request) -> Response:
    service.owner(request)
    asked = service.runs.asked(request.path_params["run"])
    return answered(wire.guarantee_out(asked, service.recipe(request)))


async def chain(service: Service, request: Request) -> Response:
    release = service.shown(request).release
    return answered(wire.ChainOut(release.number, release.chain.hex()))


async def predict(service: Service, request: Request) -> Response:
    """By the visible rule alone: this is a function of what is published."""
    shown = service.shown(request)
    labels = await labels_of(request, service.recipe(request), shown.hypothesis)
    return answered(wire.PredictionsOut(shown.release.number, labels))


async def labels_of(request: Request, recipe: PrivateLearner, rule: Hypothesis) -> list[int]:
    """What a published rule says of the points that were sent."""
    asked = decoded(await body_of(request), wire.PointsIn).points
    reader, names = point_reader(recipe.concepts.domain, "x"), wire.record_fields(recipe)
    canonical = []
    for place, point in enumerate(asked):
        if names is not None and not isinstance(point, dict):
            raise HTTPException(422, f"point {place} must be an object with {', '.join(names)}")
        try:
            values = [point] if names is None else [point.get(name) for name in names]
            _, known, misfit = reader(values)
        except Misfit as problem:
            misfit = problem
        if misfit is not None:
            raise HTTPException(422, f"point {place}: {misfit.field} {misfit.reason}")
        canonical.append(known)
    return [int(rule(point)) for point in canonical]


async def health(service: Service, _: Request) -> Response:
    """Well unless runs are still being opened; a run that cannot be keeps no other from working."""
    opening, broken = service.runs.opening, service.runs.broken
    state = {"ok": not opening, "version": __version__, "opening": opening, "broken": broken}
    return answered(state, 503 if opening else 200)


async def metrics(service: Service, _: Request) -> Response:
    """For Prometheus; only what readers may know."""
    lines = [
        "# TYPE littlestone_runs gauge",
        f"littlestone_runs {len(list(service.runs))}",
        "# TYPE littlestone_broken_runs gauge",
        f"littlestone_broken_runs {len(service.runs.broken)}",
        "# TYPE littlestone_event_streams gauge",
        f"littlestone_event_streams {service.readers}",
        "# TYPE littlestone_release counter",
        "# TYPE littlestone_round counter",
    ]
    for name in service.runs:
        newest = service.runs.owner(name).visible.newest
        if newest is not None:
            lines.append(f'littlestone_release{{run="{name}"}} {newest.release.number}')
            lines.append(f'littlestone_round{{run="{name}"}} {newest.release.round}')
    return PlainTextResponse("\n".join(lines) + "\n")
