"""Force mistakes, each at a new point where that is possible."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone.adversaries.spreading import Spreading
from littlestone.adversaries.steady_attack import SteadyAttack
from littlestone.concepts.protocols import ConceptClass
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class SpreadMistakes:
    """An adaptive, realizable adversary that repeats a point only when it must.

    Among the new points on which the newest known hypothesis errs it takes the one that keeps the
    version space largest. When there is none, it repeats the old ones in turn. Learners that
    remember where they erred gain nothing by it.
    """

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        return SteadyAttack(self.concepts.domain, Spreading.at_start(self.concepts, sparing=False))
