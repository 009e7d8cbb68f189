"""The generator of the realizable sanitizer: guess which concepts hold on part of the data."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats
from littlestone.theory.outwards import downwards, upwards

Flags = NDArray[np.bool_]


class FlagState(Protocol):
    """A public guess of which concepts hold on enough of the data to matter."""

    @property
    def flags(self) -> Flags:
        """One flag for each concept."""

    def after(self, number: int, /) -> "FlagState":
        """Return the guess after an objection to the flag of concept ``number``."""


class FlagGenerator(Protocol):
    """Guesses flags until there are no objections; sees public values only."""

    def start(self, queries: FiniteQueries, /) -> FlagState:
        """Return the first guess."""

    def most_objections(self, queries: FiniteQueries, /, *, low: float, high: float) -> float:
        """Bound the wrong flags; infinite if unbounded.

        A flag is wrong if it is down for a share of at least ``high``, or up for at most ``low``.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnowGenerator:
    """Weight the cells, and flag a concept that holds at least ``cut`` of the weight.

    An objection to a missing flag multiplies the cells of its concept by ``raised``, one to a wrong
    flag by ``lowered``. Each objection lowers KL(data ‖ weights) in proportion to the error, not to
    its square (winnow_generator.md), so few rounds are needed.
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
        """Return the generator that best separates shares up to ``low`` and from ``high`` on.

        >>> generator = WinnowGenerator.between(low=0.1, high=0.9)
        >>> round(generator.cut, 2)
        0.44
        """
        cut = identric_mean(low, high)
        return cls(cut=cut, raised=high / cut, lowered=low / cut)

    def start(self, queries: FiniteQueries, /) -> "WinnowState":
        """Return the uniform guess."""
        return WinnowState(self, queries, np.zeros(queries.cells))

    def drop(self, *, low: float, high: float) -> float:
        """Return how much an objection lowers the divergence at least."""
        up = high * math.log(self.raised) - (self.raised - 1) * self.cut  # (L3)
        down = low * math.log(self.lowered) + (1 - self.lowered) * self.cut  # (L4)
        return downwards(min(up, down))

    def most_objections(self, queries: FiniteQueries, /, *, low: float, high: float) -> float:
        """Bound the wrong flags; infinite if ``drop`` is not positive."""
        drop = self.drop(low=low, high=high)
        return upwards(math.log(queries.cells) / drop) if drop > 0 else math.inf


class WinnowState:
    """Logarithms of the weights, the largest being 0, and the flags they give."""

    def __init__(self, recipe: WinnowGenerator, queries: FiniteQueries, logarithms: Floats) -> None:
        self._recipe, self._queries = recipe, queries
        self._logarithms = logarithms - logarithms.max()
        odds = np.exp(self._logarithms)
        self.weights: Floats = odds / odds.sum()
        self.flags: Flags = queries.answers(self.weights) >= recipe.cut  # (L1)

    def after(self, number: int, /) -> "WinnowState":
        """Return the guess after an objection to the flag of concept ``number``."""
        factor = self._recipe.lowered if self.flags[number] else self._recipe.raised
        moved = self._logarithms + math.log(factor) * self._queries.row(number)  # (L2)
        return WinnowState(self._recipe, self._queries, moved)


def identric_mean(low: float, high: float) -> float:
    """Return the t for which a ln(a / t) - a + t is the same at a = ``low`` and a = ``high``."""
    require.positive(low=low, high=high)
    if not low < high:
        raise ValueError(f"low must be below high={high!r}, got low={low!r}")
    tilt = high * math.log(high) - high - low * math.log(low) + low
    return math.exp(tilt / (high - low))
