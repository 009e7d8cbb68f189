"""Players of game two may be programs: Python files that run on the player's own machine.

The service never runs a file that a client sent, since Python has no reliable sandbox. A player
runs in the process that was started with it, and nowhere else. On the page, programs are JavaScript
and run in the browser.
"""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from littlestone import require
from littlestone.audit.two_worlds import Shown
from littlestone.lab.arena.telling import Telling


class PlayersWorld:
    """One game as a player sees it."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._number, self.shown = telling.open()
        """What the learner shows: a hypothesis and a status."""
        self.sent = 0
        """How many rounds the last ``send`` took."""
        self.facts: dict[str, int] = telling.about()["facts"]
        """Numbers of the recipe, which is public."""

    def send(self, x: Any, y: int, times: int = 1) -> Shown:
        """Send an example until something changes, ``times`` times at most."""
        self.sent, self.shown = self._telling.send(self._number, (x, y), times)
        return self.shown

    def challenge(self, zero: tuple[Any, int], one: tuple[Any, int]) -> Shown:
        """Play the special round: the hidden bit decides which of the two arrives."""
        self.shown = self._telling.challenge(self._number, zero, one)
        return self.shown

    def end(self, bit: int | None) -> None:
        """End the game with a guess; None gives up."""
        self._telling.guess(self._number, bit)


Player = Callable[[PlayersWorld], int | None]


def player_from(path: Path) -> Player:
    """Return the function ``play`` of a file: it takes a world and returns 0, 1 or None."""
    play = runpy.run_path(str(path)).get("play")
    if not callable(play):
        raise ValueError(f"player must define a function play(world), got {path}")
    return play  # type: ignore[no-any-return]


def matches(telling: Telling, player: Player, games: int) -> Iterator[dict[str, Any]]:
    """Play game after game until the claim is refuted; yield what each one proves."""
    require.integer(games=games, at_least=1)
    for _ in range(games):
        world = PlayersWorld(telling)
        world.end(player(world))
        score = telling.score()
        yield score
        if score["refuted"]:
            return
