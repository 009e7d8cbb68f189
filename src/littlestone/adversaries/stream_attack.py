"""The attack of an oblivious adversary is a stream of blocks, whatever is published."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Domain, Example, Hypothesis

_FIRST_BLOCK: Final = 1 << 8
_LARGEST_BLOCK: Final = 1 << 14

Block = tuple[Any, NDArray[np.uint8]]
"""Points, as ``Domain.check_many`` returns them, and their labels."""


def block_sizes() -> Iterator[int]:
    """How many examples to prepare at a time: few at first, for short games.

    Part of what a seed means, so not to be tuned.
    """
    size = _FIRST_BLOCK
    while True:
        yield size
        size = min(2 * size, _LARGEST_BLOCK)


class StreamAttack:
    """Plays the examples of the blocks in order, one by one or many at once."""

    def __init__(self, domain: Domain, blocks: Iterator[Block]) -> None:
        self._domain = domain
        self._blocks = blocks
        self._points: Any = ()
        self._labels: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._singles: Sequence[Example] = ()
        self._at = 0
        self._played = 0

    def choose(self, seen: Hypothesis | None, /) -> Example:
        at = self._at
        if at >= len(self._singles):
            self._prepare_singles()
            at = self._at
        self._at = at + 1
        return self._singles[at]

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        if self._at == len(self._labels):
            self._next_block()
        end = self._at + most
        return self._points[self._at : end], self._labels[self._at : end]

    def played(self, count: int, /) -> None:
        self._at += count

    def _prepare_singles(self) -> None:
        if self._at == len(self._labels):
            self._next_block()
        points = self._points
        if isinstance(points, np.ndarray):
            plain = points.ndim == 1
            points = points.tolist() if plain else map(self._domain.check, points)
        self._singles = list(zip(points, self._labels.tolist(), strict=True))

    def _next_block(self) -> None:
        block = next(self._blocks, None)
        while block is not None and not len(block[1]):
            block = next(self._blocks, None)
        self._played += len(self._labels)
        if block is None:
            raise ValueError(f"the stream ended after {self._played} examples; play fewer rounds")
        self._points, self._labels = block
        self._singles = ()
        self._at = 0
