"""Replace attributes within a block or in one recipe, and make coins for replays."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from littlestone.randomness import Randomness
from littlestone.randomness.word_sources import Ahead, Seeded

Recipe = TypeVar("Recipe")


@contextmanager
def replaced(owner: Any, **substitutes: Any) -> Iterator[None]:
    """Replace the named attributes of a class or module within a block.

    >>> import math
    >>> with replaced(math, tau=1.0):
    ...     math.tau
    1.0
    >>> math.tau > 6
    True
    """
    originals = {name: vars(owner)[name] for name in substitutes}
    try:
        for name, substitute in substitutes.items():
            setattr(owner, name, substitute)
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)


def altered(recipe: Recipe, **methods: Callable[..., Any]) -> Recipe:
    """Return the recipe with replaced methods, for a control."""
    kind: Any = type(recipe)
    given = {known.name: getattr(recipe, known.name) for known in fields(kind) if known.init}
    made: Recipe = type(kind.__name__, (kind,), {"__slots__": (), **methods})(**given)
    return made


def with_engine(recipe: Recipe, engine: Callable[..., Any]) -> Recipe:
    """Return the recipe with another engine."""
    return altered(recipe, engine=lambda recipe, rng: engine(recipe, rng))


Place = tuple[type, str]
"""A method that gets new coins for each call."""


class RoundCoins(Randomness):
    """Separate coins for each round and each place in it.

    A learner's coins are independent of the data, but their number per round need not be. A proof
    couples two worlds by the coins of the same purpose, not of the same index.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(Seeded(np.random.SeedSequence([seed])))
        self._seed, self._round = seed, 0
        self._calls: dict[int, int] = {}

    def next_round(self) -> None:
        """Switch to the coins of the next round."""
        self._round += 1
        self._calls = {}
        self._key()

    def next_call(self, place: int) -> None:
        """Return coins for the next call of one of the places in this round."""
        self._calls[place] = self._calls.get(place, 0) + 1
        self._key(1 + place, self._calls[place])

    def _key(self, *label: int) -> None:
        self._source = Seeded(np.random.SeedSequence([self._seed, 1 + self._round, *label]))
        self._words = Ahead("Q")


@contextmanager
def rekeyed(coins: RoundCoins, places: Sequence[Place]) -> Iterator[None]:
    """Use new coins for each call of one of the places within a block."""
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
