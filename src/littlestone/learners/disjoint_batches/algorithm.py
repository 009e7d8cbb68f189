"""Fill a batch, draw from it, forget it; and in between watch short windows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from littlestone.concepts.capabilities import WithConstants
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.learners.engine import Engine
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.disjoint_batches.recipe import DisjointBatches

# While windows are watched, one round of so many goes to the batches.
_SHARE: Final = 4
# How much likelier than either constant the rule is to be chosen, all errors being equal.
_TRUST: Final = 18


@dataclass(init=False, eq=False, repr=False)
class DisjointBatchesEngine(Engine):
    """One batch and one window at a time, each read by one draw."""

    ledger: Ledger
    hypothesis: Hypothesis
    _rule: Hypothesis
    """What was drawn from the last batch."""
    _played: int
    _batches: int
    _batch: dict[Point, tuple[int, int]]
    _window: dict[Point, tuple[int, int]]
    _in_batch: int
    """The rounds since the batch began, those of windows too."""
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
        self._rule = self.hypothesis = first  # (L1)
        self._played = self._batches = self._in_batch = self._in_window = 0
        self._batch, self._window = {}, {}

    def step(self, x: Any, y: Label, /) -> None:
        self._played += 1
        self._in_batch += 1
        if self._is_watched(self._played):
            _count(self._window, x, y)  # (L2)
            self._in_window += 1
            if self._in_window == self._recipe.window:
                self._choose()
        else:
            _count(self._batch, x, y)  # (L2)
            if self._in_batch >= self._recipe.batch_size(self._batches):
                self._draw()

    def _is_watched(self, number: int) -> bool:
        """Whether the example of this round goes to a window; a function of its number alone."""
        recipe = self._recipe
        assert recipe.watched_from is not None
        watching = bool(self._constants) and bool(recipe.window)
        return watching and number >= recipe.watched_from and number % _SHARE != 0

    def _draw(self) -> None:
        self._rule = self._drawing.draw(self._batch, rng=self._rng)  # (L3)
        self._batches += 1
        self._batch, self._in_batch = {}, 0
        self._publish(self._rule)

    def _choose(self) -> None:
        candidates = [self._rule, *self._constants]
        errors = [_errors(candidate, self._window) for candidate in candidates]
        (place,) = self._choice.draw(errors, multiplicities=[_TRUST, 1, 1], rng=self._rng)  # (L4)
        self._window, self._in_window = {}, 0
        self._publish(candidates[max(0, place - _TRUST + 1)])

    def _publish(self, chosen: Hypothesis) -> None:
        if chosen != self.hypothesis:
            self.hypothesis = chosen


def _count(tally: dict[Point, tuple[int, int]], x: Point, y: Label) -> None:
    zeros, ones = tally.get(x, (0, 0))
    tally[x] = (zeros, ones + 1) if y else (zeros + 1, ones)


def _errors(hypothesis: Hypothesis, tally: dict[Point, tuple[int, int]]) -> int:
    labels = hypothesis.many(list(tally)).tolist()
    return sum(counts[1 - label] for label, counts in zip(labels, tally.values(), strict=True))
