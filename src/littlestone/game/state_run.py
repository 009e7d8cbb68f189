"""Turn a deterministic learner into a run that can play a game."""

from array import array
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from littlestone.concepts.domain import IntegerRange, LabelledRange
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.game.protocols import Learner, OnlineLearner, Player
from littlestone.randomness import Randomness
from littlestone.type_checks import is_a

_UNKNOWN: Final = -1
_LARGEST_TABLE: Final = 1 << 22
_MOST_KEYS: Final = 1 << 16
_FIRST_WINDOW: Final = 64


def as_player(learner: Learner | OnlineLearner) -> Player:
    """Return a player for a learner with runs or with states."""
    if isinstance(learner, OnlineLearner):
        return StatePlayer(learner)
    if isinstance(learner, Player):
        return learner
    raise TypeError(
        f"{type(learner).__name__} must declare its rounds (or None) and oblivious_only, or, as a "
        f"deterministic learner, mistake_bound, conservative and repeats_change_nothing"
    )


@dataclass(frozen=True, slots=True, repr=False)
class StatePlayer:
    """A deterministic learner as a player, for any number of rounds and any adversary."""

    learner: OnlineLearner

    rounds: ClassVar[None] = None
    oblivious_only: ClassVar[bool] = False

    def start(self, *, rng: Randomness) -> "StateRun":
        """Start a run of the learner."""
        del rng  # deterministic
        return StateRun(self.learner)

    def __repr__(self) -> str:
        return repr(self.learner)


class StateRun:
    """The states of a deterministic learner, one after the other.

    It restarts when the examples contradict every concept. Each restart means at least one mistake
    of the best concept in hindsight, so a learner with mistake bound M on realizable streams errs
    at most (M + 1) · (mistakes of the best concept) + M times on any stream.
    """

    def __init__(self, learner: OnlineLearner) -> None:
        self._learner = learner
        self._domain = learner.concepts.domain
        self._conservative = learner.conservative
        self._settled = _labels(self._domain) if learner.repeats_change_nothing else None
        self._state = learner.start()
        self._hypothesis = self._state.hypothesis
        self._window = _FIRST_WINDOW

    @property
    def hypothesis(self) -> Hypothesis:
        """The published hypothesis for the coming round."""
        return self._hypothesis

    def observe(self, x: Any, y: Label, /) -> None:
        """Take the example of this round."""
        settled = self._settled
        if settled is not None and settled[x] == y:
            return
        if self._conservative and self._hypothesis(x) == y:
            return
        state = self._state.after(x, y)
        if state.failed:
            state = self._learner.start()
            self._settled = None if settled is None else _labels(self._domain)
        elif settled is not None:
            settled[x] = y
        if state is not self._state:
            self._state = state
            self._publish(state.hypothesis)

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes or the block ends; return how many."""
        taken = 0
        while taken < len(ys):
            end = min(taken + self._window, len(ys))
            taken += self._idle(xs[taken:end], ys[taken:end])
            if taken == end:
                self._window *= 2
                continue
            # After a change another may follow soon, so look less far ahead.
            self._window = _FIRST_WINDOW
            published = self._hypothesis
            self.observe(self._domain.check(xs[taken]), int(ys[taken]))
            taken += 1
            if self._hypothesis is not published:
                break
        return taken

    def _idle(self, xs: Any, ys: Any) -> int:
        """Return how many leading rounds certainly do not change the state."""
        settled = self._settled
        if isinstance(settled, array):
            changes = np.frombuffer(settled, dtype=np.int16)[xs] != ys
        elif self._conservative:
            changes = self._hypothesis.many(xs) != ys
        elif settled is not None:
            points = xs.tolist() if is_a(xs, np.ndarray) and xs.ndim == 1 else xs
            return _leading(settled, points, ys)
        else:
            return 0
        first = int(changes.argmax())
        return first if changes[first] else len(changes)

    def _publish(self, newest: Hypothesis) -> None:
        # An equal hypothesis keeps its identity, so that ``is`` detects changes.
        if newest != self._hypothesis:
            self._hypothesis = newest


class _Labels(dict[Point, Label]):
    """A cache of fixed labels; cleared before it grows too large."""

    def __missing__(self, x: Point) -> Label:
        return _UNKNOWN

    def __setitem__(self, x: Point, y: Label) -> None:
        if len(self) >= _MOST_KEYS:
            self.clear()
        super().__setitem__(x, y)


def _labels(domain: Domain) -> "array[int] | _Labels":
    if isinstance(domain, IntegerRange | LabelledRange) and domain.size <= _LARGEST_TABLE:
        return array("h", [_UNKNOWN]) * domain.size
    return _Labels()


def _leading(settled: _Labels, points: Any, ys: Any) -> int:
    for i, (x, y) in enumerate(zip(points, ys.tolist(), strict=True)):
        key = tuple(x.tolist()) if is_a(x, np.ndarray) else x
        if settled[key] != y:
            return i
    return len(points)
