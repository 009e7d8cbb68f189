"""The VC dimension: by its definition, and fast on bit sets."""

from collections.abc import Sequence
from itertools import combinations

from littlestone import require
from littlestone.concepts.dimensions.littlestone import Labelling
from littlestone.concepts.protocols import ConceptClass


@require.checked
def vc_dimension(concepts: ConceptClass) -> int:
    """The size of the largest set of points that ``concepts`` labels in every way."""
    return concepts.vc_dimension


def vc_dimension_by_definition(labellings: frozenset[Labelling]) -> int:
    """The reference: try every set of points; -1 for the empty class.

    >>> vc_dimension_by_definition(frozenset({(0, 0), (0, 1), (1, 1)}))
    1
    """
    if not labellings:
        return -1
    points = range(len(next(iter(labellings))))
    return max(
        size
        for size in range(len(points) + 1)
        for chosen in combinations(points, size)
        if len({tuple(row[x] for x in chosen) for row in labellings}) == 1 << size
    )


def bit_set_vc_dimension(ones: Sequence[int], concepts: int) -> int:
    """The VC dimension of the subclass ``concepts``; ``ones[x]`` are those with label 1 at x."""
    if concepts == 0:
        return -1
    splitting = sorted({concepts & part for part in ones} - {0, concepts})
    return _largest_extension(splitting, [concepts], 0)


def _largest_extension(ones: Sequence[int], cells: list[int], known: int) -> int:
    """The largest shattered set that extends the one whose label patterns are ``cells``.

    Each further point doubles every cell, so the smallest cell bounds how many can follow;
    ``known`` is what another branch already reached beyond this one.
    """
    best = max(known, 0)
    most = min(cell.bit_count() for cell in cells).bit_length() - 1
    for number, part in enumerate(ones):
        if best >= min(most, len(ones) - number):
            break
        halves = [half for cell in cells for half in (cell & part, cell & ~part)]
        if all(halves):
            below = _largest_extension(ones[number + 1 :], halves, best - 1)
            best = max(best, 1 + below)
    return best
