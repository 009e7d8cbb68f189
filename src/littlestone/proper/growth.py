"""How many labellings of some points a class can give."""

import math
from typing import Final

from littlestone.concepts.capabilities import Projecting
from littlestone.concepts.protocols import ConceptClass
from littlestone.theory.outwards import upwards

_MOST_ROWS: Final = 1 << 13
_LARGEST_TABLE: Final = 1 << 27


def log2_growth(concepts: ConceptClass, points: int) -> float:
    """log2 of how many labellings of so many points there can be, from above."""
    size, vc = concepts.size, concepts.vc_dimension
    listed = math.inf if size is None else math.log2(size)
    sauer = float(points) if points <= vc else vc * math.log2(math.e * points / vc)
    return upwards(min(listed, sauer)) if vc else 0.0


def fits_into_memory(concepts: ConceptClass, *, size: int, sampled: int) -> bool:
    """Whether the labellings of any ``sampled`` of ``size`` examples can be listed."""
    if 2 ** min(64.0, log2_growth(concepts, sampled)) > _MOST_ROWS:
        return False
    if isinstance(concepts, Projecting):
        return True
    points = size if concepts.domain.size is None else min(size, concepts.domain.size)
    return 2 ** min(64.0, log2_growth(concepts, points)) * points <= _LARGEST_TABLE
