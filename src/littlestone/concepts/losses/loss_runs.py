"""The losses of all concepts of a class on some examples, as runs of equal loss.

Thresholds, points and intervals are never written out: their losses are constant between the points
that occurred, so that a million concepts cost no more than the examples do.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.losses.interval_losses import interval_losses
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label

LARGEST_LIST: Final = 1 << 20
_LARGEST_MATRIX: Final = 1 << 26

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tallied:
    """How often each point came with label 0 and with label 1; each point once, integers sorted."""

    points: Any
    zeros: Counts
    ones: Counts

    @property
    def size(self) -> int:
        """How many examples there are."""
        return int(self.zeros.sum() + self.ones.sum())

    def and_one(self, x: int, y: Label) -> "Tallied":
        """With one more example; for points that are integers."""
        place = int(np.searchsorted(self.points, x))
        points, zeros, ones = self.points, self.zeros, self.ones
        if place == len(points) or points[place] != x:
            points = np.insert(points, place, x)
            zeros, ones = np.insert(zeros, place, 0), np.insert(ones, place, 0)
        else:
            zeros, ones = zeros.copy(), ones.copy()
        (ones if y else zeros)[place] += 1
        return Tallied(points, zeros, ones)


@dataclass(frozen=True, slots=True)
class LossRuns:
    """Losses of concepts in a row: run i has ``lengths[i]`` concepts of loss ``losses[i]``.

    Without ``lengths`` each concept is a run of its own. ``concept`` gives the concept at a
    position, the runs written out one after another.
    """

    losses: Counts
    lengths: Sequence[int] | None
    concept: Callable[[int], Hypothesis]


def tallied(concepts: ConceptClass, examples: Iterable[Any]) -> Tallied:
    """Count labelled examples, or refuse the first one that is none or outside the domain."""
    xs, ys = split(examples)
    domain = concepts.domain
    if isinstance(domain, IntegerRange):
        labels = np.array(ys, dtype=np.bool_)
        points, place = np.unique(domain.check_many(xs), return_inverse=True)
        zeros, ones = (
            np.bincount(place[side], minlength=len(points)) for side in (~labels, labels)
        )
        return Tallied(points, zeros.astype(np.int64), ones.astype(np.int64))
    counts: dict[Any, list[int]] = {}
    for x, y in zip(xs, ys, strict=True):
        counts.setdefault(domain.check(x), [0, 0])[y] += 1
    table = np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2)
    return Tallied(list(counts), table[:, 0], table[:, 1])


def split(examples: Iterable[Any]) -> tuple[list[Any], list[Label]]:
    """Points and labels apart."""
    xs, ys = [], []
    for example in examples:
        try:
            x, y = example
        except (TypeError, ValueError):
            raise ValueError(f"an example must be a pair (x, y), got {example!r}") from None
        xs.append(x)
        ys.append(require.label(y))
    return xs, ys


def require_losses(concepts: ConceptClass) -> int:
    """The number of concepts, or a refusal if ``losses_on`` cannot handle the class."""
    size = concepts.size
    if size is None:
        raise ValueError(f"concepts must be finitely many, got concepts={concepts!r}")
    if not isinstance(concepts, Thresholds | Points | Intervals) and size > LARGEST_LIST:
        raise ValueError(
            f"concepts must be thresholds, points or intervals, or at most {LARGEST_LIST} in "
            f"number, got {size} in concepts={concepts!r}"
        )
    return size


def losses_on(concepts: ConceptClass, tally: Tallied, *, deepest: int) -> LossRuns:
    """The mistakes of every concept.

    A loss that exceeds the least by ``deepest`` or more may be given as the least plus
    ``deepest``: nobody draws concepts so bad.

    >>> runs = losses_on(Thresholds(2**40), tallied(Thresholds(2**40), [(9, 1), (4, 0)]), deepest=9)
    >>> runs.losses.tolist(), runs.lengths
    ([1, 0, 1], [5, 5, 1099511627767])
    >>> runs.concept(7).describe()
    'x >= 7'
    """
    if isinstance(concepts, Thresholds):
        return _threshold_losses(concepts, tally)
    if isinstance(concepts, Points):
        return _point_losses(concepts, tally)
    if isinstance(concepts, Intervals):
        losses, lengths, concept = interval_losses(
            concepts.n, tally.points, tally.zeros, tally.ones, deepest=deepest
        )
        return LossRuns(losses, lengths, concept)
    rows = labels_at(concepts, tally.points)
    losses = tally.ones.sum() + rows.astype(np.int64) @ (tally.zeros - tally.ones)
    return LossRuns(losses, None, lambda position: concept_at(concepts, position))


def labels_at(concepts: ConceptClass, points: Any) -> NDArray[np.uint8]:
    """What each concept says about each of these points; one row for each concept."""
    if isinstance(concepts, FiniteClass):
        return concepts.matrix[:, points]
    size, domain = require_losses(concepts), concepts.domain
    if isinstance(domain, IntegerRange) and size * domain.n <= _LARGEST_MATRIX:
        return _matrix(concepts)[:, points]
    if len(points) == 0:
        return np.zeros((size, 0), dtype=np.uint8)
    block = domain.check_many(points)
    return np.array([concept.many(block) for concept in concepts.concepts()])


def concept_at(concepts: ConceptClass, position: int) -> Hypothesis:
    """The concept with this number, in the order of ``concepts()``."""
    if isinstance(concepts, Thresholds):
        return ThresholdHypothesis(concepts.n, position)
    if isinstance(concepts, Points):
        return _point_concept(position)
    if isinstance(concepts, FiniteClass):
        return TableHypothesis(concepts.matrix[position].tobytes())
    return _listed(concepts)[position]


def _threshold_losses(concepts: Thresholds, tally: Tallied) -> LossRuns:
    """1[x >= k] labels a point x with 1 for k = 0 .. x, and with 0 from x + 1 on."""
    steps = np.concatenate([[tally.zeros.sum()], tally.ones - tally.zeros])
    ends = [*(tally.points + 1).tolist(), concepts.n + 1]
    starts = [0, *ends[:-1]]
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    return LossRuns(np.cumsum(steps), lengths, lambda k: ThresholdHypothesis(concepts.n, k))


def _point_losses(concepts: Points, tally: Tallied) -> LossRuns:
    """ "0 everywhere" errs on all ones; a key errs on its own zeros and on the other ones."""
    assert concepts.n is not None
    everything = int(tally.ones.sum())
    losses, lengths, end = [everything], [1], 0
    own = everything + tally.zeros - tally.ones
    for x, loss in zip(tally.points.tolist(), own.tolist(), strict=True):
        losses += [everything, loss]
        lengths += [x - end, 1]
        end = x + 1
    losses.append(everything)
    lengths.append(concepts.n - end)
    return LossRuns(np.array(losses, dtype=np.int64), lengths, _point_concept)


def _point_concept(position: int) -> FiniteSupport:
    return FiniteSupport(frozenset([position - 1] if position else []))


@lru_cache(maxsize=16)
def _listed(concepts: ConceptClass) -> list[Hypothesis]:
    return list(concepts.concepts())


@lru_cache(maxsize=16)
def _matrix(concepts: ConceptClass) -> NDArray[np.uint8]:
    points = concepts.domain.check_many(list(concepts.domain))
    return np.array([concept.many(points) for concept in concepts.concepts()])
