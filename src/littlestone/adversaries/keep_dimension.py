"""Force mistakes, each at a new point as long as that costs no dimension."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from littlestone import require
from littlestone.adversaries.spreading import Rules, Spreading
from littlestone.adversaries.steady_attack import SteadyAttack
from littlestone.concepts.protocols import ConceptClass
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class KeepDimension:
    """An adaptive, realizable adversary that stays as high in the mistake tree as it can.

    It spends concepts, but dimension only when every mistake of the newest known hypothesis costs
    some: until then it takes new points, up to ``different_points``, and it repeats old ones
    rather than go down. It repeats each new one once, to see the answer before it goes on.
    """

    concepts: ConceptClass
    _: KW_ONLY
    different_points: int = 512

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(different_points=self.different_points, at_least=1)

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        self.concepts.version_space().standard_optimal()  # refuses if dimensions are not known
        rules = Rules(self.concepts, self.different_points, sparing=True)
        return SteadyAttack(self.concepts.domain, Spreading.at_start(rules))
