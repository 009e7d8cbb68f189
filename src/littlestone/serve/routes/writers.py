"""What writers do: send events, one or many, and hear that they are on disk."""

import asyncio
import secrets
from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from littlestone.serve import wire
from littlestone.serve.desk import Reader, Service, answered, decoded, token_of
from littlestone.serve.guarding import body_of, lines_of
from littlestone.serve.owner import Overloaded, RunOwner
from littlestone.serve.tokens import Role
from littlestone.service.log.intake import Event

TURN: Final = 1_000  # events of a stream that wait together


async def add_events(service: Service, request: Request) -> Response:
    owner, reader = service.owner(request), service.reader(request)
    reader = partial(_scoped, reader, service.tokens.holder(token_of(request)) or "")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-ndjson":
        return await _stream_in(service, owner, reader, request)
    if kind != "application/json":
        raise HTTPException(415, "Content-Type must be application/json or application/x-ndjson")
    sent, many = sent_in(await body_of(request))
    receipts, worst = await _taken(owner, reader, sent)
    if not many:
        return answered(receipts[0], worst or 200)
    refused = sum(one.error is not None for one in receipts)
    status = worst if refused == len(receipts) else 200
    return answered(wire.EventsOut(len(receipts) - refused, refused, receipts), status or 200)


def sent_in(body: bytes) -> tuple[Sequence[wire.EventIn | str], bool]:
    """What was sent, and whether as a list, in which one that does not fit is refused alone."""
    try:
        content = decoded(body, wire.Sent)
    except HTTPException:
        each = wire.each_in(body, wire.EventIn)
        if each is None:
            raise
        return each, True
    sent = content.listed()
    if sent is None:
        raise HTTPException(422, "the body must be one event with x and y, or events alone")
    return sent, isinstance(content.events, list)


def _scoped(reader: Reader, holder: str, identity: str, sent: wire.EventIn) -> Event:
    """An event whose id is its writer's own, whichever token the writer has by now.

    Else whoever guesses the id of somebody's event could learn what is in it: sent again it is
    acknowledged if it is the same, and refused if it is another.
    """
    return reader(f"{holder}/{identity}", sent)


async def _taken(
    owner: RunOwner, reader: "Reader", sent: Sequence[wire.EventIn | str]
) -> tuple[list[wire.EventOut], int]:
    """The receipts of all, and the status that the last refusal would have alone, or 0."""
    events, receipts, worst = list[Event](), list[wire.EventOut | None](), 0
    names = [getattr(one, "id", "") or secrets.token_hex(16) for one in sent]
    for name, one in zip(names, sent, strict=True):
        try:
            if isinstance(one, str):
                raise ValueError(one)
            events.append(reader(name, one))
            receipts.append(None)
        except ValueError as problem:
            receipts.append(wire.EventOut(name, error=str(problem)))
            worst = 422
    outcomes = iter(await owner.take(events) if events else ())
    filled = []
    for name, known in zip(names, receipts, strict=True):
        if known is None:
            outcome = next(outcomes)
            known = wire.receipt(name, outcome)
            worst = getattr(outcome, "status", worst)
        filled.append(known)
    return filled, worst


async def _stream_in(
    service: Service, owner: RunOwner, reader: "Reader", request: Request
) -> Response:
    """Events line by line, taken in groups while they arrive; the answer is a summary."""
    taken, refused, first = 0, 0, list[wire.EventOut]()
    waiting = list[wire.EventIn]()

    async def flush() -> None:
        nonlocal taken, refused
        if not waiting:
            return
        service.role_of(request, Role.WRITER)  # the token may have been revoked meanwhile
        receipts, _ = await _patiently(owner, reader, waiting)
        bad = [one for one in receipts if one.error is not None]
        taken, refused = taken + len(receipts) - len(bad), refused + len(bad)
        first.extend(bad[: 100 - len(first)])
        waiting.clear()

    async for line in lines_of(request):
        try:
            waiting.append(decoded(line, wire.EventIn))
        except HTTPException as problem:
            refused += 1
            if len(first) < 100:
                first.append(wire.EventOut("", error=str(problem.detail)))
        if len(waiting) >= TURN:
            await flush()
    await flush()
    return answered(wire.EventsOut(taken, refused, first), 200 if taken or not refused else 422)


async def _patiently(
    owner: RunOwner, reader: "Reader", sent: list[wire.EventIn]
) -> tuple[list[wire.EventOut], int]:
    """A stream waits where a single request is sent away."""
    while True:
        try:
            return await _taken(owner, reader, sent)
        except Overloaded:
            await asyncio.sleep(0.05)
