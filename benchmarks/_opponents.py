"""The adversaries that measured mistakes are compared with a floor against."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from littlestone.concepts.protocols import ConceptClass
from littlestone.game.adversaries.mistake_forcing import FrequentKiller, MistakeForcing
from littlestone.game.adversaries.spreading import SpreadMistakes
from littlestone.game.adversaries.waiting import BurstAndWait, Wait, WaitDownTree
from littlestone.theory.adaptive_floors import WaitingGame


def opponents(
    concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float
) -> Iterator[tuple[Any, WaitingGame | None]]:
    """Yield three greedy adversaries, then the floors' own with the times that prove most.

    Beside each of the latter stands the game of its floor, at one level of the tree for
    ``WaitDownTree``. All of them are meant for ``play(peek=True)``.

    >>> from littlestone import Points
    >>> found = opponents(Points(16), rounds=200, epsilon=1.0, delta=0.0)
    >>> [(type(foe).__name__, game and round(game.mistakes, 1)) for foe, game in found][2:]
    [('FrequentKiller', None), ('Wait', 7.1), ('BurstAndWait', 6.6), ('WaitDownTree', 4.4)]
    """
    for kind in (MistakeForcing, SpreadMistakes, FrequentKiller):
        yield kind(concepts), None
    budget: Any = {"epsilon": epsilon, "delta": delta}
    foe = Wait(concepts)
    game = WaitingGame.without_burst(concepts=foe.candidates, rounds=rounds, **budget)
    yield replace(foe, within=game.within), game
    game = WaitingGame.after_burst(concepts=foe.candidates, rounds=rounds, **budget)
    yield BurstAndWait(concepts, burst=game.burst, within=game.within), game
    stage = (rounds - 1) // max(1, concepts.littlestone_dimension)
    game = WaitingGame.without_burst(concepts=2, rounds=stage, **budget)
    yield WaitDownTree(concepts, stage=stage, within=game.within), game
