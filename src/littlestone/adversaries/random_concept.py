"""Draw some concept of any class, however large."""

from typing import Final

import numpy as np

from littlestone.concepts.protocols import ConceptClass, Hypothesis

_POINTS: Final = 12


def random_concept(concepts: ConceptClass, generator: np.random.Generator) -> Hypothesis:
    """A concept that fits random labels of random points; not uniform, but every kind occurs."""
    space = concepts.version_space()
    points = concepts.domain.sample(_POINTS, generator)
    for x, y in zip(points, generator.integers(2, size=len(points)).tolist(), strict=True):
        narrowed = space.restrict(x, y)
        if not narrowed.is_empty:
            space = narrowed
    return space.consistent()
