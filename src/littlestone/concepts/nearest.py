"""The point of a polytope that is nearest to the origin, in exact rational arithmetic."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

Vector = tuple[Fraction, ...]


def nearest_to_origin(vectors: Sequence[Vector], start: Iterable[Vector] = ()) -> list[Vector]:
    """Corners whose convex hull has the nearest point of all ``vectors`` in its interior.

    Wolfe's algorithm (1976): finite, since each set of corners is visited at most once. ``start``
    may name the corners of an earlier answer. ``nearest`` turns the corners into the point.
    """
    corners = list(start) or [vectors[0]]
    weights = _affine_weights(corners)
    while True:
        point = combine(corners, weights)
        lowest = min(vectors, key=lambda vector: inner(point, vector))
        if inner(point, lowest) >= inner(point, point):
            return corners
        corners.append(lowest)
        weights.append(Fraction(0))
        corners, weights = _descend(corners, weights)


def nearest(corners: Sequence[Vector]) -> Vector:
    """The nearest point of the affine hull of the corners."""
    return combine(corners, _affine_weights(corners))


def combine(vectors: Sequence[Vector], weights: Sequence[Fraction]) -> Vector:
    """The weighted sum."""
    pairs = list(zip(vectors, weights, strict=True))
    return tuple(
        sum((weight * vector[i] for vector, weight in pairs), Fraction(0))
        for i in range(len(vectors[0]))
    )


def inner(left: Vector, right: Vector) -> Fraction:
    """The inner product."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def _descend(corners: list[Vector], weights: list[Fraction]) -> tuple[list[Vector], list[Fraction]]:
    """Drop corners until the nearest point of the affine hull lies inside the hull."""
    while True:
        wanted = _affine_weights(corners)
        if all(weight > 0 for weight in wanted):
            return corners, wanted
        # Walk from the present point to the wanted one until the first weight is used up.
        step = min(
            have / (have - want) for have, want in zip(weights, wanted, strict=True) if want <= 0
        )
        moved = [have + step * (want - have) for have, want in zip(weights, wanted, strict=True)]
        corners = [corner for corner, weight in zip(corners, moved, strict=True) if weight > 0]
        weights = [weight for weight in moved if weight > 0]


def _affine_weights(corners: Sequence[Vector]) -> list[Fraction]:
    """Weights of sum 1 of the nearest point of the affine hull of independent corners.

    They solve G·w = c·1 for the matrix G of 1 + inner products, up to the factor c.
    """
    rows = [[1 + inner(left, right) for right in corners] + [Fraction(1)] for left in corners]
    size = len(rows)
    for i in range(size):
        pivot = next(j for j in range(i, size) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i and rows[j][i]:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    total = sum(row[-1] for row in rows)
    return [row[-1] / total for row in rows]
