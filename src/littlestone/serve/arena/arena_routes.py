"""The routes of the arena. It has no stores, no tokens and no data but what was made up here."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import starmap
from typing import Any, Final, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from littlestone.arena.fooling import Fooling
from littlestone.arena.scores import marks
from littlestone.arena.sessions import Session, Sessions
from littlestone.arena.telling import Telling
from littlestone.randomness import secure
from littlestone.serve.arena.arena_page import about_page, fool_page, tell_page
from littlestone.serve.arena.arena_wire import ExampleIn, FoolIn, MovesIn, TellIn, answered_move
from littlestone.serve.desk import answered, decoded
from littlestone.serve.guarding import body_of
from littlestone.serve.openapi import Endpoint
from littlestone.serve.pages import login_page
from littlestone.serve.tokens import Role

SLOT: Final = 0.02
"""Seconds: answers of game two are sent at whole multiples of it after the request came."""

Game = TypeVar("Game")
_NOBODY: Final = nullcontext()  # for whoever has no game yet
Admit = Callable[[Request], None]


class Arena:
    """All games of a server, and what is done in each request."""

    def __init__(self) -> None:
        self.fooling: Sessions[Fooling] = Sessions()
        self.telling: Sessions[Telling] = Sessions()
        self._marks: dict[FoolIn, Any] = {}

    async def fool(self, request: Request) -> Response:
        """Begin a game of *fool it*."""
        wanted = decoded(await body_of(request), FoolIn)

        def begin() -> Fooling:
            return Fooling(wanted.board, wanted.learner, wanted.epsilon, rng=secure())

        game = await _played(begin)
        name = self.fooling.add(game)
        return answered({"id": name, **game.about(), **game.state()}, 201)

    async def fool_on(self, request: Request) -> Response:
        """Play some rounds; an example that no concept fits is refused, and why."""
        game, lock = found(self.fooling, request)
        move = decoded(await body_of(request), ExampleIn)
        how: Any = {"times": move.times, "until_change": move.until_change}

        def turn() -> dict[str, Any]:
            since, refused = len(game.turns), ""
            if move.again:
                refused = game.play_again(move.again)
            elif move.x is None:
                game.let_mistake_forcing_play(**how)
            else:
                refused = game.play(move.x, move.y, **how)
            return {"refused": refused, **game.state(since)}

        return answered(await _played(turn, lock))

    async def record(self, request: Request) -> Response:
        """The game as a file, to keep and to share."""
        game, lock = found(self.fooling, request)
        content = await _played(game.record, lock)
        return answered(content, headers={"Content-Disposition": "attachment; filename=game.json"})

    async def scores(self, request: Request) -> Response:
        """What a score is measured against: a floor, and the built-in adversaries."""
        wanted = decoded(await body_of(request), FoolIn)
        if wanted not in self._marks:  # there are few boards, learners and budgets
            self._marks[wanted] = await _played(
                lambda: marks(wanted.board, wanted.learner, wanted.epsilon, rng=secure())
            )
        return answered(self._marks[wanted])

    async def tell(self, request: Request) -> Response:
        """Begin games of *tell two worlds apart*."""
        wanted = decoded(await body_of(request), TellIn)
        telling = await _played(lambda: Telling(wanted.learner, wanted.wanted, rng=secure()))
        name = self.telling.add(telling)
        return answered({"id": name, **telling.about(), "score": telling.score()}, 201)

    async def tell_on(self, request: Request) -> Response:
        """Some moves; sent at a multiple of the slot, whatever the bits made the learner do."""
        began = time.monotonic()
        telling, lock = found(self.telling, request)
        wanted = decoded(await body_of(request), MovesIn)

        def turn() -> dict[str, Any]:
            answers = [answered_move(telling, move) for move in wanted.moves]
            return {"answers": answers, "score": telling.score()}

        answer = answered(await _played(turn, lock))
        await asyncio.sleep(until_slot(began, time.monotonic()))
        return answer

    async def anew(self, request: Request) -> Response:
        """Forget all guesses so far."""
        telling, lock = found(self.telling, request)
        await _played(telling.count_anew, lock)
        return answered(telling.score())

    async def reveal(self, request: Request) -> Response:
        """End the games and say who it was."""
        telling, lock = found(self.telling, request)
        return answered({"truth": await _played(telling.reveal, lock)})

    def stop(self) -> None:
        """Nothing is lost: there is nothing to keep."""


def until_slot(began: float, now: float) -> float:
    """How long to wait until a whole number of slots, at least one, has passed.

    >>> [round(now + until_slot(5.0, now), 6) for now in (5.0001, 5.0199, 5.0201)]
    [5.02, 5.02, 5.04]
    """
    slots = max(1, math.ceil((now - began) / SLOT))
    return began + slots * SLOT - now


def found(sessions: Sessions[Game], request: Request) -> Session[Game]:
    name = request.path_params["id"]
    if name not in sessions:
        raise HTTPException(404, "this game is not remembered any more: begin anew")
    return sessions[name]


async def _played(move: Callable[[], Any], lock: AbstractContextManager[Any] = _NOBODY) -> Any:
    """In a thread, since some moves take long; what the rules refuse is an ordinary answer."""

    def moved() -> Any:
        with lock:  # nor may the loop wait for whoever moves in this game
            return move()

    try:
        return await run_in_threadpool(moved)
    except ValueError as refusal:
        raise HTTPException(422, str(refusal)) from None


_MOVES: Final = (404, 413, 415, 422)
ENDPOINTS: Final = (
    Endpoint("POST", "/arena/scores", Role.READER, Arena.scores, FoolIn, statuses=(413, 415, 422)),
    Endpoint(
        "POST",
        "/arena/games/fool",
        Role.READER,
        Arena.fool,
        FoolIn,
        statuses=(413, 415, 422),
        success=201,
    ),
    Endpoint(
        "POST", "/arena/games/fool/{id}", Role.READER, Arena.fool_on, ExampleIn, statuses=_MOVES
    ),
    Endpoint("GET", "/arena/games/fool/{id}/game.json", Role.READER, Arena.record, statuses=(404,)),
    Endpoint(
        "POST",
        "/arena/games/tell",
        Role.READER,
        Arena.tell,
        TellIn,
        statuses=(413, 415, 422),
        success=201,
    ),
    Endpoint(
        "POST", "/arena/games/tell/{id}", Role.READER, Arena.tell_on, MovesIn, statuses=_MOVES
    ),
    Endpoint("POST", "/arena/games/tell/{id}/anew", Role.READER, Arena.anew, statuses=(404,)),
    Endpoint("POST", "/arena/games/tell/{id}/reveal", Role.READER, Arena.reveal, statuses=(404,)),
)
PAGES: Final = {"/arena": fool_page, "/arena/tell": tell_page, "/arena/about": about_page}


def arena_routes(arena: Arena, admit: Admit) -> list[Route]:
    """For those whom ``admit`` does not refuse; whoever looks at a page is asked for a token."""

    def route(endpoint: Endpoint) -> Route:
        async def guarded(request: Request) -> Response:
            admit(request)
            response: Response = await endpoint.answer(arena, request)
            return response

        return Route(endpoint.path, guarded, methods=[endpoint.method])

    def page(path: str, made: Callable[[], Response]) -> Route:
        async def guarded(request: Request) -> Response:
            try:
                admit(request)
            except HTTPException:
                return login_page()
            return made()

        return Route(path, guarded, methods=["GET"])

    return [*starmap(page, PAGES.items()), *map(route, ENDPOINTS)]
