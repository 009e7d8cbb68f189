"""What readers of a service are told, and when."""

import asyncio
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.unit.http.served import serving, with_keys

from littlestone.http import routes
from littlestone.http.client import Client, ServiceError
from littlestone.http.service import Role
from littlestone.runs.intake.event import Event


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
        listener.join(PATIENCE)
        assert heard == [1, 2, 3]
        with closing(served.client().follow("abuse", after=2)) as later:
            assert next(later)["release"] == 3


def test_a_reader_who_comes_late_is_sent_little_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    found = routes._visible_after

    async def counted(thread: Any, after: int, page: int) -> list[Any]:
        part = await found(thread, after, page)
        asked.append(len(part))
        return part

    monkeypatch.setattr(routes, "AHEAD", 2)
    monkeypatch.setattr(routes, "_visible_after", counted)
    with serving(tmp_path) as served:
        client = with_keys(served)
        for name in "abcd":
            client.send_many("abuse", [(name, 1)] * 40)
        with closing(served.client().follow("abuse")) as late:
            assert [next(late)["release"] for _ in range(5)] == [1, 2, 3, 4, 5]
        assert asked[:3] == [2, 2, 1]


@pytest.fixture
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Midnight, when a clock of days strikes, is far off."""
    told, began, day = time.time, time.time(), 86_400.0
    monkeypatch.setattr(time, "time", lambda: told() - began % day + day / 2)


@pytest.mark.usefixtures("_noon")
def test_with_a_clock_nothing_is_seen_before_it_strikes(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served, publish_every=86_400.0)
        client.send_many("abuse", [("k", 1)] * 40)
        reader = served.client(Role.READER)
        assert reader.keys("abuse") == []
        assert [one["release"] for one in reader.releases("abuse")] == [1]
        assert reader.predict("abuse", ["k"]) == [0]
        visible = served.service.runs.hosted["abuse"].thread.visible
        served.service.loop.call_soon_threadsafe(visible.show)  # the clock strikes
        assert reader.keys("abuse") == ["k"]
        assert reader.predict("abuse", ["k"]) == [1]


@pytest.mark.usefixtures("_noon")
def test_what_was_published_stays_published_when_the_service_starts_again(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = with_keys(served, publish_every=0.5)
        client.send_many("abuse", [("k", 1)] * 40)
        reader = served.client(Role.READER)
        newest = served.service.runs.hosted["abuse"].thread.visible._seen
        until(lambda: reader._json("GET", "/runs/abuse/releases")["newest"] == newest)
        assert reader.keys("abuse") == ["k"]
    # Long before the next stroke; what is committed meanwhile waits for it.
    (tmp_path / "abuse" / "run.json").write_text(
        (tmp_path / "abuse" / "run.json").read_text().replace('y": 0.5', 'y": 86400.0')
    )
    with serving(tmp_path) as served:
        reader = served.client(Role.READER, patience=0.0)
        assert reader.keys("abuse") == ["k"] and reader.predict("abuse", ["k"]) == [1]
        assert reader._json("GET", f"/runs/abuse/releases?after={newest}")["newest"] == newest
        served.client().send_many("abuse", [("later", 1)] * 40)
    with serving(tmp_path) as served:
        reader = served.client(Role.READER, patience=0.0)
        assert reader.keys("abuse") == ["k"] and reader.predict("abuse", ["later"]) == [0]
        assert [one["release"] for one in reader.releases("abuse")] == [*range(1, newest + 1)]
        served.service.loop.call_soon_threadsafe(
            served.service.runs.hosted["abuse"].thread.visible.show
        )
        assert sorted(reader.keys("abuse")) == ["k", "later"]


def test_what_is_published_waits_for_no_question(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with_keys(served)
        thread, loop = served.service.runs.hosted["abuse"].thread, served.service.loop
        first, second = threading.Event(), threading.Event()
        reports = [Event(str(n), "k", 1, None, ("k", 1)) for n in range(40)]

        async def answer(content: Any) -> Any:
            return await thread.ask(content)

        asked = [
            asyncio.run_coroutine_threadsafe(answer(content), loop)
            for content in (
                lambda _: first.wait(PATIENCE),
                lambda _: second.wait(PATIENCE),
                reports,
            )
        ]
        first.set()  # what waits behind it is one turn
        until(lambda: served.client().keys("abuse") == ["k"])
        second.set()
        assert asked[1].result(PATIENCE) and len(asked[2].result(PATIENCE)) == 40


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
