"""Coins for replays: the same in the same place of two worlds, however many were tossed before."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from littlestone.audit.substitution import replaced
from littlestone.randomness import Randomness
from littlestone.word_sources import Ahead, Seeded

Place = tuple[type, str]
"""A method before which fresh coins are taken, each time that it is called."""


class RoundCoins(Randomness):
    """Each round, and each place in it, has coins of its own.

    A learner's coins are independent of the data, but how many it tosses in a round need not be.
    What couples two worlds in a proof are the coins of the same purpose, not of the same number.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(Seeded(np.random.SeedSequence([seed])))
        self._seed, self._round = seed, 0
        self._calls: dict[int, int] = {}

    def next_round(self) -> None:
        self._round += 1
        self._calls = {}
        self._key()

    def next_call(self, place: int) -> None:
        """Coins for the next call, in this round, of one of the places."""
        self._calls[place] = self._calls.get(place, 0) + 1
        self._key(1 + place, self._calls[place])

    def _key(self, *label: int) -> None:
        self._source = Seeded(np.random.SeedSequence([self._seed, 1 + self._round, *label]))
        self._words = Ahead("Q")


@contextmanager
def rekeyed(coins: RoundCoins, places: Sequence[Place]) -> Iterator[None]:
    """Within it, ``coins`` are fresh at each call of one of the places."""
    with ExitStack() as patches:
        for number, (owner, method) in enumerate(places):
            fresh = _fresh_before(coins, number, owner, method)
            patches.enter_context(replaced(owner, **{method: fresh}))
        yield


def _fresh_before(coins: RoundCoins, number: int, owner: type, method: str) -> Any:
    raw = vars(owner)[method]
    original = raw.__func__ if isinstance(raw, classmethod) else raw

    def called(*arguments: Any, **named: Any) -> Any:
        coins.next_call(number)
        return original(*arguments, **named)

    return classmethod(called) if isinstance(raw, classmethod) else called
