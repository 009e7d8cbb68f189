"""Adversaries of private prediction: they do not see the answer of the special round."""

from collections.abc import Hashable
from dataclasses import dataclass

from littlestone.audit.two_worlds import Deterministic, World


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain(Deterministic):
    """Teach that a point is 1, or do not; then ask about it until the run halts.

    Points have one 1 at most, and the label 0 that follows fits no point for a copy that has
    learned the 1: it stays as it is.
    """

    most: int
    width: int = 1
    """Numbers of ones are told apart in steps of this."""

    def noticed(self, world: World) -> Hashable:
        shown = world.challenge((0, 1), (0, 0))
        ones = rounds = 0
        while rounds < self.most and not shown.halted:
            shown = world.send((0, 0))
            ones, rounds = ones + shown.said, rounds + 1
        return round((2 * ones - rounds) / self.width)
