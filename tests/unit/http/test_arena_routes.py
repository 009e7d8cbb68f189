"""The arena behind HTTP: who may play, what is refused, and when answers leave."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.unit.http.served import serving

from littlestone.http import arena as arena_routes
from littlestone.http.arena import arena_application
from littlestone.http.limits import HEADERS
from littlestone.http.pages import POLICIES
from littlestone.http.server import server
from littlestone.http.service import Role
from littlestone.lab.arena.sessions import MOST_SESSIONS

FOOL = {"board": "line", "learner": "standard-optimal", "epsilon": 2}
TELL = {"learner": "keys", "wanted": "broken"}


class Played:
    """An arena on a free port."""

    def __init__(self, port: int, arena: arena_routes.Arena) -> None:
        self.port, self.arena = port, arena

    def raw(self, method: str, path: str, body: Any = None) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, response.headers, content

    def ask(self, path: str, body: Any) -> Any:
        status, _, content = self.raw("POST", path, body)
        assert status < 300, content
        return json.loads(content)


@contextmanager
def playing() -> Iterator[Played]:
    app = arena_application()
    running = server(app, port=0)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until(lambda: running.started or not thread.is_alive())
    try:
        yield Played(running.servers[0].sockets[0].getsockname()[1], app.state.service)
    finally:
        running.stop()
        thread.join(PATIENCE)


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    with playing() as arena:
        yield arena


def test_a_game_is_played_to_its_end(played: Played) -> None:
    began = played.ask("/arena/games/fool", FOOL)
    path = f"/arena/games/fool/{began['id']}"
    assert played.ask(path, {"x": 12, "y": 1})["mistakes"] == 1
    assert "No concept fits 13" in played.ask(path, {"x": 13, "y": 0})["refused"]
    ended = played.ask(path, {"times": 500})
    assert ended["over"] and ended["mistakes"] <= 4
    assert ended["turns"][-1] and ended["round"] == 500
    status, headers, content = played.raw("GET", f"{path}/game.json")
    assert (status, headers["content-disposition"]) == (200, "attachment; filename=game.json")
    assert len(json.loads(content)["turns"]) == 500
    scores = played.ask("/arena/scores", FOOL)
    assert scores["rivals"]["mistake-forcing"] == 4


def test_moves_of_many_games_are_made_at_once(played: Played) -> None:
    began = played.ask("/arena/games/tell", TELL)
    path = f"/arena/games/tell/{began['id']}"
    opened = played.ask(path, {"moves": [{}] * 20})["answers"]
    games = [one["game"] for one in opened]
    pair = [["a", 1], ["b", 0]]
    moves = [{"game": game, "pair": pair} for game in games] + [{"game": 99, "guess": 1}]
    answers = played.ask(path, {"moves": moves})["answers"]
    assert all(set(one) == {"shown"} for one in answers[:-1]) and "error" in answers[-1]
    ended = played.ask(path, {"moves": [{"game": game, "guess": 0} for game in games]})
    assert ended["score"]["right"] + ended["score"]["wrong"] == 20
    assert ended["score"]["right"] == sum(one["bit"] == 0 for one in ended["answers"])
    assert "broken" in played.ask(f"{path}/reveal", {})["truth"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/arena/games/fool", {**FOOL, "board": "moon"}),
        ("/arena/games/fool", {**FOOL, "more": 1}),
        ("/arena/games/tell", {**TELL, "wanted": "both"}),
        ("/arena/scores", {**FOOL, "epsilon": 77}),
    ],
)
def test_what_does_not_fit_is_refused(played: Played, path: str, body: Any) -> None:
    status, _, content = played.raw("POST", path, body)
    assert status == 422 and json.loads(content)["error"]


def test_a_bad_move_changes_nothing(played: Played) -> None:
    path = f"/arena/games/fool/{played.ask('/arena/games/fool', FOOL)['id']}"
    for bad in ({"x": 24, "y": 1}, {"x": 1, "y": 2}, {"x": [], "y": 1}, {"times": 501}):
        assert played.raw("POST", path, bad)[0] == 422
    assert played.ask(path, {"x": 1, "y": 0})["round"] == 1


def test_games_are_forgotten_when_there_are_too_many(played: Played) -> None:
    names = [played.ask("/arena/games/tell", TELL)["id"] for _ in range(MOST_SESSIONS + 1)]
    assert len(played.arena.telling) == MOST_SESSIONS
    status, _, content = played.raw("POST", f"/arena/games/tell/{names[0]}", {"moves": [{}]})
    assert status == 404 and b"start a new one" in content
    assert played.raw("POST", f"/arena/games/tell/{names[-1]}", {"moves": [{}]})[0] == 200


def test_how_long_a_learner_takes_is_not_seen() -> None:
    """Within a slot every answer leaves at its end; without slots the difference would show."""
    quick, slow = 0.0003, 0.0180
    left = [took + arena_routes.until_slot(100.0, 100.0 + took) for took in (quick, slow)]
    assert left == pytest.approx([arena_routes.SLOT] * 2)
    assert quick != pytest.approx(slow)


def test_answers_wait_for_their_slot(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_routes, "SLOT", 0.4)
    path = f"/arena/games/tell/{played.ask('/arena/games/tell', TELL)['id']}"
    began = time.monotonic()
    played.ask(path, {"moves": [{}]})
    assert time.monotonic() - began >= 0.39


def test_only_the_file_that_runs_programs_may_evaluate_and_it_may_send_nothing(
    played: Played,
) -> None:
    for path in ("/arena", "/arena/tell", "/arena/about", "/static/tell.js"):
        _, headers, _ = played.raw("GET", path)
        assert headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        assert "unsafe" not in headers["content-security-policy"]
    _, headers, _ = played.raw("GET", "/static/player.js")
    assert headers["content-security-policy"] == POLICIES["player.js"]
    assert "connect-src" not in POLICIES["player.js"] and "'none'" in POLICIES["player.js"]


def test_in_a_service_the_arena_is_for_readers(tmp_path: Path) -> None:
    body = json.dumps(FOOL).encode()
    with serving(tmp_path) as served:
        assert b'name="token"' in served.raw("GET", "/arena", role=None)[2]
        for endpoint in arena_routes.ENDPOINTS:
            asked = endpoint.method, endpoint.path, body
            assert [served.raw(*asked, role)[0] for role in (None, Role.WRITER)] == [401, 403]
        assert b"Fool it" in served.raw("GET", "/arena", role=Role.READER)[2]
        assert served.raw("POST", "/arena/games/fool", body, Role.READER)[0] == 201
        assert list(tmp_path.iterdir()) == []  # nothing was stored


def test_the_document_describes_the_arena_too(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        document = json.loads(served.raw("GET", "/openapi.json", role=None)[2])
    described = {(way.upper(), path) for path, ways in document["paths"].items() for way in ways}
    assert {(one.method, one.path) for one in arena_routes.ENDPOINTS} < described
    learners = document["components"]["schemas"]["FoolIn"]["properties"]["learner"]
    assert "private-majority" in learners["enum"]
