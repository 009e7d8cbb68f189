"""Proper online learners: each round, a distribution over the class that only the past decides."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.randomness import Randomness


class ProperState(Protocol):
    """What the past has left: an immutable value, in which no earlier draw has a trace."""

    def draw(self, *, rng: Randomness) -> Hypothesis:
        """A concept from the current distribution, with fresh coins."""

    def error_probability(self, x: Any, y: Label, /) -> float:
        """How likely a drawn concept is to label ``x`` differently from ``y``."""

    def after(self, x: Any, y: Label, /) -> Self: ...


class ProperOnlineLearner(Protocol):
    """A frozen recipe. On *every* stream of at most ``rounds`` examples, the sum of the error
    probabilities exceeds the mistakes of the best concept by at most ``expected_regret_bound()``.
    """

    @property
    def concepts(self) -> ConceptClass: ...

    @property
    def rounds(self) -> int: ...

    def expected_regret_bound(self) -> float: ...

    def for_rounds(self, rounds: int, /) -> "ProperOnlineLearner":
        """The same learner, tuned for another horizon."""

    def begin(self) -> ProperState:
        """Before any example."""


def draw_position(weights: NDArray[np.float64], rng: Randomness) -> int:
    """A position with probability as its weight, in floating point: nothing here is secret."""
    ends = np.cumsum(weights)
    place = int(np.searchsorted(ends, rng.bits(53) * 2.0**-53 * ends[-1], side="right"))
    # Rounding can lift the dart to the end; it then falls on the last weight that is not zero.
    return place if place < len(ends) else int(np.flatnonzero(weights)[-1])


class ProperRun:
    """A proper online learner at the table: a fresh draw is published each round. Not private."""

    def __init__(self, learner: ProperOnlineLearner, rng: Randomness) -> None:
        self._rng = rng
        self._state = learner.begin()
        self.hypothesis = self._state.draw(rng=rng)

    def observe(self, x: Any, y: Label, /) -> None:
        self._state = self._state.after(x, y)
        self.hypothesis = self._state.draw(rng=self._rng)
