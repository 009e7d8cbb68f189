"""Serve the arena over HTTP: its messages, pages and routes, and an application without a service.

The arena has no stores and no tokens, and all of its data are synthetic. No secret is sent: until
the guess, a game returns only what its learner publishes.
"""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from html import escape
from itertools import starmap
from typing import Annotated, Any, Final, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from littlestone.http import pages, wire
from littlestone.http.limits import body_of, guards
from littlestone.http.openapi import Endpoint
from littlestone.http.pages import STATIC, login_page, page
from littlestone.http.service import Role
from littlestone.http.wire import answered, decoded
from littlestone.lab.arena.boards import BOARDS, EPSILONS, NAMES, ROUNDS, marks
from littlestone.lab.arena.fooling import Fooling
from littlestone.lab.arena.sessions import Session, Sessions
from littlestone.lab.arena.telling import MOST_GAMES, MOST_ROUNDS, SUSPECTS, WANTED, Telling, form
from littlestone.randomness import secure

Bit = Annotated[int, msgspec.Meta(ge=0, le=1)]


def _one_of(*values: Any) -> msgspec.Meta:
    """Describe the allowed values in the document; the game itself rejects others."""
    return msgspec.Meta(extra_json_schema={"enum": list(values)})


class FoolIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Start a game of “fool it”."""

    board: Annotated[str, _one_of(*BOARDS)]
    learner: Annotated[str, _one_of(*NAMES)]
    epsilon: Annotated[float, _one_of(*EPSILONS)]


class ExampleIn(msgspec.Struct, forbid_unknown_fields=True):
    """Play rounds of “fool it”: one example, MistakeForcing, or the rounds of another game."""

    x: int | str | None = None
    y: Bit = 0
    times: Annotated[int, msgspec.Meta(ge=1, le=ROUNDS)] = 1
    until_change: bool = False
    again: Annotated[list[tuple[int | str, Bit]], msgspec.Meta(max_length=ROUNDS)] = []


class TellIn(msgspec.Struct, forbid_unknown_fields=True):
    """Start games of *tell two worlds apart*: correct, broken, or chosen by a coin."""

    learner: Annotated[str, _one_of(*SUSPECTS)]
    wanted: Annotated[str, _one_of(*WANTED)]


class Move(msgspec.Struct, forbid_unknown_fields=True):
    """Make one move: without a game start one; otherwise an example, a pair, or the final guess."""

    game: int | None = None
    example: tuple[int | str, Bit] | None = None
    times: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROUNDS)] = 1
    pair: tuple[tuple[int | str, Bit], tuple[int | str, Bit]] | None = None
    guess: Bit | None = None


class MovesIn(msgspec.Struct, forbid_unknown_fields=True):
    """Make moves in several games with one request."""

    moves: Annotated[list[Move], msgspec.Meta(min_length=1, max_length=MOST_GAMES)]


def answered_move(telling: Telling, move: Move) -> dict[str, Any]:
    """Return the result of one move, or why it was rejected; the other moves are not affected."""
    try:
        if move.game is None:
            number, shown = telling.open()
            return {"game": number, "shown": form(shown)}
        if move.example is not None:
            sent, shown = telling.send(move.game, move.example, move.times)
            return {"sent": sent, "shown": form(shown)}
        if move.pair is not None:
            return {"shown": form(telling.challenge(move.game, *move.pair))}
        return {"bit": telling.guess(move.game, move.guess)}
    except ValueError as refusal:
        return {"error": str(refusal)}


SLOT: Final = 0.02
"""Seconds: responses of game two are sent at whole multiples of it after the request arrived."""

Game = TypeVar("Game")
_NOBODY: Final = nullcontext()  # the move starts a game, so there is no session to lock
Admit = Callable[[Request], object]


class Arena:
    """Hold all games of a server and answer their requests."""

    def __init__(self) -> None:
        self.fooling: Sessions[Fooling] = Sessions()
        self.telling: Sessions[Telling] = Sessions()
        self._marks: dict[FoolIn, Any] = {}

    async def fool(self, request: Request) -> Response:
        """Start a game of “fool it”."""
        wanted = decoded(await body_of(request), FoolIn)

        def begin() -> Fooling:
            return Fooling(wanted.board, wanted.learner, wanted.epsilon, rng=secure())

        game = await _played(begin)
        name = self.fooling.add(game)
        return answered({"id": name, **game.about(), **game.state()}, 201)

    async def play_rounds(self, request: Request) -> Response:
        """Play some rounds; reject an example that fits no concept, with the reason."""
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
        """Return the game as a file that can be kept and shared."""
        game, lock = found(self.fooling, request)
        content = await _played(game.record, lock)
        return answered(content, headers={"Content-Disposition": "attachment; filename=game.json"})

    async def scores(self, request: Request) -> Response:
        """Return what a score is compared with: a floor, and the built-in adversaries."""
        wanted = decoded(await body_of(request), FoolIn)
        if wanted not in self._marks:  # there are few boards, learners and budgets
            self._marks[wanted] = await _played(
                lambda: marks(wanted.board, wanted.learner, wanted.epsilon, rng=secure())
            )
        return answered(self._marks[wanted])

    async def tell(self, request: Request) -> Response:
        """Start games of “tell two worlds apart”."""
        wanted = decoded(await body_of(request), TellIn)
        telling = await _played(lambda: Telling(wanted.learner, wanted.wanted, rng=secure()))
        name = self.telling.add(telling)
        return answered({"id": name, **telling.about(), "score": telling.score()}, 201)

    async def make_moves(self, request: Request) -> Response:
        """Make some moves; respond at a multiple of the slot, so that the time reveals nothing."""
        began = time.monotonic()
        telling, lock = found(self.telling, request)
        wanted = decoded(await body_of(request), MovesIn)

        def turn() -> dict[str, Any]:
            answers = [answered_move(telling, move) for move in wanted.moves]
            return {"answers": answers, "score": telling.score()}

        answer = answered(await _played(turn, lock))
        await asyncio.sleep(until_slot(began, time.monotonic()))
        return answer

    async def restart(self, request: Request) -> Response:
        """Forget all guesses so far."""
        telling, lock = found(self.telling, request)
        await _played(telling.restart_count, lock)
        return answered(telling.score())

    async def reveal(self, request: Request) -> Response:
        """End the games and reveal which world each was."""
        telling, lock = found(self.telling, request)
        return answered({"truth": await _played(telling.reveal, lock)})

    knows: Final = None  # no request needs a token

    def lock(self) -> None:
        """Do nothing: the arena has no store."""

    def stop(self) -> None:
        """Do nothing: the arena has nothing to save."""


def until_slot(began: float, now: float) -> float:
    """Return the seconds until a whole number of slots, at least one, has passed.

    >>> [round(now + until_slot(5.0, now), 6) for now in (5.0001, 5.0199, 5.0201)]
    [5.02, 5.02, 5.04]
    """
    slots = max(1, math.ceil((now - began) / SLOT))
    return began + slots * SLOT - now


def found(sessions: Sessions[Game], request: Request) -> Session[Game]:
    """Return the session that the path names, or raise 404."""
    name = request.path_params["id"]
    if name not in sessions:
        raise HTTPException(404, "this game has expired; start a new one")
    return sessions[name]


async def _played(move: Callable[[], Any], lock: AbstractContextManager[Any] = _NOBODY) -> Any:
    """Run a slow move in a thread; return a rejection by the rules as an ordinary response."""

    def moved() -> Any:
        with lock:  # in the thread: the event loop must not wait for another move in this game
            return move()

    try:
        return await run_in_threadpool(moved)
    except ValueError as refusal:
        raise HTTPException(422, str(refusal)) from None


PLACES: Final = (
    ("/arena", "Fool it"),
    ("/arena/tell", "Tell two worlds apart"),
    ("/arena/about", "What is this?"),
)

NOTES: Final = {
    "adversary": (
        "What may you know?",
        "Everything but the noise: the algorithm, its numbers, and each rule before you choose the "
        "next example. So nobody who watches or feeds a stream can do better than you",
    ),
    "restarts": (
        "Why are restarts free?",
        "When a copy of the learner is used up, a new one starts with fresh noise; your example "
        "was in one copy only. The promise holds whatever was shown before, so all copies "
        "together cost no more than one",
    ),
    "delta": (
        "What is δ?",
        "With probability at most δ a release may reveal more than ε allows; otherwise ε "
        "holds. It covers the whole stream, and should be far below one over the number "
        "of people in it",
    ),
    "bound": (
        "How can guesses refute a claim?",
        "Right more often than e^ε : 1, you found a leak or were lucky. The bound is an ε "
        "that your guesses rule out; it holds whenever you look, and is wrong in one arena of a "
        "hundred",
    ),
}


def fool_page() -> Response:
    """Build the page of *fool it*."""
    boards = "".join(
        f'<option value="{name}" data-learners="{" ".join(board.learners)}">{escape(board.title)}'
        "</option>"
        for name, board in BOARDS.items()
    )
    learners = "".join(f'<option value="{name}">{words}</option>' for name, words in NAMES.items())
    epsilons = "".join(
        f'<option value="{value:g}"{" selected" if value == 2 else ""}>{value:g}</option>'
        for value in EPSILONS
    )
    body = _text("fool").format(boards=boards, learners=learners, epsilons=epsilons)
    return _page("fool", body + _notes("adversary", "restarts", "delta"), "fool.js")


def tell_page() -> Response:
    """Build the page of *tell two worlds apart*."""
    learners = "".join(
        f'<option value="{name}">{escape(suspect.title)}</option>'
        for name, suspect in SUSPECTS.items()
    )
    body = _text("tell").format(learners=learners)
    return _page("tell", body + _notes("adversary", "bound", "delta"), "tell.js")


def about_page() -> Response:
    """Build the page that explains the arena."""
    return _page("about", _text("about"), None)


def _text(name: str) -> str:
    return (STATIC / f"{name}.html").read_text(encoding="utf-8")


def _page(name: str, body: str, script: str | None) -> Response:
    here = {"fool": "/arena", "tell": "/arena/tell", "about": "/arena/about"}[name]
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if path == here else ""}>{words}</a>'
        for path, words in PLACES
    )
    code = f'<script type="module" src="/static/{script}"></script>' if script else ""
    return page(
        "arena",
        f'<nav class="tabs" aria-label="Arena">{links}</nav>{body}{code}',
        head='<link rel="stylesheet" href="/static/arena.css">',
        attributes=f' class="arena" data-page="{name}"',
    )


def _notes(*names: str) -> str:
    cards = "".join(
        f"<div><h3>{NOTES[name][0]}</h3><p>{NOTES[name][1]} "
        f'(<a href="/arena/about#{name}">more</a>).</p></div>'
        for name in names
    )
    return f'<section class="notes" aria-label="Explanations">{cards}</section>'


ENDPOINTS: Final = (
    Endpoint("POST", "/arena/scores", Role.READER, Arena.scores, FoolIn),
    Endpoint("POST", "/arena/games/fool", Role.READER, Arena.fool, FoolIn, success=201),
    Endpoint("POST", "/arena/games/fool/{id}", Role.READER, Arena.play_rounds, ExampleIn),
    Endpoint("GET", "/arena/games/fool/{id}/game.json", Role.READER, Arena.record),
    Endpoint("POST", "/arena/games/tell", Role.READER, Arena.tell, TellIn, success=201),
    Endpoint("POST", "/arena/games/tell/{id}", Role.READER, Arena.make_moves, MovesIn),
    Endpoint("POST", "/arena/games/tell/{id}/restart", Role.READER, Arena.restart),
    Endpoint("POST", "/arena/games/tell/{id}/reveal", Role.READER, Arena.reveal),
)
PAGES: Final = {"/arena": fool_page, "/arena/tell": tell_page, "/arena/about": about_page}


def arena_routes(arena: Arena, admit: Admit) -> list[Route]:
    """Build the routes for clients that ``admit`` accepts; pages ask other visitors for a token."""

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


def arena_application() -> Starlette:
    """Build the arena alone, without tokens: the server listens on this machine only."""
    arena = Arena()
    app = Starlette(
        routes=[
            Route("/", RedirectResponse("/arena")),
            *arena_routes(arena, lambda _: None),
            Route("/static/{name}", pages.asset),
        ],
        middleware=guards(),
        exception_handlers={HTTPException: wire.refused},
    )
    app.state.service = arena
    return app
