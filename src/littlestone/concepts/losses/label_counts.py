"""Count labelled examples by point; every loss is a function of these counts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import ConceptClass, Domain, Label, Tally

Counts = NDArray[np.int64]

_BLOCK: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of label 0 and label 1 for each distinct point; integers are sorted."""

    points: Any
    zeros: Counts
    ones: Counts

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.zeros.sum() + self.ones.sum())

    def losses_of(self, labels: NDArray[np.uint8]) -> Counts:
        """Return the mistakes of each row of labels for the points.

        Mistakes are all ones, minus the ones and plus the zeros at points that the row maps to 1.
        """
        losses: Counts = labels.astype(np.int64) @ (self.zeros - self.ones) + self.ones.sum()
        return losses

    def and_one(self, x: int, y: Label) -> "Tallied":
        """Return the counts with one more example; for integer points."""
        points = np.union1d(self.points, [x])
        counts = np.zeros((2, len(points)), dtype=np.int64)
        counts[:, np.searchsorted(points, self.points)] = self.zeros, self.ones
        counts[y, np.searchsorted(points, x)] += 1
        return Tallied(points, *counts)


def tallied(concepts: ConceptClass, examples: Iterable[Any]) -> Tallied:
    """Count labelled examples; the error names the first bad one."""
    xs, ys = split_labels(examples)
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


def fewest_by_table(domain: Domain, labels_at: Callable[[Any], Any], tally: Tally) -> int:
    """Return the mistakes of the best concept, given the labels of points under all concepts."""
    zeros, ones = np.array(list(tally.values()), dtype=np.int64).reshape(-1, 2).T
    gained = block_sums(labels_at, domain.check_many(list(tally)), zeros - ones)
    return int(gained.min() + ones.sum())


def block_sums(labels_at: Callable[[Any], Any], points: Any, gains: Counts) -> Counts:
    """Return, for each concept, the gains of the points it maps to 1; in blocks of points."""
    blocks = (slice(start, start + _BLOCK) for start in range(0, len(points) or 1, _BLOCK))
    sums = [labels_at(points[part]).astype(np.int64) @ gains[part] for part in blocks]
    found: Counts = np.sum(sums, axis=0)
    return found


def split_labels(examples: Iterable[Any]) -> tuple[list[Any], list[Label]]:
    """Return the points and the labels of examples; the error names a bad one."""
    xs, ys = [], []
    for example in examples:
        try:
            x, y = example
        except Exception:  # raised by the value itself
            got = require.shown(example)
            raise ValueError(f"an example must be a pair (x, y), got {got}") from None
        xs.append(x)
        ys.append(require.label(y))
    return xs, ys
