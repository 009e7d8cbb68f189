"""Players of game two that are programs: a Python file of one's own, on one's own machine.

The service never runs a file that somebody sent. There is no sandbox for Python worth the name, and
whoever can start ``littlestone`` can run Python already: so a player runs in the process of whoever
asked for it, and nowhere else. In the page, programs are JavaScript and run in the browser.
"""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from littlestone import require
from littlestone.arena.telling import Telling
from littlestone.audit.two_worlds import Shown


class PlayersWorld:
    """One game as a player sees it."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._number, self.shown = telling.open()
        """What the learner shows now: a hypothesis and a status."""
        self.sent = 0
        """How many rounds the last ``send`` took."""
        self.facts: dict[str, int] = telling.about()["facts"]
        """Numbers of the recipe, which is public."""

    def send(self, x: Any, y: int, times: int = 1) -> Shown:
        """Send an example until something changes, ``times`` times at most."""
        self.sent, self.shown = self._telling.send(self._number, (x, y), times)
        return self.shown

    def challenge(self, zero: tuple[Any, int], one: tuple[Any, int]) -> Shown:
        """The special round: the hidden bit decides which of the two arrives."""
        self.shown = self._telling.challenge(self._number, zero, one)
        return self.shown

    def end(self, bit: int | None) -> None:
        self._telling.guess(self._number, bit)


Player = Callable[[PlayersWorld], int | None]


def player_from(path: Path) -> Player:
    """The function ``play`` of a file: it takes a world and returns 0, 1 or None."""
    play = runpy.run_path(str(path)).get("play")
    if not callable(play):
        raise ValueError(f"player must define a function play(world), got {path}")
    return play  # type: ignore[no-any-return]


def matches(telling: Telling, player: Player, games: int) -> Iterator[dict[str, Any]]:
    """Play game after game; what is proved after each, until the claim is refuted."""
    require.integer(games=games, at_least=1)
    for _ in range(games):
        world = PlayersWorld(telling)
        world.end(player(world))
        score = telling.score()
        yield score
        if score["refuted"]:
            return
