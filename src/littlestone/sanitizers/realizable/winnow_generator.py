"""Generators of the realizable sanitizer guess which concepts hold on part of the data."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.sanitizers.queries import FiniteQueries, Floats
from littlestone.theory.outwards import downwards, upwards

Flags = NDArray[np.bool_]


class FlagState(Protocol):
    """A public guess: which concepts the data map to 1 often enough to matter."""

    @property
    def flags(self) -> Flags:
        """One for each concept."""

    def after(self, number: int, /) -> "FlagState":
        """The flag of concept ``number`` was wrong."""


class FlagGenerator(Protocol):
    """Guesses flags until nobody objects; sees public things only."""

    def start(self, queries: FiniteQueries, /) -> FlagState: ...

    def most_objections(self, queries: FiniteQueries, /, *, low: float, high: float) -> float:
        """How often a flag can be wrong: down with a share of at least ``high``, or up with one
        of at most ``low``; infinity if nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnowGenerator:
    """Weights on the cells; a concept is flagged if it holds at least ``cut`` of them.

    A missing flag multiplies the cells of its concept by ``raised``, a wrong one by ``lowered``.
    Each objection lowers KL(data ‖ weights) in proportion to the error, not to its square
    (winnow_generator.md), so that few rounds are needed.
    """

    cut: float
    raised: float
    lowered: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(cut=self.cut, raised=self.raised, lowered=self.lowered)
        if not self.lowered < 1 < self.raised:
            raise ValueError(
                f"lowered must be below 1 and raised above it, got lowered={self.lowered!r}, "
                f"raised={self.raised!r}"
            )

    @classmethod
    @require.checked
    def between(cls, *, low: float, high: float) -> "WinnowGenerator":
        """The one that separates shares of at most ``low`` from those of at least ``high`` best.

        >>> generator = WinnowGenerator.between(low=0.1, high=0.9)
        >>> round(generator.cut, 2)
        0.44
        """
        cut = identric_mean(low, high)
        return cls(cut=cut, raised=high / cut, lowered=low / cut)

    def start(self, queries: FiniteQueries, /) -> "WinnowState":
        return WinnowState(self, queries, np.zeros(queries.cells))

    def drop(self, *, low: float, high: float) -> float:
        """By how much an objection lowers the divergence, at least."""
        up = high * math.log(self.raised) - (self.raised - 1) * self.cut  # (L3)
        down = low * math.log(self.lowered) + (1 - self.lowered) * self.cut  # (L4)
        return downwards(min(up, down))

    def most_objections(self, queries: FiniteQueries, /, *, low: float, high: float) -> float:
        drop = self.drop(low=low, high=high)
        return upwards(math.log(queries.cells) / drop) if drop > 0 else math.inf


class WinnowState:
    """Logarithms of the weights, the largest being 0."""

    def __init__(self, recipe: WinnowGenerator, queries: FiniteQueries, logarithms: Floats) -> None:
        self._recipe, self._queries = recipe, queries
        self._logarithms = logarithms - logarithms.max()
        odds = np.exp(self._logarithms)
        self.weights: Floats = odds / odds.sum()
        self.flags: Flags = queries.answers(self.weights) >= recipe.cut  # (L1)

    def after(self, number: int, /) -> "WinnowState":
        factor = self._recipe.lowered if self.flags[number] else self._recipe.raised
        moved = self._logarithms + math.log(factor) * self._queries.row(number)  # (L2)
        return WinnowState(self._recipe, self._queries, moved)


def identric_mean(low: float, high: float) -> float:
    """Where a ln(a / t) - a + t is the same for a = ``low`` and a = ``high``."""
    require.positive(low=low, high=high)
    if not low < high:
        raise ValueError(f"low must be below high={high!r}, got low={low!r}")
    tilt = high * math.log(high) - high - low * math.log(low) + low
    return math.exp(tilt / (high - low))
