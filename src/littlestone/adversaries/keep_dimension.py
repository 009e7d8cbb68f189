"""Force mistakes, each at a new point as long as that costs no dimension."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone.adversaries.spreading import Spreading
from littlestone.adversaries.steady_attack import SteadyAttack
from littlestone.concepts.protocols import ConceptClass
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class KeepDimension:
    """An adaptive, realizable adversary that stays as high in the mistake tree as it can.

    It spends concepts, but dimension only when every mistake of the newest known hypothesis costs
    some: until then it takes new points, and it repeats old ones rather than go down.
    """

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        return SteadyAttack(self.concepts.domain, Spreading.at_start(self.concepts, sparing=True))
