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
    rows = concepts.matrix.astype(np.int64)
    votes = rows
    for _ in range(members - 1):
        _refuse_large(len(votes) * len(rows))
        votes = np.unique((votes[:, None] + rows).reshape(-1, rows.shape[1]), axis=0)
    fewest = -(-threshold.numerator * members // threshold.denominator)  # rounded up, exactly
    return FiniteClass(votes >= fewest)


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
