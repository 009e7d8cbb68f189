"""Losses against which nobody who keeps an expert for a whole block can do well."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from littlestone.experts.loss_sequences import Losses, ObliviousLosses
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Two experts; in each block of ``length`` rounds a fair coin says which one errs always.

    Whoever cannot react within a block has regret of about 0.4 sqrt(rounds * length)
    (lazy_switching.md).
    """

    length: int

    experts: ClassVar[int] = 2
    adaptive: ClassVar[bool] = False

    def start(self, *, rng: Randomness) -> ObliviousLosses:
        def block(count: int) -> Losses:
            coins = rng.below_many(2, -(-count // self.length))
            bad = np.repeat(coins, self.length)
            losses: Losses = (bad[:, np.newaxis] == np.arange(2)).astype(np.uint8)
            return losses

        return ObliviousLosses(block)
