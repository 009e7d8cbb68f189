"""Exponential weights without privacy are the baseline."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from littlestone import require
from littlestone.experts.batches import Batches
from littlestone.experts.drawing_recipe import Drawing, DrawingRecipe
from littlestone.experts.exponential_weights import BatchedStrategy
from littlestone.experts.selection import table_error
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import hedge_regret_upper_bound
from littlestone.theory.outwards import upwards


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Hedge(DrawingRecipe):
    """Draw each expert with probability proportional to exp(-rate * total loss) [CL06].

    Regret: at most sqrt(T ln N / 2) in expectation, against adaptive adversaries.
    Privacy: none is promised; the rate is what the horizon wants.

    >>> round(Hedge(experts=100, rounds=10**6).expected_regret_bound())
    1517
    """

    loss_scale: int = 1
    rate: float = field(init=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_sizes()
        rate = math.sqrt(8 * math.log(max(self.experts, 2)) / self.rounds)
        require.settle(self, rate=rate, _selection=self._drawing(rate))

    def guarantee(self) -> PrivacyGuarantee:
        return NOT_PRIVATE

    def expected_regret_bound(self) -> float:
        """In expectation, against adaptive adversaries."""
        error = table_error(self._selection, experts=self.experts)
        bound = hedge_regret_upper_bound(experts=self.experts, rounds=self.rounds, rate=self.rate)
        return upwards(bound + self.rounds * error)

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Azuma–Hoeffding over the rounds."""
        require.open_probability(failure_probability=failure_probability)
        return upwards(math.sqrt(self.rounds * math.log(1 / failure_probability) / 2))

    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> BatchedStrategy:
        return BatchedStrategy(Batches(), self.rounds, drawing)
