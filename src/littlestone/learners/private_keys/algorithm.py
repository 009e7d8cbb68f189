"""One noisy counter for each key: of reports while it is not listed, of complaints while it is."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.engine import Engine
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_keys.recipe import PrivateKeys

# After a change of the list the next one may be near; the longer it stays the longer are the looks.
_FIRST_LOOK: Final = 1 << 7
_LONGEST_LOOK: Final = 1 << 16


@dataclass(init=False, eq=False, repr=False)
class PrivateKeysEngine(Engine):
    """The gap of a key is its noisy threshold minus what was counted for it.

    While a gap stands still, the round in which query noise first reaches it is drawn at once, as
    in ``mechanisms/count_above_threshold.md``; it is remembered only if it lies within the horizon.
    """

    ledger: Ledger
    hypothesis: FiniteSupport
    _round: int
    _gaps: dict[Point, int]
    """Of reports for a key that is not listed, of complaints for one that is."""
    _turns: list[tuple[int, int, bool, Point]]
    """When which counter fires: a heap of (round, number, whether it does, key)."""
    _newest: dict[Point, int]
    """The number of the key's turn that counts; gaps that moved since have others."""
    _numbers: int

    def __init__(self, recipe: "PrivateKeys", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._noise = Geometric(rate=recipe.watch.threshold_rate)  # (L1)
        self._waiting = WaitingTime(rate=recipe.watch.query_rate)

    def begin(self) -> None:
        recipe = self._recipe
        self.ledger = Ledger(budget=recipe.budget, private=self._rng.private)
        # An example counts for one key, and the keys have independent noise: one charge for all.
        self.ledger.charge("counters of all keys", recipe.per_example, first=1)
        self.hypothesis = FiniteSupport(frozenset())
        self._round = self._numbers = 0
        self._gaps, self._turns, self._newest = {}, [], {}

    def step(self, x: Any, y: Label, /) -> None:
        self._round += 1
        listed = x in self.hypothesis.positives
        if listed != bool(y):
            self._count(x, listed)
        if self._turns and self._turns[0][0] <= self._round:
            self._fire()

    def steps(self, xs: Any, ys: Any, /) -> int:
        """Rounds without a mistake are passed over until a counter fires in one of them."""
        published, start = self.hypothesis, self._round
        for first, mistakes, length in self._looks(xs, ys):
            for position, x in mistakes:
                now = start + first + position + 1
                if self.passes(now - 1, published):
                    return self._round - start
                self._round = now
                self._count(x, x in published.positives)
                if self._turns and self._turns[0][0] <= now:
                    self._fire()
                    if self.hypothesis is not published:
                        return self._round - start
            if self.passes(start + first + length, published):
                return self._round - start
        return len(ys)

    def _looks(self, xs: Any, ys: Any) -> Iterator[tuple[int, Iterator[tuple[int, Any]], int]]:
        """Stretches of the block: where each starts, its mistakes, how long it is."""
        first, size = 0, _FIRST_LOOK
        while first < len(ys):
            points, labels = xs[first : first + size], ys[first : first + size]
            places = np.flatnonzero(self.hypothesis.many(points) != labels)
            if isinstance(points, np.ndarray):
                keys = points[places].tolist()
            else:
                keys = [points[place] for place in places.tolist()]
            yield first, zip(places.tolist(), keys, strict=True), len(labels)
            first, size = first + size, min(2 * size, _LONGEST_LOOK)

    def passes(self, last: int, published: FiniteSupport) -> bool:
        """Play the rounds up to ``last``, which count for nothing; whether the list changes."""
        while self._turns and self._turns[0][0] <= last:
            self._round = self._turns[0][0]
            self._fire()
            if self.hypothesis is not published:
                return True
        self._round = last
        return False

    def _coins(self, key: Point, purpose: str) -> Randomness:
        """What the noise of ``key`` is drawn from; of one purpose it has one draw in a round."""
        del key, purpose
        return self._rng

    def _count(self, key: Point, listed: bool) -> None:
        gap = self._gaps.get(key)
        if gap is None:
            assert not listed  # a listed key has had its noise since it was listed
            gap = self._recipe.reports + self._noise.draw(self._coins(key, "reports"))  # (L2)
        self._gaps[key] = gap - 1  # (L3)
        self._draw_turn(key, self._round)

    def _draw_turn(self, key: Point, first: int) -> None:
        """From round ``first`` on: when does query noise first reach the gap of ``key``?"""
        purpose = "counted" if first == self._round else "after"
        wait = self._waiting.draw(self._gaps[key], self._coins(key, purpose))  # (L4)
        turn = first + min(wait, LIMIT) - 1
        if turn > self._recipe.rounds:
            self._newest.pop(key, None)
            return
        self._numbers += 1
        self._newest[key] = self._numbers
        heapq.heappush(self._turns, (turn, self._numbers, wait <= LIMIT, key))

    def _fire(self) -> None:
        """List and unlist the keys whose turn has come."""
        due: list[Point] = []
        while self._turns and self._turns[0][0] <= self._round:
            _, number, fires, key = heapq.heappop(self._turns)
            if self._newest.get(key) != number:  # the gap has moved since
                continue
            if fires:
                due.append(key)
                del self._newest[key], self._gaps[key]
            else:
                self._draw_turn(key, self._round + 1)  # tosses have no memory
        if due:
            due.sort(key=key_order)  # a set shows the order in which it grew
            listed = self.hypothesis.positives ^ frozenset(due)  # (L5)
            for key in filter(listed.__contains__, due):
                noise = self._noise.draw(self._coins(key, "complaints"))
                self._gaps[key] = self._recipe.complaints + noise  # (L6)
                self._draw_turn(key, self._round + 1)
            self.hypothesis = FiniteSupport(listed)
