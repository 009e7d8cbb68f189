"""Force mistakes, each at a new point where that is possible."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from littlestone import require
from littlestone.adversaries.spreading import Rules, Spreading
from littlestone.adversaries.steady_attack import SteadyAttack
from littlestone.concepts.protocols import ConceptClass
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class SpreadMistakes:
    """An adaptive, realizable adversary that repeats a point only when it must.

    Among the new points on which the newest known hypothesis errs it takes the one that keeps the
    version space largest. When there is none, or ``different_points`` were used, it repeats
    the old ones in turn. Learners that remember where they erred gain nothing by it.
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
        rules = Rules(self.concepts, self.different_points, sparing=False)
        return SteadyAttack(self.concepts.domain, Spreading.at_start(rules))
