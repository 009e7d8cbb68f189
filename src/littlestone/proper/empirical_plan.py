"""Which sample and which budgets make Algorithm 4 as accurate as a wanted epsilon allows."""

import math
from itertools import product
from typing import Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.proper.agnostic_empirical import Accuracy, AgnosticEmpirical
from littlestone.proper.growth import fits_into_memory
from littlestone.proper.proper_selection import ProperSelection
from littlestone.theory.outwards import upwards

_FACTORS: Final = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_INNER: Final = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# A choice c: swapping a sampled example may change a weight by e^(c / 2).
_CHOICES: Final = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)


def planned_agnostic(
    *, concepts: ConceptClass, size: int, epsilon: float, failure_probability: float = 0.05
) -> AgnosticEmpirical:
    """Algorithm 4 around ProperSelection with the smallest error bound for this epsilon.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = planned_agnostic(concepts=Thresholds(63), size=100_000, epsilon=1.0)
    >>> learner.guarantee().epsilon <= 1, learner.sampled
    (True, 25000)
    """
    require.integer(size=size, at_least=4)
    require.positive(epsilon=epsilon)
    found: list[tuple[float, int, float, float]] = []
    for factor, inner, choice in product(_FACTORS, _INNER, _CHOICES):
        if factor > size or spent(1 / factor, choice / factor, inner) > epsilon:
            continue
        if fits_into_memory(concepts, size=size, sampled=size // factor):
            accuracy = Accuracy.of(
                ProperSelection(concepts=concepts, epsilon=inner),
                size=size,
                sampled=size // factor,
                epsilon=choice / factor,
                failure_probability=failure_probability,
            )
            found.append((accuracy.error_bound(), factor, inner, choice))
    for _, factor, inner, choice in sorted(found):
        recipe = AgnosticEmpirical(
            learner=ProperSelection(concepts=concepts, epsilon=inner),
            size=size,
            sampled=size // factor,
            epsilon=choice / factor,
        )
        if recipe.guarantee().epsilon <= epsilon:  # the factor may not divide the size
            return recipe
    raise ValueError(
        f"epsilon={epsilon!r} is too small for Algorithm 4 on {size} examples: it spends more "
        f"than its budgets (docs/ERRATA.md, S7); use ProperSelection"
    )


def spent(share: float, choose: float, inner: float) -> float:
    """ε of Algorithm 4 (agnostic_empirical.md), nearly: the recipe says it exactly."""
    swapped = 4 * share * math.exp(choose * (1 + math.ceil(1 / share)) + inner)
    return upwards(math.log((1 - share) * math.exp(choose) + swapped))
