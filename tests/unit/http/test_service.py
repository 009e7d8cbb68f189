"""The service end to end: a real server, real sockets, a real store."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.unit.http.served import BUDGET, EVENTS, body, serving, with_keys

from littlestone.errors import StoreError
from littlestone.http import run_thread, wire
from littlestone.http.client import Client, ServiceError
from littlestone.http.run_thread import Unavailable
from littlestone.http.service import Role
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.published import examine


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
        assert "not a point of the class" in answer["events"][1]["error"]
        status, _, _ = served.raw("POST", "/runs/line/events", body(x=99, y=1))
        assert status == 422


@pytest.mark.parametrize(
    "bad",
    [b'{"x": 1, "y": 2}', b'{"x": 1, "y": true}', b'{"x": 1}', b'{"x": 1, "y": 1, "z": 1}',
     b'{"x": NaN, "y": 1}', b'{"x": 1e400, "y": 1}', b'{"x": "\\ud800", "y": 1}', b"3",
     b'{"x": 1, "y": 1, "id": "\\ud800"}', b'{"x": ' + b"9" * 5000 + b', "y": 1}'],
)  # fmt: skip
def test_an_event_that_is_none_fails_alone(tmp_path: Path, bad: bytes) -> None:
    """Else one event would decide whether the others of its request are rounds."""
    with serving(tmp_path) as served:
        served.client().create("line", concepts="thresholds:8", **BUDGET)
        sent = b'{"events": [{"x": 1, "y": 1}, ' + bad + b', {"x": 2, "y": 0}]}'
        status, _, content = served.raw("POST", "/runs/line/events", sent)
        answer = json.loads(content)
        assert (status, answer["taken"], answer["refused"]) == (200, 2, 1)
        assert [one.get("round") for one in answer["events"]] == [1, None, 2]
        error = answer["events"][1]["error"]
        assert "does not fit" in error or "label must be 0 or 1" in error


def test_a_client_sends_nothing_that_is_no_json() -> None:
    for odd in (float("nan"), {1, 2}, float("inf")):
        with pytest.raises(ValueError, match="nothing was sent"):
            Client("http://localhost:1").send_many("line", [(1, 1), (odd, 1)])


def test_the_horizon_ends_politely(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served, rounds=3)
        answer = client.send_many("abuse", [("a", 0)] * 5)
        assert (answer["taken"], answer["refused"]) == (3, 2)
        assert served.raw("POST", EVENTS, body(x="a", y=0))[0] == 409


def test_lines_stream_in(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        lines = [body(x=f"k{i}", y=0, id=str(i)) for i in range(2500)] + [b"garbage", b""]
        status, _, answer = served.raw(
            "POST", EVENTS, b"\n".join(lines), Content_Type="application/x-ndjson"
        )
        found = json.loads(answer)
        assert (status, found["taken"], found["refused"]) == (200, 2500, 1)


def test_records_by_an_inline_schema(tmp_path: Path) -> None:
    schema = {"age": {"grid": [18, 65]}, "plan": {"values": ["free", "paid"]}}
    with serving(tmp_path) as served:
        client = served.client()
        client.create("rules", schema=schema, adversary="oblivious", **BUDGET)
        assert client.send("rules", {"age": 30, "plan": "paid"}, 1)["round"] == 1
        with pytest.raises(ServiceError, match="plan is not one of the declared values"):
            client.send("rules", {"age": 30, "plan": "stolen"}, 1)
        assert client.predict("rules", [{"age": 1, "plan": "free"}]) in ([0], [1])


def test_labels_are_sent_and_predicted_as_they_are_declared(tmp_path: Path) -> None:
    schema = {"age": {"grid": [18, 65]}, "label": {"values": ["no", "yes", 7]}}
    with serving(tmp_path) as served:
        client = served.client()
        client.create("rules", schema=schema, **BUDGET)
        truth: dict[int, int | str] = {1: "no", 30: "yes", 70: 7}
        for _ in range(3):
            client.send_many("rules", [({"age": age}, truth[age]) for age in truth] * 300)
        points = [{"age": age} for age in truth]
        assert client.predict("rules", points) == list(truth.values())
        assert "'yes'" in client.hypothesis("rules")["rule"]
        for unknown in ("maybe", 1, ""):
            with pytest.raises(ServiceError, match="label must be one of the declared values"):
                client.send("rules", {"age": 30}, unknown)
        sent = client.send_many("rules", [({"age": 30}, "yes"), ({"age": 30}, "maybe")])
        assert (sent["taken"], sent["refused"]) == (1, 1)


@pytest.mark.parametrize("label", [2, -1, "1", "late"])
def test_without_declared_labels_they_are_0_and_1(tmp_path: Path, label: Any) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served)
        with pytest.raises(ServiceError, match="label must be 0 or 1"):
            client.send("abuse", "spam.example", label)


def test_why_a_run_cannot_be_opened_is_told_to_nobody(tmp_path: Path, monkeypatch: Any) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        thread, loop = served.service.runs.hosted["abuse"].thread, served.service.loop
        opening, gate = threading.Event(), threading.Event()

        def damaged() -> Any:
            opening.set()
            gate.wait(PATIENCE)
            raise StoreError("the/store is damaged: ValueError('got secret')")

        def broken(*_: Any) -> Any:
            raise OSError("disk")

        monkeypatch.setattr(thread, "_opened", damaged)
        monkeypatch.setattr(DurableRun, "take", broken)
        event = Event("1", "k", 1, None, ("k", 1))

        async def sent() -> Any:
            return await thread.ask([event])

        lost = asyncio.run_coroutine_threadsafe(sent(), loop)
        assert opening.wait(PATIENCE)
        behind = asyncio.run_coroutine_threadsafe(sent(), loop)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), loop).result(
            PATIENCE
        )  # it waits by now
        gate.set()
        for answer in (lost, behind):
            with pytest.raises(Unavailable) as told:
                answer.result(PATIENCE)
            assert "secret" not in str(told.value) and "the/store" not in str(told.value)
        status, _, content = served.raw("GET", "/runs/abuse")
        assert status == 503 and b"secret" not in content


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


GOOD, BAD = {"x": "a", "y": 0}, {"x": [], "y": 7}


@pytest.mark.parametrize("events", [[GOOD] * 11, [*[GOOD] * 10, BAD], [BAD] * 11])
def test_too_much_at_once_is_asked_to_come_back(
    events: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """Whether there is room for the others does not depend on which events fit."""
    monkeypatch.setattr(run_thread, "MOST_WAITING", 10)
    with serving(tmp_path) as served:
        with_keys(served)
        many = body(events=events)
        status, headers, _ = served.raw("POST", EVENTS, many)
        assert (status, headers["retry-after"]) == (429, "1")
        assert served.client().send("abuse", "a", 0)["round"] == 1


def test_a_date_is_sent_under_the_name_of_its_column(tmp_path: Path) -> None:
    """All its parts come from one value, as in files."""
    with serving(tmp_path) as served:
        client = served.client()
        schema = {"left": {"date": ["hour", "weekday"]}, "x": {"grid": [0]}}
        client.create("dates", schema=schema, rounds=1000)
        record = {"left": "2013-01-01 05:15", "x": 1}
        assert client.send("dates", record, 1)["round"] == 1
        assert client.predict("dates", [record]) in ([0], [1])
        status, _, answer = served.raw("POST", "/runs/dates/events", body(x={"x": 1}, y=1))
        assert status == 422 and "left.hour is missing" in json.loads(answer)["error"]
