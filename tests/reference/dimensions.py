"""The Littlestone and VC dimensions by their definitions, to be compared with the fast ones."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

from littlestone.concepts.protocols import Label

Labelling = tuple[Label, ...]


@cache
def littlestone_dimension_by_definition(labellings: frozenset[Labelling]) -> int:
    """Recurse over a set of label rows, one per concept (the reference).

    >>> thresholds = frozenset({(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)})
    >>> littlestone_dimension_by_definition(thresholds)
    2
    """
    if len(labellings) <= 1:
        return len(labellings) - 1
    return max(
        1 + min(map(littlestone_dimension_by_definition, sides)) for sides in splits(labellings)
    )


def splits(
    labellings: frozenset[Labelling],
) -> Iterator[tuple[frozenset[Labelling], frozenset[Labelling]]]:
    """Yield, for each point on which the rows differ, those with label 0 and those with 1."""
    for x in range(len(next(iter(labellings)))):
        ones = frozenset(row for row in labellings if row[x])
        if ones and ones != labellings:
            yield labellings - ones, ones


def vc_dimension_by_definition(labellings: frozenset[Labelling]) -> int:
    """Try every set of points (the reference); -1 for the empty class.

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
