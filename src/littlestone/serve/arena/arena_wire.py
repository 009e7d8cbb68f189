"""What goes over the wire in the arena, both ways.

Nothing secret is in here: before a guess a game answers with what its learner shows, and the
functions below get nothing else.
"""

from typing import Annotated, Any

import msgspec

from littlestone.arena.boards import BOARDS, EPSILONS, NAMES, ROUNDS
from littlestone.arena.suspects import SUSPECTS, WANTED
from littlestone.arena.telling import MOST_GAMES, MOST_ROUNDS, Telling, form

Bit = Annotated[int, msgspec.Meta(ge=0, le=1)]


def _one_of(*values: Any) -> msgspec.Meta:
    """For the document; what else is sent is refused by the game, which says more about it."""
    return msgspec.Meta(extra_json_schema={"enum": list(values)})


class FoolIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A game of *fool it* to begin."""

    board: Annotated[str, _one_of(*BOARDS)]
    learner: Annotated[str, _one_of(*NAMES)]
    epsilon: Annotated[float, _one_of(*EPSILONS)]


class ExampleIn(msgspec.Struct, forbid_unknown_fields=True):
    """Some rounds of *fool it*: of one example, of MistakeForcing, or those of another game."""

    x: int | str | None = None
    y: Bit = 0
    times: Annotated[int, msgspec.Meta(ge=1, le=ROUNDS)] = 1
    until_change: bool = False
    again: Annotated[list[tuple[int | str, Bit]], msgspec.Meta(max_length=ROUNDS)] = []


class TellIn(msgspec.Struct, forbid_unknown_fields=True):
    """Games of *tell two worlds apart* to begin: correct, broken, or by a coin."""

    learner: Annotated[str, _one_of(*SUSPECTS)]
    wanted: Annotated[str, _one_of(*WANTED)]


class Move(msgspec.Struct, forbid_unknown_fields=True):
    """One move: without a game, begin one; else an example, a pair, or the end with a guess."""

    game: int | None = None
    example: tuple[int | str, Bit] | None = None
    times: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROUNDS)] = 1
    pair: tuple[tuple[int | str, Bit], tuple[int | str, Bit]] | None = None
    guess: Bit | None = None


class MovesIn(msgspec.Struct, forbid_unknown_fields=True):
    """Moves of several games, so that a program need not wait for each."""

    moves: Annotated[list[Move], msgspec.Meta(min_length=1, max_length=MOST_GAMES)]


def answered_move(telling: Telling, move: Move) -> dict[str, Any]:
    """What one move brings, or why it was refused; its neighbours are none the worse for it."""
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
