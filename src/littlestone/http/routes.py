"""Answer readers and writers: what readers get depends on visible releases and the recipe only."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from littlestone import __version__
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import label_values
from littlestone.http import wire
from littlestone.http.limits import MOST_LINE, body_of, bounded, lines_of
from littlestone.http.run_thread import Outcome, Overloaded, Refused, RunThread, record_columns
from littlestone.http.service import Role, Service, described
from littlestone.http.wire import answered, decoded
from littlestone.learners.run import PrivateLearner
from littlestone.runs.intake.cells import Misfit
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.readers import point_reader
from littlestone.runs.published import release_line

PAGE: Final = 1_000  # releases in one answer
AHEAD: Final = 50  # releases that wait in memory for one reader of a stream
KEEP_ALIVE: Final = 15.0  # seconds between keep-alive comments


async def list_runs(service: Service, _: Request) -> Response:
    """List all runs."""
    return answered([described(service, name) for name in service.runs.names])


async def show_run(service: Service, request: Request) -> Response:
    """Show one run."""
    service.run_thread(request)
    return answered(described(service, request.path_params["run"]))


async def hypothesis(service: Service, request: Request) -> Response:
    """Return the newest visible release."""
    shown = service.shown(request)
    line = release_line(shown.release)
    return tagged(request, shown.tag, lambda: answered(line))


async def keys(service: Service, request: Request) -> Response:
    """Return the published keys, as JSON or as plain text."""
    shown = service.shown(request)
    listed = wire.listed_keys(shown)
    if listed is None:
        raise HTTPException(404, "this run publishes no list of keys; see hypothesis")
    if "text/plain" in request.headers.get("accept", ""):
        text = "".join(f"{_one_line(key)}\n" for key in listed)
        return tagged(request, shown.tag, lambda: PlainTextResponse(text))
    return tagged(request, shown.tag, lambda: answered(listed))


def _one_line(key: Any) -> str:
    """Escape a key so that it takes one line: the person who reports it chooses its text."""
    return key if isinstance(key, str) and key.isprintable() else json.dumps(key)


def tagged(request: Request, tag: str, made: Callable[[], Response]) -> Response:
    """Return the response, or 304 if the client already has it."""
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    response = Response(status_code=304) if tag in known else made()
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "no-cache"
    return response


async def releases(service: Service, request: Request) -> Response:
    """Return a page of releases after a number; stream all that follow to an event source."""
    thread = service.run_thread(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        after = number_of(request.headers.get("last-event-id"), request.query_params.get("after"))
        stream = _sent(service, thread, after, partial(service.may, request, Role.READER))
        return StreamingResponse(stream, media_type="text/event-stream")
    after = number_of(request.query_params.get("after"))
    found = await _visible_after(thread, after, PAGE)
    newest = thread.visible.newest
    return answered(wire.release_page(found, 0 if newest is None else newest.release.number))


def number_of(*texts: str | None) -> int:
    """Parse the first nonempty text as the number of a release; default 0."""
    text = next((text for text in texts if text), "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise HTTPException(422, f"after must be the number of a release, got {text[:40]!r}")
    return int(text)


async def _visible_after(thread: RunThread, after: int, page: int) -> list[Any]:
    """Return at most a page of visible releases after a number, from memory or from the store."""
    found = thread.visible.after(after)
    if found is None:
        newest = thread.visible.newest
        assert newest is not None
        most = min(page, newest.release.number - after)
        found = await thread.ask(lambda run: list(islice(run.releases(after=after), most)))
    return found[:page]


async def _sent(
    service: Service, thread: RunThread, after: int, allowed: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """Yield releases until the service stops, the run is deleted, or the token is revoked."""
    service.readers += 1
    try:
        yield b": littlestone\n\n"
        while not service.stopping.is_set() and not thread.closing and allowed():
            change = asyncio.ensure_future(thread.visible.change())
            found = await _visible_after(thread, after, AHEAD)
            if found:
                change.cancel()
                for release in found:  # one at a time: each waits until the reader has room
                    yield wire.server_sent(release)
                after = found[-1].number
                continue
            stop = asyncio.ensure_future(service.stopping.wait())
            done, left = await asyncio.wait(
                (change, stop), timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED
            )
            for task in left:
                task.cancel()
            if not done:
                yield b": alive\n\n"
    finally:
        service.readers -= 1


async def guarantee(service: Service, request: Request) -> Response:
    """Return the privacy guarantee of a run."""
    service.run_thread(request)
    run = service.runs.hosted[request.path_params["run"]]
    return answered(wire.guarantee_out(run.terms, run.recipe))


async def chain(service: Service, request: Request) -> Response:
    """Return the hash over everything published so far."""
    release = service.shown(request).release
    return answered(wire.ChainOut(release.number, release.chain.hex()))


async def predict(service: Service, request: Request) -> Response:
    """Predict by visible rules: the answer depends on published data only."""
    shown = service.shown(request)
    last = request.query_params.get("last") == "true"
    rule = shown.hypothesis if last else service.run_thread(request).visible.steady()
    labels = await labels_of(request, service.recipe(request), rule)
    return answered(wire.PredictionsOut(shown.release.number, labels, rule.describe()))


async def labels_of(request: Request, recipe: PrivateLearner, rule: Hypothesis) -> list[Any]:
    """Return the labels that a published rule predicts for the points in the request."""
    terms = decoded(await body_of(request), wire.PointsIn).points
    reader, names = point_reader(recipe.concepts.domain, "x"), record_columns(recipe)
    canonical = []
    for place, point in enumerate(terms):
        if names is not None and not isinstance(point, dict):
            fields = ", ".join(dict.fromkeys(names))
            raise HTTPException(422, f"point {place} must be an object with {fields}")
        try:
            values = [point] if names is None else [point.get(name) for name in names]
            _, known, misfit = reader(values)
        except Misfit as problem:
            misfit = problem
        if misfit is not None:
            raise HTTPException(422, f"point {place}: {misfit.field} {misfit.reason}")
        canonical.append(known)
    declared = label_values(recipe.concepts.domain)
    return [declared[rule(point)] for point in canonical]


async def health(service: Service, _: Request) -> Response:
    """Answer 200 unless runs are still being opened; a broken run does not affect the others.

    Anyone may ask, so runs are counted; their names are for readers (``GET /runs``).
    """
    opening, broken = len(service.runs.opening), len(service.runs.broken)
    state = {"ok": not opening, "version": __version__, "opening": opening, "broken": broken}
    return answered(state, 503 if opening else 200)


async def metrics(service: Service, _: Request) -> Response:
    """Report metrics for Prometheus: only what readers may know."""
    lines = [
        "# TYPE littlestone_runs gauge",
        f"littlestone_runs {len(service.runs.hosted)}",
        "# TYPE littlestone_broken_runs gauge",
        f"littlestone_broken_runs {len(service.runs.broken)}",
        "# TYPE littlestone_event_streams gauge",
        f"littlestone_event_streams {service.readers}",
        "# TYPE littlestone_release counter",
        "# TYPE littlestone_round counter",
    ]
    for name, run in service.runs.hosted.items():
        newest = run.thread.visible.newest
        if newest is not None:
            lines.append(f'littlestone_release{{run="{name}"}} {newest.release.number}')
            lines.append(f'littlestone_round{{run="{name}"}} {newest.release.round}')
    return PlainTextResponse("\n".join(lines) + "\n")


TURN: Final = 1_000  # events of a stream that are queued together


async def add_events(service: Service, request: Request) -> Response:
    """Accept events: one, a list, or a stream of JSON lines."""
    thread, holder = service.run_thread(request), request.state.holder
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-ndjson":
        return await _stream_in(service, thread, request)
    if kind != "application/json":
        raise HTTPException(415, "Content-Type must be application/json or application/x-ndjson")
    sent, many = sent_in(await bounded(request))
    receipts, worst = await _taken(thread, holder, sent)
    if not many:
        return answered(receipts[0], worst or 200)
    refused = sum(one.error is not None for one in receipts)
    status = worst if refused == len(receipts) else 200
    return answered(wire.EventsOut(len(receipts) - refused, refused, receipts), status or 200)


def sent_in(body: bytes) -> tuple[Sequence[wire.EventIn | str], bool]:
    """Decode the events of a body, and tell whether it holds a list; they fail separately."""
    each = wire.each_in(body, wire.EventIn)
    if each is not None:
        return each, True
    if body.lstrip().startswith(b"["):
        raise HTTPException(
            422,
            'a list of events must be sent as {"events": [...]}, or as JSON lines with '
            "Content-Type: application/x-ndjson",
        )
    content = decoded(body, wire.Sent)
    if (
        content.events is not msgspec.UNSET
        or content.x is msgspec.UNSET
        or isinstance(content.y, msgspec.UnsetType)
    ):
        raise HTTPException(
            422, "the body must be one event with x and y, or a list under events and nothing else"
        )
    return [wire.EventIn(content.x, content.y, content.id, content.user)], False


async def _taken(
    thread: RunThread, holder: str, sent: Sequence[wire.EventIn | str]
) -> tuple[list[wire.EventOut], int]:
    """Return the receipts of all events, and the status of the last rejection, or 0.

    Event ids belong to the ``holder``, whichever token the holder uses. Otherwise a client who
    guesses the id of an event could learn its content: sending it again succeeds only with the same
    content.
    """
    names = [getattr(one, "id", "") or secrets.token_hex(16) for one in sent]
    read = thread.read([f"{holder}/{name}" for name in names], sent)
    events = [one for one in read if isinstance(one, Event)]
    outcomes = iter(await thread.ask(events, len(sent)))
    receipts, worst = list[wire.EventOut](), 422 if len(events) < len(read) else 0
    for name, one in zip(names, read, strict=True):
        outcome: Outcome = one if isinstance(one, Refused) else next(outcomes)
        if isinstance(outcome, Refused):
            receipts.append(wire.EventOut(name, error=outcome.reason))
            worst = worst if outcome is one else outcome.status
        else:  # no release: with a clock, none is known before its publication time
            receipts.append(wire.EventOut(name, round=outcome.round, repeated=outcome.repeated))
    return receipts, worst


async def _stream_in(service: Service, thread: RunThread, request: Request) -> Response:
    """Accept events line by line, in groups as they arrive; return a summary."""
    taken, refused, first = 0, 0, list[wire.EventOut]()
    waiting = list[wire.EventIn | str]()

    async def flush() -> None:
        nonlocal taken, refused
        if not waiting:
            return
        # The token may be revoked during the stream.
        holder = service.require_role(request, Role.WRITER)
        receipts, _ = await _put_when_there_is_room(thread, holder, waiting)
        bad = [one for one in receipts if one.error is not None]
        taken, refused = taken + len(receipts) - len(bad), refused + len(bad)
        first.extend(bad[: 100 - len(first)])
        waiting.clear()

    async for line in lines_of(request):
        # A line that does not fit takes room, too: it does not move the commits of the others.
        too_long = f"a line exceeds {MOST_LINE:,} bytes"
        waiting.append(too_long if line is None else wire.alone(line, wire.EventIn))
        if len(waiting) >= TURN:
            await flush()
    await flush()
    return answered(wire.EventsOut(taken, refused, first), 200 if taken or not refused else 422)


async def _put_when_there_is_room(
    thread: RunThread, holder: str, sent: Sequence[wire.EventIn | str]
) -> tuple[list[wire.EventOut], int]:
    """Wait where a single request would be rejected with 429."""
    while True:
        try:
            return await _taken(thread, holder, sent)
        except Overloaded:
            await asyncio.sleep(0.05)
