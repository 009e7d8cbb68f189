"""The Littlestone and VC dimensions, computed on bit sets."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, OnlineClass

_MEMO_ENTRIES = 1 << 18
_RECENT_SPLITS = 8
_BLOCK = 100  # rows whose intersections are counted together
_BATCH = 256
# From this many concepts and this depth on, all pairs of points are counted at once.
_MANY, _DEEP = 192, 4
_LARGEST_MATRIX = 1 << 22


@require.checked
def littlestone_dimension(concepts: OnlineClass) -> int:
    """Return the depth of the deepest tree that ``concepts`` shatters; -1 if it is empty."""
    return concepts.littlestone_dimension


def bit_set(labels: NDArray[np.uint8]) -> int:
    """Return the positions of the ones as the bits of one integer."""
    return int.from_bytes(np.packbits(labels, bitorder="little").tobytes(), "little")


class BitSetDimension:
    """Littlestone dimensions of the subclasses of one finite class, exact and memoised.

    A subclass is an integer whose bit i says whether concept i belongs to it; ``ones[x]`` is the
    subclass that labels x with 1. Concepts are distinct functions. A subclass of dimension k has
    at least 2**k concepts, which prunes most of the search. Splits that recently worked at the same
    depth are tried first, then the most balanced ones. The memo holds bounds and is dropped when it
    grows too large.
    """

    def __init__(self, ones: Sequence[int]) -> None:
        self._points = tuple(ones)
        self._ones = tuple(set(ones))
        self._bounds: dict[int, tuple[int, int]] = {}
        self._recent = defaultdict[int, deque[int]](lambda: deque(maxlen=_RECENT_SPLITS))
        self._matrix: NDArray[np.uint8] | None = None  # concepts × points, built when needed

    def dimension(self, concepts: int) -> int:
        """Return the Littlestone dimension of the subclass; -1 when it is empty."""
        if concepts == 0:
            return -1
        low, high = self._bounds.get(concepts, (0, concepts.bit_count().bit_length() - 1))
        while low < high and self.at_least(concepts, low + 1):
            low += 1
        return low

    def at_least(self, concepts: int, depth: int) -> bool:
        """Return whether the subclass shatters some tree of this depth."""
        return self._at_least(concepts, depth, self._ones)

    def optimal_labels(self, concepts: int) -> bytes:
        """Return, for each point, the label that keeps the larger dimension; 0 on ties."""
        known: dict[int, bool] = {}
        common = 0  # the smaller dimension at the last point, a good guess for the next
        for part in self._points:
            ones = concepts & part
            if ones not in known:
                known[ones], common = self._larger(ones, concepts ^ ones, common)
        return bytes(known[concepts & part] for part in self._points)

    def _larger(self, left: int, right: int, guess: int) -> tuple[bool, int]:
        """Return whether ``left`` has the strictly larger dimension, and a next guess.

        Neither dimension is computed in full. ``guess`` is the depth to try first.
        """
        reached = self.at_least(left, guess)
        if reached != self.at_least(right, guess):
            return reached, guess
        depth = guess if reached else -1
        while self.at_least(left, depth + 1):
            if not self.at_least(right, depth + 1):
                return True, max(depth, 0)
            depth += 1
        return False, max(depth, 0)

    def _at_least(self, concepts: int, depth: int, ones: Collection[int]) -> bool:
        """Do the work of ``at_least``; ``ones`` may omit points on which all concepts agree."""
        size = concepts.bit_count()
        if depth <= 1:
            return depth < 0 or size > depth
        if size >> depth == 0:
            return False
        low, high = self._bounds.get(concepts, (1, size.bit_length() - 1))
        if depth <= low:
            return True
        if depth > high:
            return False
        found = self._some_split(concepts, size, depth, ones)
        if len(self._bounds) >= _MEMO_ENTRIES:
            self._bounds.clear()
        self._bounds[concepts] = (depth, high) if found else (low, depth - 1)
        return found

    def _some_split(self, concepts: int, size: int, depth: int, ones: Collection[int]) -> bool:
        """Return whether some point leaves dimension ``depth - 1`` on both sides."""
        half = 1 << (depth - 1)
        if depth == 2:  # two concepts on each side are enough
            return any(half <= (concepts & part).bit_count() <= size - half for part in ones)
        promising = self._promising(concepts, size, depth)
        recent = self._recent[depth]
        if promising is not None and not promising:
            return False
        if any(
            self._splits(concepts, size, depth, part, ones)
            for part in recent
            if promising is None or part in promising
        ):
            return True
        for batch in _batches(ones):
            balance = _balance(concepts, size, batch)
            left = balance if batch is ones else ones
            candidates = [
                part
                for part, count in balance.items()
                if count >= half and (promising is None or part in promising)
            ]
            for part in sorted(candidates, key=balance.__getitem__, reverse=True):
                if self._splits(concepts, size, depth, part, left):
                    recent.appendleft(part)
                    return True
        return False

    def _promising(self, concepts: int, size: int, depth: int) -> set[int] | None:
        """Return the points that could still split twice, judged by sizes; None if not worthwhile.

        Uses only the sizes of the pairwise intersections of all points.
        """
        if size < _MANY or depth < _DEEP:
            return None
        length = max(map(int.bit_length, self._ones), default=0)
        if length * len(self._ones) > _LARGEST_MATRIX:
            return None
        if self._matrix is None:
            self._matrix = np.stack([_bits(part, length) for part in self._ones], axis=1)
        both = _intersections(self._matrix[np.flatnonzero(_bits(concepts, length))].T)
        ones, enough = np.diag(both), 1 << (depth - 2)
        inside = np.minimum(both, ones[:, None] - both).max(axis=1)
        points = np.flatnonzero(inside >= enough)  # often none
        both, rest = both[points], size - ones[points, None]
        outside = ones - both
        outside = np.minimum(outside, rest - outside).max(axis=1)
        return {self._ones[i] for i in points[outside >= enough]}

    def _splits(
        self, concepts: int, size: int, depth: int, part: int, ones: Collection[int]
    ) -> bool:
        """Return whether ``part`` leaves dimension ``depth - 1`` inside it and outside it."""
        side = concepts & part
        count = side.bit_count()
        if 2 * count > size:
            side ^= concepts
            count = size - count
        return (
            count >> (depth - 1) > 0
            and self._at_least(side, depth - 1, ones)
            and self._at_least(concepts ^ side, depth - 1, ones)
        )


def _batches(ones: Collection[int]) -> Iterator[Collection[int]]:
    """Yield the points in one batch, or in several if there are many, as good ones come early."""
    if len(ones) <= _BATCH:
        yield ones
        return
    points = iter(ones)
    while batch := list(islice(points, _BATCH)):
        yield batch


def _balance(concepts: int, size: int, ones: Iterable[int]) -> dict[int, int]:
    """Return the smaller side's size for each splitting point, one point per split."""
    sides: dict[int, int] = {}
    balance: dict[int, int] = {}
    for part in ones:
        side = concepts & part
        count = side.bit_count()
        if 2 * count > size:
            side ^= concepts
            count = size - count
        if count and sides.setdefault(side, part) == part:
            balance[part] = count
    return balance


def _intersections(sets: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the size of each pairwise intersection of rows, by counting bits.

    A matrix product is no faster on one thread, and slower on several that wait for each other.
    """
    packed = np.packbits(sets, axis=1)
    padded = np.zeros((len(sets), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = np.ascontiguousarray(padded.view(np.uint64).T)
    # Signed, since they are subtracted; short ones are faster.
    both = np.zeros((len(sets), len(sets)), dtype=np.min_scalar_type(~sets.shape[1] - 256))
    for start in range(0, len(sets), _BLOCK):
        here = slice(start, start + _BLOCK)
        common = np.empty((len(sets[here]), len(sets) - start), dtype=np.uint64)
        counts = np.empty(common.shape, dtype=np.uint8)
        found = both[here, start:]
        for word in words:
            np.bitwise_and(word[here, None], word[start:], out=common)
            found += np.bitwise_count(common, out=counts)
        both[start:, here] = found.T
    return both


def _bits(part: int, length: int) -> NDArray[np.uint8]:
    packed = np.frombuffer((part & (1 << length) - 1).to_bytes(-(-length // 8), "little"), np.uint8)
    return np.unpackbits(packed, bitorder="little", count=length)


@require.checked
def vc_dimension(concepts: ConceptClass) -> int:
    """Return the size of the largest set of points that ``concepts`` labels in every way."""
    return concepts.vc_dimension


def bit_set_vc_dimension(ones: Sequence[int], concepts: int) -> int:
    """Return the VC dimension of a subclass; ``ones[x]`` are the concepts with label 1 at x."""
    if concepts == 0:
        return -1
    splitting = sorted({concepts & part for part in ones} - {0, concepts})
    return _largest_extension(splitting, [concepts], 0)


def _largest_extension(ones: Sequence[int], cells: list[int], known: int) -> int:
    """Return the size of the largest extension of the shattered set with patterns ``cells``.

    Each further point doubles every cell, so the smallest cell bounds how many can follow;
    ``known`` is the size that another branch has reached.
    """
    best = max(known, 0)
    most = min(cell.bit_count() for cell in cells).bit_length() - 1
    for number, part in enumerate(ones):
        if best >= min(most, len(ones) - number):
            break
        halves = [half for cell in cells for half in (cell & part, cell & ~part)]
        if all(halves):
            below = _largest_extension(ones[number + 1 :], halves, best - 1)
            best = max(best, 1 + below)
    return best
