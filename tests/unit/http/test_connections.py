"""Connections of people who are not known yet: how many, how long, and what they can hold up."""

import re
import resource
import socket
import ssl
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.unit.http.served import BUDGET, Served, serving

from littlestone.http import limits
from littlestone.http import server as http_server
from littlestone.http.app import application
from littlestone.http.server import server
from littlestone.http.service import Role, Tokens

READERS = 500
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
UNWANTED = (
    b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100000\r\n\r\n"
)


def dial(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)


def following(served: Served) -> bytes:
    return (
        b"GET /runs/abuse/releases HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        b"Authorization: Bearer %b\r\n\r\n" % served.tokens[Role.READER].encode()
    )


def answer(line: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    try:
        while part := line.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def closes(line: socket.socket, drop: bytes) -> bool:
    """Whether somebody who sends a little, now and then, is sent away."""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            line.sendall(drop)
            time.sleep(0.05)
    except ConnectionError:
        return True
    return False


def watching(served: Served) -> bytes:
    """A stream that holds its connection, of somebody without a token."""
    return re.sub(rb"Authorization: [^\r]*\r\n", b"", following(served))


def beginning(line: socket.socket) -> bytes:
    return line.recv(12)


def answered(line: socket.socket, request: bytes) -> bytes:
    """The status: it has come, so the next request comes later than this one."""
    line.sendall(request)
    return beginning(line)[-3:]


def test_half_open_heads_shut_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven hundred connections that begin a head, and show no token; none of them ends."""
    monkeypatch.setattr(limits, "PATIENCE", 2 * PATIENCE)
    with serving(tmp_path) as served, ExitStack() as open_ones:
        served.client().create("abuse", concepts="keys", **BUDGET)
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(7)[1]))
        for _ in range(1100):
            open_ones.enter_context(dial(served)).sendall(HEALTH[:-4])
        for role in (Role.WRITER, Role.READER, None):
            assert served.raw("GET", "/health", role=role)[0] == 200
        assert served.client(Role.WRITER, patience=0.0).send("abuse", "a", 1)["round"] == 1
        assert len(served.running.server_state.connections) <= 1000 + limits.SPARE


def test_a_share_is_for_those_with_a_token(tmp_path: Path) -> None:
    with serving(tmp_path, connections=8, open_reading=True) as served, ExitStack() as open_ones:
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.close()
        strangers = [open_ones.enter_context(dial(served)) for _ in range(7)]
        answers = [answered(one, watching(served)) for one in strangers]
        assert answers == [b"200"] * 6 + [b"503"]
        assert served.raw("GET", "/health", role=None)[0] == 503
        known = [open_ones.enter_context(dial(served)) for _ in range(3)]
        assert [answered(one, following(served)) for one in known] == [b"200", b"200", b"503"]
        status, headers, content = served.raw("GET", "/health")
        assert (status, headers["retry-after"]) == (503, "1") and b"too many" in content
        for one in (*strangers, *known):
            one.close()
        until(lambda: served.raw("GET", "/health", role=None)[0] == 200)


def test_of_those_who_wait_the_oldest_gives_way(tmp_path: Path) -> None:
    with serving(tmp_path, connections=1) as served, ExitStack() as open_ones:
        lines = [open_ones.enter_context(dial(served)) for _ in range(limits.SPARE + 2)]
        assert answer(lines[0]) == b""
        lines[-1].sendall(HEALTH)
        assert beginning(lines[-1]) == b"HTTP/1.1 200"
        assert len(served.running.server_state.connections) <= 1 + limits.SPARE


# Of a test, for localhost: it keeps no secret.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0VwyPvp97+mI3FGg
a3cSMRkVcSgrGQgWet5N+lSwjIqhRANCAAQre8flB8OgwIekXBDf/2dUQI4hCiTr
moqIwJ465F9pAu1AW1sF3ckUknIWseIFqzf2Zcy54BUbnC4iJm4te1v1
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUNoKb+ZwILR8zUaM90dUsjD4Xo1EwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExOTE2MTEwMloYDzIxMjYxMDI2
MTYxMTAyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQre8flB8OgwIekXBDf/2dUQI4hCiTrmoqIwJ465F9pAu1AW1sF3ckU
knIWseIFqzf2Zcy54BUbnC4iJm4te1v1o28wbTAdBgNVHQ4EFgQUxAN+xuBDpCW1
q/vubnUOOdJg6yYwHwYDVR0jBBgwFoAUxAN+xuBDpCW1q/vubnUOOdJg6yYwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDRwAwRAIgUhNsnPeUPNVdBwHZvzdnEMqqzypJ1j9fu6XmQRRVvQcCICXM
70ehaSdqypdoobPlkSUGIhn3nKK5QH8R+MQ/19+I
-----END CERTIFICATE-----
"""


def test_of_those_in_a_handshake_the_oldest_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvicorn sees no connection before its TLS handshake is done."""
    monkeypatch.setattr(http_server, "PATIENCE", 2 * PATIENCE)
    (tmp_path / "pem").write_text(CERTIFICATE)
    files: Any = {"certificate": tmp_path / "pem", "private_key": tmp_path / "pem"}
    tokens, made = Tokens.fresh()
    app = application(tmp_path / "runs", tokens)
    running = http_server.server(app, port=0, connections=1, **files)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until(lambda: running.started)
    context = ssl.create_default_context(cafile=tmp_path / "pem")
    admission = running.config.http.admission  # type: ignore[union-attr]

    def dialled() -> socket.socket:
        return socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE)

    with ExitStack() as open_ones:
        lines = [open_ones.enter_context(dialled()) for _ in range(limits.SPARE + 2)]
        assert answer(lines[0]) == b""
        assert len(admission._waiting) == 1 + limits.SPARE
        lines[1].sendall(HEALTH)  # without TLS
        assert b"HTTP" not in answer(lines[1])
        request = HEALTH[:-2] + b"Authorization: Bearer %b\r\n\r\n" % made[Role.OWNER].encode()
        with context.wrap_socket(lines[-1], server_hostname="localhost") as line:
            assert answered(line, request) == b"200"
        running.stop()  # with the others in their handshakes
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_nobody_is_counted_for_ever(tmp_path: Path) -> None:
    with serving(tmp_path, connections=4) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.close()
        for _ in range(30):
            for head in (HEALTH, following(served), UNWANTED, b"GET"):
                with dial(served) as line:
                    line.sendall(head)
                    time.sleep(0.002)
        until(lambda: not served.running.server_state.connections)
        admission = served.running.config.http.admission  # type: ignore[union-attr]
        assert not (admission._waiting or admission._busy or admission._trusted)


def test_readers_of_five_hundred_fit(tmp_path: Path) -> None:
    with serving(tmp_path) as served, ExitStack() as open_ones:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        readers = [open_ones.enter_context(dial(served)) for _ in range(READERS)]
        for one in readers:
            one.sendall(following(served))
        for one in readers:
            assert one.recv(12) == b"HTTP/1.1 200"
        assert client.send("abuse", "a", 0)["round"] == 1


@pytest.mark.parametrize(
    ("ahead", "drop"),
    [
        (b"", b"\r\n"),
        (b"GET /health HTTP/1.1\r\nX: ", b"x"),
        (HEALTH, b"\r\n"),
        (HEALTH, b"G"),
        (UNWANTED, b" "),
    ],
    ids=["nothing", "a head", "nothing after an answer", "another head", "an unwanted body"],
)
def test_whoever_never_ends_is_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: bytes, drop: bytes
) -> None:
    monkeypatch.setattr(limits, "PATIENCE", 0.3)
    with serving(tmp_path) as served, dial(served) as line:
        line.sendall(ahead)
        assert closes(line, drop)


def test_whoever_reads_nothing_is_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PATIENCE", 0.3)
    with serving(tmp_path) as served, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", served.port))
        line.sendall(b"GET /static/uplot.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 90)
        until(lambda: not served.running.server_state.connections)


def test_whoever_listens_may_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as served, ExitStack() as open_ones:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        before = len(served.running.server_state.connections)
        line = open_ones.enter_context(dial(served))
        until(lambda: len(served.running.server_state.connections) > before)  # with long patience
        monkeypatch.setattr(limits, "PATIENCE", 0.3)
        line.sendall(HEALTH + following(served))  # at once: the second waits for the first
        time.sleep(0.6)
        client.send_many("abuse", [("k", 1)] * 40)
        heard = b""
        while b"id: 2" not in heard:
            more = line.recv(1 << 16)
            assert more
            heard += more


def test_a_body_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_PATIENCE", 0.3)
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        for kind in (b"application/json", b"application/x-ndjson"):
            with dial(served) as line:
                line.sendall(
                    b"POST /runs/abuse/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
                    b"Connection: close\r\n"
                    b"Content-Type: %b\r\nAuthorization: Bearer %b\r\n\r\n{"
                    % (kind, served.tokens[Role.WRITER].encode())
                )
                assert b" 408 " in answer(line)


def test_who_is_not_known_cannot_leave_much(tmp_path: Path) -> None:
    form = b"token=" + b"x" * (5 << 10)
    with serving(tmp_path) as served:
        kind = "application/x-www-form-urlencoded"
        assert served.raw("POST", "/login", form, None, Content_Type=kind)[0] == 413


def test_nobody_leaves_http(tmp_path: Path) -> None:
    """A websocket would be served by something that has none of these limits."""
    upgrade = (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA\r\n\r\n"
    )
    with serving(tmp_path) as served, dial(served) as line:
        line.sendall(upgrade)
        assert answer(line).startswith(b"HTTP/1.1 200")
        # Where no library for websockets is installed, uvicorn would answer so as well.
        assert served.running.config.ws == "none"


def test_more_connections_than_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 1024))
    with pytest.raises(ValueError, match=r"at most 774 .* ulimit -n"):
        server(application(tmp_path, Tokens(())), port=0, connections=775)
