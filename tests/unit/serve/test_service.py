"""The service end to end: a real server, real sockets, a real store."""

import asyncio
import json
import socket
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.serve.served import BUDGET, Served, serving

from littlestone.client import Client, ServiceError
from littlestone.errors import StoreError
from littlestone.serve import owner as owner_module
from littlestone.serve import wire
from littlestone.serve.app import ENDPOINTS
from littlestone.serve.owner import Unavailable
from littlestone.serve.tokens import Role
from littlestone.service.durable import DurableRun
from littlestone.service.log.intake import Event
from littlestone.service.published import examine

EVENTS = "/runs/abuse/events"
CHUNKED = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
)


def body(**content: Any) -> bytes:
    return json.dumps(content).encode()


def with_keys(served: Served, **more: Any) -> Client:
    client = served.client()
    client.create("abuse", concepts="keys", **(BUDGET | more))
    return client


def test_what_is_sent_is_learned_and_published(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        assert client.keys("abuse") == []
        for place in range(30):
            assert client.send("abuse", "spam.example", 1)["round"] == place + 1
        assert client.keys("abuse") == ["spam.example"]
        assert client.predict("abuse", ["spam.example", "good.example"]) == [1, 0]
        assert client.guarantee("abuse")["epsilon"] == 5.0
        assert [one["release"] for one in client.releases("abuse")] == [1, 2]


def test_an_id_counts_once_and_only_with_its_example(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        first = client.send("abuse", "a", 1, id="one")
        again = client.send("abuse", "a", 1, id="one")
        assert (first["round"], again["round"], again["repeated"]) == (1, 1, True)
        with pytest.raises(ServiceError, match="another example"):
            client.send("abuse", "b", 1, id="one")
        assert client.send("abuse", "b", 1)["round"] == 2


def test_nobody_can_ask_what_is_in_somebody_elses_event(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        mine, other = served.client(Role.WRITER), served.client(Role.OWNER)
        assert mine.send("abuse", "secret", 1, id="report-1")["round"] == 1
        # The same id of another writer is another event, whatever is in it.
        assert other.send("abuse", "secret", 1, id="report-1")["round"] == 2
        assert other.send("abuse", "else", 1, id="report-2")["round"] == 3
        assert mine.send("abuse", "else", 1, id="report-2")["round"] == 4
        assert mine.send("abuse", "secret", 1, id="report-1")["repeated"]


def test_a_bug_tells_nobody_what_it_choked_on(
    tmp_path: Path, monkeypatch: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    def choking(_: object) -> None:
        raise KeyError("secret")

    with serving(tmp_path) as served:
        with_keys(served)
        monkeypatch.setattr(wire, "listed_keys", choking)
        status, _, content = served.raw("GET", "/runs/abuse/keys")
    assert status == 500 and b"secret" not in content and "secret" not in capfd.readouterr().err


def test_a_bad_event_fails_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("line", concepts="thresholds:8", **BUDGET)
        sent = [(1, 1), (8, 1), (2, 0), ("x", 1), (3, 1)]
        answer = served.client().send_many("line", sent)
        assert (answer["taken"], answer["refused"]) == (3, 2)
        assert [one.get("round") for one in answer["events"]] == [1, None, 2, None, 3]
        assert "no point of the class" in answer["events"][1]["error"]
        status, _, _ = served.raw("POST", "/runs/line/events", body(x=99, y=1))
        assert status == 422


def test_the_horizon_ends_politely(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served, rounds=3)
        answer = client.send_many("abuse", [("a", 0)] * 5)
        assert (answer["taken"], answer["refused"]) == (3, 2)
        assert served.raw("POST", EVENTS, body(x="a", y=0))[0] == 409


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
        long_line = body(x="a" * (70 << 10), y=1)
        assert served.raw("POST", EVENTS, long_line, Content_Type="application/x-ndjson")[0] == 413


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
        with socket.create_connection(("127.0.0.1", served.port), timeout=5) as drip:
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


def test_lines_stream_in(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        lines = [body(x=f"k{i}", y=0, id=str(i)) for i in range(2500)] + [b"garbage", b""]
        status, _, answer = served.raw(
            "POST", EVENTS, b"\n".join(lines), Content_Type="application/x-ndjson"
        )
        found = json.loads(answer)
        assert (status, found["taken"], found["refused"]) == (200, 2500, 1)


def test_an_owner_cannot_make_the_server_read_its_files(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,1\n1,0\n")
    with serving(tmp_path / "runs") as served:
        with pytest.raises(ServiceError, match="file of the server"):
            served.client().create("f", concepts=f"finite:{matrix}", **BUDGET)
        with pytest.raises(ServiceError, match="name must be"):
            served.client().create("../up", concepts="keys", **BUDGET)
        assert list(served.client()._json("GET", "/runs")) == []


def test_records_by_an_inline_schema(tmp_path: Path) -> None:
    schema = {"age": {"grid": [18, 65]}, "plan": {"values": ["free", "paid"]}}
    with serving(tmp_path) as served:
        client = served.client()
        client.create("rules", schema=schema, adversary="oblivious", **BUDGET)
        assert client.send("rules", {"age": 30, "plan": "paid"}, 1)["round"] == 1
        with pytest.raises(ServiceError, match="plan is not one of the declared values"):
            client.send("rules", {"age": 30, "plan": "stolen"}, 1)
        assert client.predict("rules", [{"age": 1, "plan": "free"}]) in ([0], [1])


ROLES = [None, Role.READER, Role.WRITER, Role.OWNER]


def test_each_route_is_for_its_role_only(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        for endpoint in ENDPOINTS:
            path = endpoint.path.replace("{run}", "abuse")
            content = None if endpoint.takes is None else b"{}"
            for role in ROLES:
                status, _, _ = served.raw(endpoint.method, path, content, role)
                allowed = endpoint.role is None or role in (endpoint.role, Role.OWNER)
                expected = {200, 422} if allowed else {401} if role is None else {403}
                assert status in expected, (endpoint, role, status)


def test_a_token_for_one_run_opens_no_other(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        tokens = served.service.tokens
        only = [
            entry if entry.role is not Role.READER else type(entry)(Role.READER, "a", entry.digest)
            for entry in tokens.entries
        ]
        served.service.tokens = type(tokens)(tuple(only))
        for name in ("a", "b"):
            served.client().create(name, concepts="keys", **BUDGET)
        assert served.raw("GET", "/runs/a/keys", role=Role.READER)[0] == 200
        assert served.raw("GET", "/runs/b/keys", role=Role.READER)[0] == 403


def test_an_unchanged_list_is_not_sent_again(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        _, headers, _ = served.raw("GET", "/runs/abuse/keys")
        tag = headers["etag"]
        assert served.raw("GET", "/runs/abuse/keys", If_None_Match=tag)[0] == 304
        client.send_many("abuse", [("k", 1)] * 40)
        status, headers, content = served.raw(
            "GET", "/runs/abuse/keys", If_None_Match=tag, Accept="text/plain"
        )
        assert (status, content) == (200, b"k\n") and headers["etag"] != tag


def test_a_key_is_one_line_of_a_list(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        client.send_many("abuse", [("x\nbank.example", 1)] * 40 + [("y\u2028z", 1)] * 40)
        _, _, content = served.raw("GET", "/runs/abuse/keys", Accept="text/plain")
        assert content.decode().splitlines() == ['"x\\nbank.example"', '"y\\u2028z"']


def test_a_number_that_nobody_counts_is_said_to_be_vouched_for(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served, max_contributions=2)
        for path in ("/runs/abuse", "/runs/abuse/guarantee", "/view/abuse"):
            assert b"vouched for, not enforced" in served.raw("GET", path)[2]


def test_readers_hear_of_releases_and_come_back_where_they_were(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        heard: list[int] = []

        def listen() -> None:
            with closing(served.client(Role.READER).follow("abuse")) as releases:
                heard.extend(next(releases)["release"] for _ in range(3))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        for name in "ab":
            client.send_many("abuse", [(name, 1)] * 40)
        listener.join(10)
        assert heard == [1, 2, 3]
        with closing(served.client().follow("abuse", after=2)) as later:
            assert next(later)["release"] == 3


def test_with_a_clock_nothing_is_seen_before_it_strikes(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served, publish_every=86_400.0)
        client.send_many("abuse", [("k", 1)] * 40)
        reader = served.client(Role.READER)
        assert reader.keys("abuse") == []
        assert [one["release"] for one in reader.releases("abuse")] == [1]
        assert reader.predict("abuse", ["k"]) == [0]
        visible = served.service.runs.owner("abuse").visible
        served.service.loop.call_soon_threadsafe(visible.show)  # the clock strikes
        assert reader.keys("abuse") == ["k"]
        assert reader.predict("abuse", ["k"]) == [1]
    with serving(tmp_path) as served:  # nor when the service starts again
        assert served.raw("GET", "/runs/abuse/keys", role=Role.READER)[0] == 503


def test_what_is_published_waits_for_no_question(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        owner, loop = served.service.runs.owner("abuse"), served.service.loop
        first, second = threading.Event(), threading.Event()
        reports = [Event(str(n), "k", 1, None, ("k", 1)) for n in range(40)]
        asked = [
            asyncio.run_coroutine_threadsafe(one, loop)
            for one in (
                owner.ask(lambda _: first.wait(10)),
                owner.ask(lambda _: second.wait(10)),
                owner.take(reports),
            )
        ]
        first.set()  # what waits behind it is one turn
        until = time.monotonic() + 5
        while served.client().keys("abuse") != ["k"]:
            assert time.monotonic() < until
        second.set()
        assert asked[1].result(10) and len(asked[2].result(10)) == 40


def test_why_a_run_cannot_be_opened_is_told_to_nobody(tmp_path: Path, monkeypatch: Any) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        owner, loop = served.service.runs.owner("abuse"), served.service.loop
        opening, gate = threading.Event(), threading.Event()

        def damaged() -> Any:
            opening.set()
            gate.wait(10)
            raise StoreError("the/store is damaged: ValueError('got secret')")

        def broken(*_: Any) -> Any:
            raise OSError("disk")

        monkeypatch.setattr(owner, "_opened", damaged)
        monkeypatch.setattr(DurableRun, "take", broken)
        event = Event("1", "k", 1, None, ("k", 1))
        lost = asyncio.run_coroutine_threadsafe(owner.take([event]), loop)
        assert opening.wait(10)
        behind = asyncio.run_coroutine_threadsafe(owner.take([event]), loop)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), loop).result(10)  # it waits by now
        gate.set()
        for answer in (lost, behind):
            with pytest.raises(Unavailable) as told:
                answer.result(10)
            assert "secret" not in str(told.value) and "the/store" not in str(told.value)
        status, _, content = served.raw("GET", "/runs/abuse")
        assert status == 503 and b"secret" not in content


def test_a_follower_comes_back_to_a_service_that_starts_again(monkeypatch: Any) -> None:
    answers = iter([ServiceError(503, "not open"), [{"release": 1}], ServiceError(403, "no")])

    def events(*_: Any) -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(Client, "_events", events)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with closing(Client("http://127.0.0.1:1").follow("abuse")) as releases:
        assert next(releases) == {"release": 1}
        with pytest.raises(ServiceError, match="403"):
            next(releases)


def test_a_stopped_service_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served).send_many("abuse", [("k", 1)] * 40)
        before = served.raw("GET", "/runs/abuse/releases")[2]
    with serving(tmp_path) as served:
        assert served.raw("GET", "/runs/abuse/releases")[2] == before
        assert served.client().send("abuse", "x", 0)["round"] == 41
    store = tmp_path / "abuse" / "store"
    published = tmp_path / "published.jsonl"
    published.write_text("".join(json.dumps(r) + "\n" for r in json.loads(before)["releases"]))
    assert examine(published, store).last == 2


def test_a_turn_that_fails_loses_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        client.send("abuse", "a", 1, id="first")
        take, failures = DurableRun.take, iter([OSError("disk"), OSError("disk")])

        def sometimes(run: DurableRun, *arguments: Any) -> Any:
            taken = take(run, *arguments)
            for failure in failures:
                raise failure  # after the commit: the answer is lost, the event is not
            return taken

        monkeypatch.setattr(DurableRun, "take", sometimes)
        answer = client.send("abuse", "b", 1, id="second")
        assert answer["round"] == 2 and answer["repeated"]
        assert client.send("abuse", "c", 1)["round"] == 3


def test_too_much_at_once_is_asked_to_come_back(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(owner_module, "MOST_WAITING", 10)
    with serving(tmp_path) as served:
        with_keys(served)
        many = body(events=[{"x": "a", "y": 0}] * 11)
        status, headers, _ = served.raw("POST", EVENTS, many)
        assert (status, headers["retry-after"]) == (429, "1")
        assert served.client().send("abuse", "a", 0)["round"] == 1
