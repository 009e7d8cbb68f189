"""What the service refuses: what does not fit, has no end, or is not for this role."""

import gzip
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.unit.http.served import BUDGET, EVENTS, body, serving, with_keys

from littlestone.http import routes
from littlestone.http.app import ENDPOINTS
from littlestone.http.client import ServiceError
from littlestone.http.service import Role

CHUNKED = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
)


MISFITS = [
    b"",
    b"{",
    b"[" * 100_000,
    b'{"x": "\\ud800", "y": 1}',
    b'{"x": "a", "y": 2}',
    b'{"x": "a", "y": 1, "z": 0}',
    b'{"x": NaN, "y": 1}',
    b'{"x": 1e400, "y": 1}',
    b'{"x": "a", "y": 1, "id": ""}',
    b'{"events": []}',
    b'{"events": 3}',
    b'{"events": [{"x": "a", "y": 1}], "x": "a", "y": 1}',
    b'{ "id": "one" }',
    b"\xff\xfe",
    b'{"x": {"deep": ["er"]}, "y": 1}',
    b'{"x": null, "y": 1}',
]


def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        for sent in MISFITS:
            status, _, answer = served.raw("POST", EVENTS, sent)
            assert status == 422 and json.loads(answer)["error"], sent
        assert client.send("abuse", "a", 1)["round"] == 1


def test_sizes_kinds_and_hosts_are_limited(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        assert served.raw("POST", EVENTS, b" " * (5 << 20))[0] == 413
        assert served.raw("POST", EVENTS, b"x=1", Content_Type="text/plain")[0] == 415
        assert served.raw("GET", "/runs", Host="evil.example")[0] == 400


def test_a_compressed_body_is_told_so(tmp_path: Path) -> None:
    """In place of malformed JSON, which its sender would look for in vain."""
    with serving(tmp_path) as served:
        client = with_keys(served)
        packed = gzip.compress(body(x="a", y=1))
        kinds = ("application/json", "application/x-ndjson")
        for path, kind in (*((EVENTS, kind) for kind in kinds), ("/runs", kinds[0])):
            status, _, answer = served.raw(
                "POST", path, packed, Content_Type=kind, Content_Encoding="gzip"
            )
            assert status == 415 and "send no Content-Encoding" in json.loads(answer)["error"]
        plain = body(x="a", y=1)
        assert served.raw("POST", EVENTS, plain, Content_Encoding="identity")[0] == 200
        assert client.send("abuse", "a", 1)["round"] == 2


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_a_line_that_is_too_long_is_refused_by_itself(tmp_path: Path, ending: bytes) -> None:
    short, long = body(x="a", y=1), body(x="a" * (1 << 20), y=1)
    with serving(tmp_path) as served:
        with_keys(served)
        for lines, taken in (([short, long, short], 2), ([long], 0), ([short, long], 1)):
            sent = b"\n".join(lines) + ending
            status, _, answer = served.raw(
                "POST", EVENTS, sent, Content_Type="application/x-ndjson"
            )
            told = json.loads(answer)
            assert (status, told["taken"], told["refused"]) == (200 if taken else 422, taken, 1)
            assert "exceeds 65,536 bytes" in told["events"][0]["error"]


def test_a_line_that_does_not_fit_moves_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is taken together depends on how many lines there are, not on what they hold."""
    together = list[int]()

    async def told(thread: Any, holder: str, sent: Any) -> Any:
        together.append(len(sent))
        return await taken(thread, holder, sent)

    taken = routes._taken
    monkeypatch.setattr(routes, "TURN", 2)
    monkeypatch.setattr(routes, "_taken", told)
    good = body(x="a", y=1)
    with serving(tmp_path) as served:
        with_keys(served)
        for odd in (good, b"{", body(x="a" * (1 << 20), y=1)):
            lines = b"\n".join([good, odd, good, good, good])
            served.raw("POST", EVENTS, lines, Content_Type="application/x-ndjson")
            assert together[-3:] == [2, 2, 1]


DEEP = b"[" * 5_000 + b"]" * 5_000


@pytest.mark.parametrize(
    "odd",
    [b'{"x": %b, "y": 1}' % DEEP, b'{"x": "\xff", "y": 1}', b'{"x": "\\ud800", "y": 1}',
     b'{"x": NaN, "y": 1}', b'{"x": 1e999, "y": 1}', b'{"x": "]}, {", "y": 7}', b"", b"3",
     b'{"x": "\\"]}", "z": 1}', b'{"x" 3}'],
)  # fmt: skip
def test_an_event_of_a_list_is_refused_by_itself(tmp_path: Path, odd: bytes) -> None:
    """Whatever it holds, as far as the list around it can be told."""
    good = [b'{"x": "a", "y": 1}', b' {"y": 0, "x": "b,[{\\"\\\\"}']
    sent = b'{"events": [%b]}\n' % b", ".join([good[0], odd, good[1], good[0]])
    with serving(tmp_path) as served:
        with_keys(served)
        status, _, answer = served.raw("POST", EVENTS, sent)
        told = json.loads(answer)
        assert (status, told["taken"], told["refused"]) == (200, 3, 1)
        assert [one.get("round") for one in told["events"]] == [1, None, 2, 3]


@pytest.mark.parametrize(
    ("ahead", "drop"),
    [
        (b"GET /health HTTP/1.1\r\nX-Long: ", b"x" * 1024),
        (b"GET /health HTTP/1.1\r\n", b"A: b\r\n" * 170),
        (CHUNKED + b"X-Long: ", b"x" * 1024),
        (CHUNKED, b"A: b\r\n" * 170),
        (CHUNKED[:-3], b"1;" + b"x" * 1024),
        (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000),
    ],
    ids=["long head", "many lines", "long tail", "many lines after", "long chunk", "many requests"],
)
def test_what_has_no_end_is_refused(tmp_path: Path, ahead: bytes, drop: bytes) -> None:
    """However slowly it comes: nobody has to be known here to send it, and it must not be kept."""
    with serving(tmp_path) as served:
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as drip:
            answer = b""
            try:
                drip.sendall(ahead)
                for _ in range((2 << 20) // len(drop) + 1):
                    drip.sendall(drop)
                while more := drip.recv(1 << 16):
                    answer = answer[-100:] + more
            except ConnectionError:  # closed, which may overtake the answer
                answer = b"HTTP/1.1 400 and too long"
        assert b"HTTP/1.1 400" in answer and b"too long" in answer
        assert served.raw("GET", "/health", X_Long="x" * 20_000)[0] == 200


def test_an_owner_cannot_make_the_server_read_its_files(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,1\n1,0\n")
    with serving(tmp_path / "runs") as served:
        with pytest.raises(ServiceError, match="file of the server"):
            served.client().create("f", concepts=f"finite:{matrix}", **BUDGET)
        with pytest.raises(ServiceError, match="name must be"):
            served.client().create("../up", concepts="keys", **BUDGET)
        assert list(served.client()._json("GET", "/runs")) == []


ROLES = [None, Role.READER, Role.WRITER, Role.OWNER]


def test_each_route_is_for_its_role_only(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served).send("abuse", "a", 1)
        for endpoint in ENDPOINTS:
            path = endpoint.path.replace("{run}", "abuse")
            content = None if endpoint.takes is None else b"{}"
            for role in ROLES:
                status, _, _ = served.raw(endpoint.method, path, content, role)
                allowed = endpoint.role is None or role in (endpoint.role, Role.OWNER)
                expected = {200, 409, 422} if allowed else {401} if role is None else {403}
                assert status in expected, (endpoint, role, status)


def test_a_token_for_one_run_opens_no_other(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        tokens = served.service.tokens
        only = [
            replace(entry, run="a") if entry.role is Role.READER else entry
            for entry in tokens.entries
        ]
        served.service.tokens = type(tokens)(tuple(only))
        for name in ("a", "b"):
            served.client().create(name, concepts="keys", **BUDGET)
        assert served.raw("GET", "/runs/a/keys", role=Role.READER)[0] == 200
        assert served.raw("GET", "/runs/b/keys", role=Role.READER)[0] == 403
