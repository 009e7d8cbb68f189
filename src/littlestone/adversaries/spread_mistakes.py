"""Force mistakes, each at a new point where that is possible."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone.adversaries.spreading import Spreading, SpreadingForcing


@dataclass(frozen=True, slots=True)
class SpreadMistakes(SpreadingForcing):
    """An adaptive, realizable adversary that repeats a point only when it must.

    Among the new points on which the newest known hypothesis errs it takes the one that keeps the
    version space largest. When there is none, or ``different_points`` were used, it repeats
    the old ones in turn. Learners that remember where they erred gain nothing by it.
    """

    sparing: ClassVar[bool] = False

    def first_position(self) -> Spreading:
        return Spreading.at_start(self)
