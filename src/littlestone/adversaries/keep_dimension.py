"""Force mistakes, each at a new point as long as that costs no dimension."""

from dataclasses import dataclass
from typing import ClassVar

from littlestone.adversaries.spreading import Spreading, SpreadingForcing


@dataclass(frozen=True, slots=True)
class KeepDimension(SpreadingForcing):
    """An adaptive, realizable adversary that stays as high in the mistake tree as it can.

    It spends concepts, but dimension only when every mistake of the newest known hypothesis costs
    some: until then it takes new points, up to ``different_points``, and it repeats old ones
    rather than go down. It repeats each new one once, to see the answer before it goes on.
    """

    sparing: ClassVar[bool] = True

    def first_position(self) -> Spreading:
        self.concepts.version_space().standard_optimal()  # refuses if dimensions are not known
        return Spreading.at_start(self)
