"""New finite classes from old ones: Boolean combinations, majorities, labelled points."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass

_LARGEST_RESULT = 1 << 22


@require.checked
def aggregate(combine: Callable[..., object], *classes: FiniteClass) -> FiniteClass:
    """G(H₁, …, H_k): all G(h₁, …, h_k) with hᵢ in Hᵢ, taken point by point.

    ``combine`` is G, on arguments that are 0 or 1.

    >>> points = FiniteClass([[0, 0], [0, 1], [1, 0]])
    >>> aggregate(lambda a, b: a or b, points, points).size
    4
    """
    _refuse_different_domains(classes)
    _refuse_large(math.prod(concepts.size for concepts in classes))
    table = np.zeros((2,) * len(classes), dtype=np.uint8)
    for labels in product((0, 1), repeat=len(classes)):
        table[labels] = require.label(combine(*labels))
    picks = np.ix_(*(range(concepts.size) for concepts in classes))
    columns = [concepts.matrix[pick] for concepts, pick in zip(classes, picks, strict=True)]
    combined = table[tuple(np.broadcast_arrays(*columns))]
    return FiniteClass(combined.reshape(-1, combined.shape[-1]))


@require.checked
def complement(concepts: FiniteClass) -> FiniteClass:
    """1 − H: every concept with its labels swapped."""
    return FiniteClass(1 - concepts.matrix)


@require.checked
def union(left: FiniteClass, right: FiniteClass) -> FiniteClass:
    """H₁ ∪ H₂, as sets of concepts."""
    _refuse_different_domains((left, right))
    return FiniteClass(np.concatenate([left.matrix, right.matrix]))


@require.checked
def xor(left: FiniteClass, right: FiniteClass) -> FiniteClass:
    """H₁ ⊕ H₂: all h₁ ⊕ h₂, which say where the two disagree."""
    return aggregate(lambda a, b: a != b, left, right)


@require.checked
def majority(
    concepts: FiniteClass, members: int, *, threshold: Fraction = Fraction(1, 2)
) -> FiniteClass:
    """H_{m,a}: label 1 where at least the share ``threshold`` of m concepts does.

    [P, Section E] uses a = 1/2, where an even m breaks ties towards 1.

    >>> points = FiniteClass([[0, 0], [0, 1], [1, 0]])
    >>> majority(points, 3).size, majority(points, 2).size
    (3, 4)
    """
    require.integer(members=members, at_least=1)
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], got threshold={threshold!r}")
    _refuse_large(members * concepts.size)
    fewest = -(-threshold.numerator * members // threshold.denominator)  # rounded up, exactly
    # Counts of all points in one whole number, each in as many bits as it needs.
    places = [members.bit_length() * point for point in range(concepts.domain.size)]
    rows = [sum(1 << places[x] for x in np.flatnonzero(row)) for row in concepts.matrix]
    votes, looked_at = set(rows), 0
    for _ in range(members - 1):
        looked_at += len(votes) * len(rows)
        _refuse_large(looked_at)
        votes = {vote + row for vote in votes for row in rows}
    largest = (1 << members.bit_length()) - 1
    return FiniteClass([[(vote >> at) & largest >= fewest for at in places] for vote in votes])


@require.checked
def labelled(concepts: FiniteClass) -> FiniteClass:
    """H^label over X × {0, 1}: whether h errs on (x, y); its point 2x + y stands for (x, y)."""
    errs: NDArray[np.uint8] = concepts.matrix[:, :, None] != np.array([0, 1])
    return FiniteClass(errs.reshape(concepts.size, -1))


def _refuse_different_domains(classes: tuple[FiniteClass, ...]) -> None:
    if not classes:
        raise ValueError("classes must not be empty")
    sizes = [concepts.domain.size for concepts in classes]
    if len(set(sizes)) > 1:
        raise ValueError(f"classes must be over the same points, got {sizes} points")


def _refuse_large(combinations: int) -> None:
    if combinations > _LARGEST_RESULT:
        raise ValueError(
            f"{combinations} combinations of concepts are too many; at most {_LARGEST_RESULT}"
        )
