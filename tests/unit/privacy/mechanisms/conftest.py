"""Randomness that says what it is told to."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.randomness import Randomness
from littlestone.randomness.word_sources import Ahead, Source


class Scripted:
    """A source of given words, then zeros."""

    private = False

    def __init__(self, words: list[int]) -> None:
        self._script = words

    def words(self, count: int) -> NDArray[np.uint64]:
        taken, self._script = self._script[:count], self._script[count:]
        return np.array(taken + [0] * (count - len(taken)), dtype=np.uint64)

    def ahead(self) -> Ahead:
        return Ahead.of(self.words(8))

    def spawn(self, count: int) -> list[Source]:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        raise NotImplementedError


@pytest.fixture(scope="session")
def script() -> Callable[..., Randomness]:
    """``script(3, 1)`` gives the words 3 and 1, then zeros."""
    return lambda *words: Randomness(Scripted(list(words)))
