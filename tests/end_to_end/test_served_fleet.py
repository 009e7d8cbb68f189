"""A fleet behind the service: what is sent is queued, what workers publish can be read."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.fleets import NEEDS_A_SERVER, Fleet, uninterrupted, without_writes
from tests.patience import PATIENCE
from tests.server import Server
from tests.unit.http.served import Served, serving

from littlestone.choose.request import Request
from littlestone.http.fleet_routes import FleetRoutes
from littlestone.http.service import Role
from littlestone.learners.forms import canonical_form
from littlestone.runs.fleet import database
from littlestone.runs.fleet.terms import recipe_of
from littlestone.runs.published import release_line

pytestmark = NEEDS_A_SERVER
REQUEST = Request(over="thresholds:64", rounds=500, epsilon=2.0, learner="private-majority")
KEY = "store 7/Köln & co"


@pytest.fixture
def fleet(server: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Fleet:
    """As ``littlestone fleet init`` makes it."""
    return Fleet(server, tmp_path, REQUEST.recipe(), users=getattr(request, "param", None))


@pytest.fixture
def served(fleet: Fleet, tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "runs", fleet=FleetRoutes(fleet.server.dsn)) as served:
        yield served


def test_requests_that_wait_for_the_database_hold_up_no_other_thread(fleet: Fleet) -> None:
    """The clocks of runs write in such threads, and there are few."""
    answers = threading.Event()

    async def played() -> None:
        routes = FleetRoutes(fleet.server.dsn)
        waiting = [asyncio.ensure_future(routes.ask(lambda _: answers.wait())) for _ in range(100)]
        await asyncio.sleep(0)
        try:
            assert await asyncio.wait_for(asyncio.to_thread(str), PATIENCE) == ""
        finally:
            answers.set()
            await asyncio.gather(*waiting)
            routes.close()

    asyncio.run(played())


def sent(served: Served, events: list[dict[str, Any]], role: Role = Role.WRITER) -> Any:
    body = json.dumps({"events": events}).encode()
    status, _, answer = served.raw("POST", "/fleet/events", body, role)
    return status, json.loads(answer)


def events(key: str = KEY, count: int = 400) -> list[dict[str, Any]]:
    return [
        {"key": key, "number": n, "x": n * 29 % 64, "y": int(n * 29 % 64 >= 20)}
        for n in range(1, count + 1)
    ]


def test_what_is_sent_is_learned_by_workers_and_can_be_read(fleet: Fleet, served: Served) -> None:
    assert canonical_form(recipe_of(fleet.terms)) == canonical_form(fleet.recipe)
    mine, bad = events(), {"key": KEY, "number": 3, "x": 64, "y": 1}
    status, answer = sent(served, [*mine, bad])
    assert (status, answer["queued"]) == (200, 400)
    assert [one["place"] for one in answer["refused"]] == [400]
    here = f"?key={quote(KEY, safe='')}"
    assert served.raw("GET", "/fleet/hypothesis" + here, None, Role.READER)[0] == 404
    assert fleet.work() == 400
    assert sent(served, mine) == (200, {"queued": 400, "refused": []})  # again: no harm
    fleet.work()
    status, headers, line = served.raw("GET", "/fleet/hypothesis" + here, None, Role.READER)
    with database.connect(fleet.server.dsn) as connection:
        newest = database.newest_of(connection, fleet.terms, KEY)
        everything = list(database.releases(connection, KEY))
    assert newest is not None and newest.number == len(everything) > 1
    assert (status, line) == (200, release_line(newest))
    again = served.raw(
        "GET", "/fleet/hypothesis" + here, None, Role.READER, If_None_Match=headers["etag"]
    )
    assert again[0] == 304
    status, _, page = served.raw("GET", f"/fleet/releases{here}&after=1", None, Role.READER)
    assert status == 200
    chains = [one["chain"] for one in json.loads(page)["releases"]]
    assert chains == [one.chain.hex() for one in everything[1:]]
    points = json.dumps({"points": [0, 63]}).encode()
    status, _, found = served.raw("POST", "/fleet/predict" + here, points, Role.READER)
    rule = json.loads(line)
    assert status == 200 and json.loads(found)["release"] == rule["release"] == newest.number
    status, _, told = served.raw("GET", "/fleet", None, Role.READER)
    standing = json.loads(told)
    assert standing["status"]["rounds"] == 400 and "ε = 2" in standing["promise"]


def test_what_does_not_fit_is_refused_and_roles_are_kept(fleet: Fleet, served: Served) -> None:
    first = events(count=1)
    assert sent(served, [{**first[0], "number": 501}])[0] == 422
    assert sent(served, [{**first[0], "key": ""}])[0] == 422
    status, answer = sent(served, [{**first[0], "key": "ö" * 1024}, *first])
    assert (status, answer["queued"]) == (200, 1) and "bytes" in answer["refused"][0]["error"]
    assert fleet.work() == 1  # no key is too long for the table
    assert sent(served, first, Role.READER)[0] == 403
    assert served.raw("GET", "/fleet/hypothesis", None, Role.READER)[0] == 422
    assert served.raw("GET", "/fleet", None, None)[0] == 401
    assert fleet.status()["waiting"] == 0
    described = json.loads(served.raw("GET", "/openapi.json")[2])
    assert "/fleet/events" in described["paths"]


def test_readers_do_not_wait_for_somebody_who_puts_a_file(fleet: Fleet, served: Served) -> None:
    with database.connect(fleet.server.dsn) as other, other.transaction():
        other.execute("SELECT FROM littlestone.fleet FOR UPDATE")
        assert sent(served, events(count=1))[0] == 503
        assert served.raw("GET", "/fleet", None, Role.READER)[0] == 200
    assert sent(served, events(count=1))[0] == 200


def test_a_database_that_is_gone_is_told_and_found_again(fleet: Fleet, served: Served) -> None:
    fleet.server.stop("immediate")
    try:
        assert served.raw("GET", "/fleet", None, Role.READER)[0] == 503
    finally:
        fleet.server.start()
    assert served.raw("GET", "/fleet", None, Role.READER)[0] == 200


def test_a_database_that_only_reads_is_told_and_found_again(fleet: Fleet, served: Served) -> None:
    """A session that began on a standby would stay there."""
    assert sent(served, events(count=1))[0] == 200
    with without_writes(fleet.server):
        served.raw("GET", "/fleet", None, Role.READER)  # finds out that its session has ended
        for _ in range(2):
            assert served.raw("GET", "/fleet", None, Role.READER)[0] == 200
            assert sent(served, events(count=2))[0] == 503
    assert sent(served, events(count=2))[0] == 200


@pytest.mark.parametrize("fleet", ["customer"], indirect=True)
def test_users_are_counted_where_the_fleet_counts_them(fleet: Fleet, served: Served) -> None:
    mine = events(count=3)
    assert sent(served, mine)[0] == 422
    status, answer = sent(served, [{**mine[0], "user": "Ann"}, mine[1]])
    assert (status, answer["queued"]) == (200, 1) and "customer" in answer["refused"][0]["error"]
    assert sent(served, [{**one, "user": "ann"} for one in mine])[1]["queued"] == 3
    assert fleet.work() == 3
    examples = [(one["x"], one["y"]) for one in mine]
    assert fleet.content() == uninterrupted(fleet, {KEY: examples}, {(KEY, 2), (KEY, 3)})
    told = json.loads(served.raw("GET", "/fleet", None, Role.READER)[2])
    assert "to each 'customer'" in told["promise"]


@pytest.mark.parametrize("fleet", ["customer"], indirect=True)
def test_a_user_that_cannot_be_one_refuses_no_other_event(fleet: Fleet, served: Served) -> None:
    first, second = events(count=2)
    status, answer = sent(served, [{**first, "user": "ann"}, {**second, "user": "b" * 1024}])
    assert (status, answer["queued"]) == (200, 1)
    assert [one["place"] for one in answer["refused"]] == [1] and fleet.work() == 1


def test_a_list_under_two_names_is_refused_whatever_it_holds(fleet: Fleet, served: Served) -> None:
    good, bad = (json.dumps(one).encode() for one in ({**events(count=1)[0]}, {"key": KEY}))
    for one in (good, bad):
        body = b'{"events": [%b], "events": [%b]}' % (good, one)
        assert served.raw("POST", "/fleet/events", body, Role.WRITER)[0] == 422
    assert fleet.status()["waiting"] == 0


def test_users_are_refused_where_nobody_is_counted(fleet: Fleet, served: Served) -> None:
    status, answer = sent(served, [{**events(count=1)[0], "user": "ann"}])
    assert status == 422 and "users are not counted" in answer["refused"][0]["error"]
