"""Users counted in the service: each event says whose it is, and only so many of each are read."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.served import BUDGET, EVENTS, body, serving

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.http.client import ServiceError
from littlestone.http.run_thread import Refused, event_reader
from littlestone.http.service import Role
from littlestone.http.wire import EventIn
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event

COUNTED: dict[str, Any] = {"user": "user", "max_contributions": 2}
LINE: dict[str, Any] = {"concepts": "thresholds:8", "rounds": 100}


def mistakes(served: Any) -> int:
    """Rounds without an example are no mistakes, whatever their labels."""
    curve = served.client()._json("GET", "/runs/line/curve")
    return int(curve[-1]["mistakes"])


def test_no_more_events_of_a_user_are_read_than_was_promised(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        made = client.create("line", **LINE, **COUNTED)
        assert "to each 'user', of whose events at most 2 are read" in made["promise"]
        promised = client.guarantee("line")
        assert promised["protects"] == "one user, of whom at most 2 events are read"
        assert "vouched" not in promised["promise"] and promised["promise"] == made["promise"]
        wrong = 1 - int(client.predict("line", [3])[0])
        for name in ("Ann", " ann ", "ANN", "ann"):  # one person
            client.send("line", 3, wrong, user=name)
        assert mistakes(served) == 2
        client.send_many("line", [(3, wrong, 7), (3, wrong, "7.0"), (3, wrong, "07")])
        assert mistakes(served) == 4
    with serving(tmp_path) as served:  # and it is known who has come after a restart
        served.client().send("line", 3, wrong, user="ann")
        assert mistakes(served) == 4
        served.client().send("line", 3, wrong, user="Bo")
        assert mistakes(served) == 5


def test_the_store_itself_counts(tmp_path: Path) -> None:
    """As that of ``learn --user`` does: nobody can go on with it without counting."""
    with serving(tmp_path) as served:
        served.client().create("line", **LINE, **COUNTED)
        served.client().send_many("line", [(3, 1, "ann")] * 3)
        recipe = served.service.runs.hosted["line"].recipe
    store = tmp_path / "line" / "store"
    with pytest.raises(StoreError, match="counts events by 'user'"):
        DurableRun.resume(recipe, store)
    run = DurableRun.resume(recipe, store, users="user")
    receipts = run.take([Event("4", 3, 1, user="Ann"), Event("5", 3, 1, user="bo")])
    run.close()
    assert [one.over_limit for one in receipts] == [True, False]


def test_each_event_says_whose_it_is_or_none_does(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET, user="user")
        client.create("plain", concepts="keys", **BUDGET)
        for user in (None, "", " \u200b", "\ud800", ["ann"], True, 1.5, "x" * 257):
            sent = body(x="a", y=1) if user is None else body(x="a", y=1, user=user)
            status, _, answer = served.raw("POST", EVENTS, sent)
            assert status == 422, (user, answer)
        assert b"user must be given" in served.raw("POST", EVENTS, body(x="a", y=1))[2]
        with pytest.raises(ServiceError, match="this run does not count users"):
            client.send("plain", "a", 1, user="ann")
        lines = b'{"x": "a", "y": 1, "user": "ann"}\n{"x": "a", "y": 1}\n'
        status, _, answer = served.raw("POST", EVENTS, lines, Content_Type="application/x-ndjson")
        assert status == 200 and b'"taken":1,"refused":1' in answer
        assert client.send("abuse", "a", 1, user="bo")["round"] == 2


def test_an_id_belongs_to_its_user_and_nobody_hears_who_has_come(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET, user="user")
        first = client.send("abuse", "a", 1, id="one", user="ann")
        assert client.send("abuse", "a", 1, id="one", user="ANN")["repeated"]
        with pytest.raises(ServiceError, match="another example or user"):
            client.send("abuse", "a", 1, id="one", user="bo")
        # Whether somebody else has sent events of this user is not told by the receipt.
        other = served.client(Role.WRITER).send("abuse", "a", 1, id="one", user="ann")
        assert set(other) == set(first) and other["round"] == 2


def test_a_run_that_counts_users_says_so_for_good(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET, user="user")
    file = tmp_path / "abuse" / "run.json"
    file.write_text(file.read_text().replace('"user": "user"', '"user": null'))
    with serving(tmp_path) as served:
        assert served.client()._json("GET", "/health")["broken"] == 1


def test_what_becomes_of_an_event_does_not_depend_on_those_beside_it() -> None:
    """The users of a request are named together, if they can be."""
    recipe = PrivateMajority(concepts=Thresholds(8), rounds=100, epsilon=1.0)
    users: list[Any] = [
        "ann",
        "ANN ",
        "",
        "\u200b",
        "é",
        "a  b",
        "\ud800",
        "x" * 2_000,
        7,
        "7.0",
        None,
    ]
    sent: list[EventIn | str] = [EventIn(3, 1, user=user) for user in users]
    sent += ["a line that is no event", EventIn(9, 1, user="bo"), EventIn(3, 1, user="bo")]
    for counts in (False, True):
        read = event_reader(recipe, users=counts)
        alone = [read([str(place)], [one])[0] for place, one in enumerate(sent)]
        assert {isinstance(one, Refused) for one in alone} == {False, True}
        for some in (range(len(sent)), range(2), [0, 13], [0, 8], [0, 12], [4, 5], [13, 11, 0]):
            found = read(list(map(str, some)), [sent[place] for place in some])
            assert found == [alone[place] for place in some]
