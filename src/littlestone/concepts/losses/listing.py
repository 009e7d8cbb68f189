"""List the concepts of a finite class, in the order of ``concepts()``.

Each function uses a closed form if the class has one (``capabilities``), else it lists the
concepts.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Numbered, Tabular, Voting
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis

LARGEST_ARRAY: Final = 1 << 22
LARGEST_MATRIX: Final = 1 << 26

Labels = NDArray[np.uint8]


def require_listable(concepts: ConceptClass) -> int:
    """Return the number of concepts; raise a ValueError if there are too many for a loss each."""
    size = concepts.size
    if size is None or size > LARGEST_ARRAY:
        raise ValueError(
            f"concepts must be at most {LARGEST_ARRAY} in number, got {size or 'infinitely many'} "
            f"in concepts={concepts!r}; LazyForest learns larger classes"
        )
    return size


def distinguished_points(concepts: ConceptClass) -> float:
    """Bound the logarithm of the number of points that concepts distinguish."""
    patterns = require_listable(concepts) * math.log(2)
    points = concepts.domain.size
    return patterns if points is None else min(patterns, math.log(points))


def finder(concepts: ConceptClass) -> Callable[[int], Hypothesis]:
    """Return the function that finds the concept at a position."""
    if isinstance(concepts, Numbered):
        return concepts.concept
    return lambda position: _listed(concepts)[position]


def labels_at(concepts: ConceptClass, points: Any) -> Labels:
    """Return the label of each point (columns) under each concept (rows)."""
    if isinstance(concepts, Tabular):
        return concepts.labels_at(points)
    if known_by_matrix(concepts):
        return label_matrix(concepts)[:, points]
    block = concepts.domain.check_many(points)
    rows = [concept.many(block) for concept in _listed(concepts)]
    return np.array(rows, dtype=np.uint8).reshape(len(rows), len(points))


def fits_a_matrix(concepts: ConceptClass) -> bool:
    """Return whether the labels of all points under all concepts fit into a matrix."""
    size, points = concepts.size, concepts.domain.size
    return size is not None and points is not None and size * points <= LARGEST_MATRIX


def known_by_matrix(concepts: ConceptClass) -> bool:
    """Return whether they fit and a point is the number of its column."""
    return isinstance(concepts.domain, IntegerRange) and fits_a_matrix(concepts)


@lru_cache(maxsize=16)
def label_matrix(concepts: ConceptClass) -> Labels:
    """Return the labels of all points of the domain under each concept."""
    block = concepts.domain.check_many(list(concepts.domain))
    if isinstance(concepts, Tabular):
        matrix = concepts.labels_at(block)
    else:
        matrix = np.array([concept.many(block) for concept in concepts.concepts()], dtype=np.uint8)
    matrix.flags.writeable = False
    return matrix


def voter(concepts: ConceptClass) -> Callable[[Sequence[int]], Hypothesis]:
    """Return the function from an odd number of positions to their majority vote."""
    if isinstance(concepts, Voting):
        return concepts.majority_of
    find = finder(concepts)
    points = np.arange(concepts.domain.size or 0) if known_by_matrix(concepts) else None

    def vote(chosen: Sequence[int]) -> Hypothesis:
        members = list(map(find, chosen))
        if points is None:
            return members[0] if len(members) == 1 else MajorityVote(members)
        ones = np.sum([member.many(points) for member in members], axis=0, dtype=np.int64)
        return TableHypothesis((2 * ones > len(members)).astype(np.uint8).tobytes())

    return vote


@lru_cache(maxsize=16)
def _listed(concepts: ConceptClass) -> list[Hypothesis]:
    return list(concepts.concepts())
