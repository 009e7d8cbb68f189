"""The labellings that a class gives to some points, each with the first concept that gives it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.losses.loss_runs import Tallied, concept_at, labels_at, losses_on
from littlestone.concepts.protocols import ConceptClass, Hypothesis, VersionSpace
from littlestone.proper.growth import log2_growth

_LISTED: Final = 1 << 12
_MOST_ROWS: Final = 1 << 13
_LARGEST_TABLE: Final = 1 << 27


@dataclass(frozen=True, slots=True)
class Projection:
    """One row for each labelling; ``concept(i)`` gives row i, and depends on the points only."""

    labels: NDArray[np.uint8]
    concept: Callable[[int], Hypothesis]


def project(concepts: ConceptClass, points: Any) -> Projection:
    """All labellings of the points, which are distinct (integers sorted).

    >>> found = project(Thresholds(2**40), np.array([5, 90]))
    >>> found.labels.tolist(), [found.concept(i).k for i in range(3)]
    ([[1, 1], [0, 1], [0, 0]], [0, 6, 91])
    """
    if isinstance(concepts, Thresholds):
        return _project_thresholds(concepts, points)
    if isinstance(concepts, Points):
        return _project_points(points)
    if isinstance(concepts, FiniteClass) or (concepts.size or _LISTED + 1) <= _LISTED:
        labels, first = np.unique(labels_at(concepts, points), axis=0, return_index=True)
        return Projection(labels, lambda row: concept_at(concepts, int(first[row])))
    return _project_spaces(concepts, _listed(points))


def fits_into_memory(concepts: ConceptClass, *, size: int, sampled: int) -> bool:
    """Whether the labellings of any ``sampled`` of ``size`` examples can be listed."""
    if 2 ** min(64.0, log2_growth(concepts, sampled)) > _MOST_ROWS:
        return False
    if isinstance(concepts, Thresholds | Points):
        return True
    points = size if concepts.domain.size is None else min(size, concepts.domain.size)
    return 2 ** min(64.0, log2_growth(concepts, points)) * points <= _LARGEST_TABLE


def fewest_errors(
    concepts: ConceptClass, tally: Tallied, points: Any, labellings: Projection
) -> NDArray[np.int64]:
    """For each labelling of ``points``, which occur in the tally: the errors on the whole tally of
    the best concept that has it.
    """
    if isinstance(concepts, Thresholds):
        losses = losses_on(concepts, tally, deepest=1).losses
        places = np.searchsorted(tally.points, points) + 1
        fewest: NDArray[np.int64] = np.minimum.reduceat(losses, [0, *places.tolist()])
        return fewest
    where = {x: place for place, x in enumerate(_listed(tally.points))}
    places = np.array([where[x] for x in _listed(points)], dtype=np.int64)
    if isinstance(concepts, Points):
        own = tally.ones.sum() + tally.zeros - tally.ones
        others = np.delete(own, places)
        return np.array([min([int(tally.ones.sum()), *others.tolist()]), *own[places].tolist()])
    everywhere = project(concepts, tally.points).labels
    errors = tally.ones.sum() + everywhere.astype(np.int64) @ (tally.zeros - tally.ones)
    number = {row.tobytes(): i for i, row in enumerate(labellings.labels)}
    fewest = np.full(len(number), np.iinfo(np.int64).max)
    np.minimum.at(fewest, [number[row.tobytes()] for row in everywhere[:, places]], errors)
    return fewest


def _listed(points: Any) -> list[Any]:
    return list(points.tolist() if isinstance(points, np.ndarray) else points)


def _project_thresholds(concepts: Thresholds, points: NDArray[np.int64]) -> Projection:
    firsts = [0, *(points + 1).tolist()]
    labels = np.triu(np.ones((len(points) + 1, len(points)), dtype=np.uint8))
    return Projection(labels, lambda row: ThresholdHypothesis(concepts.n, firsts[row]))


def _project_points(points: Any) -> Projection:
    keys = _listed(points)
    nothing = np.zeros((1, len(keys)), dtype=np.uint8)
    labels = np.concatenate([nothing, np.eye(len(keys), dtype=np.uint8)])
    return Projection(labels, lambda row: FiniteSupport(frozenset(keys[row - 1 : row])))


def _project_spaces(concepts: ConceptClass, points: list[Any]) -> Projection:
    """Point by point: each version space is split in two, if it can be."""
    spaces: list[VersionSpace] = [concepts.version_space()]
    labels: list[tuple[int, ...]] = [()]
    for x in points:
        split = [
            (space.restrict(x, y), (*row, y))
            for space, row in zip(spaces, labels, strict=True)
            for y in (0, 1)
        ]
        kept = [(space, row) for space, row in split if not space.is_empty]
        spaces, labels = [space for space, _ in kept], [row for _, row in kept]
    table = np.array(labels, dtype=np.uint8).reshape(len(labels), len(points))
    return Projection(table, lambda row: spaces[row].consistent())
