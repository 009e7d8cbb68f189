"""Describe the service in OpenAPI, from its routes and its message types."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import msgspec

from littlestone import __version__
from littlestone.http.service import Role
from littlestone.http.wire import ErrorOut

WHAT = {
    201: "created",
    304: "unchanged: the ETag that was sent is current",
    404: "there is no such run or game, or it publishes nothing of the kind",
    408: "the body did not arrive in time",
    409: "the name or id is taken, or all rounds are played",
    413: "the body or a line is too long",
    415: "the content type is none of those below",
    422: "the body does not fit; nothing was changed",
    429: "too many events are waiting; try again later",
}

NEEDED = {
    Role.OWNER: "an owner’s token",
    Role.WRITER: "a writer’s or an owner’s token",
    Role.READER: "a reader’s or an owner’s token",
    Role.OPERATOR: "an operator’s or an owner’s token",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: the role it needs (None: no token), what it takes, and what it returns.

    ``statuses`` are those that do not follow from its path, its query, its body and its role.
    """

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

    @property
    def refusals(self) -> list[int]:
        """Return all statuses of answers other than ``success``."""
        found = {*self.statuses, 503}
        found |= {404} if "{" in self.path or "key" in self.query else set()
        found |= {408, 413, 415, 422} if self.takes is not None else set()
        found |= {422} if self.query else set()
        found |= {401, 403} if self.role is not None else set()
        return sorted(found)


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of all routes."""
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


def rendered(described: dict[str, Any]) -> str:
    """Render the document as HTML: each route, what it takes and what it returns."""
    shapes = described["components"]["schemas"]
    parts = [
        f"<p>OpenAPI {described['openapi']}, version {described['info']['version']} "
        '(<a href="/openapi.json">as JSON</a>). Send the token as '
        "<code>Authorization: Bearer …</code>.</p>"
    ]
    for path, operations in described["paths"].items():
        for method, one in operations.items():
            body = one.get("requestBody", {}).get("content", {})
            takes = f"<p>Takes {_kinds(body)}.</p>" if body else ""
            answers = "".join(
                f"<li><strong>{status}</strong> {escape(answer['description'])}"
                f"{': ' * ('content' in answer)}{_kinds(answer.get('content', {}))}</li>"
                for status, answer in one["responses"].items()
            )
            parts.append(
                f"<details><summary><code>{method.upper()} {escape(path)}</code> "
                f"{escape(one['summary'])}</summary><p>{escape(one.get('description', ''))}</p>"
                f"{takes}<ul>{answers}</ul></details>"
            )
    parts.append("<h2>Shapes</h2>")
    for name, shape in shapes.items():
        text = escape(json.dumps(shape, indent=1, ensure_ascii=False))
        parts.append(f'<details id="{name}"><summary>{name}</summary><pre>{text}</pre></details>')
    return "".join(parts)


def _kinds(content: dict[str, Any]) -> str:
    """Name the content types of a body, each linked to its shape."""
    kinds = []
    for kind, said in content.items():
        named = re.findall(r"#/components/schemas/(\w+)", json.dumps(said))
        shapes = ", ".join(f'<a href="#{name}">{name}</a>' for name in dict.fromkeys(named))
        kinds.append(f"<code>{kind}</code>{f' ({shapes})' * bool(shapes)}")
    return " or ".join(kinds)


def _operation(one: Endpoint, shape_of: dict[str, Any]) -> dict[str, Any]:
    error = {"application/json": {"schema": shape_of[str(ErrorOut)]}}
    given = shape_of[str(one.gives)] if one.gives is not None else {}
    good: dict[str, Any] = {"application/json": {"schema": given}}
    good |= {kind: {"schema": {"type": "string"}} for kind in one.also_gives}
    responses: dict[str, Any] = {
        str(one.success): {"description": WHAT.get(one.success, "done"), "content": good}
    }
    for status in one.refusals:
        responses[str(status)] = {"description": WHAT.get(status, "refused")}
        if status != 304:
            # A single rejected event has the reason in its receipt.
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
        operation["description"] = f"Needs {NEEDED[one.role]}."
    if one.takes is not None:
        content: dict[str, Any] = {"application/json": {"schema": shape_of[str(one.takes)]}}
        content |= {kind: {"schema": {"type": "string"}} for kind in one.also_takes}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameter(name: str, place: str) -> dict[str, Any]:
    named = place == "path" or name == "key"
    kind = {"type": "string"} if named else {"type": "integer", "minimum": 0}
    return {"name": name, "in": place, "required": named, "schema": kind}
