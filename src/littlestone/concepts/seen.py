"""Large sets of keys that are filled all the time and asked seldom."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.keys import as_integer
from littlestone.concepts.protocols import Point

_LARGEST_BITMAP: Final = 1 << 26
_BUFFER: Final = 1 << 16
_WORD: Final = np.iinfo(np.int64)


class SeenIntegers:
    """Integers of 64 bits: a bit map below ``bound`` if that is small, else sorted blocks.

    Blocks double in length, so n integers, repeated or not, cost O(log n) merges each and eight
    bytes for every distinct one.
    """

    def __init__(self, bound: int | None = None) -> None:
        small = bound is not None and bound <= _LARGEST_BITMAP
        self._bitmap = np.zeros(bound, dtype=bool) if small and bound is not None else None
        self._buffer: list[int] = []
        self._blocks: list[NDArray[np.int64]] = []

    def add(self, x: int) -> None:
        if self._bitmap is not None:
            self._bitmap[x] = True
            return
        self._buffer.append(x)
        if len(self._buffer) >= _BUFFER:
            self._flush()

    def add_many(self, xs: NDArray[np.int64]) -> None:
        if self._bitmap is not None:
            self._bitmap[xs] = True
        elif len(xs):
            self._merge(np.unique(xs))

    def __contains__(self, x: int) -> bool:
        if self._bitmap is not None:
            return 0 <= x < len(self._bitmap) and bool(self._bitmap[x])
        if not _WORD.min <= x <= _WORD.max:
            return False
        self._flush()
        return any(_at(block, np.searchsorted(block, x)) == x for block in self._blocks)

    def neighbours(self, x: int) -> tuple[int | None, int | None]:
        """The nearest members below and above ``x``."""
        self._flush()
        blocks = self._blocks if self._bitmap is None else [np.flatnonzero(self._bitmap)]
        below = [_at(block, np.searchsorted(block, x) - 1) for block in blocks]
        above = [_at(block, np.searchsorted(block, x, side="right")) for block in blocks]
        return (
            max((y for y in below if y is not None), default=None),
            min((y for y in above if y is not None), default=None),
        )

    def _flush(self) -> None:
        if self._buffer:
            self._merge(np.unique(np.array(self._buffer, dtype=np.int64)))
            self._buffer = []

    def _merge(self, block: NDArray[np.int64]) -> None:
        while self._blocks and len(self._blocks[-1]) <= 2 * len(block):
            block = _union(self._blocks.pop(), block)
        self._blocks.append(block)


class SeenKeys:
    """Keys of any kind; plain integers are kept compactly."""

    def __init__(self) -> None:
        self._integers = SeenIntegers()
        self._others: set[Point] = set()

    def add(self, x: Point) -> None:
        if type(x) is int and _WORD.min <= x <= _WORD.max:
            self._integers.add(x)
        else:
            self._others.add(x)

    def add_many(self, xs: NDArray[np.int64]) -> None:
        self._integers.add_many(xs)

    def __contains__(self, x: Point) -> bool:
        whole = as_integer(x)
        return x in self._others or (whole is not None and whole in self._integers)


def _union(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    both = np.concatenate([left, right])
    both.sort(kind="stable")  # two sorted runs are merged, not sorted anew
    new = np.ones(len(both), dtype=bool)
    np.not_equal(both[1:], both[:-1], out=new[1:])
    distinct: NDArray[np.int64] = both[new]
    return distinct


def _at(block: NDArray[np.int64], position: Any) -> int | None:
    return int(block[position]) if 0 <= position < len(block) else None
