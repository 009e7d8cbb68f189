"""Fill a batch, draw a rule from it, forget it; in between read short windows."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Branching, WithConstants
from littlestone.concepts.domain import block_of
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.errors import SnapshotError
from littlestone.learners.engine import Engine
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism, run_drawn
from littlestone.privacy.mechanisms.tree_weights import MOST_ROWS, Sample, rows_of
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.disjoint_batches.recipe import DisjointBatches

# Once there are windows, one round of CYCLE goes to them, or all but one while times change.
CYCLE: Final = 4
_USUAL, _MOST = 1, CYCLE - 1
# Times change if _MANY of the last _REMEMBERED windows drew a constant instead of the rule.
_REMEMBERED, _MANY = 64, 4
# Prior weights of the rule, of each constant (more while times change) and of the newest of the
# voting rules, and the bonus of the published one.
_TRUST, _CONSTANT, _NEWEST, _SHOWN = 120, {_USUAL: 1, _MOST: 10}, 40, 24
_NO_LABEL: Final = -1
# Windows whose rounds are looked at together; if the first one changes what is published, the look
# at the others is wasted.
_WINDOWS_AT_ONCE: Final = 16


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
    _against: list[int]
    """For each of the last windows, whether it drew a constant that is not the rule."""
    _watching: int
    """How many rounds of four go to windows while the current batch is filled."""
    _played: int
    _batches: int
    _size: int
    """The rounds of the current batch."""
    _points: list[Point]
    """The points of the current batch so far."""
    _labels: list[int]
    """Their labels; -1 for a round without an example."""
    _rows: list[NDArray[np.int64]]
    """Records of the current batch that came in blocks: their cells, and the label behind them."""
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
        self._known: tuple[Any, Any, list[Hypothesis]] = (None, None, [])
        # Rounds up to this one all go to batches.
        watched = recipe.watched_from if recipe.window and self._constants else None
        self._unwatched = sys.maxsize if watched is None else watched - 1
        # Rows of cells stay rows; points of other kinds, and records of very many fields, do not.
        self._widths: list[int] | None = None
        if isinstance(concepts, Branching) and concepts.schema.size < MOST_ROWS:
            self._widths = [part.cells for part in concepts.schema.fields]

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
        self._against, self._watching = [], _USUAL
        self._window_points, self._window_labels = [], []
        self._begin_batch()

    def _begin_batch(self) -> None:
        self._points, self._labels, self._rows = [], [], []
        if len(self._against) == _REMEMBERED:  # (L2)
            self._watching = _MOST if sum(self._against) >= _MANY else _USUAL
        thinned = (CYCLE - _USUAL) // (CYCLE - self._watching)
        self._size = self._room = self._recipe.batch_size(self._batches, self._played, thinned)

    def state(self) -> tuple[Any, ...]:
        """Return everything needed to continue; records as rows, however they came."""
        if self._widths is not None:
            self._rows = [self._all_rows(self._widths)]
            self._points, self._labels = [], []
            self.loaded()
        return super().state()

    def loaded(self) -> None:
        """Compute how many single rounds fill the batch; reject a full batch or window."""
        self._room = self._size - sum(map(len, self._rows))
        watched, window = len(self._window_labels), self._recipe.window or 1
        if not (len(self._labels) < self._room and watched < window):
            raise SnapshotError("a batch or window of this snapshot was full before its draw")
        if self._watching not in _CONSTANT:
            raise SnapshotError("windows of this snapshot get an impossible share of rounds")

    def step(self, x: Any, y: Label, /) -> None:
        """Add an example to the batch or the window, and draw when it is full."""
        self._played = played = self._played + 1
        if played > self._unwatched and -played % CYCLE < self._watching:
            self._window_points.append(x)  # (L2)
            self._window_labels.append(y)
            if len(self._window_labels) == self._recipe.window:
                self._choose()
            return
        self._points.append(x)  # (L2)
        self._labels.append(y)
        if len(self._labels) == self._room:
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
        """Take rounds until a rule is drawn or what is published changes; return how many."""
        room = self._room - len(self._labels)
        rounds = self._played + 1 + np.arange(min(len(ys), self._looked_at(room)))
        watched = (rounds > self._unwatched) & (-rounds % CYCLE < self._watching)
        filling = np.flatnonzero(~watched)
        count = int(filling[room - 1]) + 1 if len(filling) >= room else len(rounds)
        published, places = self.hypothesis, np.flatnonzero(watched[:count])
        if len(places):
            taken = self._watch(_some_of(xs, places), ys[places])
            if self.hypothesis is not published:
                count = int(places[taken - 1]) + 1
        self._played += count
        filling = filling[: np.searchsorted(filling, count)]
        self._gather(_some_of(xs, filling), ys[filling])
        if len(self._labels) == self._room:
            self._draw()
        return count

    def _looked_at(self, room: int) -> int:
        """Return how many rounds to look at together: a batch, or many windows."""
        if self._played + room <= self._unwatched:
            return room
        return _WINDOWS_AT_ONCE * (self._recipe.window or 0) * CYCLE // self._watching

    def _gather(self, points: Any, labels: NDArray[np.uint8]) -> None:
        """Add rounds to the batch."""
        if self._widths is not None:
            self._rows.append(np.column_stack([points, labels.astype(np.int64)]))  # (L2)
            self._room -= len(labels)
        else:
            self._points.extend(_single(points))  # (L2)
            self._labels.extend(labels.tolist())

    def _all_rows(self, widths: list[int]) -> NDArray[np.int64]:
        """Return the batch: cells, and the label behind them."""
        none = np.empty((0, len(widths) + 1), dtype=np.int64)
        singly = np.column_stack([rows_of(self._points), self._labels]) if self._labels else none
        return np.concatenate([none, *self._rows, singly])

    def _watch(self, points: Any, labels: NDArray[np.uint8]) -> int:
        """Add rounds to windows until what is published changes; return how many."""
        size, waiting = self._recipe.window or 0, len(self._window_labels)
        windows, taken, published = (waiting + len(labels)) // size, 0, self.hypothesis
        if windows:
            used = windows * size - waiting
            before = block_of(self._recipe.concepts.domain, self._window_points)
            known = np.concatenate([np.array(self._window_labels, dtype=np.int64), labels[:used]])
            wrong = self._wrong(_joined(before, points[:used]) if waiting else points[:used], known)
            self._window_points, self._window_labels = [], []
            for number, errors in enumerate(wrong.reshape(-1, windows, size).sum(axis=2).T):
                self._show(errors.tolist())  # (L2)
                taken = (number + 1) * size - waiting
                if self.hypothesis is not published:
                    return taken
        self._window_points.extend(_single(points[taken:]))  # (L2)
        self._window_labels.extend(labels[taken:].tolist())
        return len(labels)

    def _draw(self) -> None:
        batch = (
            _counted(self._points, self._labels, self._label_count)
            if self._widths is None
            else Sample.of_rows(self._all_rows(self._widths), self._widths, self._label_count)
        )
        drawn = self._drawing.draw(
            batch, rounds=self._size, near=self._drawn[-1], rng=self._rng
        )  # (L3)
        voters = self._recipe.voters or 1
        self._drawn = [*self._drawn, drawn][-voters:]
        self._lengths = [*self._lengths, self._size][-voters:]
        self._rule = self._vote()
        self._batches += 1
        self._begin_batch()
        self._publish(0)

    def _choose(self) -> None:
        points = block_of(self._recipe.concepts.domain, self._window_points)
        wrong = self._wrong(points, np.array(self._window_labels))
        self._window_points, self._window_labels = [], []
        self._show(wrong.sum(axis=1).tolist())

    def _wrong(self, points: Any, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return on which examples each candidate errs."""
        # A constant errs on every other label: its errors need no predictions.
        said = [
            place - 1 if 1 <= place <= len(self._constants) else each.many(points)
            for place, each in enumerate(self._candidates())
        ]
        known = labels != _NO_LABEL
        return np.array([(each != labels) & known for each in said])

    def _show(self, errors: list[int]) -> None:
        """Choose between the candidates by their errors in a window."""
        constant = _CONSTANT[self._watching]
        weights = [_TRUST, *(constant for _ in self._constants), _NEWEST][: len(errors)]
        weights[self._shown] += _SHOWN  # a rule that did well is likely to do well again
        chosen = run_drawn(self._choice, errors, weights, rng=self._rng)  # (L4)
        drawn = self._candidates()[chosen]
        against = chosen > 0 and drawn in self._constants and drawn != self._rule
        self._against = [*self._against, int(against)][-_REMEMBERED:]
        self._publish(chosen)

    def _vote(self) -> Hypothesis:
        """Return the newest rule, or the vote if its batch was shorter than the others together."""
        drawn, lengths = self._drawn, self._lengths
        if lengths[-1] >= sum(lengths[:-1]):
            return drawn[-1]
        agreed = [rule for rule in drawn if 2 * drawn.count(rule) > len(drawn)]
        return agreed[0] if agreed else MajorityVote(drawn)

    def _candidates(self) -> list[Hypothesis]:
        rule, newest = self._rule, self._drawn[-1]
        known = self._known
        if known[0] is not rule or known[1] is not newest:  # rules are compared once
            others = [] if newest == rule else [newest]
            self._known = known = rule, newest, [rule, *self._constants, *others]
        return known[2]

    def _publish(self, number: int) -> None:
        self._shown = number
        chosen = self._candidates()[number]
        if chosen is not self.hypothesis and chosen != self.hypothesis:
            self.hypothesis = chosen


def _some_of(block: Any, places: NDArray[np.int64]) -> Any:
    """Return some of the points of a block."""
    return block[places] if isinstance(block, np.ndarray) else [block[i] for i in places.tolist()]


def _joined(block: Any, more: Any) -> Any:
    arrays = isinstance(block, np.ndarray) and isinstance(more, np.ndarray)
    return np.concatenate([block, more]) if arrays else [*_single(block), *_single(more)]


def _single(points: Any) -> list[Point]:
    """Return the points of a block one by one."""
    if not isinstance(points, np.ndarray):
        return list(points)
    return list(zip(*points.T.tolist(), strict=True)) if points.ndim > 1 else points.tolist()


def _counted(points: list[Point], labels: list[int], count: int) -> dict[Point, list[int]]:
    """Return how often each point came with each of ``count`` labels."""
    tally: dict[Point, list[int]] = {}
    for point, label in zip(points, labels, strict=True):
        counts = tally.get(point)
        if counts is None:
            counts = tally[point] = [0] * count
        if label != _NO_LABEL:
            counts[label] += 1
    return tally
