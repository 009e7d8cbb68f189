"""How many behaviours a finite class has: on sets of points, and on trees."""

from collections.abc import Sequence

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass


@require.checked
def growth_function(concepts: FiniteClass, points: int) -> int:
    """The most ways in which ``concepts`` labels a set of this many points.

    >>> growth_function(FiniteClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    3
    """
    require.integer(points=points, at_least=0)
    members = concepts.version_space().members
    ones = sorted({members & part for _, part in concepts.sides} - {0, members})
    return _most_cells(ones, [members], min(points, len(ones)), 0)


def _most_cells(ones: Sequence[int], cells: list[int], points: int, best: int) -> int:
    """The most cells after splitting by ``points`` more points, or ``best`` if that is more."""
    if points == 0:
        return max(best, len(cells))
    most = sum(min(cell.bit_count(), 1 << points) for cell in cells)
    for number in range(len(ones) - points + 1):
        if best >= most:
            break
        part = ones[number]
        halves = [half for cell in cells for half in (cell & part, cell & ~part) if half]
        best = _most_cells(ones[number + 1 :], halves, points - 1, best)
    return best


@require.checked
def covering_number(concepts: FiniteClass, depth: int) -> int:
    """The 0-covering number N(0, H, depth): the size of the smallest set of 0/1 trees that
    follows every concept along every path, on the worst tree of points of this depth.

    A cover needs separate trees for each label a of the root x, and the trees for a serve both
    subtrees at once: N(H, T) = Σₐ max_b N(H_{x→a}, T_b). The two subtrees may be chosen one for
    each label, so the worst tree costs max_x Σₐ N(H_{x→a}, depth − 1).

    >>> covering_number(FiniteClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    4
    """
    require.integer(depth=depth, at_least=0)
    known: dict[tuple[int, int], int] = {}

    def cover(members: int, left: int) -> int:
        size = members.bit_count()
        if size <= 1 or left == 0:
            return min(size, 1)
        found = known.get((members, left))
        if found is None:
            splits = {members & part for _, part in concepts.sides} - {0, members}
            found = max(cover(s, left - 1) + cover(members ^ s, left - 1) for s in splits)
            known[members, left] = found
        return found

    return cover(concepts.version_space().members, depth)
