"""The document that describes the service, made from its routes and the types on the wire."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from littlestone import __version__
from littlestone.serve.tokens import Role
from littlestone.serve.wire import ErrorOut

WHAT = {
    201: "created",
    304: "not changed since the ETag that was sent",
    404: "there is no such run or game, or it publishes nothing of the kind",
    408: "the body did not come in time",
    409: "the name or id is taken, or all rounds are played",
    413: "the body or a line is too long",
    415: "the content type is none of those below",
    422: "what was sent does not fit; nothing was changed",
    429: "too much is waiting; come back later",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: who may use it (None: everybody), what it takes, what it gives."""

    method: str
    path: str
    role: Role | None
    answer: Callable[..., Awaitable[Any]]
    takes: Any = None
    gives: Any = None
    statuses: tuple[int, ...] = ()
    success: int = 200
    also_takes: tuple[str, ...] = ()
    also_gives: tuple[str, ...] = ()
    query: tuple[str, ...] = ()


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """OpenAPI 3.1 for all routes."""
    kinds = [kind for one in endpoints for kind in (one.takes, one.gives) if kind is not None]
    shapes, components = msgspec.json.schema_components(
        [*kinds, ErrorOut], ref_template="#/components/schemas/{name}"
    )
    shape_of = dict(zip(map(str, [*kinds, ErrorOut]), shapes, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, shape_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "littlestone", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Endpoint, shape_of: dict[str, Any]) -> dict[str, Any]:
    error = {"application/json": {"schema": shape_of[str(ErrorOut)]}}
    given = shape_of[str(one.gives)] if one.gives is not None else {}
    good: dict[str, Any] = {"application/json": {"schema": given}}
    good |= {kind: {"schema": {"type": "string"}} for kind in one.also_gives}
    responses: dict[str, Any] = {
        str(one.success): {"description": WHAT.get(one.success, "done"), "content": good}
    }
    late = () if one.takes is None else (408,)
    known = () if one.role is None else (401, 403)
    refusals = (*one.statuses, *late, *known, 503)
    for status in refusals:
        responses[str(status)] = {"description": WHAT.get(status, "refused")}
        if status != 304:
            # A single event that is refused is told so in its receipt.
            responses[str(status)]["content"] = (
                error if one.takes is None or status < 409 else {"application/json": {}}
            )
    operation: dict[str, Any] = {
        "operationId": getattr(one.answer, "__name__", one.path),
        "summary": (one.answer.__doc__ or one.path).strip().partition("\n")[0],
        "responses": responses,
        "parameters": [_parameter(name, "path") for name in re.findall(r"{(\w+)}", one.path)]
        + [_parameter(name, "query") for name in one.query],
    }
    if one.role is not None:
        operation["security"] = [{"token": []}]
        operation["description"] = f"Needs a token of a {one.role} or an owner."
    if one.takes is not None:
        content: dict[str, Any] = {"application/json": {"schema": shape_of[str(one.takes)]}}
        content |= {kind: {"schema": {"type": "string"}} for kind in one.also_takes}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameter(name: str, place: str) -> dict[str, Any]:
    named = place == "path" or name == "key"
    kind = {"type": "string"} if named else {"type": "integer", "minimum": 0}
    return {"name": name, "in": place, "required": named, "schema": kind}
