"""Fill a batch, draw a rule from it, forget it; in between read short windows."""

import sys
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from littlestone.concepts.capabilities import WithConstants
from littlestone.concepts.domain import block_of
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.learners.engine import Engine
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.disjoint_batches.recipe import DisjointBatches

# One round of so many goes to windows, once there are any.
CYCLE: Final = 4
# Prior weights of the rule, of each constant and of the newest of the voting rules, and the bonus
# of the published one.
_TRUST, _CONSTANT, _NEWEST, _SHOWN = 120, 1, 40, 24
_NO_LABEL: Final = -1


@dataclass(init=False, eq=False, repr=False)
class DisjointBatchesEngine(Engine):
    """Hold one batch and one window at a time, each read by one draw."""

    ledger: Ledger
    hypothesis: Hypothesis
    _rule: Hypothesis
    """The rule drawn from the last batch, or the vote of those drawn from the last three."""
    _drawn: list[Hypothesis]
    """The rules drawn from the last batches, at most three; the newest last."""
    _lengths: list[int]
    """The rounds of these batches."""
    _shown: int
    """Which of the rule and the constants, "always 0", "always 1", …, is published."""
    _played: int
    _batches: int
    _size: int
    """The rounds of the current batch."""
    _points: list[Point]
    """The points of the current batch so far."""
    _labels: list[int]
    """Their labels; -1 for a round without an example."""
    _window_points: list[Point]
    _window_labels: list[int]

    def __init__(self, recipe: "DisjointBatches", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._drawing = recipe.drawing()
        self._choice = ExponentialMechanism(epsilon=recipe.epsilon, range_width=2)
        concepts = recipe.concepts
        self._label_count = recipe.label_count
        self._constants = (
            [concepts.constant(label) for label in range(self._label_count)]
            if isinstance(concepts, WithConstants)
            else []
        )
        # Rounds up to this one all go to batches.
        watched = recipe.watched_from if recipe.window and self._constants else None
        self._unwatched = sys.maxsize if watched is None else watched - 1

    def begin(self) -> None:
        """Start with the first constant and an empty batch."""
        recipe = self._recipe
        self.ledger = Ledger(budget=recipe.per_example, private=self._rng.private)
        # Every example is read by one draw: together they cost what one of them costs.
        self.ledger.charge("draws from disjoint batches", recipe.per_example, first=1)
        first = self._constants[0] if self._constants else next(iter(recipe.concepts.concepts()))
        self._rule = self.hypothesis = first  # (L1)
        self._drawn, self._lengths = [first], [0]
        self._shown = self._played = self._batches = 0
        self._points, self._labels = [], []
        self._window_points, self._window_labels = [], []
        self._size = recipe.batch_size(0, 0)

    def step(self, x: Any, y: Label, /) -> None:
        """Add an example to the batch or the window, and draw when it is full."""
        self._played = played = self._played + 1
        if played % CYCLE == 0 and played > self._unwatched:
            self._window_points.append(x)  # (L2)
            self._window_labels.append(y)
            if len(self._window_labels) == self._recipe.window:
                self._choose()
            return
        self._points.append(x)  # (L2)
        self._labels.append(y)
        if len(self._labels) == self._size:
            self._draw()

    def idle(self, x: Any, /) -> None:
        """Play a round without an example."""
        self.step(x, _NO_LABEL)

    def steps(self, xs: Any, ys: Any, /) -> int:
        """Play rounds until the published hypothesis changes; return how many."""
        published, taken = self.hypothesis, 0
        while taken < len(ys) and self.hypothesis is published:
            taken += self._some(xs[taken:], ys[taken:])
        return taken

    def _some(self, xs: Any, ys: Any) -> int:
        """Take rounds up to the next draw; return how many."""
        count = min(len(ys), self._rounds_to_a_draw())
        points, labels = xs[:count], ys[:count].tolist()
        if isinstance(points, np.ndarray):
            points = (
                list(zip(*points.T.tolist(), strict=True)) if points.ndim > 1 else points.tolist()
            )
        first = max(self._played, self._unwatched) // CYCLE * CYCLE + CYCLE  # of a window
        self._played += count
        if first > self._played:
            self._points.extend(points)  # (L2)
            self._labels.extend(labels)
        else:
            points, start = list(points), count - 1 - (self._played - first)
            self._window_points.extend(points[start::CYCLE])  # (L2)
            self._window_labels.extend(labels[start::CYCLE])
            del points[start::CYCLE], labels[start::CYCLE]
            self._points.extend(points)
            self._labels.extend(labels)
        if len(self._labels) == self._size:
            self._draw()
        elif self._window_labels and len(self._window_labels) == self._recipe.window:
            self._choose()
        return count

    def _rounds_to_a_draw(self) -> int:
        """Return how many rounds fill the batch or the window, whichever is full first."""
        played, room = self._played, self._size - len(self._labels)
        if played + room <= self._unwatched:
            return room
        before = max(played, self._unwatched) // CYCLE
        left = (self._recipe.window or 0) - len(self._window_labels)
        end, filled = played + room, 0
        while filled < room:  # rounds of windows do not fill the batch
            filled = end - played - max(0, end // CYCLE - before)
            end += room - filled
        return min(end, (before + left) * CYCLE) - played

    def _draw(self) -> None:
        batch = _counted(self._points, self._labels, self._label_count)
        drawn = self._drawing.draw(
            batch, rounds=self._size, near=self._drawn[-1], rng=self._rng
        )  # (L3)
        self._points, self._labels = [], []
        voters = self._recipe.voters or 1
        self._drawn = [*self._drawn, drawn][-voters:]
        self._lengths = [*self._lengths, self._size][-voters:]
        self._rule = self._vote()
        self._batches += 1
        self._size = self._recipe.batch_size(self._batches, self._played)
        self._publish(0)

    def _choose(self) -> None:
        points = block_of(self._recipe.concepts.domain, self._window_points)
        labels = np.array(self._window_labels)
        known = labels != _NO_LABEL
        # A constant errs on every other label: its errors need no predictions.
        errors = [
            int(known.sum() - (labels == place - 1).sum())
            if 1 <= place <= len(self._constants)
            else int(((each.many(points) != labels) & known).sum())
            for place, each in enumerate(self._candidates())
        ]
        weights = [_TRUST, *(_CONSTANT for _ in self._constants), _NEWEST][: len(errors)]
        weights[self._shown] += _SHOWN  # a rule that did well is likely to do well again
        (place,) = self._choice.draw(errors, multiplicities=weights, rng=self._rng)  # (L4)
        self._window_points, self._window_labels = [], []
        self._publish(bisect_right(list(accumulate(weights)), place))

    def _vote(self) -> Hypothesis:
        """Return the newest rule, or the vote if its batch was shorter than the others together."""
        drawn, lengths = self._drawn, self._lengths
        if lengths[-1] >= sum(lengths[:-1]):
            return drawn[-1]
        agreed = [rule for rule in drawn if 2 * drawn.count(rule) > len(drawn)]
        return agreed[0] if agreed else MajorityVote(drawn)

    def _candidates(self) -> list[Hypothesis]:
        newest = self._drawn[-1]
        others = [] if newest == self._rule else [newest]
        return [self._rule, *self._constants, *others]

    def _publish(self, number: int) -> None:
        self._shown = number
        chosen = self._candidates()[number]
        if chosen != self.hypothesis:
            self.hypothesis = chosen


def _counted(points: list[Point], labels: list[int], count: int) -> dict[Point, list[int]]:
    """Return how often each point came with each of so many labels."""
    tally: dict[Point, list[int]] = {}
    for point, label in zip(points, labels, strict=True):
        counts = tally.get(point)
        if counts is None:
            counts = tally[point] = [0] * count
        if label != _NO_LABEL:
            counts[label] += 1
    return tally
