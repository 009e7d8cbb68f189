"""The labellings that a class gives to some points, each with the first concept that gives it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Projecting, Tabular
from littlestone.concepts.losses.label_counts import Counts, Tallied
from littlestone.concepts.losses.listing import finder, labels_at
from littlestone.concepts.losses.loss_runs import threshold_runs
from littlestone.concepts.protocols import ConceptClass, Hypothesis, VersionSpace

_LISTED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Projection:
    """One row for each labelling; ``concept(i)`` gives row i, and depends on the points only.

    ``fewest_errors`` takes a tally in which the points occur, and gives for each labelling the
    errors on the whole tally of the best concept that has it.
    """

    labels: NDArray[np.uint8]
    concept: Callable[[int], Hypothesis]
    fewest_errors: Callable[[Tallied], Counts]


def project(concepts: ConceptClass, points: Any) -> Projection:
    """All labellings of the points, which are distinct (integers sorted).

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> found = project(Thresholds(2**40), np.array([5, 90]))
    >>> found.labels.tolist(), [found.concept(i).k for i in range(3)]
    ([[1, 1], [0, 1], [0, 0]], [0, 6, 91])
    """
    if isinstance(concepts, Projecting):
        return concepts.project(points)
    if isinstance(concepts, Tabular) or (concepts.size or _LISTED + 1) <= _LISTED:
        find = finder(concepts)
        labels, first = np.unique(labels_at(concepts, points), axis=0, return_index=True)

        def concept(row: int) -> Hypothesis:
            return find(int(first[row]))

    else:
        labels, spaces = _split_spaces(concepts, _listed(points))

        def concept(row: int) -> Hypothesis:
            return spaces[row].consistent()

    return Projection(labels, concept, lambda tally: _fewest(concepts, tally, points, labels))


def project_thresholds(
    n: int, points: NDArray[np.int64], concept: Callable[[int], Hypothesis]
) -> Projection:
    """Thresholds up to the first point, and up to each next one."""
    firsts = [0, *(points + 1).tolist()]
    labels = np.triu(np.ones((len(points) + 1, len(points)), dtype=np.uint8))

    def fewest(tally: Tallied) -> Counts:
        losses = threshold_runs(n, tally, concept).losses
        places = np.searchsorted(tally.points, points) + 1
        found: Counts = np.minimum.reduceat(losses, [0, *places.tolist()])
        return found

    return Projection(labels, lambda row: concept(firsts[row]), fewest)


def project_points(points: Any, concept: Callable[[list[Any]], Hypothesis]) -> Projection:
    """None of the points, then each alone; ``concept`` is 1 on the keys of a list."""
    keys = _listed(points)
    nothing = np.zeros((1, len(keys)), dtype=np.uint8)
    labels = np.concatenate([nothing, np.eye(len(keys), dtype=np.uint8)])

    def fewest(tally: Tallied) -> Counts:
        places, everything = _places(tally, points), int(tally.ones.sum())
        own = everything + tally.zeros - tally.ones
        others = np.delete(own, places).tolist()
        return np.array([min([everything, *others]), *own[places].tolist()])

    return Projection(labels, lambda row: concept(keys[row - 1 : row]), fewest)


def _fewest(
    concepts: ConceptClass, tally: Tallied, points: Any, labels: NDArray[np.uint8]
) -> Counts:
    everywhere = project(concepts, tally.points).labels
    number = {row.tobytes(): i for i, row in enumerate(labels)}
    rows = [number[row.tobytes()] for row in everywhere[:, _places(tally, points)]]
    fewest = np.full(len(number), np.iinfo(np.int64).max)
    np.minimum.at(fewest, rows, tally.losses_of(everywhere))
    return fewest


def _places(tally: Tallied, points: Any) -> Counts:
    where = {x: place for place, x in enumerate(_listed(tally.points))}
    return np.array([where[x] for x in _listed(points)], dtype=np.int64)


def _listed(points: Any) -> list[Any]:
    return list(points.tolist() if isinstance(points, np.ndarray) else points)


def _split_spaces(
    concepts: ConceptClass, points: list[Any]
) -> tuple[NDArray[np.uint8], list[VersionSpace]]:
    """Point by point: each version space is split in two, if it can be."""
    kept: list[tuple[VersionSpace, tuple[int, ...]]] = [(concepts.version_space(), ())]
    for x in points:
        split = [(space.restrict(x, y), (*row, y)) for space, row in kept for y in (0, 1)]
        kept = [(space, row) for space, row in split if not space.is_empty]
    table = np.array([row for _, row in kept], dtype=np.uint8).reshape(len(kept), len(points))
    return table, [space for space, _ in kept]
