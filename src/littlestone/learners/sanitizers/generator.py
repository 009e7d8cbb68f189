"""The generator of sequential fooling: exponential weights over the cells [BLM20]."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from littlestone import require
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats
from littlestone.theory.outwards import upwards


class GeneratorState(Protocol):
    """A public guess at the data."""

    @property
    def weights(self) -> Floats:
        """The probabilities of the cells."""

    def after(self, number: int, sign: int, /) -> "GeneratorState":
        """Return the guess after concept ``number`` was found too light (sign 1) or too heavy."""


class Generator(Protocol):
    """Guesses distributions until there are no objections; sees public values only."""

    def start(self, queries: FiniteQueries, /) -> GeneratorState:
        """Return the first guess."""

    def most_objections(self, queries: FiniteQueries, /, *, gap: float) -> float:
        """Bound the objections by at least ``gap``; infinite if unbounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgeGenerator:
    """Multiply P(x) by exp(step * h(x)) when the data give h more weight than P does.

    Each objection by at least g lowers KL(data ‖ P) by step * g - step**2 / 8, which is 2 g**2 at
    step 4 g. The divergence starts at most at ln |X| and is never negative (generator.md).

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.sanitizers.queries import queries_of
    >>> queries = queries_of(Thresholds(2))
    >>> state = HedgeGenerator(step=math.log(3)).start(queries)
    >>> state.after(1, 1).weights.round(2).tolist()  # x >= 1 holds more often than half the time
    [0.25, 0.75]
    """

    step: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(step=self.step)

    def start(self, queries: FiniteQueries, /) -> "HedgeState":
        """Return the uniform guess."""
        return HedgeState(self, queries, np.zeros(queries.cells))

    def most_objections(self, queries: FiniteQueries, /, *, gap: float) -> float:
        """Return ln |X| / (step * gap - step**2 / 8); infinite if that is not positive."""
        drop = self.step * gap - self.step**2 / 8  # (L3)
        return upwards(math.log(queries.cells) / drop) if drop > 0 else math.inf


class HedgeState:
    """Logarithms of the weights; the largest is 0."""

    def __init__(self, recipe: HedgeGenerator, queries: FiniteQueries, logarithms: Floats) -> None:
        self._recipe, self._queries = recipe, queries
        self._logarithms = logarithms - logarithms.max()
        odds = np.exp(self._logarithms)
        self.weights: Floats = odds / odds.sum()  # (L1)

    def after(self, number: int, sign: int, /) -> "HedgeState":
        """Return the guess after an objection to concept ``number``."""
        # 1 - h and -h differ by a constant, which normalising removes.
        moved = self._logarithms + sign * self._recipe.step * self._queries.row(number)  # (L2)
        return HedgeState(self._recipe, self._queries, moved)
