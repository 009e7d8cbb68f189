"""Oblivious losses: one expert is better, or nobody who keeps an expert for a block does well."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.learners.experts.play_experts import Losses, ObliviousLosses
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBetter:
    """Independent losses, 1 with probability 1/2, and 1/2 - ``gap`` for expert 0."""

    experts: int
    gap: float

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(experts=self.experts, at_least=2)
        if not 0 <= self.gap <= 0.5:
            raise ValueError(f"gap must lie between 0 and 1/2, got gap={self.gap!r}")

    def chances(self) -> NDArray[np.float64]:
        """The probability of a loss, for each expert."""
        return np.array([0.5 - self.gap] + [0.5] * (self.experts - 1))

    def start(self, *, rng: Randomness) -> ObliviousLosses:
        generator, chances = rng.generator(), self.chances()

        def block(count: int) -> Losses:
            losses: Losses = (generator.random((count, self.experts)) < chances).astype(np.uint8)
            return losses

        return ObliviousLosses(block)


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
