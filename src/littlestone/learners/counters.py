"""Many noisy counters side by side, of which an example moves one.

The gap of a counter is its noisy threshold minus its count. In every round every counter gets fresh
query noise, and fires if the noise reaches its gap. While a gap stands still, the round in which
this first happens is drawn at once (``privacy/mechanisms/count_above_threshold.md``, "The fast run
has the same law"); it is stored only if it lies within the horizon.
"""

import heapq
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.learners.engine import Engine
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.randomness import Randomness

# The next change may come soon after one, so blocks start short and grow.
_FIRST_LOOK: Final = 1 << 7
_LONGEST_LOOK: Final = 1 << 16


@dataclass(init=False, eq=False, repr=False)
class CountersEngine(Engine):
    """Count mistakes, and skip rounds without one until some counter fires."""

    ledger: Ledger
    hypothesis: Hypothesis
    _round: int
    _gaps: dict[Point, int]
    _turns: list[tuple[int, int, bool, Point]]
    """A heap of (round, number, fires, key): when each counter is due."""
    _newest: dict[Point, int]
    """The number of each counter's valid turn; older turns belong to gaps that have moved."""
    _numbers: int

    def __init__(
        self, recipe: Any, rng: Randomness, *, query_rate: float, threshold_rate: float
    ) -> None:
        self._recipe, self._rng = recipe, rng
        self._noise = Geometric(rate=threshold_rate)
        self._waiting = WaitingTime(rate=query_rate)

    def begin_counting(self, what: str) -> None:
        """Start without counters; one charge covers all of them, as an example moves only one."""
        recipe = self._recipe
        self.ledger = Ledger(budget=recipe.budget, private=self._rng.private)
        self.ledger.charge(what, recipe.per_example, first=1)
        self._round = self._numbers = 0
        self._gaps, self._turns, self._newest = {}, [], {}

    @abstractmethod
    def _count_mistake(self, x: Any, y: Label) -> None:
        """Move the counter that this mistake is for, by ``_count``."""

    @abstractmethod
    def _accept(self, due: list[Point]) -> None:
        """Handle the counters that fired, ordered by their keys alone."""

    def step(self, x: Any, y: Label, /) -> None:
        """Take one round: count a mistake, and let the counters fire that are due."""
        self._round += 1
        if self.hypothesis(x) != y:
            self._count_mistake(x, y)
        if self._turns and self._turns[0][0] <= self._round:
            self._fire()

    def steps(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes, skipping those without a mistake."""
        published, start = self.hypothesis, self._round
        for first, mistakes, length in self._looks(xs, ys):
            for position, x, y in mistakes:
                now = start + first + position + 1
                if self.passes(now - 1, published):
                    return self._round - start
                self._round = now
                self._count_mistake(x, y)
                if self._turns and self._turns[0][0] <= now:
                    self._fire()
                    if self.hypothesis is not published:
                        return self._round - start
            if self.passes(start + first + length, published):
                return self._round - start
        return len(ys)

    def _looks(self, xs: Any, ys: Any) -> Iterator[tuple[int, Iterator[tuple[int, Any, int]], int]]:
        """Yield stretches of the block: start, mistakes and length of each."""
        first, size = 0, _FIRST_LOOK
        while first < len(ys):
            points, labels = xs[first : first + size], ys[first : first + size]
            places = np.flatnonzero(self.hypothesis.many(points) != labels)
            wrong = labels[places].tolist()
            if isinstance(points, np.ndarray):
                chosen = points[places].tolist()
                keys = chosen if points.ndim == 1 else list(map(tuple, chosen))
            else:
                keys = [points[place] for place in places.tolist()]
            yield first, zip(places.tolist(), keys, wrong, strict=True), len(labels)
            first, size = first + size, min(2 * size, _LONGEST_LOOK)

    def passes(self, last: int, published: Hypothesis) -> bool:
        """Play the rounds up to ``last`` without a mistake; return whether the rule changes."""
        while self._turns and self._turns[0][0] <= last:
            self._round = self._turns[0][0]
            self._fire()
            if self.hypothesis is not published:
                return True
        self._round = last
        return False

    def _coins(self, key: Point, purpose: str) -> Randomness:
        """Return the randomness for the noise of ``key``; one draw a round for each purpose."""
        del key, purpose
        return self._rng

    def _waiting_of(self, key: Point) -> WaitingTime:
        """Return the waiting time of the counter's query noise for a gap."""
        del key
        return self._waiting

    def _draw_turn(self, key: Point, first: int) -> None:
        """Draw when, from round ``first`` on, query noise first reaches the gap of ``key``."""
        purpose = "counted" if first == self._round else "after"
        wait = self._waiting_of(key).draw(self._gaps[key], self._coins(key, purpose))
        turn = first + min(wait, LIMIT) - 1
        if turn > self._recipe.rounds:
            self._newest.pop(key, None)
            return
        self._numbers += 1
        self._newest[key] = self._numbers
        heapq.heappush(self._turns, (turn, self._numbers, wait <= LIMIT, key))

    def _fire(self) -> None:
        """Fire the counters that are due."""
        due: list[Point] = []
        while self._turns and self._turns[0][0] <= self._round:
            _, number, fires, key = heapq.heappop(self._turns)
            if self._newest.get(key) != number:  # the gap has moved
                continue
            if fires:
                due.append(key)
                del self._newest[key], self._gaps[key]
            else:
                self._draw_turn(key, self._round + 1)  # waiting times have no memory
        if due:
            due.sort(key=key_order)  # the order of firing would reveal the order of mistakes
            self._accept(due)
