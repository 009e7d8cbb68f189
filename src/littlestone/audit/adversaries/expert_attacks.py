"""Adversaries against prediction from experts."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone.audit.two_worlds import Deterministic, World

# One favoured expert against this many others: the ratio of one draw shows most of its epsilon.
OTHERS = 12
EXPERTS = OTHERS + 1
Losses = NDArray[np.uint8]


def only(expert: int) -> Losses:
    """A loss for this expert alone."""
    losses = np.zeros(EXPERTS, dtype=np.uint8)
    losses[expert] = 1
    return losses


def all_but(expert: int) -> Losses:
    """A loss for everybody else."""
    return 1 - only(expert)


class ChargeTheFirst(Deterministic):
    """Charge the first expert, or all others; notice whether it is played next."""

    def noticed(self, world: World) -> Hashable:
        first = world.opening
        return bool(world.challenge(only(first), all_but(first)) == first)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfAgainstHalf(Deterministic):
    """Charge one half of the experts or the other; then count how often the first half plays."""

    rounds: int

    def noticed(self, world: World) -> Hashable:
        half = (np.arange(EXPERTS) < EXPERTS // 2).astype(np.uint8)
        everybody = np.ones(EXPERTS, dtype=np.uint8)
        played = [world.challenge(half, 1 - half)]
        played += [world.send(everybody) for _ in range(self.rounds)]
        return int(sum(expert < EXPERTS // 2 for expert in played))


class OneMoreLoss(Deterministic):
    """Two experts err until one loss more may end the phase; then the one that plays, or the other.

    Notices what the answer is and who plays then. Should the phase end too early, the special round
    comes at once. Before and after it both experts err, so that later draws are independent of all
    this, and each shows the special round once more.
    """

    def noticed(self, world: World) -> Hashable:
        recipe, played = world.opening
        both, phase = np.ones(2, dtype=np.uint8), 1
        for _ in range(recipe.monitor.threshold - 1):
            if phase == 1:
                played, phase = world.send(both)
        alone = np.arange(2, dtype=np.uint8) == played
        after = world.challenge(alone.astype(np.uint8), (~alone).astype(np.uint8))
        return phase, played, after


class MoveTheRate(Deterministic):
    """Tell two experts apart first; then the same loss for all, or none, and twenty draws."""

    def noticed(self, world: World) -> Hashable:
        for _ in range(30):
            world.send(all_but(0))
        nobody = np.zeros(EXPERTS, dtype=np.uint8)
        played = [world.challenge(nobody, 1 - nobody)]
        played += [world.send(nobody) for _ in range(19)]
        return int(sum(expert == 0 for expert in played))
