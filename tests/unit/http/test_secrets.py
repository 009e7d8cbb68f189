"""Nothing that a reader can fetch holds anything that only the owner may know."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.http.served import BUDGET, Served, serving

from littlestone.http.app import ENDPOINTS
from littlestone.http.pages import PAGES
from littlestone.http.service import Role, Service

PLANTED = ("planted-point", "planted-id")


def everything_public(served: Served) -> bytes:
    """All that a reader gets: every route for readers, every content type, and the headers."""
    found = []
    for endpoint in ENDPOINTS:
        if endpoint.role in (None, Role.READER):
            path = endpoint.path.replace("{run}", "abuse")
            content = None if endpoint.takes is None else b'{"points": ["x"]}'
            for kind in ("application/json", "text/plain"):
                _, headers, answer = served.raw(
                    endpoint.method, path, content, Role.READER, Accept=kind
                )
                found += [answer, repr(headers).encode()]
    for method, path, _, _ in PAGES:
        if method == "GET" and "report" not in path:
            path = path.replace("{run}", "abuse")
            found.append(served.raw("GET", path, role=Role.READER)[2])
    with closing(served.client(Role.READER).follow("abuse")) as releases:
        found.append(repr(next(releases)).encode())
    found.append(served.raw("GET", "/openapi.json", role=None)[2])
    return b"\n".join(found)


def secrets_of(store: Path) -> list[bytes]:
    """What the store keeps that was never published: its key, its branch, its identity apart."""
    with closing(sqlite3.connect(store)) as connection:
        about = dict(connection.execute("SELECT name, value FROM about"))
    return [str(about[name]).encode() for name in ("key", "branch")]


def play(served: Served) -> None:
    client = served.client()
    client.create("abuse", concepts="keys", **BUDGET)
    client.send_many("abuse", [("listed", 1)] * 40)
    client.send("abuse", PLANTED[0], 1, id=PLANTED[1])


def test_no_reader_sees_a_secret(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        play(served)
        public = everything_public(served)
        assert b"listed" in public
        tokens = [token.encode() for token in served.tokens.values()]
        for secret in (*map(str.encode, PLANTED), *tokens):
            assert secret not in public
        assert b"mistakes" not in public.replace(b'"/runs/{run}/curve"', b"")
    for secret in secrets_of(tmp_path / "abuse" / "store"):
        assert secret not in public


def test_a_leak_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Service.shown

    def leaking(service: Service, request: object) -> object:
        shown = honest(service, request)  # type: ignore[arg-type]
        return shown._replace(release=shown.release._replace(body=b'{"x": "planted-point"}'))

    with serving(tmp_path) as served:
        play(served)
        monkeypatch.setattr(Service, "shown", leaking)
        assert PLANTED[0].encode() in everything_public(served)
