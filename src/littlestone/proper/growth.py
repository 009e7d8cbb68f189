"""How many labellings of some points a class can give."""

import math

from littlestone.concepts.protocols import ConceptClass
from littlestone.theory.outwards import upwards


def log2_growth(concepts: ConceptClass, points: int) -> float:
    """log2 of how many labellings of so many points there can be, from above."""
    size, vc = concepts.size, concepts.vc_dimension
    listed = math.inf if size is None else math.log2(size)
    sauer = float(points) if points <= vc else vc * math.log2(math.e * points / vc)
    return upwards(min(listed, sauer)) if vc else 0.0
