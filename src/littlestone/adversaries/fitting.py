"""All examples go with a concept, except those near the border of a margin class."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import WithMargin
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point


def fits(concepts: ConceptClass, concept: Hypothesis, x: Point) -> bool:
    """Whether ``x`` with the label that ``concept`` gives it may stand in a realizable stream.

    >>> from littlestone.concepts.classes.halfspaces import MarginHalfspaces
    >>> from littlestone.concepts.hypotheses.linear import LinearHypothesis
    >>> concepts = MarginHalfspaces(2, 0.5)
    >>> concept = LinearHypothesis((1, 0))
    >>> fits(concepts, concept, (4, 3, 5)), fits(concepts, concept, (3, 9, 10))
    (True, False)
    """
    return not _has_margin(type(concepts)) or concepts.fits(concept, x)  # type: ignore[attr-defined]


def fitting(concepts: ConceptClass, concept: Hypothesis, points: Any) -> Any:
    """Those of a block of points that fit."""
    if not isinstance(concepts, WithMargin):
        return points
    kept: NDArray[np.bool_] = np.array([concepts.fits(concept, x) for x in points], dtype=bool)
    return points[kept]


# Asked about every point: far slower than remembering the answer.
_has_margin = lru_cache(maxsize=64)(lambda kind: issubclass(kind, WithMargin))
