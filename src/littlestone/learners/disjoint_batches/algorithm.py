"""Fill a batch, draw from it, forget it; and in between watch short windows."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from littlestone.concepts.capabilities import WithConstants
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.learners.engine import Engine
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.disjoint_batches.recipe import DisjointBatches

# While windows are watched, one round of so many goes to the batches, and one to recent batches.
_CYCLE: Final = 8
# How much likelier than any other candidate the rule is to be chosen, all else being equal.
_TRUST: Final = 18


@dataclass(init=False, eq=False, repr=False)
class DisjointBatchesEngine(Engine):
    """One batch, one recent batch and one window at a time, each read by one draw."""

    ledger: Ledger
    hypothesis: Hypothesis
    _rule: Hypothesis
    """What was drawn from the last batch."""
    _recent: Hypothesis
    """What was drawn from the last recent batch; the rule, until there is one."""
    _shown: int
    """Which of the candidates is published."""
    _watching: bool
    _played: int
    _batches: int
    _batch: dict[Point, tuple[int, int]]
    _recent_batch: dict[Point, tuple[int, int]]
    _window: dict[Point, tuple[int, int]]
    _in_batch: int
    _in_recent_batch: int
    _in_window: int

    def __init__(self, recipe: "DisjointBatches", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._drawing = recipe.drawing()
        self._choice = ExponentialMechanism(epsilon=recipe.epsilon, range_width=2)
        concepts = recipe.concepts
        self._constants = (
            [concepts.constant(label) for label in (0, 1)]
            if isinstance(concepts, WithConstants)
            else []
        )

    def begin(self) -> None:
        recipe = self._recipe
        self.ledger = Ledger(budget=recipe.per_example, private=self._rng.private)
        # Every example is read by one draw: together they cost what one of them costs.
        self.ledger.charge("draws from disjoint batches", recipe.per_example, first=1)
        first = self._constants[0] if self._constants else next(iter(recipe.concepts.concepts()))
        self._rule = self._recent = self.hypothesis = first  # (L1)
        self._shown = self._played = self._batches = 0
        self._in_batch = self._in_recent_batch = self._in_window = 0
        self._batch, self._recent_batch, self._window = {}, {}, {}
        self._watching = self._is_time_to_watch()

    def step(self, x: Any, y: Label, /) -> None:
        self._take(x, (1 - y, y))

    def idle(self, x: Any, /) -> None:
        self._take(x, (0, 0))

    def _take(self, x: Point, labels: tuple[int, int]) -> None:
        """One round, with how often each label came in it."""
        self._played += 1
        turn = self._played % _CYCLE if self._watching else 0
        if turn == 0 and self._ends_in_time():
            _count(self._batch, x, labels)  # (L2)
            self._in_batch += 1
            if self._in_batch == self._recipe.batch_size(self._batches):
                self._draw()
        elif turn % (_CYCLE // 2) == 0 and self._recipe.recent_size:
            _count(self._recent_batch, x, labels)  # (L2)
            self._in_recent_batch += 1
            if self._in_recent_batch == self._recipe.recent_size:
                self._draw_recent()
        else:
            _count(self._window, x, labels)  # (L2)
            self._in_window += 1
            if self._in_window == self._recipe.window:
                self._choose()

    def _is_time_to_watch(self) -> bool:
        """Asked when a batch begins; a function of the number of rounds alone."""
        recipe = self._recipe
        choice = len(self._candidates()) > 1 and bool(recipe.window)
        return choice and recipe.is_watched(self._played, self._batches)

    def _ends_in_time(self) -> bool:
        """Whether the batch does, as planned; from its beginning to its end the answer is one."""
        latest = self._recipe.latest_end
        if latest is None or not self._watching:
            return True
        turns = 1 + (latest - self._played) // _CYCLE
        return self._in_batch + turns >= self._recipe.batch_size(self._batches)

    def _candidates(self) -> list[Hypothesis]:
        recent = [self._recent] if self._recipe.recent else []
        return [self._rule, *recent, *self._constants]

    def _draw(self) -> None:
        self._rule = self._drawing.draw(self._batch, near=self._rule, rng=self._rng)  # (L3)
        if not self._watching:
            self._recent = self._rule
        self._batch, self._in_batch = {}, 0
        self._batches += 1
        self._watching = self._is_time_to_watch()
        self._publish(0)

    def _draw_recent(self) -> None:
        drawn = self._drawing.draw(self._recent_batch, near=self._recent, rng=self._rng)  # (L4)
        self._recent = drawn
        self._recent_batch, self._in_recent_batch = {}, 0
        self._publish(self._shown)

    def _choose(self) -> None:
        candidates = self._candidates()
        points = block_of(self._recipe.concepts.domain, list(self._window))
        zeros, ones = np.array(list(self._window.values())).T
        errors = [int(np.where(each.many(points), zeros, ones).sum()) for each in candidates]
        weights = [_TRUST] + [1] * (len(candidates) - 1)
        weights[self._shown] += sum(weights)  # what did well is likely to go on doing well
        (place,) = self._choice.draw(errors, multiplicities=weights, rng=self._rng)  # (L5)
        self._window, self._in_window = {}, 0
        self._publish(bisect_right(list(accumulate(weights)), place))

    def _publish(self, number: int) -> None:
        self._shown = number
        chosen = self._candidates()[number]
        if chosen != self.hypothesis:
            self.hypothesis = chosen


def _count(tally: dict[Point, tuple[int, int]], x: Point, labels: tuple[int, int]) -> None:
    zeros, ones = tally.get(x, (0, 0))
    tally[x] = (zeros + labels[0], ones + labels[1])
