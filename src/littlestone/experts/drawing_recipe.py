"""Recipes that draw their experts by exponential weights of the total losses share this much."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, Self

from littlestone import require
from littlestone.experts.protocols import ExpertsRecipe, Strategy
from littlestone.experts.run import ExpertsRun
from littlestone.experts.selection import selection
from littlestone.mechanisms.incremental_selection import (
    GrowingScores,
    IncrementalSelection,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


class Drawing(Protocol):
    """What a strategy draws its experts by."""

    def draw(self) -> int:
        """The number of an expert, or of a group of them."""

    def passed(self, rounds: int) -> None:
        """The losses have grown by this many rounds."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingRecipe(ExpertsRecipe, ABC):
    """Its ``__post_init__`` checks the sizes and settles what follows from them."""

    experts: int
    rounds: int
    _selection: IncrementalSelection = field(init=False, repr=False, compare=False)
    _guarantee: PrivacyGuarantee = field(init=False, repr=False, compare=False)

    prefix_conditional: ClassVar[bool] = True

    @abstractmethod
    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> Strategy:
        """The strategy, not begun, that draws by ``drawing``."""

    def _check_sizes(self) -> None:
        require.usual_fields(self)
        require.integer(loss_scale=self.loss_scale, at_least=1)

    def _drawing(self, rate: float) -> IncrementalSelection:
        return selection(
            rate=rate, experts=self.experts, rounds=self.rounds, loss_scale=self.loss_scale
        )

    def guarantee(self) -> PrivacyGuarantee:
        """What all experts played together promise; at most what was asked for."""
        return self._guarantee

    def for_rounds(self, rounds: int) -> Self:
        """Planned anew for another horizon."""
        return replace(self, rounds=rounds)

    def start(self, *, rng: Randomness) -> ExpertsRun:
        """A run on losses that are handed over as arrays."""
        return ExpertsRun(self, rng)

    def strategy(self, totals: GrowingScores, rng: Randomness, /) -> Strategy:
        return self.strategy_of(self._selection.start(totals, rng=rng), rng)
