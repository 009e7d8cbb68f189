"""Witness systems of thresholds and intervals: a search on a line that can undo wrong steps.

A search keeps its nested stretches of the line. A step that contradicts a bound of the last stretch
undoes the step that set this bound and all later ones, without a restart. Cut points are chosen
such that a wrong step is contradicted soon (recipe.md of ``PrivateWitnesses``, "Lines").
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from littlestone.concepts.capabilities import PlacingSystem, WitnessLoad, WitnessSystem
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.concepts.witness_systems import AGAIN, PLACE, line_depths

Path = tuple[tuple[int, int], ...]
"""The nested stretches of a search, from the whole line: first and last place of each."""

MOST_CONTRADICTIONS: Final = 2
"""The limit per epoch of an interval; a false point is contradicted repeatedly."""


@lru_cache(maxsize=1 << 16)
def _room(height: int, left: int, right: int, edge: int) -> int:
    """Return how many places a search of this height can distinguish.

    Its first place must be cut at within ``left`` steps, its last one within ``right``, and
    wherever a step sets a new bound, the place beside it within ``edge`` steps.
    """
    if min(height, left, right) <= 0:
        return 0
    smaller, larger = (
        _room(height - 1, left - 1, edge, edge),
        _room(height - 1, edge, right - 1, edge),
    )
    return 1 + smaller + larger


@lru_cache(maxsize=1 << 10)
def _edge(size: int, steps: int) -> int:
    most = steps + 1
    return bisect_left(range(most), size, lo=1, key=lambda edge: _room(most, most, most, edge))


@dataclass(frozen=True, slots=True)
class Line:
    """The search for one of the places 0 .. size - 1 by at most ``steps`` true steps.

    >>> [Line.of(size).edge for size in (1, 3, 7, 1023, 1024)], Line(1023, 10).edge
    ([1, 1, 2, 9, 4], 4)
    """

    size: int
    steps: int

    @classmethod
    def of(cls, size: int) -> "Line":
        """Return the search with the fewest steps."""
        return cls(size, size.bit_length() - 1)

    @property
    def edge(self) -> int:
        """The number of further steps within which every wrong step is contradicted."""
        return _edge(self.size, self.steps)

    def begin(self) -> Path:
        """Return the search of the whole line."""
        return ((0, self.size - 1),)

    def middle(self, path: Path) -> int:
        """Return the place, near the middle, at which the last stretch is cut."""
        edge, (low, high) = self.edge, path[-1]
        height = self.steps + 2 - len(path)
        left, right = (self._within(path, side, height, edge) for side in (0, 1))
        smaller = _room(height - 1, left - 1, edge, edge)
        larger = _room(height - 1, edge, right - 1, edge)
        return low + min(max((high - low) // 2, high - low - larger), smaller)

    def _within(self, path: Path, side: int, height: int, edge: int) -> int:
        """Return the number of steps within which the last place of a side must be cut."""
        bound = path[-1][side]
        if bound == path[0][side]:  # no step has set it
            return height
        return edge + 1 - sum(stretch[side] == bound for stretch in path)

    def after(self, path: Path, larger: bool) -> Path | None:
        """Return the search after one step; None if it leaves the line."""
        (low, high), middle = path[-1], self.middle(path)
        stretch = (middle + 1, high) if larger else (low, middle - 1)
        if stretch[0] <= stretch[1]:
            return *path, stretch
        side = 1 if larger else 0
        before = [i for i, one in enumerate(path) if one[side] != path[-1][side]]
        return path[: before[-1] + 1] if before else None

    def contradicts(self, path: Path, larger: bool) -> bool:
        """Whether a step leaves nothing of the last stretch."""
        return self.middle(path) == path[-1][1 if larger else 0]


@dataclass(frozen=True, slots=True)
class ThresholdSystem(WitnessSystem):
    """Halve the thresholds left: a mistake of the published one names the target's side.

    For any target, all mistakes of one state name the same side. A key is the published threshold
    and the label of its mistakes, prefixed by AGAIN if it contradicts an accepted step.
    """

    n: int
    rule: Callable[[int], Hypothesis] = field(compare=False)
    """The hypothesis with a threshold."""

    @property
    def _line(self) -> Line:
        return Line.of(self.n + 1)

    def begin(self) -> Path:
        return self._line.begin()

    def hypothesis(self, state: Path, /) -> Hypothesis:
        return self.rule(self._line.middle(state))

    def live(self, state: Path, /) -> tuple[Point, ...]:
        return self.named_by(state, 0, 0), self.named_by(state, 0, 1)

    def named_by(self, state: Path, x: int, y: Label, /) -> Point:
        key = (self._line.middle(state), y)
        return (AGAIN, *key) if self._line.contradicts(state, not y) else key

    def after(self, state: Path, key: Any, /) -> Path | None:
        return self._line.after(state, not key[-1])

    def loads(self) -> list[WitnessLoad]:
        """Return the load: both keys may be false, until ``edge`` steps contradict them."""
        line = self._line
        return [WitnessLoad(line.steps, counters=2, again=2, back=line.edge)]


def _steps(n: int, p: int) -> int:
    return (p + 1).bit_length() + (n - p).bit_length() - 2


@lru_cache(maxsize=256)
def _lines(rank: int, most: int, *sizes: int) -> tuple[Line, Line]:
    """Return two searches of these sizes with ``rank`` steps in total and at most ``most`` each.

    Spare steps go where wrong steps last longest.
    """
    left, right = (Line.of(size) for size in sizes)
    while left.steps + right.steps < rank:
        if right.steps == most or (left.edge > right.edge and left.steps < most):
            left = Line(left.size, left.steps + 1)
        else:
            right = Line(right.size, right.steps + 1)
    return left, right


@dataclass(frozen=True, slots=True)
class IntervalSystem(PlacingSystem):
    """Find a point inside, then search how far the interval reaches on both sides.

    A state is the point, the number of contradictions, and the two searches; () before a point is
    found. A key is the end, the distance published and 1 for "farther", 0 for "nearer".
    """

    n: int
    rule: Callable[[tuple[tuple[int, int], ...] | None], Hypothesis] = field(compare=False)
    """The interval with this first and last point; None for 0 everywhere."""

    @property
    def sought(self) -> int:
        return 1

    @property
    def places(self) -> int:
        return self.n

    @property
    def renews(self) -> bool:
        return False

    @property
    def rank(self) -> int:
        """The largest number of true witnesses that are accepted while no false one is."""
        return _steps(self.n, self.deepest)

    @property
    def deepest(self) -> int:
        """The point around which both ends can be halved most often."""
        points = [(1 << j) - 1 for j in range(self.n.bit_length())]
        return max(points, key=lambda p: _steps(self.n, p))

    def _lines(self, p: int) -> tuple[Line, Line]:
        return _lines(self.rank, self._most, p + 1, self.n - p)

    @property
    def _most(self) -> int:
        """The most steps of one search."""
        return self.n.bit_length() - 1

    def begin(self) -> Any:
        return ()

    def hypothesis(self, state: Any, /) -> Hypothesis:
        if not state:
            return self.rule(None)
        near, far = self._reach(state)
        return self.rule(((state[0] - near, state[0] + far),))

    def _reach(self, state: Any) -> tuple[int, int]:
        p, _, *paths = state
        near, far = (line.middle(path) for line, path in zip(self._lines(p), paths, strict=True))
        return near, far

    def live(self, state: Any, /) -> tuple[Point, ...]:
        if not state:
            return (PLACE,)
        return tuple(self._key(state, end, farther) for end in (0, 1) for farther in (0, 1))

    def _key(self, state: Any, end: int, farther: int) -> Point:
        line, path = self._lines(state[0])[end], state[2 + end]
        key = (end, line.middle(path), farther)
        return (AGAIN, *key) if line.contradicts(path, bool(farther)) else key

    def place(self, state: Any, x: Any, /) -> int:
        place: int = x[0] if isinstance(x, tuple) else x
        return place

    def named_by(self, state: Any, x: Any, y: Label, /) -> Point:
        if not state:
            return PLACE
        # A mistake at the found point itself is attributed to the first end.
        return self._key(state, int(self.place(state, x) > state[0]), y)

    def after(self, state: Any, key: Any, /) -> Any | None:
        if not state:
            p: int = key[1]
            return p, 0, *(line.begin() for line in self._lines(p))
        p, contradictions, *paths = state
        *again, end, _, farther = key
        path = self._lines(p)[end].after(paths[end], bool(farther))
        contradictions += len(again)
        if path is None or contradictions > MOST_CONTRADICTIONS:
            return None
        paths[end] = path
        return p, contradictions, *paths

    def loads(self) -> list[WitnessLoad]:
        """Return one load for each possible pair of heights."""
        sums, found = self.n + 1, set()
        for left in range(1, self.n.bit_length() + 1):
            least, most = 1 << left - 1, min((1 << left) - 1, self.n)
            for right in range((sums - most).bit_length(), (sums - least).bit_length() + 1):
                other = 1 << right - 1
                sizes = min(most, sums - other), min(2 * other - 1, sums - least)
                found.add(self._load(_lines(self.rank, self._most, *sizes)))
        return sorted(found, key=lambda load: load.back or 0)

    def _load(self, lines: tuple[Line, Line]) -> WitnessLoad:
        """Return the load: after a false point both keys of an end may move for a while."""
        edge = max(line.edge for line in lines)
        visited = 1 + self._most + MOST_CONTRADICTIONS * (edge + 1)
        astray = 2 * visited + self.rank - self._most + 1
        return WitnessLoad(self.rank, counters=4, again=4, back=edge, astray=astray)

    def depths(self, places: list[int], /) -> tuple[list[int], list[int]]:
        return line_depths(places, self.n)

    def place_at(self, places: list[int], position: int, /) -> int:
        del places
        return position
